/**
 * The objects of the order machine: Intent (the admitted decision), Attempt (one digest of it), Child (one order that a landed attempt created), and
 * their ends. The machine that moves them is in `machine/`.
 */
import type { Address, Hex } from '../../protocol/address.ts'
import type { UpdateOrderParams } from '../../protocol/batch.ts'
import type { Direction } from '../../protocol/market.ts'
import type { TokenAmount, Usd } from '../../protocol/units.ts'
import { addsRisk, type Decision } from './decision.ts'
import type { LaneName } from './laneTable.ts'
import type { OrderKind, OrderTerms, Sizing } from './orderTerms.ts'
import type { WarnedFacts } from './warnedFacts.ts'

/**
 * Effect of an intent. `close` is a decrease of everything; `collateral-in` and `collateral-out` are orders of size 0; `batch` is a list of creates,
 * updates and cancels that the caller composed (relay lane only).
 */
export type IntentKind =
  | 'increase'
  | 'decrease'
  | 'close'
  | 'swap'
  | 'edit'
  | 'cancel'
  | 'collateral-in'
  | 'collateral-out'
  | 'batch'

/** The kind of an intent, and the risk that it reserves. */
export interface IntentRisk {
  readonly kind: IntentKind
  /** Worst-case exposure held from J1 to J7, USD; 0 for orders that cannot add risk. */
  readonly reservationUsd: Usd
}

/** A sized order that admission accepted. It is durable in the journal before anything is sent (J1). */
export interface Intent extends IntentRisk {
  /** Made from account, strategy and decision key, so that the same decision always has the same id. */
  readonly intentId: string
  /** Instance, scheduled tick and index: a repeated tick cannot double it. */
  readonly decisionKey: string
  readonly strategy: string
  readonly account: Address
  readonly chain: string
  readonly lane: LaneName
  readonly decision: Decision
  readonly terms: OrderTerms
  readonly sizing: Sizing
  /** Unix ms after which no new attempt is prepared or armed. */
  readonly expiresAtMs: number
  readonly acceptedAtMs: number
  /**
   * Whole closes: intent ids of the reductions of the same position whose messages were withheld when it was accepted. It replaces them, and any of
   * them may still land. Absent: none.
   */
  readonly goesOnFor?: readonly string[]
}

/** States of an attempt (docs/reference/evidence.md, "What closes an order"). PREPARED lives in memory only. */
export type AttemptPhase =
  | 'PREPARING'
  | 'ARMED'
  | 'ACKED'
  | 'UNRESOLVED'
  | 'LANDED'
  | 'DEAD'
  | 'VOID_CONSUMED'
  | 'NOT_SENT'

/** Result of one submit. `not-sent`: no byte left; `unanswered`: anything that proves nothing. */
export type SendClass = 'accepted' | 'refused' | 'unanswered' | 'not-sent'

/** An order as the signed message creates it. */
export interface SignedOrder {
  /** On-chain order type; absent where only sizes were read. */
  readonly orderType?: number
  /** USD. */
  readonly sizeDeltaUsd: Usd
  /** Amount paid in, or requested to be paid out, base units of the order's collateral token. */
  readonly collateralAmount: TokenAmount
  /** Other fields that the chain stores of it; absent where only sizes were read. */
  readonly kept?: {
    readonly marketToken: Address
    readonly direction: Direction
    readonly collateralToken: Address
    readonly triggerContractPrice: bigint
    readonly acceptableContractPrice: bigint
    /** Swaps: units of the token received; decreases: USD. */
    readonly minOutputAmount: bigint
    readonly autoCancel: boolean
  }
}

