/**
 * The objects of the order machine: Intent (what was decided and admitted), Attempt (one digest of it), Child (one order
 * that a landed attempt created), and how they end. The machine that moves them is in `machine/`.
 */
import type { Address, Hex } from './address.ts'
import type { CreateOrderParams, UpdateOrderParams } from './batch.ts'
import type { Decision } from './decision.ts'
import type { Direction } from './market.ts'
import type { PriceSource } from './snapshot.ts'
import { bps, minOf, mulDivUp, type TokenAmount, type Usd } from './units.ts'
import type { WarnedFacts } from './warning.ts'

/**
 * What an intent does. `close` is a decrease of everything; `collateral-in` and `collateral-out` are orders of size 0;
 * `batch` is a list of creates, updates and cancels that the caller made himself (relay lane only).
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

/** How an order waits (docs/api-coverage.md POST /orders/txns/prepare). */
export type OrderKind = 'market' | 'limit' | 'stop-market' | 'take-profit' | 'stop-loss' | 'twap'

/** How an attempt is sent: by the host-pinned order chain, or by the generic relay. */
export type Lane = 'order-chain' | 'relay'

/** A token as an order needs it. */
export interface TermsToken {
  readonly symbol: string
  /** How requests name it where another token of the chain has the same symbol; absent: by its symbol. */
  readonly wireName?: string
  readonly address: Address
  readonly decimals: number
}

/**
 * The sized terms of an order: exactly what may be signed, and nothing else. The verifier compares every field of the
 * venue's payload with these.
 */
export interface OrderTerms {
  readonly orderType: OrderKind
  readonly symbol: string
  readonly marketToken: Address
  readonly indexToken: TermsToken
  readonly direction: Direction
  readonly collateralToken: TermsToken
  /** Change of position size, USD, positive for both directions of change. */
  readonly sizeDeltaUsd: Usd
  /**
   * Collateral token units: what an increase pays in, exactly; what a change of collateral moves, exactly; the most that a
   * decrease which keeps leverage may take out.
   */
  readonly collateralDelta: TokenAmount
  /** Decreases only: whether collateral leaves pro rata. */
  readonly keepLeverage: boolean
  /** Slippage asked of the venue, bps. */
  readonly slippageBps: number
  /** Our own oracle price of the index token on the side that executes, USD per whole token, when the order was sized. */
  readonly referencePrice: Usd
  /** USD per whole index token; limit, stop-market, take-profit and stop-loss orders only. */
  readonly triggerPrice?: Usd
  /**
   * Price impact by our own estimate when it was sized, bps of the size, negative at our cost; absent where the market's data
   * were not there, and in older records. Only what the signing policy allows of it widens a bound.
   */
  readonly priceImpactBps?: number
  /** limit and take-profit only: price impact that the acceptable price leaves beyond the trigger, bps; absent where none is asked. */
  readonly acceptablePriceImpactBps?: number
  /** The position when the order was sized: of reductions, of increases with exits, and of collateral taken out. Absent: none. */
  readonly held?: HeldPosition
  /**
   * decrease only: the other size that the venue and the contract may make of it, USD. The whole position, where so little
   * would be left that they close it; or the part that was decided, where sizing made it the whole for that reason.
   */
  readonly otherSizeDeltaUsd?: Usd
  /** collateral-out only: the most that what comes out is worth, USD. */
  readonly mostOutputUsd?: Usd
  /** twap only: equal parts, the first due at once. Size and collateral are those of all parts together. */
  readonly twap?: TwapTerms
  /** Orders that are created with an increase and close it later. */
  readonly tpsl?: readonly ExitTerms[]
  /** swap only. `collateralToken` and `collateralDelta` are what is paid. */
  readonly swap?: SwapTerms
  /** edit only: the order as it is to be afterwards. */
  readonly edit?: EditTerms
  /** cancel only: keys of the orders to cancel, in the order of the message. */
  readonly cancelOrderKeys?: readonly Hex[]
  /** batch only: the message itself. */
  readonly batch?: BatchTerms
  /** collateral-in and collateral-out only: the venue's row key of the position. */
  readonly positionKey?: string
}

