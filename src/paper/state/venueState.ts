/**
 * The one venue behind all hosts: markets, accounts, positions, orders, trades, used digests and work that is due.
 * Plain data with lookups by Map; the files beside this one change it.
 */

import type { Clock } from '../../base/clock.ts'
import { BaseError } from '../../base/errors.ts'
import { type Address, type Hex, hexKey } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import { type BlockChain, createBlockChain } from '../blocks/blockChain.ts'
import { type Candles, createCandles } from '../catalog/candles.ts'
import {
  type CatalogIndex,
  type CatalogToken,
  indexCatalog,
  loadCatalog,
  narrowCatalog,
} from '../catalog/catalog.ts'
import { historyPrices } from '../catalog/historyPrices.ts'
import { createPrices, type Prices } from '../catalog/prices.ts'
import { replayedPrices } from '../catalog/replayedPrices.ts'
import type { MarketPrices, PricePair, Side, Slot } from '../math/marketState.ts'
import { hashText, mix } from '../math/random.ts'
import { type DataFaults, noDataFaults } from './dataFaults.ts'
import { beginFollowing, followSteps } from './followedMarkets.ts'
import { seedMarkets, type VenueMarket } from './seedMarkets.ts'
import type { VenueSettings } from './settings.ts'
import type {
  Account,
  DueWork,
  Operation,
  OrderOutcome,
  OrderRecord,
  PooledTransaction,
  PositionRecord,
  SubaccountState,
  TradeRow,
  Withdrawal,
} from './venueRecords.ts'

/** The venue. */
export interface VenueState {
  readonly chain: Chain
  readonly clock: Clock
  readonly settings: VenueSettings
  /** Deliberate faults in the data; changed at any time. */
  readonly dataFaults: DataFaults
  readonly seed: number
  /** Unix ms at which this process made the venue. */
  readonly startedAtMs: number
  /** Unix seconds at which the venue began; the prices' zero. */
  readonly epochSeconds: number
  readonly catalog: CatalogIndex
  readonly prices: Prices
  readonly candles: Candles
  readonly markets: readonly VenueMarket[]
  readonly marketByKey: ReadonlyMap<string, VenueMarket>
  readonly accounts: Map<string, Account>
  readonly positions: Map<string, PositionRecord>
  readonly positionKeysByAccount: Map<string, Set<string>>
  readonly orders: Map<string, OrderRecord>
  readonly outcomes: Map<string, OrderOutcome>
  readonly operations: Map<string, Operation>
  /** Approvals of session keys by accounts, by `subaccountKey`. */
  readonly subaccounts: Map<string, SubaccountState>
  /** Next approval nonce by lower-case account; absent: 0. */
  readonly approvalNonces: Map<string, bigint>
  /** Withdrawals from GMX accounts, by host and request id. */
  readonly withdrawals: Map<string, Withdrawal>
  /** Balances of GMX accounts by account and token; absent: those of a new one. */
  readonly gmxAccounts: Map<string, bigint>
  readonly usedDigests: Set<string>
  /** Blocks, transactions and logs of what happened. */
  readonly blockChain: BlockChain
  /** Transactions that accounts sent and that wait for a block, by hash, in the order they came (transactionPool.ts). */
  readonly mempool: Map<string, PooledTransaction>
  /** Balances that transactions of accounts left with the protocol's contracts, by contract and token (purse.ts); absent: nothing. */
  readonly contractHoldings: Map<string, bigint>
  readonly trades: TradeRow[]
  /** Rows of the population among the trades, about: counted anew when they are trimmed. */
  populationTrades: number
  /** The population by address. */
  readonly traders: Map<Address, number>
  /** Ascending by time. */
  readonly due: DueWork[]
  /** Counters of things that need a number; saved with the venue. */
  readonly counters: Record<'order' | 'transaction' | 'trade' | 'request' | 'nonce' | 'task' | 'sent', number>
  /** Second up to which triggers and liquidations were looked at. */
  advancedToSeconds: number
  /** Second up to which markets followed their histories. */
  followedToSeconds: number
}

/** Where a venue begins or goes on. */
export interface VenueStateOptions {
  readonly chain: Chain
  readonly clock: Clock
  readonly seed: number
  readonly settings: VenueSettings
  /** Default: nothing wrong. */
  readonly dataFaults?: DataFaults
  /** Unix seconds of the beginning; default now. */
  readonly epochSeconds?: number
}

