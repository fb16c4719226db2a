/** Market rows of the application API (docs/reference/api-coverage.md GET /markets/values). */
import type { CatalogToken } from '../catalog/catalog.ts'
import type { Json } from '../http/http.ts'
import { borrowingFactorPerSecond } from '../math/borrowing.ts'
import { type Capacity, legacyAvailableLiquidity } from '../math/capacity.ts'
import { fundingStep } from '../math/funding.ts'
import {
  balanceInterest,
  interestInTokens,
  interestUsd,
  type MarketPrices,
  mid,
  poolUsd,
  type Side,
  slotValue,
} from '../math/marketState.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'
import { namesMarket } from '../state/dataFaults.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import { marketPrices, type VenueState } from '../state/venueState.ts'
import { dayOf } from './dayFigures.ts'
import { capacityAt } from './jitPools.ts'

/** 10^decimals: contract price times this is USD (30 decimals) per whole token. */
export function scaleOf(token: CatalogToken): bigint {
  return 10n ** BigInt(token.decimals)
}

/** Tells whether a market is listed now. */
export function isListed(venueState: VenueState, market: VenueMarket): boolean {
  return market.catalog.isListed && !namesMarket(venueState.dataFaults.unlistedMarkets, market.key)
}

/** Tells whether a market is listed and not disabled. */
export function isActive(venueState: VenueState, market: VenueMarket): boolean {
  return isListed(venueState, market) && !namesMarket(venueState.dataFaults.disabledMarkets, market.key)
}

/** `/markets` row. */
export function catalogRow(venueState: VenueState, market: VenueMarket): Json {
  const { catalog, settings, config } = market
  const factor = settings.minCollateralFactor
  const tier =
    factor === 0n
      ? []
      : [
          {
            maxLeverage: ((10n ** 34n / factor / 10_000n) * 10_000n).toString(),
            minCollateralFactor: String(config.minCollateralFactor),
          },
        ]
  return {
    symbol: catalog.symbol,
    marketTokenAddress: catalog.marketToken,
    indexTokenAddress: catalog.indexToken,
    longTokenAddress: catalog.longToken,
    shortTokenAddress: catalog.shortToken,
    isListed: isListed(venueState, market),
    isSpotOnly: catalog.isSpotOnly,
    leverageTiers: settings.isSpotOnly ? [] : tier,
    minPositionSizeUsd: settings.minPositionSizeUsd.toString(),
    minCollateralUsd: settings.minCollateralUsd.toString(),
  }
}

/** A row of settings and what may change in it. */
interface ConfigRow {
  readonly isDisabled: boolean
  readonly lentAmount: bigint
  readonly row: Readonly<Record<string, Json>>
}

const configRows = new WeakMap<VenueMarket, ConfigRow>()

/** Identity and settings of a market: `/markets/config` row. The same row until something in it changes. */
export function configRow(venueState: VenueState, market: VenueMarket): Readonly<Record<string, Json>> {
  const isDisabled = namesMarket(venueState.dataFaults.disabledMarkets, market.key)
  const lentAmount = market.state.lentPositionImpactPoolAmount
  const last = configRows.get(market)
  if (last?.isDisabled === isDisabled && last.lentAmount === lentAmount) return last.row
  const row = newConfigRow(market, isDisabled)
  configRows.set(market, { isDisabled, lentAmount, row })
  return row
}

function newConfigRow(market: VenueMarket, isDisabled: boolean): Record<string, Json> {
  const row: Record<string, Json> = {
    marketTokenAddress: market.catalog.marketToken,
    indexTokenAddress: market.catalog.indexToken,
    longTokenAddress: market.catalog.longToken,
    shortTokenAddress: market.catalog.shortToken,
    isSameCollaterals: market.settings.isSameCollaterals,
    isSpotOnly: market.settings.isSpotOnly,
    name: market.catalog.symbol,
    data: '',
    isDisabled,
  }
  for (const [name, value] of Object.entries(market.config)) {
    if (name.endsWith('_x') || name === 'symbol' || name === 'isDisabled') continue
    row[name] = value
  }
  row.lentPositionImpactPoolAmount = market.state.lentPositionImpactPoolAmount.toString()
  row.maxPositionImpactFactorForLiquidations ??= '0'
  return row
}

