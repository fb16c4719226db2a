/**
 * JSON-RPC over WebSocket: calls as over HTTP, and the heads that the endpoint pushes. The connection is made anew whenever
 * it is lost; what was asked on the old one fails and is asked again by the next look.
 */
import dns from 'node:dns'
import { WebSocket } from 'ws'
import type { Clock } from '../../base/clock.ts'
import {
  checkedLookup,
  forbiddenAddress,
  isForbiddenAddress,
  type ResolveAll,
} from '../../base/networkAddress.ts'
import type { RpcTransport } from './jsonRpc.ts'
import { readSocketMessage } from './socketMessage.ts'

/** Largest message that is taken, bytes. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 30_000
/** A connection that says nothing for this long is lost: heads come every few seconds. */
const SILENCE_MS = 60_000
/** Ids of the connection's own calls; the client's begin at 1. */
const SUBSCRIBE_ID = 0

/** A transport that also tells of pushed heads. */
export interface SocketTransport extends RpcTransport {
  /** Resolves when the first connection is open, or could not be made. */
  readonly tried: Promise<void>
  /** The parameters of each pushed head, unread. Returns how to stop. */
  onHead(listener: (head: unknown) => void): () => void
}

interface Waiting {
  readonly resolve: (text: string) => void
  readonly reject: (error: Error) => void
}

/**
 * Connects to an address, and stays connected until it is closed. Never throws for what the network does. Follows no redirect,
 * and connects to no link-local or metadata address: such a host is tried again like one that does not answer.
 */
export function createSocketTransport(
  url: string,
  clock: Clock,
  resolve: ResolveAll = dns.lookup,
): SocketTransport {
  const lookup = checkedLookup(resolve)
  const stopping = new AbortController()
  const waiting = new Map<number, Waiting>()
  const listeners = new Set<(head: unknown) => void>()
  let socket: WebSocket | undefined
  let heardMs = clock.monotonicMs()
  /** Why the newest connection that could not be made was not. */
  let refusal: Error | undefined
  const tried = Promise.withResolvers<void>()

  function fail(why: string): void {
    for (const { reject } of waiting.values()) reject(new Error(why))
    waiting.clear()
  }

  function take(text: string): void {
    heardMs = clock.monotonicMs()
    const message = readSocketMessage(text)
    if (message.kind === 'none') return
    if (message.kind === 'head') {
      for (const listener of listeners) listener(message.head)
      return
    }
    // A refusal of a whole request has no id of ours.
    const key = message.id ?? [...waiting.keys()][0]
    const found = key === undefined ? undefined : waiting.get(key)
    if (key === undefined || found === undefined) return
    waiting.delete(key)
    found.resolve(text)
  }

  async function stayConnected(): Promise<void> {
    let waitMs = FIRST_WAIT_MS
    while (!stopping.signal.aborted) {
      const wasOpen = await connection()
      waitMs = wasOpen ? FIRST_WAIT_MS : Math.min(waitMs * 2, LONGEST_WAIT_MS)
      await clock.sleep(waitMs, stopping.signal)
    }
  }

  /** One connection from its beginning to its end; whether it was ever open. */
  function connection(): Promise<boolean> {
    // An address is looked up by nobody.
    const { hostname } = new URL(url)
    if (isForbiddenAddress(hostname)) {
      refusal = forbiddenAddress(hostname, hostname)
      tried.resolve()
      return Promise.resolve(false)
    }
    return new Promise((resolve) => {
      const made = new WebSocket(url, {
        maxPayload: MAX_MESSAGE_BYTES,
        handshakeTimeout: 10_000,
        followRedirects: false,
        lookup,
      })
      let wasOpen = false
      const watch = new AbortController()
      const end = (): void => {
        watch.abort()
        if (socket === made) socket = undefined
        fail('the connection was lost')
        tried.resolve()
        resolve(wasOpen)
      }
      made.on('open', () => {
        wasOpen = true
        socket = made
        refusal = undefined
        tried.resolve()
        heardMs = clock.monotonicMs()
        made.send(
          JSON.stringify({ jsonrpc: '2.0', id: SUBSCRIBE_ID, method: 'eth_subscribe', params: ['newHeads'] }),
        )
        void watchSilence(made, watch.signal)
      })
      made.on('message', (data) => take(data.toString()))
      // Told again by the close that follows.
      made.on('error', (error) => {
        refusal = error
        made.terminate()
      })
      made.on('close', end)
      stopping.signal.addEventListener('abort', () => made.terminate(), { once: true, signal: watch.signal })
    })
  }

  async function watchSilence(made: WebSocket, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(SILENCE_MS, signal)
      if (!signal.aborted && clock.monotonicMs() - heardMs >= SILENCE_MS) return made.terminate()
    }
  }

  void stayConnected()
  return {
    tried: tried.promise,
    send(text, signal) {
      return new Promise((resolve, reject) => {
        if (socket === undefined || socket.readyState !== socket.OPEN) {
          reject(refusal ?? new Error('not connected'))
          return
        }
        const request: unknown = JSON.parse(text)
        const [first] = Array.isArray(request) ? request : [request]
        const key = (first as { readonly id: number }).id
        const leave = (): void => {
          waiting.delete(key)
          reject(new Error('aborted'))
        }
        const done = (): void => signal.removeEventListener('abort', leave)
        signal.addEventListener('abort', leave, { once: true })
        waiting.set(key, {
          resolve: (answer) => {
            done()
            resolve(answer)
          },
          reject: (error) => {
            done()
            reject(error)
          },
        })
        socket.send(text)
      })
    },
    onHead(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      stopping.abort()
      fail('closed')
      socket?.terminate()
    },
  }
}