/** Makes a venue at its beginning. Throws BaseError PAPER_CATALOG_MISSING, PAPER_MARKET_UNKNOWN, PAPER_TOKEN_UNKNOWN. */
export function createVenueState(options: VenueStateOptions): VenueState {
  const { chain, clock, seed } = options
  const nowSeconds = Math.floor(clock.now() / 1000)
  const epochSeconds = options.epochSeconds ?? nowSeconds
  const { onlyMarkets } = options.settings
  const recorded = loadCatalog(chain.name)
  const catalog = indexCatalog(
    onlyMarkets.length === 0 ? recorded : narrowCatalog(recorded, chain.name, onlyMarkets),
  )
  const gasToken = catalog.tokenByAddress.get(hexKey(chain.gasPaymentTokens[0] ?? ''))
  const settings: VenueSettings =
    Object.keys(options.settings.startBalances).length > 0
      ? options.settings
      : {
          ...options.settings,
          startBalances: { [gasToken?.symbol ?? '']: '100000', [chain.nativeSymbol]: '50' },
        }
  for (const symbol of Object.keys(settings.startBalances)) {
    if (catalog.tokenBySymbol.has(symbol)) continue
    throw new BaseError(`The paper venue has no token ${symbol} on ${chain.name}.`, {
      code: 'PAPER_TOKEN_UNKNOWN',
      facts: { symbol, chain: chain.name },
      details: 'Nothing was started. Correct the start balances.',
    })
  }
  const seeded = createPrices({ seed, epochSeconds, catalog })
  const prices = followedPrices(seeded, settings, { epochSeconds, catalog })
  const markets = seedMarkets(catalog, seed, settings, (token) =>
    prices.at(catalog.priceKeyOf(token), epochSeconds),
  )
  for (const market of markets) {
    market.state.fundingUpdatedAtSeconds = epochSeconds
    market.state.borrowingUpdatedAtSeconds = epochSeconds
    const followed = settings.followed.get(market.key)
    if (followed !== undefined) beginFollowing(market, followed, epochSeconds)
  }
  return {
    chain,
    clock,
    settings,
    dataFaults: options.dataFaults ?? noDataFaults(),
    seed,
    startedAtMs: clock.now(),
    epochSeconds,
    catalog,
    prices,
    candles: createCandles(prices),
    markets,
    marketByKey: new Map(markets.map((market) => [market.key, market])),
    accounts: new Map(),
    positions: new Map(),
    positionKeysByAccount: new Map(),
    orders: new Map(),
    outcomes: new Map(),
    operations: new Map(),
    subaccounts: new Map(),
    approvalNonces: new Map(),
    withdrawals: new Map(),
    gmxAccounts: new Map(),
    usedDigests: new Set(),
    blockChain: createBlockChain({
      chain: chain.name,
      seed,
      epochSeconds,
      blockTimeMs: settings.blockTimeMs,
      gasPriceWei: Number(settings.gasPriceWei),
    }),
    mempool: new Map(),
    contractHoldings: new Map(),
    trades: [],
    populationTrades: 0,
    traders: new Map(),
    due: [],
    counters: { order: 0, transaction: 0, trade: 0, request: 0, nonce: 0, task: 0, sent: 0 },
    advancedToSeconds: nowSeconds,
    followedToSeconds: nowSeconds,
  }
}

/** The seeded prices, or those that a file or a history puts over them. */
function followedPrices(
  seeded: Prices,
  { replay, history }: VenueSettings,
  world: { readonly epochSeconds: number; readonly catalog: CatalogIndex },
): Prices {
  if (history !== undefined) return historyPrices(seeded, history, world.catalog)
  return replay === undefined ? seeded : replayedPrices(seeded, replay, world)
}

/** Contract prices of a token at a Unix second. Throws RangeError for a token without a price: a mistake of ours. */
export function tokenPrice(venueState: VenueState, token: CatalogToken, seconds: number): PricePair {
  const price = venueState.prices.at(venueState.catalog.priceKeyOf(token), seconds)
  if (price === undefined) throw new RangeError(`no price of ${token.symbol}`)
  return price
}

/** Contract prices of a market's three tokens at a Unix second. */
export function marketPrices(venueState: VenueState, market: VenueMarket, seconds: number): MarketPrices {
  return {
    index: market.settings.isSpotOnly
      ? { min: 1n, max: 1n }
      : tokenPrice(venueState, market.indexToken, seconds),
    long: tokenPrice(venueState, market.longToken, seconds),
    short: tokenPrice(venueState, market.shortToken, seconds),
  }
}

/** Has the markets follow their histories up to a Unix second. To be called before anything happens at that second. */
export function followMarkets(venueState: VenueState, toSecond: number): void {
  const afterSecond = venueState.followedToSeconds
  if (toSecond <= afterSecond) return
  venueState.followedToSeconds = toSecond
  for (const [key, followed] of venueState.settings.followed) {
    const market = venueState.marketByKey.get(key)
    if (market === undefined) continue
    followSteps(market, followed, { afterSecond, toSecond }, (second) =>
      marketPrices(venueState, market, second),
    )
  }
}

/** The token of a slot of a market. */
export function slotToken(market: VenueMarket, slot: Slot): CatalogToken {
  return slot === 0 ? market.longToken : market.shortToken
}

/** The slot of a collateral token, or undefined when the market does not take it. */
export function slotOf(market: VenueMarket, token: Address): Slot | undefined {
  const key = hexKey(token)
  if (key === hexKey(market.longToken.address)) return 0
  return key === hexKey(market.shortToken.address) ? 1 : undefined
}

/** Side of a flag. */
export function sideOf(isLong: boolean): Side {
  return isLong ? 'long' : 'short'
}

/** Adds work, keeping the order of time; equal times keep the order of arrival. */
export function schedule(venueState: VenueState, work: DueWork): void {
  const { due } = venueState
  let at = 0
  let end = due.length
  while (at < end) {
    const middle = (at + end) >>> 1
    if ((due[middle] as DueWork).atMs > work.atMs) end = middle
    else at = middle + 1
  }
  due.splice(at, 0, work)
}

const madeBytes = Buffer.alloc(32)

/** 32 bytes that look like a hash, repeatable: from the chain, the seed, the start, a word and a number. Never all digits. */
export function madeHash(venueState: VenueState, word: string, counter: number): Hex {
  const base = hashText(
    `${venueState.chain.name}:${venueState.seed}:${venueState.epochSeconds}:${word}:${counter}`,
  )
  for (let i = 0; i < 8; i += 1) {
    madeBytes.writeUInt32BE(mix(base ^ Math.imul(i + 1, 0x9e3779b1) ^ Math.imul(counter, i * 2 + 1)), i * 4)
  }
  return `0x${madeBytes.toString('hex')}`
}

/** Hash of the next transaction. */
export function nextTransactionHash(venueState: VenueState): Hex {
  venueState.counters.transaction += 1
  return madeHash(venueState, 'transaction', venueState.counters.transaction)
}
