/** Defines a market: its settings, its state, and the projections that every formula starts from. */
import { ONE } from './integer.ts'

/** Side of the market; also the side of a position. */
export type Side = 'long' | 'short'

/** Slot of a collateral token: 0 the long token, 1 the short token; a single-token market uses slot 0 only. */
export type Slot = 0 | 1

/** One value a side. */
export type BySide = { readonly [side in Side]: bigint }

/** Lowest and highest contract price: USD (30 decimals) per smallest token unit. */
export interface PricePair {
  readonly min: bigint
  readonly max: bigint
}

/** Contract prices of the market's three tokens at one moment. */
export interface MarketPrices {
  readonly index: PricePair
  readonly long: PricePair
  readonly short: PricePair
}

/** Settings of a market; factors have 30 decimals, USD 30 decimals, names as the API's (contract `MarketUtils`). */
export interface MarketSettings {
  readonly isSameCollaterals: boolean
  readonly isSpotOnly: boolean
  readonly useOpenInterestInTokensForBalance: boolean
  readonly skipBorrowingFeeForSmallerSide: boolean
  readonly hasVirtualInventory: boolean
  readonly reserveFactor: BySide
  readonly openInterestReserveFactor: BySide
  readonly maxOpenInterest: BySide
  readonly maxPnlFactorForTraders: BySide
  readonly positionImpactFactorPositive: bigint
  readonly positionImpactFactorNegative: bigint
  readonly positionImpactExponentFactorPositive: bigint
  readonly positionImpactExponentFactorNegative: bigint
  readonly maxPositionImpactFactorPositive: bigint
  readonly maxPositionImpactFactorNegative: bigint
  readonly maxPositionImpactFactorForLiquidations: bigint
  readonly maxLendableImpactFactor: bigint
  readonly maxLendableImpactUsd: bigint
  readonly positionFeeFactorForBalanceWasImproved: bigint
  readonly positionFeeFactorForBalanceWasNotImproved: bigint
  readonly liquidationFeeFactor: bigint
  readonly feeReceiverFactor: bigint
  readonly minCollateralFactor: bigint
  readonly minCollateralFactorForLiquidation: bigint
  readonly minCollateralFactorForOpenInterest: BySide
  readonly minCollateralUsd: bigint
  readonly minPositionSizeUsd: bigint
  readonly fundingFactor: bigint
  readonly fundingExponentFactor: bigint
  readonly fundingIncreaseFactorPerSecond: bigint
  readonly fundingDecreaseFactorPerSecond: bigint
  readonly minFundingIncreaseRatePerSecond: bigint
  readonly thresholdForStableFunding: bigint
  readonly thresholdForDecreaseFunding: bigint
  readonly minFundingFactorPerSecond: BySide
  readonly maxFundingFactorPerSecond: BySide
  readonly optimalUsageFactor: BySide
  readonly baseBorrowingFactor: BySide
  readonly aboveOptimalUsageBorrowingFactor: BySide
  readonly borrowingFactor: BySide
  readonly borrowingExponentFactor: BySide
  readonly swapFeeFactorForBalanceWasImproved: bigint
  readonly swapFeeFactorForBalanceWasNotImproved: bigint
  readonly swapImpactFactorPositive: bigint
  readonly swapImpactFactorNegative: bigint
  readonly swapImpactExponentFactor: bigint
  /** Most collateral of all positions of a side, by slot, token units. */
  readonly maxCollateralSum: readonly [BySide, BySide]
}

/** State of one side. Arrays are by slot; single-token markets keep raw totals in slot 0. */
export interface SideState {
  interestUsd: [bigint, bigint]
  interestInTokens: [bigint, bigint]
  collateralSum: [bigint, bigint]
  cumulativeBorrowingFactor: bigint
  /** Funding fee per USD of size, token units x 10^45. */
  fundingFeePerSize: [bigint, bigint]
  /** Claimable funding per USD of size, token units x 10^45. */
  claimablePerSize: [bigint, bigint]
}

/** Virtual inventory of an index token; markets with the same virtual id share one. */
export interface VirtualInventory {
  usd: bigint
  tokens: bigint
}

/** Rates of a market that follow a history, factors per second with 30 decimals; the formulas are not asked. */
export interface FollowedRates {
  /** Rate of the side that pays; positive: longs pay. Absent: by the formula. */
  readonly fundingFactorPerSecond?: bigint
  /** Absent: by the formula. */
  readonly borrowingFactorPerSecond?: BySide
}

/** State of a market. */
export interface MarketState {
  long: SideState
  short: SideState
  /** Pool amounts by slot; single-token markets keep the raw total in slot 0. */
  pool: [bigint, bigint]
  /** Swap price impact that was paid in, by slot, token units. */
  swapImpactPool: [bigint, bigint]
  positionImpactPoolAmount: bigint
  lentPositionImpactPoolAmount: bigint
  /** Saved funding factor per second; positive: longs pay. */
  savedFundingFactorPerSecond: bigint
  virtualInventory: VirtualInventory
  /** Unix seconds; 0 = never. */
  fundingUpdatedAtSeconds: number
  borrowingUpdatedAtSeconds: number
  /** Absent: the rates are those of the formulas. */
  followedRates?: FollowedRates
}

