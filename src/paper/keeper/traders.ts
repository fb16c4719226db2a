/**
 * Other traders: a seeded population that trades against the same pools, with accounts, orders and a keeper like anybody
 * else, so that open interest, funding, capacity and impact move by themselves.
 *
 * What a trader does at its n-th turn is a pure function of (chain, seed, trader, n) and of the venue at that moment;
 * when the turn comes is decided at the turn before. Their money comes from outside whenever theirs runs out.
 */
import { getAddress } from 'viem/utils'
import { type Address, hexKey, ZERO_ADDRESS, ZERO_HASH } from '../../protocol/address.ts'
import { type CreateOrderParams, orderKeyOf } from '../../protocol/signing/relayRouter.ts'
import { MAX_UINT256 } from '../../protocol/units.ts'
import { mine } from '../blocks/blockChain.ts'
import { tradingCapacity } from '../math/capacity.ts'
import { mid, type Side } from '../math/marketState.ts'
import { hashText, mix, unit } from '../math/random.ts'
import { accountOf, positionsOfAccount } from '../state/accounts.ts'
import { isOpenAt } from '../state/hours.ts'
import { orderTypes } from '../state/orderTypes.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import type { OrderRecord, PositionRecord } from '../state/venueRecords.ts'
import {
  marketPrices,
  nextTransactionHash,
  schedule,
  slotToken,
  tokenPrice,
  type VenueState,
} from '../state/venueState.ts'
import { recordTrade } from './tradeRecords.ts'

/** Markets the population trades: the deepest ones. */
const MAIN_MARKETS = 8
/** Positions one trader holds at most. */
const MAX_POSITIONS = 2
/** Mean pause between two turns of the busiest and the laziest trader, seconds. */
const SHORTEST_PAUSE = 90
const LONGEST_PAUSE = 1500
/** Look-back of traders who follow the price, seconds. */
const TREND_SECONDS = 600
/** Duration of a market's mood, seconds. */
const MOOD_SECONDS = 2700
/** Part of the free capacity that one order takes at most. */
const CAPACITY_SHARE = 20n
/** Seconds between two looks at a trader's position for liquidation; everybody else's are looked at every second. */
const LIQUIDATION_LOOK_SECONDS = 120
const DOLLAR = 10n ** 30n
/** `multicall(bytes[])` of the exchange router with no calls: the population's orders show no more of themselves. */
const MULTICALL = `0xac9650d8${'20'.padStart(64, '0')}${'0'.repeat(64)}` as const

const mainMarkets = new WeakMap<VenueState, readonly VenueMarket[]>()

function marketsOf(venueState: VenueState): readonly VenueMarket[] {
  const known = mainMarkets.get(venueState)
  if (known !== undefined) return known
  const depth = (market: VenueMarket): bigint => {
    const prices = marketPrices(venueState, market, venueState.epochSeconds)
    return market.state.pool[0] * prices.long.min + market.state.pool[1] * prices.short.min
  }
  const deepest = venueState.markets
    .filter(({ settings }) => !settings.isSpotOnly)
    .map((market) => ({ market, depth: depth(market) }))
    .sort((one, other) => (one.depth > other.depth ? -1 : one.depth < other.depth ? 1 : 0))
    .slice(0, MAIN_MARKETS)
    .map(({ market }) => market)
  mainMarkets.set(venueState, deepest)
  return deepest
}

function streamOf(venueState: VenueState, trader: number): number {
  return hashText(`${venueState.chain.name}:${venueState.seed}:trader:${trader}`)
}

function addressOf(venueState: VenueState, trader: number): Address {
  const stream = streamOf(venueState, trader)
  let hex = ''
  for (let i = 0; i < 5; i += 1) {
    hex += mix(stream ^ Math.imul(i + 1, 0x9e3779b1))
      .toString(16)
      .padStart(8, '0')
  }
  return getAddress(`0x${hex}`)
}

