/**
 * One attempt of an intent up to its signature: prepare, show the warnings, verify, sign. Nothing here is sent, and no
 * signature leaves this process; what became of it goes back to the machine as one event.
 */
import { DecodeError, RefusedError } from '../api/errors.ts'
import type { ValidationWarning } from '../api/orderPayload.ts'
import type { Prepared } from '../api/orders.ts'
import { sameHex } from '../domain/address.ts'
import { BaseError, reasonOf } from '../domain/errors.ts'
import type { Difference, Event } from '../domain/event.ts'
import type { BatchTerms, Intent } from '../domain/intent.ts'
import type { MachineEvent } from '../domain/machine/step.ts'
import { maxOf, type TokenAmount } from '../domain/units.ts'
import { GuardError } from '../journal/guardTable.ts'
import { type ArmingTime, beginArmingTime } from './armingTime.ts'
import { type ClockDoubt, clockDoubtOf } from './chainClock.ts'
import { accountOf, type ExecutionContext } from './context.ts'
import type { FeeEstimate, SigningPolicy } from './policy.ts'
import { prepare } from './prepare.ts'
import { ownRelayFee, type RelayFee, relayProposal } from './relayLane.ts'
import { armedFactsOf, type Signed, sign } from './sign.ts'
import { type Rejection, type Verified, verify, verifyBatch } from './verify.ts'
import { heedWarnings, type WarningLog } from './warned.ts'

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

/** A message that may be signed, and whose word it stands on. */
interface Message {
  readonly verified: Verified
  /** Where the submit goes: the host that prepared it, or the one that would have. */
  readonly host: string
  readonly warnings: readonly ValidationWarning[]
  readonly time: ArmingTime
  /** What its fees are by our own estimate. */
  readonly feeEstimate: FeeEstimate | undefined
}

/** The order is to be prepared anew, as this smaller one. */
interface Smaller {
  readonly smaller: Intent
}

/** perpd stops: what was begun is left to the next start. */
interface Stopped {
  readonly isStopped: true
}

/**
 * Makes attempt `n` of an intent at `host`; what it is warned of goes through `log`. Undefined when perpd stops meanwhile.
 * Never throws for anything that the network, the venue or the signer did.
 */
export async function makeAttempt(
  context: ExecutionContext,
  intent: Intent,
  n: number,
  host: string,
  log: WarningLog,
): Promise<MadeAttempt | undefined> {
  const { clock, chain, signer, journal } = context
  // The message of an own-wallet order does not say whose it is: the signature does. An intent of another account or chain,
  // from a journal that was shared or a key that was changed, must never be signed by this key.
  const account = accountOf(context)
  if (!sameHex(intent.account, account) || intent.chain !== chain.name) {
    const reason = `the order is ${intent.account}'s on ${intent.chain}, and this perpd signs for ${account} on ${chain.name}`
    return refused(context, 'ACCOUNT_MISMATCH', reason, {})
  }
  const approval = context.delegation?.approvalFor(intent)
  if (approval !== undefined && 'waitsFor' in approval) {
    const event = { type: 'prepare.unreachable', nowMs: clock.now(), reason: approval.waitsFor } as const
    return { event, signed: undefined }
  }
  const policy: SigningPolicy = {
    ...context.signingPolicy(),
    ...(approval === undefined ? {} : { mode: { kind: 'subaccount', approval } }),
  }
  const message =
    intent.kind === 'batch'
      ? await ownMessage(context, policy, intent, n, host)
      : await preparedMessage(context, policy, intent, n, host, log)
  if ('isStopped' in message) return undefined
  // Each time around is one of the few that an intent may shrink.
  if ('smaller' in message)
    return await makeAttempt(context, message.smaller, n, host, { ...log, shrinks: log.shrinks + 1 })
  if ('event' in message) return message
  // A halt may have come while the venue was asked; after it nothing is signed.
  const held = context.mayNotSign?.(intent)
  if (held !== undefined) return refused(context, held.code, held.reason, {})
  const atMs = clock.monotonicMs()
  let signed: Signed
  try {
    signed = await sign(signer, message.verified, n)
  } catch (error) {
    const code = error instanceof GuardError ? error.code : 'SIGNER_FAILED'
    return refused(context, code, `the signer did not sign: ${reasonOf(error)}`, {})
  }
  timed(context, intent.intentId, 'sign', atMs)
  const armed = armedFactsOf(signed, {
    host: message.host,
    warnings: message.warnings,
    leaseEpoch: journal.leaseEpoch,
    ...(message.time.block === undefined ? {} : { block: message.time.block }),
    ...(message.feeEstimate === undefined ? {} : { feeEstimate: message.feeEstimate }),
  })
  return { event: { type: 'signed', nowMs: clock.now(), armed }, signed }
}

