/**
 * One attempt of an intent up to its signature: prepare, show the warnings, verify, sign. Nothing here is sent, and no
 * signature leaves this process; what became of it goes back to the machine as one event.
 */
import { DecodeError, RefusedError } from '../api/errors.ts'
import type { Prepared } from '../api/orders.ts'
import { sameHex } from '../domain/address.ts'
import { BaseError, reasonOf } from '../domain/errors.ts'
import type { Event } from '../domain/event.ts'
import type { Intent } from '../domain/intent.ts'
import type { MachineEvent } from '../domain/machine/step.ts'
import type { ExecutionContext } from './context.ts'
import { prepare } from './prepare.ts'
import { armedFactsOf, type Signed, sign } from './sign.ts'
import { type Rejection, verify } from './verify.ts'

/** What the machine is told, and the signature that waits for its J3. */
export interface MadeAttempt {
  readonly event: MachineEvent
  readonly signed: Signed | undefined
}

/** Reports how long a step took since `sinceMs` (monotonic), and gives the time now. */
export function timed(
  context: Pick<ExecutionContext, 'clock' | 'emit'>,
  intentId: string,
  step: Extract<Event, { type: 'order.timing' }>['step'],
  sinceMs: number,
): number {
  const nowMs = context.clock.monotonicMs()
  context.emit({ type: 'order.timing', intentId, step, durationMs: nowMs - sinceMs })
  return nowMs
}

/** Makes one attempt at `host`. Never throws for anything that the network, the venue or the signer did. */
export async function makeAttempt(
  context: ExecutionContext,
  intent: Intent,
  host: string,
): Promise<MadeAttempt> {
  const { clock, chain, signer, journal } = context
  // The message of an own-wallet order does not say whose it is: the signature does. An intent of another account or chain,
  // from a journal that was shared or a key that was changed, must never be signed by this key.
  if (!sameHex(intent.account, signer.address) || intent.chain !== chain.name) {
    const reason = `the order is ${intent.account}'s on ${intent.chain}, and this perpd signs for ${signer.address} on ${chain.name}`
    return refused(context, 'ACCOUNT_MISMATCH', reason, {})
  }
  let atMs = clock.monotonicMs()
  let prepared: Prepared
  try {
    prepared = await prepare(context, intent, host)
  } catch (error) {
    return prepareFailed(context, host, error)
  }
  atMs = timed(context, intent.intentId, 'prepare', atMs)
  const warned = showWarnings(context, intent, prepared)
  if (warned !== undefined) return warned
  const nowSeconds = (clock.now() + (context.api.clockSkewMs(prepared.host) ?? 0)) / 1000
  const verified = verify(chain, intent, prepared, context.signingPolicy(), nowSeconds)
  atMs = timed(context, intent.intentId, 'verify', atMs)
  if ('kind' in verified) return rejected(context, intent, prepared, verified)
  let signed: Signed
  try {
    signed = await sign(signer, verified)
  } catch (error) {
    return refused(context, 'SIGNER_FAILED', `the signer did not sign: ${reasonOf(error)}`, {})
  }
  timed(context, intent.intentId, 'sign', atMs)
  const armed = armedFactsOf(signed, journal.leaseEpoch)
  return { event: { type: 'signed', nowMs: clock.now(), armed }, signed }
}

/** Shows prepare's warnings before anything is signed. The venue cannot vouch for an increase with one: it is dropped. */
function showWarnings(
  context: ExecutionContext,
  intent: Intent,
  prepared: Prepared,
): MadeAttempt | undefined {
  const { host, requestId, validationWarnings } = prepared
  if (validationWarnings.length === 0) return undefined
  const warnings = validationWarnings.map(({ code, message }) => ({ code, message }))
  context.emit({ type: 'order.warned', intent, host, requestId, warnings })
  if (intent.kind !== 'increase') return undefined
  const text = warnings.map(({ code, message }) => `${code} (${message})`).join('; ')
  return refused(context, 'PREPARE_WARNED', `the venue warned: ${text}`, { requestId })
}

function rejected(
  context: ExecutionContext,
  intent: Intent,
  prepared: Prepared,
  { code, differences }: Rejection,
): MadeAttempt {
  const { host, requestId } = prepared
  context.emit({ type: 'order.poisoned', intent, host, requestId, differences })
  if (code === 'TYPED_DATA_MISMATCH') {
    context.api.restHost(host, context.settings.poisonRestMs, 'its payload did not say what was meant')
  }
  const text = differences
    .map(({ field, expected, found }) => `${field}: expected ${expected}, found ${found}`)
    .join('; ')
  const facts = { requestId, host, differences: differences.length }
  return refused(context, code, `the payload does not say what was meant: ${text}`, facts)
}

function prepareFailed(context: ExecutionContext, host: string, error: unknown): MadeAttempt {
  const reason = reasonOf(error)
  // A page of a proxy in between is not the venue's word: another host is asked.
  if (error instanceof RefusedError && error.isOwnBody) {
    return refused(
      context,
      error.serverCode ?? 'PREPARE_REFUSED',
      `the venue refused to prepare: ${reason}`,
      {
        host,
        httpStatus: error.status,
        ...(error.traceId === undefined ? {} : { traceId: error.traceId }),
      },
    )
  }
  if (error instanceof DecodeError) {
    context.api.restHost(host, context.settings.poisonRestMs, 'its prepare answer cannot be read')
    return refused(context, 'PAYLOAD_UNREADABLE', `the payload cannot be read: ${reason}`, { host })
  }
  if (!(error instanceof BaseError)) throw error
  return { event: { type: 'prepare.unreachable', nowMs: context.clock.now(), reason }, signed: undefined }
}

function refused(
  context: ExecutionContext,
  code: string,
  reason: string,
  facts: Readonly<Record<string, string | number | boolean>>,
): MadeAttempt {
  return { event: { type: 'refused', nowMs: context.clock.now(), code, reason, facts }, signed: undefined }
}
