/** Markets of the paper venue: settings from the catalogue, pools and open interest invented from them. */
import { hexKey, ZERO_ADDRESS, ZERO_HASH } from '../../protocol/address.ts'
import type { CatalogConfig, CatalogIndex, CatalogMarket, CatalogToken } from '../catalog/catalog.ts'
import { max, min, ONE } from '../math/integer.ts'
import {
  type BySide,
  emptyMarket,
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  mid,
  type PricePair,
} from '../math/marketState.ts'
import { hashText, unit } from '../math/random.ts'
import type { VenueSettings } from './settings.ts'

/** A market of the venue: what it is, what its settings are, and its state, which operations replace whole. */
export interface VenueMarket {
  readonly catalog: CatalogMarket
  /** Lower-case market token: the key everywhere. */
  readonly key: string
  readonly indexToken: CatalogToken
  readonly longToken: CatalogToken
  readonly shortToken: CatalogToken
  readonly settings: MarketSettings
  /** Wire fields of the settings, complete, decimal strings. */
  readonly config: CatalogConfig
  state: MarketState
}

/** Largest collateral sum that means "no limit" (contract `Keys`, `MAX_COLLATERAL_SUM`). */
const NO_COLLATERAL_LIMIT = (10n ** 31n).toString()

/** Wire fields of a market whose orders have no price impact. */
const noImpact: CatalogConfig = { positionImpactFactorPositive: '0', positionImpactFactorNegative: '0' }

/** Wire fields of a market that takes no increase. */
const noIncreases: CatalogConfig = { maxOpenInterestLong: '0', maxOpenInterestShort: '0' }

/** A seeded pool has paid this part of itself into its swap impact pools. */
const SWAP_IMPACT_POOL_PART = 20_000n

/** A pool that only swaps has no index token; its rows carry the zero address. */
const noIndexToken: CatalogToken = {
  symbol: '',
  name: '',
  address: ZERO_ADDRESS,
  decimals: 18,
  isSynthetic: false,
  isStable: false,
  isNative: false,
  isWrapped: false,
}

function bigOf(config: CatalogConfig, name: string): bigint {
  const value = config[name]
  return typeof value === 'string' ? BigInt(value) : 0n
}

function bySide(config: CatalogConfig, name: string, suffix = ''): BySide {
  return { long: bigOf(config, `${name}Long${suffix}`), short: bigOf(config, `${name}Short${suffix}`) }
}

/** Settings the model uses, from wire field names. */
function settingsOfConfig(market: CatalogMarket, config: CatalogConfig): MarketSettings {
  const both = (value: bigint): BySide => ({ long: value, short: value })
  return {
    isSameCollaterals: market.isSameCollaterals,
    isSpotOnly: market.isSpotOnly,
    useOpenInterestInTokensForBalance: config.useOpenInterestInTokensForBalance !== false,
    skipBorrowingFeeForSmallerSide: true,
    hasVirtualInventory:
      typeof config.virtualIndexTokenId === 'string' && config.virtualIndexTokenId !== ZERO_HASH,
    reserveFactor: bySide(config, 'reserveFactor'),
    openInterestReserveFactor: bySide(config, 'openInterestReserveFactor'),
    maxOpenInterest: bySide(config, 'maxOpenInterest'),
    maxPnlFactorForTraders: bySide(config, 'maxPnlFactorForTraders'),
    positionImpactFactorPositive: bigOf(config, 'positionImpactFactorPositive'),
    positionImpactFactorNegative: bigOf(config, 'positionImpactFactorNegative'),
    positionImpactExponentFactorPositive: bigOf(config, 'positionImpactExponentFactorPositive'),
    positionImpactExponentFactorNegative: bigOf(config, 'positionImpactExponentFactorNegative'),
    maxPositionImpactFactorPositive: bigOf(config, 'maxPositionImpactFactorPositive'),
    maxPositionImpactFactorNegative: bigOf(config, 'maxPositionImpactFactorNegative'),
    maxPositionImpactFactorForLiquidations: bigOf(config, 'maxPositionImpactFactorForLiquidations'),
    maxLendableImpactFactor: bigOf(config, 'maxLendableImpactFactor'),
    maxLendableImpactUsd: bigOf(config, 'maxLendableImpactUsd'),
    positionFeeFactorForBalanceWasImproved: bigOf(config, 'positionFeeFactorForBalanceWasImproved'),
    positionFeeFactorForBalanceWasNotImproved: bigOf(config, 'positionFeeFactorForBalanceWasNotImproved'),
    liquidationFeeFactor: bigOf(config, 'liquidationFeeFactor_x'),
    feeReceiverFactor: (37n * ONE) / 100n,
    minCollateralFactor: bigOf(config, 'minCollateralFactor'),
    minCollateralFactorForLiquidation: bigOf(config, 'minCollateralFactorForLiquidation'),
    minCollateralFactorForOpenInterest: bySide(config, 'minCollateralFactorForOpenInterest'),
    minCollateralUsd: ONE,
    minPositionSizeUsd: ONE,
    fundingFactor: bigOf(config, 'fundingFactor'),
    fundingExponentFactor: bigOf(config, 'fundingExponentFactor'),
    fundingIncreaseFactorPerSecond: bigOf(config, 'fundingIncreaseFactorPerSecond'),
    fundingDecreaseFactorPerSecond: bigOf(config, 'fundingDecreaseFactorPerSecond'),
    minFundingIncreaseRatePerSecond: bigOf(config, 'minFundingIncreaseRatePerSecond'),
    thresholdForStableFunding: bigOf(config, 'thresholdForStableFunding'),
    thresholdForDecreaseFunding: bigOf(config, 'thresholdForDecreaseFunding'),
    minFundingFactorPerSecond: bySide(config, 'minFundingFactorPerSecond'),
    maxFundingFactorPerSecond: bySide(config, 'maxFundingFactorPerSecond'),
    optimalUsageFactor: bySide(config, 'optimalUsageFactor', '_x'),
    baseBorrowingFactor: bySide(config, 'baseBorrowingFactor', '_x'),
    aboveOptimalUsageBorrowingFactor: bySide(config, 'aboveOptimalUsageBorrowingFactor', '_x'),
    borrowingFactor: bySide(config, 'borrowingFactor'),
    borrowingExponentFactor:
      bigOf(config, 'borrowingExponentFactorLong') === 0n
        ? both(ONE)
        : bySide(config, 'borrowingExponentFactor'),
    swapFeeFactorForBalanceWasImproved: bigOf(config, 'swapFeeFactorForBalanceWasImproved'),
    swapFeeFactorForBalanceWasNotImproved: bigOf(config, 'swapFeeFactorForBalanceWasNotImproved'),
    swapImpactFactorPositive: bigOf(config, 'swapImpactFactorPositive'),
    swapImpactFactorNegative: bigOf(config, 'swapImpactFactorNegative'),
    swapImpactExponentFactor: bigOf(config, 'swapImpactExponentFactor'),
    maxCollateralSum: [
      bySide(config, 'maxCollateralSumLongToken'),
      bySide(config, 'maxCollateralSumShortToken'),
    ],
  }
}

