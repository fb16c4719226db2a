/** `POST /api/signals`: signals from outside, off unless a secret is configured. Their senders have no token of this port. */
import type { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { Emit } from '../domain/event.ts'
import type { SignalEvent, SignalRefusal } from '../domain/signalEvent.ts'
import type { EngineApi } from '../operator/port/engineStatus.ts'
import { createBucket, createBuckets } from './guard/access.ts'
import { addressOf } from './guard/addressOf.ts'
import { no, type Proven, type ServerRules } from './guard/requestGuard.ts'
import { readSignal } from './signalBody.ts'
import { proveSignal, type SignalReceiver, type SignalSecrets, signatureHeader } from './signalProof.ts'

/** Where signals are sent. */
export const signalPath = '/api/signals'
/** Longest body of a signal, bytes. */
const MOST_SIGNAL_BYTES = 2_048

/** Settings of the intake of signals. */
export interface SignalSettings {
  readonly secrets: SignalSecrets
  /** This daemon, which a signature names. */
  readonly receiver: SignalReceiver
  /** Greatest difference between the sender's time and the daemon's, ms. */
  readonly windowMs: number
  /** Most proven signals a second. */
  readonly perSecond: number
  /** Told of signals that are refused before the engine sees them. */
  readonly emit: Emit
}

const statuses: Readonly<Record<SignalRefusal, 400 | 401 | 403 | 404 | 409 | 410 | 421 | 429 | 503>> = {
  SIGNAL_UNAUTHORIZED: 401,
  SIGNAL_NOT_JSON: 400,
  SIGNAL_HOST_REFUSED: 421,
  SIGNAL_ORIGIN_REFUSED: 403,
  SIGNAL_MALFORMED: 400,
  SIGNAL_STALE: 410,
  SIGNAL_EXPIRED: 410,
  SIGNAL_REPLAYED: 409,
  SIGNAL_STRATEGY_UNKNOWN: 404,
  SIGNAL_MARKET_UNKNOWN: 404,
  SIGNAL_QUEUE_FULL: 503,
  SIGNAL_RATE_LIMITED: 429,
  SIGNALS_STOPPED: 503,
}

/** The event of a signal that the door of the port refused by this status, before anything of it was read; undefined: it makes no event. */
export function doorRefusal(status: number, perSecond: number): SignalEvent | undefined {
  const event = (code: SignalRefusal, reason: string): SignalEvent => ({
    type: 'signal.refused',
    code,
    reason,
  })
  switch (status) {
    case 421:
      return event(
        'SIGNAL_HOST_REFUSED',
        'it was sent to a name of this server that control.hostNames does not have',
      )
    case 403:
      return event('SIGNAL_ORIGIN_REFUSED', 'a page of another origin sent it')
    case 429:
      return event('SIGNAL_RATE_LIMITED', `more than ${perSecond} requests a second`)
    default:
      return undefined
  }
}

/** Adds the route. `now`: any clock in ms; only differences count. `requestsPerSecond`: of each address that proves nothing. */
export function signalRoutes(
  app: Hono<Proven>,
  engine: EngineApi,
  { secrets, receiver, windowMs, perSecond, emit }: SignalSettings,
  { now, requestsPerSecond }: ServerRules,
): void {
  const bucket = createBucket(perSecond, now)
  const failures = createBuckets(requestsPerSecond, now)
  const limited = bodyLimit({
    maxSize: MOST_SIGNAL_BYTES,
    onError(c) {
      const reason = `a signal has at most ${MOST_SIGNAL_BYTES} bytes`
      emit({ type: 'signal.refused', code: 'SIGNAL_MALFORMED', reason })
      return no(c, 413, 'BODY_TOO_LARGE', `${reason}.`)
    },
  })
  app.post(signalPath, limited, async (c) => {
    const refused = (code: SignalRefusal, reason: string) => no(c, statuses[code], code, reason)
    const told = (code: SignalRefusal, reason: string) => {
      emit({ type: 'signal.refused', code, reason })
      return refused(code, reason)
    }
    const bytes = new Uint8Array(await c.req.arrayBuffer())
    const proof = proveSignal(secrets, receiver, c.req.header(signatureHeader), bytes)
    if (!proof.ok) {
      // The code first: a flood of what fails takes from the bucket of its address, and from no sender that signs.
      if (failures.take(addressOf(c))) {
        emit({ type: 'signal.refused', code: proof.code, reason: proof.reason, ...proof.told })
        return refused(proof.code, proof.reason)
      }
      const reason = 'too many signals that nobody proved'
      emit({ type: 'signal.refused', code: 'SIGNAL_RATE_LIMITED', reason })
      c.header('Retry-After', '1')
      return no(c, 429, 'RATE_LIMITED', `Refused: ${reason}; try again in a second.`)
    }
    if (!bucket.take()) {
      c.header('Retry-After', '1')
      return told('SIGNAL_RATE_LIMITED', `more than ${perSecond} signals a second`)
    }
    const read = readSignal(proof)
    if (!read.ok) {
      emit({ type: 'signal.refused', code: 'SIGNAL_MALFORMED', ...read.problem })
      return refused('SIGNAL_MALFORMED', read.problem.reason)
    }
    const answer = await engine.signal({ ...read.message, windowMs })
    if (!answer.ok) return refused(answer.code, answer.reason)
    const { number, strategy, action, symbol, expiresAtMs } = answer.signal
    return c.json({ ok: true, signal: number, strategy, action, market: symbol, expiresAtMs }, 202)
  })
}
