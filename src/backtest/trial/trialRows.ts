/** Decisions of a trial as the daemon reported them, each with its outcome. */
import type { Event } from '../../domain/event.ts'
import type { ReportDecision, StrategyDecision } from '../../domain/order/decision.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import type { Usd } from '../../protocol/units.ts'
import type { LoadedStrategy } from '../../strategy/files/load.ts'
import { decisionsIn } from '../../strategy/kindMemory.ts'
import type { RecordTurn } from '../check/recordedTurns.ts'

/** Source of a decision: the kind, perpd's maintenance of exits, or a task that the kind began. */
export type TrialDecider = 'kind' | 'exits' | 'task'

/** One decision, and what became of it. */
export interface TrialRow {
  /** From 1. */
  readonly turn: number
  readonly atSeconds: number
  readonly strategy: string
  readonly by: TrialDecider
  /** Absent where the kind returned no decision, or got no turn. */
  readonly decision?: StrategyDecision | Omit<ReportDecision, 'marketToken'>
  readonly symbol: string
  /** `taken`, `invalid`, `paused`, or the code of the denial. */
  readonly outcome: string
  /** Reason why it was not taken; absent when it was. */
  readonly reason?: string
  /** As admitted, USD; absent of what was not, or has no size. */
  readonly sizeUsd?: Usd
  /** Code with which an order ended that was taken and never executed. */
  readonly ended?: string
}

/** Collects the decisions of a run. */
export interface TrialRows {
  readonly record: RecordTurn
  readonly listen: (event: Event) => void
  /** Returns all of them in their order, with the ends of their orders. */
  rowsWith(intents: readonly IntentState[]): readonly TrialRow[]
  /** The first turn at which a kind failed. */
  failed(): { readonly turn: number; readonly reason: string } | undefined
}

/** Makes a collector for these files. `nowSeconds` is the run's time, Unix seconds; `turnOf` numbers the turn of a second. */
export function createTrialRows(
  strategies: readonly LoadedStrategy[],
  nowSeconds: () => number,
  turnOf: (atSeconds: number) => number,
): TrialRows {
  const rows = new Map<string, TrialRow>()
  /** Number of decisions that each file's kind returned at its last turn. */
  const asked = new Map(strategies.map(({ name }) => [name, 0]))
  let failed: { readonly turn: number; readonly reason: string } | undefined

  const add = (
    key: string,
    strategy: string,
    row: Omit<TrialRow, 'turn' | 'atSeconds' | 'strategy'>,
  ): void => {
    const atSeconds = nowSeconds()
    rows.set(key, { turn: turnOf(atSeconds), atSeconds, strategy, ...row })
  }
  const change = (key: string, to: Partial<TrialRow>): void => {
    const row = rows.get(key)
    if (row !== undefined) rows.set(key, { ...row, ...to })
  }

  return {
    record(strategy, _scene, returned) {
      asked.set(strategy, decisionsIn(returned).length)
    },
    listen(event) {
      switch (event.type) {
        case 'decision.made': {
          const { decisionKey, strategy, decision, symbol } = event
          const index = asked.get(strategy)
          if (index === undefined) break
          const by = Number(decisionKey.split('#').at(-1)) < index ? 'kind' : 'exits'
          add(decisionKey, strategy, { by, decision, symbol, outcome: 'taken' })
          break
        }
        case 'decision.invalid':
          add(`invalid ${rows.size}`, event.strategy, {
            by: 'kind',
            symbol: '',
            outcome: 'invalid',
            reason: event.denial.reason,
          })
          break
        case 'order.untidy': {
          const { orderKey, direction, cause, reason, isOver, symbol } = event
          const decision = { kind: 'report-order', direction, orderKey, cause, isOver, reason } as const
          add(`report ${rows.size}`, event.strategy, { by: 'kind', decision, symbol, outcome: 'taken' })
          break
        }
        case 'decision.denied':
          change(event.decisionKey, { outcome: event.denial.code, reason: event.denial.reason })
          break
        case 'decision.admitted': {
          const { decisionKey, strategy, decision, terms } = event.intent
          const { sizeDeltaUsd, symbol } = terms
          const sized = sizeDeltaUsd > 0n ? { sizeUsd: sizeDeltaUsd } : {}
          if (rows.has(decisionKey)) change(decisionKey, sized)
          else if (asked.has(strategy))
            add(decisionKey, strategy, { by: 'task', decision, symbol, outcome: 'taken', ...sized })
          break
        }
        case 'tick.done':
        case 'tick.skipped':
          asked.set(event.strategy, 0)
          break
        case 'tick.failed':
          asked.set(event.strategy, 0)
          failed ??= { turn: turnOf(nowSeconds()), reason: event.reason }
          break
        case 'strategy.paused': {
          const reason = `${event.failures} failures in a row: no turn for ${event.forMs / 1000} s`
          add(`pause ${rows.size}`, event.strategy, { by: 'kind', symbol: '', outcome: 'paused', reason })
          break
        }
      }
    },
    rowsWith(intents) {
      for (const { intent, closing } of intents)
        if (closing !== undefined && closing.outcome !== 'EXECUTED' && closing.outcome !== 'PARTIAL')
          change(intent.decisionKey, { ended: closing.code })
      return [...rows.values()]
    },
    failed: () => failed,
  }
}
