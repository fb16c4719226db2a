/**
 * One turn of the loop for one strategy: read, decide, admit, execute. It reads like the road in docs/architecture.md.
 */

import { strayOrdersOf } from '../account/watch/strayOrders.ts'
import { defined } from '../base/defined.ts'
import { ownPositionsOf } from '../books/ownPositions.ts'
import type { PositionSide } from '../domain/accountRecords/accountRecord.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { Exposure } from '../risk/exposure/accountExposure.ts'
import { isDenial } from '../risk/exposure/admissionContext.ts'
import { availableCapacityOf } from '../risk/exposure/availableCapacity.ts'
import { orphanCancels } from '../risk/orphans.ts'
import { type DecisionProblem, returnedProblem } from '../strategy/decisionProblem.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'
import type { CheckedTurn, UnservedSignal } from '../strategy/kindMemory.ts'
import type { StatusLine } from '../strategy/kindStatus.ts'
import { openIntentsOf, restingOrdersOf } from '../strategy/resting.ts'
import { unwindOf } from '../tasks/unwindTask.ts'
import { callKind, type GivenPast, type KindAnswer } from './callKind.ts'
import { isOthers } from './judging/ownPart.ts'
import { maintainExits } from './maintainExits.ts'
import { type GivenTurn, givenTurn, type Remembered, takeTurn } from './turn.ts'
import type { TurnContext } from './turnContext.ts'

/** Result of one tick. */
export interface TickReport {
  readonly snapshot: Snapshot
  readonly decisions: number
  readonly admitted: number
  readonly denied: number
  /** Number of invalid decisions among the denied ones; they were reported. */
  readonly invalid: number
  /** Fault of the first of them. */
  readonly problem?: string
  /** Error that the kind threw instead of answering, or a failure in its thread next to a good answer. */
  readonly failed?: unknown
  /** The kind's line on what it waits for; absent: it says none. */
  readonly status?: StatusLine
  /** The newest signal of which the kind said that no order comes of it. */
  readonly unserved?: UnservedSignal
  /** Size of the view that was handed to a kind of the user's own, bytes. */
  readonly viewBytes?: number
  /** Time of the processor that a kind of the user's own took to decide, ms. */
  readonly spentMs?: number
}

/** Answer of a kind to one view. */
interface Answer extends KindAnswer {
  /** Kinds with a memory only: the state it received, and the memory to save. */
  readonly remembered?: Remembered
}

/**
 * Runs one tick that belongs to the scheduled instant `tickMs`. Throws what reading throws; an error of `decide` is in the report. `isAsked` false:
 * the kind pauses, and only perpd's maintenance for it is done.
 */
export async function tick(
  context: TurnContext,
  loaded: LoadedStrategy,
  tickMs: number,
  readSnapshot: () => Promise<Snapshot>,
  isAsked = true,
): Promise<TickReport> {
  const { emit } = context
  const snapshot = await readSnapshot()
  const judged = context.prices.judged(snapshot, loaded.name)
  const nothing = { snapshot, decisions: 0, admitted: 0, denied: 0, invalid: 0 }
  // A stop may have come while the venue was read.
  if (!context.accept.isDeciding()) return nothing
  const { name } = loaded
  // Exits come first: a fill of one must be subtracted from the others before anything is decided on it.
  const before = context.unseen(snapshot, name)
  const keptCount = await maintainExits(context, loaded, { snapshot, judged }, tickMs, before)
  if (!context.accept.isDeciding()) return nothing
  const answer = isAsked ? await decide(context, loaded, judged, tickMs) : { returned: [] }
  // A kind in its own thread takes time, and a stop may have come meanwhile.
  if (!context.accept.isDeciding()) return nothing
  const own = context.unseen(snapshot, name)
  const wholeProblem = returnedProblem(answer.returned)
  const decided = Array.isArray(answer.returned) && wholeProblem === undefined ? answer.returned : []
  const remembered = wholeProblem === undefined ? answer.remembered : undefined
  const exposure = context.holdings.exposure(snapshot, context.unseen(snapshot))
  const isOfOthers = (side: PositionSide) =>
    loaded.strategy.opensPositions && isOthers(context, name, side, snapshot)
  const orphans = orphanCancels(snapshot, own, exposure, context.holdings.journal(), isOfOthers)
  reportCapacity(context, loaded, snapshot, exposure)
  const problems: DecisionProblem[] = []
  const tellProblem = (problem: DecisionProblem): void => {
    problems.push(problem)
    const { reason, cause, field } = problem
    const place = loaded.hosted?.placeOf(field)
    const denial = { code: 'DECISION_INVALID', reason } as const
    emit({
      type: 'decision.invalid',
      strategy: name,
      denial,
      cause,
      ...defined({ field, place }),
    })
  }
  if (wholeProblem !== undefined) tellProblem(wholeProblem)
  const asked = { decided, added: orphans, tickMs, remembered }
  const admitted = keptCount.admitted + (await takeTurn(context, loaded, snapshot, asked, tellProblem))
  const decisions = decided.length + orphans.length + keptCount.decided
  return {
    snapshot,
    decisions,
    admitted,
    denied: decisions - admitted,
    invalid: problems.length,
    ...defined({
      problem: problems[0]?.reason,
      unserved: remembered?.turn.unserved?.at(-1),
    }),
    ...repeatedOf(answer),
  }
}

