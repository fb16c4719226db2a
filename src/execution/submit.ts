/**
 * Armed to SendResult: one POST, and one reading of its answer.
 *
 * An `Armed` is made from a committed J3 alone, and is used once. Nothing here or below retries.
 */

import { proves, RefusedError, UnreachableError } from '../api/errors.ts'
import type { Prepared } from '../api/orders.ts'
import { reasonOf } from '../domain/errors.ts'
import type { SendFacts } from '../domain/intent.ts'
import type { StoredRecord } from '../domain/records.ts'
import type { ExecutionContext } from './context.ts'
import { submitRelay } from './relaySubmit.ts'
import type { Signed } from './sign.ts'

declare const armedBrand: unique symbol

/** The right to send one digest once. */
export interface Armed {
  readonly [armedBrand]: true
  readonly signed: Signed
  /** Place of the J3 record in the journal. */
  readonly seq: number
  /** Where J3 says that it goes. */
  readonly host: string
}

/** The right to send, from the durable J3 of exactly this signature. Throws TypeError for any other record. */
export function armedBy(stored: StoredRecord, signed: Signed): Armed {
  const { record } = stored
  if (record.kind !== 'attempt.armed' || record.armed.digest !== signed.verified.digest) {
    throw new TypeError('armedBy: the record is not the J3 of this signature')
  }
  return { signed, seq: stored.seq, host: record.armed.host } as Armed
}

/** Sends the one POST and says what its answer proves; never throws for anything the network did. */
export async function submit(context: ExecutionContext, armed: Armed): Promise<SendFacts> {
  const { prepared, intent } = armed.signed.verified
  const startedMs = context.clock.monotonicMs()
  try {
    const facts =
      intent.lane === 'relay'
        ? await submitRelay(context, armed.signed, armed.host)
        : await submitOrder(context, armed.signed, prepared)
    return { ...facts, durationMs: context.clock.monotonicMs() - startedMs }
  } catch (error) {
    const durationMs = context.clock.monotonicMs() - startedMs
    const proof = proves(error)
    const result = proof === 'not-sent' ? 'not-sent' : proof === 'refused' ? 'refused' : 'unanswered'
    return { result, durationMs, message: reasonOf(error), ...serverFacts(error) }
  }
}

async function submitOrder(
  { api }: ExecutionContext,
  { verified, signature }: Signed,
  prepared: Prepared | undefined,
): Promise<SendFacts> {
  if (prepared === undefined) throw new TypeError('submit: the message came from no host')
  const { value: answer } = await api.submitOrder(prepared, {
    signature,
    from: verified.intent.account,
    echo: prepared.echo,
    ...(verified.subaccountApproval === undefined ? {} : { subaccountApproval: verified.subaccountApproval }),
  })
  const doubtful = answer.status === 'relay_failed' || answer.status === 'relay_reverted'
  return {
    result: doubtful ? 'refused' : 'accepted',
    status: answer.status,
    ...(answer.taskId === undefined ? {} : { taskId: answer.taskId }),
    ...(answer.txHash === undefined ? {} : { txHash: answer.txHash }),
    ...(answer.error?.code === undefined ? {} : { code: answer.error.code }),
    ...(answer.error?.message === undefined ? {} : { message: answer.error.message }),
    ...(answer.traceId === undefined ? {} : { traceId: answer.traceId }),
  }
}

function serverFacts(error: unknown): Pick<SendFacts, 'httpStatus' | 'code' | 'traceId'> {
  if (error instanceof RefusedError) {
    return {
      httpStatus: error.status,
      ...(error.serverCode === undefined ? {} : { code: error.serverCode }),
      ...(error.traceId === undefined ? {} : { traceId: error.traceId }),
    }
  }
  if (error instanceof UnreachableError) {
    return {
      ...(error.status === undefined ? {} : { httpStatus: error.status }),
      ...(error.traceId === undefined ? {} : { traceId: error.traceId }),
    }
  }
  return {}
}