/** The armed message: the one digest that may land, and the means to follow it. */
export interface ArmedFacts {
  /** Order chain: the host that prepared, to which the chain is pinned. Relay lane: the host that the submit goes to. */
  readonly host: string
  /** Order chain only: the host's name of the request. */
  readonly requestId?: string
  readonly idempotencyKey?: string
  readonly router: Address
  readonly digest: Hex
  /** Unix seconds of block time after which the digest cannot land. */
  readonly deadlineSeconds: number
  readonly userNonce: bigint
  readonly signature: Hex
  /** The price that was signed as acceptable, contract price of the index token. */
  readonly acceptableContractPrice: bigint
  /** Orders that the message creates, in its order: of several messages of ours in one transaction they say whose orders are whose. */
  readonly creates: readonly SignedOrder[]
  /** Rewritten fields of resting orders. Absent where the message rewrites none. */
  readonly updates?: readonly UpdateOrderParams[]
  /** Execution fees of all orders of the message together, native token, base units. */
  readonly executionFee: bigint
  readonly relayFeeToken: Address
  /** Fee of the whole message: its execution fees and the relay's gas, in the fee token. */
  readonly relayFeeAmount: bigint
  /** Our own estimate of both fees when they were signed; absent without one. */
  readonly feeEstimate?: {
    readonly source: 'chain' | 'landed' | 'usual'
    readonly executionFee: bigint
    readonly relayFee: bigint
  }
  /** Codes and messages of prepare's warnings, shown before anything was signed. */
  readonly validationWarnings: readonly { readonly code: string; readonly message: string }[]
  /** Number of fields of the message that were compared one to one with the intended values. */
  readonly comparedFields: number
  /** The lease epoch of the writer. */
  readonly leaseEpoch: number
  /** Latest block that a chain endpoint showed before arming: logs are looked for from here. Absent without an endpoint. */
  readonly armBlockNumber?: bigint
}

/** Result of the one submit of an attempt. */
export interface SendFacts {
  readonly result: SendClass
  readonly httpStatus?: number
  readonly status?: string
  readonly taskId?: string
  readonly txHash?: Hex
  readonly code?: string
  readonly message?: string
  readonly traceId?: string
  readonly durationMs?: number
}

/** States of a created order. */
export type ChildPhase = 'OPEN' | 'FROZEN' | 'EXECUTED' | 'CANCELLED'

/** One order that a landed attempt created. */
export interface Child {
  readonly index: number
  readonly orderKey: Hex
  readonly phase: ChildPhase
  readonly settlement?: Settlement
  readonly cancelReason?: string
  /** Evidence of its newest phase; absent while it has not moved since the landing. */
  readonly evidence?: Evidence
  /** Its part in the intent. */
  readonly role: ChildRole
}

/** Role of a created order: the order itself, an exit that came with it, or one part of a twap. */
export type ChildRole = 'main' | 'take-profit' | 'stop-loss' | 'part'

/** Evidence that may close something (docs/reference/evidence.md, "What closes an order"): its source, its time, and the facts that show it. */
export interface Evidence {
  /** `chain-*`: logs and digests at that finality; `api`: pinned host and own orders or trades; `venue`: paper only; `local`: our journal alone. */
  readonly level: 'chain-final' | 'chain-latest' | 'api' | 'venue' | 'local' | 'operator'
  /** Unix ms when it was seen. */
  readonly atMs: number
  /** One sentence: the observation. */
  readonly statement: string
  readonly host?: string
  readonly status?: string
  readonly orderKeys?: readonly Hex[]
  readonly transactionHashes?: readonly Hex[]
  readonly tradeIds?: readonly string[]
  /** The host's own clock, Unix ms. */
  readonly serverDateMs?: number
  /** The block that shows it: of the log, or for a death the block past the deadline. */
  readonly block?: BlockRef
  /** Place of the log in its block. */
  readonly logIndex?: number
  /** Endpoints that agree. */
  readonly endpoints?: readonly string[]
}

/** A block as evidence names it. */
export interface BlockRef {
  readonly number: bigint
  readonly hash: Hex
  readonly timestampSeconds: number
}

