/** What our own executed orders did to positions: the side that the account's rows are held against. */
import type { Usd } from '../../protocol/units.ts'
import { type IntentState, lastAttempt } from '../order/intent.ts'
import type { PositionSide } from './accountRecord.ts'

/** The change of one position by the intent's executed orders, USD, signed. */
export interface Fill extends PositionSide {
  /** Absent when no evidence says how much: an operator's word, a row without its size. */
  readonly sizeDeltaUsd?: Usd
}

const moving: ReadonlySet<string> = new Set(['increase', 'decrease', 'close'])

/**
 * The intent's fills so far, one for each executed order. Swaps and changes of orders move no position, and collateral
 * orders move its collateral alone. A batch counts by the orders that it created.
 */
export function fillsOf(state: IntentState): readonly Fill[] {
  const { intent, closing } = state
  const { kind, terms } = intent
  const side = {
    marketToken: terms.marketToken,
    direction: terms.direction,
    collateralToken: terms.collateralToken.address,
  }
  const isWord = closing?.evidence.level === 'operator' && closing.outcome === 'EXECUTED'
  const attempt = lastAttempt(state)
  if (kind === 'batch') return batchFills(state)
  if (!moving.has(kind)) return []
  if (isWord && (attempt?.children ?? []).every(({ phase }) => phase !== 'EXECUTED')) return [side]
  return (attempt?.children ?? []).flatMap(({ phase, role, settlement }): Fill[] => {
    if (phase !== 'EXECUTED') return []
    const adds = kind === 'increase' && role !== 'take-profit' && role !== 'stop-loss'
    const size =
      settlement?.sizeDeltaUsd ?? (adds ? terms.sizeDeltaUsd / BigInt(terms.twap?.parts ?? 1) : undefined)
    return [size === undefined ? side : { ...side, sizeDeltaUsd: adds ? size : -size }]
  })
}

const increaseTypes: ReadonlySet<bigint> = new Set([2n, 3n, 8n])
const swapTypes: ReadonlySet<bigint> = new Set([0n, 1n])

function batchFills(state: IntentState): readonly Fill[] {
  const orders = state.intent.terms.batch?.createOrderParamsList ?? []
  return (lastAttempt(state)?.children ?? []).flatMap(({ index, phase, settlement }): Fill[] => {
    const order = orders[index]
    if (order === undefined || phase !== 'EXECUTED' || swapTypes.has(order.orderType)) return []
    const adds = increaseTypes.has(order.orderType)
    const size = settlement?.sizeDeltaUsd ?? (adds ? order.numbers.sizeDeltaUsd : undefined)
    const side: PositionSide = {
      marketToken: order.addresses.market,
      direction: order.isLong ? 'long' : 'short',
      collateralToken: order.addresses.initialCollateralToken,
    }
    return [size === undefined ? side : { ...side, sizeDeltaUsd: adds ? size : -size }]
  })
}