/** Returns the part of an answer that the report repeats. */
function repeatedOf({
  status,
  failed,
  viewBytes,
  spentMs,
}: Answer): Pick<TickReport, 'status' | 'failed' | 'viewBytes' | 'spentMs'> {
  return defined({ status, failed, viewBytes, spentMs })
}

/** Calls the kind, with its view of the world and its past. */
async function decide(
  context: TurnContext,
  loaded: LoadedStrategy,
  snapshot: Snapshot,
  tickMs: number,
): Promise<Answer> {
  const states = context.unseen(snapshot, loaded.name)
  const own = ownPositionsOf(context.journal.books().partsOf(loaded.name), snapshot)
  const { tasks } = context.trading.accountJournal.state()
  const isUnwanted = (intentId: string) => unwindOf(tasks, intentId) !== undefined
  const scene = {
    snapshot,
    openIntents: openIntentsOf(states, { orders: snapshot.orders, own, isUnwanted }),
    own,
    restingOrders: restingOrdersOf(snapshot, states),
    tasks: await context.requests.tasksOf(loaded.name),
    ...defined({ approval: context.requests.subaccount?.report() }),
    ...(loaded.strategy.tidiesOrders === true
      ? { strayOrders: strayOrdersOf(context, snapshot, context.unseen(snapshot)) }
      : {}),
  }
  const remembers = loaded.hosted?.remembers ?? loaded.strategy.memory !== undefined
  const given = remembers ? givenTurn(context, loaded.name, snapshot.atMs) : undefined
  // It decided at this instant before perpd stopped: asked again it would decide the next step in its place.
  if (given?.memory?.tickMs === tickMs) return { returned: [] }
  try {
    const run = await callKind(loaded, scene, given)
    context.recordTurn?.({ loaded, scene: { ...scene, ...pastOf(given) }, returned: run.returned })
    if (given === undefined || run.returned instanceof Promise) return run
    const turn = run.returned as CheckedTurn
    return { ...run, returned: turn.decisions, remembered: { given, turn } }
  } catch (failed) {
    return { returned: [], failed }
  }
}

/** The part of the saved state that a kind is handed. */
function pastOf(given: GivenTurn | undefined): Partial<GivenPast> {
  if (given === undefined) return {}
  const { memory, events, eventsMissed, signals } = given
  return { events, eventsMissed, signals, ...defined({ memory }) }
}

/** The available capacity for increases on each side of the strategy's markets, for metrics. */
function reportCapacity(
  context: TurnContext,
  loaded: LoadedStrategy,
  snapshot: Snapshot,
  exposure: Exposure,
): void {
  for (const { market } of snapshot.markets.values()) {
    if (!loaded.symbols.includes(market.symbol)) continue
    const admission = { snapshot, exposure, limits: context.limits.on(market.symbol, loaded.name) }
    for (const direction of ['long', 'short'] as const) {
      const available = availableCapacityOf(market.marketToken, direction, admission)
      if (isDenial(available)) continue
      context.emit({
        type: 'capacity.read',
        symbol: market.symbol,
        direction,
        roomUsd: available.availableUsd,
      })
    }
  }
}
