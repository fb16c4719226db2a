/**
 * Computes the age of a record, against a clock that is passed in. A 200 does not prove that its values are of the latest refresh
 * (docs/reference/api-coverage.md A26 to A33). So each kind of record takes its age from the stamp that the documents give it. The stamps are
 * `updatedAt` of market values, `window.endTimestamp` of yield and earnings, and `meta.sources[]` of stats. Oracle prices have `updatedAt`, a
 * capacity has two statuses. A missing stamp gives no age: null, never zero.
 *
 * `skewMs` is the host's clock less ours (`api.clockSkewMs(host)`); stamps are the host's, so it is added to our clock.
 */

import type { WallClock } from '../base/clock.ts'
import type { JitDataStatus, MarketDataStatus } from '../protocol/market.ts'
import type { GmPool } from './markets/poolYields.ts'
import type { StatsMeta, StatsSource } from './markets/stats.ts'

/** Age beyond which the venue marks market values stale, ms (docs/reference/api-coverage.md A34 to A37); rows are still served. */
export const MARKET_VALUES_STALE_MS = 15_000

/** Lag beyond which a source of stats is stale, ms (docs/reference/api-coverage.md A34 to A37). */
export const STATS_SOURCE_STALE_MS = 900_000

/** Age of the Solana pair snapshot beyond which the venue answers 503, ms (docs/reference/api-coverage.md A16). */
export const SOLANA_PAIRS_STALE_MS = 900_000

function age(stampMs: number, clock: WallClock, skewMs: number): number {
  return Math.max(0, clock.now() + skewMs - stampMs)
}

/** Ms since the request of a read left: what is known of any record, and no more than a lower bound of its age. */
export function ageOfRead(read: { readonly readAtMs: number }, clock: WallClock): number {
  return age(read.readAtMs, clock, 0)
}

/**
 * Ms since the older of the two refreshes behind a row of market values. Null when one of them never succeeded, which a
 * failed refresh of one market can cause while its old values are kept: treat as stale.
 */
export function ageOfMarketValues(
  row: { readonly updatedAtMs: number | null },
  clock: WallClock,
  skewMs = 0,
): number | null {
  return row.updatedAtMs === null ? null : age(row.updatedAtMs, clock, skewMs)
}

/** Ms since the oracle updated a price; its stamp has whole seconds. */
export function ageOfOraclePrice(
  price: { readonly updatedAtSeconds: number },
  clock: WallClock,
  skewMs = 0,
): number {
  return age(price.updatedAtSeconds * 1000, clock, skewMs)
}

/** Ms since the oracle put a signed price together. The chain refuses one by its blocks' times, not by this. */
export function ageOfSignedPrice(
  price: { readonly createdAtSeconds: number },
  clock: WallClock,
  skewMs = 0,
): number {
  return age(price.createdAtSeconds * 1000, clock, skewMs)
}

/** Ms since the window of a pool's yield ended; windows end on the hour. */
export function ageOfGmPool(
  pool: { readonly window: GmPool['window'] },
  clock: WallClock,
  skewMs = 0,
): number {
  return age(pool.window.endTimestampSeconds * 1000, clock, skewMs)
}

/** Ms since earnings were calculated. */
export function ageOfEarnings(
  earnings: { readonly endTimestampSeconds: number },
  clock: WallClock,
  skewMs = 0,
): number {
  return age(earnings.endTimestampSeconds * 1000, clock, skewMs)
}

/** Returns the lag of a source of stats, ms: its lag when it was read, plus the time since; null when it never reported one. */
export function ageOfStatsSource(
  source: StatsSource,
  read: { readonly readAtMs: number },
  clock: WallClock,
): number | null {
  return source.lagSeconds === null ? null : source.lagSeconds * 1000 + ageOfRead(read, clock)
}

/**
 * Returns the lag of the worst source of stats, ms; null when one is missing or reports none. A stale source still counts in sums, so `completeness`
 * alone does not show the lag.
 */
export function ageOfStats(
  meta: StatsMeta,
  read: { readonly readAtMs: number },
  clock: WallClock,
): number | null {
  let worstMs = 0
  for (const source of meta.sources) {
    const lagMs = ageOfStatsSource(source, read, clock)
    if (lagMs === null || source.health === 'missing') return null
    worstMs = Math.max(worstMs, lagMs)
  }
  return worstMs
}

/** Ms since the TVL was valued; null where it never was. */
export function ageOfTvl(
  summary: { readonly tvlValuedAtMs: number | null },
  clock: WallClock,
  skewMs = 0,
): number | null {
  return summary.tvlValuedAtMs === null ? null : age(summary.tvlValuedAtMs, clock, skewMs)
}

/**
 * Returns the usable part of a capacity by its two statuses: all of it, the part without JIT, or nothing. Unknown statuses count as not usable (gaps:
 * conflict 11).
 */
export function usableCapacity(capacity: {
  readonly jitDataStatus: JitDataStatus
  readonly marketDataStatus: MarketDataStatus
}): 'availableLiquidity' | 'baseAvailableLiquidity' | 'none' {
  if (capacity.marketDataStatus !== 'fresh') return 'none'
  return capacity.jitDataStatus === 'available' ? 'availableLiquidity' : 'baseAvailableLiquidity'
}
