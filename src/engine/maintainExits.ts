/**
 * Maintenance for an instance at each turn, before its kind gets its turn. It maintains the exits of its file, and shrinks those of its kind that are
 * larger than its part. It also takes back resting entries that the rules of its file forbid.
 */

import { protectionOf } from '../account/fileProtection.ts'
import { decisionKeyOf } from '../account/ids.ts'
import { madeByTasks } from '../account/runningTasks.ts'
import { type PositionSide, sideKeyOf, sideOfIntent } from '../domain/accountRecords/accountRecord.ts'
import type { CancelDecision, Decision } from '../domain/order/decision.ts'
import type { IntentState } from '../domain/order/intent.ts'
import { marketOf, type Snapshot } from '../domain/snapshot.ts'
import { entryCancels } from '../exits/entriesTakenBack.ts'
import { sidesOfLostExits } from '../exits/exitsLeft.ts'
import { fitExits, syncExits } from '../exits/syncExits.ts'
import { marketSymbol } from '../market/marketSymbol.ts'
import { hexKey } from '../protocol/address.ts'
import { keptExitsNow } from '../strategy/fileExits.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'
import { admitDecision } from './judging/admitDecision.ts'
import type { TurnContext } from './turnContext.ts'

/** Index of the first of them in a turn's decision keys: far from those of a kind, whose keys stay as they are. */
const KEPT_FROM = 1_000

/** Pause of an exit after a denial, ms. */
const EXIT_RETRY_MS = 15_000

/** A decision, and the key by which its next try waits after a denial. */
interface Kept {
  readonly decision: Decision
  readonly retryKey: string
}

/**
 * Admits the maintenance decisions of an instance. A denied one is tried again after a while, not at each turn. `judged`: the snapshot with the
 * prices by which exits are maintained; `own`: the instance's intents.
 */
export async function maintainExits(
  context: TurnContext,
  loaded: LoadedStrategy,
  { snapshot, judged }: { readonly snapshot: Snapshot; readonly judged: Snapshot },
  tickMs: number,
  own: readonly IntentState[],
): Promise<{ readonly decided: number; readonly admitted: number }> {
  const { name, strategy } = loaded
  const { clock, emit, exitRetries } = context
  if (!strategy.opensPositions) return { decided: 0, admitted: 0 }
  const kept = [...exitDecisions(context, loaded, judged, own), ...takenBack(context, loaded, snapshot, own)]
  let admitted = 0
  for (const [index, { decision, retryKey }] of kept.entries()) {
    const decisionKey = decisionKeyOf(name, tickMs, KEPT_FROM + index)
    const symbol = marketSymbol(context.catalogue, snapshot, decision.marketToken)
    emit({ type: 'decision.made', strategy: name, decisionKey, decision, symbol })
    const denial = await context.accept.inTurn(() =>
      admitDecision(context.accept, loaded, snapshot, decision, decisionKey),
    )
    if (denial === undefined) admitted += 1
    else {
      exitRetries.set(retryKey, clock.monotonicMs() + EXIT_RETRY_MS)
      emit({ type: 'decision.denied', strategy: name, decisionKey, decision, symbol, denial })
    }
  }
  return { decided: kept.length, admitted }
}

function exitDecisions(
  { aheadStamps, clock, journal, exitRetries, trading, openOrders }: TurnContext,
  { name, exits }: LoadedStrategy,
  snapshot: Snapshot,
  states: readonly IntentState[],
): readonly Kept[] {
  const parts = journal.books().partsOf(name)
  if (parts.length + states.length === 0) return []
  const keyOf = (marketToken: string) => `${name}:${hexKey(marketToken)}`
  const keyed = (decision: Decision): Kept => ({ decision, retryKey: keyOf(decision.marketToken) })
  const mayTry = (marketToken: string) => (exitRetries.get(keyOf(marketToken)) ?? 0) <= clock.monotonicMs()
  const ofTasks = madeByTasks(trading, states)
  if (exits === undefined) return fitExits({ mayTry, snapshot, states, parts, ofTasks }).map(keyed)
  const exitsOn = (marketToken: string) =>
    mayTry(marketToken) ? keptExitsNow(exits, marketOf(snapshot, marketToken), snapshot.atMs) : undefined
  const enteredMs = (side: PositionSide) => enteredAtMs(journal.recentIntents({ strategy: name }), side)
  const nearestStop = (side: PositionSide) => journal.books().nearestStopOf(name, side)
  const landed = openOrders.recentlyLanded().filter(({ intent }) => intent.strategy === name)
  const lostExits = sidesOfLostExits([...states, ...landed], snapshot, clock.now())
  const facts = { exitsOn, snapshot, states, parts, enteredMs, nearestStop, ofTasks, lostExits }
  return syncExits({ ...facts, settledMs: aheadStamps.settledMs }).map(keyed)
}

function takenBack(
  { aheadStamps, clock, exitRetries, journal }: TurnContext,
  { name, protect }: LoadedStrategy,
  snapshot: Snapshot,
  states: readonly IntentState[],
): readonly Kept[] {
  if (protect === undefined || states.length === 0) return []
  const keyOf = ({ marketToken }: CancelDecision) => `${name}:${hexKey(marketToken)}:entries`
  const protection = protectionOf(journal.books(), name, protect, snapshot, aheadStamps)
  return entryCancels(protection, snapshot, states, clock.now())
    .map((decision) => ({ decision, retryKey: keyOf(decision) }))
    .filter(({ retryKey }) => (exitRetries.get(retryKey) ?? 0) <= clock.monotonicMs())
}

/** Returns the time when an increase of these intents last filled on a side, Unix ms. */
function enteredAtMs(intents: readonly IntentState[], side: PositionSide): number | undefined {
  const key = sideKeyOf(side)
  const times = intents
    .filter(({ intent }) => intent.kind === 'increase' && sideKeyOf(sideOfIntent(intent)) === key)
    .flatMap(({ attempts }) => attempts.flatMap(({ children }) => children))
    .filter(({ phase, role }) => phase === 'EXECUTED' && (role === 'main' || role === 'part'))
    .map(({ settlement, evidence }) =>
      settlement?.timestampSeconds === undefined ? evidence?.atMs : settlement.timestampSeconds * 1000,
    )
    .filter((atMs) => atMs !== undefined)
  return times.length === 0 ? undefined : Math.max(...times)
}