/** The message that a host prepares, as it stands or in the relay lane with relay parameters of our own around it. */
async function preparedMessage(
  context: ExecutionContext,
  bounds: SigningPolicy,
  intent: Intent,
  n: number,
  host: string,
  log: WarningLog,
): Promise<Message | MadeAttempt | Smaller | Stopped> {
  const { clock, chain } = context
  const timeAt = beginArmingTime(context)
  // Fees are judged by gas as it is when the host counts them, not by what was read before.
  const looked = context.fees?.look(0)
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
    return prepareFailed(context, host, error)
  }
  // Before anything of the payload is judged: what an endpoint says about the time blames no host.
  const time = await timeAt(prepared.host)
  const doubt = clockDoubtOf(context, intent, time)
  if (doubt !== undefined) return doubted(context, doubt)
  await looked
  atMs = timed(context, intent.intentId, 'prepare', atMs)
  const heeded = await heedWarnings(context, intent, prepared, log)
  if (heeded.kind === 'stop') return { isStopped: true }
  if (heeded.kind === 'shrink') return { smaller: heeded.intent }
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
    ...(feeEstimate === undefined ? {} : { feeEstimate }),
  }
  const verified = verify(chain, intent, prepared, policy, time.nowSeconds)
  if ('kind' in verified) return rejected(context, intent, prepared, verified)
  const message = { host: prepared.host, warnings: prepared.validationWarnings, time, feeEstimate }
  if (intent.lane === 'order-chain') {
    timed(context, intent.intentId, 'verify', atMs)
    return { ...message, verified }
  }
  const { batch, relayParams } = verified
  const own = relayMessage(context, policy, intent, n, { actions: batch, fee: relayParams, time })
  timed(context, intent.intentId, 'verify', atMs)
  return 'kind' in own ? unfit(context, own) : { ...message, verified: own }
}

/** The caller's own message. No host is asked to prepare it. */
async function ownMessage(
  context: ExecutionContext,
  bounds: SigningPolicy,
  intent: Intent,
  n: number,
  host: string,
): Promise<Message | MadeAttempt> {
  const { clock, chain, settings } = context
  const actions = intent.terms.batch
  if (actions === undefined) throw new TypeError('makeAttempt: a batch without its message')
  if (intent.lane !== 'relay') {
    const reason = "a message of the caller's own is handed to the relay; no host of the order chain takes it"
    return refused(context, 'BATCH_NEEDS_RELAY', reason, { lane: intent.lane })
  }
  const unheard = await hearClock(context, intent, host)
  if (unheard !== undefined) return unheard
  const looked = context.fees?.look(0)
  const time = await beginArmingTime(context)(host)
  const doubt = clockDoubtOf(context, intent, time)
  if (doubt !== undefined) return doubted(context, doubt)
  await looked
  const atMs = clock.monotonicMs()
  const usual = ownRelayFee(chain, actions, settings.relayFeePerOrder)
  const needed = context.fees?.ownFeeAmount({ batch: actions, relayParams: usual })
  const fee = atLeast(usual, needed)
  const policy = { ...bounds, unsureSeconds: time.unsureSeconds }
  const own = relayMessage(context, policy, intent, n, { actions, fee, time })
  timed(context, intent.intentId, 'verify', atMs)
  return 'kind' in own
    ? unfit(context, own)
    : { host, warnings: [], time, verified: own, feeEstimate: undefined }
}

