/**
 * Configuration and values of markets, one row a market (application document, "Market values row", "Market config
 * fields"; units: wire, reads 2.2). Fields keep the wire's names, because they are the protocol's; a field that an older
 * deployment does not send is absent.
 */
import type { Address, Hex } from '../domain/address.ts'
import {
  address,
  boolean,
  bytes32,
  count,
  type Fields,
  int,
  list,
  nullable,
  object,
  optional,
  present,
  string,
  uint,
} from './decode.ts'
import type { CallOptions, Read, Route } from './route.ts'
import type { Transport } from './transport.ts'

/** Unsigned settings: pool amounts in token units, USD and factors with 30 decimals, factors a second where named so. */
const configFields = [
  'maxLongPoolAmount',
  'maxShortPoolAmount',
  'minPositionImpactPoolAmount',
  'lentPositionImpactPoolAmount',
  'positionImpactPoolDistributionRate',
  'maxLongPoolUsdForDeposit',
  'maxShortPoolUsdForDeposit',
  'maxOpenInterestLong',
  'maxOpenInterestShort',
  'maxLendableImpactUsd',
  'maxCollateralSumLongTokenLong',
  'maxCollateralSumLongTokenShort',
  'maxCollateralSumShortTokenLong',
  'maxCollateralSumShortTokenShort',
  'reserveFactorLong',
  'reserveFactorShort',
  'openInterestReserveFactorLong',
  'openInterestReserveFactorShort',
  'borrowingExponentFactorLong',
  'borrowingExponentFactorShort',
  'fundingExponentFactor',
  'thresholdForStableFunding',
  'thresholdForDecreaseFunding',
  'minCollateralFactor',
  'minCollateralFactorForLiquidation',
  'minCollateralFactorForOpenInterestLong',
  'minCollateralFactorForOpenInterestShort',
  'maxPnlFactorForTradersLong',
  'maxPnlFactorForTradersShort',
  'maxPnlFactorForDepositsLong',
  'maxPnlFactorForDepositsShort',
  'maxPnlFactorForWithdrawalsLong',
  'maxPnlFactorForWithdrawalsShort',
  'positionFeeFactorForBalanceWasImproved',
  'positionFeeFactorForBalanceWasNotImproved',
  'positionImpactFactorPositive',
  'positionImpactFactorNegative',
  'positionImpactExponentFactorPositive',
  'positionImpactExponentFactorNegative',
  'maxPositionImpactFactorPositive',
  'maxPositionImpactFactorNegative',
  'maxPositionImpactFactorForLiquidations',
  'maxLendableImpactFactor',
  'maxLendableImpactFactorForWithdrawals',
  'swapFeeFactorForBalanceWasImproved',
  'swapFeeFactorForBalanceWasNotImproved',
  'atomicSwapFeeFactor',
  'swapImpactFactorPositive',
  'swapImpactFactorNegative',
  'swapImpactExponentFactor',
  'withdrawalFeeFactorBalanceWasImproved',
  'withdrawalFeeFactorBalanceWasNotImproved',
  'borrowingFactorLong',
  'borrowingFactorShort',
  'fundingFactor',
  'fundingIncreaseFactorPerSecond',
  'fundingDecreaseFactorPerSecond',
  'minFundingFactorPerSecond',
  'maxFundingFactorPerSecond',
  'minFundingIncreaseRatePerSecond',
  'minFundingFactorPerSecondLong',
  'maxFundingFactorPerSecondLong',
  'minFundingFactorPerSecondShort',
  'maxFundingFactorPerSecondShort',
] as const

const idFields = [
  'virtualMarketId',
  'virtualLongTokenId',
  'virtualShortTokenId',
  'virtualIndexTokenId',
] as const

/** Unsigned values: amounts in token units, USD with 30 decimals, factors a second with 30 decimals. */
const valueFields = [
  'longPoolAmount',
  'shortPoolAmount',
  'positionImpactPoolAmount',
  'swapImpactPoolAmountLong',
  'swapImpactPoolAmountShort',
  'virtualPoolAmountForLongToken',
  'virtualPoolAmountForShortToken',
  'totalBorrowingFees',
  'longInterestUsd',
  'shortInterestUsd',
  'longInterestInTokens',
  'shortInterestInTokens',
  'borrowingFactorPerSecondForLongs',
  'borrowingFactorPerSecondForShorts',
  'fundingFactorPerSecond',
  'longInterestUsdUsingLongToken',
  'longInterestUsdUsingShortToken',
  'shortInterestUsdUsingLongToken',
  'shortInterestUsdUsingShortToken',
  'longInterestInTokensUsingLongToken',
  'longInterestInTokensUsingShortToken',
  'shortInterestInTokensUsingLongToken',
  'shortInterestInTokensUsingShortToken',
] as const

