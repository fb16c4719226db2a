/** Requests of the page: what was answered, or why not, as values. */
import { pageKeyHeaders } from './feed/pageKey.ts'
import { routeOf } from './pageAccount.ts'

/** Pools that a short symbol may mean, with their capacity in USD with 30 decimals; null: nothing fresh says it. */
type PoolChoices = readonly { readonly symbol: string; readonly freeUsd: string | null }[]

/** An answer; or a refusal or a fault with its code. `status` is 0 where nothing answered; `pools` stand in MARKET_AMBIGUOUS. */
export type Answered<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false
      readonly status: number
      readonly code: string
      readonly message: string
      readonly pools?: PoolChoices | undefined
    }

/** Code of what nothing answered to. */
export const NO_ANSWER = 'NO_ANSWER'

/** Longest wait for a response, ms. */
const timeoutMs = 20_000

/** Reads a route. */
export function read<T>(path: string): Promise<Answered<T>> {
  return ask<T>(path, { method: 'GET' })
}

/** Asks for a change. */
export function send<T>(method: 'POST' | 'DELETE', path: string, body?: unknown): Promise<Answered<T>> {
  if (body === undefined) return ask<T>(path, { method })
  return ask<T>(path, { method, body: JSON.stringify(body) })
}

async function ask<T>(path: string, init: RequestInit): Promise<Answered<T>> {
  try {
    const response = await fetch(routeOf(path), {
      ...init,
      headers: {
        ...pageKeyHeaders(),
        // A refusal is an answer; as a 4xx, the browser logs a failed request.
        'x-perpd-refusals': 'answered',
        ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      credentials: 'same-origin',
      cache: 'no-store',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const value: unknown = await response.json()
    const {
      ok = response.ok,
      status = response.status,
      error = `HTTP_${status}`,
      message = response.statusText,
      pools,
    } = (value ?? {}) as {
      readonly ok?: boolean
      readonly status?: number
      readonly error?: string
      readonly message?: string
      readonly pools?: PoolChoices
    }
    return ok ? { ok, value: value as T } : { ok, status, code: error, message, pools }
  } catch (error) {
    return { ok: false, status: 0, code: NO_ANSWER, message: error instanceof Error ? error.message : '' }
  }
}