/** What is offered to the relay, and no less than what it needs at the chain's gas price where that is known. */
function atLeast({ fee, oracleParams }: RelayFee, needed: TokenAmount | undefined): RelayFee {
  return { fee: { ...fee, feeAmount: maxOf(fee.feeAmount, needed ?? 0n) }, oracleParams }
}

/**
 * A deadline of our own needs the chain's time or a host's. Where there is no chain endpoint and the host was never heard, it
 * is asked for something now, for the clock in its answer.
 */
async function hearClock(
  { api, chainReader, clock }: ExecutionContext,
  { account }: Intent,
  host: string,
): Promise<MadeAttempt | undefined> {
  if (chainReader !== undefined || api.clockSkewMs(host) !== undefined) return undefined
  let reason = 'its answers have no time'
  try {
    await api.getOrders({ account }, { host, isFresh: true })
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    reason = reasonOf(error)
  }
  if (api.clockSkewMs(host) !== undefined) return undefined
  const event = {
    type: 'prepare.unreachable',
    nowMs: clock.now(),
    reason: `the time at ${host} is not known: ${reason}`,
  } as const
  return { event, signed: undefined }
}

/** Relay parameters of our own around a list of actions, verified like any other message. */
function relayMessage(
  { chain, settings }: ExecutionContext,
  policy: SigningPolicy,
  intent: Intent,
  n: number,
  parts: { readonly actions: BatchTerms; readonly fee: RelayFee; readonly time: ArmingTime },
): Verified | Rejection {
  const { nowSeconds, likelySeconds } = parts.time
  const proposal = relayProposal(chain, policy, {
    intent,
    attempt: n,
    actions: parts.actions,
    fee: parts.fee,
    nowSeconds: likelySeconds,
    validForSeconds: settings.relayDeadlineSeconds,
  })
  return verifyBatch(chain, intent, proposal, policy, nowSeconds)
}

/** The chain's time is unknown, which is asked again while the intent lasts, or is not ours, which ends it. */
function doubted(context: ExecutionContext, doubt: ClockDoubt): MadeAttempt {
  const { reason } = doubt
  if (doubt.kind === 'skew') {
    const { skewSeconds } = doubt
    const facts = skewSeconds === undefined ? {} : { skewSeconds: Math.round(skewSeconds) }
    return refused(context, 'CHAIN_CLOCK_SKEW', reason, facts)
  }
  return { event: { type: 'prepare.unreachable', nowMs: context.clock.now(), reason }, signed: undefined }
}

function rejected(
  context: ExecutionContext,
  intent: Intent,
  prepared: Prepared,
  { code, differences }: Rejection,
): MadeAttempt {
  const { host, requestId } = prepared
  const facts = { requestId, host, differences: differences.length }
  if (code !== 'TYPED_DATA_MISMATCH') {
    context.emit({ type: 'order.not_signed', intent, host, requestId, code, differences })
    return refused(
      context,
      code,
      `a price, fee, position or time moved beyond its limit: ${textOf(differences)}`,
      facts,
    )
  }
  context.emit({ type: 'order.poisoned', intent, host, requestId, differences })
  context.api.restHost(host, context.settings.poisonRestMs, 'payload mismatch')
  return refused(context, code, `the payload does not say what was meant: ${textOf(differences)}`, facts)
}

/** A message of our own that policy does not allow: no host is to blame. */
function unfit(context: ExecutionContext, { code, differences }: Rejection): MadeAttempt {
  const reason = `the message is not one that may be signed: ${textOf(differences)}`
  return refused(context, code, reason, { differences: differences.length })
}

function textOf(differences: readonly Difference[]): string {
  return differences
    .map(({ field, expected, found }) => `${field}: expected ${expected}, found ${found}`)
    .join('; ')
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
