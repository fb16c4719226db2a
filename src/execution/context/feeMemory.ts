/**
 * Remembered costs of landed orders by kind: our second opinion about fees where no endpoint reports the chain's gas price (docs/security.md). A host
 * states the fee, and a highest fee alone would let it take that from every order. The memory holds the part that keepers retained, where the chain
 * showed it. A merely requested fee is a host's statement, and counts for at most a small multiple of the usual fee. Otherwise a host that always
 * requests the most would raise the estimate that bounds it, order by order, up to the highest fee.
 */
import { executionFeePaid } from '../../domain/accountRecords/spend.ts'
import { expectedOf } from '../../domain/machine/expected.ts'
import { type Intent, type IntentState, lastAttempt } from '../../domain/order/intent.ts'
import { maxOf, minOf, mulDiv, type TokenAmount } from '../../protocol/units.ts'

/** Number of landed orders of a kind behind an estimate: a single dear one moves the median of so many only a little. */
const REMEMBERED = 15
/** Multiple of the usual fee for which a requested fee counts at most, when nothing shows the paid part. */
const ASKED_FACTOR = 2n

/** Fees of one order. */
export interface OrderFees {
  /** Native token, base units. */
  readonly executionFee: TokenAmount
  /** The relay's `feeAmount` for each order of a message, execution fees included; base units of the fee token. */
  readonly relayFee: TokenAmount
}

/** Starting point and lower bound of an estimate. */
export interface UsualFees extends OrderFees {
  /** Multiple of the estimate that is signed. */
  readonly factor: number
}

/** Remembered fees, and where they are from. */
export interface RememberedFees extends OrderFees {
  readonly source: 'landed' | 'usual'
}

/** Learns from landings. */
export interface FeeMemory {
  /** Takes the fees of an intent whose message landed; any other intent, and a known one, adds nothing. */
  learn(state: IntentState): void
  /** Returns the median cost of landed orders of the kind, and no less than the usual fees. */
  feesOf(kind: Intent['kind']): RememberedFees
}

/** A memory of nothing yet. */
export function createFeeMemory(usual: OrderFees): FeeMemory {
  const kinds = new Map<Intent['kind'], Map<string, OrderFees>>()
  return {
    learn(state) {
      const { intent } = state
      const attempt = lastAttempt(state)
      if (intent.kind === 'batch' || attempt?.phase !== 'LANDED' || attempt.armed === undefined) return
      const orders = expectedOf(intent).orders.length
      if (orders === 0) return
      const asked = kinds.get(intent.kind) ?? new Map<string, OrderFees>()
      kinds.set(intent.kind, asked)
      const { executionFee, relayFeeAmount } = attempt.armed
      const paid = executionFeePaid(attempt)
      asked.set(
        intent.intentId,
        costOf(
          { executionFee: executionFee / BigInt(orders), relayFee: relayFeeAmount / BigInt(orders) },
          paid === undefined ? undefined : paid / BigInt(orders),
          usual,
        ),
      )
      const [oldest] = asked.keys()
      if (asked.size > REMEMBERED && oldest !== undefined) asked.delete(oldest)
    },
    feesOf(kind) {
      const asked = [...(kinds.get(kind)?.values() ?? [])]
      const executionFee = maxOf(usual.executionFee, middleOf(asked.map((each) => each.executionFee)))
      const relayFee = maxOf(usual.relayFee, middleOf(asked.map((each) => each.relayFee)))
      const isLanded = executionFee > usual.executionFee || relayFee > usual.relayFee
      return { executionFee, relayFee, source: isLanded ? 'landed' : 'usual' }
    },
  }
}

/** Returns the cost of an order: the part that keepers retained, and no more than that explains; else the requested fee, within the usual range. */
function costOf(asked: OrderFees, paid: TokenAmount | undefined, usual: OrderFees): OrderFees {
  const most = { executionFee: ASKED_FACTOR * usual.executionFee, relayFee: ASKED_FACTOR * usual.relayFee }
  if (paid === undefined) {
    return {
      executionFee: minOf(asked.executionFee, most.executionFee),
      relayFee: minOf(asked.relayFee, most.relayFee),
    }
  }
  const executionFee = minOf(asked.executionFee, paid)
  // The whole fee contains the execution fees: it rises with the part that keepers retained.
  const isDear = usual.executionFee > 0n && executionFee > usual.executionFee
  const explained = isDear ? mulDiv(most.relayFee, executionFee, usual.executionFee) : most.relayFee
  return { executionFee, relayFee: minOf(asked.relayFee, explained) }
}

/** The middle of the values, the lower of two; 0 of none. */
function middleOf(values: readonly bigint[]): bigint {
  const sorted = values.toSorted((one, other) => (one < other ? -1 : 1))
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0n
}
