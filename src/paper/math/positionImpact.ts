/** Position price impact, its caps, and execution prices (contract `PositionPricingUtils`, `getPriceImpactUsd`). */
import { abs, divAwayFromZero, fac, max, min, pow30 } from './integer.ts'
import {
  balanceInterest,
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  mid,
  poolUsd,
  type Side,
} from './marketState.ts'
import { ProtocolRevert } from './protocolRevert.ts'

/** Settings the impact curve reads. */
export type ImpactSettings = Pick<
  MarketSettings,
  | 'positionImpactFactorPositive'
  | 'positionImpactFactorNegative'
  | 'positionImpactExponentFactorPositive'
  | 'positionImpactExponentFactorNegative'
>

/** A price impact, USD, and whether the trade brought the two sides closer. */
export interface Impact {
  readonly impactUsd: bigint
  readonly balanceWasImproved: boolean
}

/** One power-law term: factor * difference^exponent. */
export function impactCurveUsd(diffUsd: bigint, factor: bigint, exponent: bigint): bigint {
  return fac(pow30(diffUsd, exponent), factor)
}

function impactOfBalance(
  settings: ImpactSettings,
  longUsd: bigint,
  shortUsd: bigint,
  side: Side,
  usdDelta: bigint,
): Impact {
  const nextLong = side === 'long' ? max(0n, longUsd + usdDelta) : longUsd
  const nextShort = side === 'short' ? max(0n, shortUsd + usdDelta) : shortUsd
  return impactOfDifference(
    settings,
    abs(longUsd - shortUsd),
    abs(nextLong - nextShort),
    longUsd <= shortUsd === nextLong <= nextShort,
  )
}

/** Impact of moving the difference of two sides from one value to another, USD; `sameSide`: the heavier stayed heavier. */
export function impactOfDifference(
  settings: ImpactSettings,
  before: bigint,
  after: bigint,
  sameSide: boolean,
): Impact {
  const balanceWasImproved = after < before
  const factorNegative = settings.positionImpactFactorNegative
  const exponentNegative = settings.positionImpactExponentFactorNegative
  const factorPositive = min(settings.positionImpactFactorPositive, factorNegative)
  const exponentPositive = min(settings.positionImpactExponentFactorPositive, exponentNegative)
  if (sameSide) {
    const factor = balanceWasImproved ? factorPositive : factorNegative
    const exponent = balanceWasImproved ? exponentPositive : exponentNegative
    const change = abs(impactCurveUsd(before, factor, exponent) - impactCurveUsd(after, factor, exponent))
    return { impactUsd: balanceWasImproved ? change : -change, balanceWasImproved }
  }
  return {
    impactUsd:
      impactCurveUsd(before, factorPositive, exponentPositive) -
      impactCurveUsd(after, factorNegative, exponentNegative),
    balanceWasImproved,
  }
}

/**
 * Uncapped impact of a change of a side (signed USD and index token units; positive = increase), the worse of the
 * market's own balance and the virtual inventory's.
 */
export function positionPriceImpact(
  settings: MarketSettings,
  state: MarketState,
  side: Side,
  sizeDeltaUsd: bigint,
  sizeDeltaInTokens: bigint,
  prices: MarketPrices,
): Impact {
  const inTokens = settings.useOpenInterestInTokensForBalance
  const usdDelta = inTokens ? sizeDeltaInTokens * mid(prices.index) : sizeDeltaUsd
  const own = impactOfBalance(
    settings,
    balanceInterest(settings, state, 'long', prices),
    balanceInterest(settings, state, 'short', prices),
    side,
    usdDelta,
  )
  if (own.impactUsd >= 0n || !settings.hasVirtualInventory) return own
  const inventory = inTokens ? state.virtualInventory.tokens * mid(prices.index) : state.virtualInventory.usd
  const offset = usdDelta < 0n ? -usdDelta : 0n
  const virtual = impactOfBalance(
    settings,
    (inventory > 0n ? 0n : -inventory) + offset,
    (inventory > 0n ? inventory : 0n) + offset,
    side,
    usdDelta,
  )
  return virtual.impactUsd < own.impactUsd ? virtual : own
}

