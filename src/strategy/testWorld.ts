/** The world of a kind's test: one market with a price and candles, and the positions that the test names. Pure. */
import { defined } from '../base/defined.ts'
import type { OwnPosition } from '../books/ownPositions.ts'
import type { MarketView, Snapshot } from '../domain/snapshot.ts'
import { type Address, hexKey } from '../protocol/address.ts'
import type { Candle, CandlePeriod, Direction, Token, TradingCapacity } from '../protocol/market.ts'
import { amountOfUsd, type Usd, usd } from '../protocol/units.ts'
import { secondsOfPeriod } from './closedCandles.ts'
import { priceOfLevel } from './levels.ts'

/** A position of the instance in a test. */
export interface TestPosition {
  readonly direction: Direction
  readonly sizeUsd: Usd
  /** USD per whole index token; the price of the view when absent. */
  readonly entryPrice?: Usd
}

/** The market and the positions that a test states; everything else is a market that is open, fresh and deep. */
export interface TestWorldParts {
  /** Symbol of the market; `ETH/USD [WETH-USDC]` when absent. */
  readonly symbol?: string
  /** Closes of candles, USD per whole index token, oldest first, the running candle last. No candles when absent. */
  readonly closes?: readonly number[]
  /** Whole candles in place of closes. */
  readonly candles?: readonly Candle[]
  /** Length of a candle; `1m` when absent. */
  readonly period?: CandlePeriod
  /** USD per whole index token; the last close when absent, 2,000 without one. */
  readonly price?: number
  /** Positions of the instance; none when absent. */
  readonly positions?: readonly TestPosition[]
  /** Time of the snapshot, Unix ms, and of all that is read in it. */
  readonly atMs?: number
  /** Parts of the market's view that differ: rates, capacity, status. */
  readonly market?: Partial<MarketView>
}

const [marketToken, weth, usdc, account]: readonly [Address, Address, Address, Address] = [
  '0x70d95587d40a2caf56bd97485ab3eec10bee6336',
  '0x82af49447d8a07e3bd95bd0d56f35241523fbab1',
  '0xaf88d065e77c8cc2239327c5edb3a432268e5831',
  '0x1111111111111111111111111111111111111111',
]
const TEST_AT_MS = 1_800_000_000_000
const plain = { isStable: false, isNative: false, isWrapped: false, isSynthetic: false } as const

/** Makes the snapshot of a test, and the positions of its instance. Throws RangeError for a price that is no positive number. */
export function testWorld(parts: TestWorldParts): {
  readonly symbol: string
  readonly snapshot: Snapshot
  readonly own: readonly OwnPosition[]
} {
  const { symbol = 'ETH/USD [WETH-USDC]', period = '1m', atMs = TEST_AT_MS, positions = [], market } = parts
  const candles = parts.candles ?? candlesOf(parts.closes ?? [], secondsOfPeriod(period), atMs)
  const level = parts.price ?? candles.at(-1)?.close ?? 2_000
  if (!(level > 0 && Number.isFinite(level)))
    throw new RangeError(`testView: the price is ${level}; expected a positive number`)
  const price = priceOfLevel(level)
  const view = {
    ...marketOfTest(symbol, price, atMs),
    candles: { value: { period, candles }, atMs },
    ...market,
  }
  const own = positions.map((position) => ownOf(position, view, price))
  const snapshot: Snapshot = {
    atMs,
    account,
    markets: new Map([[hexKey(view.market.marketToken), view]]),
    positions: { value: own.map((position) => listedOf(position, price, atMs)), atMs },
    orders: { value: [], atMs },
  }
  return { symbol, snapshot, own }
}

function candlesOf(closes: readonly number[], seconds: number, atMs: number): readonly Candle[] {
  const running = Math.floor(atMs / 1_000 / seconds) * seconds
  return closes.map((close, index) => {
    const timestampSeconds = running - (closes.length - 1 - index) * seconds
    return { timestampSeconds, open: close, high: close, low: close, close }
  })
}