/** A position as an order finds it. */
export interface HeldPosition {
  readonly sizeInUsd: Usd
  /** Base units of the order's collateral token. */
  readonly collateralAmount: TokenAmount
}

/**
 * What a partial decrease that keeps leverage may take out of the collateral above its share, bps of all of it: profit that
 * pays the costs, and pending fees, move what the venue counts.
 */
export const KEPT_LEVERAGE_SLACK_BPS = 200

/** The most that a part of a position may take out of the collateral with it: its share and the slack, never more than all. */
export function keptShare(collateralAmount: TokenAmount, sizeDeltaUsd: Usd, wholeUsd: Usd): TokenAmount {
  if (wholeUsd <= 0n) return 0n
  const share = mulDivUp(collateralAmount, minOf(sizeDeltaUsd, wholeUsd), wholeUsd)
  return minOf(collateralAmount, share + bps(collateralAmount, KEPT_LEVERAGE_SLACK_BPS))
}

/** What a limit or take-profit order asks by name beyond its trigger on top of the estimated price impact, bps: the venue's own default. */
export const TRIGGER_BUFFER_BPS = 30

/** The parts of a twap order (docs/api-coverage.md POST /orders/txns/prepare). */
export interface TwapTerms {
  /** 2 to 30. */
  readonly parts: number
  readonly durationSeconds: number
}

/** A take-profit or stop-loss that is created together with an increase. */
export interface ExitTerms {
  readonly type: 'take-profit' | 'stop-loss'
  /** USD per whole index token. */
  readonly triggerPrice: Usd
  /** USD; what it closes. All of the position that there is then, when it is no less than what is held and what is added. */
  readonly sizeDeltaUsd: Usd
  /** Price impact by our own estimate, as in `OrderTerms`. */
  readonly priceImpactBps?: number
}

/** What a swap must give. */
export interface SwapTerms {
  readonly receiveToken: TermsToken
  /** Native tokens out instead of wrapped ones. */
  readonly isNativeOut: boolean
  /** The least that may be signed as `minOutputAmount`, base units of the token received. */
  readonly minOutputAmount: TokenAmount
}

/**
 * An order as an edit leaves it; an update rewrites all of these at once (docs/api-coverage.md POST
 * /orders/txns/edit/prepare).
 */
export interface EditTerms {
  readonly orderKey: Hex
  readonly sizeDeltaUsd: Usd
  /** Contract prices of the index token. */
  readonly triggerContractPrice: bigint
  readonly acceptableContractPrice: bigint
  readonly minOutputAmount: TokenAmount
  readonly autoCancel: boolean
  /** Native token, base units, on top of what the order holds: what is asked for. */
  readonly executionFeeIncrease: TokenAmount
  /** What the order holds already, native token, base units; absent where the venue does not say, and in older records. */
  readonly executionFeeHeld?: TokenAmount
  /** Which of them the request names; the others are what the stored order has. */
  readonly changed: readonly ('size' | 'trigger' | 'acceptable' | 'auto-cancel' | 'execution-fee')[]
}

/** A message of the caller's own. */
export interface BatchTerms {
  readonly createOrderParamsList: readonly CreateOrderParams[]
  readonly updateOrderParamsList: readonly UpdateOrderParams[]
  readonly cancelOrderKeys: readonly Hex[]
}

/** How a wish became a size; shown by `perpd explain`. USD values have 30 decimals. */
export interface Sizing {
  /** What the decision wished for. */
  readonly wantedUsd: Usd
  /** What was admitted. */
  readonly sizeDeltaUsd: Usd
  /** Which capacity field was used; absent for orders that add no risk. */
  readonly basis?: 'availableLiquidity' | 'baseAvailableLiquidity'
  /** The capacity as read, and its part left after headroom and what is in flight. */
  readonly capacityUsd?: Usd
  readonly roomUsd?: Usd
  /** Each cut that made the size smaller, in order. */
  readonly cuts: readonly { readonly by: string; readonly toUsd: Usd }[]
  /** Age of the data the size stands on, ms. */
  readonly dataAgeMs: number
  /** Where the price is from that stands in for a fresh one of the oracle; absent: it is the oracle's. */
  readonly priceSource?: PriceSource
}

