/**
 * What the venue and the oracle say besides orders: catalogue, tokens, prices, capacity, and the account's positions and
 * wallet as a peer's indexer has seen them. Capacity and prices move by themselves; what was said of capacity is kept, so
 * that an order can be held against it.
 */

import { epochMs, type Timeline } from '../../src/backtest/lab/timeline.ts'
import type { Address, Hex } from '../../src/protocol/address.ts'
import type { ShippedFacts } from '../../src/protocol/catalogue.ts'
import { shippedFacts } from '../../src/protocol/chains/pins.ts'
import type { Direction, TradingCapacity } from '../../src/protocol/market.ts'
import { usd } from '../../src/protocol/units.ts'
import { usdc, weth } from '../support/intents.ts'
import type { ModelChain, ModelLog } from './chainModel.ts'
import { markets as marketTokens } from './intentsOf.ts'
import { configRow, parsed, usableOf } from './marketAnswers.ts'
import type { PriceWalk } from './priceWalk.ts'
import type { Random } from './random.ts'
import type { Peer } from './venuePeers.ts'

/** The oracle of every world. */
export const oracleHost = 'http://oracle.test'

interface ModelToken {
  readonly symbol: string
  readonly address: Address
  readonly decimals: number
  /** Whole USD. */
  readonly priceUsd: number
}

const usdcToken: ModelToken = { symbol: 'USDC', address: usdc, decimals: 6, priceUsd: 1 }
const indexTokens: readonly ModelToken[] = [
  { symbol: 'WETH', address: weth, decimals: 18, priceUsd: 1_800 },
  { symbol: 'WBTC', address: '0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f', decimals: 8, priceUsd: 60_000 },
  { symbol: 'SOL', address: '0x2bcC6D6CdBbDC0a4071e48bb3B969b06B3330c07', decimals: 9, priceUsd: 150 },
]

/** A market of the modelled venue. */
export interface ModelMarket {
  readonly symbol: string
  readonly marketToken: Hex
  readonly index: ModelToken
}

/** The markets of every world. */
export const modelMarkets: readonly ModelMarket[] = indexTokens.map((index, at) => ({
  symbol: `${index.symbol.replace(/^W/, '')}/USD [${index.symbol}-USDC]`,
  marketToken: marketTokens[at] as Hex,
  index,
}))

/** The modelled venue's own facts, in the place of those that are shipped. */
export const modelFacts: ShippedFacts = shippedFacts({
  about: 'the modelled venue',
  printedOn: '2026-11-22',
  tokens: [usdcToken, ...indexTokens].map(({ symbol, address, decimals }) => ({
    symbol,
    address,
    decimals,
    isStable: symbol === 'USDC',
    ...(symbol.startsWith('W') ? { baseSymbol: symbol.slice(1) } : {}),
  })),
  markets: modelMarkets.map(({ symbol, marketToken, index }) => ({
    symbol,
    marketToken,
    indexToken: index.address,
    longToken: index.address,
    shortToken: usdc,
  })),
})

const directions: readonly Direction[] = ['long', 'short']
/** Legacy liquidity ignores JIT and open interest: far more than there is. */
const legacyUsd = usd(1_000_000)
const walletUsdc = 100_000n * 10n ** 6n
const stepMs = 5_000

/** What a host said that one side can take. */
interface Saying {
  readonly atMs: number
  readonly marketToken: Hex
  readonly direction: Direction
  readonly usableUsd: bigint
}

/** The services of a world. */
export interface MarketModel {
  /** An answer's body; undefined for a route that is not of these. */
  reply(peer: Peer, path: string, query: URLSearchParams): unknown
  /** What left as the answer to a question for capacity. */
  heard(path: string, query: URLSearchParams, text: string): void
  /** The most that a host said in that time that this side can take, USD; undefined when none said anything. */
  saidUsd(marketToken: string, direction: Direction, fromMs: number, untilMs: number): bigint | undefined
  /** Tokens leave the wallet: the account loses. Whole USD. */
  lose(lossUsd: number): void
  readonly lostUsd: number
}