/** An open market with fresh readings, rates of 0 and a million dollars free on each side. */
function marketOfTest(symbol: string, price: Usd, atMs: number): MarketView {
  const prices = { minPrice: price, maxPrice: price }
  const [asset = 'ETH'] = symbol.split('/')
  const indexToken: Token = { ...plain, symbol: asset, address: weth, decimals: 18, ...prices }
  const free = usd(1_000_000)
  const capacity: TradingCapacity = {
    ...{ availableLiquidity: free, baseAvailableLiquidity: free, jitAvailableLiquidity: 0n },
    jitDataStatus: 'available',
    marketDataStatus: 'fresh',
  }
  const interest = { longInterestUsd: free, shortInterestUsd: free }
  const funding = { fundingRateLong: 0n, fundingRateShort: 0n, borrowingRateLong: 0n, borrowingRateShort: 0n }
  const updatedAtSeconds = Math.floor(atMs / 1_000)
  return {
    market: {
      ...{ symbol, marketToken, indexToken: weth, longToken: weth, shortToken: usdc },
      ...{ isListed: true, isSpotOnly: false, minPositionSizeUsd: usd(1), minCollateralUsd: usd(1) },
      maxLeverageBps: 1_000_000,
    },
    indexToken,
    longToken: indexToken,
    shortToken: {
      ...{ ...plain, symbol: 'USDC', address: usdc, decimals: 6, isStable: true },
      ...{ minPrice: usd(1), maxPrice: usd(1) },
    },
    status: 'open',
    ticker: { value: { symbol, marketToken, ...prices, markPrice: price, ...interest, ...funding }, atMs },
    oraclePrice: {
      value: { tokenSymbol: asset, tokenAddress: weth, ...prices, medianPrice: price, updatedAtSeconds },
      atMs,
    },
    capacityLong: { value: capacity, atMs },
    capacityShort: { value: capacity, atMs },
  }
}

function ownOf({ direction, sizeUsd, entryPrice }: TestPosition, view: MarketView, price: Usd): OwnPosition {
  const { market, indexToken, shortToken } = view
  return {
    ...{ marketToken: market.marketToken, collateralToken: market.shortToken, direction, sizeInUsd: sizeUsd },
    sizeInTokens: amountOfUsd(sizeUsd, entryPrice ?? price, indexToken.decimals),
    collateralAmount: amountOfUsd(sizeUsd / 2n, usd(1), shortToken.decimals),
    entryPrice: entryPrice ?? price,
    isWhole: true,
  }
}

/** The account's row of a position at 2x, with its liquidation 45 % from the entry. */
function listedOf(own: OwnPosition, price: Usd, atMs: number): Snapshot['positions']['value'][number] {
  const { direction, sizeInUsd, entryPrice = price, marketToken: market, collateralToken } = own
  const sign = direction === 'long' ? 1n : -1n
  const pnlUsd = (sign * sizeInUsd * (price - entryPrice)) / entryPrice
  const collateralUsd = sizeInUsd / 2n
  const netValueUsd = collateralUsd + pnlUsd
  const seconds = Math.floor(atMs / 1_000)
  return {
    positionKey: `${account}:${market}:${collateralToken}:${direction === 'long'}`,
    contractKey: `0x${(direction === 'long' ? '1' : '2').repeat(64)}`,
    ...{ account, marketToken: market, collateralToken, direction, sizeInUsd },
    ...{ sizeInTokens: own.sizeInTokens, collateralAmount: own.collateralAmount, collateralUsd },
    ...{ remainingCollateralUsd: collateralUsd, markPrice: price, entryPrice },
    liquidationPrice: entryPrice - (sign * entryPrice * 45n) / 100n,
    ...{ pnlUsd, pnlAfterFeesUsd: pnlUsd, positionValueInUsd: netValueUsd, netValueUsd },
    ...defined({ leverageBps: netValueUsd > 0n ? (sizeInUsd * 10_000n) / netValueUsd : undefined }),
    ...{ increasedAtSeconds: seconds, decreasedAtSeconds: seconds },
  }
}
