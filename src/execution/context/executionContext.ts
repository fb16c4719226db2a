/** The context that every step of execution receives. A test builds its own in a few lines. */
import type { Api } from '../../api/client.ts'
import type { Clock } from '../../base/clock.ts'
import type { Emit } from '../../domain/event.ts'
import type { ChainReader } from '../../domain/machine/chainReader.ts'
import type { EvidenceRules } from '../../domain/machine/observation.ts'
import type { Denial, Intent } from '../../domain/order/intent.ts'
import type { WarningPolicy } from '../../domain/order/warning.ts'
import type { Signer } from '../../domain/signer.ts'
import type { Journal } from '../../journal/journal.ts'
import type { Address } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import type { SubaccountApproval } from '../../protocol/signing/subaccountApproval.ts'
import type { TokenAmount, Usd } from '../../protocol/units.ts'
import type { Fees } from './feeEstimates.ts'
import type { SigningPolicy } from './policy.ts'

/** Cadences and waits of the road, ms. */
export interface ExecutionSettings {
  /** First wait between two looks at an unresolved attempt; grows to the maximum. */
  readonly statusPollMs: number
  readonly statusPollMaxMs: number
  /** Wait between two looks at an order that rests and is listed; without a chain endpoint alone. */
  readonly restingPollMs: number
  /** Wait before an unanswered prepare is repeated. */
  readonly prepareRetryMs: number
  /** Cooldown of a host after a payload mismatch. */
  readonly payloadMismatchCooldownMs: number
  /** Relay lane: how far ahead of the chain's time the signed deadline lies, seconds. */
  readonly relayDeadlineSeconds: number
  /** Offer to the relay for each order that an unprepared message creates, base units of the fee token. */
  readonly relayFeePerOrder: TokenAmount
  /** From which age a signed message that is seen in no block counts as withheld; absent: none does. */
  readonly withheldMs?: number
}

export type { SubaccountApproval }

/** The account that approved the signer's key, and the approval that goes with its orders. */
export interface Delegation {
  readonly account: Address
  /** Returns the approval that the intent's message carries now, or the reason why it must wait; asked again while the intent lasts. */
  approvalFor(intent: Intent): SubaccountApproval | { readonly waitsFor: string }
}

/** Questions to admission about an accepted intent before it is signed. Made before execution, and handed to it. */
export interface Admission {
  /** Returns the reason why it may not be signed any more (a halt came since); undefined: it may. */
  veto(intent: Intent): Denial | undefined
  /**
   * The size that an increase may have by all limits on the world as it is read now, at most `atMostUsd` less headroom; or why
   * there is none. Rejects as reading does.
   */
  resize(intent: Intent, atMostUsd: Usd): Promise<Usd | Denial>
}

/** Dependencies of execution. */
export interface ExecutionContext {
  readonly api: Api
  readonly journal: Journal
  readonly signer: Signer
  /** Whom the signer signs for; absent when it is the account's own key. */
  readonly delegation?: Delegation
  readonly chain: Chain
  /** Absent in API-only mode. */
  readonly chainReader?: ChainReader
  readonly clock: Clock
  readonly emit: Emit
  readonly rules: EvidenceRules
  readonly settings: ExecutionSettings
  /** Read when it is needed: the listed markets in it change with the catalogue. */
  readonly signingPolicy: () => SigningPolicy
  /** Returns the policies for warnings on a strategy's orders: the account's and its own. Absent: the defaults. */
  readonly warningPolicies?: (strategy: string) => readonly WarningPolicy[]
  /** Our own estimates of fees; absent: only the highest fees bound them. */
  readonly fees?: Fees
  /** Admission's view of an accepted intent until it is signed; absent: none is held back or made smaller. */
  readonly admission?: Admission
  /** A mistake of ours or a journal that cannot be written: the daemon stops. Never returns to the road. */
  readonly fatal: (error: unknown) => void
}

/** The account that is traded: the owner of a delegated key, else the key's own. */
export function accountOf({ signer, delegation }: Pick<ExecutionContext, 'signer' | 'delegation'>): Address {
  return delegation?.account ?? signer.address
}
