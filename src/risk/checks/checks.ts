/**
 * Conditions for a decision to become an intent, one pure function a limit. Each returns a `Denial` with a stable code, or undefined when the
 * decision may pass. As few of them as possible refuse reductions.
 */
import { deskSetting, notDealtText } from '../../domain/limits/deskBudgets.ts'
import {
  type CountedLimits,
  type DeskLimitName,
  deskLimitRows,
  type ExposureLimits,
  type Limits,
  limitsWith,
  limitText,
  type TradingState,
} from '../../domain/limits/limits.ts'
import type { Decision } from '../../domain/order/decision.ts'
import type { Denial } from '../../domain/order/intent.ts'
import { ageOf, capacityReading, type MarketView, type Snapshot } from '../../domain/snapshot.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import type { Reading } from '../../protocol/reading.ts'
import { absOf, BPS_ONE, formatDollars, type Usd } from '../../protocol/units.ts'
import { hasLost, lossLimit } from '../breakers/circuitBreakers.ts'
import { type AdmissionContext, type CountedUsage, marketUnknown } from '../exposure/admissionContext.ts'

/** A decision, and whether it can add risk (`addsRisk`). */
export interface ClassifiedDecision {
  readonly decision: Decision
  readonly adds: boolean
}

/**
 * Factor by which reductions may use older data than `maxDataAgeMs`: the oracle bounds their price all the same, and a late exit is better than none.
 */
export const REDUCTION_AGE_FACTOR = 4

/**
 * Factor of the hourly budget for reductions. A budget spent on increases must not keep a position open; a close that the venue keeps cancelling must
 * still end.
 */
const REDUCTION_ORDERS_FACTOR = 2

/** TRADING_HALTED: no orders at all. TRADING_REDUCING: only such as cannot add risk. */
export function checkTradingState(
  classified: ClassifiedDecision,
  tradingState: TradingState,
  why = 'set by an operator.',
): Denial | undefined {
  if (tradingState === 'halted') {
    return { code: 'TRADING_HALTED', reason: `Trading is halted, no new orders: ${why}` }
  }
  if (tradingState === 'reducing' && classified.adds) {
    return {
      code: 'TRADING_REDUCING',
      reason: `Trading is reducing, so only orders that cannot add risk are allowed: ${why}`,
      wanted: classified.decision.kind,
      allowed: 'decrease, close, cancel or collateral-in',
    }
  }
  return undefined
}

/** MARKET_UNKNOWN: not in the market list. MARKET_NOT_LISTED: delisted or swap-only, which denies increases only. */
export function checkListed(
  classified: ClassifiedDecision,
  view: MarketView | undefined,
): Denial | undefined {
  if (view === undefined) return marketUnknown(classified.decision.marketToken)
  const isUsable = view.market.isListed && (!view.market.isSpotOnly || classified.decision.kind === 'swap')
  if (!classified.adds || isUsable) return undefined
  return {
    code: 'MARKET_NOT_LISTED',
    reason: view.market.isSpotOnly
      ? `${view.market.symbol} only swaps; it has no positions.`
      : `${view.market.symbol} is no longer listed; positions in it can only be closed.`,
  }
}

/** MARKET_NOT_OPEN: a closed market, or one whose status is not known, denies increases only. */
export function checkMarketOpen(classified: ClassifiedDecision, view: MarketView): Denial | undefined {
  if (!classified.adds || view.status === 'open') return undefined
  return {
    code: 'MARKET_NOT_OPEN',
    reason:
      view.status === 'closed'
        ? `${view.market.symbol} is closed; positions in it can only be reduced.`
        : `The market status of ${view.market.symbol} is unknown; until it is known, positions can only be reduced.`,
    wanted: 'open',
    allowed: view.status,
  }
}

/**
 * ORDERS_PER_HOUR: the hourly budget of the strategy, of the market or of the account is spent. Reductions may use it
 * `REDUCTION_ORDERS_FACTOR` times. `accountLimits` absent: `limits` stands in for them.
 */
