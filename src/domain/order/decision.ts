/** Decisions that a strategy may make. A decision is only a decision: risk sizes it, may cut it, and may deny it. */
import { type Address, type Hex, sameHex } from '../../protocol/address.ts'
import type { BatchTerms } from '../../protocol/batch.ts'
import type { Direction } from '../../protocol/market.ts'
import { isIncreaseOrder, type Order } from '../../protocol/position.ts'
import type { TokenAmount, Usd } from '../../protocol/units.ts'
import type { TaskWish } from './taskWish.ts'

/** A number or word that explains a decision; shown by `perpd explain`. */
export type DecisionFacts = Readonly<Record<string, string | number | boolean>>

interface DecisionBase {
  readonly marketToken: Address
  readonly direction: Direction
  /** One plain sentence: why. Shown in logs and by `perpd explain`. */
  readonly reason: string
  /** The numbers behind the reason. */
  readonly facts?: DecisionFacts
}

/** A take-profit or stop-loss that is created with an increase and closes its share of it. */
export interface ExitRequest {
  readonly type: 'take-profit' | 'stop-loss'
  /** USD per whole index token. */
  readonly triggerPrice: Usd
  /** Share of the admitted size that it closes, bps; all of it when absent. */
  readonly shareBps?: number
}

/** Open or add to a position. */
export interface IncreaseDecision extends DecisionBase {
  readonly kind: 'increase'
  /** Requested size, USD; risk may cut it to capacity and limits. */
  readonly sizeDeltaUsd: Usd
  /** Collateral brought = size / leverage; 10000 = 1x. */
  readonly leverageBps: number
  /** Token that pays and backs the position: the market's long or short token. */
  readonly collateralToken: Address
  /**
   * `market` when absent. `limit` waits for a better price, `stop-market` for a worse one; `twap` comes in equal parts.
   * What waits reserves its full size until it ends.
   */
  readonly orderType?: 'market' | 'limit' | 'stop-market' | 'twap'
  /** limit and stop-market: USD per whole index token. */
  readonly triggerPrice?: Usd
  readonly twap?: TwapTerms
  /**
   * Exits to create with it; not with a twap. They see the whole position of their side: with several increases resting on one side, the exit of one
   * may close the position of another.
   */
  readonly tpsl?: readonly ExitRequest[]
  /**
   * Expected profit before costs, bps of its size, 0 or more: compared with `protect.minEdgeBps` of the file. Absent: the distance to its nearest
   * take-profit.
   */
  readonly expectedEdgeBps?: number
}

/** Reduce a position by a part, now or when a price is reached. */
export interface DecreaseDecision extends DecisionBase {
  readonly kind: 'decrease'
  /** Size to reduce, USD; never more than the position has, nor than the instance's own part of it. */
  readonly sizeDeltaUsd: Usd
  /** Collateral token of the position to reduce; one market side can have two positions. */
  readonly collateralToken: Address
  /** True withdraws collateral pro rata so that leverage stays; false leaves it, so that leverage falls. */
  readonly keepLeverage: boolean
  /** `market` when absent. */
  readonly orderType?: 'market' | 'take-profit' | 'stop-loss' | 'twap'
  /** take-profit and stop-loss: USD per whole index token. */
  readonly triggerPrice?: Usd
  readonly twap?: TwapTerms
}

/**
 * Close a position with a market order: of an instance that opens positions its own part, of a keeper and the operator the whole
 * (docs/books.md).
 */
export interface CloseDecision extends DecisionBase {
  readonly kind: 'close'
  readonly collateralToken: Address
}

/**
 * Swap one token of a market's pool into the other, at once. `direction` says which: `long` buys the long token with the
 * short one, `short` sells it. Needs `balances` in the strategy's needs.
 */
export interface SwapDecision extends DecisionBase {
  readonly kind: 'swap'
  /** Units of the token paid; never more than the account has. */
  readonly payAmount: TokenAmount
}

/** Change a resting order of the strategy's own; absent fields stay. The acceptable price follows the trigger. */
export interface EditDecision extends DecisionBase {
  readonly kind: 'edit'
  readonly orderKey: Hex
  readonly sizeDeltaUsd?: Usd
  /** USD per whole index token. */
  readonly triggerPrice?: Usd
}

/** Cancel resting orders of the strategy's own. */
export interface CancelDecision extends DecisionBase {
  readonly kind: 'cancel'
  readonly orderKeys: readonly Hex[]
}

/** Pay collateral into a position, or take it out, which raises its leverage. */
export interface CollateralDecision extends DecisionBase {
  readonly kind: 'collateral-in' | 'collateral-out'
  readonly collateralToken: Address
  /** Units of the collateral token. */
  readonly amount: TokenAmount
}

/** A message of the strategy's own on one side of one market; all or nothing, and for accounts on the relay lane alone. */
export interface BatchDecision extends DecisionBase {
  readonly kind: 'batch'
  readonly batch: BatchTerms
}

