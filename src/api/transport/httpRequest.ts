/** One HTTP exchange with a limit on its time: a status and a body, or silence. */
import type { Clock } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import { type RequestPlace, type Sent, UnreachableError } from './apiErrors.ts'
import { sentOf } from './requestFailed.ts'
import type { Fetch } from './route.ts'

/** The response. */
export interface HttpAnswer {
  readonly status: number
  readonly body: string
  readonly traceId: string | undefined
  readonly retryAfterMs: number | undefined
  /** The `Date` header as it came. */
  readonly date: string | null
  /** The `Location` header as it came. */
  readonly location: string | null
  /** Unix ms when the request left. */
  readonly leftAtMs: number
  /** Time until the response was complete, ms; a jump of the wall clock does not change it. */
  readonly tookMs: number
}

const readHeaders = { accept: 'application/json', 'user-agent': 'perpd' }
const writeHeaders = { ...readHeaders, 'content-type': 'application/json' }

/** Why a signal is aborted when nothing went wrong: an exchange is over. Made once; an error made each time is dear. */
const over = new Error('the exchange is over')

/** Turns of the microtask queue in which an aborted fetch says how far it had come. */
const ABORT_TURNS = 16

/**
 * Sends one request and waits for the whole answer.
 *
 * @throws UnreachableError on a timeout or a broken connection; `sent` says whether a byte may have left.
 */
export async function httpRequest(
  context: { readonly fetch: Fetch; readonly clock: Clock },
  place: RequestPlace,
  request: { readonly url: string; readonly body: string | undefined; readonly timeoutMs: number },
  attempt: number,
): Promise<HttpAnswer> {
  const { clock } = context
  const controller = new AbortController()
  const pending = converse(context, place, request, controller.signal)
  // A timeout wins the race before the aborted fetch rejects; that rejection must not go unheard.
  pending.catch(() => {})
  try {
    if (!Number.isFinite(request.timeoutMs)) return await pending
    const timeout = clock.sleep(request.timeoutMs, controller.signal)
    const first = await Promise.race([pending, timeout])
    if (first !== undefined) return first
    controller.abort()
    const last = await Promise.race([pending.catch((error: unknown) => ({ error })), afterTurns(ABORT_TURNS)])
    if (last !== undefined && 'status' in last) return last
    const sent: Sent = last === undefined ? 'maybe' : sentOf(last.error)
    const { timeoutMs } = request
    throw new UnreachableError({ ...place, silence: 'timeout', sent, attempts: attempt, timeoutMs })
  } catch (cause) {
    if (cause instanceof UnreachableError) throw cause
    throw new UnreachableError({
      ...place,
      silence: 'network',
      sent: sentOf(cause),
      attempts: attempt,
      cause,
    })
  } finally {
    // Wakes the sleeper; the request itself has had its end.
    controller.abort(over)
  }
}

async function converse(
  { fetch, clock }: { readonly fetch: Fetch; readonly clock: Clock },
  place: RequestPlace,
  request: { readonly url: string; readonly body: string | undefined },
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const leftAtMs = clock.now()
  const startedMs = clock.monotonicMs()
  const answer = await fetch(request.url, {
    method: place.method === 'POST' ? 'POST' : 'GET',
    headers: request.body === undefined ? readHeaders : writeHeaders,
    ...defined({ body: request.body }),
    signal,
    redirect: 'manual',
  })
  // Bytes of an answer show that the request had left, however its body breaks off.
  let body: string
  try {
    body = await answer.text()
  } catch (cause) {
    throw new Error(`the answer broke off after status ${answer.status}`, { cause: withoutCode(cause) })
  }
  const arrivedAtMs = clock.now()
  const date = answer.headers.get('date')
  return {
    status: answer.status,
    body,
    traceId: answer.headers.get('x-trace-id') ?? undefined,
    retryAfterMs: retryAfterOf(answer.headers.get('retry-after'), date, arrivedAtMs),
    date,
    location: answer.headers.get('location'),
    leftAtMs,
    tookMs: clock.monotonicMs() - startedMs,
  }
}

function withoutCode(cause: unknown): Error {
  return new Error(cause instanceof Error ? cause.message : String(cause))
}

/**
 * `Retry-After` in ms from now: seconds, or an HTTP date, which is the host's time and so is told from the answer's own
 * `Date`, from our clock where there is none. Undefined when absent or unreadable.
 */
function retryAfterOf(header: string | null, date: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000
  const untilMs = Date.parse(header)
  if (Number.isNaN(untilMs)) return undefined
  const sentMs = date === null ? Number.NaN : Date.parse(date)
  return Math.max(0, untilMs - (Number.isNaN(sentMs) ? nowMs : sentMs))
}

async function afterTurns(turns: number): Promise<undefined> {
  for (let turn = 0; turn < turns; turn++) await undefined
  return undefined
}