/** One digest of an intent; at most one is live. */
export interface Attempt {
  readonly n: number
  readonly lane: LaneName
  /** Host asked to prepare. */
  readonly host: string
  readonly phase: AttemptPhase
  /** Prepares with warnings, and the action taken; absent when there were none. */
  readonly warned?: readonly WarnedFacts[]
  readonly armed?: ArmedFacts
  readonly armedAtMs?: number
  readonly send?: SendFacts
  readonly sentAtMs?: number
  readonly children: readonly Child[]
  /** The proof that it landed, the reason why it cannot any more, or the doubt about it. */
  readonly evidence?: Evidence
  /** The part of its fee that the relay gave back, USD, by the chain; absent: not shown, so the fee counts whole. */
  readonly feeReturnedUsd?: Usd
}

/** The way an intent ended. */
export type Outcome =
  | 'EXECUTED'
  | 'PARTIAL'
  | 'CANCELLED'
  | 'DEAD'
  | 'VOID_CONSUMED'
  | 'REFUSED_LOCAL'
  | 'EXPIRED'

/** The facts of an executed order; of a cancelled one, the returned part of its execution fee alone. USD has 30 decimals; the price is per whole index token. */
export interface Settlement {
  readonly executionPrice?: Usd
  readonly sizeDeltaUsd?: Usd
  /** Index token, base units. */
  readonly sizeDeltaInTokens?: TokenAmount
  /** Position fee, funding and borrowing together, and the cost of swaps on the way in or out. */
  readonly feesUsd?: Usd
  /** Borrowing and funding among those fees that had accrued and were settled by this fill; absent: none, or not known. */
  readonly borrowingFeeUsd?: Usd
  readonly fundingFeeUsd?: Usd
  /**
   * Funding from others that this fill put aside for the account to claim, by the chain, at the oracle's prices of that moment. It is in no other
   * figure here. Absent: none, or not known.
   */
  readonly fundingReceivedUsd?: Usd
  readonly priceImpactUsd?: Usd
  /** Decreases: the PnL of the price alone, before impact and fees. */
  readonly basePnlUsd?: Usd
  /** Decreases: PnL after impact and fees. */
  readonly pnlUsd?: Usd
  /** Swaps, by the chain: output less input at the oracle's prices of that moment, signed. */
  readonly swapResultUsd?: Usd
  /**
   * Part of the order's execution fee that the keeper retained, native token, base units; the rest was returned. Absent where no endpoint shows it.
   */
  readonly executionFeePaid?: TokenAmount
  /**
   * The returned part, USD at the oracle's price of that moment. Absent where no endpoint shows it, or the transaction shows no price of the
   * native token: the fee then counts whole.
   */
  readonly executionFeeReturnedUsd?: Usd
  readonly transactionHash?: Hex
  readonly timestampSeconds?: number
}

/** The way and the reason in which an intent closed (J7). */
export interface Closing {
  readonly outcome: Outcome
  /** Stable code of the reason: `EXECUTED`, `PREPARE_REFUSED`, `TYPED_DATA_MISMATCH`, ... */
  readonly code: string
  /** One sentence. */
  readonly reason: string
  readonly evidence: Evidence
  /** The venue's last word on the attempt, which decides between reverted, failed and expired. */
  readonly observedStatus?: string
  readonly settlement?: Settlement
  /** Further facts: a server's message, trace id, the list of differences. */
  readonly facts?: Readonly<Record<string, string | number | boolean>>
}

/** An intent with everything that happened to it: the fold of its records. */
export interface IntentState {
  readonly intent: Intent
  readonly attempts: readonly Attempt[]
  readonly closing?: Closing
  readonly closedAtMs?: number
  /** Time of the newest record, Unix ms. */
  readonly updatedAtMs: number
}

/** The operator's label of an intent. */
export type Label =
  | 'planned'
  | 'pending'
  | 'resting'
  | 'executed'
  | 'cancelled'
  | 'reverted'
  | 'failed'
  | 'unknown'
  | 'expired'
  | 'refused'

