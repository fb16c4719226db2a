/** What tasks that make orders over time see, and what their orders came to by the orders' own records. Pure. */
import { filledOrders } from '../domain/account/fills.ts'
import type { Decision } from '../domain/order/decision.ts'
import {
  type Denial,
  hasEnded,
  type IntentState,
  isUnresolved,
  labelOf,
  lastAttempt,
} from '../domain/order/intent.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { Hex } from '../protocol/address.ts'
import { absOf, maxOf, mulDivUp, USD_DECIMALS, type Usd } from '../protocol/units.ts'

/** The highest fee of a change of a position that the venue has, hundredths of a basis point of its size. */
const HIGHEST_FEE_BPS100 = 1_000n
const BPS100_ONE = 1_000_000n

/** What such a task sees. */
export interface ExecutorView {
  /** Unix ms. */
  readonly nowMs: number
  /** Of its market, once it was asked for. */
  readonly snapshot?: Snapshot
  /** Its orders, in the order in which it made them. */
  readonly children: readonly IntentState[]
  /** Whether the decision with this key was accepted. */
  readonly isMade: (decisionKey: string) => boolean
  /** What keeps its orders from being made, one clause; absent: nothing. */
  readonly halt?: string
  /** What admission said to its newest try, while it is too early for another; absent: it may try. */
  readonly paused?: string
  /** The most that sending one order may cost under the signing policy, USD. */
  readonly mostSendingUsd: Usd
  readonly feeTokenDecimals: number
  /** What may be added on its side by fresh capacity, USD; or why that is not known. */
  readonly capacity: (snapshot: Snapshot) => Usd | Denial
  /** What admission would say to a decision now; undefined: it would take it. */
  readonly denialOf: (snapshot: Snapshot, decision: Decision) => Denial | undefined
}

/** What a task's orders came to. */
export interface ExecutorUse {
  /** Filled, USD. */
  readonly doneUsd: Usd
  /** What orders may still fill that are under way, of unknown fate too, USD. */
  readonly openUsd: Usd
  /** Orders at the venue, or on their way there. */
  readonly orders: number
  /** Paid, and the most that what is under way may cost, USD. */
  readonly feesUsd: Usd
  /** Keys of its orders that rest. */
  readonly resting: readonly Hex[]
  /** Its messages whose end is not proven, cancels too. */
  readonly inFlight: number
  /** Those of them whose fate is unknown. */
  readonly unknown: number
  /** When its newest cancel was accepted, Unix ms. */
  readonly cancelledAtMs?: number
}

/** What the orders of a task came to. */
export function useOf({
  children,
  mostSendingUsd,
  feeTokenDecimals,
}: Pick<ExecutorView, 'children' | 'mostSendingUsd' | 'feeTokenDecimals'>): ExecutorUse {
  const cancels = children.filter(({ intent }) => intent.kind === 'cancel')
  const orders = children.filter(({ intent }) => intent.kind !== 'cancel')
  const sums = orders.map((state) => ({ state, ...sizesOf(state) }))
  const cancelledAtMs = cancels.at(-1)?.intent.acceptedAtMs
  return {
    doneUsd: sums.reduce((sum, { doneUsd }) => sum + doneUsd, 0n),
    openUsd: sums.reduce((sum, { openUsd }) => sum + openUsd, 0n),
    orders: orders.reduce((sum, state) => sum + partsOf(state), 0),
    feesUsd: sums.reduce(
      (sum, { state, openUsd }) =>
        sum + sendingOf(state, mostSendingUsd, feeTokenDecimals) + paidOf(state) + mostFeeUsd(openUsd),
      0n,
    ),
    resting: orders
      .filter(({ closing }) => closing === undefined)
      .flatMap((state) => lastAttempt(state)?.children ?? [])
      .filter((child) => !hasEnded(child))
      .map(({ orderKey }) => orderKey),
    inFlight: children.filter(({ closing }) => closing === undefined).length,
    unknown: children.filter((state) => labelOf(state) === 'unknown').length,
    ...(cancelledAtMs === undefined ? {} : { cancelledAtMs }),
  }
}

/** The most that the venue takes for the change of a position by this size, USD, rounded up. */
export function mostFeeUsd(sizeUsd: Usd): Usd {
  return mulDivUp(sizeUsd, HIGHEST_FEE_BPS100, BPS100_ONE)
}

function sizesOf(state: IntentState): { readonly doneUsd: Usd; readonly openUsd: Usd } {
  const { closing, intent } = state
  const { sizeDeltaUsd } = intent.terms
  // An operator's word without a size: it counts as all that it could be.
  const doneUsd = filledOrders(state).reduce(
    (sum, fill) => sum + absOf(fill.sizeDeltaUsd ?? sizeDeltaUsd / BigInt(partsOf(state))),
    0n,
  )
  return { doneUsd, openUsd: closing === undefined ? maxOf(0n, sizeDeltaUsd - doneUsd) : 0n }
}

function partsOf({ intent }: IntentState): number {
  return intent.terms.twap?.parts ?? 1
}

/** What its message cost, or may. A message that never landed took nothing. */
function sendingOf(state: IntentState, mostSendingUsd: Usd, feeTokenDecimals: number): Usd {
  const attempt = lastAttempt(state)
  const isPaid = attempt?.armed !== undefined && (attempt.phase === 'LANDED' || isUnresolved(attempt))
  if (isPaid) return (attempt?.armed?.relayFeeAmount ?? 0n) * 10n ** BigInt(USD_DECIMALS - feeTokenDecimals)
  return state.closing === undefined ? mostSendingUsd * BigInt(partsOf(state)) : 0n
}

/** What the venue took for its fills, without the funding and the borrowing that they settled. */
function paidOf(state: IntentState): Usd {
  return filledOrders(state).reduce((sum, { settlement }) => {
    const { feesUsd = 0n, borrowingFeeUsd = 0n, fundingFeeUsd = 0n } = settlement ?? {}
    return sum + maxOf(0n, feesUsd - borrowingFeeUsd - maxOf(0n, fundingFeeUsd))
  }, 0n)
}
