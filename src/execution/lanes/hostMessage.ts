/** The message that a host prepares: asked for, its warnings heeded, verified against the intent. */
import type { Prepared } from '../../api/orders/expressOrders.ts'
import { DecodeError, RefusedError } from '../../api/transport/apiErrors.ts'
import { defined } from '../../base/defined.ts'
import { BaseError, reasonOf } from '../../base/errors.ts'
import type { Intent } from '../../domain/order/intent.ts'
import { type ArmingTime, beginArmingTime } from '../clock/armingTime.ts'
import { clockProblemOf } from '../clock/chainClock.ts'
import type { ExecutionContext } from '../context/executionContext.ts'
import type { SigningPolicy } from '../context/policy.ts'
import { type Rejection, type Verified, verify } from '../verify/verify.ts'
import type { AskedAttempt, Made, NotMade } from './lane.ts'
import { doubted, refused, textOf, unfit, unreachable } from './notMade.ts'
import { prepare } from './prepare.ts'
import { timed } from './timed.ts'
import { heedWarnings } from './warned.ts'

/** Makes another message out of a host's verified one; it is verified itself. */
export type Remake = (verified: Verified, policy: SigningPolicy, time: ArmingTime) => Verified | Rejection

/** Asks the attempt's host for the message; `remake` absent: it is signed as it stands. */
export async function hostMessage(
  context: ExecutionContext,
  { intent, host, policy: bounds, log, recorded }: AskedAttempt,
  remake: Remake = (verified) => verified,
): Promise<Made> {
  const { clock, chain } = context
  const timeAt = beginArmingTime(context)
  // Fees are judged by gas at the time when the host counts them, not by earlier readings.
  const looked = context.fees?.refresh(0)
  const askedMs = clock.monotonicMs()
  let atMs = askedMs
  let prepared: Prepared
  try {
    const { mode } = bounds
    prepared = await prepare(context, intent, host, {
      referralCode: bounds.referralCode,
      subaccountApproval: mode?.kind === 'subaccount' ? mode.approval : undefined,
    })
  } catch (error) {
    await recorded
    return prepareFailed(context, host, error)
  }
  await recorded
  // Before the payload is judged: an endpoint's statement about the time blames no host.
  const time = await timeAt(prepared.host)
  const doubt = clockProblemOf(context, intent, time)
  if (doubt !== undefined) return doubted(context, doubt)
  await looked
  atMs = timed(context, intent.intentId, 'prepare', atMs)
  const heeded = await heedWarnings(context, intent, prepared, log)
  if (heeded.kind === 'stop') return { kind: 'stopped' }
  if (heeded.kind === 'shrink') return { kind: 'smaller', intent: heeded.intent }
  if (heeded.kind === 'drop')
    return refused(context, 'PREPARE_WARNED', heeded.reason, { requestId: prepared.requestId })
  const asked = { batch: prepared.typedData.batch, relayParams: prepared.relayParams }
  const feeEstimate = context.fees?.estimateFor(intent, asked)
  const { unsureSeconds } = time
  // A host's clock is known to half of the time that its answer took.
  const askedAgoSeconds = 1.5 * ((clock.monotonicMs() - askedMs) / 1000)
  const policy = {
    ...bounds,
    unsureSeconds,
    askedAgoSeconds,
    ...defined({ feeEstimate }),
  }
  const offered = verify(chain, intent, prepared, policy, time.nowSeconds)
  if ('kind' in offered) return rejected(context, intent, prepared, offered)
  const verified = remake(offered, policy, time)
  timed(context, intent.intentId, 'verify', atMs)
  if ('kind' in verified) return unfit(context, verified)
  const warnings = prepared.validationWarnings
  return { kind: 'message', verified, host: prepared.host, warnings, time, feeEstimate }
}

function rejected(
  context: ExecutionContext,
  intent: Intent,
  prepared: Prepared,
  { code, differences }: Rejection,
): NotMade {
  const { host, requestId } = prepared
  const facts = { requestId, host, differences: differences.length }
  if (code !== 'TYPED_DATA_MISMATCH') {
    context.emit({ type: 'order.not_signed', intent, host, requestId, code, differences })
    return refused(
      context,
      code,
      `a market value of the payload is beyond its bound: ${textOf(differences)}`,
      facts,
    )
  }
  context.emit({ type: 'order.payload_rejected', intent, host, requestId, differences })
  context.api.coolDown(
    host,
    context.settings.payloadMismatchCooldownMs,
    'its payload does not match the order',
  )
  return refused(context, code, `the payload does not match the order: ${textOf(differences)}`, facts)
}

function prepareFailed(context: ExecutionContext, host: string, error: unknown): NotMade {
  const reason = reasonOf(error)
  // A page of a proxy in between is no statement of the venue: try another host.
  if (error instanceof RefusedError && error.isOwnBody) {
    return refused(
      context,
      error.serverCode ?? 'PREPARE_REFUSED',
      `the venue refused to prepare: ${reason}`,
      {
        host,
        httpStatus: error.status,
        ...defined({ traceId: error.traceId }),
      },
    )
  }
  if (error instanceof DecodeError) {
    context.api.coolDown(
      host,
      context.settings.payloadMismatchCooldownMs,
      'its prepare response cannot be read',
    )
    return refused(context, 'PAYLOAD_UNREADABLE', `the payload cannot be read: ${reason}`, { host })
  }
  if (!(error instanceof BaseError)) throw error
  return unreachable(context, reason)
}
