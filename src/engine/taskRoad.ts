import type { HasHoldings, HasLimits, HasStrategies, HasTrading } from '../account/accountParts.ts'
import { OPERATOR } from '../account/halts/tradingHalts.ts'
import type { UnseenIntents } from '../account/holdings/unseen.ts'
import { defined, ifDefined } from '../base/defined.ts'
import { marketOf } from '../domain/snapshot.ts'
import type { HasJournal } from '../execution/context/executionParts.ts'
import { isDenial } from '../risk/exposure/admissionContext.ts'
import { availableCapacityOf } from '../risk/exposure/availableCapacity.ts'
import type { TaskRoad } from '../running/executors.ts'
import type { Accept } from './judging/accept.ts'
import { admitDecision } from './judging/admitDecision.ts'
import { type DecisionSource, judge } from './judging/judgeDecision.ts'
import { isOthers } from './judging/ownPart.ts'

/** Decision key of decisions that are only judged. */
const PREVIEWED = `${OPERATOR}#preview`

/** Parts that the road of tasks uses. */
export interface TaskRoadParts extends HasHoldings, HasJournal, HasLimits, HasStrategies, HasTrading {
  readonly accept: Accept
  readonly unseen: UnseenIntents
}

/** Makes it. */
export function createTaskRoad(context: TaskRoadParts): TaskRoad {
  const { accept, strategies, limits, holdings, trading, unseen } = context

  function sourceOf(owner: string | undefined, isWhole: boolean): DecisionSource {
    if (owner === undefined) return { name: OPERATOR, isWhole }
    const loaded = strategies().find(({ name }) => name === owner)
    // Whatever its kind was, its remaining orders reduce its own part and no more.
    return loaded === undefined ? { name: owner, strategy: { opensPositions: true } } : { ...loaded, isWhole }
  }

  return {
    inTurn: accept.inTurn,
    admitTask: (owner, mayGo, snapshot, decision, decisionKey, beside) =>
      accept.inTurn(async () => {
        // A bracket's exits are for all of its entry, and the venue's parts for all of their size.
        const source = sourceOf(owner, 'twap' in decision || 'tpsl' in decision)
        return mayGo() ?? (await admitDecision(accept, source, snapshot, decision, decisionKey, beside))
      }),
    denialOf(isWhole, snapshot, decision, owner) {
      const source = sourceOf(owner, isWhole)
      const judged = judge(accept.facts(snapshot, source), { source, decision, decisionKey: PREVIEWED })
      return isDenial(judged) ? judged : undefined
    },
    capacity(owner, snapshot, marketToken, direction) {
      const symbol = marketOf(snapshot, marketToken)?.market.symbol
      const exposure = holdings.exposure(snapshot, unseen(snapshot))
      const parts = { snapshot, exposure, limits: limits.on(symbol, owner ?? OPERATOR) }
      const available = availableCapacityOf(marketToken, direction, parts)
      return isDenial(available) ? available : available.availableUsd
    },
    unseen: (owner, snapshot) => unseen(snapshot, owner),
    isOthers: (owner, side, snapshot) => isOthers(context, owner, side, snapshot),
    standing(owner) {
      const pause = trading.accountJournal.state().strategies?.get(owner)?.paused
      const loaded = strategies().find(({ name }) => name === owner)
      return {
        isHere: loaded !== undefined,
        opensPositions: loaded?.strategy.opensPositions ?? true,
        ...defined({ paused: ifDefined(pause, ({ by, reason }) => `${by} paused ${owner}: ${reason}`) }),
      }
    },
  }
}
