/** The limits that cut what adds exposure, in one order, and what a cut is called that leaves nothing worth sending. */
import type { Denial } from '../../domain/order/intent.ts'
import type { Address } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import { bps, formatDollars, maxOf, type Usd } from '../../protocol/units.ts'
import { sideOf, worstCaseUsd } from '../exposure/accountExposure.ts'
import type { AdmissionContext } from '../exposure/admissionContext.ts'
import type { AvailableCapacity } from '../exposure/availableCapacity.ts'

/** One limit; an absent cap does not limit. */
export interface SizeLimit {
  readonly by: string
  readonly limitUsd: Usd | undefined
}

/** A size with the cuts that made it, in order. */
export interface Fitted {
  readonly sizeDeltaUsd: Usd
  readonly cuts: readonly { readonly by: string; readonly toUsd: Usd }[]
}

/** What each cut is called when it leaves nothing worth sending. */
const denialByLimit: Readonly<Record<string, { readonly code: string; readonly reason: string }>> = {
  capacity: { code: 'NO_CAPACITY', reason: 'The venue has no capacity left on this side of the market.' },
  maxOrderSizeUsd: { code: 'MAX_ORDER_SIZE', reason: 'The largest order allowed is below the smallest one.' },
  maxUnboundedOrderUsd: {
    code: 'MAX_UNBOUNDED_ORDER',
    reason: 'The largest order allowed without a bound on its price is below the smallest one.',
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

/** The caps of anything that adds exposure on one side of a market. */
export function sizeLimitsOf(
  { marketToken, direction }: { readonly marketToken: Address; readonly direction: Direction },
  available: AvailableCapacity,
  { limits, exposure, equityUsd }: Pick<AdmissionContext, 'limits' | 'exposure' | 'equityUsd'>,
): readonly SizeLimit[] {
  const heldUsd = worstCaseUsd(sideOf(exposure, marketToken, direction))
  const otherUsd = worstCaseUsd(sideOf(exposure, marketToken, direction === 'long' ? 'short' : 'long'))
  const shareOf = (wholeUsd: Usd, shareBps: number | undefined): Usd | undefined =>
    shareBps === undefined ? undefined : bps(maxOf(0n, wholeUsd), shareBps)
  // Without a figure of the equity its shares are nothing: what stands on them is denied.
  const worthUsd = equityUsd ?? 0n
  return [
    { by: 'maxOrderSizeUsd', limitUsd: limits.maxOrderSizeUsd },
    { by: 'maxPositionSizeUsd', limitUsd: rest(limits.maxPositionSizeUsd, heldUsd) },
    { by: 'maxPositionEquityBps', limitUsd: rest(shareOf(worthUsd, limits.maxPositionEquityBps), heldUsd) },
    { by: 'maxMarketExposureUsd', limitUsd: rest(limits.maxMarketExposureUsd, heldUsd + otherUsd) },
    {
      by: 'maxMarketExposureEquityBps',
      limitUsd: rest(shareOf(worthUsd, limits.maxMarketExposureEquityBps), heldUsd + otherUsd),
    },
    { by: 'maxTotalExposureUsd', limitUsd: rest(limits.maxTotalExposureUsd, exposure.totalExposureUsd) },
    {
      by: 'maxExposureEquityBps',
      limitUsd: rest(shareOf(worthUsd, limits.maxExposureEquityBps), exposure.totalExposureUsd),
    },
    { by: 'maxCapacityShareBps', limitUsd: shareOf(available.capacityUsd, limits.maxCapacityShareBps) },
    { by: 'capacity', limitUsd: available.availableUsd },
  ]
}

/** The decision, cut by every cap that is below what is left. */
export function fitWithin(wantedUsd: Usd, limits: readonly SizeLimit[]): Fitted {
  let sizeDeltaUsd = wantedUsd
  const cuts: { readonly by: string; readonly toUsd: Usd }[] = []
  for (const { by, limitUsd } of limits) {
    if (limitUsd === undefined || limitUsd >= sizeDeltaUsd) continue
    sizeDeltaUsd = limitUsd
    cuts.push({ by, toUsd: limitUsd })
  }
  return { sizeDeltaUsd, cuts }
}

/** The denial of a size that its newest cut left too small; ORDER_TOO_SMALL when nothing cut it. */
export function tooSmall(wantedUsd: Usd, { sizeDeltaUsd, cuts }: Fitted, leastUsd: Usd): Denial {
  const denial = denialByLimit[cuts.at(-1)?.by ?? '']
  return {
    ...(denial ?? { code: 'ORDER_TOO_SMALL', reason: 'The order is smaller than the smallest one allowed.' }),
    wanted: formatDollars(wantedUsd),
    allowed: [
      ...(denial === undefined ? [] : [formatDollars(sizeDeltaUsd)]),
      ...(leastUsd > 1n ? [`at least ${formatDollars(leastUsd)}`] : []),
    ].join(', but '),
  }
}

function rest(limit: Usd | undefined, used: Usd): Usd | undefined {
  return limit === undefined ? undefined : maxOf(0n, limit - used)
}
