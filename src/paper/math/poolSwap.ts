/**
 * A swap through one pool: fees by whether the pool's two sides come closer, price impact paid into and out of the swap
 * impact pools, amounts at the worse price of each token (contracts: SwapPricingUtils, SwapUtils).
 */

import { divAwayFromZero, fac, min } from './integer.ts'
import {
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  mid,
  reservedUsd,
  type Slot,
  slotPrice,
} from './marketState.ts'
import { type Impact, impactOfDifference } from './positionImpact.ts'
import { ProtocolRevert } from './protocolRevert.ts'

/** Result of a swap. Amounts in units of the token in, unless said otherwise; USD with 30 decimals. */
export interface PoolSwap {
  readonly amountIn: bigint
  /** Less fees, and less or plus the impact that is settled in the token in. */
  readonly amountSwapped: bigint
  readonly feeAmount: bigint
  /** Part of the fee that stays in the pool. */
  readonly feeAmountForPool: bigint
  /** Units of the token out. */
  readonly amountOut: bigint
  /** Signed. */
  readonly priceImpactUsd: bigint
  /** Signed; of the token out when positive, of the token in when negative. */
  readonly priceImpactAmount: bigint
  /** Impact beyond what the pool of the token out holds, paid in the token in. */
  readonly tokenInPriceImpactAmount: bigint
}

/** Price impact of swapping an amount in, USD at mid prices, and whether the pool came closer to balance. */
export function swapPriceImpact(
  settings: MarketSettings,
  state: MarketState,
  slotIn: Slot,
  amountIn: bigint,
  prices: MarketPrices,
): Impact {
  return swapImpactOfUsd(settings, state, slotIn, amountIn * mid(slotPrice(prices, slotIn)), prices)
}

/**
 * Price impact of moving USD from one side of a pool to the other, and whether the pool came closer to balance.
 *
 * @throws ProtocolRevert UsdDeltaExceedsPoolValue
 */
export function swapImpactOfUsd(
  settings: MarketSettings,
  state: MarketState,
  slotIn: Slot,
  deltaUsd: bigint,
  prices: MarketPrices,
): Impact {
  const slotOut: Slot = slotIn === 0 ? 1 : 0
  const inUsd = state.pool[slotIn] * mid(slotPrice(prices, slotIn))
  const outUsd = state.pool[slotOut] * mid(slotPrice(prices, slotOut))
  if (deltaUsd > outUsd) throw new ProtocolRevert('UsdDeltaExceedsPoolValue', [-deltaUsd, outUsd])
  const nextIn = inUsd + deltaUsd
  const nextOut = outUsd - deltaUsd
  const distance = (one: bigint, other: bigint): bigint => (one > other ? one - other : other - one)
  return impactOfDifference(
    {
      positionImpactFactorPositive: settings.swapImpactFactorPositive,
      positionImpactFactorNegative: settings.swapImpactFactorNegative,
      positionImpactExponentFactorPositive: settings.swapImpactExponentFactor,
      positionImpactExponentFactorNegative: settings.swapImpactExponentFactor,
    },
    distance(inUsd, outUsd),
    distance(nextIn, nextOut),
    inUsd <= outUsd === nextIn <= nextOut,
  )
}

/**
 * Swaps on a draft of a market with two tokens; nothing is changed when it throws.
 *
 * @throws ProtocolRevert UsdDeltaExceedsPoolValue, SwapPriceImpactExceedsAmountIn, InsufficientPoolAmount, InsufficientReserve
 */
export function swapInPool(
  settings: MarketSettings,
  draft: MarketState,
  slotIn: Slot,
  amountIn: bigint,
  prices: MarketPrices,
): PoolSwap {
  const slotOut: Slot = slotIn === 0 ? 1 : 0
  const priceIn = slotPrice(prices, slotIn)
  const priceOut = slotPrice(prices, slotOut)
  const { impactUsd, balanceWasImproved } = swapPriceImpact(settings, draft, slotIn, amountIn, prices)
  const feeAmount = fac(
    amountIn,
    balanceWasImproved
      ? settings.swapFeeFactorForBalanceWasImproved
      : settings.swapFeeFactorForBalanceWasNotImproved,
  )
  const feeAmountForPool = feeAmount - fac(feeAmount, settings.feeReceiverFactor)
  const afterFees = amountIn - feeAmount
  let swapped = afterFees
  let priceImpactAmount: bigint
  let tokenInPriceImpactAmount = 0n
  if (impactUsd > 0n) {
    const wanted = impactUsd / priceOut.max
    priceImpactAmount = min(wanted, draft.swapImpactPool[slotOut])
    const left = (wanted - priceImpactAmount) * priceOut.max
    tokenInPriceImpactAmount = min(left / priceIn.max, draft.swapImpactPool[slotIn])
    swapped += tokenInPriceImpactAmount
  } else {
    priceImpactAmount = divAwayFromZero(impactUsd, priceIn.min)
    if (afterFees <= -priceImpactAmount) {
      throw new ProtocolRevert('SwapPriceImpactExceedsAmountIn', [afterFees, priceImpactAmount])
    }
    swapped += priceImpactAmount
  }
  const poolOut = (swapped * priceIn.min) / priceOut.max
  if (poolOut > draft.pool[slotOut]) {
    throw new ProtocolRevert('InsufficientPoolAmount', [draft.pool[slotOut], poolOut])
  }
  requireReserve(settings, draft, slotOut, draft.pool[slotOut] - poolOut, prices)
  draft.pool[slotIn] += swapped + feeAmountForPool
  draft.pool[slotOut] -= poolOut
  if (impactUsd > 0n) {
    draft.swapImpactPool[slotOut] -= priceImpactAmount
    draft.swapImpactPool[slotIn] -= tokenInPriceImpactAmount
  } else {
    draft.swapImpactPool[slotIn] -= priceImpactAmount
  }
  return {
    amountIn,
    amountSwapped: swapped,
    feeAmount,
    feeAmountForPool,
    amountOut: poolOut + (impactUsd > 0n ? priceImpactAmount : 0n),
    priceImpactUsd: impactUsd,
    priceImpactAmount,
    tokenInPriceImpactAmount,
  }
}

/** The same; undefined when the pool refuses, and then nothing is changed. */
export function trySwapInPool(
  settings: MarketSettings,
  draft: MarketState,
  slotIn: Slot,
  amountIn: bigint,
  prices: MarketPrices,
): PoolSwap | undefined {
  try {
    return swapInPool(settings, draft, slotIn, amountIn, prices)
  } catch (error) {
    if (error instanceof ProtocolRevert) return undefined
    throw error
  }
}

/** Requires that the pool retains what positions reserve of the token that goes out. */
function requireReserve(
  settings: MarketSettings,
  state: MarketState,
  slot: Slot,
  nextAmount: bigint,
  prices: MarketPrices,
): void {
  if (settings.isSpotOnly) return
  const side = slot === 0 ? 'long' : 'short'
  const reserved = reservedUsd(settings, state, side, prices)
  const limit = fac(nextAmount * slotPrice(prices, slot).min, settings.reserveFactor[side])
  if (reserved > limit) throw new ProtocolRevert('InsufficientReserve', [reserved, limit])
}
