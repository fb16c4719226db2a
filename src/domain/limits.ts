/** How much, and whether at all. */
import type { Usd } from './units.ts'

/** Whether new orders may be made: all, only such as cannot add risk, or none. */
export type TradingState = 'active' | 'reducing' | 'halted'

/** Limits of one strategy, of one market or of the whole account; an absent field does not limit. */
export interface Limits {
  /** Largest position on one side of one market, open orders included, USD. */
  readonly maxPositionSizeUsd?: Usd
  /** The same as a share of equity, bps; 10000 is once the equity. */
  readonly maxPositionEquityBps?: number
  /** Largest sum of both sides of one market, open increases included, USD. */
  readonly maxMarketExposureUsd?: Usd
  /** Largest sum of all positions and open increases, USD. */
  readonly maxTotalExposureUsd?: Usd
  /** The same as a share of equity, bps. */
  readonly maxExposureEquityBps?: number
  /** Largest single order, USD. */
  readonly maxOrderSizeUsd?: Usd
  /** Smallest order worth sending, USD. */
  readonly minOrderSizeUsd?: Usd
  /** Largest stop-market or twap increase, USD: they are signed without a bound on their price. */
  readonly maxUnboundedOrderUsd?: Usd
  /** Largest part of the venue's capacity that one order takes, bps of it. */
  readonly maxCapacityShareBps?: number
  /** Share of the venue's capacity left untouched, bps of it. */
  readonly capacityHeadroomBps?: number
  /** Highest leverage of an increase in bps, 10000 = 1x. */
  readonly maxLeverageBps?: number
  /** Least way from the price to the liquidation of what an increase or a withdrawal leaves, bps of the price. */
  readonly minLiquidationDistanceBps?: number
  /** Widest slippage that may be signed, bps. */
  readonly maxSlippageBps?: number
  /** Most orders in any hour. */
  readonly maxOrdersPerHour?: number
  /** Largest loss since 00:00 UTC, USD: of a strategy what its own orders realized, of the account its equity. */
  readonly maxDailyLossUsd?: Usd
  /** Oldest data that an increase may stand on, ms. The four fields after it are for one feed each. */
  readonly maxDataAgeMs?: number
  readonly maxTickerAgeMs?: number
  readonly maxCapacityAgeMs?: number
  readonly maxOracleAgeMs?: number
  /** Positions and orders. */
  readonly maxAccountAgeMs?: number
  /** Widest gap between the application API's mark price and the oracle's median that an increase may be sized on, bps. */
  readonly maxPriceDivergenceBps?: number
  /** Farthest that our clock and the venue's may be apart for an increase, ms. */
  readonly maxClockSkewMs?: number
  /** How long an unresolved reduction keeps another one of the same position away, ms. */
  readonly reduceAgainAfterMs?: number
}

/** Of each limit, which of two values is the tighter one. */
const tighterIs: Readonly<Record<keyof Limits, 'less' | 'more'>> = {
  maxPositionSizeUsd: 'less',
  maxPositionEquityBps: 'less',
  maxMarketExposureUsd: 'less',
  maxTotalExposureUsd: 'less',
  maxExposureEquityBps: 'less',
  maxOrderSizeUsd: 'less',
  minOrderSizeUsd: 'more',
  maxUnboundedOrderUsd: 'less',
  maxCapacityShareBps: 'less',
  capacityHeadroomBps: 'more',
  maxLeverageBps: 'less',
  minLiquidationDistanceBps: 'more',
  maxSlippageBps: 'less',
  maxOrdersPerHour: 'less',
  maxDailyLossUsd: 'less',
  maxDataAgeMs: 'less',
  maxTickerAgeMs: 'less',
  maxCapacityAgeMs: 'less',
  maxOracleAgeMs: 'less',
  maxAccountAgeMs: 'less',
  maxPriceDivergenceBps: 'less',
  maxClockSkewMs: 'less',
  reduceAgainAfterMs: 'more',
}

/** Names of all limits. */
export const limitNames = Object.keys(tighterIs) as readonly (keyof Limits)[]

type Value = number | bigint | undefined

function isTighter(name: keyof Limits, one: Value, other: Value): boolean {
  if (one === undefined || one === other) return false
  if (other === undefined) return true
  return tighterIs[name] === 'less' ? one < other : one > other
}

/** The limits that satisfy both: of each field the tighter one. Pure; commutative and associative. */
export function tighten(one: Limits, other: Limits): Limits {
  const entries = limitNames.map((name) => [
    name,
    isTighter(name, other[name], one[name]) ? other[name] : one[name],
  ])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/** One limit that two sets do not share. An absent value does not limit. */
export interface LimitChange {
  readonly limit: keyof Limits
  readonly from: number | bigint | undefined
  readonly to: number | bigint | undefined
  readonly isTighter: boolean
}

/** What changes when `to` takes the place of `from`, in the order of `limitNames`. */
export function limitChanges(from: Limits, to: Limits): readonly LimitChange[] {
  return limitNames
    .filter((limit) => from[limit] !== to[limit])
    .map((limit) => ({
      limit,
      from: from[limit],
      to: to[limit],
      isTighter: isTighter(limit, to[limit], from[limit]),
    }))
}

/** The stricter of two trading states. */
export function stricter(one: TradingState, other: TradingState): TradingState {
  const rank = { active: 0, reducing: 1, halted: 2 } as const
  return rank[one] >= rank[other] ? one : other
}
