/** When the chain is looked at: a clock that the test moves, and a chain that shows nothing. */
import { expect, test } from 'vitest'
import type { AttemptQuery, ChainReader } from '../../src/domain/machine/chainReader.ts'
import type { BlockRef, IntentState } from '../../src/domain/order/intent.ts'
import { type ChainPoller, createChainPoller, type Watched } from '../../src/execution/track/chainPoller.ts'
import { armedFacts, ethMarket, intentOf, orderKey, startMs } from '../support/intents.ts'
import { type ManualClock, manualClock } from '../support/venue.ts'

const query: AttemptQuery = {
  account: '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A',
  router: armedFacts().router,
  digest: armedFacts().digest,
  signature: armedFacts().signature,
  deadlineSeconds: armedFacts().deadlineSeconds,
  orderKeys: [],
  transactionHashes: [],
  marketToken: ethMarket,
  indexTokenDecimals: 18,
}

function unresolved(intentId: string): Watched {
  const state: IntentState = {
    intent: intentOf({ intentId }),
    attempts: [{ n: 1, lane: 'relay', host: 'h', phase: 'UNRESOLVED', armed: armedFacts(), children: [] }],
    updatedAtMs: startMs,
  }
  return { intentId, state, query }
}

function resting(intentId: string): Watched {
  const { intent } = unresolved(intentId).state
  const state: IntentState = {
    intent: { ...intent, terms: { ...intent.terms, orderType: 'limit' } },
    attempts: [
      {
        n: 1,
        lane: 'relay',
        host: 'h',
        phase: 'LANDED',
        armed: armedFacts(),
        evidence: { level: 'chain-final', atMs: startMs, statement: 'landed' },
        children: [{ index: 0, orderKey, phase: 'OPEN', role: 'main' }],
      },
    ],
    updatedAtMs: startMs,
  }
  return { intentId, state, query }
}

interface Bench {
  readonly clock: ManualClock
  readonly poller: ChainPoller
  /** Seconds since the start of each look, with how many it asked for. */
  readonly looks: (readonly [atSeconds: number, asked: number])[]
  open: Watched[]
  head(timestampSeconds: number): void
  stop(): void
}

function bench(): Bench {
  const clock = manualClock(startMs)
  const looks: (readonly [number, number])[] = []
  const stopping = new AbortController()
  let listener: ((head: BlockRef) => void) | undefined
  let chainSeconds = startMs / 1000
  const reader: ChainReader = {
    configured: 1,
    latestBlocks: async () => [],
    async poll(queries) {
      looks.push([(clock.now() - startMs) / 1000, queries.length])
      chainSeconds = Math.max(chainSeconds, clock.now() / 1000)
      const block = { number: 1n, hash: query.digest, timestampSeconds: chainSeconds }
      const endpoint = {
        endpoint: 'e',
        latest: block,
        final: block,
        isDigestUsedAtLatest: false,
        isDigestUsedAtFinal: false,
        logs: [],
      }
      return queries.map(() => ({ configured: 1, endpoints: [endpoint] }))
    },
    onHead(told) {
      listener = told
      return () => {
        listener = undefined
      }
    },
  }
  const world: Bench = {
    clock,
    looks,
    open: [],
    poller: createChainPoller({
      reader,
      clock,
      settings: { statusPollMs: 500, statusPollMaxMs: 10_000 },
      watched: () => world.open,
      take: async () => undefined,
      signal: stopping.signal,
    }),
    head: (timestampSeconds) => listener?.({ number: 2n, hash: query.digest, timestampSeconds }),
    stop: () => stopping.abort(),
  }
  return world
}

const between = (looks: Bench['looks'], from: number, to: number) =>
  looks.filter(([at]) => at > from && at <= to).length

test('a young attempt is looked at twice a second, an old one every ten seconds, in one look for all', async () => {
  const world = bench()
  world.open = Array.from({ length: 40 }, (_unused, index) => unresolved(`i${index}`))
  void world.poller.run()
  await world.clock.advance(290_000)
  expect(world.looks[0]).toEqual([0.5, 40])
  expect(between(world.looks, 0, 5)).toBeGreaterThanOrEqual(9)
  expect(between(world.looks, 200, 280)).toBe(8)
  world.stop()
})

test('the chain’s time passing the deadline makes it young again', async () => {
  const world = bench()
  world.open = [unresolved('i')]
  void world.poller.run()
  await world.clock.advance(320_000)
  expect(between(world.looks, 280, 300)).toBeLessThanOrEqual(3)
  expect(between(world.looks, 310, 315)).toBeGreaterThanOrEqual(5)
  world.stop()
})

test('what only rests is looked at every half minute, and heads change nothing for it', async () => {
  const world = bench()
  world.open = [resting('i')]
  void world.poller.run()
  for (let second = 0; second < 120; second += 1) {
    await world.clock.advance(1_000)
    world.head(startMs / 1000 + second)
  }
  expect(world.looks.length).toBeLessThanOrEqual(5)
  world.stop()
})

test('a pushed head brings the look of a young attempt forward, but never more than five a second', async () => {
  const world = bench()
  world.open = [unresolved('i')]
  void world.poller.run()
  for (let i = 0; i < 100; i += 1) {
    await world.clock.advance(50)
    world.head(startMs / 1000)
  }
  expect(world.looks.length).toBeGreaterThan(15)
  expect(world.looks.length).toBeLessThanOrEqual(26)
  world.stop()
})

test('a head past the deadline is looked at at once, however old the attempt is', async () => {
  const world = bench()
  world.open = [unresolved('i')]
  void world.poller.run()
  await world.clock.advance(250_500)
  const before = world.looks.length
  world.head(query.deadlineSeconds + 1)
  await world.clock.advance(10)
  expect(world.looks.length).toBe(before + 1)
  world.stop()
})

test('with nothing armed nothing is looked at, and a touch begins at once', async () => {
  const world = bench()
  void world.poller.run()
  await world.clock.advance(100_000)
  expect(world.looks).toEqual([])
  world.open = [unresolved('i')]
  world.poller.markActive('i')
  await world.clock.advance(600)
  expect(world.looks).toEqual([[100.5, 1]])
  world.stop()
  await world.clock.advance(60_000)
  expect(world.looks).toHaveLength(1)
})
