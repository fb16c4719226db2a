/** Settings of the road. */
import type { TokenAmount } from '../../protocol/units.ts'

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
