/** The loop over the paper venue in this process, on a clock that the test moves. */
import { expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import type { Event } from '../../src/domain/event.ts'
import { type Limits, tighten } from '../../src/domain/limits/limits.ts'
import { createOrderManager } from '../../src/execution/orderManager.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { usd } from '../../src/protocol/units.ts'
import type { Budget } from '../../src/risk/breakers/budget.ts'
import type { BreakerSettings } from '../../src/risk/breakers/circuitBreakers.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { collateralTokenOf, defineStrategy, z } from '../../src/strategy/strategy.ts'
import { ethMarket, intentOf } from '../support/intents.ts'
import { loadedOf } from '../support/loaded.ts'
import { testExecution, testSigner, testTrader } from '../support/trader.ts'
import { type Between, type VenueBench, venueBench } from '../support/venue.ts'

const symbol = 'ETH/USD [WETH-USDC]'

/** Asks for a long at every tick, whatever is held or in flight. */
const always = defineStrategy({
  kind: 'always',
  description: 'Wishes for a long at every tick.',
  params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }),
  decide: (view) => {
    const market = view.market(symbol)
    if (market === undefined) return []
    return [
      {
        kind: 'increase',
        marketToken: market.market.marketToken,
        direction: 'long',
        sizeDeltaUsd: usd(500),
        leverageBps: 20_000,
        collateralToken: collateralTokenOf(market, 'short'),
        reason: 'the test always wishes',
      },
    ]
  },
})

function instance(name: string, limits: Limits = {}): LoadedStrategy {
  return loadedOf(always, name, [symbol], {
    instance: { name, symbols: [symbol], size: { usd: usd(500), leverageBps: 20_000, collateral: 'short' } },
    limits: tighten({ maxDataAgeMs: 30_000 }, limits),
  })
}

interface World extends VenueBench {
  readonly engine: Engine
  readonly journal: Journal
  readonly events: readonly Event[]
  /** The owner of the account opens a long of $300 himself, with the same key. */
  readonly byHand: () => Promise<unknown>
}

function world(
  strategies: readonly LoadedStrategy[],
  options: {
    readonly limits?: Limits
    readonly budget?: Budget
    readonly breakers?: Partial<BreakerSettings>
    readonly between?: Between
    readonly journal?: Journal
  } = {},
): World {
  const bench = venueBench({
    settings: { orderDeadlineSeconds: 60, keeperJitterMs: 0 },
    ...(options.between === undefined ? {} : { between: options.between }),
  })
  const { trader, journal, events } = testTrader({
    ...bench,
    strategies,
    ...(options.journal === undefined ? {} : { journal: options.journal }),
    limits: {
      account: { ...options.limits, ...options.budget },
      strategies: Object.fromEntries(strategies.map(({ name, limits }) => [name, limits])),
      breakers: { sets: {}, ...options.breakers },
    },
  })
  const byHand = async () => {
    const ticker = (await bench.api.getMarketTickers({ addresses: [ethMarket] })).value[0]
    const other = createOrderManager(testExecution(bench))
    const intent = intentOf({ acceptedAtMs: bench.clock.now(), expiresAtMs: bench.clock.now() + 60_000 })
    return other.accept({
      ...intent,
      terms: {
        ...intent.terms,
        sizeDeltaUsd: usd(300),
        collateralDelta: 150_000_000n,
        referencePrice: ticker?.maxPrice ?? 0n,
      },
    })
  }
  return { ...bench, engine: trader, journal, events, byHand }
}

const codes = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'decision.denied' ? [event.denial.code] : []))

test('three strategies that tick at the same instant share one room: one is admitted, the others are denied', async () => {
  const { engine, clock, venue, events, api } = world(
    ['one', 'two', 'three'].map((name) => instance(name)),
    {
      limits: { maxPositionSizeUsd: usd(500), maxTotalExposureUsd: usd(500), maxOrdersPerHour: 1 },
    },
  )
  await engine.start()
  await clock.advance(4_000)
  expect(venue.record()).toHaveLength(1)
  expect(codes(events)).toEqual(['SLOT_BUSY', 'SLOT_BUSY'])
  const [position] = (await api.getPositions({ account: testSigner.address })).value
  expect(position?.sizeInUsd).toBe(usd(500))
  engine.abort()
})

test('an order of unknown fate holds its slot: every further wish is denied, and nothing more is sent', async () => {
  const { engine, clock, venue, events } = world([instance('one')])
  venue.faults.submit = '500-before-work'
  await engine.start()
  await clock.advance(40_000)
  expect(venue.record()).toHaveLength(1)
  expect(new Set(codes(events))).toEqual(new Set(['SLOT_BUSY']))
  expect(codes(events).length).toBeGreaterThanOrEqual(7)
  expect(engine.status()).toMatchObject({ unresolved: 1, state: 'running' })
  engine.abort()
})

test('a fill counts until a list shows it, however late the list is', async () => {
  let isBehind = false
  const { engine, clock, venue, events } = world([instance('one', { maxPositionSizeUsd: usd(500) })], {
    between: async (url, init, next) => {
      const answer = await next(url, init)
      if (!isBehind || !url.includes('/positions')) return answer
      return { status: 200, headers: answer.headers, text: async () => '[]' }
    },
  })
  await engine.start()
  isBehind = true
  await clock.advance(20_000)
  expect(venue.record()).toHaveLength(1)
  expect(new Set(codes(events))).toEqual(new Set(['SLOT_BUSY']))
  engine.abort()
})

