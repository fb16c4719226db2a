/** The limits that cut what adds exposure, in one order, and what a cut is called that leaves nothing worth sending. */
import type { Address } from '../domain/address.ts'
import type { Denial } from '../domain/intent.ts'
import type { Direction } from '../domain/market.ts'
import { bps, formatDollars, maxOf, type Usd } from '../domain/units.ts'
import { sideOf, worstCaseUsd } from './book.ts'
import type { Desk } from './desk.ts'
import type { Room } from './room.ts'

/** One limit; an absent cap does not limit. */
export interface Cap {
  readonly by: string
  readonly capUsd: Usd | undefined
}

/** A size with the cuts that made it, in order. */
export interface Fitted {
  readonly sizeDeltaUsd: Usd
  readonly cuts: readonly { readonly by: string; readonly toUsd: Usd }[]
}

/** What each cut is called when it leaves nothing worth sending. */
const denialOfCut: Readonly<Record<string, { readonly code: string; readonly reason: string }>> = {
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
export function capsOf(
  { marketToken, direction }: { readonly marketToken: Address; readonly direction: Direction },
  room: Room,
  { limits, book, equityUsd }: Pick<Desk, 'limits' | 'book' | 'equityUsd'>,
): readonly Cap[] {
  const heldUsd = worstCaseUsd(sideOf(book, marketToken, direction))
  const otherUsd = worstCaseUsd(sideOf(book, marketToken, direction === 'long' ? 'short' : 'long'))
  const shareOf = (wholeUsd: Usd, shareBps: number | undefined): Usd | undefined =>
    shareBps === undefined ? undefined : bps(maxOf(0n, wholeUsd), shareBps)
  // Without a figure of the equity its shares are nothing: what stands on them is denied.
  const worthUsd = equityUsd ?? 0n
  return [
    { by: 'maxOrderSizeUsd', capUsd: limits.maxOrderSizeUsd },
    { by: 'maxPositionSizeUsd', capUsd: rest(limits.maxPositionSizeUsd, heldUsd) },
    { by: 'maxPositionEquityBps', capUsd: rest(shareOf(worthUsd, limits.maxPositionEquityBps), heldUsd) },
    { by: 'maxMarketExposureUsd', capUsd: rest(limits.maxMarketExposureUsd, heldUsd + otherUsd) },
    {
      by: 'maxMarketExposureEquityBps',
      capUsd: rest(shareOf(worthUsd, limits.maxMarketExposureEquityBps), heldUsd + otherUsd),
    },
    { by: 'maxTotalExposureUsd', capUsd: rest(limits.maxTotalExposureUsd, book.totalExposureUsd) },
    {
      by: 'maxExposureEquityBps',
      capUsd: rest(shareOf(worthUsd, limits.maxExposureEquityBps), book.totalExposureUsd),
    },
    { by: 'maxCapacityShareBps', capUsd: shareOf(room.capacityUsd, limits.maxCapacityShareBps) },
    { by: 'capacity', capUsd: room.roomUsd },
  ]
}

/** The wish, cut by every cap that is below what is left. */
export function fitInto(wantedUsd: Usd, caps: readonly Cap[]): Fitted {
  let sizeDeltaUsd = wantedUsd
  const cuts: { readonly by: string; readonly toUsd: Usd }[] = []
  for (const { by, capUsd } of caps) {
    if (capUsd === undefined || capUsd >= sizeDeltaUsd) continue
    sizeDeltaUsd = capUsd
    cuts.push({ by, toUsd: capUsd })
  }
  return { sizeDeltaUsd, cuts }
}

/** The denial of a size that its newest cut left too small; ORDER_TOO_SMALL when nothing cut it. */
export function tooSmall(wantedUsd: Usd, { sizeDeltaUsd, cuts }: Fitted, leastUsd: Usd): Denial {
  const denial = denialOfCut[cuts.at(-1)?.by ?? '']
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
