/**
 * A world in which a kind is asked turn by turn along a path of prices: what it decides is admitted by its file's limits and filled
 * ideally. Nothing in it is random but what a seed makes.
 */
import { allAsOwn, type OwnPosition } from '../../src/books/ownPositions.ts'
import type { DeniedEvent } from '../../src/domain/memory/ownEvent.ts'
import type { GivenSignal } from '../../src/domain/memory/tradeSignal.ts'
import { isOrderDecision } from '../../src/domain/order/decision.ts'
import type { Intent, IntentState } from '../../src/domain/order/intent.ts'
import { type MarketView, marketOf, type Snapshot } from '../../src/domain/snapshot.ts'
import { callKind } from '../../src/engine/callKind.ts'
import { loadCatalog } from '../../src/paper/catalog/catalog.ts'
import { hexKey } from '../../src/protocol/address.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import type { Candle, CandlePeriod } from '../../src/protocol/market.ts'
import type { Position } from '../../src/protocol/position.ts'
import { amountOfUsd, ONE_USD, type Usd, usd } from '../../src/protocol/units.ts'
import { admit } from '../../src/risk/admit.ts'
import { exposureOf } from '../../src/risk/exposure/accountExposure.ts'
import { orphanCancels } from '../../src/risk/orphans.ts'
import { exitsNow } from '../../src/strategy/fileExits.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { secondsOfPeriod } from '../../src/strategy/indicators.ts'
import type { CheckedTurn, GivenMemory } from '../../src/strategy/kindMemory.ts'
import type { StatusLine } from '../../src/strategy/kindStatus.ts'
import { openIntentsOf, restingOrdersOf } from '../../src/strategy/resting.ts'
import type { StrategyDecision } from '../../src/strategy/strategyDecision.ts'
import { ACCOUNT, signedAs } from '../risk/world.ts'
import { createPathAccount } from './pathAccount.ts'
import { type PathMarket, type PathToken, pathMarketOf, plainView, spread } from './pathMarkets.ts'
import { createPathVenue } from './pathVenue.ts'

/** Turns of a path. */
export const STEPS = 140
/** Turns of one candle. */
export const STEPS_OF_CANDLE = 4
/** Oldest data by which anything is opened, ms. */
export const MAX_AGE_MS = 10_000

/** What happens. A step is a turn; steps before the first are below 0. */
export interface Path {
  readonly name: string
  /** Of the price that the path begins about at. */
  readonly factor: (step: number) => number
  /** Whether the price is the least that the wire can say: one unit of 10^-30 dollars. */
  readonly isLeast?: (step: number) => boolean
  /** What of the candles the venue shows. */
  readonly shown?: (candles: readonly Candle[], step: number) => readonly Candle[]
  /** Steps in which all data stay what they were at the first of them. */
  readonly stale?: readonly [from: number, to: number]
  readonly isFull?: true
  /** Positions on both sides of every market that are somebody else's; nothing of the instance's own is admitted then. */
  readonly isOthers?: true
}

/** One turn. */
export interface PathTurn {
  readonly step: number
  readonly atMs: number
  /** How old what was shown is, ms. */
  readonly ageMs: number
  /** The instance's own before it decided; of a keeper the account's. */
  readonly own: readonly OwnPosition[]
  readonly resting: readonly string[]
  readonly decisions: readonly StrategyDecision[]
  /** The same, asked a second time for the same. */
  readonly again: readonly StrategyDecision[]
  readonly memory?: GivenMemory
  /** What it says that it waits for. */
  readonly status?: StatusLine
  readonly admitted: readonly Intent[]
  /** USD held by market and side once what was admitted is filled. */
  readonly heldUsd: ReadonlyMap<string, Usd>
}

/** The market of that symbol. */
export function pathMarket(symbol: string): PathMarket {
  const market = pathMarketOf(symbol, chains.arbitrum.facts, loadCatalog('arbitrum').samplePrices)
  if (market === undefined) throw new Error(`no ${symbol}`)
  return market
}

const START_SECONDS = 1_800_000_000
const FACTOR = 10n ** 12n