/** Milliseconds until the next turn. */
function pauseMs(venueState: VenueState, trader: number, turn: number): number {
  const stream = streamOf(venueState, trader)
  const mean = SHORTEST_PAUSE + (LONGEST_PAUSE - SHORTEST_PAUSE) * unit(stream, 1) ** 2
  return Math.max(1000, Math.round(-Math.log(1 - unit(stream ^ 0x5bd1e995, turn)) * mean * 1000))
}

/** Gives every trader of the settings a next turn; those of a saved venue keep theirs, those above the setting go. */
export function startTraders(venueState: VenueState, nowMs: number): void {
  const count = venueState.settings.traders
  for (let i = venueState.due.length - 1; i >= 0; i -= 1) {
    const work = venueState.due[i]
    if (work?.kind === 'turn' && work.trader >= count) venueState.due.splice(i, 1)
  }
  const waiting = new Set(venueState.due.flatMap((work) => (work.kind === 'turn' ? [work.trader] : [])))
  for (let trader = 0; trader < count; trader += 1) {
    venueState.traders.set(addressOf(venueState, trader), trader)
    if (waiting.has(trader)) continue
    schedule(venueState, { atMs: nowMs + pauseMs(venueState, trader, 0), kind: 'turn', trader, turn: 1 })
  }
}

/** Tells whether the keeper checks a position for liquidation between two seconds, the later one included. */
export function isLookedAt(
  venueState: VenueState,
  account: Address,
  fromSecond: number,
  toSecond: number,
): boolean {
  const trader = venueState.traders.get(account)
  if (trader === undefined) return true
  const round = (second: number): number => Math.floor((second + trader) / LIQUIDATION_LOOK_SECONDS)
  return round(fromSecond) !== round(toSecond)
}

/** One turn of a trader: it opens or closes something, or lets it be, and knows when it comes back. */
export function takeTurn(venueState: VenueState, trader: number, turn: number, atMs: number): void {
  schedule(venueState, {
    atMs: atMs + pauseMs(venueState, trader, turn),
    kind: 'turn',
    trader,
    turn: turn + 1,
  })
  const stream = streamOf(venueState, trader) ^ 0x2c1b3c6d
  const draw = (cell: number): number => unit(stream, turn * 16 + cell)
  const address = addressOf(venueState, trader)
  const held = positionsOfAccount(venueState, address)
  const [first] = held
  if (first !== undefined && (held.length >= MAX_POSITIONS || draw(1) < 0.5)) {
    close(venueState, held[Math.floor(draw(2) * held.length)] ?? first, draw, atMs)
  } else {
    open(venueState, address, trader, draw, atMs)
  }
}

function open(
  venueState: VenueState,
  address: Address,
  trader: number,
  draw: (cell: number) => number,
  atMs: number,
): void {
  const seconds = Math.floor(atMs / 1000)
  const markets = marketsOf(venueState)
  // The deepest markets are traded most.
  const market = markets[Math.floor(draw(3) ** 2 * markets.length)]
  if (market === undefined || !isOpenAt(venueState, market.key, seconds)) return
  const prices = marketPrices(venueState, market, seconds)
  const side = sideFor(venueState, market, trader, draw, seconds)
  const { availableLiquidity } = tradingCapacity(market.settings, market.state, side, prices)
  const whale = draw(4) < 0.04 ? 10 : 1
  const wanted = BigInt(Math.round(1000 * Math.exp(4 * draw(5)) * whale)) * DOLLAR
  const most = availableLiquidity / CAPACITY_SHARE
  const sizeDeltaUsd = wanted < most ? wanted : most
  if (sizeDeltaUsd < 20n * DOLLAR) return
  const token = slotToken(market, draw(6) < 0.25 ? 0 : 1)
  const leverageTenths = BigInt(15 + Math.floor(draw(7) ** 2 * 200))
  const amount = (sizeDeltaUsd * 10n) / leverageTenths / tokenPrice(venueState, token, seconds).min
  if (amount * tokenPrice(venueState, token, seconds).min < 5n * DOLLAR) return
  // The router takes the collateral; what the trader lacks comes from outside.
  const { balances } = accountOf(venueState, address)
  const balance = balances.get(hexKey(token.address)) ?? 0n
  balances.set(hexKey(token.address), balance < amount ? 0n : balance - amount)
  place(venueState, address, atMs, {
    market,
    token: token.address,
    isLong: side === 'long',
    orderType: orderTypes.marketIncrease,
    sizeDeltaUsd,
    amount,
  })
}