test('a fill from just before a restart counts too', async () => {
  const first = world([instance('one')])
  await first.engine.start()
  await first.clock.advance(3_000)
  expect(first.events.some((event) => event.type === 'order.moved' && event.to === 'executed')).toBe(true)
  first.engine.abort()
  const second = world([instance('one')], { journal: first.journal })
  // The venue of the second world has never heard of the first one's fill: the latest possible list.
  await second.clock.advance(5_000)
  await second.engine.start()
  await second.clock.advance(1_000)
  expect(second.venue.record()).toEqual([])
  expect(codes(second.events)).toEqual(['SLOT_BUSY'])
  second.engine.abort()
})

test('a trade by hand is reported once, and increases on its market wait for an operator', async () => {
  const { engine, clock, events, byHand } = world([instance('one', { maxPositionSizeUsd: usd(500) })])
  await engine.start()
  await clock.advance(40_000)
  await byHand()
  await clock.advance(80_000)
  const found = events.flatMap((event) => (event.type === 'account.discrepancy' ? [event] : []))
  expect(found).toMatchObject([
    { isPausing: true, discrepancy: { kind: 'manual-increase', sizeDeltaUsd: usd(300) } },
  ])
  expect(codes(events).at(-1)).toBe('UNEXPLAINED')
  expect(engine.status().discrepancies).toHaveLength(1)
  engine.abort()
})

test('a stop that comes while the venue is read lets nothing be decided', async () => {
  const held = Promise.withResolvers<void>()
  let isHeld = false
  const { engine, clock, venue, events } = world([instance('one')], {
    between: async (url, init, next) => {
      if (isHeld && url.includes('/markets/tickers')) await held.promise
      return next(url, init)
    },
  })
  isHeld = true
  await engine.start()
  await clock.advance(500)
  const stopped = engine.stop('SIGTERM')
  held.resolve()
  await clock.advance(15_000)
  await stopped
  expect(events.some(({ type }) => type === 'decision.made')).toBe(false)
  expect(venue.record()).toEqual([])
  expect(events.at(-1)).toMatchObject({ type: 'daemon.stopped', openIntents: 0 })
})

test('nothing sleeps on once it said that it stopped: the process could not end', async () => {
  const { engine, clock, events } = world([instance('one')])
  await engine.start()
  await clock.advance(5_000)
  const stopped = engine.stop('SIGTERM')
  await clock.advance(15_000)
  await stopped
  expect(events.at(-1)).toMatchObject({ type: 'daemon.stopped' })
  expect(clock.sleeping()).toBe(0)

  const idle = world([])
  await idle.engine.start()
  const ended = idle.engine.stop('SIGINT')
  await clock.advance(0)
  await ended
  expect(idle.clock.sleeping()).toBe(0)
})

test('a wall clock that is set back an hour does not put a strategy to sleep', async () => {
  const { engine, clock, events } = world([instance('one')])
  await engine.start()
  await clock.advance(11_000)
  const before = events.filter(({ type }) => type === 'decision.made').length
  clock.setBack(3_600_000)
  await clock.advance(15_000)
  expect(events.filter(({ type }) => type === 'decision.made').length).toBeGreaterThanOrEqual(before + 2)
  engine.abort()
})

test('what the journal left open shows in the status before the venue answers', async () => {
  const first = world([instance('one')])
  first.venue.faults.submit = '500-before-work'
  await first.engine.start()
  await first.clock.advance(2_000)
  first.engine.abort()
  const second = world([instance('one')], {
    journal: first.journal,
    between: async () => {
      throw new TypeError('fetch failed')
    },
  })
  expect(second.engine.status()).toMatchObject({ state: 'starting', unresolved: 1 })
})

test('a process that stood still between reading and deciding does not size on what it read before', async () => {
  let stands = () => {}
  const slow: LoadedStrategy = {
    ...instance('slow'),
    strategy: {
      ...always,
      decide: (view) => {
        const decisions = always.decide(view as never)
        stands()
        return decisions
      },
    },
  }
  const { engine, clock, events } = world([slow])
  stands = () => {
    stands = () => {}
    clock.setBack(-120_000)
  }
  await engine.start()
  await clock.advance(1_000)
  expect(codes(events)[0]).toBe('DATA_TOO_OLD')
  engine.abort()
})

test('what a user kind returns is looked at before it is reckoned with', async () => {
  const odd: LoadedStrategy = {
    ...instance('odd'),
    strategy: {
      ...always,
      decide: () => [{ kind: 'increase', direction: 'Long', marketToken: ethMarket } as never],
    },
  }
  const { engine, clock, events } = world([odd])
  await engine.start()
  await clock.advance(1_000)
  const denied = events.find((event) => event.type === 'decision.invalid')
  expect(denied).toMatchObject({
    field: 'direction',
    denial: {
      code: 'DECISION_INVALID',
      reason: `the decision's direction is "Long"; expected long or short`,
    },
  })
  expect(engine.status().strategies[0]).toMatchObject({ failures: 1, denied: 1 })
  engine.abort()
})