/** Cuts a positive impact to the largest share of the size that may be paid out; negatives pass. */
export function capImpactByMaxFactor(
  settings: MarketSettings,
  impactUsd: bigint,
  sizeDeltaUsd: bigint,
): bigint {
  if (impactUsd < 0n) return impactUsd
  const factor = min(settings.maxPositionImpactFactorPositive, settings.maxPositionImpactFactorNegative)
  return min(impactUsd, fac(abs(sizeDeltaUsd), factor))
}

/** Cuts a positive impact to the impact pool and what may be lent to it. */
export function capImpactByImpactPool(
  settings: MarketSettings,
  state: MarketState,
  prices: MarketPrices,
  impactUsd: bigint,
): bigint {
  if (impactUsd <= 0n) return impactUsd
  const impactPoolUsd = state.positionImpactPoolAmount * prices.index.min
  if (impactUsd <= impactPoolUsd) return impactUsd
  const pools = poolUsd(settings, state, 'long', prices) + poolUsd(settings, state, 'short', prices)
  const lendable = max(
    0n,
    min(fac(pools, settings.maxLendableImpactFactor), settings.maxLendableImpactUsd) -
      state.lentPositionImpactPoolAmount * prices.index.max,
  )
  return min(impactUsd, impactPoolUsd + lendable)
}

/** Execution of an increase. */
export interface IncreaseExecution extends Impact {
  /** Impact in index token units, signed; stored as pending. */
  readonly impactAmount: bigint
  /** Tokens the position receives; the impact does not change them. */
  readonly sizeDeltaInTokens: bigint
  /** Contract price. */
  readonly executionPrice: bigint
}

/**
 * Execution of an increase; a size of 0 (a deposit) has no impact.
 *
 * @throws ProtocolRevert PriceImpactLargerThanOrderSize, EmptySizeDeltaInTokens, OrderNotFulfillableAtAcceptablePrice
 */
export function executionOfIncrease(
  settings: MarketSettings,
  state: MarketState,
  side: Side,
  sizeDeltaUsd: bigint,
  acceptablePrice: bigint | undefined,
  prices: MarketPrices,
): IncreaseExecution {
  const { min: low, max: high } = prices.index
  const isLong = side === 'long'
  if (sizeDeltaUsd === 0n) {
    return {
      impactUsd: 0n,
      impactAmount: 0n,
      sizeDeltaInTokens: 0n,
      executionPrice: isLong ? high : low,
      balanceWasImproved: false,
    }
  }
  const base = isLong ? sizeDeltaUsd / high : (sizeDeltaUsd + low - 1n) / low
  const impact = positionPriceImpact(settings, state, side, sizeDeltaUsd, base, prices)
  const impactUsd = capImpactByMaxFactor(settings, impact.impactUsd, sizeDeltaUsd)
  const impactAmount = impactUsd > 0n ? impactUsd / high : divAwayFromZero(impactUsd, low)
  const tokens = isLong ? base + impactAmount : base - impactAmount
  if (tokens < 0n) throw new ProtocolRevert('PriceImpactLargerThanOrderSize', [impactUsd, sizeDeltaUsd])
  if (tokens === 0n) throw new ProtocolRevert('EmptySizeDeltaInTokens')
  const executionPrice = sizeDeltaUsd / tokens
  requireAcceptable(executionPrice, acceptablePrice, isLong)
  return {
    impactUsd,
    impactAmount,
    sizeDeltaInTokens: base,
    executionPrice,
    balanceWasImproved: impact.balanceWasImproved,
  }
}

/** Execution of a decrease: capped impact of the close, and the reported price. */
export interface DecreaseExecution extends Impact {
  readonly executionPrice: bigint
}

