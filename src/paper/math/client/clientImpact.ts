/**
 * Price impact as the official client computes it for display; it differs from the contracts on purpose
 * (the client's `getPriceImpactForPosition`). The power function is the contracts' own.
 */
import { abs, ceilDiv, divAwayFromZero, fac, max, min } from '../integer.ts'
import {
  interestInTokens,
  interestUsd,
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  type PricePair,
  type Side,
} from '../marketState.ts'
import { type Impact, impactCurveUsd } from '../positionImpact.ts'

/** USD of index token units at the middle price; the half unit of an odd middle is kept until the end. */
export function usdAtMiddle(tokens: bigint, price: PricePair): bigint {
  return (tokens * (price.min + price.max)) / 2n
}

/** Open interest of a side for balance: tokens at the unfloored middle price when the flag is on, else USD. */
export function clientBalanceInterest(
  settings: MarketSettings,
  state: MarketState,
  side: Side,
  prices: MarketPrices,
): bigint {
  return settings.useOpenInterestInTokensForBalance
    ? usdAtMiddle(interestInTokens(settings, state, side), prices.index)
    : interestUsd(settings, state, side)
}

/** Positive factors and exponents above the negative ones are used as they are. */
function impactOfBalance(
  settings: MarketSettings,
  longUsd: bigint,
  shortUsd: bigint,
  side: Side,
  usdDelta: bigint,
): Impact {
  const nextLong = side === 'long' ? max(0n, longUsd + usdDelta) : longUsd
  const nextShort = side === 'short' ? max(0n, shortUsd + usdDelta) : shortUsd
  const before = abs(longUsd - shortUsd)
  const after = abs(nextLong - nextShort)
  const balanceWasImproved = after < before
  const positive = (diffUsd: bigint): bigint =>
    impactCurveUsd(
      diffUsd,
      settings.positionImpactFactorPositive,
      settings.positionImpactExponentFactorPositive,
    )
  const negative = (diffUsd: bigint): bigint =>
    impactCurveUsd(
      diffUsd,
      settings.positionImpactFactorNegative,
      settings.positionImpactExponentFactorNegative,
    )
  if (longUsd <= shortUsd === nextLong <= nextShort) {
    const change = balanceWasImproved
      ? abs(positive(before) - positive(after))
      : -abs(negative(before) - negative(after))
    return { impactUsd: change, balanceWasImproved }
  }
  return { impactUsd: positive(before) - negative(after), balanceWasImproved }
}

/**
 * Uncapped impact of a signed size change, USD. `sizeDeltaInTokens` is unsigned; undefined: as an increase
 * of that size would open.
 */
function clientPositionImpact(
  settings: MarketSettings,
  state: MarketState,
  side: Side,
  sizeDeltaUsd: bigint,
  sizeDeltaInTokens: bigint | undefined,
  prices: MarketPrices,
): Impact {
  const inTokens = settings.useOpenInterestInTokensForBalance
  const tokens =
    sizeDeltaInTokens ??
    (side === 'long' ? abs(sizeDeltaUsd) / prices.index.max : ceilDiv(abs(sizeDeltaUsd), prices.index.min))
  const tokensUsd = usdAtMiddle(tokens, prices.index)
  const usdDelta = inTokens ? (sizeDeltaUsd < 0n ? -tokensUsd : tokensUsd) : sizeDeltaUsd
  const own = impactOfBalance(
    settings,
    clientBalanceInterest(settings, state, 'long', prices),
    clientBalanceInterest(settings, state, 'short', prices),
    side,
    usdDelta,
  )
  if (own.impactUsd >= 0n || !settings.hasVirtualInventory) return own
  const inventory = inTokens
    ? usdAtMiddle(state.virtualInventory.tokens, prices.index)
    : state.virtualInventory.usd
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

/** Impact with the positive cap by the smaller positive factor, and the negative cap when asked for. */
export function clientCappedImpact(
  settings: MarketSettings,
  state: MarketState,
  side: Side,
  sizeDeltaUsd: bigint,
  sizeDeltaInTokens: bigint | undefined,
  prices: MarketPrices,
  capNegative = false,
): Impact {
  const impact = clientPositionImpact(settings, state, side, sizeDeltaUsd, sizeDeltaInTokens, prices)
  const cap = capNegative ? clientCapBySize : clientCapPositive
  return { ...impact, impactUsd: cap(settings, impact.impactUsd, sizeDeltaUsd) }
}

/** Positive impact cut to the smaller of the two largest factors. */
function clientCapPositive(settings: MarketSettings, impactUsd: bigint, sizeDeltaUsd: bigint): bigint {
  if (impactUsd <= 0n) return impactUsd
  const factor = min(settings.maxPositionImpactFactorPositive, settings.maxPositionImpactFactorNegative)
  return min(impactUsd, fac(abs(sizeDeltaUsd), factor))
}

/** Impact cut on both sides: the positive by the smaller factor, the negative by its own. */
export function clientCapBySize(settings: MarketSettings, impactUsd: bigint, sizeDeltaUsd: bigint): bigint {
  if (impactUsd > 0n) return clientCapPositive(settings, impactUsd, sizeDeltaUsd)
  return max(impactUsd, -fac(abs(sizeDeltaUsd), settings.maxPositionImpactFactorNegative))
}

/** Index token units of an impact, signed: rounded against the trader. */
export function impactAmountOf(impactUsd: bigint, index: PricePair): bigint {
  return impactUsd > 0n ? impactUsd / index.max : divAwayFromZero(impactUsd, index.min)
}

/** Part of the stored impact that a decrease settles; the amount is truncated. */
export function clientPendingImpact(
  position: { readonly sizeInUsd: bigint; readonly pendingImpactAmount: bigint },
  sizeDeltaUsd: bigint,
  index: PricePair,
): { readonly amount: bigint; readonly usd: bigint } {
  const { sizeInUsd, pendingImpactAmount } = position
  if (sizeInUsd === 0n || sizeDeltaUsd === 0n) return { amount: 0n, usd: 0n }
  const amount = (pendingImpactAmount * sizeDeltaUsd) / sizeInUsd
  return { amount, usd: amount * (amount > 0n ? index.min : index.max) }
}

/** Net impact of a decrease: the negative total keeps its excess, which is reported beside it. */
export function clientNetImpact(
  settings: MarketSettings,
  state: MarketState,
  position: { readonly sizeInUsd: bigint; readonly pendingImpactAmount: bigint },
  sizeDeltaUsd: bigint,
  closeImpactUsd: bigint,
  prices: MarketPrices,
): {
  readonly totalImpactUsd: bigint
  readonly proportionalPendingImpactUsd: bigint
  readonly priceImpactDiffUsd: bigint
} {
  const proportionalPendingImpactUsd = clientPendingImpact(position, sizeDeltaUsd, prices.index).usd
  let total = proportionalPendingImpactUsd + closeImpactUsd
  let priceImpactDiffUsd = 0n
  if (total < 0n) {
    const lowest = -fac(abs(sizeDeltaUsd), settings.maxPositionImpactFactorNegative)
    if (total < lowest) priceImpactDiffUsd = lowest - total
  } else {
    total = clientCapPositive(settings, total, sizeDeltaUsd)
    total = min(total, state.positionImpactPoolAmount * prices.index.min)
  }
  return { totalImpactUsd: total, proportionalPendingImpactUsd, priceImpactDiffUsd }
}