/** A local refusal: nothing left the house. `wanted` and `allowed` are texts with units. */
export interface Denial {
  readonly code: string
  readonly reason: string
  readonly wanted?: string
  readonly allowed?: string
}

/** Tells whether the intent is still open. */
export function isOpen(state: IntentState): boolean {
  return state.closing === undefined
}

/** The newest attempt, if any. */
export function lastAttempt(state: IntentState): Attempt | undefined {
  return state.attempts.at(-1)
}

const resolvedPhases: ReadonlySet<AttemptPhase> = new Set(['LANDED', 'DEAD', 'VOID_CONSUMED', 'NOT_SENT'])

/** Tells whether an attempt was signed and its fate is not proven: its digest may still land. */
export function isUnresolved(attempt: Attempt): boolean {
  return attempt.armed !== undefined && !resolvedPhases.has(attempt.phase)
}

/** Tells whether evidence may still be taken back: the chain showed it in a block that can be reorganised. */
export function isProvisional(evidence: Evidence | undefined): boolean {
  return evidence?.level === 'chain-latest'
}

/** Tells whether an order reached its end, provisional or not. */
export function hasEnded(child: Child): boolean {
  return child.phase === 'EXECUTED' || child.phase === 'CANCELLED'
}

const waitingOrders: ReadonlySet<OrderKind> = new Set([
  'limit',
  'stop-market',
  'take-profit',
  'stop-loss',
  'twap',
])

// MarketSwap, MarketIncrease and MarketDecrease (contract `Order`, `OrderType`).
const marketOrderTypes: ReadonlySet<bigint> = new Set([0n, 2n, 4n])

/**
 * Tells whether an admitted intent can add risk. An edit of a take-profit or stop-loss cannot; that of an order that opens counts as adding, also where
 * it makes the order smaller.
 */
export function intentAddsRisk({ decision, terms: { orderType } }: Intent): boolean {
  if (decision.kind === 'edit' && (orderType === 'take-profit' || orderType === 'stop-loss')) return false
  return addsRisk(decision)
}

/** Tells whether a created order waits for its trigger or its time; market orders, edits and cancels do not. */
export function isWaiting(intent: Intent, child: Child): boolean {
  if (child.role === 'take-profit' || child.role === 'stop-loss' || child.role === 'part') return true
  const own = intent.terms.batch?.createOrderParamsList[child.index]
  if (own !== undefined) return !marketOrderTypes.has(own.orderType)
  return waitingOrders.has(intent.terms.orderType)
}

/**
 * Returns the operator's label (docs/orders.md, "What you see"). It follows from the journal alone, so that every screen has the same one. A failure
 * or refusal seen after a signature left makes the attempt unresolved, and shows as `unknown` until proof.
 */
export function labelOf(state: IntentState): Label {
  const { closing } = state
  if (closing) return closedLabel(closing)
  const attempt = lastAttempt(state)
  if (attempt === undefined || attempt.phase === 'PREPARING') return 'planned'
  if (attempt.phase === 'UNRESOLVED' || attempt.phase === 'DEAD' || attempt.phase === 'VOID_CONSUMED')
    return 'unknown'
  if (attempt.phase === 'LANDED') {
    const open = attempt.children.filter((child) => !hasEnded(child))
    return open.length > 0 && open.every((child) => isWaiting(state.intent, child)) ? 'resting' : 'pending'
  }
  return 'pending'
}

function closedLabel(closing: Closing): Label {
  switch (closing.outcome) {
    case 'EXECUTED':
    case 'PARTIAL':
      return 'executed'
    case 'CANCELLED':
      return 'cancelled'
    case 'REFUSED_LOCAL':
      return 'refused'
    case 'EXPIRED':
      return 'expired'
    case 'VOID_CONSUMED':
      return 'failed'
    case 'DEAD':
      if (closing.observedStatus === 'relay_reverted') return 'reverted'
      if (closing.observedStatus === 'relay_failed' || closing.observedStatus === 'refused') return 'failed'
      return 'expired'
  }
}
