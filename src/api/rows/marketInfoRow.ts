/**
 * Decodes market settings and values, one field a line. The objects are written out because a row has a hundred fields
 * and a hundred rows come every second: an object that is assembled by computed names costs six times the JSON.parse of
 * its text, one written out less than once more (bench/decode.ts).
 */
import { type Fields, object } from '../decode/decode.ts'
import type { MarketConfig, MarketInfo, MarketValues } from './marketInfoTypes.ts'
import {
  flagIf,
  keptAddress,
  keptAddressIf,
  keptHashIf,
  keptIntIf,
  keptUintIf,
  textIf,
  timeOrNull,
} from './rowMemo.ts'

/** One row of `/markets/config`; fields are kept from `had` where the raw value did not change. Throws `Malformed`. */
export function marketConfig(row: Fields, was: Fields, had: Partial<MarketConfig>): MarketConfig {
  // biome-ignore format: one field a line, to be read as a table.
  return {
    marketToken: keptAddress(row.marketTokenAddress, was.marketTokenAddress, had.marketToken, 'marketTokenAddress'),
    indexToken: keptAddressIf(row.indexTokenAddress, was.indexTokenAddress, had.indexToken, 'indexTokenAddress'),
    longToken: keptAddressIf(row.longTokenAddress, was.longTokenAddress, had.longToken, 'longTokenAddress'),
    shortToken: keptAddressIf(row.shortTokenAddress, was.shortTokenAddress, had.shortToken, 'shortTokenAddress'),
    name: textIf(row.name, 'name'),
    data: textIf(row.data, 'data'),
    isSameCollaterals: flagIf(row.isSameCollaterals, 'isSameCollaterals'),
    isSpotOnly: flagIf(row.isSpotOnly, 'isSpotOnly'),
    isDisabled: flagIf(row.isDisabled, 'isDisabled'),
    useOpenInterestInTokensForBalance: flagIf(row.useOpenInterestInTokensForBalance, 'useOpenInterestInTokensForBalance'),
    maxLongPoolAmount: keptUintIf(row.maxLongPoolAmount, was.maxLongPoolAmount, had.maxLongPoolAmount, 'maxLongPoolAmount'),
    maxShortPoolAmount: keptUintIf(row.maxShortPoolAmount, was.maxShortPoolAmount, had.maxShortPoolAmount, 'maxShortPoolAmount'),
    minPositionImpactPoolAmount: keptUintIf(row.minPositionImpactPoolAmount, was.minPositionImpactPoolAmount, had.minPositionImpactPoolAmount, 'minPositionImpactPoolAmount'),
    lentPositionImpactPoolAmount: keptUintIf(row.lentPositionImpactPoolAmount, was.lentPositionImpactPoolAmount, had.lentPositionImpactPoolAmount, 'lentPositionImpactPoolAmount'),
    positionImpactPoolDistributionRate: keptUintIf(row.positionImpactPoolDistributionRate, was.positionImpactPoolDistributionRate, had.positionImpactPoolDistributionRate, 'positionImpactPoolDistributionRate'),
    maxLongPoolUsdForDeposit: keptUintIf(row.maxLongPoolUsdForDeposit, was.maxLongPoolUsdForDeposit, had.maxLongPoolUsdForDeposit, 'maxLongPoolUsdForDeposit'),
    maxShortPoolUsdForDeposit: keptUintIf(row.maxShortPoolUsdForDeposit, was.maxShortPoolUsdForDeposit, had.maxShortPoolUsdForDeposit, 'maxShortPoolUsdForDeposit'),
    maxOpenInterestLong: keptUintIf(row.maxOpenInterestLong, was.maxOpenInterestLong, had.maxOpenInterestLong, 'maxOpenInterestLong'),
    maxOpenInterestShort: keptUintIf(row.maxOpenInterestShort, was.maxOpenInterestShort, had.maxOpenInterestShort, 'maxOpenInterestShort'),
    maxLendableImpactUsd: keptUintIf(row.maxLendableImpactUsd, was.maxLendableImpactUsd, had.maxLendableImpactUsd, 'maxLendableImpactUsd'),
    maxCollateralSumLongTokenLong: keptUintIf(row.maxCollateralSumLongTokenLong, was.maxCollateralSumLongTokenLong, had.maxCollateralSumLongTokenLong, 'maxCollateralSumLongTokenLong'),
    maxCollateralSumLongTokenShort: keptUintIf(row.maxCollateralSumLongTokenShort, was.maxCollateralSumLongTokenShort, had.maxCollateralSumLongTokenShort, 'maxCollateralSumLongTokenShort'),
    maxCollateralSumShortTokenLong: keptUintIf(row.maxCollateralSumShortTokenLong, was.maxCollateralSumShortTokenLong, had.maxCollateralSumShortTokenLong, 'maxCollateralSumShortTokenLong'),
    maxCollateralSumShortTokenShort: keptUintIf(row.maxCollateralSumShortTokenShort, was.maxCollateralSumShortTokenShort, had.maxCollateralSumShortTokenShort, 'maxCollateralSumShortTokenShort'),
    reserveFactorLong: keptUintIf(row.reserveFactorLong, was.reserveFactorLong, had.reserveFactorLong, 'reserveFactorLong'),
    reserveFactorShort: keptUintIf(row.reserveFactorShort, was.reserveFactorShort, had.reserveFactorShort, 'reserveFactorShort'),
    openInterestReserveFactorLong: keptUintIf(row.openInterestReserveFactorLong, was.openInterestReserveFactorLong, had.openInterestReserveFactorLong, 'openInterestReserveFactorLong'),
    openInterestReserveFactorShort: keptUintIf(row.openInterestReserveFactorShort, was.openInterestReserveFactorShort, had.openInterestReserveFactorShort, 'openInterestReserveFactorShort'),
    borrowingExponentFactorLong: keptUintIf(row.borrowingExponentFactorLong, was.borrowingExponentFactorLong, had.borrowingExponentFactorLong, 'borrowingExponentFactorLong'),
    borrowingExponentFactorShort: keptUintIf(row.borrowingExponentFactorShort, was.borrowingExponentFactorShort, had.borrowingExponentFactorShort, 'borrowingExponentFactorShort'),
    fundingExponentFactor: keptUintIf(row.fundingExponentFactor, was.fundingExponentFactor, had.fundingExponentFactor, 'fundingExponentFactor'),
    thresholdForStableFunding: keptUintIf(row.thresholdForStableFunding, was.thresholdForStableFunding, had.thresholdForStableFunding, 'thresholdForStableFunding'),
    thresholdForDecreaseFunding: keptUintIf(row.thresholdForDecreaseFunding, was.thresholdForDecreaseFunding, had.thresholdForDecreaseFunding, 'thresholdForDecreaseFunding'),
    minCollateralFactor: keptUintIf(row.minCollateralFactor, was.minCollateralFactor, had.minCollateralFactor, 'minCollateralFactor'),
    minCollateralFactorForLiquidation: keptUintIf(row.minCollateralFactorForLiquidation, was.minCollateralFactorForLiquidation, had.minCollateralFactorForLiquidation, 'minCollateralFactorForLiquidation'),
    minCollateralFactorForOpenInterestLong: keptUintIf(row.minCollateralFactorForOpenInterestLong, was.minCollateralFactorForOpenInterestLong, had.minCollateralFactorForOpenInterestLong, 'minCollateralFactorForOpenInterestLong'),
    minCollateralFactorForOpenInterestShort: keptUintIf(row.minCollateralFactorForOpenInterestShort, was.minCollateralFactorForOpenInterestShort, had.minCollateralFactorForOpenInterestShort, 'minCollateralFactorForOpenInterestShort'),
    maxPnlFactorForTradersLong: keptUintIf(row.maxPnlFactorForTradersLong, was.maxPnlFactorForTradersLong, had.maxPnlFactorForTradersLong, 'maxPnlFactorForTradersLong'),
    maxPnlFactorForTradersShort: keptUintIf(row.maxPnlFactorForTradersShort, was.maxPnlFactorForTradersShort, had.maxPnlFactorForTradersShort, 'maxPnlFactorForTradersShort'),
    maxPnlFactorForDepositsLong: keptUintIf(row.maxPnlFactorForDepositsLong, was.maxPnlFactorForDepositsLong, had.maxPnlFactorForDepositsLong, 'maxPnlFactorForDepositsLong'),
    maxPnlFactorForDepositsShort: keptUintIf(row.maxPnlFactorForDepositsShort, was.maxPnlFactorForDepositsShort, had.maxPnlFactorForDepositsShort, 'maxPnlFactorForDepositsShort'),
    maxPnlFactorForWithdrawalsLong: keptUintIf(row.maxPnlFactorForWithdrawalsLong, was.maxPnlFactorForWithdrawalsLong, had.maxPnlFactorForWithdrawalsLong, 'maxPnlFactorForWithdrawalsLong'),
    maxPnlFactorForWithdrawalsShort: keptUintIf(row.maxPnlFactorForWithdrawalsShort, was.maxPnlFactorForWithdrawalsShort, had.maxPnlFactorForWithdrawalsShort, 'maxPnlFactorForWithdrawalsShort'),
    positionFeeFactorForBalanceWasImproved: keptUintIf(row.positionFeeFactorForBalanceWasImproved, was.positionFeeFactorForBalanceWasImproved, had.positionFeeFactorForBalanceWasImproved, 'positionFeeFactorForBalanceWasImproved'),
    positionFeeFactorForBalanceWasNotImproved: keptUintIf(row.positionFeeFactorForBalanceWasNotImproved, was.positionFeeFactorForBalanceWasNotImproved, had.positionFeeFactorForBalanceWasNotImproved, 'positionFeeFactorForBalanceWasNotImproved'),
    positionImpactFactorPositive: keptUintIf(row.positionImpactFactorPositive, was.positionImpactFactorPositive, had.positionImpactFactorPositive, 'positionImpactFactorPositive'),
    positionImpactFactorNegative: keptUintIf(row.positionImpactFactorNegative, was.positionImpactFactorNegative, had.positionImpactFactorNegative, 'positionImpactFactorNegative'),
    positionImpactExponentFactorPositive: keptUintIf(row.positionImpactExponentFactorPositive, was.positionImpactExponentFactorPositive, had.positionImpactExponentFactorPositive, 'positionImpactExponentFactorPositive'),
    positionImpactExponentFactorNegative: keptUintIf(row.positionImpactExponentFactorNegative, was.positionImpactExponentFactorNegative, had.positionImpactExponentFactorNegative, 'positionImpactExponentFactorNegative'),
    maxPositionImpactFactorPositive: keptUintIf(row.maxPositionImpactFactorPositive, was.maxPositionImpactFactorPositive, had.maxPositionImpactFactorPositive, 'maxPositionImpactFactorPositive'),
    maxPositionImpactFactorNegative: keptUintIf(row.maxPositionImpactFactorNegative, was.maxPositionImpactFactorNegative, had.maxPositionImpactFactorNegative, 'maxPositionImpactFactorNegative'),
    maxPositionImpactFactorForLiquidations: keptUintIf(row.maxPositionImpactFactorForLiquidations, was.maxPositionImpactFactorForLiquidations, had.maxPositionImpactFactorForLiquidations, 'maxPositionImpactFactorForLiquidations'),
    maxLendableImpactFactor: keptUintIf(row.maxLendableImpactFactor, was.maxLendableImpactFactor, had.maxLendableImpactFactor, 'maxLendableImpactFactor'),
    maxLendableImpactFactorForWithdrawals: keptUintIf(row.maxLendableImpactFactorForWithdrawals, was.maxLendableImpactFactorForWithdrawals, had.maxLendableImpactFactorForWithdrawals, 'maxLendableImpactFactorForWithdrawals'),
    swapFeeFactorForBalanceWasImproved: keptUintIf(row.swapFeeFactorForBalanceWasImproved, was.swapFeeFactorForBalanceWasImproved, had.swapFeeFactorForBalanceWasImproved, 'swapFeeFactorForBalanceWasImproved'),
    swapFeeFactorForBalanceWasNotImproved: keptUintIf(row.swapFeeFactorForBalanceWasNotImproved, was.swapFeeFactorForBalanceWasNotImproved, had.swapFeeFactorForBalanceWasNotImproved, 'swapFeeFactorForBalanceWasNotImproved'),
    atomicSwapFeeFactor: keptUintIf(row.atomicSwapFeeFactor, was.atomicSwapFeeFactor, had.atomicSwapFeeFactor, 'atomicSwapFeeFactor'),
    swapImpactFactorPositive: keptUintIf(row.swapImpactFactorPositive, was.swapImpactFactorPositive, had.swapImpactFactorPositive, 'swapImpactFactorPositive'),
    swapImpactFactorNegative: keptUintIf(row.swapImpactFactorNegative, was.swapImpactFactorNegative, had.swapImpactFactorNegative, 'swapImpactFactorNegative'),
    swapImpactExponentFactor: keptUintIf(row.swapImpactExponentFactor, was.swapImpactExponentFactor, had.swapImpactExponentFactor, 'swapImpactExponentFactor'),
    withdrawalFeeFactorBalanceWasImproved: keptUintIf(row.withdrawalFeeFactorBalanceWasImproved, was.withdrawalFeeFactorBalanceWasImproved, had.withdrawalFeeFactorBalanceWasImproved, 'withdrawalFeeFactorBalanceWasImproved'),
    withdrawalFeeFactorBalanceWasNotImproved: keptUintIf(row.withdrawalFeeFactorBalanceWasNotImproved, was.withdrawalFeeFactorBalanceWasNotImproved, had.withdrawalFeeFactorBalanceWasNotImproved, 'withdrawalFeeFactorBalanceWasNotImproved'),
    borrowingFactorLong: keptUintIf(row.borrowingFactorLong, was.borrowingFactorLong, had.borrowingFactorLong, 'borrowingFactorLong'),
    borrowingFactorShort: keptUintIf(row.borrowingFactorShort, was.borrowingFactorShort, had.borrowingFactorShort, 'borrowingFactorShort'),
    fundingFactor: keptUintIf(row.fundingFactor, was.fundingFactor, had.fundingFactor, 'fundingFactor'),
    fundingIncreaseFactorPerSecond: keptUintIf(row.fundingIncreaseFactorPerSecond, was.fundingIncreaseFactorPerSecond, had.fundingIncreaseFactorPerSecond, 'fundingIncreaseFactorPerSecond'),
    fundingDecreaseFactorPerSecond: keptUintIf(row.fundingDecreaseFactorPerSecond, was.fundingDecreaseFactorPerSecond, had.fundingDecreaseFactorPerSecond, 'fundingDecreaseFactorPerSecond'),
    minFundingFactorPerSecond: keptUintIf(row.minFundingFactorPerSecond, was.minFundingFactorPerSecond, had.minFundingFactorPerSecond, 'minFundingFactorPerSecond'),
    maxFundingFactorPerSecond: keptUintIf(row.maxFundingFactorPerSecond, was.maxFundingFactorPerSecond, had.maxFundingFactorPerSecond, 'maxFundingFactorPerSecond'),
    minFundingIncreaseRatePerSecond: keptUintIf(row.minFundingIncreaseRatePerSecond, was.minFundingIncreaseRatePerSecond, had.minFundingIncreaseRatePerSecond, 'minFundingIncreaseRatePerSecond'),
    minFundingFactorPerSecondLong: keptUintIf(row.minFundingFactorPerSecondLong, was.minFundingFactorPerSecondLong, had.minFundingFactorPerSecondLong, 'minFundingFactorPerSecondLong'),
    maxFundingFactorPerSecondLong: keptUintIf(row.maxFundingFactorPerSecondLong, was.maxFundingFactorPerSecondLong, had.maxFundingFactorPerSecondLong, 'maxFundingFactorPerSecondLong'),
    minFundingFactorPerSecondShort: keptUintIf(row.minFundingFactorPerSecondShort, was.minFundingFactorPerSecondShort, had.minFundingFactorPerSecondShort, 'minFundingFactorPerSecondShort'),
    maxFundingFactorPerSecondShort: keptUintIf(row.maxFundingFactorPerSecondShort, was.maxFundingFactorPerSecondShort, had.maxFundingFactorPerSecondShort, 'maxFundingFactorPerSecondShort'),
    virtualMarketId: keptHashIf(row.virtualMarketId, was.virtualMarketId, had.virtualMarketId, 'virtualMarketId'),
    virtualLongTokenId: keptHashIf(row.virtualLongTokenId, was.virtualLongTokenId, had.virtualLongTokenId, 'virtualLongTokenId'),
    virtualShortTokenId: keptHashIf(row.virtualShortTokenId, was.virtualShortTokenId, had.virtualShortTokenId, 'virtualShortTokenId'),
    virtualIndexTokenId: keptHashIf(row.virtualIndexTokenId, was.virtualIndexTokenId, had.virtualIndexTokenId, 'virtualIndexTokenId'),
  }
}

