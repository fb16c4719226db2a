import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isOrderDecision } from '../../../src/domain/order/decision.ts'
import { ONE_USD, usd } from '../../../src/protocol/units.ts'
import { hedgedCarry } from '../../../src/strategy/kinds/hedgedCarry.ts'
import { openIntentsOf } from '../../../src/strategy/resting.ts'
import { viewOf } from '../../../src/strategy/strategy.ts'
import type { StrategyDecision } from '../../../src/strategy/strategyDecision.ts'
import {
  intentState,
  MARKET,
  marketView,
  NOW_MS,
  OTHER_MARKET,
  oraclePrice,
  position,
  SYMBOL,
  snapshot,
  ticker,
  WETH,
} from '../../risk/world.ts'
import { size } from './kindScene.ts'

const OTHER = 'ETH/USD [OTHER-USDC]'
type Memory = Parameters<typeof hedgedCarry.decide>[1]
type Leg = readonly [market: 'one' | 'other', direction: 'long' | 'short', sizeUsd: number]

/** A rate an hour that makes this many basis points a day. */
const hourly = (bpsPerDay: number) => (BigInt(bpsPerDay) * ONE_USD) / 240_000n + (bpsPerDay > 0 ? 1n : 0n)

interface Scene {
  /** Net rates, basis points a day: long and short of one market, then of the other. */
  readonly rates?: readonly [number, number, number, number]
  readonly legs?: readonly Leg[]
  readonly memory?: Memory
  readonly isBusy?: boolean
  readonly ratesAtMs?: number
  readonly isOtherIndex?: boolean
  readonly isClosed?: boolean
  readonly params?: Record<string, unknown>
}

function turn({
  rates = [0, 0, 0, 0],
  legs = [],
  memory = { aloneSinceMs: null },
  isBusy = false,
  ratesAtMs = NOW_MS,
  isOtherIndex = false,
  isClosed = false,
  params = {},
}: Scene) {
  const price = { value: oraclePrice({ medianPrice: usd(2_000) }), atMs: NOW_MS }
  const [longOne, shortOne, longOther, shortOther] = rates.map(hourly)
  const tickerOf = (long: bigint | undefined, short: bigint | undefined) => ({
    value: ticker({ netRateLong: long ?? 0n, netRateShort: short ?? 0n }),
    atMs: ratesAtMs,
  })
  const one = marketView({ oraclePrice: price, ticker: tickerOf(longOne, shortOne) })
  const other = {
    ...marketView({ oraclePrice: price, ticker: tickerOf(longOther, shortOther) }),
    market: { ...one.market, symbol: OTHER, marketToken: OTHER_MARKET },
    indexToken: {
      ...one.indexToken,
      address: isOtherIndex ? (`0x${'7'.repeat(40)}` as const) : WETH,
    },
    ...(isClosed ? { status: 'closed' as const } : {}),
  }
  const positions = legs.map(([market, direction, sizeUsd]) =>
    position({
      marketToken: market === 'one' ? MARKET : OTHER_MARKET,
      direction,
      sizeInUsd: usd(sizeUsd),
      entryPrice: usd(2_000),
    }),
  )
  const world = {
    ...snapshot({ positions }),
    markets: new Map([
      [MARKET.toLowerCase(), one],
      [OTHER_MARKET.toLowerCase(), other],
    ]),
  }
  return hedgedCarry.decide(
    viewOf({
      snapshot: world,
      params: hedgedCarry.params.parse(params),
      instance: { name: 'mine', symbols: [SYMBOL, OTHER], size },
      openIntents: isBusy ? openIntentsOf([intentState()]) : [],
    }),
    memory,
  )
}

const words = (decisions: readonly StrategyDecision[]) =>
  decisions.map((decision) =>
    isOrderDecision(decision)
      ? `${decision.kind} ${decision.direction} ${decision.marketToken === MARKET ? 'one' : 'other'}`
      : decision.kind,
  )

test('the pair that earns most opens both legs in one turn, each of the same size and with a far stop', () => {
  const { decisions } = turn({ rates: [15, -30, -20, 10] })
  expect(words(decisions)).toEqual(['increase long one', 'increase short other'])
  expect(decisions).toMatchObject([
    { sizeDeltaUsd: usd(500), expectedEdgeBps: 100, tpsl: [{ triggerPrice: usd(1_700) }] },
    { sizeDeltaUsd: usd(500), tpsl: [{ triggerPrice: usd(2_300) }] },
  ])
  expect(words(turn({ rates: [-5, 12, 13, -30] }).decisions)).toEqual([
    'increase long other',
    'increase short one',
  ])
})

