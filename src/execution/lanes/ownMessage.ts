/**
 * Messages in relay parameters that perpd chooses, around the orders that a host prepared or the caller composed: for lanes that hand in calldata.
 * The signed content is the input of the routers' `batch`, whoever sends it.
 */
import { defined } from '../../base/defined.ts'
import { BaseError, reasonOf } from '../../base/errors.ts'
import type { Intent } from '../../domain/order/intent.ts'
import type { Address, Hex } from '../../protocol/address.ts'
import type { BatchTerms } from '../../protocol/batch.ts'
import { encodeBatchCall } from '../../protocol/signing/relayCalldata.ts'
import { maxOf, type TokenAmount } from '../../protocol/units.ts'
import { type ArmingTime, beginArmingTime } from '../clock/armingTime.ts'
import { clockProblemOf } from '../clock/chainClock.ts'
import type { ExecutionContext } from '../context/executionContext.ts'
import type { SigningPolicy } from '../context/policy.ts'
import type { Signed } from '../verify/sign.ts'
import { type Rejection, type Verified, verifyBatch } from '../verify/verify.ts'
import { hostMessage } from './hostMessage.ts'
import type { AskedAttempt, Made, NotMade } from './lane.ts'
import { doubted, unfit, unreachable } from './notMade.ts'
import { ownRelayFee, type RelayFee, relayProposal } from './relayParams.ts'
import { timed } from './timed.ts'

/** Makes an attempt's message: the caller's where the intent has one, else the host's orders. */
export async function ownMessage(context: ExecutionContext, asked: AskedAttempt): Promise<Made> {
  const { intent, n } = asked
  if (intent.kind === 'batch') return await callersMessage(context, asked)
  return await hostMessage(context, asked, ({ batch, relayParams }, policy, time) =>
    inOwnParams(context, policy, intent, n, { actions: batch, fee: relayParams, time }),
  )
}

/** The call that a signed message is handed in with. */
export function callOf({ verified, signature }: Signed): { readonly to: Address; readonly data: Hex } {
  const { router, intent, relayParams, batch, subaccountApproval } = verified
  const data = encodeBatchCall({
    account: intent.account,
    relayParams,
    signature,
    batch,
    ...defined({ subaccountApproval }),
  })
  return { to: router, data }
}

/** Returns the caller's own message. No host prepares it. */
async function callersMessage(
  context: ExecutionContext,
  { intent, n, host, policy: bounds, recorded }: AskedAttempt,
): Promise<Made> {
  await recorded
  const { clock, chain, settings } = context
  const actions = intent.terms.batch
  if (actions === undefined) throw new TypeError('ownMessage: a batch without its message')
  const unheard = await hearClock(context, intent, host)
  if (unheard !== undefined) return unheard
  const looked = context.fees?.refresh(0)
  const time = await beginArmingTime(context)(host)
  const doubt = clockProblemOf(context, intent, time)
  if (doubt !== undefined) return doubted(context, doubt)
  await looked
  const atMs = clock.monotonicMs()
  const usual = ownRelayFee(chain, actions, settings.relayFeePerOrder)
  const needed = context.fees?.ownFeeAmount({ batch: actions, relayParams: usual })
  const fee = atLeast(usual, needed)
  const policy = { ...bounds, unsureSeconds: time.unsureSeconds }
  const verified = inOwnParams(context, policy, intent, n, { actions, fee, time })
  timed(context, intent.intentId, 'verify', atMs)
  return 'kind' in verified
    ? unfit(context, verified)
    : { kind: 'message', verified, host, warnings: [], time, feeEstimate: undefined }
}

/** Returns the offer to the relay, raised to its need at the chain's gas price where that is known. */
function atLeast({ fee, oracleParams }: RelayFee, needed: TokenAmount | undefined): RelayFee {
  return { fee: { ...fee, feeAmount: maxOf(fee.feeAmount, needed ?? 0n) }, oracleParams }
}

/**
 * Makes sure of a clock for a deadline that we choose, which needs the chain's time or a host's. Without a chain endpoint and with a host never
 * heard, it sends a request now, for the clock in the answer.
 */
async function hearClock(
  context: ExecutionContext,
  { account }: Intent,
  host: string,
): Promise<NotMade | undefined> {
  const { api, chainReader } = context
  if (chainReader !== undefined || api.clockSkewMs(host) !== undefined) return undefined
  let reason = 'its answers have no time'
  try {
    await api.getOrders({ account }, { host, isFresh: true })
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    reason = reasonOf(error)
  }
  if (api.clockSkewMs(host) !== undefined) return undefined
  return unreachable(context, `the time at ${host} is not known: ${reason}`)
}

/** Puts relay parameters that perpd chooses around a list of actions, and verifies them like any other message. */
function inOwnParams(
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