/** Whole wire configuration of a market: the recorded one, and what the deployment script leaves to invention. */
function completeConfig(
  recorded: CatalogConfig,
  limits: { readonly long: bigint; readonly short: bigint },
): CatalogConfig {
  return {
    maxLongPoolAmount: limits.long.toString(),
    maxShortPoolAmount: limits.short.toString(),
    // A swap-only market has no positions, and so none of these.
    maxOpenInterestLong: '0',
    maxOpenInterestShort: '0',
    thresholdForStableFunding: '0',
    minPositionImpactPoolAmount: '0',
    positionImpactPoolDistributionRate: '0',
    maxCollateralSumLongTokenLong: NO_COLLATERAL_LIMIT,
    maxCollateralSumLongTokenShort: NO_COLLATERAL_LIMIT,
    maxCollateralSumShortTokenLong: NO_COLLATERAL_LIMIT,
    maxCollateralSumShortTokenShort: NO_COLLATERAL_LIMIT,
    minFundingIncreaseRatePerSecond: '0',
    maxLendableImpactFactor: '0',
    maxLendableImpactFactorForWithdrawals: '0',
    maxLendableImpactUsd: '0',
    virtualMarketId: ZERO_HASH,
    virtualLongTokenId: ZERO_HASH,
    virtualShortTokenId: ZERO_HASH,
    virtualIndexTokenId: ZERO_HASH,
    useOpenInterestInTokensForBalance: true,
    minCollateralFactorForOpenInterestLong: '0',
    minCollateralFactorForOpenInterestShort: '0',
    ...recorded,
  }
}

/**
 * The world's markets, with pools and open interest seeded at the start prices. A market of which a token has no price is left out:
 * nothing could be traded there, and the venue's own oracle prices no token of a market that it has given up.
 */
