/** What the tests of the clients stand on: a clock that jumps, a scripted fetch, and fixtures. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import type { Fetch, FetchAnswer } from '../../src/api/transport/route.ts'
import { createTransport } from '../../src/api/transport/transport.ts'
import type { Transport, TransportOptions } from '../../src/api/transport/transportTypes.ts'
import type { Clock } from '../../src/base/clock.ts'

/** Wall clock at which tests start. */
export const START_MS = 1_800_000_000_000

/** A clock that moves only when told, or when `drive` finds everybody waiting for it. */
export interface JumpingClock extends Clock {
  /** Runs a promise to its end, jumping to the next timer whenever nothing else moves. Gives the sleeps it took. */
  drive<T>(promise: Promise<T>): Promise<T>
  /** Moves time, waking sleepers in order. */
  advance(ms: number): Promise<void>
  readonly sleepers: number
}

export function jumpingClock(): JumpingClock {
  let nowMs = 0
  let timers: { readonly atMs: number; readonly wake: () => void }[] = []

  async function settle(): Promise<void> {
    for (let count = 0; count < 3; count++) await turn()
  }
  function wakeNext(untilMs: number): boolean {
    const next = timers.toSorted((one, other) => one.atMs - other.atMs)[0]
    if (next === undefined || next.atMs > untilMs) return false
    nowMs = Math.max(nowMs, next.atMs)
    next.wake()
    return true
  }
  return {
    now: () => START_MS + nowMs,
    monotonicMs: () => nowMs,
    get sleepers() {
      return timers.length
    },
    sleep(ms, signal) {
      return new Promise((resolve) => {
        const timer = {
          atMs: nowMs + ms,
          wake: () => {
            timers = timers.filter((each) => each !== timer)
            signal?.removeEventListener('abort', timer.wake)
            resolve()
          },
        }
        if (signal?.aborted) return resolve()
        signal?.addEventListener('abort', timer.wake, { once: true })
        timers.push(timer)
      })
    },
    async drive(promise) {
      let isDone = false
      const done = () => {
        isDone = true
      }
      promise.then(done, done)
      await settle()
      while (!isDone) {
        if (!wakeNext(Number.POSITIVE_INFINITY))
          throw new Error('nothing moves and nobody waits for the clock')
        await settle()
      }
      return promise
    },
    async advance(ms) {
      const untilMs = nowMs + ms
      await settle()
      while (wakeNext(untilMs)) await settle()
      nowMs = untilMs
      await settle()
    },
  }
}

/** One request as the scripted fetch saw it. */
export interface Seen {
  readonly url: string
  readonly method: string
  readonly body: string | undefined
  readonly atMs: number
}

/** What the scripted fetch does: an answer, an error to reject with, or silence until aborted. */
export type Reply = { status?: number; body?: unknown; headers?: Record<string, string> } | Error | 'silence'

function answerOf(reply: Exclude<Reply, Error | 'silence'>): FetchAnswer {
  const headers = new Map(
    Object.entries(reply.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  )
  const text = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {})
  return {
    status: reply.status ?? 200,
    headers: { get: (name) => headers.get(name.toLowerCase()) ?? null },
    text: () => Promise.resolve(text),
  }
}

/** A fetch that asks `reply` what to do with each request. */
export function scriptedFetch(
  clock: Clock,
  reply: (seen: Seen, index: number) => Reply,
): { readonly fetch: Fetch; readonly seen: Seen[] } {
  const seen: Seen[] = []
  const fetch: Fetch = (url, init) => {
    const request = { url, method: init.method, body: init.body, atMs: clock.monotonicMs() }
    seen.push(request)
    const does = reply(request, seen.length - 1)
    if (does instanceof Error) return Promise.reject(does)
    if (does !== 'silence') return Promise.resolve(answerOf(does))
    return new Promise((_resolve, reject) => {
      init.signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
    })
  }
  return { fetch, seen }
}

export const peers = { api: ['http://one/v1', 'http://two/v1'], oracle: ['http://primary', 'http://spare'] }

/** A transport over a script, with a jumping clock and the middle of every jitter. */
export function scriptedTransport(
  reply: (seen: Seen, index: number) => Reply,
  options: Partial<TransportOptions> = {},
): { readonly transport: Transport; readonly clock: JumpingClock; readonly seen: Seen[] } {
  const clock = jumpingClock()
  const { fetch, seen } = scriptedFetch(clock, reply)
  const transport = createTransport({ hosts: peers, fetch, clock, random: () => 0.5, ...options })
  return { transport, clock, seen }
}

/** A transport whose every answer is this body. */
export function transportAnswering(body: unknown): Transport {
  return scriptedTransport(() => ({ body: typeof body === 'string' ? body : JSON.stringify(body) })).transport
}

/** A transport whose every answer has this status and this text. */
export function transportAnsweringStatus(status: number, body: string): Transport {
  return scriptedTransport(() => ({ status, body })).transport
}

/** A body from test/fixtures/api, as text. */
export function fixtureText(name: string): string {
  return readFileSync(join(import.meta.dirname, '..', 'fixtures', 'api', `${name}.json`), 'utf8')
}

/** The error that a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}

/** The machine's own time, for tests over real connections. */
export const realClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const timer = setTimeout(resolve, ms)
      signal?.addEventListener('abort', () => {
        clearTimeout(timer)
        resolve()
      })
    }),
}
