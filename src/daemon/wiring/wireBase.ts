/** Wires the base of every other part of an engine: its life, its events, its open orders, its limits and the strategies that run. */
import { heldLists } from '../../account/heldLists.ts'
import { leastAccountAgeMs } from '../../account/limitsInForce.ts'
import { createLiveLimits } from '../../account/liveLimits.ts'
import { createOrderMoves } from '../../account/watch/lookAgain.ts'
import { LIST_LAG_MS } from '../../domain/accountRecords/listLag.ts'
import type { Event } from '../../domain/event.ts'
import { createEnding, createPhase } from '../../engine/phase.ts'
import { createRoster } from '../../engine/roster/roster.ts'
import { accountOf } from '../../execution/context/executionContext.ts'
import { createTrackedOrders } from '../../execution/trackedOrders.ts'
import type { EngineParts } from './engineParts.ts'

/** Records of something that moves a position or the wallet. */
const movingRecords: ReadonlySet<string> = new Set([
  'landed',
  'child.executed',
  'child.cancelled',
  'intent.closed',
])

/** The base of the other parts. */
export type EngineBase = ReturnType<typeof wireBase>

/** Wires the base. */
export function wireBase({ execution: given, ending = createEnding(), market: read, ...parts }: EngineParts) {
  const { clock, journal } = given
  const { catalogue, chain, marks } = read
  const limits = createLiveLimits(parts.limits)
  const quietAgoMs = given.chainReader?.quietAgoMs
  const api =
    quietAgoMs === undefined
      ? read.api
      : heldLists({
          ...{ api: read.api, account: accountOf(given), clock, journal, quietAgoMs },
          leastAgeLimitMs: () => leastAccountAgeMs(limits.current()),
        })
  const market = { ...read, api }
  const phase = createPhase()
  const moves = createOrderMoves(clock, LIST_LAG_MS)
  const emit = (event: Event): void => {
    given.emit(event)
    if (event.type === 'journal.committed' && movingRecords.has(event.record.kind)) moves.soon()
  }
  const execution = { ...given, api, chain, emit }
  const roster = createRoster(parts.strategies)
  const openOrders = createTrackedOrders(execution)
  return {
    parts,
    market,
    execution,
    /** Parts that most of the others read. */
    context: { ...execution, ...parts, catalogue, marks, limits, openOrders, strategies: roster.strategies },
    roster,
    ending,
    isDeciding: () => !ending.deciding.signal.aborted,
    phase,
    isRunning: () => phase.state() === 'running',
    moves,
    startedAtMs: clock.now(),
    /** The newest intents of before this process, newest first. */
    before: journal.recentIntents(),
  }
}