/** A mood of the market draws many; of the others most follow the price of the last minutes, some bet against it. */
function sideFor(
  venueState: VenueState,
  market: VenueMarket,
  trader: number,
  draw: (cell: number) => number,
  seconds: number,
): Side {
  const mood = unit(hashText(`${venueState.seed}:mood:${market.key}`), Math.floor(seconds / MOOD_SECONDS))
  if (draw(8) < 0.6) return draw(9) < 0.15 + 0.7 * mood ? 'long' : 'short'
  const now = mid(tokenPrice(venueState, market.indexToken, seconds))
  const before = mid(tokenPrice(venueState, market.indexToken, seconds - TREND_SECONDS))
  const follows = unit(streamOf(venueState, trader), 2) < 0.6
  return now > before === follows ? 'long' : 'short'
}

function close(
  venueState: VenueState,
  record: PositionRecord,
  draw: (cell: number) => number,
  atMs: number,
): void {
  const market = venueState.marketByKey.get(record.marketKey)
  if (market === undefined || !isOpenAt(venueState, market.key, Math.floor(atMs / 1000))) return
  const { sizeInUsd, side } = record.state
  const percent = draw(10) < 0.7 ? 100n : BigInt(20 + Math.floor(draw(11) * 60))
  place(venueState, record.account, atMs, {
    market,
    token: record.collateralToken.address,
    isLong: side === 'long',
    orderType: orderTypes.marketDecrease,
    sizeDeltaUsd: (sizeInUsd * percent) / 100n,
    amount: 0n,
  })
}

/** Puts a market order into the order store, as a transaction of the trader's own would, and tells the keeper. */
function place(
  venueState: VenueState,
  account: Address,
  atMs: number,
  order: {
    readonly market: VenueMarket
    readonly token: Address
    readonly isLong: boolean
    readonly orderType: number
    readonly sizeDeltaUsd: bigint
    readonly amount: bigint
  },
): void {
  venueState.counters.order += 1
  const { contracts } = venueState.chain
  const key = orderKeyOf(contracts.dataStore, BigInt(venueState.counters.order))
  const seconds = Math.floor(atMs / 1000)
  const isIncrease = order.orderType === orderTypes.marketIncrease
  const params: CreateOrderParams = {
    addresses: {
      receiver: account,
      cancellationReceiver: ZERO_ADDRESS,
      callbackContract: ZERO_ADDRESS,
      uiFeeReceiver: ZERO_ADDRESS,
      market: order.market.catalog.marketToken,
      initialCollateralToken: order.token,
      swapPath: [],
    },
    numbers: {
      sizeDeltaUsd: order.sizeDeltaUsd,
      initialCollateralDeltaAmount: order.amount,
      triggerPrice: 0n,
      acceptablePrice: order.isLong === isIncrease ? MAX_UINT256 : 0n,
      executionFee: 0n,
      callbackGasLimit: 0n,
      minOutputAmount: 0n,
      validFromTime: 0n,
    },
    orderType: BigInt(order.orderType),
    decreasePositionSwapType: 0n,
    isLong: order.isLong,
    shouldUnwrapNativeToken: false,
    autoCancel: false,
    referralCode: ZERO_HASH,
    dataList: [],
  }
  const record: OrderRecord = {
    key,
    account,
    params,
    isFrozen: false,
    updatedAtSeconds: seconds,
    requestId: null,
  }
  venueState.orders.set(hexKey(key), record)
  const hash = nextTransactionHash(venueState)
  mine(venueState.blockChain, { hash, sender: 'relayer', to: contracts.exchangeRouter, input: MULTICALL })
  recordTrade(venueState, record, 'OrderCreated', seconds, hash)
  const { keeperDelayMs, relayDelayMs } = venueState.settings
  schedule(venueState, {
    atMs: atMs + Math.max(1, keeperDelayMs - relayDelayMs),
    kind: 'execute',
    orderKey: key,
  })
}
