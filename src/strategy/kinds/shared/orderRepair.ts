/**
 * The edit that makes an order useful again, or the reason why there is none: an entry nearer to the price, an exit as large as the position, a
 * stop-loss in front of the liquidation. Pure.
 */
import type { EditDecision } from '../../../domain/order/decision.ts'
import { type Snapshot, triggerPriceOf } from '../../../domain/snapshot.ts'
import { formatPrice } from '../../../protocol/priceText.ts'
import { absOf, bps, formatDollars, maxOf, mulDiv, type Usd } from '../../../protocol/units.ts'
import type { Untidy } from './untidy.ts'

/** Rules for edits. */
export interface RepairRules {
  /** Distance from the price at which an entry is placed, bps of the price. */
  readonly entryDistanceBps: number
  /** Distance before the liquidation price at which a stop-loss is placed, bps of that price. */
  readonly liquidationGapBps: number
  /** Least worth of an edit, USD: the part of the order's size that it moves or removes. */
  readonly minStepUsd: Usd
}

/** The edit; or a clause that says why none would help; or undefined, where one would not be worth its fee. */
export type Repair = { readonly edit: EditDecision } | { readonly hindered: string } | undefined

/** Returns the edit that helps an order. */
export function repairOf(found: Untidy, snapshot: Snapshot, rules: RepairRules): Repair {
  switch (found.cause) {
    case 'stale':
    case 'unreachable':
      return movedEntry(found, snapshot, rules)
    case 'oversized':
      return fittedExit(found, rules)
    case 'behind-liquidation':
      return movedStop(found, snapshot, rules)
    case 'orphaned':
      return { hindered: 'an edit cannot give it a position' }
  }
}

const LIMIT = 3

function movedEntry({ order, price, why }: Untidy, snapshot: Snapshot, rules: RepairRules): Repair {
  const trigger = triggerPriceOf(order, snapshot)
  if (price === undefined || trigger === undefined)
    return { hindered: 'the oracle has no fresh price of its market' }
  const isBelow = trigger < price
  if (isBelow !== ((order.orderType === LIMIT) === (order.direction === 'long')))
    return { hindered: 'the price is past its trigger, but it did not execute' }
  const way = bps(price, rules.entryDistanceBps)
  if (absOf(trigger - price) <= way)
    return { hindered: 'it is already as near to the price as an edit would move it' }
  const triggerPrice = isBelow ? price - way : price + way
  if (worthOf(order.sizeDeltaUsd, trigger, triggerPrice) < rules.minStepUsd) return undefined
  return {
    edit: {
      ...namesOf(order),
      triggerPrice,
      reason: `Among unmanaged orders, ${why}; it is moved from ${formatPrice(trigger)} to ${formatPrice(triggerPrice)}.`,
      facts: { price: formatPrice(price), before: formatPrice(trigger) },
    },
  }
}

function fittedExit({ order, heldUsd, why }: Untidy, { minStepUsd }: RepairRules): Repair {
  if (order.sizeDeltaUsd - heldUsd < minStepUsd) return undefined
  return {
    edit: {
      ...namesOf(order),
      sizeDeltaUsd: heldUsd,
      reason: `Among unmanaged orders, ${why}; it is resized to match.`,
      facts: { before: formatDollars(order.sizeDeltaUsd), held: formatDollars(heldUsd) },
    },
  }
}

function movedStop(
  { order, price, liquidationPrice = 0n, why }: Untidy,
  snapshot: Snapshot,
  { liquidationGapBps, minStepUsd }: RepairRules,
): Repair {
  const trigger = triggerPriceOf(order, snapshot)
  if (price === undefined || trigger === undefined)
    return { hindered: 'the oracle has no fresh price of its market' }
  const gap = maxOf(1n, bps(liquidationPrice, liquidationGapBps))
  const isLong = order.direction === 'long'
  const triggerPrice = isLong ? liquidationPrice + gap : liquidationPrice - gap
  // As far again must be left to the price: a stop that fires at once is a close, which is a guard's to decide.
  const isNear = isLong ? triggerPrice + gap > price : triggerPrice - gap < price
  if (isNear) return { hindered: 'the price is too near to the liquidation for a stop-loss between them' }
  if (worthOf(order.sizeDeltaUsd, trigger, triggerPrice) < minStepUsd) return undefined
  return {
    edit: {
      ...namesOf(order),
      triggerPrice,
      reason: `Among unmanaged orders, ${why}; it is moved to ${formatPrice(triggerPrice)}.`,
      facts: { price: formatPrice(price), liquidation: formatPrice(liquidationPrice) },
    },
  }
}

/** Returns the worth of a move as a part of an order's size, USD. */
function worthOf(sizeDeltaUsd: Usd, from: Usd, to: Usd): Usd {
  return from <= 0n ? sizeDeltaUsd : mulDiv(sizeDeltaUsd, absOf(to - from), from)
}

function namesOf({ orderKey, marketToken, direction }: Untidy['order']) {
  return { kind: 'edit', orderKey, marketToken, direction } as const
}
