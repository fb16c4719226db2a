/** How much, and whether at all. */
import { minOf, type Usd } from './units.ts'

/** Whether new orders may be made: all, only such as cannot add risk, or none. */
export type TradingState = 'active' | 'reducing' | 'halted'

/** Limits of one strategy or of the whole account; an absent field does not limit. */
export interface Limits {
  /** Largest position on one side of one market, open orders included, USD. */
  readonly maxPositionSizeUsd?: Usd
  /** Largest sum of all positions and open increases, USD. */
  readonly maxTotalExposureUsd?: Usd
  /** Largest single order, USD. */
  readonly maxOrderSizeUsd?: Usd
  /** Smallest order worth sending, USD. */
  readonly minOrderSizeUsd?: Usd
  /** Largest stop-market or twap increase, USD: they are signed without a bound on their price. */
  readonly maxUnboundedOrderUsd?: Usd
  /** Highest leverage of an increase in bps, 10000 = 1x. */
  readonly maxLeverageBps?: number
  /** Widest slippage that may be signed, bps. */
  readonly maxSlippageBps?: number
  /** Most orders in any hour. */
  readonly maxOrdersPerHour?: number
  /** Share of the venue's capacity left untouched, bps of it. */
  readonly capacityHeadroomBps?: number
  /** Oldest market data an increase may be sized on, ms. */
  readonly maxDataAgeMs?: number
  /** Widest gap between the application API's mark price and the oracle's median that an increase may be sized on, bps. */
  readonly maxPriceDivergenceBps?: number
  /** How long an unresolved reduction keeps another one of the same position away, ms. */
  readonly reduceAgainAfterMs?: number
}

function least<T extends number | bigint>(one: T | undefined, other: T | undefined): T | undefined {
  if (one === undefined) return other
  if (other === undefined) return one
  return one < other ? one : other
}

function most<T extends number | bigint>(one: T | undefined, other: T | undefined): T | undefined {
  if (one === undefined) return other
  if (other === undefined) return one
  return one > other ? one : other
}

/** The limits that satisfy both: of each field the tighter one. Pure; commutative and associative. */
export function tighten(one: Limits, other: Limits): Limits {
  const all = {
    maxPositionSizeUsd: least(one.maxPositionSizeUsd, other.maxPositionSizeUsd),
    maxTotalExposureUsd: least(one.maxTotalExposureUsd, other.maxTotalExposureUsd),
    maxOrderSizeUsd: least(one.maxOrderSizeUsd, other.maxOrderSizeUsd),
    minOrderSizeUsd: most(one.minOrderSizeUsd, other.minOrderSizeUsd),
    maxUnboundedOrderUsd: least(one.maxUnboundedOrderUsd, other.maxUnboundedOrderUsd),
    maxLeverageBps: least(one.maxLeverageBps, other.maxLeverageBps),
    maxSlippageBps: least(one.maxSlippageBps, other.maxSlippageBps),
    maxOrdersPerHour: least(one.maxOrdersPerHour, other.maxOrdersPerHour),
    capacityHeadroomBps: most(one.capacityHeadroomBps, other.capacityHeadroomBps),
    maxDataAgeMs: least(one.maxDataAgeMs, other.maxDataAgeMs),
    maxPriceDivergenceBps: least(one.maxPriceDivergenceBps, other.maxPriceDivergenceBps),
    reduceAgainAfterMs: most(one.reduceAgainAfterMs, other.reduceAgainAfterMs),
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

/** The stricter of two trading states. */
export function stricter(one: TradingState, other: TradingState): TradingState {
  const rank = { active: 0, reducing: 1, halted: 2 } as const
  return rank[one] >= rank[other] ? one : other
}

/** A cap that an absent limit does not apply. */
export function capped(value: Usd, limit: Usd | undefined): Usd {
  return limit === undefined ? value : minOf(value, limit)
}