export function checkOrdersPerHour(
  classified: ClassifiedDecision,
  acceptedLastHour: CountedUsage['acceptedLastHour'],
  limits: Limits,
  accountLimits: Limits = limits,
  marketLimits: Limits = {},
): Denial | undefined {
  const factor = classified.adds ? 1 : REDUCTION_ORDERS_FACTOR
  const budgets = [
    { who: 'this strategy', used: acceptedLastHour.strategy, most: limits.maxOrdersPerHour },
    { who: 'this market', used: acceptedLastHour.market ?? 0, most: marketLimits.maxOrdersPerHour },
    { who: 'the account', used: acceptedLastHour.account, most: accountLimits.maxOrdersPerHour },
  ]
  for (const { who, used, most } of budgets) {
    if (most === undefined || used < most * factor) continue
    return {
      code: 'ORDERS_PER_HOUR',
      reason: `The hourly order budget of ${who} is spent; it recovers as orders become older than an hour.`,
      wanted: `order ${used + 1} in an hour`,
      allowed: `${most * factor} in an hour`,
    }
  }
  return undefined
}

/** Limits of the age of data. */
export type AgeLimits = Pick<
  Limits,
  'maxDataAgeMs' | 'maxTickerAgeMs' | 'maxCapacityAgeMs' | 'maxOracleAgeMs' | 'maxAccountAgeMs'
>

/**
 * DATA_TOO_OLD or DATA_MISSING: an increase needs positions, ticker, oracle price and capacity within `maxDataAgeMs` and the limit of their own feed.
 * A reduction needs positions and oracle price within `REDUCTION_AGE_FACTOR` times that, a cancel only the orders, an edit the orders too. Without a
 * limit the parts must only exist.
 */
function checkDataAge(
  classified: ClassifiedDecision,
  snapshot: Snapshot,
  view: MarketView,
  limits: AgeLimits,
): Denial | undefined {
  const { kind } = classified.decision
  const needed: (readonly [string, Reading<unknown> | undefined, number | undefined])[] = []
  const { maxAccountAgeMs, maxCapacityAgeMs, maxOracleAgeMs, maxTickerAgeMs } = limits
  if (kind === 'edit' || kind === 'cancel') needed.push(['orders', snapshot.orders, maxAccountAgeMs])
  if (kind !== 'cancel') {
    needed.push(['positions', snapshot.positions, maxAccountAgeMs])
    needed.push(['oracle price', view.oraclePrice, maxOracleAgeMs])
  }
  if (classified.adds) {
    needed.push(['ticker', view.ticker, maxTickerAgeMs])
    if (kind !== 'swap' && kind !== 'collateral-out')
      needed.push([
        'trading capacity',
        capacityReading(view, classified.decision.direction),
        maxCapacityAgeMs,
      ])
  }
  for (const [name, reading, ownMs] of needed) {
    if (reading === undefined) {
      return {
        code: 'DATA_MISSING',
        reason: `The ${name} of ${view.market.symbol} could not be read.`,
        wanted: name,
      }
    }
    // The freshest of any host, when nothing better stands in for it: a late way out is better than none.
    if (name === 'oracle price' && !classified.adds && view.priceSource === 'old-oracle') continue
    const ageMs = ageOf(snapshot, reading)
    const mostMs =
      Math.min(limits.maxDataAgeMs ?? Number.POSITIVE_INFINITY, ownMs ?? Number.POSITIVE_INFINITY) *
      (classified.adds ? 1 : REDUCTION_AGE_FACTOR)
    if (ageMs > mostMs) {
      return {
        code: 'DATA_TOO_OLD',
        reason: `The ${name} of ${view.market.symbol} is too old to act on.`,
        wanted: `${ageMs} ms old`,
        allowed: `at most ${mostMs} ms`,
      }
    }
  }
  return undefined
}

/** Clock difference beyond which nothing that adds risk is armed by default (docs/reference/asked.md), ms. */
const MAX_CLOCK_SKEW_MS = 30_000

