/** Notes on round trips from the intents and discrepancies themselves: why each ended, and its first stop. Folded over records. Pure. */
import { type PositionSide, sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import { OPERATOR } from '../domain/accountRecords/operatorName.ts'
import { stopChildrenOf } from '../domain/accountRecords/stopChildren.ts'
import { type IntentState, lastAttempt } from '../domain/order/intent.ts'
import { legsOf } from '../domain/order/orderLegs.ts'
import { type Address, hexKey } from '../protocol/address.ts'
import type { Usd } from '../protocol/units.ts'
import type { RoundTrip } from './roundTrips.ts'

/**
 * Causes of the end of a round trip. `stop`, `target`: an exit that rested. `signal`: a decision of a strategy. `hand`: a command of the operator.
 * `kill`: the kill switch. `other`: another client, deleveraging, or an unexplained change.
 */
export const tradeReasons = ['stop', 'target', 'signal', 'hand', 'kill', 'liquidation', 'other'] as const
export type TradeReason = (typeof tradeReasons)[number]

/** The end of a round trip in words. */
export interface EndNote {
  readonly reason: TradeReason
  /** Reason of the decision, or the name of the exit; empty where nobody gave one. */
  readonly why: string
  /** Strategy of the order; absent: no order of ours. */
  readonly strategy?: string
}

/** Facts of a market that an order of ours named. */
export interface NotedMarket {
  readonly symbol: string
  /** Decimals of its index token. */
  readonly decimals: number
}

/** A stop-loss that landed. */
interface NotedStop {
  readonly intentId: string
  readonly strategy: string
  readonly landedAtMs: number
  /** USD per whole index token. */
  readonly triggerPrice: Usd
}

const ending: ReadonlySet<string> = new Set(['child.executed', 'intent.closed'])

/** The fold. It holds a line for each order that reduced, each stop, and each market. */
export class TradeNotes {
  readonly #ends = new Map<string, EndNote>()
  readonly #stops = new Map<string, NotedStop[]>()
  readonly #markets = new Map<string, NotedMarket>()

  /** Takes in a record of an intent: its kind, and the intent with it. */
  foldIntent(kind: string, after: IntentState): void {
    const { terms } = after.intent
    if (kind === 'intent.accepted') {
      const { symbol, indexToken } = terms
      this.#markets.set(hexKey(terms.marketToken), { symbol, decimals: indexToken.decimals })
    }
    if (kind === 'landed') this.#noteStops(after)
    if (ending.has(kind)) this.#noteEnds(after)
  }

  /** Takes in a discrepancy. */
  foldDiscrepancy({ discrepancyId, kind }: { readonly discrepancyId: string; readonly kind: string }): void {
    this.#ends.set(discrepancyId, { reason: kind === 'liquidation' ? 'liquidation' : 'other', why: kind })
  }

  /** Returns the end of a round trip. */
  endOf({ endedBy }: RoundTrip): EndNote {
    return this.#ends.get(endedBy.id) ?? { reason: 'other', why: '' }
  }

  /** Returns the facts of a market; undefined: no order of ours named it. */
  marketOf(marketToken: Address): NotedMarket | undefined {
    return this.#markets.get(hexKey(marketToken))
  }

  /**
   * Returns the trigger of a round trip's first stop-loss, USD per whole index token: that of the order which opened it, else the first one of its
   * strategy or the operator that landed while it was open. Undefined: none is known.
   */
  firstStopOf(trip: RoundTrip): Usd | undefined {
    const stops = this.#stops.get(sideKeyOf(trip)) ?? []
    const ofEntry = stops.find(({ intentId }) => intentId === trip.openedBy.intentId)
    const later = (strategy: string) =>
      stops.find(
        (stop) =>
          stop.strategy === strategy &&
          stop.landedAtMs >= trip.openedAtMs &&
          stop.landedAtMs <= trip.closedAtMs,
      )
    return (ofEntry ?? later(trip.strategy) ?? later(OPERATOR))?.triggerPrice
  }

  #noteStops(state: IntentState): void {
    const { intentId, strategy } = state.intent
    const legs = legsOf(state)
    for (const { orderKey, side } of stopChildrenOf(state)) {
      const triggerPrice = legs.find((leg) => leg.orderKey === orderKey)?.triggerPrice
      if (triggerPrice === undefined) continue
      this.#stopsOf(side).push({ intentId, strategy, landedAtMs: state.updatedAtMs, triggerPrice })
    }
  }

  #stopsOf(side: PositionSide): NotedStop[] {
    const key = sideKeyOf(side)
    const known = this.#stops.get(key) ?? []
    this.#stops.set(key, known)
    return known
  }

  #noteEnds(state: IntentState): void {
    const { strategy, decision } = state.intent
    const stops = new Set(stopChildrenOf(state).map(({ orderKey }) => hexKey(orderKey)))
    for (const { orderKey, phase, role } of lastAttempt(state)?.children ?? []) {
      if (phase !== 'EXECUTED') continue
      const isExit = role === 'take-profit' || role === 'stop-loss'
      const why = isExit ? role : (decision.reason ?? '')
      const reason = stops.has(hexKey(orderKey)) ? 'stop' : reasonOf(state, role)
      this.#ends.set(hexKey(orderKey), { reason, why, strategy })
    }
  }
}

/** Returns the cause of an order that is no stop-loss. */
function reasonOf({ intent }: IntentState, role: string): TradeReason {
  if (role === 'stop-loss') return 'stop'
  if (role === 'take-profit' || intent.terms.orderType === 'take-profit') return 'target'
  if (intent.strategy !== OPERATOR) return 'signal'
  return intent.decisionKey.startsWith('kill:') ? 'kill' : 'hand'
}
