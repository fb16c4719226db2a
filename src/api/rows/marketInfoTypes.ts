/**
 * Settings and values of one market
 * (docs/reference/api-coverage.md GET /markets/values and GET /markets/config). Fields keep the wire's names, because they are the
 * protocol's. A field that the deployment does not send is undefined; that is never zero.
 */
import type { Address, Hex } from '../../protocol/address.ts'

type Amounts<Names extends string> = { readonly [Name in Names]: bigint | undefined }

/** In units of the pool's long or short token. */
type PoolAmountSetting = 'maxLongPoolAmount' | 'maxShortPoolAmount'

/** In units of the index token; the rate in units a second, with 30 decimals more. */
type IndexAmountSetting =
  | 'minPositionImpactPoolAmount'
  | 'lentPositionImpactPoolAmount'
  | 'positionImpactPoolDistributionRate'

/** USD, 30 decimals. */
type UsdSetting =
  | 'maxLongPoolUsdForDeposit'
  | 'maxShortPoolUsdForDeposit'
  | 'maxOpenInterestLong'
  | 'maxOpenInterestShort'
  | 'maxLendableImpactUsd'

/** Most collateral, in units of the named token, that the positions of the named side hold; about 10^31: no limit. */
type CollateralSumSetting =
  | 'maxCollateralSumLongTokenLong'
  | 'maxCollateralSumLongTokenShort'
  | 'maxCollateralSumShortTokenLong'
  | 'maxCollateralSumShortTokenShort'

/** Fractions with 30 decimals. */
type FactorSetting =
  | 'reserveFactorLong'
  | 'reserveFactorShort'
  | 'openInterestReserveFactorLong'
  | 'openInterestReserveFactorShort'
  | 'borrowingExponentFactorLong'
  | 'borrowingExponentFactorShort'
  | 'fundingExponentFactor'
  | 'thresholdForStableFunding'
  | 'thresholdForDecreaseFunding'
  | 'minCollateralFactor'
  | 'minCollateralFactorForLiquidation'
  | 'minCollateralFactorForOpenInterestLong'
  | 'minCollateralFactorForOpenInterestShort'
  | 'maxPnlFactorForTradersLong'
  | 'maxPnlFactorForTradersShort'
  | 'maxPnlFactorForDepositsLong'
  | 'maxPnlFactorForDepositsShort'
  | 'maxPnlFactorForWithdrawalsLong'
  | 'maxPnlFactorForWithdrawalsShort'
  | 'positionFeeFactorForBalanceWasImproved'
  | 'positionFeeFactorForBalanceWasNotImproved'
  | 'positionImpactFactorPositive'
  | 'positionImpactFactorNegative'
  | 'positionImpactExponentFactorPositive'
  | 'positionImpactExponentFactorNegative'
  | 'maxPositionImpactFactorPositive'
  | 'maxPositionImpactFactorNegative'
  | 'maxPositionImpactFactorForLiquidations'
  | 'maxLendableImpactFactor'
  | 'maxLendableImpactFactorForWithdrawals'
  | 'swapFeeFactorForBalanceWasImproved'
  | 'swapFeeFactorForBalanceWasNotImproved'
  | 'atomicSwapFeeFactor'
  | 'swapImpactFactorPositive'
  | 'swapImpactFactorNegative'
  | 'swapImpactExponentFactor'
  | 'withdrawalFeeFactorBalanceWasImproved'
  | 'withdrawalFeeFactorBalanceWasNotImproved'

/** Fractions a second, 30 decimals. */
type FactorPerSecondSetting =
  | 'borrowingFactorLong'
  | 'borrowingFactorShort'
  | 'fundingFactor'
  | 'fundingIncreaseFactorPerSecond'
  | 'fundingDecreaseFactorPerSecond'
  | 'minFundingFactorPerSecond'
  | 'maxFundingFactorPerSecond'
  | 'minFundingIncreaseRatePerSecond'
  | 'minFundingFactorPerSecondLong'
  | 'maxFundingFactorPerSecondLong'
  | 'minFundingFactorPerSecondShort'
  | 'maxFundingFactorPerSecondShort'

