/** Market data of a trial's venue at a moment: facts of the chain, and the prices, rates and capacity of a situation. */

import { defined } from '../../base/defined.ts'
import type { MarketView } from '../../domain/snapshot.ts'
import type { Catalog } from '../../paper/catalog/catalog.ts'
import { type Address, hexKey } from '../../protocol/address.ts'
import { type Facts, tokensOfMarket } from '../../protocol/catalogue.ts'
import type {
  Candle,
  CandlePeriod,
  OraclePrice,
  Ticker,
  Token,
  TradingCapacity,
} from '../../protocol/market.ts'
import { bps, ONE_USD, priceOfContractPrice, USD_DECIMALS, type Usd, usd } from '../../protocol/units.ts'
import { secondsOfPeriod } from '../../strategy/indicators.ts'
import { levelOfPrice } from '../../strategy/levels.ts'
import type { CandleNeed } from '../../strategy/strategy.ts'
import { priceFactor, type Situation } from './situations.ts'

/** A market of a trial. */
export interface TrialMarket {
  readonly symbol: string
  readonly marketToken: Address
  readonly index: TrialToken
  readonly long: TrialToken
  readonly short: TrialToken
}

/** A token with the price that a trial begins about at. */
export interface TrialToken {
  readonly token: Token
  /** Asset whose price it follows: wrapped forms follow one asset. */
  readonly asset: string
  readonly basePrice: Usd
}

/** The clock of a trial: a step is one turn. */
export interface TrialClock {
  /** Unix seconds of the first turn. */
  readonly startSeconds: number
  readonly stepSeconds: number
}

/** The market of that symbol, or undefined when the chain's facts or the sample prices lack it. */
export function trialMarket(
  symbol: string,
  { markets, tokens }: Facts,
  samplePrices: Catalog['samplePrices'],
): TrialMarket | undefined {
  const facts = [...markets.values()].find((each) => each.symbol === symbol)
  const three = facts && tokensOfMarket(facts, tokens)
  if (three?.index === undefined) return undefined
  const priced = [three.index, three.long, three.short].flatMap((token): TrialToken[] => {
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

const FACTOR = 1_000_000_000_000

/** Prices and views of a situation. */
export interface TrialPrices {
  /** Median, USD per whole token, at a step or between two. */
  at(token: TrialToken, step: number): Usd
  /** A market as it is told at a step: with the data of an earlier one while they are stale. */
  view(market: TrialMarket, step: number, needs: readonly CandleNeed[]): MarketView
}

/** Makes them; `firstAsset` follows the situation whole. */
export function createTrialPrices(situation: Situation, firstAsset: string, clock: TrialClock): TrialPrices {
  const { startSeconds, stepSeconds } = clock
  const known = new Map<string, Candle>()

  function at({ token, asset, basePrice }: TrialToken, step: number): Usd {
    if (token.isStable) return basePrice
    const factor = priceFactor(situation, asset, asset === firstAsset, stepSeconds, step)
    return (basePrice * BigInt(Math.round(factor * FACTOR))) / BigInt(FACTOR)
  }

  const stepOf = (seconds: number) => (seconds - startSeconds) / stepSeconds
  const msOf = (step: number) => (startSeconds + step * stepSeconds) * 1000

  function candle(index: TrialToken, fromSeconds: number, toSeconds: number): Candle {
    const key = `${index.asset}:${fromSeconds}:${toSeconds}`
    const earlier = known.get(key)
    if (earlier !== undefined) return earlier
    const parts = toSeconds === fromSeconds ? 0 : 8
    const levels = Array.from({ length: parts + 1 }, (_, part) => {
      const seconds = fromSeconds + ((toSeconds - fromSeconds) * part) / Math.max(1, parts)
      // A candle ends before the next begins: a jump is between them.
      return levelOfPrice(at(index, stepOf(part === parts && parts > 0 ? seconds - 0.001 : seconds)))
    })
    const made = {
      timestampSeconds: fromSeconds,
      open: levels[0] ?? 0,
      high: Math.max(...levels),
      low: Math.min(...levels),
      close: levels.at(-1) ?? 0,
    }
    known.set(key, made)
    return made
  }

  function candles(index: TrialToken, period: CandlePeriod, limit: number, step: number): readonly Candle[] {
    const length = secondsOfPeriod(period)
    const now = startSeconds + step * stepSeconds
    const running = Math.floor(now / length) * length
    return Array.from({ length: limit }, (_, back) => {
      const from = running - (limit - 1 - back) * length
      return candle(index, from, Math.min(now, from + length))
    })
  }

  return {
    at,
    view(market, step, needs) {
      const [from, to] = situation.staleSteps ?? [TRIAL_END, TRIAL_END]
      const seen = step > from && step < to ? from : step
      const atMs = msOf(seen)
      const price = at(market.index, seen)
      const capacity = capacityOf(situation.isFull === true)
      const reading = <T>(value: T) => ({ value, atMs })
      const [first, ...more] = needs
        .filter(({ symbol }) => symbol === market.symbol)
        .map(({ period, limit }) => reading({ period, candles: candles(market.index, period, limit, seen) }))
      const told = (token: TrialToken): Token => ({ ...token.token, ...spread(at(token, seen)) })
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
        ticker: reading(tickerOf(market, price, seen)),
        oraclePrice: reading(oraclePriceOf(market, price, atMs)),
        capacityLong: reading(capacity),
        capacityShort: reading(capacity),
        ...defined({ candles: first }),
        ...(more.length === 0 ? {} : { moreCandles: more }),
      }
    },
  }
}

const TRIAL_END = Number.POSITIVE_INFINITY

/** Least and most of a price. */
export function spread(price: Usd): { readonly minPrice: Usd; readonly maxPrice: Usd } {
  return { minPrice: price - bps(price, HALF_SPREAD_BPS), maxPrice: price + bps(price, HALF_SPREAD_BPS) }
}

function oraclePriceOf({ index: { token } }: TrialMarket, price: Usd, atMs: number): OraclePrice {
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

function tickerOf({ symbol, marketToken }: TrialMarket, price: Usd, step: number): Ticker {
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
