/** Market data of a path's venue at a moment: facts of the chain, rates that swing, and capacity. */

import type { MarketView } from '../../src/domain/snapshot.ts'
import type { Catalog } from '../../src/paper/catalog/catalog.ts'
import { type Address, hexKey } from '../../src/protocol/address.ts'
import { type Facts, tokensOfMarket } from '../../src/protocol/catalogue.ts'
import type { OraclePrice, Ticker, Token, TradingCapacity } from '../../src/protocol/market.ts'
import { bps, ONE_USD, priceOfContractPrice, USD_DECIMALS, type Usd, usd } from '../../src/protocol/units.ts'

/** A market of a path. */
export interface PathMarket {
  readonly symbol: string
  readonly marketToken: Address
  readonly index: PathToken
  readonly long: PathToken
  readonly short: PathToken
}

/** A token with the price about which a path begins. */
export interface PathToken {
  readonly token: Token
  /** Asset whose price it follows: wrapped forms follow one asset. */
  readonly asset: string
  readonly basePrice: Usd
}

/** The market of that symbol, or undefined when the chain's facts or the sample prices lack it. */
export function pathMarketOf(
  symbol: string,
  { markets, tokens }: Facts,
  samplePrices: Catalog['samplePrices'],
): PathMarket | undefined {
  const facts = [...markets.values()].find((each) => each.symbol === symbol)
  const three = facts && tokensOfMarket(facts, tokens)
  if (three?.index === undefined) return undefined
  const priced = [three.index, three.long, three.short].flatMap((token): PathToken[] => {
    const sample = samplePrices.find(({ address }) => hexKey(address) === hexKey(token.address))
    if (sample === undefined && !token.isStable) return []
    const basePrice =
      sample === undefined ? ONE_USD : priceOfContractPrice(BigInt(sample.min), token.decimals)
    return [{ token, asset: (token.baseSymbol ?? token.symbol).toUpperCase(), basePrice }]
  })
  const [index, long, short] = priced
  if (facts === undefined || index === undefined || long === undefined || short === undefined)
    return undefined
  return { symbol, marketToken: facts.marketToken, index, long, short }
}

/** Half of the spread of prices, bps. */
const HALF_SPREAD_BPS = 1

/** A market at a step of a path, at the price that it began with. */
export function plainView(market: PathMarket, step: number, atMs: number, isFull: boolean): MarketView {
  const capacity = capacityOf(isFull)
  const reading = <T>(value: T) => ({ value, atMs })
  const price = market.index.basePrice
  const told = ({ token, basePrice }: PathToken): Token => ({ ...token, ...spread(basePrice) })
  return {
    market: {
      symbol: market.symbol,
      marketToken: market.marketToken,
      indexToken: market.index.token.address,
      longToken: market.long.token.address,
      shortToken: market.short.token.address,
      isListed: true,
      isSpotOnly: false,
      minPositionSizeUsd: usd(1),
      minCollateralUsd: usd(1),
      maxLeverageBps: 1_000_000,
    },
    indexToken: told(market.index),
    longToken: told(market.long),
    shortToken: told(market.short),
    status: 'open',
    ticker: reading(tickerOf(market, price, step)),
    oraclePrice: reading(oraclePriceOf(market, price, atMs)),
    capacityLong: reading(capacity),
    capacityShort: reading(capacity),
  }
}

/** Least and most of a price. */
export function spread(price: Usd): { readonly minPrice: Usd; readonly maxPrice: Usd } {
  return { minPrice: price - bps(price, HALF_SPREAD_BPS), maxPrice: price + bps(price, HALF_SPREAD_BPS) }
}

function oraclePriceOf({ index: { token } }: PathMarket, price: Usd, atMs: number): OraclePrice {
  return {
    tokenSymbol: token.symbol,
    tokenAddress: token.address,
    ...spread(price),
    medianPrice: price,
    updatedAtSeconds: Math.floor(atMs / 1000),
  }
}

/** Most that the funding of a side is, bps of its size a day; it goes from one side to the other and back. */
const FUNDING_BPS_PER_DAY = 40
const FUNDING_STEPS = 120
const BORROWING_BPS_PER_DAY = 2

function tickerOf({ symbol, marketToken }: PathMarket, price: Usd, step: number): Ticker {
  const funding = Math.round(FUNDING_BPS_PER_DAY * 1000 * Math.sin((2 * Math.PI * step) / FUNDING_STEPS))
  const borrowing = hourly(BORROWING_BPS_PER_DAY * 1000)
  return {
    symbol,
    marketToken,
    ...spread(price),
    markPrice: price,
    longInterestUsd: usd(5_000_000),
    shortInterestUsd: usd(5_000_000),
    fundingRateLong: hourly(funding),
    fundingRateShort: hourly(-funding),
    borrowingRateLong: borrowing,
    borrowingRateShort: borrowing,
  }
}

/** A factor an hour with 30 decimals, of thousandths of basis points a day. */
function hourly(milliBpsPerDay: number): bigint {
  return (BigInt(milliBpsPerDay) * 10n ** BigInt(USD_DECIMALS)) / 240_000_000n
}

function capacityOf(isFull: boolean): TradingCapacity {
  const availableLiquidity = isFull ? 0n : usd(5_000_000)
  return {
    availableLiquidity,
    baseAvailableLiquidity: availableLiquidity,
    jitAvailableLiquidity: 0n,
    limitingFactor: 'reserve',
    jitDataStatus: 'available',
    marketDataStatus: 'fresh',
  }
}