const signedValueFields = [
  'poolValueMax',
  'poolValueMin',
  'virtualInventoryForPositions',
  'virtualInventoryForPositionsInTokens',
] as const

type Amounts<Names extends readonly string[]> = { readonly [Name in Names[number]]?: bigint }

/** Slower-changing settings of one market. */
export interface MarketConfig extends Amounts<typeof configFields> {
  readonly marketToken: Address
  readonly indexToken: Address
  readonly longToken: Address
  readonly shortToken: Address
  readonly name?: string
  readonly isSameCollaterals?: boolean
  readonly isSpotOnly?: boolean
  readonly isDisabled?: boolean
  readonly useOpenInterestInTokensForBalance?: boolean
  /** Zero hash: no virtual inventory. */
  readonly virtualMarketId?: Hex
  readonly virtualLongTokenId?: Hex
  readonly virtualShortTokenId?: Hex
  readonly virtualIndexTokenId?: Hex
}

/** Frequently changing values of one market. */
export interface MarketValues extends Amounts<typeof valueFields>, Amounts<typeof signedValueFields> {
  readonly marketToken: Address
  readonly longsPayShorts?: boolean
  /** Unix ms of the older of the two refreshes behind the row; null when one never succeeded: treat as stale. */
  readonly updatedAtMs: number | null
}

/** Both, from one moment. */
export interface MarketInfo extends MarketConfig, MarketValues {}

const configRoute: Route<undefined, readonly MarketConfig[]> = {
  path: '/markets/config',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 30_000,
  decode: (body) => list(body, '', (value) => config(object(value))),
}

const valuesRoute: Route<undefined, readonly MarketValues[]> = {
  path: '/markets/values',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 1_000,
  decode: (body) => list(body, '', (value) => values(object(value))),
}

const infoRoute: Route<undefined, readonly MarketInfo[]> = {
  path: '/markets/info',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 1_000,
  decode: (body) =>
    list(body, '', (value) => {
      const row = object(value)
      return Object.assign(config(row), values(row))
    }),
}

/** Settings of all markets (`GET /markets/config`). */
export function getMarketsConfig(
  transport: Transport,
  options?: CallOptions,
): Promise<Read<readonly MarketConfig[]>> {
  return transport.call(configRoute, undefined, options)
}

/** Values of all markets (`GET /markets/values`). A 200 can carry old rows: look at `updatedAtMs`. */
export function getMarketsValues(
  transport: Transport,
  options?: CallOptions,
): Promise<Read<readonly MarketValues[]>> {
  return transport.call(valuesRoute, undefined, options)
}

/** Settings and values of all markets in one snapshot (`GET /markets/info`). */
export function getMarketsInfo(
  transport: Transport,
  options?: CallOptions,
): Promise<Read<readonly MarketInfo[]>> {
  return transport.call(infoRoute, undefined, options)
}

function amounts<Names extends readonly string[]>(
  row: Fields,
  names: Names,
  decode: (value: unknown, name: string) => bigint,
): Amounts<Names> {
  const decoded: Record<string, bigint> = {}
  for (const name of names) {
    const value = row[name]
    if (value !== undefined && value !== null) decoded[name] = decode(value, name)
  }
  return decoded as Amounts<Names>
}

function config(row: Fields): MarketConfig {
  const ids: { [Name in (typeof idFields)[number]]?: Hex } = {}
  for (const name of idFields) {
    const id = optional(row[name], name, bytes32)
    if (id !== undefined) ids[name] = id
  }
  return {
    marketToken: address(row.marketTokenAddress, 'marketTokenAddress'),
    indexToken: address(row.indexTokenAddress, 'indexTokenAddress'),
    longToken: address(row.longTokenAddress, 'longTokenAddress'),
    shortToken: address(row.shortTokenAddress, 'shortTokenAddress'),
    ...amounts(row, configFields, uint),
    ...ids,
    ...present({
      name: optional(row.name, 'name', string),
      isSameCollaterals: optional(row.isSameCollaterals, 'isSameCollaterals', boolean),
      isSpotOnly: optional(row.isSpotOnly, 'isSpotOnly', boolean),
      isDisabled: optional(row.isDisabled, 'isDisabled', boolean),
      useOpenInterestInTokensForBalance: optional(
        row.useOpenInterestInTokensForBalance,
        'useOpenInterestInTokensForBalance',
        boolean,
      ),
    }),
  }
}

function values(row: Fields): MarketValues {
  return {
    marketToken: address(row.marketTokenAddress, 'marketTokenAddress'),
    ...amounts(row, valueFields, uint),
    ...amounts(row, signedValueFields, int),
    ...present({ longsPayShorts: optional(row.longsPayShorts, 'longsPayShorts', boolean) }),
    updatedAtMs: row.updatedAt === undefined ? null : nullable(row.updatedAt, 'updatedAt', count),
  }
}
