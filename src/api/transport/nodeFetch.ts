/**
 * A `Fetch` over undici with connections that are kept alive: a fifth of the cost of the global fetch on small requests, and it
 * knows whether a request had a connection to leave by (exchange.ts).
 */
import dns from 'node:dns'
import type { Clocks } from '../../base/clock.ts'
import {
  checkedLookup,
  forbiddenAddress,
  isForbiddenAddress,
  type ResolveAll,
} from '../../base/networkAddress.ts'
import { systemClock } from '../../base/systemClock.ts'
import { createConnections } from './connections.ts'
import { Exchange } from './exchange.ts'
import { RequestFailed } from './requestFailed.ts'
import type { Fetch, FetchAnswer } from './route.ts'

/** Limits of connections and bodies. */
export interface NodeFetchOptions {
  /** Largest answer that is read, bytes; a larger one breaks the request off. Default 32 MiB. */
  readonly maxBodyBytes?: number
  /**
   * Longest idle time of a connection that is still used again, ms. It is shorter than the venue's own limit, so that no request is written to a
   * connection that is being closed. It holds too when the process was held up meanwhile. Default 4000.
   */
  readonly idleMs?: number
  /** Idle connections kept to one host. Orders that share a commit all wait at once, and connect again if too few are kept. Default 64. */
  readonly idlePerHost?: number
  /** Resolver of names. Default the system's. */
  readonly resolve?: ResolveAll
  /** Clock for the idle time of connections. Default the system's. */
  readonly clock?: Clocks
}

/** A fetch that must be closed. */
export interface NodeFetch {
  readonly fetch: Fetch
  /** Closes all connections; requests in flight fail. */
  close(): void
}

const DEFAULT_MAX_BODY_BYTES = 32 * 1024 * 1024
const DEFAULT_IDLE_MS = 4_000
const DEFAULT_IDLE_PER_HOST = 64

/**
 * Makes a fetch with its own connections. Follows no redirect, asks for no compression, keeps no cookies, and connects to no
 * link-local or metadata address, however it is written and whatever name resolves to it.
 */
export function createNodeFetch(options: NodeFetchOptions = {}): NodeFetch {
  const maxBodyBytes = options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES
  const connections = createConnections({
    lookup: checkedLookup(options.resolve ?? dns.lookup),
    idleMs: options.idleMs ?? DEFAULT_IDLE_MS,
    idlePerHost: options.idlePerHost ?? DEFAULT_IDLE_PER_HOST,
    clock: options.clock ?? systemClock,
  })

  const fetch: Fetch = (url, init) =>
    new Promise<FetchAnswer>((resolve, reject) => {
      const target = new URL(url)
      const hostname = target.hostname.replace(/^\[(.+)\]$/, '$1')
      // An address is looked up by nobody.
      if (isForbiddenAddress(hostname)) {
        const { message, code } = forbiddenAddress(hostname, hostname)
        reject(new RequestFailed(message, { sent: 'no', code }))
        return
      }
      const { signal } = init
      if (signal?.aborted === true) {
        reject(new RequestFailed('aborted before the start', { sent: 'no' }))
        return
      }
      const connection = connections.take(target.origin)
      const exchange = new Exchange({ connection, signal, maxBodyBytes, resolve, reject })
      const { method, body, headers } = init
      connection.client.dispatch(
        {
          method,
          path: target.pathname + target.search,
          headers: target.username === '' ? headers : { ...headers, authorization: authorizationOf(target) },
          body: body ?? null,
        },
        exchange,
      )
    })

  return { fetch, close: connections.close }
}

/** The header by which name and password of a base address are sent. */
function authorizationOf({ username, password }: URL): string {
  const words = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return `Basic ${Buffer.from(words).toString('base64')}`
}
