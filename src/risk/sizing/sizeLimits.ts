/** The limits that cut increases, in one order, and the name of a cut that leaves nothing worth sending. */

import { defined } from '../../base/defined.ts'
import { type DeskBudgets, deskSetting, notDealtText } from '../../domain/limits/deskBudgets.ts'
import type { ExposureLimits } from '../../domain/limits/limits.ts'
import { limitTable } from '../../domain/limits/limitTable.ts'
import type { IncreaseDecision } from '../../domain/order/decision.ts'
import type { Denial } from '../../domain/order/intent.ts'
import type { Address } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import { bps, formatDollars, maxOf, type Usd } from '../../protocol/units.ts'
import { type Exposure, type SideExposure, sideOf, worstCaseUsd } from '../exposure/accountExposure.ts'
import type { AdmissionContext } from '../exposure/admissionContext.ts'
import type { AvailableCapacity } from '../exposure/availableCapacity.ts'

/** One limit; an absent cap does not limit. */
export interface SizeLimit {
  readonly by: string
  readonly limitUsd: Usd | undefined
  /** The whole limit, of which `limitUsd` is left; absent: it counts nothing but the order. */
  readonly wholeUsd?: Usd | undefined
  /** Part of what it counts that is known to be counted twice until a fill is final, USD; absent: none. */
  readonly twiceUsd?: Usd
  /** It is the strategy's own, and its own part alone counts against it. */
  readonly isOwn?: true
  /** Accounts whose use must be known before this limit of the desk is dealt out; absent: it is. */
  readonly waitsFor?: readonly string[]
}

/** Part of the admission context that the caps need. */
type LimitContext = Pick<AdmissionContext, 'limits' | 'exposure' | 'own' | 'equity'>

interface MarketSide {
  readonly marketToken: Address
  readonly direction: Direction
}

/** A size with the cuts that made it, in order. */
export interface Fitted {
  readonly sizeDeltaUsd: Usd
  readonly cuts: readonly { readonly by: string; readonly toUsd: Usd }[]
  /** The newest cut is by a limit on the strategy's own part. */
  readonly isOwn?: true
  /** The newest cut is by a limit of the desk that waits for these accounts. */
  readonly waitsFor?: readonly string[]
}

/** Denial of each cut when it leaves nothing worth sending. */
const denialByLimit: Readonly<Record<string, { readonly code: string; readonly reason: string }>> = {
  capacity: { code: 'NO_CAPACITY', reason: 'The venue has no capacity left on this side of the market.' },
  maxOrderSizeUsd: {
    code: 'MAX_ORDER_SIZE',
    reason: 'The largest allowed order is smaller than the smallest allowed order.',
  },
  maxUnboundedOrderUsd: {
    code: 'MAX_UNBOUNDED_ORDER',
    reason: 'The largest allowed order without a price bound is smaller than the smallest allowed order.',
  },
  maxPositionSizeUsd: {
    code: 'MAX_POSITION_SIZE',
    reason: 'This side of the market has reached its position limit, open orders included.',
  },
  maxPositionEquityBps: {
    code: 'MAX_POSITION_EQUITY',
    reason: 'This side of the market has reached its share of the equity, open orders included.',
  },
  maxMarketExposureUsd: {
    code: 'MAX_MARKET_EXPOSURE',
    reason: 'Both sides of the market together have reached its limit, open orders included.',
  },
  maxMarketExposureEquityBps: {
    code: 'MAX_MARKET_EQUITY',
    reason: 'Both sides of the market together have reached their share of the equity, open orders included.',
  },
  maxTotalExposureUsd: {
    code: 'MAX_TOTAL_EXPOSURE',
    reason: 'All positions and open orders together have reached the exposure limit.',
  },
  [deskSetting('maxTotalExposureUsd')]: {
    code: limitTable.maxTotalExposureUsd.ofDesk.code,
    reason: `The account's budget of the desk's limit ${deskSetting('maxTotalExposureUsd')} is spent, open orders included; perpd deals it out again every two seconds.`,
  },
  maxExposureEquityBps: {
    code: 'MAX_EXPOSURE_EQUITY',
    reason: 'All positions and open orders together have reached their share of the equity.',
  },
  maxCapacityShareBps: {
    code: 'MAX_CAPACITY_SHARE',
    reason: "One order's part of the venue's capacity is below the smallest order.",
  },
  maxLeverageBps: {
    code: 'MAX_LEVERAGE',
    reason: 'At the highest leverage allowed this order is too small to send.',
  },
}

const OWN_REASON =
  "The strategy's own part, open orders included, has reached this limit of its file; other strategies do not count."

/** The caps of anything that adds exposure on one side of a market: of a strategy's file on its own part, of all others on everything. */
export function sizeLimitsOf(
  side: MarketSide,
  available: AvailableCapacity,
  { limits, exposure, own, equity }: LimitContext,
): readonly SizeLimit[] {
  const { capacityUsd, availableUsd } = available
  const { maxCapacityShareBps } = limits
  const ownCaps = own === undefined ? [] : exposureCaps(side, own.limits, own.exposure, equity?.equityUsd)
  return [
    { by: 'maxOrderSizeUsd', limitUsd: limits.maxOrderSizeUsd },
    ...exposureCaps(side, limits, exposure, equity?.equityUsd),
    ...ownCaps.map((cap) => ({ ...cap, isOwn: true as const })),
    ...deskCaps(limits.desk, exposure),
    { by: 'maxCapacityShareBps', limitUsd: shareOf(capacityUsd, maxCapacityShareBps) },
    { by: 'capacity', limitUsd: availableUsd },
  ]
}