/**
 * Execution of a decrease of `sizeDeltaUsd` that closes `sizeDeltaInTokens`; both positive. Size 0 has no impact.
 *
 * @throws ProtocolRevert PriceImpactLargerThanOrderSize, NegativeExecutionPrice, OrderNotFulfillableAtAcceptablePrice
 */
export function executionOfDecrease(
  settings: MarketSettings,
  state: MarketState,
  side: Side,
  position: { readonly sizeInUsd: bigint; readonly sizeInTokens: bigint },
  sizeDeltaUsd: bigint,
  sizeDeltaInTokens: bigint,
  acceptablePrice: bigint | undefined,
  prices: MarketPrices,
): DecreaseExecution {
  const isLong = side === 'long'
  const price = isLong ? prices.index.min : prices.index.max
  if (sizeDeltaUsd === 0n) return { impactUsd: 0n, executionPrice: price, balanceWasImproved: false }
  const impact = positionPriceImpact(settings, state, side, -sizeDeltaUsd, -sizeDeltaInTokens, prices)
  const impactUsd = capImpactByMaxFactor(settings, impact.impactUsd, sizeDeltaUsd)
  const adjusted = isLong ? impactUsd : -impactUsd
  if (adjusted < 0n && -adjusted > sizeDeltaUsd) {
    throw new ProtocolRevert('PriceImpactLargerThanOrderSize', [adjusted, sizeDeltaUsd])
  }
  const executionPrice = price + (position.sizeInUsd * adjusted) / position.sizeInTokens / sizeDeltaUsd
  if (executionPrice < 0n) {
    throw new ProtocolRevert('NegativeExecutionPrice', [
      executionPrice,
      price,
      position.sizeInUsd,
      adjusted,
      sizeDeltaUsd,
    ])
  }
  requireAcceptable(executionPrice, acceptablePrice, !isLong)
  return { impactUsd, executionPrice, balanceWasImproved: impact.balanceWasImproved }
}

function requireAcceptable(price: bigint, acceptablePrice: bigint | undefined, mustBeAtMost: boolean): void {
  if (acceptablePrice === undefined) return
  if (mustBeAtMost ? price > acceptablePrice : price < acceptablePrice) {
    throw new ProtocolRevert('OrderNotFulfillableAtAcceptablePrice', [price, acceptablePrice])
  }
}

/** Part of a position's pending impact that a decrease settles: amount (index units) and USD, signed. */
export function pendingImpactOf(
  position: { readonly sizeInUsd: bigint; readonly pendingImpactAmount: bigint },
  sizeDeltaUsd: bigint,
  prices: MarketPrices,
): { readonly amount: bigint; readonly usd: bigint } {
  if (sizeDeltaUsd === 0n || position.pendingImpactAmount === 0n) return { amount: 0n, usd: 0n }
  const product = position.pendingImpactAmount * sizeDeltaUsd
  const amount = product < 0n ? divAwayFromZero(product, position.sizeInUsd) : product / position.sizeInUsd
  return { amount, usd: amount > 0n ? amount * prices.index.min : amount * prices.index.max }
}

/** Impact settled by a decrease: floored at the largest negative share (the excess is claimable), capped when positive. */
export function settledImpact(
  settings: MarketSettings,
  state: MarketState,
  prices: MarketPrices,
  sizeDeltaUsd: bigint,
  sumUsd: bigint,
): { readonly totalImpactUsd: bigint; readonly priceImpactDiffUsd: bigint } {
  if (sumUsd < 0n) {
    const lowest = -fac(sizeDeltaUsd, settings.maxPositionImpactFactorNegative)
    return sumUsd < lowest
      ? { totalImpactUsd: lowest, priceImpactDiffUsd: lowest - sumUsd }
      : { totalImpactUsd: sumUsd, priceImpactDiffUsd: 0n }
  }
  const capped = capImpactByMaxFactor(settings, sumUsd, sizeDeltaUsd)
  return { totalImpactUsd: capImpactByImpactPool(settings, state, prices, capped), priceImpactDiffUsd: 0n }
}