/** Runs a kind along a path. Throws what it throws. */
export async function follow(loaded: LoadedStrategy, path: Path): Promise<readonly PathTurn[]> {
  const { needs, strategy, symbols } = loaded
  const names = [...new Set([...symbols, ...needs.symbols])]
  const markets = (names.length === 0 ? ['ETH/USD [WETH-USDC]'] : names).map(pathMarket)
  const periods = (needs.candles ?? []).map(({ period }) => secondsOfPeriod(period))
  const stepSeconds = periods.length === 0 ? 60 : Math.min(...periods) / STEPS_OF_CANDLE
  const [first] = markets
  if (first === undefined) throw new Error('no market')
  const tokens = markets.flatMap(({ long, short }) => [long, short])
  const account = createPathAccount(tokens, usd(10_000))
  const venue = createPathVenue(account, new Map(markets.map((each) => [hexKey(each.marketToken), each])))
  const accepted: number[] = []
  const keeps = strategy.memory !== undefined
  let memory: GivenMemory | undefined
  let denied: DeniedEvent[] = []
  const turns: PathTurn[] = []

  const priceOf = ({ token, basePrice }: PathToken, step: number): Usd => {
    if (token.isStable) return basePrice
    if (path.isLeast?.(step) === true) return 1n
    return (basePrice * BigInt(Math.round(path.factor(step) * Number(FACTOR)))) / FACTOR
  }
  const secondsAt = (step: number) => START_SECONDS + step * stepSeconds

  const levels = new Map<string, number>()
  const levelAt = ({ asset, basePrice, token }: PathToken, step: number): number => {
    const key = `${asset}:${step}`
    const known = levels.get(key) ?? Number(priceOf({ asset, basePrice, token }, step)) / 1e30
    levels.set(key, known)
    return known
  }
  const ended = new Map<string, Candle>()

  function candleOf({ index }: PathMarket, timestampSeconds: number, length: number, step: number): Candle {
    const key = `${index.asset}:${length}:${timestampSeconds}`
    const known = ended.get(key)
    if (known !== undefined) return known
    const from = Math.round((timestampSeconds - START_SECONDS) / stepSeconds)
    const end = from + Math.round(length / stepSeconds) - 1
    const to = Math.min(step, end)
    // Longer candles are looked at in eight places.
    const every = Math.max(1, Math.floor((to - from) / 8))
    const seen = Array.from({ length: Math.floor((to - from) / every) + 1 }, (_, at) => from + at * every)
    const all = [...seen, to].map((each) => levelAt(index, each))
    const [open = 0] = all
    const candle = {
      timestampSeconds,
      open,
      high: Math.max(...all),
      low: Math.min(...all),
      close: all.at(-1) ?? 0,
    }
    if (step >= end) ended.set(key, candle)
    return candle
  }

  function candlesOf(
    market: PathMarket,
    period: CandlePeriod,
    limit: number,
    step: number,
  ): readonly Candle[] {
    const length = secondsOfPeriod(period)
    const running = Math.floor(secondsAt(step) / length) * length
    return Array.from({ length: limit }, (_, back) =>
      candleOf(market, running - (limit - 1 - back) * length, length, step),
    )
  }

  function viewAt(market: PathMarket, index: number, step: number): MarketView {
    const atMs = secondsAt(step) * 1000
    const plain = plainView(market, step, atMs, path.isFull === true)
    const price = priceOf(market.index, step)
    const bounds = price < 10_000n ? { minPrice: price, maxPrice: price } : spread(price)
    const { oraclePrice, ticker } = plain
    if (oraclePrice === undefined || ticker === undefined) throw new Error('no prices')
    const { fundingRateLong, fundingRateShort } = ticker.value
    const funding =
      index % 2 === 0
        ? { fundingRateLong, fundingRateShort }
        : { fundingRateLong: fundingRateShort, fundingRateShort: fundingRateLong }
    const [candles, ...moreCandles] = (needs.candles ?? [])
      .filter(({ symbol }) => symbol === market.symbol)
      .map(({ period, limit }) => {
        const rows = candlesOf(market, period, limit, step)
        return { value: { period, candles: path.shown?.(rows, step) ?? rows }, atMs }
      })
    const swing = BigInt(Math.round(1_500_000 * Math.sin(step / 15)))
    return {
      ...plain,
      indexToken: { ...plain.indexToken, ...bounds },
      ticker: { value: { ...ticker.value, ...funding, ...bounds, markPrice: price }, atMs },
      oraclePrice: { value: { ...oraclePrice.value, ...bounds, medianPrice: price }, atMs },
      impact: {
        value: {
          positionImpactFactorPositive: 2n * 10n ** 21n,
          positionImpactFactorNegative: 4n * 10n ** 21n,
          positionImpactExponentFactorPositive: 2n * ONE_USD,
          positionImpactExponentFactorNegative: 2n * ONE_USD,
          maxPositionImpactFactorPositive: ONE_USD / 50n,
          maxPositionImpactFactorNegative: ONE_USD / 50n,
          balanceIn: 'usd',
          longInterest: usd(2_000_000),
          shortInterest: usd(2_000_000) + swing * ONE_USD,
          positionFeeFactors: { balancing: (ONE_USD * 4n) / 10_000n, unbalancing: (ONE_USD * 6n) / 10_000n },
        },
        atMs,
      },
      ...(candles === undefined ? {} : { candles }),
      ...(moreCandles.length === 0 ? {} : { moreCandles }),
    }
  }

  function othersOn(step: number): readonly Position[] {
    const other = createPathAccount(tokens, usd(10_000))
    for (const market of markets)
      for (const direction of ['long', 'short'] as const) {
        const key = { market, direction, collateral: market.short }
        other.increase(
          key,
          usd(777),
          amountOfUsd(usd(300), ONE_USD, market.short.token.decimals),
          market.index.basePrice,
          START_SECONDS,
        )
      }
    return other.positions(ACCOUNT, (token) => priceOf(token, step))
  }

  function snapshotAt(step: number): Snapshot {
    const [from, to] = path.stale ?? [STEPS, STEPS]
    const seen = step > from && step < to ? from : step
    const atMs = secondsAt(step) * 1000
    const own = account.positions(ACCOUNT, (token) => priceOf(token, seen))
    return {
      atMs,
      account: ACCOUNT,
      markets: new Map(markets.map((each, index) => [hexKey(each.marketToken), viewAt(each, index, seen)])),
      positions: { value: path.isOthers ? othersOn(seen) : own, atMs },
      orders: { value: venue.orders(), atMs },
      balances: { value: account.balances(), atMs },
    }
  }

  if (!strategy.opensPositions) {
    const key = { market: first, direction: 'long', collateral: first.short } as const
    const collateral = amountOfUsd(usd(200), first.short.basePrice, first.short.token.decimals)
    account.increase(key, usd(2_000), collateral, priceOf(first.index, 0), START_SECONDS)
  }

  function judge(decision: StrategyDecision, snapshot: Snapshot, key: string, pending: readonly Intent[]) {
    if (!isOrderDecision(decision)) return undefined
    const nowMs = snapshot.atMs
    const begun = pending.map((intent): IntentState => ({ intent, attempts: [], updatedAtMs: nowMs }))
    const lately = accepted.filter((atMs) => atMs > nowMs - 3_600_000).length + pending.length
    const found = admit(decision, {
      snapshot,
      exposure: exposureOf(snapshot, [...venue.open(), ...begun]),
      limits: { maxDataAgeMs: MAX_AGE_MS, ...loaded.limits },
      usage: { acceptedLastHour: { strategy: lately, account: lately } },
      trading: { state: 'active' },
      equity: { equityUsd: usd(10_000) },
      impact: {},
      venue: {},
      maker: { strategy: loaded.name },
      ...(loaded.exits === undefined
        ? {}
        : { exits: exitsNow(loaded.exits, marketOf(snapshot, decision.marketToken), nowMs) ?? 'unknown' }),
      ...(loaded.protect === undefined
        ? {}
        : {
            protection: {
              rules: loaded.protect,
              track: venue.track(),
              openUsd: snapshot.positions.value.reduce((sum, { pnlUsd }) => sum + pnlUsd, 0n),
            },
          }),
      signedOrder: (orderKey) => {
        const row = snapshot.orders.value.find((each) => each.orderKey === orderKey)
        return row && signedAs(row)
      },
      intent: {
        intentId: key,
        decisionKey: key,
        account: ACCOUNT,
        chain: 'arbitrum',
        lane: 'order-chain',
        expiresAtMs: nowMs + 60_000,
      },
      slippageBps: 100,
      nowMs,
    })
    return found.kind === 'intent' ? found.intent : found.denial
  }

  for (let step = 0; step < STEPS; step++) {
    const moment = {
      atSeconds: Math.floor(secondsAt(step)),
      price: (token: PathToken) => priceOf(token, step),
    }
    if (step > 0) venue.pass(moment)
    const snapshot = snapshotAt(step)
    const states = venue.open()
    const own = strategy.opensPositions && path.isOthers === undefined ? allAsOwn(snapshot) : []
    const scene = {
      snapshot,
      openIntents: openIntentsOf(states, { orders: snapshot.orders, own }),
      own,
      restingOrders: restingOrdersOf(snapshot, states),
      tasks: [],
    }
    const past = keeps
      ? {
          ...(memory === undefined ? {} : { memory }),
          events: [...denied, ...venue.takeEvents()],
          eventsMissed: 0,
          signals: signalsAt(loaded, step, snapshot.atMs),
        }
      : undefined
    const ask = async () => await callKind(loaded, scene, structuredClone(past))
    const { returned, status } = await ask()
    const { returned: again } = await ask()
    const turn = keeps ? (returned as CheckedTurn) : undefined
    if (turn !== undefined)
      memory = { strategyKind: strategy.kind, version: turn.version, memory: turn.memory }
    const listOf = (answer: unknown) =>
      (keeps ? (answer as CheckedTurn).decisions : answer) as readonly StrategyDecision[]
    const decisions = listOf(returned)
    denied = []
    const admitted: Intent[] = []
    const wanted =
      path.isOthers === undefined
        ? [...decisions, ...orphanCancels(snapshot, states, exposureOf(snapshot, states))]
        : []
    for (const [index, decision] of wanted.entries()) {
      const key = `${loaded.name}:${snapshot.atMs}:${index}`
      const judged = judge(decision, snapshot, key, admitted)
      if (judged !== undefined && 'code' in judged)
        denied.push({ kind: 'denied', atMs: snapshot.atMs, decisionKey: key, ...judged })
      else if (judged !== undefined) admitted.push(judged)
    }
    for (const intent of admitted) {
      accepted.push(snapshot.atMs)
      venue.take(intent, moment)
    }
    const oracleMs = marketOf(snapshot, first.marketToken)?.oraclePrice?.atMs ?? 0
    turns.push({
      step,
      atMs: snapshot.atMs,
      ageMs: snapshot.atMs - oracleMs,
      own: strategy.opensPositions ? own : allAsOwn(snapshot),
      resting: scene.restingOrders.map(({ orderKey }) => orderKey),
      decisions,
      again: listOf(again),
      ...(status === undefined ? {} : { status }),
      ...(memory === undefined ? {} : { memory }),
      admitted,
      heldUsd: new Map(account.held.map((each) => [`${each.market.symbol}:${each.direction}`, each.sizeUsd])),
    })
  }
  return turns
}

const actions = ['long', 'flat', 'short', 'reverse', 'long', 'reverse', 'flat'] as const

/** A signal every fifth turn, each seventh of them too late. */
function signalsAt(
  { strategy, name, symbols }: LoadedStrategy,
  step: number,
  atMs: number,
): readonly GivenSignal[] {
  const number = step / 5
  const action = actions[number % actions.length]
  if (strategy.takesSignals !== true || action === undefined) return []
  const isExpired = number % 7 === 6
  const sentAtMs = isExpired ? atMs - 600_000 : atMs
  return [
    {
      strategy: name,
      action,
      symbol: symbols[0] ?? '',
      number: number + 1,
      sentAtMs,
      receivedAtMs: sentAtMs,
      expiresAtMs: sentAtMs + 300_000,
      isExpired,
    },
  ]
}
