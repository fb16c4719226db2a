/** Math vectors as inputs of the model: the schema `gmx-math-vectors/1` read into settings, state and prices. */
import {
  emptyMarket,
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  type PricePair,
  type Side,
  type Slot,
} from '../../src/paper/math/marketState.ts'
import type { PositionState } from '../../src/paper/math/positionState.ts'
import type { Any } from '../paper/support.ts'

const NO_LIMIT = 2n ** 256n - 1n

const sides = ['long', 'short'] as const

/** An integer of a vector; absent = 0. */
export const big = (value: Any): bigint => BigInt(value ?? 0)

/** An integer of a vector; null and absent = undefined. */
export const maybeBig = (value: Any): bigint | undefined =>
  value === undefined || value === null ? undefined : BigInt(value)

/** Side of a flag. */
export const sideOf = (isLong: boolean): Side => (isLong ? 'long' : 'short')

/** 10 to the decimals of a token. */
export const scaleOf = (token: Any): bigint => 10n ** BigInt(token.decimals)

/** Contract price pair of a token of a vector. */
export function pairOf(token: Any): PricePair {
  if (token === undefined || token === null) return { min: 1n, max: 1n }
  return { min: big(token.minPrice) / scaleOf(token), max: big(token.maxPrice) / scaleOf(token) }
}

/** Contract prices of a market of a vector. */
export const pricesOf = (market: Any): MarketPrices => ({
  index: pairOf(market.indexToken),
  long: pairOf(market.longToken),
  short: pairOf(market.shortToken ?? market.longToken),
})

/** Settings of a vector; a field that it gives for one side counts for both. */
export function settingsOf(market: Any, input: Any = {}): MarketSettings {
  const bySide = (name: string) => ({
    long: big(market[`${name}Long`] ?? market[`${name}Short`]),
    short: big(market[`${name}Short`] ?? market[`${name}Long`]),
  })
  // No vector limits the collateral, so one that does not say has no limit.
  const collateralSum = (token: string) => ({
    long: big(market[`maxCollateralSum${token}Long`] ?? NO_LIMIT),
    short: big(market[`maxCollateralSum${token}Short`] ?? NO_LIMIT),
  })
  return {
    isSameCollaterals: market.isSameCollaterals === true,
    isSpotOnly: market.isSpotOnly === true,
    useOpenInterestInTokensForBalance: market.useOpenInterestInTokensForBalance === true,
    skipBorrowingFeeForSmallerSide: market.skipBorrowingFeeForSmallerSide === true,
    hasVirtualInventory: market.hasVirtualInventory === true,
    reserveFactor: bySide('reserveFactor'),
    openInterestReserveFactor: bySide('openInterestReserveFactor'),
    maxOpenInterest: bySide('maxOpenInterest'),
    maxPnlFactorForTraders: bySide('maxPnlFactorForTraders'),
    positionImpactFactorPositive: big(market.positionImpactFactorPositive),
    positionImpactFactorNegative: big(market.positionImpactFactorNegative),
    positionImpactExponentFactorPositive: big(market.positionImpactExponentFactorPositive),
    positionImpactExponentFactorNegative: big(market.positionImpactExponentFactorNegative),
    maxPositionImpactFactorPositive: big(market.maxPositionImpactFactorPositive),
    maxPositionImpactFactorNegative: big(market.maxPositionImpactFactorNegative),
    maxPositionImpactFactorForLiquidations: big(market.maxPositionImpactFactorForLiquidations),
    maxLendableImpactFactor: big(market.maxLendableImpactFactor),
    maxLendableImpactUsd: big(market.maxLendableImpactUsd),
    positionFeeFactorForBalanceWasImproved: big(market.positionFeeFactorForBalanceWasImproved),
    positionFeeFactorForBalanceWasNotImproved: big(market.positionFeeFactorForBalanceWasNotImproved),
    liquidationFeeFactor: big(market.liquidationFeeFactor),
    feeReceiverFactor: big(input.receiverFactors?.position),
    minCollateralFactor: big(market.minCollateralFactor),
    minCollateralFactorForLiquidation: big(market.minCollateralFactorForLiquidation),
    minCollateralFactorForOpenInterest: bySide('minCollateralFactorForOpenInterest'),
    minCollateralUsd: big(input.minCollateralUsd),
    minPositionSizeUsd: big(input.minPositionSizeUsd),
    fundingFactor: big(market.fundingFactor),
    fundingExponentFactor: big(market.fundingExponentFactor),
    fundingIncreaseFactorPerSecond: big(market.fundingIncreaseFactorPerSecond),
    fundingDecreaseFactorPerSecond: big(market.fundingDecreaseFactorPerSecond),
    minFundingIncreaseRatePerSecond: big(market.minFundingIncreaseRatePerSecond),
    thresholdForStableFunding: big(market.thresholdForStableFunding),
    thresholdForDecreaseFunding: big(market.thresholdForDecreaseFunding),
    minFundingFactorPerSecond: bySide('minFundingFactorPerSecond'),
    maxFundingFactorPerSecond: bySide('maxFundingFactorPerSecond'),
    optimalUsageFactor: bySide('optimalUsageFactor'),
    baseBorrowingFactor: bySide('baseBorrowingFactor'),
    aboveOptimalUsageBorrowingFactor: bySide('aboveOptimalUsageBorrowingFactor'),
    borrowingFactor: bySide('borrowingFactor'),
    borrowingExponentFactor: bySide('borrowingExponentFactor'),
    swapFeeFactorForBalanceWasImproved: 0n,
    swapFeeFactorForBalanceWasNotImproved: 0n,
    swapImpactFactorPositive: 0n,
    swapImpactFactorNegative: 0n,
    swapImpactExponentFactor: 10n ** 30n,
    maxCollateralSum: [collateralSum('LongToken'), collateralSum('ShortToken')],
  }
}