/** Funding and borrowing rates per second as they stand; zero where the market has no open interest. */
function ratesOf(
  market: VenueMarket,
  prices: MarketPrices,
): {
  readonly fundingFactorPerSecond: bigint
  readonly longsPayShorts: boolean
  readonly borrowing: { readonly [side in Side]: bigint }
} {
  const { settings, state } = market
  if (settings.isSpotOnly) {
    return { fundingFactorPerSecond: 0n, longsPayShorts: false, borrowing: { long: 0n, short: 0n } }
  }
  const borrowing = (side: Side): bigint => {
    try {
      return borrowingFactorPerSecond(settings, state, side, prices)
    } catch (error) {
      if (error instanceof ProtocolRevert) return 0n
      throw error
    }
  }
  const funding = fundingStep(settings, state, prices, 0n)
  return {
    fundingFactorPerSecond: funding.factorPerSecond,
    longsPayShorts: funding.longsPayShorts,
    borrowing: { long: borrowing('long'), short: borrowing('short') },
  }
}

/** Values of a market at a moment: a `/markets/values` row but for its `updatedAt`. */
export function valuesRow(venueState: VenueState, market: VenueMarket, nowMs: number): Record<string, Json> {
  const { settings, state } = market
  const prices = marketPrices(venueState, market, Math.floor(nowMs / 1000))
  const rates = ratesOf(market, prices)
  const long = poolUsd(settings, state, 'long', prices)
  const short = poolUsd(settings, state, 'short', prices)
  const longAmount = slotValue(settings, state.pool, 0)
  const shortAmount = slotValue(settings, state.pool, 1)
  const row: Record<string, Json> = {
    marketTokenAddress: market.catalog.marketToken,
    longPoolAmount: longAmount.toString(),
    shortPoolAmount: shortAmount.toString(),
    positionImpactPoolAmount: state.positionImpactPoolAmount.toString(),
    swapImpactPoolAmountLong: state.swapImpactPool[0].toString(),
    swapImpactPoolAmountShort: state.swapImpactPool[1].toString(),
    virtualPoolAmountForLongToken: longAmount.toString(),
    virtualPoolAmountForShortToken: shortAmount.toString(),
    poolValueMin: (long + short).toString(),
    poolValueMax: (longAmount * prices.long.max + shortAmount * prices.short.max).toString(),
    totalBorrowingFees: '0',
    longInterestUsd: interestUsd(settings, state, 'long').toString(),
    shortInterestUsd: interestUsd(settings, state, 'short').toString(),
    longInterestInTokens: interestInTokens(settings, state, 'long').toString(),
    shortInterestInTokens: interestInTokens(settings, state, 'short').toString(),
    virtualInventoryForPositions: state.virtualInventory.usd.toString(),
    virtualInventoryForPositionsInTokens: state.virtualInventory.tokens.toString(),
    borrowingFactorPerSecondForLongs: rates.borrowing.long.toString(),
    borrowingFactorPerSecondForShorts: rates.borrowing.short.toString(),
    fundingFactorPerSecond: rates.fundingFactorPerSecond.toString(),
    longsPayShorts: rates.longsPayShorts,
  }
  for (const side of ['long', 'short'] as const) {
    for (const slot of [0, 1] as const) {
      const suffix = slot === 0 ? 'UsingLongToken' : 'UsingShortToken'
      row[`${side}InterestUsd${suffix}`] = slotValue(settings, state[side].interestUsd, slot).toString()
      row[`${side}InterestInTokens${suffix}`] = slotValue(
        settings,
        state[side].interestInTokens,
        slot,
      ).toString()
    }
  }
  return row
}

/** Tells whether the values of a market, or of all markets, are no longer refreshed. */
export function hasStaleValues({ dataFaults }: VenueState, market: VenueMarket): boolean {
  return dataFaults.marketData === 'stale' || namesMarket(dataFaults.staleValues, market.key)
}

/** Wire form of a capacity, with the state of the data behind it. */
export function capacityJson(
  venueState: VenueState,
  market: VenueMarket,
  capacity: Capacity,
): Record<string, Json> {
  return {
    availableLiquidity: capacity.availableLiquidity.toString(),
    baseAvailableLiquidity: capacity.baseAvailableLiquidity.toString(),
    jitAvailableLiquidity: capacity.jitAvailableLiquidity.toString(),
    limitingFactor: capacity.limitingFactor,
    jitDataStatus: venueState.dataFaults.jitData,
    marketDataStatus: hasStaleValues(venueState, market) ? 'stale' : 'fresh',
  }
}