/** An admitted, sized order of ours; made here and persisted (J1) before anything is sent. */
export interface Intent {
  /** Made from account, strategy and decision key, so that the same decision always has the same id. */
  readonly intentId: string
  /** Instance, scheduled tick and index: a repeated tick cannot double it. */
  readonly decisionKey: string
  readonly strategy: string
  readonly account: Address
  readonly chain: string
  readonly lane: Lane
  readonly kind: IntentKind
  readonly decision: Decision
  readonly terms: OrderTerms
  readonly sizing: Sizing
  /** Worst-case exposure held from J1 to J7, USD; 0 for orders that cannot add risk. */
  readonly reservationUsd: Usd
  /** Unix ms after which no new attempt is prepared or armed. */
  readonly expiresAtMs: number
  readonly acceptedAtMs: number
}

/** States of an attempt (docs/orders.md 3). PREPARED lives in memory only. */
export type AttemptPhase =
  | 'PREPARING'
  | 'ARMED'
  | 'ACKED'
  | 'UNRESOLVED'
  | 'LANDED'
  | 'DEAD'
  | 'VOID_CONSUMED'
  | 'NOT_SENT'

/** What one submit showed. `not-sent`: no byte left; `unanswered`: anything that proves nothing. */
export type SendClass = 'accepted' | 'refused' | 'unanswered' | 'not-sent'

/** An order as the signed message creates it. */
export interface SignedOrder {
  /** On-chain order type. Absent in records of before it was kept. */
  readonly orderType?: number
  /** USD. */
  readonly sizeDeltaUsd: Usd
  /** What is paid in, or asked to be paid out, base units of the order's collateral token. */
  readonly collateralAmount: TokenAmount
  /** The rest of what the chain keeps of it. Absent in records of before it was kept. */
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

/** What was armed: the one digest that may land, and how to follow it. */
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
  /**
   * What the message creates, in its order: of several messages of ours in one transaction it says whose orders are whose.
   * Absent in records of before it was kept.
   */
  readonly creates?: readonly SignedOrder[]
  /** What the message rewrites of resting orders. Absent where it rewrites none, and in records of before it was kept. */
  readonly updates?: readonly UpdateOrderParams[]
  /** Of all orders of the message together, native token, base units. */
  readonly executionFee: bigint
  readonly relayFeeToken: Address
  /** Of the whole message: its execution fees and the relay's gas, in the fee token. */
  readonly relayFeeAmount: bigint
  /** What the two were by our own estimate when they were signed; absent without one, and in older records. */
  readonly feeEstimate?: {
    readonly source: 'chain' | 'landed' | 'usual'
    readonly executionFee: bigint
    readonly relayFee: bigint
  }
  /** Codes and messages of prepare's warnings, shown before anything was signed. */
  readonly validationWarnings: readonly { readonly code: string; readonly message: string }[]
  /** How many fields of the message were compared one to one with what was meant; absent in records of version 1. */
  readonly comparedFields?: number
  /** The lease epoch of the writer. */
  readonly leaseEpoch: number
  /** Latest block that a chain endpoint showed before arming: logs are looked for from here. Absent without an endpoint. */
  readonly armBlockNumber?: bigint
}

/** What the one submit of an attempt showed. */
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
  /** What showed its newest phase; absent while it has not moved since the landing. */
  readonly evidence?: Evidence
  /** What it is, as the intent meant it; absent in stories from before version 2 of the records. */
  readonly role?: ChildRole
}

/** What a created order is for: the order itself, an exit that came with it, or one part of a twap. */
export type ChildRole = 'main' | 'take-profit' | 'stop-loss' | 'part'

