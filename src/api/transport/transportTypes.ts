/** Defines the options of the transport, and its reports on each request. */
import type { Clock } from '../../base/clock.ts'
import type { MissingRow } from '../../protocol/missing.ts'
import type { HostCooldown, HostLists, HostPrices } from './hosts.ts'
import type { ApiLimits } from './requestLimits.ts'
import type { CallOptions, Fetch, Read, Route } from './route.ts'

/** Outcome of one attempt. */
export type AttemptOutcome =
  | 'ok'
  | 'refused'
  | 'undecodable'
  | 'timeout'
  | 'not-sent'
  | 'network'
  | 'not-now'
  | 'redirected'

/** One attempt of one request, for logs and metrics. */
export interface RequestAttempt {
  readonly route: string
  readonly method: string
  readonly host: string
  /** 1, 2, 3, ... */
  readonly attempt: number
  readonly status?: number
  readonly durationMs: number
  readonly traceId?: string
  readonly outcome: AttemptOutcome
  /** The host is in cooldown all the same, after this attempt. */
  readonly isResting?: true
}

/** Rows of one answer that could not be read. */
export interface MissingRows {
  readonly route: string
  readonly host: string
  readonly rows: readonly MissingRow[]
}

/** Rows of one answer that are of another account than the one that was asked about. */
export interface ForeignRows {
  readonly route: string
  readonly host: string
  readonly rows: number
}

/** Options of a transport. */
export interface TransportOptions {
  readonly hosts: HostLists
  readonly fetch: Fetch
  readonly clock: Clock
  /** Evenly distributed in [0, 1); jitter of backoffs. */
  readonly random: () => number
  readonly limits?: Partial<ApiLimits>
  /** Told of every attempt of every request. */
  readonly onAttempt?: (attempt: RequestAttempt) => void
  /** Receives each host that enters a cooldown. */
  readonly onCooldown?: (rest: HostCooldown) => void
  /** Told when the prices of an oracle host stand still, and when they go on. */
  readonly onPrices?: (prices: HostPrices) => void
  /** Told of every list with rows that could not be read. */
  readonly onMissing?: (missing: MissingRows) => void
  /** Told of every list with rows of another account, which were dropped. */
  readonly onForeign?: (foreign: ForeignRows) => void
}

/** Makes requests; the route files stand on it. */
export interface Transport {
  /** Base addresses in use, of both APIs, in the configured order. */
  readonly hosts: HostLists
  readonly limits: ApiLimits
  /**
   * Asks a route.
   *
   * @throws RefusedError, UnreachableError, DecodeError.
   */
  call<Input, Value>(route: Route<Input, Value>, input: Input, options?: CallOptions): Promise<Read<Value>>
  /** Puts a host in cooldown: no new requests, and no new orders even if every host is in cooldown. */
  coolDown(host: string, restMs: number, reason: string): void
  /** Tells whether the host is in cooldown now. */
  isCoolingDown(host: string): boolean
  /** The host's clock less ours, ms, to about half a second; undefined before its first answer. */
  clockSkewMs(host: string): number | undefined
}