/** CLOCK_SKEW: our clock and the venue's are further apart than `maxClockSkewMs`. Denies increases only. */
function checkClockSkew(
  classified: ClassifiedDecision,
  clockSkewMs: number,
  limits: Limits,
): Denial | undefined {
  const most = limits.maxClockSkewMs ?? MAX_CLOCK_SKEW_MS
  if (!classified.adds || Math.abs(clockSkewMs) <= most) return undefined
  return {
    code: 'CLOCK_SKEW',
    reason:
      "This machine's clock and the venue's differ too much to judge deadlines and ages. perpd doctor compares the clock with each host. Set the clock if it is wrong; if it is right, as after the machine slept, this ends when a second host responds.",
    wanted: `${Math.abs(clockSkewMs)} ms apart`,
    allowed: `at most ${most} ms`,
  }
}

/**
 * MAX_DAILY_LOSS: the loss of the strategy's books since 00:00 UTC, open parts too, or the realized loss on the market, has reached its limit. Denies
 * increases only. A share is one of the present equity.
 */
function checkDailyLoss(
  classified: ClassifiedDecision,
  { usage, limits, equity }: DailyLossContext,
): Denial | undefined {
  if (!classified.adds) return undefined
  const { dayResultUsd = 0n, marketDayResultUsd = 0n, marketLimits = {} } = usage
  const equityUsd = equity?.equityUsd
  const results = [
    { whose: "The strategy's loss", lostUsd: -dayResultUsd, limits },
    { whose: 'The loss on this market', lostUsd: -marketDayResultUsd, limits: marketLimits },
  ]
  const over = results.find((each) => hasLost(each.lostUsd, equityUsd, each.limits))
  if (over === undefined) return undefined
  return {
    code: 'MAX_DAILY_LOSS',
    reason: `${over.whose} of this day (UTC) has reached its limit; increases wait for the next day.`,
    wanted: `${formatDollars(over.lostUsd)} lost`,
    allowed: `less than ${lossLimit(equityUsd, over.limits)}`,
  }
}

/** Input for judging the loss of a day. */
export type DailyLossContext = Pick<AdmissionContext, 'usage' | 'limits' | 'equity'>

/**
 * DESK_DAILY_LOSS and DESK_ORDERS_PER_HOUR: the account has used up its budget of a limit of the desk. Denies increases only; the desk's exposure cuts their
 * size (`sizing/sizeLimits.ts`).
 */
function checkDesk(
  classified: ClassifiedDecision,
  { limits: { desk = {} }, usage }: AdmissionContext,
): Denial | undefined {
  if (!classified.adds) return undefined
  const used: { readonly [K in DeskLimitName]?: bigint } = {
    maxDailyLossUsd: desk.maxDailyLossUsd?.used ?? 0n,
    maxOrdersPerHour: BigInt(usage.acceptedLastHour.account),
  }
  for (const [name, { ofDesk }] of deskLimitRows) {
    const [own, usedNow] = [desk[name], used[name]]
    if (own === undefined || usedNow === undefined || usedNow < own.budget) continue
    return {
      code: ofDesk.code,
      reason: `The account's budget of the desk's limit ${deskSetting(name)} is spent; reductions continue.${notDealtText(own.waitsFor)}`,
      wanted: `more than ${limitText(name, usedNow)}`,
      allowed: `${limitText(name, own.budget)} of the desk's ${limitText(name, own.limit)}`,
    }
  }
  return undefined
}

const shares = limitsWith('isEquityShare')

/** EQUITY_UNKNOWN: a limit is a share of the equity, and the equity could not be read. Denies increases only. */
function checkEquityKnown(
  classified: ClassifiedDecision,
  equityUsd: Usd | undefined,
  limits: Limits,
  marketLimits: CountedLimits = {},
  ownLimits: ExposureLimits = {},
): Denial | undefined {
  const isNeeded =
    [limits, ownLimits].some((each: Limits) => shares.some((name) => each[name] !== undefined)) ||
    marketLimits.maxDailyLossEquityBps !== undefined
  if (!classified.adds || !isNeeded || equityUsd !== undefined) return undefined
  return {
    code: 'EQUITY_UNKNOWN',
    reason: 'A limit is a share of the equity, and the equity of the account is not known yet.',
  }
}