test('two markets of different indexes, a closed one, old rates and rates that earn too little open nothing', () => {
  expect(turn({ rates: [30, 0, 0, 30], isOtherIndex: true }).decisions).toEqual([])
  expect(turn({ rates: [30, 0, 0, 30], isClosed: true }).decisions).toEqual([])
  expect(turn({ rates: [30, 0, 0, 30], ratesAtMs: NOW_MS - 61_000 }).decisions).toEqual([])
  expect(turn({ rates: [19, 0, 0, 0] }).decisions).toEqual([])
  expect(turn({ rates: [21, 0, 0, 0], params: { holdHours: 24 } }).decisions).toEqual([])
  expect(turn({ rates: [30, 0, 0, 30], isBusy: true }).decisions).toEqual([])
})

test('both legs are kept between the two rates, closed below the lower one, and kept while rates are not known', () => {
  const legs: readonly Leg[] = [
    ['one', 'long', 500],
    ['other', 'short', 500],
  ]
  expect(turn({ legs, rates: [3, 0, 0, 2] }).decisions).toEqual([])
  expect(words(turn({ legs, rates: [1, 0, 0, 2] }).decisions)).toEqual([
    'close long one',
    'close short other',
  ])
  expect(turn({ legs, rates: [-50, 0, 0, 2], ratesAtMs: NOW_MS - 61_000 }).decisions).toEqual([])
})

test('a leg that is alone is completed while the pair earns, and closed once its time is over', () => {
  const legs: readonly Leg[] = [['one', 'long', 400]]
  const first = turn({ legs, rates: [10, 0, 0, 2] })
  expect(first.memory).toEqual({ aloneSinceMs: NOW_MS })
  expect(first.decisions).toMatchObject([{ kind: 'increase', direction: 'short', sizeDeltaUsd: usd(400) }])
  expect(turn({ legs, rates: [1, 0, 0, 2] }).decisions).toEqual([])
  const late = { aloneSinceMs: NOW_MS - 60_000 }
  expect(words(turn({ legs, rates: [50, 0, 0, 50], memory: late }).decisions)).toEqual(['close long one'])
  // While something is under way it waits, and the time goes on.
  expect(turn({ legs, memory: late, isBusy: true })).toEqual({ decisions: [], memory: late })
  // Two longs are no pair.
  const odd: readonly Leg[] = [
    ['one', 'long', 500],
    ['other', 'long', 500],
  ]
  expect(words(turn({ legs: odd, memory: late }).decisions)).toEqual(['close long one', 'close long other'])
})

test('what one leg has more than the other is taken off', () => {
  const legs: readonly Leg[] = [
    ['one', 'long', 500],
    ['other', 'short', 450],
  ]
  expect(turn({ legs, rates: [10, 0, 0, 10] }).decisions).toMatchObject([
    { kind: 'decrease', direction: 'long', sizeDeltaUsd: usd(50) },
  ])
})

test('whatever is filled, denied or stopped, no leg stays alone beyond its grace', () => {
  const step = fc.record({
    afterMs: fc.integer({ min: 1_000, max: 30_000 }),
    rates: fc.tuple(...[0, 1, 2, 3].map(() => fc.integer({ min: -60, max: 60 }))),
    /** Of each decision of the turn. */
    isTaken: fc.tuple(fc.boolean(), fc.boolean()),
    stops: fc.nat({ max: 9 }),
  })
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), (story) => {
      let legs: Leg[] = []
      let memory: Memory = { aloneSinceMs: null }
      let aloneMs = 0
      for (const { afterMs, rates, isTaken, stops } of story) {
        if (stops === 0) legs = legs.slice(1)
        // Time is told by how long ago the memory began.
        if (memory.aloneSinceMs !== null) memory = { aloneSinceMs: memory.aloneSinceMs - afterMs }
        const isAlone = legs.length === 1
        aloneMs = isAlone ? aloneMs + (memory.aloneSinceMs === null ? 0 : afterMs) : 0
        const next = turn({ legs, rates: rates as never, memory })
        memory = next.memory
        if (isAlone && aloneMs >= 60_000) {
          expect(words(next.decisions)).toEqual([expect.stringContaining('close')])
        }
        for (const [at, decision] of next.decisions.entries()) {
          if (!isOrderDecision(decision)) throw new Error(decision.kind)
          const { direction, marketToken } = decision
          const market = marketToken === MARKET ? 'one' : 'other'
          // A close is taken in the end: the venue does not deny it.
          if (decision.kind === 'close')
            legs = legs.filter(([name, side]) => name !== market || side !== direction)
          else if (decision.kind === 'increase' && isTaken[at % 2] === true)
            legs.push([market, direction, 500])
        }
      }
    }),
    { seed: 29, numRuns: 1_000 },
  )
})