/** Slower-changing settings of one market (`/markets/config`, cached 30 s). */
export interface MarketConfig
  extends Amounts<
    | PoolAmountSetting
    | IndexAmountSetting
    | UsdSetting
    | CollateralSumSetting
    | FactorSetting
    | FactorPerSecondSetting
  > {
  readonly marketToken: Address
  readonly indexToken?: Address | undefined
  readonly longToken?: Address | undefined
  readonly shortToken?: Address | undefined
  readonly name: string | undefined
  /** The venue's own text; nothing is decided by it. */
  readonly data: string | undefined
  readonly isSameCollaterals: boolean | undefined
  readonly isSpotOnly: boolean | undefined
  readonly isDisabled: boolean | undefined
  readonly useOpenInterestInTokensForBalance: boolean | undefined
  /** Zero hash: no virtual inventory. */
  readonly virtualMarketId: Hex | undefined
  readonly virtualLongTokenId: Hex | undefined
  readonly virtualShortTokenId: Hex | undefined
  readonly virtualIndexTokenId: Hex | undefined
}

/** In units of the pool's long or short token. */
type PoolAmountValue =
  | 'longPoolAmount'
  | 'shortPoolAmount'
  | 'swapImpactPoolAmountLong'
  | 'swapImpactPoolAmountShort'
  | 'virtualPoolAmountForLongToken'
  | 'virtualPoolAmountForShortToken'

/** In units of the index token; `virtualInventoryForPositionsInTokens` has a sign. */
type IndexAmountValue =
  | 'positionImpactPoolAmount'
  | 'longInterestInTokens'
  | 'shortInterestInTokens'
  | 'longInterestInTokensUsingLongToken'
  | 'longInterestInTokensUsingShortToken'
  | 'shortInterestInTokensUsingLongToken'
  | 'shortInterestInTokensUsingShortToken'
  | 'virtualInventoryForPositionsInTokens'

/** USD, 30 decimals; the pool's value and the virtual inventory have a sign. */
type UsdValue =
  | 'totalBorrowingFees'
  | 'longInterestUsd'
  | 'shortInterestUsd'
  | 'longInterestUsdUsingLongToken'
  | 'longInterestUsdUsingShortToken'
  | 'shortInterestUsdUsingLongToken'
  | 'shortInterestUsdUsingShortToken'
  | 'poolValueMax'
  | 'poolValueMin'
  | 'virtualInventoryForPositions'

/** Fractions a second, 30 decimals; funding is the rate of the side that pays. */
type FactorPerSecondValue =
  | 'borrowingFactorPerSecondForLongs'
  | 'borrowingFactorPerSecondForShorts'
  | 'fundingFactorPerSecond'

/** Frequently changing values of one market (`/markets/values`, cached 1 s). */
export interface MarketValues
  extends Amounts<PoolAmountValue | IndexAmountValue | UsdValue | FactorPerSecondValue> {
  readonly marketToken: Address
  readonly longsPayShorts: boolean | undefined
  /** Unix ms of the older of the two refreshes behind the row; null when one never succeeded: treat as stale. */
  readonly updatedAtMs: number | null
}

/** Both, from one moment (`/markets/info`, cached 1 s). */
export interface MarketInfo extends MarketConfig, MarketValues {}

/** True where a row of settings says which tokens its market has: the document names none of them. */
export function namesTokens<Row extends Pick<MarketConfig, 'indexToken' | 'longToken' | 'shortToken'>>(
  row: Row,
): row is Row & { readonly indexToken: Address; readonly longToken: Address; readonly shortToken: Address } {
  return row.indexToken !== undefined && row.longToken !== undefined && row.shortToken !== undefined
}
