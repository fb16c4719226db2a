/** How much, and whether at all. */
import type { TokenAmount, Usd } from './units.ts'

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
  /** The same as a share of equity, bps. */
  readonly maxMarketExposureEquityBps?: number
  /** Largest sum of all positions and open increases, USD. */
  readonly maxTotalExposureUsd?: Usd
  /** The same as a share of equity, bps. */
  readonly maxExposureEquityBps?: number
  /** Largest size that an increase may wish for, as a share of equity, bps: a wish above it is denied, not cut. */
  readonly maxWishEquityBps?: number
  /** The same of the collateral that it brings at its leverage, bps. */
  readonly maxWishCollateralEquityBps?: number
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
  /** Most orders in any hour: of the strategy, on the market, of the account. */
  readonly maxOrdersPerHour?: number
  /** Endings of one wish by one cause in any 24 hours before it waits. */
  readonly attemptsPerCause?: number
  /** Execution fees in any 24 hours after which increases wait, native token, base units. */
  readonly executionFeesPerDay?: TokenAmount
  /** Relay fees in any 24 hours after which increases wait, USD. */
  readonly relayFeesPerDayUsd?: Usd
  /** Relay fees of strategies' reductions in any 24 hours after which only an operator reduces, USD; of the account alone. */
  readonly reductionFeesPerDayUsd?: Usd
  /** Largest loss since 00:00 UTC, USD: what a strategy's orders or those on a market realized; of the account its equity. */
  readonly maxDailyLossUsd?: Usd
  /** The same as a share of equity, bps. */
  readonly maxDailyLossEquityBps?: number
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

/** Of some figures, which of two values of each is the tighter one. */
export type Tightness<T> = Readonly<Record<keyof T & string, 'less' | 'more'>>

/** Of each limit. */
export const limitTightness: Tightness<Limits> = {
  maxPositionSizeUsd: 'less',
  maxPositionEquityBps: 'less',
  maxMarketExposureUsd: 'less',
  maxMarketExposureEquityBps: 'less',
  maxTotalExposureUsd: 'less',
  maxExposureEquityBps: 'less',
  maxWishEquityBps: 'less',
  maxWishCollateralEquityBps: 'less',
  maxOrderSizeUsd: 'less',
  minOrderSizeUsd: 'more',
  maxUnboundedOrderUsd: 'less',
  maxCapacityShareBps: 'less',
  capacityHeadroomBps: 'more',
  maxLeverageBps: 'less',
  minLiquidationDistanceBps: 'more',
  maxSlippageBps: 'less',
  maxOrdersPerHour: 'less',
  attemptsPerCause: 'less',
  executionFeesPerDay: 'less',
  relayFeesPerDayUsd: 'less',
  reductionFeesPerDayUsd: 'less',
  maxDailyLossUsd: 'less',
  maxDailyLossEquityBps: 'less',
  maxDataAgeMs: 'less',
  maxTickerAgeMs: 'less',
  maxCapacityAgeMs: 'less',
  maxOracleAgeMs: 'less',
  maxAccountAgeMs: 'less',
  maxPriceDivergenceBps: 'less',
  maxClockSkewMs: 'less',
  reduceAgainAfterMs: 'more',
}

/** Limits of what a scope has used up; a market's hold for what happened on it, a strategy's for its own orders. */
export const countedLimits = [
  'maxOrdersPerHour',
  'executionFeesPerDay',
  'relayFeesPerDayUsd',
  'maxDailyLossUsd',
  'maxDailyLossEquityBps',
] as const satisfies readonly (keyof Limits)[]

/** The limits of what is counted. */
export type CountedLimits = Pick<Limits, (typeof countedLimits)[number]>

type Value = number | bigint | undefined

/** Whether `one` is the tighter of two values; an absent one does not limit. */
export function isTighter(rule: 'less' | 'more', one: Value, other: Value): boolean {
  if (one === undefined || one === other) return false
  if (other === undefined) return true
  return rule === 'less' ? one < other : one > other
}

/** Of each figure the tighter one of two sets. Pure; commutative and associative. */
export function tightenBy<K extends string, T extends { readonly [P in K]?: Value }>(
  tightness: Readonly<Record<K, 'less' | 'more'>>,
  one: T,
  other: T,
): Pick<T, K & keyof T> {
  const [first, second] = [one, other] as readonly Readonly<Record<string, Value>>[]
  const entries = Object.entries<'less' | 'more'>(tightness).map(([name, rule]) => [
    name,
    isTighter(rule, second?.[name], first?.[name]) ? second?.[name] : first?.[name],
  ])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Pick<T, K & keyof T>
}

/** The limits that satisfy both: of each field the tighter one. Pure; commutative and associative. */
export function tighten(one: Limits, other: Limits): Limits {
  return tightenBy(limitTightness, one, other)
}

/** The stricter of two trading states. */
export function stricter(one: TradingState, other: TradingState): TradingState {
  const rank = { active: 0, reducing: 1, halted: 2 } as const
  return rank[one] >= rank[other] ? one : other
}
