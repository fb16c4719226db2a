/** Whether the daemon says that nothing is added, while nothing is. */
import { afterEach, expect, test } from 'vitest'
import {
  type IncreaseFacts,
  increasesWait,
  NO_HOST_REASON,
  overdueFeeds,
} from '../../src/account/watch/increasesWait.ts'
import { equityAge } from '../../src/cli/results/statusParts.ts'
import type { Engine } from '../../src/daemon/engine.ts'
import { createHealth } from '../../src/monitor/health.ts'
import { testTrader } from '../support/trader.ts'
import { venueBench } from '../support/venue.ts'

const facts: IncreaseFacts = {
  isNoHost: false,
  nowMs: Date.parse('2026-01-02T03:04:05.000Z'),
  feedAgesMs: { positions: 3_000, oracle: 9_000, tickers: 9_000, capacity: 9_000, candles: 900_000 },
  limits: { maxDataAgeMs: 15_000 },
  watchMs: 5_000,
  strategies: [{ cadenceMs: 10_000, symbols: ['ETH/USD [WETH-USDC]'] }],
}
const aged = (feedAgesMs: IncreaseFacts['feedAgesMs'], over: Partial<IncreaseFacts> = {}) =>
  increasesWait({ ...facts, ...over, feedAgesMs: { ...facts.feedAgesMs, ...feedAgesMs } })

let running: Pick<Engine, 'abort'> | undefined
afterEach(() => running?.abort())

test('a feed that increases need is too old beyond its limit, and says of when it is', () => {
  expect(aged({})).toEqual([])
  expect(aged({ positions: 15_000 })).toEqual([])
  expect(aged({ positions: 15_001 })).toEqual([
    'the newest positions are of 2026-01-02T03:03:49.999Z, older than the limit of 15 s (risk.maxDataAgeMs); increases wait',
  ])
  expect(aged({ oracle: 20_001 })).toHaveLength(1)
  expect(
    aged({ positions: 11_000 }, { limits: { maxDataAgeMs: 15_000, maxAccountAgeMs: 4_000 } }),
  ).toHaveLength(1)
})

test('what only strategies read is not old between two turns of theirs, nor while none is asked', () => {
  const hourly = { cadenceMs: 3_600_000, symbols: ['ETH/USD [WETH-USDC]'] }
  const old = { oracle: 3_700_000, tickers: 3_700_000, capacity: 3_700_000 }
  expect(aged(old, { strategies: [hourly] })).toEqual([])
  expect(aged(old, { strategies: [] })).toEqual([])
  const paused = { cadenceMs: 10_000, symbols: ['ETH/USD [WETH-USDC]'], pausedForMs: 1_000 }
  expect(aged(old, { strategies: [paused, hourly] })).toEqual([])
  expect(aged(old)).toHaveLength(3)
})

test('for how long a feed has been too old is told of what somebody reads, by the slower of its limit and two readings', () => {
  const overdue = (feedAgesMs: IncreaseFacts['feedAgesMs'], over: Partial<IncreaseFacts> = {}) =>
    overdueFeeds({ ...facts, ...over, feedAgesMs: { ...facts.feedAgesMs, ...feedAgesMs } })
  expect(overdue({ oracle: 21_000 })).toEqual({ positions: 0, oracle: 1_000, tickers: 0, capacity: 0 })
  // Everything pauses, or there is no strategy: only the account is watched.
  const day = 86_400_000
  const old = { oracle: day, tickers: day, capacity: day, orders: day }
  const pausedBy = { by: 'ann', atMs: 0 }
  const symbols = ['ETH/USD [WETH-USDC]']
  expect(overdue(old, { strategies: [{ cadenceMs: 10_000, symbols, pausedBy }] })).toEqual({ positions: 0 })
  expect(overdue(old, { strategies: [] })).toEqual({ positions: 0 })
  expect(overdue({ ...old, positions: 75_000 }, { strategies: [] })).toEqual({ positions: 60_000 })
  // A strategy that is asked once a day.
  const daily = { strategies: [{ cadenceMs: day, symbols }] }
  expect(overdue(old, daily)).toEqual({ positions: 0, oracle: 0, tickers: 0, capacity: 0 })
  expect(overdue({ oracle: 2 * day + 5_000 }, daily)).toMatchObject({ oracle: 5_000 })
})

test('while no host may be asked that is the first reason', () => {
  expect(aged({ positions: 60_000 }, { isNoHost: true })[0]).toBe(NO_HOST_REASON)
})

test('with every host down the daemon is not ready within seconds of the limit, and ready again once they are back', async () => {
  let isDown = false
  const bench = venueBench({
    between: (url, init, next) => (isDown ? Promise.reject(new TypeError('fetch failed')) : next(url, init)),
  })
  const { trader: engine } = testTrader({
    ...bench,
    strategies: [],
    limits: { account: { maxDataAgeMs: 15_000 }, strategies: {}, breakers: { sets: {} } },
  })
  running = engine
  const { clock } = bench
  await engine.start()
  await clock.advance(30_000)
  expect(engine.status().notReady).toEqual([])
  // No strategy runs: what only strategies read is not judged.
  expect(engine.status().feedsOverdueMs).toEqual({ positions: 0 })
  isDown = true
  await clock.advance(25_000)
  const status = engine.status()
  expect(status.feedsOverdueMs.positions).toBeGreaterThan(0)
  expect(status.notReady.join(' ')).toContain('the newest positions are of')
  expect(createHealth(() => clock.monotonicMs()).ready(status).ok).toBe(false)
  isDown = false
  await clock.advance(180_000)
  expect(engine.status().notReady).toEqual([])
})

test('a strategy or a watch that stands still is found while increases wait for hosts', async () => {
  const health = createHealth(() => 0)
  health.listen({ type: 'daemon.ready' })
  const stood = {
    state: 'running',
    notReady: [NO_HOST_REASON],
    watchedAgoMs: 121_000,
    strategies: [],
    halts: [],
  } as never
  expect(health.live(stood).ok).toBe(false)
})

test('an old equity is called settling only while it settles', () => {
  expect(equityAge({ equityAtMs: 0, isEquitySettling: false }, 35_500)).toBe(' (35.5 s old)')
})
