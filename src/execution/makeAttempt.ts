/**
 * One attempt of an intent up to its signature: the check of its account, the message by the intent's lane, a last look for halts, the key. Nothing
 * here is sent, and no signature leaves this process; its outcome returns to the machine as one event.
 */
import { defined } from '../base/defined.ts'
import { reasonOf } from '../base/errors.ts'
import { GuardError } from '../domain/guardTable.ts'
import type { MachineEvent } from '../domain/machine/step.ts'
import { sameHex } from '../protocol/address.ts'
import { accountOf, type ExecutionContext } from './context/executionContext.ts'
import type { SigningPolicy } from './context/policy.ts'
import type { AskedAttempt, Lanes, NotMade } from './lanes/lane.ts'
import { refused, unreachable } from './lanes/notMade.ts'
import { laneOf } from './lanes/shippedLanes.ts'
import { timed } from './lanes/timed.ts'
import { armedFactsOf, type Signed, sign } from './verify/sign.ts'

/** Event for the machine, and the signature that waits for its J3. */
export interface MadeAttempt {
  readonly event: MachineEvent
  readonly signed: Signed | undefined
}

/** An attempt to make; the policy of its signature is chosen here. */
export type BegunAttempt = Omit<AskedAttempt, 'policy'>

/**
 * Makes an attempt up to its signature. Undefined when perpd stops meanwhile. Never throws because of the network, the venue or the signer; never
 * settles where the attempt cannot be recorded.
 */
export async function makeAttempt(
  context: ExecutionContext,
  lanes: Lanes,
  begun: BegunAttempt,
): Promise<MadeAttempt | undefined> {
  const { intent, n, log, recorded } = begun
  const { clock, chain, signer, journal } = context
  // The message of an own-wallet order does not name its account: the signature does. An intent of another account or chain, from a shared journal or
  // after a change of the key, must never be signed by this key.
  const account = accountOf(context)
  if (!sameHex(intent.account, account) || intent.chain !== chain.name) {
    const reason = `the order is ${intent.account}'s on ${intent.chain}, and this perpd signs for ${account} on ${chain.name}`
    return unsigned(refused(context, 'ACCOUNT_MISMATCH', reason, {}))
  }
  const approval = context.delegation?.approvalFor(intent)
  if (approval !== undefined && 'waitsFor' in approval)
    return unsigned(unreachable(context, approval.waitsFor))
  const policy: SigningPolicy = {
    ...context.signingPolicy(),
    ...defined({ mode: approval === undefined ? undefined : { kind: 'subaccount', approval } }),
  }
  const made = await laneOf(lanes, intent.lane).make(context, { ...begun, policy })
  if (made.kind === 'stopped') return undefined
  // Each time around is one of the few that an intent may shrink.
  if (made.kind === 'smaller') {
    const smaller = { ...begun, intent: made.intent, log: { ...log, shrinks: log.shrinks + 1 } }
    return await makeAttempt(context, lanes, smaller)
  }
  if (made.kind === 'not-made') return unsigned(made)
  // Whatever the lane did, nothing is signed of which the journal does not know.
  await recorded
  // A halt may have come during the request to the venue; after it nothing is signed.
  const held = context.admission?.veto(intent)
  if (held !== undefined) return unsigned(refused(context, held.code, held.reason, {}))
  const atMs = clock.monotonicMs()
  let signed: Signed
  try {
    signed = await sign(signer, made.verified, n)
  } catch (error) {
    const code = error instanceof GuardError ? error.code : 'SIGNER_FAILED'
    return unsigned(refused(context, code, `the signer did not sign: ${reasonOf(error)}`, {}))
  }
  timed(context, intent.intentId, 'sign', atMs)
  const armed = armedFactsOf(signed, {
    host: made.host,
    warnings: made.warnings,
    leaseEpoch: journal.lease.epoch,
    ...defined({ block: made.time.block, feeEstimate: made.feeEstimate }),
  })
  return { event: { type: 'signed', nowMs: clock.now(), armed }, signed }
}

function unsigned({ event }: NotMade): MadeAttempt {
  return { event, signed: undefined }
}