/** One row of `/markets/values`, as `marketConfig` does it. Throws `Malformed`. */
export function marketValues(row: Fields, was: Fields, had: Partial<MarketValues>): MarketValues {
  // biome-ignore format: one field a line, to be read as a table.
  return {
    marketToken: keptAddress(row.marketTokenAddress, was.marketTokenAddress, had.marketToken, 'marketTokenAddress'),
    longPoolAmount: keptUintIf(row.longPoolAmount, was.longPoolAmount, had.longPoolAmount, 'longPoolAmount'),
    shortPoolAmount: keptUintIf(row.shortPoolAmount, was.shortPoolAmount, had.shortPoolAmount, 'shortPoolAmount'),
    positionImpactPoolAmount: keptUintIf(row.positionImpactPoolAmount, was.positionImpactPoolAmount, had.positionImpactPoolAmount, 'positionImpactPoolAmount'),
    swapImpactPoolAmountLong: keptUintIf(row.swapImpactPoolAmountLong, was.swapImpactPoolAmountLong, had.swapImpactPoolAmountLong, 'swapImpactPoolAmountLong'),
    swapImpactPoolAmountShort: keptUintIf(row.swapImpactPoolAmountShort, was.swapImpactPoolAmountShort, had.swapImpactPoolAmountShort, 'swapImpactPoolAmountShort'),
    virtualPoolAmountForLongToken: keptUintIf(row.virtualPoolAmountForLongToken, was.virtualPoolAmountForLongToken, had.virtualPoolAmountForLongToken, 'virtualPoolAmountForLongToken'),
    virtualPoolAmountForShortToken: keptUintIf(row.virtualPoolAmountForShortToken, was.virtualPoolAmountForShortToken, had.virtualPoolAmountForShortToken, 'virtualPoolAmountForShortToken'),
    totalBorrowingFees: keptUintIf(row.totalBorrowingFees, was.totalBorrowingFees, had.totalBorrowingFees, 'totalBorrowingFees'),
    longInterestUsd: keptUintIf(row.longInterestUsd, was.longInterestUsd, had.longInterestUsd, 'longInterestUsd'),
    shortInterestUsd: keptUintIf(row.shortInterestUsd, was.shortInterestUsd, had.shortInterestUsd, 'shortInterestUsd'),
    longInterestInTokens: keptUintIf(row.longInterestInTokens, was.longInterestInTokens, had.longInterestInTokens, 'longInterestInTokens'),
    shortInterestInTokens: keptUintIf(row.shortInterestInTokens, was.shortInterestInTokens, had.shortInterestInTokens, 'shortInterestInTokens'),
    borrowingFactorPerSecondForLongs: keptUintIf(row.borrowingFactorPerSecondForLongs, was.borrowingFactorPerSecondForLongs, had.borrowingFactorPerSecondForLongs, 'borrowingFactorPerSecondForLongs'),
    borrowingFactorPerSecondForShorts: keptUintIf(row.borrowingFactorPerSecondForShorts, was.borrowingFactorPerSecondForShorts, had.borrowingFactorPerSecondForShorts, 'borrowingFactorPerSecondForShorts'),
    fundingFactorPerSecond: keptUintIf(row.fundingFactorPerSecond, was.fundingFactorPerSecond, had.fundingFactorPerSecond, 'fundingFactorPerSecond'),
    longInterestUsdUsingLongToken: keptUintIf(row.longInterestUsdUsingLongToken, was.longInterestUsdUsingLongToken, had.longInterestUsdUsingLongToken, 'longInterestUsdUsingLongToken'),
    longInterestUsdUsingShortToken: keptUintIf(row.longInterestUsdUsingShortToken, was.longInterestUsdUsingShortToken, had.longInterestUsdUsingShortToken, 'longInterestUsdUsingShortToken'),
    shortInterestUsdUsingLongToken: keptUintIf(row.shortInterestUsdUsingLongToken, was.shortInterestUsdUsingLongToken, had.shortInterestUsdUsingLongToken, 'shortInterestUsdUsingLongToken'),
    shortInterestUsdUsingShortToken: keptUintIf(row.shortInterestUsdUsingShortToken, was.shortInterestUsdUsingShortToken, had.shortInterestUsdUsingShortToken, 'shortInterestUsdUsingShortToken'),
    longInterestInTokensUsingLongToken: keptUintIf(row.longInterestInTokensUsingLongToken, was.longInterestInTokensUsingLongToken, had.longInterestInTokensUsingLongToken, 'longInterestInTokensUsingLongToken'),
    longInterestInTokensUsingShortToken: keptUintIf(row.longInterestInTokensUsingShortToken, was.longInterestInTokensUsingShortToken, had.longInterestInTokensUsingShortToken, 'longInterestInTokensUsingShortToken'),
    shortInterestInTokensUsingLongToken: keptUintIf(row.shortInterestInTokensUsingLongToken, was.shortInterestInTokensUsingLongToken, had.shortInterestInTokensUsingLongToken, 'shortInterestInTokensUsingLongToken'),
    shortInterestInTokensUsingShortToken: keptUintIf(row.shortInterestInTokensUsingShortToken, was.shortInterestInTokensUsingShortToken, had.shortInterestInTokensUsingShortToken, 'shortInterestInTokensUsingShortToken'),
    poolValueMax: keptIntIf(row.poolValueMax, was.poolValueMax, had.poolValueMax, 'poolValueMax'),
    poolValueMin: keptIntIf(row.poolValueMin, was.poolValueMin, had.poolValueMin, 'poolValueMin'),
    virtualInventoryForPositions: keptIntIf(row.virtualInventoryForPositions, was.virtualInventoryForPositions, had.virtualInventoryForPositions, 'virtualInventoryForPositions'),
    virtualInventoryForPositionsInTokens: keptIntIf(row.virtualInventoryForPositionsInTokens, was.virtualInventoryForPositionsInTokens, had.virtualInventoryForPositionsInTokens, 'virtualInventoryForPositionsInTokens'),
    longsPayShorts: flagIf(row.longsPayShorts, 'longsPayShorts'),
    updatedAtMs: timeOrNull(row.updatedAt, 'updatedAt'),
  }
}

/**
 * One row of `/markets/info`: both of the above in one. Nothing polls it, so it is put together rather than written out once
 * more. Throws `Malformed`.
 */
export function marketInfo(value: unknown): MarketInfo {
  const row = object(value)
  return { ...marketConfig(row, {}, {}), ...marketValues(row, {}, {}) }
}
