/**
 * The one of the paper world who swaps for a gain. A swap that brings a pool nearer to balance is paid for it, and out of a pool far from
 * balance that is more than its fees: he is always there first, and leaves nothing of it to anybody else.
 */
import { abs, max, min } from './integer.ts'
import { type MarketPrices, type MarketSettings, type MarketState, mid, type Slot } from './marketState.ts'
import { trySwapInPool } from './poolSwap.ts'
import { impactCurveUsd } from './positionImpact.ts'

/** No two sides of a pool are this far apart, USD. */
const FARTHEST_USD = 10n ** 45n

/** Swaps that he tries at one moment: what positions reserve may refuse a large one and let a smaller one through. */
const MOST_SWAPS = 40

/** By factor, exponent and fee, which most markets share. */
const calmOf = new Map<string, bigint>()

/**
 * Most that the two sides of a pool may be apart, USD, before a swap is paid more than half of its fees. The impact grows faster than the
 * distance, so that the first dollar of a swap is paid best: where that one gains nothing no swap does.
 */
function calmDistanceUsd(settings: MarketSettings): bigint {
  const factor = min(settings.swapImpactFactorPositive, settings.swapImpactFactorNegative)
  const { swapImpactExponentFactor: exponent, swapFeeFactorForBalanceWasImproved: fee } = settings
  const key = `${factor}:${exponent}:${fee}`
  const known = calmOf.get(key)
  if (known !== undefined) return known
  const isCalm = (distanceUsd: bigint): boolean => {
    // A swap brings the sides nearer by twice its size.
    const sizeUsd = distanceUsd / 2_000n
    const paidUsd =
      impactCurveUsd(distanceUsd, factor, exponent) -
      impactCurveUsd(distanceUsd - 2n * sizeUsd, factor, exponent)
    return paidUsd * 2n * 10n ** 30n <= sizeUsd * fee
  }
  let [calm, beyond] = [0n, FARTHEST_USD]
  while (beyond - calm > max(1n, calm / 1_000n)) {
    const middle = (calm + beyond) / 2n
    if (isCalm(middle)) calm = middle
    else beyond = middle
  }
  calmOf.set(key, calm)
  return calm
}

/** Worth of the long side of a pool above the short one, USD, signed. */
function leanUsd({ pool }: MarketState, prices: MarketPrices): bigint {
  return pool[0] * mid(prices.long) - pool[1] * mid(prices.short)
}

/** Says whether no swap through a pool with two tokens is paid more than its fees, by a wide margin. */
export function isCalm(settings: MarketSettings, state: MarketState, prices: MarketPrices): boolean {
  return abs(leanUsd(state, prices)) <= calmDistanceUsd(settings)
}

/** Swaps on a draft of a market with two tokens until that is calm, as far as what positions reserve lets the tokens go. */
export function arbitrage(settings: MarketSettings, draft: MarketState, prices: MarketPrices): void {
  const calm = calmDistanceUsd(settings)
  let most: bigint | undefined
  for (let swaps = 0; swaps < MOST_SWAPS; swaps += 1) {
    const lean = leanUsd(draft, prices)
    const distance = abs(lean)
    if (distance <= calm) return
    const slotIn: Slot = lean > 0n ? 1 : 0
    // Half way into what is calm, so that not every move of a price calls for a swap.
    const wanted = (distance - calm / 2n) / 2n / mid(slotIn === 0 ? prices.long : prices.short)
    const amount = most === undefined ? wanted : min(wanted, most)
    if (amount === 0n) return
    if (trySwapInPool(settings, draft, slotIn, amount, prices) === undefined) most = amount / 2n
  }
}
