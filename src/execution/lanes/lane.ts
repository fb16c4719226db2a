/**
 * A lane: one way of a message to the chain. Lanes differ in their three calls; the fixed parts are around them. `makeAttempt.ts` has the order's
 * owner, halts, the key and the facts of J3; `orderManager.ts` the order of journal and wire; `submit.ts` the proof of an answer. A lane receives a
 * `Verified` to hand back and an `Armed` to send, and makes neither.
 */
import type { ValidationWarning } from '../../api/orders/orderPayload.ts'
import type { HostAnswer } from '../../domain/machine/observation.ts'
import type { MachineEvent } from '../../domain/machine/step.ts'
import type { ArmedFacts, Attempt, Intent, SendFacts } from '../../domain/order/intent.ts'
import type { ArmingTime } from '../clock/armingTime.ts'
import type { ExecutionContext } from '../context/executionContext.ts'
import type { FeeEstimate, SigningPolicy } from '../context/policy.ts'
import type { Verified } from '../verify/verify.ts'
import type { Armed } from './armed.ts'
import type { WarningLog } from './warned.ts'

/** The attempt that a message is made for. */
export interface AskedAttempt {
  readonly intent: Intent
  /** Its number within the intent. */
  readonly n: number
  /** The host of the venue whose turn it is. */
  readonly host: string
  /** Policy of the signature, with the kind of key that signs. */
  readonly policy: SigningPolicy
  /** Records a host's warnings. */
  readonly log: WarningLog
  /**
   * Resolves once J1 and J2 are durable, and never if they cannot be: a host may be asked meanwhile, and what it said is used only after
   * that.
   */
  readonly recorded: Promise<void>
}

/** A message that may be signed, and its source. */
export interface Message {
  readonly kind: 'message'
  readonly verified: Verified
  /** Destination of the submit: the host that prepared it, or the one that would have. */
  readonly host: string
  readonly warnings: readonly ValidationWarning[]
  readonly time: ArmingTime
  /** Our own estimate of its fees. */
  readonly feeEstimate: FeeEstimate | undefined
}

/** There is no message; the event tells the machine why. */
export interface NotMade {
  readonly kind: 'not-made'
  readonly event: MachineEvent
}

/** Outcome of making a message. */
export type Made =
  | Message
  | NotMade
  /** The order is to be made anew, as this smaller one. */
  | { readonly kind: 'smaller'; readonly intent: Intent }
  /** perpd stops: the next start handles the begun attempt. */
  | { readonly kind: 'stopped' }

/** Content of the answer to a submit; `submit` adds its duration, and the proof that a failure gives. */
export type SendAnswer = Omit<SendFacts, 'durationMs'>

/** An attempt that was armed, whether or not its submit was answered. */
export interface ArmedAttempt extends Attempt {
  readonly armed: ArmedFacts
}

/** One way of a message to the chain. */
export interface Lane {
  /**
   * Makes the message of an attempt and has it verified. Signs nothing, sends nothing that could move anything, may be
   * repeated, and may begin before the attempt is recorded. Never throws for anything that the network or the venue did.
   */
  make(context: ExecutionContext, asked: AskedAttempt): Promise<Made>
  /** Hands the signed message in, once: one request, and no other after it. Rejects as the request does. */
  send(context: ExecutionContext, armed: Armed): Promise<SendAnswer>
  /** Asks the receivers of the message about it. Never throws for network faults. */
  ask(context: ExecutionContext, attempt: ArmedAttempt): Promise<HostAnswer>
}

/** Lanes by name. */
export type Lanes = Readonly<Record<string, Lane>>
