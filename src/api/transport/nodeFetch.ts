/**
 * A `Fetch` over node:http and node:https with connections that are kept alive: half the cost of the global fetch on
 * small requests, and it knows whether a request had a connection to leave by.
 *
 * **What "not sent" means here.** A request is written only once its connection stands (over TLS: once the certificate was
 * accepted). A failure before that (name not found, connection refused, host unreachable, TLS not established, aborted
 * while connecting) left no byte of the request. From then on, and on a connection that was kept alive, it may have left.
 */
import dns from 'node:dns'
import http from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import {
  checkedLookup,
  forbiddenAddress,
  isForbiddenAddress,
  type ResolveAll,
} from '../../base/networkAddress.ts'
import { systemClock } from '../../base/systemClock.ts'
import { watchIdle } from './idleConnections.ts'
import { RequestFailed } from './requestFailed.ts'
import type { Fetch, FetchAnswer } from './route.ts'

/** Limits of connections and bodies. */
export interface NodeFetchOptions {
  /** Largest answer that is read, bytes; a larger one breaks the request off. Default 32 MiB. */
  readonly maxBodyBytes?: number
  /**
   * How long a connection may idle and still be used again, ms. Shorter than the venue's own limit, so that a request is
   * not written to a connection that is being closed. It holds too when the process was held up meanwhile. Default 4000.
   */
  readonly idleMs?: number
  /** Idle connections kept to one host. Orders that share a commit all wait at once, and connect again if too few are kept. Default 64. */
  readonly idlePerHost?: number
  /** What resolves names. Default the system's. */
  readonly resolve?: ResolveAll
  /** What the idle time of connections is told by. Default the system's. */
  readonly clock?: Pick<Clock, 'now' | 'monotonicMs'>
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
  const agentOptions = {
    keepAlive: true,
    timeout: options.idleMs ?? DEFAULT_IDLE_MS,
    maxFreeSockets: options.idlePerHost ?? DEFAULT_IDLE_PER_HOST,
  }
  const lookup = checkedLookup(options.resolve ?? dns.lookup)
  const plain = new http.Agent(agentOptions)
  const secure = new https.Agent(agentOptions)
  const clock = options.clock ?? systemClock
  const closeIdle = { plain: watchIdle(plain, clock), secure: watchIdle(secure, clock) }

  const fetch: Fetch = (url, init) =>
    new Promise<FetchAnswer>((resolve, reject) => {
      const target = new URL(url)
      const isSecure = target.protocol === 'https:'
      const hostname = target.hostname.replace(/^\[(.+)\]$/, '$1')
      // An address is looked up by nobody.
      if (isForbiddenAddress(hostname)) {
        const { message, code } = forbiddenAddress(hostname, hostname)
        reject(new RequestFailed(message, { sent: 'no', code }))
        return
      }
      // As text, because Node then writes head and body in one piece.
      const { body } = init
      let hasConnection = false
      let isDone = false
      closeIdle[isSecure ? 'secure' : 'plain']()

      // Cheaper than handing in the URL, which Node would take apart and copy again.
      const request = (isSecure ? https : http).request({
        hostname,
        lookup,
        port: target.port,
        path: target.pathname + target.search,
        auth: authOf(target),
        method: init.method,
        agent: isSecure ? secure : plain,
        headers:
          body === undefined ? init.headers : { ...init.headers, 'content-length': Buffer.byteLength(body) },
      })

      function settle(): void {
        isDone = true
        init.signal?.removeEventListener('abort', abort)
      }
      function fail(message: string, cause?: unknown): void {
        if (isDone) return
        settle()
        reject(new RequestFailed(message, { sent: hasConnection ? 'maybe' : 'no', code: codeOf(cause) }))
        request.destroy()
      }
      function abort(): void {
        fail(hasConnection ? 'aborted while waiting for the answer' : 'aborted while connecting')
      }

      function send(): void {
        if (isDone) return
        hasConnection = true
        if (body === undefined) request.end()
        else request.end(body, 'utf8')
      }

      request.once('socket', (socket: Socket) => {
        const isConnecting = socket.connecting || (isSecure && isHandshaking(socket))
        if (isConnecting) socket.once(isSecure ? 'secureConnect' : 'connect', send)
        else send()
      })
      request.on('error', (error: Error) => fail(error.message, error))
      request.once('response', (response) => {
        const chunks: Buffer[] = []
        let length = 0
        response.on('data', (chunk: Buffer) => {
          length += chunk.length
          if (length > maxBodyBytes) fail(`the answer is larger than ${maxBodyBytes} bytes`)
          else chunks.push(chunk)
        })
        response.on('error', (error: Error) => fail(`the answer broke off: ${error.message}`, error))
        response.once('aborted', () => fail('the answer broke off'))
        response.once('end', () => {
          if (isDone) return
          if (!response.complete) {
            fail('the answer broke off')
            return
          }
          settle()
          const text =
            chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks, length).toString('utf8')
          const { headers } = response
          resolve({
            status: response.statusCode ?? 0,
            headers: { get: (name) => headerOf(headers, name) },
            text: () => Promise.resolve(text),
          })
        })
      })
      if (init.signal?.aborted === true) {
        abort()
        return
      }
      init.signal?.addEventListener('abort', abort, { once: true })
    })

  return {
    fetch,
    close() {
      plain.destroy()
      secure.destroy()
    },
  }
}

/** A TLS socket that is connected but whose peer is not accepted yet. */
function isHandshaking(socket: Socket): boolean {
  return 'secureConnecting' in socket && socket.secureConnecting === true
}

/** Name and password of a base address that has them, as node:http wants them. */
function authOf({ username, password }: URL): string | null {
  return username === '' ? null : `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
}

function headerOf(headers: http.IncomingHttpHeaders, name: string): string | null {
  const value = headers[name.toLowerCase()]
  if (value === undefined) return null
  return Array.isArray(value) ? value.join(', ') : value
}

function codeOf(cause: unknown): string | undefined {
  const { code } = (cause ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : undefined
}