/** Open interest of a vector by side and collateral; single-token values come halved, the state keeps them whole. */
export function setOpenInterest(state: MarketState, market: Any, isSame: boolean): void {
  for (const side of sides) {
    for (const [field, name] of [
      ['interestUsd', 'InterestUsd'],
      ['interestInTokens', 'InterestInTokens'],
    ] as const) {
      const long = big(market[`${side}${name}UsingLongToken`] ?? market[`${side}${name}`])
      const short = big(market[`${side}${name}UsingShortToken`])
      state[side][field] = isSame ? [long + short, 0n] : [long, short]
    }
  }
}

/** State of a market of a vector. */
export function stateOf(market: Any): MarketState {
  const state = emptyMarket()
  const isSame = market.isSameCollaterals === true
  setOpenInterest(state, market, isSame)
  const pools: [bigint, bigint] = [big(market.longPoolAmount), big(market.shortPoolAmount)]
  state.pool = isSame ? [pools[0] + pools[1], 0n] : pools
  state.positionImpactPoolAmount = big(market.positionImpactPoolAmount)
  state.lentPositionImpactPoolAmount = big(market.lentPositionImpactPoolAmount)
  state.savedFundingFactorPerSecond = big(market.savedFundingFactorPerSecond)
  state.virtualInventory = {
    usd: big(market.virtualInventoryForPositions),
    tokens: big(market.virtualInventoryForPositionsInTokens),
  }
  state.long.cumulativeBorrowingFactor = big(market.cumulativeBorrowingFactorLong)
  state.short.cumulativeBorrowingFactor = big(market.cumulativeBorrowingFactorShort)
  return state
}

/** Slot of a position's collateral. */
const slotOf = (position: Any): Slot => (position.collateralIsLongToken === false ? 1 : 0)

/** A position of a vector. */
export function positionOf(position: Any): PositionState {
  return {
    side: sideOf(position.isLong !== false),
    slot: slotOf(position),
    sizeInUsd: big(position.sizeInUsd),
    sizeInTokens: big(position.sizeInTokens),
    collateralAmount: big(position.collateralAmount),
    pendingImpactAmount: big(position.pendingImpactAmount),
    borrowingFactor: big(position.borrowingFactor),
    fundingFeeAmountPerSize: big(position.fundingFeeAmountPerSize),
    claimablePerSize: [
      big(position.longTokenClaimableFundingAmountPerSize),
      big(position.shortTokenClaimableFundingAmountPerSize),
    ],
    increasedAtSeconds: 0,
    decreasedAtSeconds: 0,
  }
}

/** Puts the latest per-size values that stand beside a position into the state. */
export function setLatest(state: MarketState, position: Any): MarketState {
  const side = state[sideOf(position.isLong !== false)]
  side.cumulativeBorrowingFactor = big(position.cumulativeBorrowingFactor)
  side.fundingFeePerSize[slotOf(position)] = big(position.latestFundingFeeAmountPerSize)
  side.claimablePerSize = [
    big(position.latestLongTokenClaimableFundingAmountPerSize),
    big(position.latestShortTokenClaimableFundingAmountPerSize),
  ]
  return state
}

/** A result in the vectors' writing: bigints as texts, undefined as null. */
export function written(value: unknown): unknown {
  if (value === undefined) return null
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return value.map(written)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, written(inner)]))
}

/** Referral terms of a vector. */
export const referralOf = (referral: Any) =>
  referral
    ? {
        totalRebateFactor: big(referral.totalRebateFactor),
        discountFactor: big(referral.discountFactor),
      }
    : undefined
