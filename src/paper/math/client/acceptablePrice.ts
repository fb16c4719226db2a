/** Acceptable prices as the official client makes them (the client's `getAcceptablePriceInfo`). Prices in API form. */
import type { MarketPrices, MarketSettings, MarketState, PricePair, Side } from '../marketState.ts'
import type { Impact } from '../positionImpact.ts'
import { clientCappedImpact, impactAmountOf } from './clientImpact.ts'

/** Parts of 10,000. */
export const BPS = 10_000n

/** Which order a price is for. */
export interface Direction {
  readonly side: Side
  readonly isIncrease: boolean
}

/** Tells whether a trade executes at the higher price: it buys the index token. */
export function usesMaxPrice({ side, isIncrease }: Direction): boolean {
  return (side === 'long') === isIncrease
}

/** Price of a pair that a trade is done at. */
export function markPriceOf(price: PricePair, direction: Direction): bigint {
  return usesMaxPrice(direction) ? price.max : price.min
}

/** Moves a price by a slippage against the trader. */
export function withSlippage(price: bigint, slippageBps: bigint, direction: Direction): bigint {
  return (price * (usesMaxPrice(direction) ? BPS + slippageBps : BPS - slippageBps)) / BPS
}

/** An acceptable price and its distance from the index price; positive = better for the trader. */
export interface AcceptablePrice {
  readonly acceptablePrice: bigint
  readonly acceptablePriceDeltaBps: bigint
  readonly priceDelta: bigint
}

/** Price at which an order with that impact is done. */
export function acceptablePriceByImpact(
  indexPrice: bigint,
  sizeDeltaUsd: bigint,
  impactUsd: bigint,
  direction: Direction,
): AcceptablePrice {
  if (indexPrice === 0n || sizeDeltaUsd === 0n) {
    return { acceptablePrice: indexPrice, acceptablePriceDeltaBps: 0n, priceDelta: 0n }
  }
  const sign = usesMaxPrice(direction) ? 1n : -1n
  const acceptablePrice = (indexPrice * (sizeDeltaUsd - sign * impactUsd)) / sizeDeltaUsd
  const priceDelta = (indexPrice - acceptablePrice) * sign
  return { acceptablePrice, acceptablePriceDeltaBps: (priceDelta * BPS) / indexPrice, priceDelta }
}

/** Impact that an acceptable price allows; the amount is USD by price without decimals, as the client has it. */
export function impactByAcceptablePrice(
  sizeDeltaUsd: bigint,
  acceptablePrice: bigint,
  indexPrice: bigint,
  direction: Direction,
): {
  readonly priceImpactDeltaUsd: bigint
  readonly priceImpactDeltaAmount: bigint
  readonly priceDelta: bigint
  readonly acceptablePriceDeltaBps: bigint
} {
  const priceDelta = (indexPrice - acceptablePrice) * (usesMaxPrice(direction) ? 1n : -1n)
  const priceImpactDeltaUsd = acceptablePrice === 0n ? 0n : (sizeDeltaUsd * priceDelta) / acceptablePrice
  return {
    priceDelta,
    acceptablePriceDeltaBps: indexPrice === 0n ? 0n : (priceDelta * BPS) / indexPrice,
    priceImpactDeltaUsd,
    priceImpactDeltaAmount: indexPrice === 0n ? 0n : priceImpactDeltaUsd / indexPrice,
  }
}

/** Budget of a resting order when none is set: the negative impact in bps plus a buffer, 30 by default. */
export function defaultImpactBps(
  indexPrice: bigint,
  sizeDeltaUsd: bigint,
  impactUsd: bigint,
  direction: Direction,
  bufferBps = 30n,
): bigint {
  if (impactUsd > 0n) return bufferBps
  const bps = acceptablePriceByImpact(indexPrice, sizeDeltaUsd, impactUsd, direction).acceptablePriceDeltaBps
  return bps < 0n ? -bps + bufferBps : bufferBps
}

/** Acceptable price of an order with the impact it came from. */
export interface AcceptablePriceInfo {
  readonly acceptablePrice: bigint
  readonly acceptablePriceDeltaBps: bigint
  readonly priceImpactDeltaAmount: bigint
  readonly priceImpactDeltaUsd: bigint
  readonly balanceWasImproved: boolean
}

/** Terms of an acceptable price. */
export interface AcceptablePriceTerms extends Direction {
  /** API form: USD with 30 decimals for a whole token. */
  readonly indexPrice: bigint
  /** Unsigned. */
  readonly sizeDeltaUsd: bigint
  readonly sizeDeltaInTokens?: bigint | undefined
  /** A fixed budget, bps; undefined: from the impact. */
  readonly maxNegativeImpactBps?: bigint | undefined
}

/** The acceptable price of an order before slippage. */
export function acceptablePriceInfo(
  settings: MarketSettings,
  state: MarketState,
  prices: MarketPrices,
  terms: AcceptablePriceTerms,
): AcceptablePriceInfo {
  const { indexPrice, sizeDeltaUsd, maxNegativeImpactBps: budget } = terms
  if (sizeDeltaUsd <= 0n) {
    return {
      acceptablePrice: 0n,
      acceptablePriceDeltaBps: 0n,
      priceImpactDeltaAmount: 0n,
      priceImpactDeltaUsd: 0n,
      balanceWasImproved: false,
    }
  }
  if (budget !== undefined && budget > 0n) {
    const delta = (indexPrice * budget) / BPS
    const acceptablePrice = indexPrice + (usesMaxPrice(terms) ? delta : -delta)
    const allowed = impactByAcceptablePrice(sizeDeltaUsd, acceptablePrice, indexPrice, terms)
    return {
      acceptablePrice,
      acceptablePriceDeltaBps: -budget,
      priceImpactDeltaAmount: allowed.priceImpactDeltaAmount,
      priceImpactDeltaUsd: allowed.priceImpactDeltaUsd,
      balanceWasImproved: false,
    }
  }
  const impact: Impact = clientCappedImpact(
    settings,
    state,
    terms.side,
    terms.isIncrease ? sizeDeltaUsd : -sizeDeltaUsd,
    terms.sizeDeltaInTokens,
    prices,
  )
  const price = acceptablePriceByImpact(indexPrice, sizeDeltaUsd, impact.impactUsd, terms)
  return {
    acceptablePrice: price.acceptablePrice,
    acceptablePriceDeltaBps: price.acceptablePriceDeltaBps,
    priceImpactDeltaAmount: impactAmountOf(impact.impactUsd, prices.index),
    priceImpactDeltaUsd: impact.impactUsd,
    balanceWasImproved: impact.balanceWasImproved,
  }
}