export function seedMarkets(
  catalog: CatalogIndex,
  seed: number,
  settings: VenueSettings,
  priceOf: (token: CatalogToken) => PricePair | undefined,
): VenueMarket[] {
  const markets: VenueMarket[] = []
  for (const entry of catalog.catalog.markets) {
    const longToken = catalog.tokenByAddress.get(hexKey(entry.longToken))
    const shortToken = catalog.tokenByAddress.get(hexKey(entry.shortToken))
    const indexToken = entry.isSpotOnly ? noIndexToken : catalog.tokenByAddress.get(hexKey(entry.indexToken))
    if (longToken === undefined || shortToken === undefined || indexToken === undefined) continue
    const long = priceOf(longToken)
    const short = priceOf(shortToken)
    const index = entry.isSpotOnly ? { min: 1n, max: 1n } : priceOf(indexToken)
    if (long === undefined || short === undefined || index === undefined) continue
    const recorded = catalog.catalog.config[entry.marketToken] ?? catalog.catalog.defaultConfig
    const limit = (name: string, fallbackUsd: string, price: PricePair): bigint =>
      typeof recorded[name] === 'string'
        ? BigInt(recorded[name])
        : (bigOf(recorded, fallbackUsd) * 2n) / price.max
    const changed = {
      ...(settings.hasPriceImpact ? {} : noImpact),
      ...(settings.takesIncreases ? {} : noIncreases),
    }
    const config = completeConfig(
      { ...recorded, ...settings.followed.get(hexKey(entry.marketToken))?.config, ...changed },
      {
        long: limit('maxLongPoolAmount', 'maxLongPoolUsdForDeposit', long),
        short: limit('maxShortPoolAmount', 'maxShortPoolUsdForDeposit', short),
      },
    )
    const prices = { index, long, short }
    const model = settingsOfConfig(entry, config)
    markets.push({
      catalog: entry,
      key: hexKey(entry.marketToken),
      indexToken,
      longToken,
      shortToken,
      settings: model,
      config,
      state: seedState(model, config, prices, settings, hashText(`${seed}:${entry.marketToken}`)),
    })
  }
  return markets
}

function seedState(
  settings: MarketSettings,
  config: CatalogConfig,
  prices: MarketPrices,
  venue: VenueSettings,
  stream: number,
): MarketState {
  const state = emptyMarket()
  const share = (value: bigint, shareBps: number, cell: number): bigint =>
    (value * BigInt(Math.round(shareBps * (0.8 + 0.4 * unit(stream, cell))))) / 10_000n
  const poolOf = (name: 'Long' | 'Short', price: PricePair, cell: number): bigint => {
    const byUsd = bigOf(config, `max${name}PoolUsdForDeposit`) / price.max
    const byAmount = bigOf(config, `max${name}PoolAmount`)
    return share(byUsd === 0n ? byAmount : min(byUsd, byAmount), venue.poolShareBps, cell)
  }
  const apart = [poolOf('Long', prices.long, 1), poolOf('Short', prices.short, 2)] as const
  const [longPool, shortPool] = settings.isSameCollaterals ? apart : balanced(apart, config, prices)
  state.pool = settings.isSameCollaterals ? [longPool + shortPool, 0n] : [longPool, shortPool]
  if (!settings.isSameCollaterals) {
    state.swapImpactPool = [longPool / SWAP_IMPACT_POOL_PART, shortPool / SWAP_IMPACT_POOL_PART]
  }
  if (settings.isSpotOnly) return state
  for (const side of ['long', 'short'] as const) {
    const pool = side === 'long' ? longPool * prices.long.min : shortPool * prices.short.min
    const reserve = min(settings.reserveFactor[side], settings.openInterestReserveFactor[side])
    const wanted = share(settings.maxOpenInterest[side], venue.openInterestShareBps, side === 'long' ? 3 : 4)
    // Half of what the pool could back at most, so that a seeded market always has room.
    const even = min(wanted, (pool * reserve) / ONE / 2n)
    const usd = (even * BigInt(10_000 + (side === 'long' ? venue.skewBps : -venue.skewBps))) / 10_000n
    const tokens = usd / mid(prices.index)
    const half = usd / 2n
    const halfTokens = tokens / 2n
    state[side].interestUsd = settings.isSameCollaterals ? [usd, 0n] : [half, usd - half]
    state[side].interestInTokens = settings.isSameCollaterals
      ? [tokens, 0n]
      : [halfTokens, tokens - halfTokens]
    state[side].cumulativeBorrowingFactor = ONE / 5n
  }
  state.virtualInventory = {
    usd: sumOf(state.short.interestUsd) - sumOf(state.long.interestUsd),
    tokens: sumOf(state.short.interestInTokens) - sumOf(state.long.interestInTokens),
  }
  state.positionImpactPoolAmount = max(
    bigOf(config, 'minPositionImpactPoolAmount'),
    (sumOf(state.long.interestUsd) + sumOf(state.short.interestUsd)) / 200n / mid(prices.index),
  )
  return state
}

/**
 * Amounts of a pool whose sides are worth the same at mid prices, as those who trade swaps for a gain leave it: a swap out of
 * balance would gain more than its fees cost. Together they are worth what they were, as far as the smaller side has room.
 */
function balanced(
  [long, short]: readonly [bigint, bigint],
  config: CatalogConfig,
  prices: MarketPrices,
): [bigint, bigint] {
  const [longPrice, shortPrice] = [mid(prices.long), mid(prices.short)]
  const half = (long * longPrice + short * shortPrice) / 2n
  const room = min(
    bigOf(config, 'maxLongPoolAmount') * longPrice,
    bigOf(config, 'maxShortPoolAmount') * shortPrice,
  )
  const usd = min(half, (room * 3n) / 4n)
  return [usd / longPrice, usd / shortPrice]
}

function sumOf(values: readonly [bigint, bigint]): bigint {
  return values[0] + values[1]
}
