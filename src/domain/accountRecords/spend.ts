/** Costs and causes of ended intents, as budgets count them. */
import type { Address } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import type { TokenAmount } from '../../protocol/units.ts'
import {
  type Attempt,
  type IntentKind,
  type IntentState,
  isUnresolved,
  lastAttempt,
} from '../order/intent.ts'

/** An intent's end as budgets count it. */
export interface Ending {
  readonly strategy: string
  readonly kind: IntentKind
  readonly marketToken: Address
  readonly direction: Direction
  readonly closedAtMs: number
  /** Number of the journal's record that closed it: the order of ends, whatever the clock did. Absent of an open intent. */
  readonly seq?: number
  /** Cause of the end, in one or two stable words: `executed`, `CANCELLED OrderNotFulfillableAtAcceptablePrice`. */
  readonly cause: string
  /**
   * Execution fee of its orders, native token, base units: the part that keepers retained where the chain showed it for all of them. Otherwise the
   * signed fee, of which a part may have been returned.
   */
  readonly executionFee: TokenAmount
  /** The whole fee through the relay that was signed, execution fees included; base units of the chain's fee token. */
  readonly relayFee: TokenAmount
  /** True of an intent that is not over: its fees are paid, and it ended by no cause yet. */
  readonly isOpen?: true
}

const WITHHELD = 'withheld'

/** Tells whether a reduction had no effect only because of its host: the host took its message, and nobody saw that in a block until its deadline. */
export function isWithheldReduction({ kind, cause }: Ending): boolean {
  return (kind === 'close' || kind === 'decrease') && cause === `DEAD ${WITHHELD}`
}

/** Tells whether the intent ended as the decision wanted. */
export function isWanted({ cause }: Ending): boolean {
  return cause === 'executed'
}

const decoded = /^([A-Z][A-Za-z_]+)(?:\(|:|\s|$)/

/**
 * The ending of a closed intent, or undefined while it is open. Fees count when the message landed: a relay that never
 * landed took nothing.
 */
export function endingOf(state: IntentState): Ending | undefined {
  const { intent, closing, closedAtMs } = state
  if (closing === undefined) return undefined
  const attempt = lastAttempt(state)
  const armed = attempt?.phase === 'LANDED' ? attempt.armed : undefined
  return {
    strategy: intent.strategy,
    kind: intent.kind,
    marketToken: intent.terms.marketToken,
    direction: intent.terms.direction,
    closedAtMs: closedAtMs ?? state.updatedAtMs,
    cause: causeOf(state),
    executionFee: executionFeePaid(attempt) ?? armed?.executionFee ?? 0n,
    relayFee: armed?.relayFeeAmount ?? 0n,
  }
}

/**
 * Returns the part of an attempt's execution fees that keepers retained, native token, base units. Undefined unless the chain showed it for every
 * order.
 */
export function executionFeePaid(attempt: Attempt | undefined): TokenAmount | undefined {
  const paid = (attempt?.children ?? []).map(({ settlement }) => settlement?.executionFeePaid)
  if (attempt?.phase !== 'LANDED' || paid.length === 0) return undefined
  return paid.reduce((sum, each) => (sum === undefined || each === undefined ? undefined : sum + each), 0n)
}

/**
 * Returns what an open intent armed since then (Unix ms) paid or may have paid. Its fees leave when its message lands, and it may rest for days.
 * Empty when it was not armed, or was armed before.
 *
 * @param setBackMs how far the clock was set back since it was accepted
 */
export function spentBy(state: IntentState, sinceMs: number, setBackMs = 0): readonly Ending[] {
  const { intent } = state
  const attempt = lastAttempt(state)
  if (state.closing !== undefined || attempt?.armed === undefined) return []
  // If the clock was set back between the two, it was armed when it was accepted, or soon after.
  const armedAtMs = Math.max(attempt.armedAtMs ?? state.updatedAtMs, intent.acceptedAtMs) - setBackMs
  const mayHavePaid = attempt.phase === 'LANDED' || isUnresolved(attempt)
  if (!mayHavePaid || armedAtMs < sinceMs) return []
  return [
    {
      strategy: intent.strategy,
      kind: intent.kind,
      marketToken: intent.terms.marketToken,
      direction: intent.terms.direction,
      closedAtMs: armedAtMs,
      cause: '',
      executionFee: attempt.armed.executionFee,
      relayFee: attempt.armed.relayFeeAmount,
      isOpen: true,
    },
  ]
}

function causeOf(state: IntentState): string {
  const { closing } = state
  if (closing === undefined) return ''
  if (closing.outcome === 'EXECUTED' || closing.outcome === 'PARTIAL') return 'executed'
  if (closing.outcome === 'CANCELLED') {
    const text = lastAttempt(state)
      ?.children.map(({ cancelReason }) => cancelReason ?? '')
      .find((each) => each !== '')
    const name = decoded.exec(text ?? '')?.[1]
    return `CANCELLED ${name ?? 'without a reason'}`
  }
  if (closing.outcome === 'DEAD') {
    // A host took it, and said neither that its relay failed nor that it reverted: it was in no block until its deadline.
    const unseen = lastAttempt(state)?.send?.result === 'accepted' ? WITHHELD : 'unseen'
    return `DEAD ${closing.observedStatus ?? unseen}`
  }
  return `${closing.outcome} ${closing.code}`
}