/** The caps of an increase, in the order in which they cut it: of one whose fill no price bounds, that limit comes first. */
export function increaseLimitsOf(
  decision: IncreaseDecision,
  available: AvailableCapacity,
  context: LimitContext,
): readonly SizeLimit[] {
  const { orderType } = decision
  const isUnbounded = orderType === 'stop-market' || orderType === 'twap'
  return [
    ...(isUnbounded ? [{ by: 'maxUnboundedOrderUsd', limitUsd: context.limits.maxUnboundedOrderUsd }] : []),
    ...sizeLimitsOf(decision, available, context),
  ]
}

/** The room that the account's budget of the desk's exposure leaves. */
function deskCaps(desk: DeskBudgets = {}, { totalExposureUsd }: Exposure): readonly SizeLimit[] {
  const { maxTotalExposureUsd: own } = desk
  if (own === undefined) return []
  const by = deskSetting('maxTotalExposureUsd')
  const { budget, waitsFor } = own
  return [
    {
      ...{ by, limitUsd: rest(budget, totalExposureUsd), wholeUsd: budget },
      ...(waitsFor.length > 0 && { waitsFor }),
    },
  ]
}

/** The room that limits of exposure leave. Without a figure of the equity its shares are 0, and an increase is denied. */
function exposureCaps(
  { marketToken, direction }: MarketSide,
  limits: ExposureLimits,
  exposure: Exposure,
  equityUsd: Usd = 0n,
): readonly SizeLimit[] {
  const { maxPositionEquityBps, maxMarketExposureEquityBps, maxExposureEquityBps } = limits
  const ofSide = sideOf(exposure, marketToken, direction)
  const ofOther = sideOf(exposure, marketToken, direction === 'long' ? 'short' : 'long')
  const used = (of: readonly SideExposure[], usedUsd: Usd) => ({
    usedUsd,
    twiceUsd: of.reduce((sum, { twiceUsd = 0n }) => sum + twiceUsd, 0n),
  })
  const side = used([ofSide], worstCaseUsd(ofSide))
  const market = used([ofSide, ofOther], worstCaseUsd(ofSide) + worstCaseUsd(ofOther))
  const all = used([...exposure.sides.values()], exposure.totalExposureUsd)
  const caps: readonly (readonly [by: string, wholeUsd: Usd | undefined, of: typeof side])[] = [
    ['maxPositionSizeUsd', limits.maxPositionSizeUsd, side],
    ['maxPositionEquityBps', shareOf(equityUsd, maxPositionEquityBps), side],
    ['maxMarketExposureUsd', limits.maxMarketExposureUsd, market],
    ['maxMarketExposureEquityBps', shareOf(equityUsd, maxMarketExposureEquityBps), market],
    ['maxTotalExposureUsd', limits.maxTotalExposureUsd, all],
    ['maxExposureEquityBps', shareOf(equityUsd, maxExposureEquityBps), all],
  ]
  return caps.map(([by, wholeUsd, { usedUsd, twiceUsd }]) => ({
    ...{ by, limitUsd: rest(wholeUsd, usedUsd), wholeUsd },
    ...(twiceUsd > 0n && { twiceUsd }),
  }))
}

/** Returns the decision, cut by every cap below the rest. */
export function fitWithin(wantedUsd: Usd, limits: readonly SizeLimit[]): Fitted {
  let sizeDeltaUsd = wantedUsd
  let newest: SizeLimit | undefined
  const cuts: { readonly by: string; readonly toUsd: Usd }[] = []
  for (const limit of limits) {
    const { by, limitUsd } = limit
    if (limitUsd === undefined || limitUsd >= sizeDeltaUsd) continue
    sizeDeltaUsd = limitUsd
    newest = limit
    cuts.push({ by, toUsd: limitUsd })
  }
  return { sizeDeltaUsd, cuts, ...defined({ isOwn: newest?.isOwn, waitsFor: newest?.waitsFor }) }
}

/** The denial of a size that its newest cut left too small; ORDER_TOO_SMALL when nothing cut it. */
export function tooSmall(
  wantedUsd: Usd,
  { sizeDeltaUsd, cuts, isOwn, waitsFor }: Fitted,
  leastUsd: Usd,
): Denial {
  const denial = denialByLimit[cuts.at(-1)?.by ?? '']
  const waits = denial && waitsFor && `${denial.reason}${notDealtText(waitsFor)}`
  return {
    ...(denial ?? { code: 'ORDER_TOO_SMALL', reason: 'The order is below the smallest allowed size.' }),
    ...defined({ reason: isOwn ? OWN_REASON : waits }),
    wanted: formatDollars(wantedUsd),
    allowed: [
      ...(denial === undefined ? [] : [formatDollars(sizeDeltaUsd)]),
      ...(leastUsd > 1n ? [`at least ${formatDollars(leastUsd)}`] : []),
    ].join(', but '),
  }
}

function shareOf(wholeUsd: Usd, shareBps: number | undefined): Usd | undefined {
  return shareBps === undefined ? undefined : bps(maxOf(0n, wholeUsd), shareBps)
}

function rest(limit: Usd | undefined, used: Usd): Usd | undefined {
  return limit === undefined ? undefined : maxOf(0n, limit - used)
}