/** Makes the services of a world. */
export function createMarketModel(parts: {
  readonly timeline: Timeline
  readonly chain: ModelChain
  readonly random: Random
  readonly account: Address
  /** Sides take all that is asked. */
  readonly isDeep: boolean
  /** Absent: all markets share a quiet walk. */
  readonly prices?: PriceWalk
}): MarketModel {
  const { timeline, chain, random, account, prices, isDeep } = parts
  const capacities = new Map<string, TradingCapacity>()
  const sayings: Saying[] = []
  let priceStepBps = 0
  let lostUsd = 0

  function step(): void {
    priceStepBps = Math.max(-100, Math.min(100, priceStepBps + random.int(-10, 10)))
    for (const { marketToken } of modelMarkets) {
      for (const direction of directions) {
        const key = `${marketToken} ${direction}`
        if (capacities.has(key) && !random.chance(0.3)) continue
        const baseAvailableLiquidity = usd(isDeep ? 500_000 : random.pick([0, 200, 900, 2_500, 5_000]))
        const jitAvailableLiquidity = usd(random.pick([0, 500, 4_000]))
        capacities.set(key, {
          availableLiquidity: baseAvailableLiquidity + jitAvailableLiquidity,
          baseAvailableLiquidity,
          jitAvailableLiquidity,
          limitingFactor: 'reserve',
          jitDataStatus: random.pick(['available', 'available', 'available', 'stale', 'unavailable']),
          marketDataStatus: isDeep || random.chance(0.9) ? 'fresh' : 'stale',
        })
      }
    }
    timeline.after(stepMs, step)
  }
  step()

  const capacityOf = (marketToken: string, direction: Direction) =>
    capacities.get(`${marketToken} ${direction}`) as TradingCapacity

  /** USD of a whole token with 30 decimals. */
  const priceOf = (token: ModelToken): bigint => {
    if (token === usdcToken) return usd(1)
    const market = modelMarkets.find(({ index }) => index === token)
    return prices === undefined || market === undefined
      ? (usd(token.priceUsd) * BigInt(10_000 + priceStepBps)) / 10_000n
      : prices.priceOf(market.marketToken)
  }

  const seenBy = (peer: Peer) => (log: ModelLog) =>
    log.block.timestampSeconds <= chain.timeAt(timeline.nowMs - peer.lagMs)

  const nowSeconds = (peer: Peer) => Math.floor((epochMs + timeline.nowMs + peer.skewMs) / 1000)

  function tokenRow(token: ModelToken): unknown {
    const price = priceOf(token)
    return {
      symbol: token.symbol,
      address: token.address,
      decimals: token.decimals,
      isStable: token === usdcToken,
      prices: { minPrice: price, maxPrice: price },
    }
  }

  function marketRow({ symbol, marketToken, index }: ModelMarket): unknown {
    return {
      symbol,
      marketTokenAddress: marketToken,
      indexTokenAddress: index.address,
      longTokenAddress: index.address,
      shortTokenAddress: usdc,
      isListed: true,
      isSpotOnly: false,
      minPositionSizeUsd: usd(1),
      minCollateralUsd: usd(1),
      leverageTiers: [],
    }
  }

  function tickerRow({ symbol, marketToken, index }: ModelMarket): unknown {
    const price = priceOf(index)
    return {
      symbol,
      marketTokenAddress: marketToken,
      minPrice: price,
      maxPrice: price,
      markPrice: price,
      longInterestUsd: '0',
      shortInterestUsd: '0',
      fundingRateLong: '0',
      fundingRateShort: '0',
      borrowingRateLong: '0',
      borrowingRateShort: '0',
      availableLiquidityLong: legacyUsd,
      availableLiquidityShort: legacyUsd,
      capacityLong: capacityOf(marketToken, 'long'),
      capacityShort: capacityOf(marketToken, 'short'),
    }
  }

  function positionRows(peer: Peer): readonly unknown[] {
    const isSeen = seenBy(peer)
    return modelMarkets.flatMap((market) =>
      directions.flatMap((direction) => {
        const sizeInUsd = chain.canonical.heldUsd(market.marketToken, direction, isSeen)
        if (sizeInUsd === 0n) return []
        return [positionRow(market, direction, sizeInUsd, isSeen)]
      }),
    )
  }

  function positionRow(
    { marketToken, index }: ModelMarket,
    direction: Direction,
    sizeInUsd: bigint,
    isSeen: (log: ModelLog) => boolean,
  ): unknown {
    const moves = chain.canonical.logs.filter((log) => {
      const spec = chain.canonical.orders.get(log.orderKey)?.spec
      return (
        log.movedUsd !== undefined &&
        spec?.marketToken === marketToken &&
        spec.direction === direction &&
        isSeen(log)
      )
    })
    const newest = (isIncrease: boolean) =>
      moves.findLast(({ orderKey }) => {
        const type = chain.canonical.orders.get(orderKey)?.spec.orderType ?? 0
        return (type === 2 || type === 3 || type === 8) === isIncrease
      })?.block.timestampSeconds ?? 0
    const collateralUsd = sizeInUsd / 2n
    const price = priceOf(index)
    const entryPrice = entryOf(moves) ?? price
    return {
      key: `${account}:${marketToken}:${usdc}:${direction === 'long'}`,
      contractKey: `0x${'0'.repeat(63)}${direction === 'long' ? '1' : '2'}`,
      account,
      marketAddress: marketToken,
      collateralTokenAddress: usdc,
      isLong: direction === 'long',
      sizeInUsd,
      sizeInTokens: (sizeInUsd * 10n ** BigInt(index.decimals)) / entryPrice,
      collateralAmount: collateralUsd / 10n ** 24n,
      collateralUsd,
      remainingCollateralUsd: collateralUsd,
      markPrice: price,
      entryPrice,
      pnl: '0',
      pnlAfterFees: '0',
      netValue: collateralUsd,
      increasedAtTime: newest(true),
      decreasedAtTime: newest(false),
    }
  }

  /** Average price of what is held after these moves, USD per whole token; undefined where nobody told any. */
  function entryOf(moves: readonly ModelLog[]): bigint | undefined {
    if (prices === undefined) return undefined
    const one = 10n ** 30n
    let [sizeUsd, tokens] = [0n, 0n]
    for (const { orderKey, movedUsd = 0n, price } of moves) {
      if (isPaying(chain.canonical.orders.get(orderKey)?.spec.orderType ?? 0)) {
        sizeUsd += movedUsd
        tokens += price === undefined ? 0n : (movedUsd * one) / price
      } else if (sizeUsd > 0n) {
        tokens -= (tokens * movedUsd) / sizeUsd
        sizeUsd -= movedUsd
      }
    }
    return sizeUsd <= 0n || tokens <= 0n ? undefined : (sizeUsd * one) / tokens
  }

  /** What is left in the wallet when positions and waiting orders hold half of their size each. */
  function balanceRows(peer: Peer): readonly unknown[] {
    const isSeen = seenBy(peer)
    let heldUsd = 0n
    for (const { marketToken } of modelMarkets)
      for (const direction of directions)
        heldUsd += chain.canonical.heldUsd(marketToken, direction, isSeen) / 2n
    for (const { spec, state, created, newest } of chain.canonical.orders.values()) {
      const hasEnded = (state === 'executed' || state === 'cancelled') && isSeen(newest)
      if (isPaying(spec.orderType) && isSeen(created) && !hasEnded) heldUsd += spec.sizeDeltaUsd / 2n
    }
    const balance = walletUsdc - BigInt(lostUsd) * 10n ** 6n - heldUsd / 10n ** 24n
    return [{ symbol: 'USDC', address: usdc, decimals: 6, balance }]
  }

  const tokens = [usdcToken, ...indexTokens]

  return {
    get lostUsd() {
      return lostUsd
    },
    lose(moreUsd) {
      lostUsd += moreUsd
    },
    reply(peer, path, query) {
      const isOracle = peer.host === oracleHost
      switch (path) {
        case '/markets':
          return modelMarkets.map(marketRow)
        case '/tokens/info':
          return tokens.map(tokenRow)
        case '/markets/tickers':
          return modelMarkets
            .filter(({ symbol }) => !query.has('symbols') || query.getAll('symbols').includes(symbol))
            .map(tickerRow)
        case '/markets/trading-capacity': {
          const market = modelMarkets.find(({ symbol }) => symbol === query.get('symbol'))
          if (market === undefined) return undefined
          const capacity = capacityOf(market.marketToken, query.get('direction') as Direction)
          // An old field that no size may stand on.
          return { ...capacity, availableLiquidityLong: legacyUsd, availableLiquidityShort: legacyUsd }
        }
        case '/markets/values':
          return modelMarkets.map(({ marketToken }) => ({
            marketTokenAddress: marketToken,
            longInterestUsd: usd(2_000_000),
            shortInterestUsd: usd(1_500_000),
            updatedAt: nowSeconds(peer) * 1000,
          }))
        case '/markets/config':
          return modelMarkets.map((market) => configRow(market, market === modelMarkets[0]))
        case '/positions':
          return positionRows(peer)
        case '/balances/wallet':
          return balanceRows(peer)
        case '/tokens':
          return isOracle ? tokens : undefined
        case '/prices/tickers':
          return tokens.map((token) => {
            const price = priceOf(token) / 10n ** BigInt(token.decimals)
            return {
              tokenSymbol: token.symbol,
              tokenAddress: token.address,
              minPrice: price,
              maxPrice: price,
              updatedAt: nowSeconds(peer),
            }
          })
        case '/markets/state':
          return modelMarkets.map(({ marketToken }) => ({ marketToken, status: 'open' }))
        default:
          return undefined
      }
    },
    heard(path, query, text) {
      if (path !== '/markets/trading-capacity' && path !== '/markets/tickers') return
      const body = parsed(text)
      const say = (marketToken: Hex, direction: Direction, capacity: unknown): void => {
        const usableUsd = usableOf(capacity)
        if (usableUsd !== undefined) sayings.push({ atMs: timeline.nowMs, marketToken, direction, usableUsd })
      }
      for (const { symbol, marketToken } of modelMarkets) {
        if (path === '/markets/trading-capacity') {
          if (query.get('symbol') === symbol) say(marketToken, query.get('direction') as Direction, body)
          continue
        }
        const rows = Array.isArray(body) ? (body as readonly Readonly<Record<string, unknown>>[]) : []
        const row = rows.find((each) => each?.symbol === symbol)
        say(marketToken, 'long', row?.capacityLong)
        say(marketToken, 'short', row?.capacityShort)
      }
    },
    saidUsd(marketToken, direction, fromMs, untilMs) {
      let most: bigint | undefined
      for (let at = sayings.length - 1; at >= 0; at -= 1) {
        const saying = sayings[at] as Saying
        if (saying.atMs > untilMs) continue
        if (saying.atMs < fromMs) break
        if (saying.marketToken.toLowerCase() !== marketToken.toLowerCase() || saying.direction !== direction)
          continue
        if (most === undefined || saying.usableUsd > most) most = saying.usableUsd
      }
      return most
    },
  }
}

function isPaying(orderType: number): boolean {
  return orderType === 2 || orderType === 3 || orderType === 8
}
