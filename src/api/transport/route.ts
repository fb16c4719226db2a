/** Defines the parts of a request: the fetch, the route, and the result of a call. */
import type { MissingRow } from '../../protocol/missing.ts'
import type { RouteKind } from './apiErrors.ts'
import type { Service } from './hosts.ts'

/** Sends a request. Global fetch fits; `createNodeFetch` is faster and reports whether a byte left. */
export type Fetch = (
  url: string,
  init: {
    method: 'GET' | 'POST'
    headers: Record<string, string>
    body?: string
    signal?: AbortSignal
    /** Redirects are answers, not orders: a redirected submit would be a second POST. */
    redirect?: 'manual'
  },
) => Promise<FetchAnswer>

/** The part of a `Response` that is used. */
export interface FetchAnswer {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  text(): Promise<string>
}

/** A parameter of a query: a list is sent as repeated keys. Undefined is not sent. */
export type QueryValue = string | number | boolean | readonly string[] | undefined

/** Context of a decoder, in addition to the body. */
export interface RouteQuery<Input> {
  readonly input: Input
  /** Takes the rows of a list that could not be read. */
  readonly missing: MissingRow[]
  /** Takes note of a row of another account, which is dropped. */
  readonly dropForeign?: () => void
  /**
   * The last answer to the same question and what it was decoded to, where answers are handed over in one process: rows that did not change are the
   * same objects in both. Absent where every answer is a text of its own.
   */
  readonly last?: { readonly body: unknown; readonly value: unknown }
}

/** One route of one API: how to ask, and how to read the answer. */
export interface Route<Input, Value> {
  /** Path template below the base address, `/positions/{key}`: the name in logs and errors. */
  readonly path: string
  readonly method: 'GET' | 'POST'
  readonly service: Service
  readonly kind: RouteKind
  /** The venue's own cache window, ms: reads within it share one request. Absent shares only while pending. */
  readonly cacheMs?: number | ((input: Input) => number)
  /** A documented route timeout, ms; the client never waits longer. */
  readonly timeoutMs?: number
  /** The path with its parameters in place; default `path`. */
  readonly pathOf?: (input: Input) => string
  readonly query?: (input: Input) => Readonly<Record<string, QueryValue>>
  /** JSON body of a POST. */
  readonly body?: (input: Input) => unknown
  /** Another version than the base address's, for a route that is served under `/v2` only. */
  readonly version?: 'v2'
  /**
   * A read whose 308 is followed, once, to a host that is configured or of the same family, or to another path of its own
   * origin. Any other redirect is an answer of its own (docs/reference/api-coverage.md A15).
   */
  readonly followsRedirect?: true
  /** Meaning of a 503 of this route where the document states one; it says nothing about the host. */
  readonly unservedMeans?: string
  /** A read of history: many are asked at once, and they may come late. It leaves the way free for others (requestQueue.ts). */
  readonly isHistory?: true
  /** Keeps numbers that a float would change as their source text. */
  readonly isExact?: boolean
  /** Reads the parsed body; throws `Malformed`. */
  readonly decode: (body: unknown, asked: RouteQuery<Input>) => Value
  /**
   * When the newest part of the answer was made, by its own stamp, Unix ms. An answer older than `limits.maxPriceAgeMs` is a
   * failure of its host, and the others are asked; if none has a fresh one, the freshest is the answer.
   */
  madeAtMs?(value: Value): number
}

/**
 * Time for which reads of the same query share one request where no document gives a window, ms. It is below the second in which the venue's own
 * caches and a polling strategy move. A read that must not be older than the call sets `isFresh`.
 */
export const COALESCE_MS = 500

/** A value with what is known of its age. */
export interface Read<T> {
  readonly value: T
  /** Unix ms when the request that gave it left, so that a shared answer is never called younger than it is. */
  readonly readAtMs: number
  /** The host's own clock when it answered (`Date` header, whole seconds), Unix ms. */
  readonly serverDateMs?: number
  /** Base address of the host that answered. */
  readonly host: string
  /** Rows of the list that could not be read: it is incomplete. Absent: none. */
  readonly missing?: readonly MissingRow[]
}

/** Deviations of one call from the defaults. */
export interface CallOptions {
  /** Ask this host and no other. */
  readonly host?: string
  /** Do not take an answer that was asked for before this call. */
  readonly isFresh?: boolean
  /** Other than `limits.attempts`; a submit always has one. */
  readonly attempts?: number
  /** Other than the limit of the route's kind, ms. */
  readonly timeoutMs?: number
}

/** The same read with another value. */
export function mapRead<From, To>(read: Read<From>, map: (value: From) => To): Read<To> {
  return { ...read, value: map(read.value) }
}

/** The base address under another version: the last path segment of the form `/v1` is replaced. */
function versionedBase(base: string, version: 'v2' | undefined): string {
  return version === undefined ? base : `${base.replace(/\/v\d+$/, '')}/${version}`
}

/** The whole address of a request at one host. */
export function urlOf<Input>(route: Route<Input, unknown>, input: Input, base: string): string {
  return versionedBase(base, route.version) + targetOf(route, input)
}

/** Path and query of a request; symbols are percent-encoded, lists become repeated keys. */
export function targetOf<Input>(route: Route<Input, unknown>, input: Input): string {
  const path = route.pathOf?.(input) ?? route.path
  const query = route.query?.(input)
  if (query === undefined) return path
  const parts: string[] = []
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined) continue
    const values = Array.isArray(value) ? value : [value]
    for (const each of values) parts.push(`${key}=${encodeURIComponent(String(each))}`)
  }
  return parts.length === 0 ? path : `${path}?${parts.join('&')}`
}