/** What may close something (docs/orders.md 3): who said it, when, and the facts that show it. */
export interface Evidence {
  /** `chain-*`: logs and digests at that finality; `api`: pinned host and own orders or trades; `venue`: paper only; `local`: our journal alone. */
  readonly level: 'chain-final' | 'chain-latest' | 'api' | 'venue' | 'local' | 'operator'
  /** Unix ms when it was seen. */
  readonly atMs: number
  /** One sentence: what was seen. */
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
  readonly lane: Lane
  /** Host asked to prepare. */
  readonly host: string
  readonly phase: AttemptPhase
  /** Prepares that were warned of, and what was done; absent when none was, and in stories from before they were kept. */
  readonly warned?: readonly WarnedFacts[]
  readonly armed?: ArmedFacts
  readonly armedAtMs?: number
  readonly send?: SendFacts
  readonly sentAtMs?: number
  readonly children: readonly Child[]
  /** How it landed, or why it cannot any more. */
  readonly evidence?: Evidence
}

/** How an intent ended. */
export type Outcome =
  | 'EXECUTED'
  | 'PARTIAL'
  | 'CANCELLED'
  | 'DEAD'
  | 'VOID_CONSUMED'
  | 'REFUSED_LOCAL'
  | 'EXPIRED'

/** The facts of an executed order. USD has 30 decimals; the price is per whole index token. */
export interface Settlement {
  readonly executionPrice?: Usd
  readonly sizeDeltaUsd?: Usd
  readonly feesUsd?: Usd
  readonly priceImpactUsd?: Usd
  readonly pnlUsd?: Usd
  /** Of a swap, by the chain: what came out less what went in, at the oracle's prices of that moment, signed. */
  readonly swapResultUsd?: Usd
  /**
   * What the keeper kept of the order's execution fee, native token, base units; the rest came back. Absent where no endpoint
   * shows it.
   */
  readonly executionFeePaid?: TokenAmount
  readonly transactionHash?: Hex
  readonly timestampSeconds?: number
}

/** How and why an intent closed (J7). */
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
  /** When the newest record was written, Unix ms. */
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

/** Whether the intent still has something to come. */
export function isOpen(state: IntentState): boolean {
  return state.closing === undefined
}

/** The newest attempt, if any. */
export function lastAttempt(state: IntentState): Attempt | undefined {
  return state.attempts.at(-1)
}

const resolvedPhases: ReadonlySet<AttemptPhase> = new Set(['LANDED', 'DEAD', 'VOID_CONSUMED', 'NOT_SENT'])

/** Whether an attempt was signed and its fate is not proven: its digest may still land. */
export function isUnresolved(attempt: Attempt): boolean {
  return attempt.armed !== undefined && !resolvedPhases.has(attempt.phase)
}

/** Whether evidence may still be taken back: the chain showed it in a block that can be reorganised. */
export function isProvisional(evidence: Evidence | undefined): boolean {
  return evidence?.level === 'chain-latest'
}

/** Whether an order reached its end, provisional or not. */
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

/** Whether a created order waits for its trigger or its time; market orders, edits and cancels do not. */
export function isWaiting(intent: Intent, child: Child): boolean {
  if (child.role === 'take-profit' || child.role === 'stop-loss' || child.role === 'part') return true
  const own = intent.terms.batch?.createOrderParamsList[child.index]
  if (own !== undefined) return !marketOrderTypes.has(own.orderType)
  return waitingOrders.has(intent.terms.orderType)
}

/**
 * The operator's label (docs/orders.md 1). `observedStatus` is the venue's last word on the newest attempt, which
 * is not journaled: a failure or refusal seen after a signature left shows as `unknown` until proof.
 */
export function labelOf(state: IntentState, observedStatus?: string): Label {
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
  const doubtful = observedStatus === 'relay_failed' || observedStatus === 'relay_reverted'
  return doubtful ? 'unknown' : 'pending'
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
