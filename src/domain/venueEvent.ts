/** Answers of hosts and chain endpoints, and readings of the venue. */

import type { PriceSource } from '../protocol/market.ts'
import type { MissingRow } from '../protocol/missing.ts'
import type { Usd } from '../protocol/units.ts'
import type { ContestedPrice } from './order/contestedPrice.ts'

/** Feeds whose age is watched. */
export type Feed = 'tickers' | 'capacity' | 'positions' | 'orders' | 'candles' | 'oracle' | 'markets'

/** Events of the hosts, the chain, and their readings. `type` is the stable dotted name of the log line. */
export type VenueEvent =
  | {
      readonly type: 'host.attempt'
      readonly route: string
      readonly method: string
      readonly host: string
      readonly attempt: number
      readonly status?: number
      readonly durationMs: number
      readonly traceId?: string
      readonly outcome: string
      /** The host is in cooldown all the same, after this attempt. */
      readonly isResting?: true
    }
  | {
      readonly type: 'host.cooldown'
      readonly host: string
      readonly cooldownMs: number
      readonly reason: string
      /** Outcome of the failed request that caused the cooldown; absent: the stated reason caused it. */
      readonly outcome?: string
      /** With it every host of the application API, or of the oracle, is in cooldown. */
      readonly isLast?: true
    }
  /** The prices of an oracle host stand still, or move again; reported once each. `ageMs`: of its newest price. */
  | { readonly type: 'host.prices'; readonly host: string; readonly isStale: boolean; readonly ageMs: number }
  /** Rows of a polled list that could not be read: it was used without them, and is known to be incomplete. */
  | {
      readonly type: 'rows.missing'
      readonly route: string
      readonly host: string
      readonly rows: readonly MissingRow[]
    }
  /** Rows of a list that are of another account than the requested one: they were dropped. */
  | {
      readonly type: 'rows.foreign'
      readonly route: string
      readonly host: string
      readonly rows: number
    }
  /** A reduction uses another price than a fresh one of the oracle; reported when it is admitted. */
  | {
      readonly type: 'price.fallback'
      readonly symbol: string
      readonly source: PriceSource
      readonly ageMs: number
    }
  /** Hosts differ on the price of a reduction, and it is signed within the band of those that agree; reported when it is admitted. */
  | {
      readonly type: 'price.contested'
      readonly symbol: string
      readonly contested: ContestedPrice
    }
  /** Evidence that closes orders in this run. `endpoints` is 0 in API-only mode; `isWeak` when real money has no chain evidence. */
  | {
      readonly type: 'evidence.chosen'
      readonly source: 'chain' | 'api'
      readonly endpoints: number
      readonly text: string
      readonly isWeak: boolean
    }
  /** One question to a chain endpoint, or one look at it. Block numbers and ages are absent when it did not answer. */
  | {
      readonly type: 'chain.read'
      readonly endpoint: string
      readonly durationMs: number
      /** `ok`, `catching-up` while an endpoint's past is still being read, or the code of the fault. */
      readonly outcome: string
      readonly latest?: bigint
      readonly final?: bigint
      /** Blocks behind the newest that any endpoint shows. */
      readonly lagBlocks?: number
      /** By our wall clock; negative when the block's time is ahead of it. */
      readonly latestAgeSeconds?: number
      readonly error?: string
    }
  /** The chain's time and our clock differ; reported when a new order is about to be signed. */
  | { readonly type: 'chain.skew'; readonly skewSeconds: number; readonly isTooLarge: boolean }
  /** An endpoint's newest block against our clock and the hosts', when an order is about to be signed. */
  | {
      readonly type: 'chain.time'
      readonly endpoint: string
      /** Ahead of our clock or of the hosts' clocks, whichever is nearer; negative: behind. */
      readonly aheadSeconds: number
      /** It is too far away to tell the time. */
      readonly isSetAside: boolean
      /** Number of responding endpoints whose time counts. */
      readonly healthy: number
    }
  | { readonly type: 'feed.read'; readonly feed: Feed; readonly ageMs: number }
  | {
      readonly type: 'capacity.read'
      readonly symbol: string
      readonly direction: 'long' | 'short'
      readonly roomUsd: Usd
    }