/**
 * PRICE_DIVERGENCE: the application API's mark price and the oracle's median are further apart than
 * `maxPriceDivergenceBps` of the median. Denies increases only; parts that are missing are `checkDataAge`'s to refuse.
 */
function checkPriceDivergence(
  classified: ClassifiedDecision,
  view: MarketView,
  limits: Limits,
): Denial | undefined {
  const most = limits.maxPriceDivergenceBps
  if (!classified.adds || most === undefined || !view.ticker || !view.oraclePrice) return undefined
  const { markPrice } = view.ticker.value
  const { medianPrice } = view.oraclePrice.value
  const gap = absOf(markPrice - medianPrice)
  // Multiplied out, so that no rounding lets a gap through.
  if (medianPrice > 0n && gap * BigInt(BPS_ONE) <= medianPrice * BigInt(most)) return undefined
  return {
    code: 'PRICE_DIVERGENCE',
    reason: `Two sources disagree on the price of ${view.indexToken.symbol}; nothing is added until they agree.`,
    wanted: `mark ${formatPrice(markPrice)}, oracle median ${formatPrice(medianPrice)}`,
    allowed: `at most ${most} bps apart`,
  }
}

/**
 * Returns the slippage to request, bps: the decision's own. For an order that cannot add risk it is at most the signable one. A tightened limit
 * therefore narrows an exit and does not close it.
 */
export function slippageOf(adds: boolean, wantedBps: number, { maxSlippageBps }: Limits): number {
  return adds ? wantedBps : Math.min(wantedBps, maxSlippageBps ?? wantedBps)
}

/** SLIPPAGE_TOO_WIDE: the slippage to be signed is above `maxSlippageBps`, or no whole number of 0 to 9999 bps. */
export function checkSlippage(slippageBps: number, limits: Limits): Denial | undefined {
  const most = Math.min(limits.maxSlippageBps ?? BPS_ONE - 1, BPS_ONE - 1)
  if (Number.isSafeInteger(slippageBps) && slippageBps >= 0 && slippageBps <= most) return undefined
  return {
    code: 'SLIPPAGE_TOO_WIDE',
    reason: 'The requested slippage is wider than perpd may sign.',
    wanted: `${slippageBps} bps`,
    allowed: `0 to ${most} bps`,
  }
}

/** Input for checking a limit before anything is sized. */
interface LimitCheck {
  readonly classified: ClassifiedDecision
  readonly view: MarketView
  readonly context: AdmissionContext
}

/** Checks that hold whatever the size, in their order. */
const limitChecks: readonly ((at: LimitCheck) => Denial | undefined)[] = [
  ({ classified, view, context }) => checkDataAge(classified, context.snapshot, view, context.limits),
  ({ classified, view, context }) => checkPriceDivergence(classified, view, context.limits),
  ({ classified, context }) => checkClockSkew(classified, context.venue.clockSkewMs ?? 0, context.limits),
  // The account's own loss is its breaker's: this one is of the strategy and of the market.
  ({ classified, context }) => checkDailyLoss(classified, context),
  ({ classified, context }) => checkDesk(classified, context),
  ({ classified, context }) =>
    checkEquityKnown(
      classified,
      context.equity?.equityUsd,
      context.limits,
      context.usage.marketLimits,
      context.own?.limits,
    ),
]

/** The first refusal of the limits that hold whatever the size. */
export function checkLimits(
  classified: ClassifiedDecision,
  view: MarketView,
  context: AdmissionContext,
): Denial | undefined {
  for (const check of limitChecks) {
    const denial = check({ classified, view, context })
    if (denial !== undefined) return denial
  }
  return undefined
}
