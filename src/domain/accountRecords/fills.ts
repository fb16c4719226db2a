/** Position changes made by our executed orders; reconciliation compares the account's rows with them. */
import { defined } from '../../base/defined.ts'
import type { Hex } from '../../protocol/address.ts'
import type { Usd } from '../../protocol/units.ts'
import {
  type Child,
  type ChildRole,
  type IntentState,
  isProvisional,
  lastAttempt,
  type Settlement,
} from '../order/intent.ts'
import { isExit } from '../order/orderLegs.ts'
import { type PositionSide, sideOfIntent } from './accountRecord.ts'

/** The change of one position by the intent's executed orders, USD, signed. */
export interface Fill extends PositionSide {
  /** Absent when no evidence gives the size: an operator's statement, a row without its size. */
  readonly sizeDeltaUsd?: Usd
  /** Time of its execution, Unix seconds of the venue; absent without evidence, and for sums. */
  readonly atSeconds?: number
}

const moving: ReadonlySet<string> = new Set(['increase', 'decrease', 'close'])

/** One executed order of an intent, and its effect on its position. */
export interface FilledOrder extends Fill {
  /** Key of the created order; absent where only an operator states that it was executed. */
  readonly orderKey?: Hex
  readonly role?: ChildRole
  readonly adds: boolean
  readonly settlement?: Settlement
  /** The chain may take it back. */
  readonly isProvisional: boolean
}

/** The intent's fills so far, one for each executed order. */
export function fillsOf(state: IntentState): readonly Fill[] {
  const fills = childFillsOf(state)
  return isFilledByWord(state, fills) ? [sideOfIntent(state.intent)] : fills.map(({ fill }) => fill)
}

/**
 * The intent's executed orders so far. Swaps and changes of orders move no position, and collateral orders move its
 * collateral alone. A batch counts by the orders that it created.
 */
export function filledOrders(state: IntentState): readonly FilledOrder[] {
  const fills = childFillsOf(state)
  if (isFilledByWord(state, fills)) {
    const { intent } = state
    return [{ ...sideOfIntent(intent), adds: intent.kind === 'increase', isProvisional: false }]
  }
  return fills.map(({ child, fill, adds }) => {
    const { orderKey, role, settlement, evidence } = child
    return {
      ...fill,
      orderKey,
      adds,
      isProvisional: isProvisional(evidence),
      ...defined({ role, settlement }),
    }
  })
}

/** Tells whether an operator's statement is the only evidence that the intent was executed. */
function isFilledByWord({ intent, closing }: IntentState, fills: readonly ChildFill[]): boolean {
  const isWord = closing?.evidence.level === 'operator' && closing.outcome === 'EXECUTED'
  return isWord && moving.has(intent.kind) && fills.length === 0
}

/** A created order that was executed, and its effect. */
export interface ChildFill {
  readonly child: Child
  readonly fill: Fill
  /** True for an increase; a fill without a size is a reduction. */
  readonly adds: boolean
}

/** The executed orders of the newest attempt that moved a position, in the order of the message. */
export function childFillsOf(state: IntentState): readonly ChildFill[] {
  const { kind, terms } = state.intent
  if (kind === 'batch') return batchFills(state)
  if (!moving.has(kind)) return []
  const side = sideOfIntent(state.intent)
  const executed = (lastAttempt(state)?.children ?? []).filter(({ phase }) => phase === 'EXECUTED')
  return executed.map((child) => {
    const { settlement } = child
    const adds = kind === 'increase' && !isExit(child)
    const size =
      settlement?.sizeDeltaUsd ?? (adds ? terms.sizeDeltaUsd / BigInt(terms.twap?.parts ?? 1) : undefined)
    return { child, adds, fill: { ...side, ...sizeOf(adds, size), ...timeOf(settlement) } }
  })
}

function sizeOf(adds: boolean, size: Usd | undefined): { readonly sizeDeltaUsd?: Usd } {
  if (size === undefined) return {}
  return { sizeDeltaUsd: adds ? size : -size }
}

function timeOf(settlement: Settlement | undefined): { readonly atSeconds?: number } {
  const { timestampSeconds: atSeconds } = settlement ?? {}
  return defined({ atSeconds })
}

/** Returns the time of an order's execution, Unix ms: by the chain where it is known, else when perpd saw it. */
export function filledAtMs({ closedAtMs, updatedAtMs }: IntentState, child: Child | undefined): number {
  const { timestampSeconds } = child?.settlement ?? {}
  if (timestampSeconds !== undefined) return timestampSeconds * 1_000
  return child?.evidence?.atMs ?? closedAtMs ?? updatedAtMs
}

const increaseTypes: ReadonlySet<bigint> = new Set([2n, 3n, 8n])
const swapTypes: ReadonlySet<bigint> = new Set([0n, 1n])

function batchFills(state: IntentState): readonly ChildFill[] {
  const orders = state.intent.terms.batch?.createOrderParamsList ?? []
  return (lastAttempt(state)?.children ?? []).flatMap((child): ChildFill[] => {
    const { index, phase, settlement } = child
    const order = orders[index]
    if (order === undefined || phase !== 'EXECUTED' || swapTypes.has(order.orderType)) return []
    const adds = increaseTypes.has(order.orderType)
    const size = settlement?.sizeDeltaUsd ?? (adds ? order.numbers.sizeDeltaUsd : undefined)
    const side: PositionSide = {
      marketToken: order.addresses.market,
      direction: order.isLong ? 'long' : 'short',
      collateralToken: order.addresses.initialCollateralToken,
    }
    return [{ child, adds, fill: { ...side, ...sizeOf(adds, size), ...timeOf(settlement) } }]
  })
}