/** Capacity of a market side now. */
export function capacityOfMarket(venueState: VenueState, market: VenueMarket, side: Side): Capacity {
  const seconds = Math.floor(venueState.clock.now() / 1000)
  return capacityAt(venueState, market, side, marketPrices(venueState, market, seconds), seconds)
}

/** `/markets/tickers` row. */
export function tickerRow(venueState: VenueState, market: VenueMarket, nowMs: number): Json {
  const { settings, state } = market
  const seconds = Math.floor(nowMs / 1000)
  const prices = marketPrices(venueState, market, seconds)
  const scale = settings.isSpotOnly ? 0n : scaleOf(market.indexToken)
  const mark = mid(prices.index) * scale
  const day = dayOf(venueState, market, seconds)
  const rates = hourlyRates(market, prices)
  const inTokens = {
    long: interestInTokens(settings, state, 'long'),
    short: interestInTokens(settings, state, 'short'),
  }
  const change = (day.close - day.open) * scale
  return {
    symbol: market.catalog.symbol,
    marketTokenAddress: market.catalog.marketToken,
    minPrice: (prices.index.min * scale).toString(),
    maxPrice: (prices.index.max * scale).toString(),
    markPrice: mark.toString(),
    high24h: (day.high * scale).toString(),
    low24h: (day.low * scale).toString(),
    open24h: (day.open * scale).toString(),
    close24h: (day.close * scale).toString(),
    priceChange24h: change.toString(),
    priceChangePercent24hBps: (day.open === 0n
      ? 0n
      : ((day.close - day.open) * 10_000n) / day.open
    ).toString(),
    longInterestInTokens: inTokens.long.toString(),
    shortInterestInTokens: inTokens.short.toString(),
    longInterestUsd: interestUsd(settings, state, 'long').toString(),
    shortInterestUsd: interestUsd(settings, state, 'short').toString(),
    longInterestUsdMark: (inTokens.long * mid(prices.index)).toString(),
    shortInterestUsdMark: (inTokens.short * mid(prices.index)).toString(),
    availableLiquidityLong: legacyAvailableLiquidity(settings, state, 'long', prices).toString(),
    availableLiquidityShort: legacyAvailableLiquidity(settings, state, 'short', prices).toString(),
    poolAmountLongUsd: (slotValue(settings, state.pool, 0) * mid(prices.long)).toString(),
    poolAmountShortUsd: (slotValue(settings, state.pool, 1) * mid(prices.short)).toString(),
    fundingRateLong: rates.funding.long.toString(),
    fundingRateShort: rates.funding.short.toString(),
    borrowingRateLong: rates.borrowing.long.toString(),
    borrowingRateShort: rates.borrowing.short.toString(),
    netRateLong: (rates.funding.long - rates.borrowing.long).toString(),
    netRateShort: (rates.funding.short - rates.borrowing.short).toString(),
    capacityLong: capacityJson(venueState, market, capacityAt(venueState, market, 'long', prices, seconds)),
    capacityShort: capacityJson(venueState, market, capacityAt(venueState, market, 'short', prices, seconds)),
  }
}

/** Rates per hour as tickers show them; funding negative = that side pays. */
export function hourlyRates(
  market: VenueMarket,
  prices: MarketPrices,
): {
  readonly funding: { readonly [side in Side]: bigint }
  readonly borrowing: { readonly [side in Side]: bigint }
} {
  const { settings, state } = market
  const rates = ratesOf(market, prices)
  const rate = rates.fundingFactorPerSecond
  const paying: Side = rates.longsPayShorts ? 'long' : 'short'
  const receiving: Side = rates.longsPayShorts ? 'short' : 'long'
  const payingUsd = balanceInterest(settings, state, paying, prices)
  const receivingUsd = balanceInterest(settings, state, receiving, prices)
  const received = receivingUsd === 0n ? 0n : ((rate * payingUsd) / receivingUsd) * 3600n
  const funding = { long: 0n, short: 0n }
  funding[paying] = -rate * 3600n
  funding[receiving] = received
  return {
    funding,
    borrowing: { long: rates.borrowing.long * 3600n, short: rates.borrowing.short * 3600n },
  }
}