/** The other side. */
export function otherSide(side: Side): Side {
  return side === 'long' ? 'short' : 'long'
}

/** Middle of a price pair, floored. */
export function mid(price: PricePair): bigint {
  return (price.min + price.max) / 2n
}

/** Prices of the collateral token of a slot. */
export function slotPrice(prices: MarketPrices, slot: Slot): PricePair {
  return slot === 0 ? prices.long : prices.short
}

/** Slot of the token that a side's profit is paid in; slot 0 in single-token markets. */
export function pnlSlot(settings: MarketSettings, side: Side): Slot {
  return side === 'long' || settings.isSameCollaterals ? 0 : 1
}

/** A raw per-slot value as reads see it: halved (floor) in single-token markets. */
export function slotValue(settings: MarketSettings, values: readonly [bigint, bigint], slot: Slot): bigint {
  return settings.isSameCollaterals ? values[0] / 2n : values[slot]
}

/** Sum over both slots as reads see it. */
function slotSum(settings: MarketSettings, values: readonly [bigint, bigint]): bigint {
  return settings.isSameCollaterals ? 2n * (values[0] / 2n) : values[0] + values[1]
}

/** Open interest of a side in USD at entry. */
export function interestUsd(settings: MarketSettings, state: MarketState, side: Side): bigint {
  return slotSum(settings, state[side].interestUsd)
}

/** Open interest of a side in index token units. */
export function interestInTokens(settings: MarketSettings, state: MarketState, side: Side): bigint {
  return slotSum(settings, state[side].interestInTokens)
}

/** Open interest used for balance: tokens at mid when the flag is on, else USD. */
export function balanceInterest(
  settings: MarketSettings,
  state: MarketState,
  side: Side,
  prices: MarketPrices,
): bigint {
  return settings.useOpenInterestInTokensForBalance
    ? interestInTokens(settings, state, side) * mid(prices.index)
    : interestUsd(settings, state, side)
}

/** Pool amount that backs a side, in the side's token. */
export function poolAmount(settings: MarketSettings, state: MarketState, side: Side): bigint {
  return slotValue(settings, state.pool, side === 'long' ? 0 : 1)
}

/** USD value of the pool of a side at the min price, without trader PnL. */
export function poolUsd(
  settings: MarketSettings,
  state: MarketState,
  side: Side,
  prices: MarketPrices,
): bigint {
  return poolAmount(settings, state, side) * (side === 'long' ? prices.long.min : prices.short.min)
}

/** Part of the pool that open positions of a side reserve. */
export function reservedUsd(
  settings: MarketSettings,
  state: MarketState,
  side: Side,
  prices: MarketPrices,
): bigint {
  return side === 'long'
    ? interestInTokens(settings, state, 'long') * prices.index.max
    : interestUsd(settings, state, 'short')
}

/** Most that positions of a side may reserve: pool USD times the smaller reserve factor. */
export function maxReservedUsd(
  settings: MarketSettings,
  state: MarketState,
  side: Side,
  prices: MarketPrices,
): bigint {
  const reserve = settings.reserveFactor[side]
  const openInterestReserve = settings.openInterestReserveFactor[side]
  const factor = reserve < openInterestReserve ? reserve : openInterestReserve
  return (poolUsd(settings, state, side, prices) * factor) / ONE
}

function cloneSide(side: SideState): SideState {
  return {
    interestUsd: [...side.interestUsd],
    interestInTokens: [...side.interestInTokens],
    collateralSum: [...side.collateralSum],
    cumulativeBorrowingFactor: side.cumulativeBorrowingFactor,
    fundingFeePerSize: [...side.fundingFeePerSize],
    claimablePerSize: [...side.claimablePerSize],
  }
}

/** A copy to work on; an operation that reverts drops it. */
export function cloneMarket(state: MarketState): MarketState {
  return {
    ...state,
    long: cloneSide(state.long),
    short: cloneSide(state.short),
    pool: [...state.pool],
    swapImpactPool: [...state.swapImpactPool],
    virtualInventory: { ...state.virtualInventory },
  }
}

/** A market without positions and funds. */
export function emptyMarket(): MarketState {
  const side = (): SideState => ({
    interestUsd: [0n, 0n],
    interestInTokens: [0n, 0n],
    collateralSum: [0n, 0n],
    cumulativeBorrowingFactor: 0n,
    fundingFeePerSize: [0n, 0n],
    claimablePerSize: [0n, 0n],
  })
  return {
    long: side(),
    short: side(),
    pool: [0n, 0n],
    swapImpactPool: [0n, 0n],
    positionImpactPoolAmount: 0n,
    lentPositionImpactPoolAmount: 0n,
    savedFundingFactorPerSecond: 0n,
    virtualInventory: { usd: 0n, tokens: 0n },
    fundingUpdatedAtSeconds: 0,
    borrowingUpdatedAtSeconds: 0,
  }
}
