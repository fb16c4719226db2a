/**
 * Remaining exits of an instance after one of them, or a decision, reduced its part. Until they are cancelled or made smaller, they would close a new
 * entry on that side for which they were never meant. Pure except for its reads.
 */
import { type OrdersInFlight, ownSizeOf } from '../account/facts.ts'
import type { Part } from '../books/sideParts.ts'
import { type PositionSide, sideKeyOf, sideOfIntent } from '../domain/accountRecords/accountRecord.ts'
import { LIST_LAG_MS } from '../domain/accountRecords/listLag.ts'
import { STOP_LOSS } from '../domain/accountRecords/stopChildren.ts'
import { sumOf } from '../domain/exitKeeper.ts'
import { EXIT_TOLERANCE_BPS } from '../domain/order/exitSettings.ts'
import { type Child, type Denial, hasEnded, type IntentState, lastAttempt } from '../domain/order/intent.ts'
import { isExit } from '../domain/order/orderLegs.ts'
import type { AccountLists } from '../domain/snapshot.ts'
import { hexKey } from '../protocol/address.ts'
import { bps, formatDollars } from '../protocol/units.ts'

/** LimitDecrease (contract `Order`, `OrderType`). */
const TAKE_PROFIT = 5

/** Orders in flight, and the own part that exits are compared with. */
export interface ExitFacts {
  readonly orders: Omit<OrdersInFlight, 'unseen'>
  readonly own: { readonly parts: readonly (PositionSide & Part)[] }
}

/**
 * Denies with EXITS_LEFT while exits of the instance rest for more than its part of a side, and none of its messages changes them yet. Exits of
 * waiting entries do not count.
 */
export function checkExitsLeft(
  { orders: { open, pending, signedOrder }, own: ownFacts }: ExitFacts,
  strategy: string,
  side: PositionSide,
): Denial | undefined {
  const sideKey = sideKeyOf(side)
  const own = open.filter(
    ({ intent }) => intent.strategy === strategy && sideKeyOf(sideOfIntent(intent)) === sideKey,
  )
  const changing = new Set(
    [...own.map(({ intent }) => intent), ...pending.filter((intent) => intent.strategy === strategy)]
      .flatMap(({ terms: { edit, cancelOrderKeys = [] } }) => [
        ...(edit ? [edit.orderKey] : []),
        ...cancelOrderKeys,
      ])
      .map(hexKey),
  )
  const partUsd = ownSizeOf(ownFacts, side)
  const exits = own
    .flatMap(settledExits)
    .flatMap(({ orderKey }) => (changing.has(hexKey(orderKey)) ? [] : (signedOrder(orderKey) ?? [])))
  for (const type of [STOP_LOSS, TAKE_PROFIT]) {
    const sumUsd = sumOf(exits.filter(({ orderType }) => orderType === type))
    if (sumUsd - partUsd <= bps(partUsd, EXIT_TOLERANCE_BPS)) continue
    return {
      code: 'EXITS_LEFT',
      reason:
        'resting exits of this strategy are larger than its part; perpd cancels or shrinks them before a new entry',
      wanted: `exits of ${formatDollars(sumUsd)}`,
      allowed: `${formatDollars(partUsd)}, its part`,
    }
  }
  return undefined
}

/** Returns exits of an intent whose entry still waits: they lie around its trigger, and belong to its future position. */
export function waitingExits({ intent, attempts }: IntentState): readonly Child[] {
  if (intent.kind !== 'increase') return []
  const children = attempts.at(-1)?.children ?? []
  return children.some((child) => !isExit(child) && !hasEnded(child)) ? children.filter(isExit) : []
}

/** Exits of an intent that have not ended, whether the list shows them or not. */
export function liveExits(state: IntentState): readonly Child[] {
  return exitsOf(state).filter((child) => !hasEnded(child))
}

/** The same once nothing of its entry can fill any more. */
export function settledExits(state: IntentState): readonly Child[] {
  return waitingExits(state).length > 0 ? [] : liveExits(state)
}

/**
 * Returns the sides by `sideKeyOf` on which an exit of these intents was cancelled after the lists of a snapshot were read. The venue cancels exits
 * with the position that they were to close, so the listed position there may be gone. Lists are believed again once they may no longer lag.
 */
export function sidesOfLostExits(
  states: readonly IntentState[],
  { positions, orders }: AccountLists,
  nowMs: number,
): ReadonlySet<string> {
  const readAtMs = Math.min(positions.atMs, orders.atMs)
  const lost = states.filter(
    (state) =>
      state.updatedAtMs > readAtMs &&
      Math.abs(nowMs - state.updatedAtMs) < LIST_LAG_MS &&
      exitsOf(state).some(({ phase }) => phase === 'CANCELLED'),
  )
  return new Set(lost.map(({ intent }) => sideKeyOf(sideOfIntent(intent))))
}

/** Exits among the orders of an intent. */
function exitsOf(state: IntentState): readonly Child[] {
  const isReduction = state.intent.kind === 'decrease'
  return (lastAttempt(state)?.children ?? []).filter(
    (child) => isExit(child) || (isReduction && child.role !== 'part'),
  )
}
