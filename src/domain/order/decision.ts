/** Decisions that a strategy may make. A decision is only a decision: risk sizes it, may cut it, and may deny it. */
import type { z } from 'zod'
import { sameHex } from '../../protocol/address.ts'
import { isIncreaseOrder, type Order } from '../../protocol/position.ts'
import type { decisionSchemas, exitRequest, startTaskOf, twapTerms, untidyCauses } from './decisionSchema.ts'
import type { explaining } from './decisionValues.ts'

type Flat<T> = { readonly [Name in keyof T]: T[Name] }
type Plain = z.output<(typeof decisionSchemas)[number]>
type Of<Kind extends string> = Flat<Extract<Plain, { readonly kind: Kind }>>

/** A number or word that explains a decision; shown by `perpd explain`. */
export type DecisionFacts = z.output<typeof explaining>
/** A take-profit or stop-loss that is created with an increase and closes its share of it. */
export type ExitRequest = Flat<z.output<typeof exitRequest>>
/** The parts of a twap order. */
export type TwapTerms = Flat<z.output<typeof twapTerms>>
/** Open or add to a position. */
export type IncreaseDecision = Of<'increase'>
/** Reduce a position by a part, now or when a price is reached. */
export type DecreaseDecision = Of<'decrease'>
/** Close a position with a market order. */
export type CloseDecision = Of<'close'>
/** Swap one token of a market's pool into the other, at once. */
export type SwapDecision = Of<'swap'>
/** Change a resting order of the strategy's own; absent fields stay. */
export type EditDecision = Of<'edit'>
/** Cancel resting orders of the strategy's own. */
export type CancelDecision = Of<'cancel'>
/** Pay collateral into a position, or take it out, which raises its leverage. */
export type CollateralDecision = Of<'collateral-in'> | Of<'collateral-out'>
/** A message of the strategy's own on one side of one market. */
export type BatchDecision = Of<'batch'>
/** Undoes an order of the strategy if it lands. */
export type UnwindDecision = Of<'unwind'>
/** Ends a task of the strategy. */
export type StopTaskDecision = Of<'stop-task'>
/** Writes the renewal of the delegated key's approval to a file. */
export type RenewalDecision = Of<'prepare-approval'>
/** Has the claim of amounts that the venue put aside written to a file. */
export type ClaimDecision = Of<'prepare-claim'>
/** Notifies people of a resting order. */
export type ReportDecision = Of<'report-order'>
/** A fault of a resting order. */
export type UntidyCause = (typeof untidyCauses)[number]

/** Kinds of decisions that become orders. */
const orderKinds = [
  'increase',
  'decrease',
  'close',
  'swap',
  'edit',
  'cancel',
  'collateral-in',
  'collateral-out',
  'batch',
] as const

/** A decision of a strategy that becomes an order. */
export type Decision = { [Kind in (typeof orderKinds)[number]]: Of<Kind> }[(typeof orderKinds)[number]]

/** A task of any kind: its parameters are values of its own kind, which events carry unchanged. */
export interface AnyTask {
  readonly kind: string
}

/** Begins a task that makes orders over time, in the strategy's name. */
export type StartTaskDecision<Task = AnyTask> = Flat<
  Omit<z.output<ReturnType<typeof startTaskOf>>, 'task'> & { readonly task: Task }
>

/** A strategy's requests about its tasks. */
export type TaskDecision<Task = AnyTask> = StartTaskDecision<Task> | StopTaskDecision

/** All decisions that a strategy may make: decisions that become orders, unwinds of its orders, tasks, renewals, and notices to people. */
export type StrategyDecision<Task = AnyTask> =
  | { [Kind in Plain['kind']]: Of<Kind> }[Plain['kind']]
  | StartTaskDecision<Task>

/** Tells whether the decision becomes an order directly. */
export function isOrderDecision<Task>(decision: StrategyDecision<Task>): decision is Decision {
  return orderKinds.some((kind) => kind === decision.kind)
}

/** Tells whether the decision is about a task. */
export function isTaskDecision<Task>(decision: StrategyDecision<Task>): decision is TaskDecision<Task> {
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