/** A decision of a strategy. */
export type Decision =
  | IncreaseDecision
  | DecreaseDecision
  | CloseDecision
  | SwapDecision
  | EditDecision
  | CancelDecision
  | CollateralDecision
  | BatchDecision

/**
 * Undoes an order of the strategy if it lands: once its signature left it cannot be called back. Unsigned messages of it are not signed any more. Its
 * resting orders are cancelled and its position is closed, at most once and over restarts.
 */
export interface UnwindDecision {
  readonly kind: 'unwind'
  /** Id from `openIntents`. */
  readonly intentId: string
  /** One plain sentence: why. */
  readonly reason: string
  readonly facts?: DecisionFacts
}

/** Begins a task that makes orders over time, in the strategy's name (docs/own-kinds.md). */
export interface StartTaskDecision {
  readonly kind: 'start-task'
  /** Label of the task, for ever: a repeated request under the same label does not start it twice. Letters, digits, dots, dashes, underscores. */
  readonly label: string
  readonly task: TaskWish
  /** One plain sentence: why. */
  readonly reason: string
  readonly facts?: DecisionFacts
}

/** Ends a task of the strategy: it makes no more orders, and its resting orders are cancelled. */
export interface StopTaskDecision {
  readonly kind: 'stop-task'
  readonly label: string
  /** One plain sentence: why. */
  readonly reason: string
  readonly facts?: DecisionFacts
}

/** A strategy's requests about its tasks. */
export type TaskDecision = StartTaskDecision | StopTaskDecision

/** Has the renewal of the delegated key's approval written to a file, for the owner to sign. */
export interface RenewalDecision {
  readonly kind: 'prepare-approval'
  /** Actions beyond those that are used, 1 to 1,000,000. */
  readonly actions: number
  /** Days that it lasts, 1 to 365. */
  readonly days: number
  /** One plain sentence: why. */
  readonly reason: string
  readonly facts?: DecisionFacts
}

/** Writes the claim of amounts that the venue put aside for the account to a file for the owner's wallet, once they reach a worth. */
export interface ClaimDecision {
  readonly kind: 'prepare-claim'
  /** USD, above 0. */
  readonly aboveUsd: Usd
  /** One plain sentence: why. */
  readonly reason: string
  readonly facts?: DecisionFacts
}

/** Possible faults of a resting order. */
export const untidyCauses = [
  'stale',
  'unreachable',
  'orphaned',
  'oversized',
  'behind-liquidation',
  'other',
] as const

/** One of them. */
export type UntidyCause = (typeof untidyCauses)[number]

/** Notifies people of a resting order, whoever made it: by the log, a metric and a notice. */
export interface ReportDecision extends DecisionBase {
  readonly kind: 'report-order'
  readonly orderKey: Hex
  /** Fault of the order; the metric counts by it. */
  readonly cause: UntidyCause
  /** True once the reported fault is over. */
  readonly isOver: boolean
}

/** All decisions that a strategy may make: decisions that become orders, unwinds of its orders, tasks, renewals, and notices to people. */
export type StrategyDecision =
  | Decision
  | UnwindDecision
  | TaskDecision
  | RenewalDecision
  | ClaimDecision
  | ReportDecision

/** Decisions about no order to be made, besides those about tasks. */
const apart: ReadonlySet<string> = new Set(['unwind', 'prepare-approval', 'prepare-claim', 'report-order'])

/** Tells whether the decision becomes an order directly. */
export function isOrderDecision(decision: StrategyDecision): decision is Decision {
  return !isTaskDecision(decision) && !apart.has(decision.kind)
}

/** Tells whether the decision is about a task. */
export function isTaskDecision(decision: StrategyDecision): decision is TaskDecision {
  return decision.kind === 'start-task' || decision.kind === 'stop-task'
}

/**
 * Tells whether the decision can add risk: exposure, leverage or another token's price. `orders`: the account's resting orders, because an edit adds
 * only by the order it edits; an order that is not among them counts as adding.
 */
export function addsRisk(decision: Decision, orders: readonly Order[] = []): boolean {
  switch (decision.kind) {
    case 'increase':
    case 'swap':
    case 'collateral-out':
      return true
    case 'decrease':
    case 'close':
    case 'cancel':
    case 'collateral-in':
      return false
    case 'edit': {
      const order = orders.find(({ orderKey }) => sameHex(orderKey, decision.orderKey))
      if (order === undefined) return true
      const isSmaller =
        decision.triggerPrice === undefined && (decision.sizeDeltaUsd ?? 0n) < order.sizeDeltaUsd
      return isIncreaseOrder(order) && !isSmaller
    }
    case 'batch': {
      const { createOrderParamsList, updateOrderParamsList } = decision.batch
      const creates = createOrderParamsList.map(({ orderType }) => ({ orderType: Number(orderType) }))
      return creates.some(isIncreaseOrder) || updateOrderParamsList.length > 0
    }
  }
}

/** The parts of a twap order (docs/reference/api-coverage.md POST /orders/txns/prepare). */
export interface TwapTerms {
  /** 2 to 30. */
  readonly parts: number
  readonly durationSeconds: number
}
