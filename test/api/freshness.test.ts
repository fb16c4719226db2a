import { expect, test } from 'vitest'
import * as freshness from '../../src/api/freshness.ts'

const nowMs = 1_800_000_100_000
const clock = { now: () => nowMs }

test('a read is as old as its request, so that a shared answer is not called younger', () => {
  expect(freshness.ageOfRead({ readAtMs: nowMs - 700 }, clock)).toBe(700)
  expect(freshness.ageOfRead({ readAtMs: nowMs + 5 }, clock)).toBe(0)
})

test('market values have the age of their older refresh, and none where a refresh never succeeded', () => {
  expect(freshness.ageOfMarketValues({ updatedAtMs: nowMs - 20_000 }, clock)).toBe(20_000)
  expect(freshness.ageOfMarketValues({ updatedAtMs: null }, clock)).toBeNull()
  expect(freshness.MARKET_VALUES_STALE_MS).toBe(15_000)
})

test('stamps are of the host’s clock, so its skew is counted', () => {
  const row = { updatedAtMs: nowMs - 20_000 }
  expect(freshness.ageOfMarketValues(row, clock, 3_000)).toBe(23_000)
  expect(freshness.ageOfMarketValues(row, clock, -25_000)).toBe(0)
})

test('oracle prices, yield windows, earnings and TVL say their age by their own stamps', () => {
  const at = 1_800_000_000
  expect(freshness.ageOfOraclePrice({ updatedAtSeconds: at }, clock)).toBe(100_000)
  expect(freshness.ageOfSignedPrice({ createdAtSeconds: at + 0.25 }, clock)).toBe(99_750)
  const window = { period: '7d', startTimestampSeconds: 0, endTimestampSeconds: at }
  expect(freshness.ageOfGmPool({ window }, clock)).toBe(100_000)
  expect(freshness.ageOfEarnings({ endTimestampSeconds: at }, clock)).toBe(100_000)
  expect(freshness.ageOfTvl({ tvlValuedAtMs: at * 1000 }, clock)).toBe(100_000)
  expect(freshness.ageOfTvl({ tvlValuedAtMs: null }, clock)).toBeNull()
})

test('stats are as old as their worst source, and of unknown age while one is missing', () => {
  const source = (lagSeconds: number | null, health: 'fresh' | 'stale' | 'missing') => ({
    health,
    lagSeconds,
    lastError: null,
  })
  const meta = (...sources: ReturnType<typeof source>[]) => ({ completeness: 'partial' as const, sources })
  const now = { readAtMs: nowMs }
  const age = (...sources: ReturnType<typeof source>[]) => freshness.ageOfStats(meta(...sources), now, clock)
  expect(age(source(12, 'fresh'), source(1_000, 'stale'))).toBe(1_000_000)
  expect(age(source(12, 'fresh'), source(null, 'missing'))).toBeNull()
  expect(age(source(12, 'fresh'), source(5, 'missing'))).toBeNull()
  expect(freshness.ageOfStatsSource(source(null, 'fresh'), now, clock)).toBeNull()
  // Kept for a minute, they are a minute older than they were.
  expect(freshness.ageOfStats(meta(source(12, 'fresh')), { readAtMs: nowMs - 60_000 }, clock)).toBe(72_000)
  expect(freshness.STATS_SOURCE_STALE_MS).toBe(900_000)
})

test('a capacity may be used as far as its statuses say, and unrecognised words say nothing good', () => {
  const usable = (
    marketDataStatus: 'fresh' | 'stale' | 'unrecognised',
    jitDataStatus: 'available' | 'stale' | 'unrecognised',
  ) => freshness.usableCapacity({ marketDataStatus, jitDataStatus })
  expect(usable('fresh', 'available')).toBe('availableLiquidity')
  expect(usable('fresh', 'stale')).toBe('baseAvailableLiquidity')
  expect(usable('fresh', 'unrecognised')).toBe('baseAvailableLiquidity')
  expect(usable('stale', 'available')).toBe('none')
  expect(usable('unrecognised', 'available')).toBe('none')
})
