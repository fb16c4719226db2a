/**
 * Finds resting orders that only protect: stop-losses and take-profits of open positions, perpd's and others', which reduce risk or do nothing. A
 * kill leaves them, so that no position that it leaves open is unprotected. Pure.
 */
import { sideKeyOf, sideOfIntent } from '../domain/accountRecords/accountRecord.ts'
import type { HeldSides } from '../domain/accountRecords/held.ts'
import { type Child, hasEnded, type IntentState, lastAttempt } from '../domain/order/intent.ts'
import { isExit } from '../domain/order/orderLegs.ts'
import type { AccountLists } from '../domain/snapshot.ts'
import { hexKey } from '../protocol/address.ts'
import { isExitOrder, type Position } from '../protocol/position.ts'

/** The facts that protective exits are recognised by. */
export interface ExitFacts {
  readonly snapshot: AccountLists
  /** Open intents. */
  readonly open: readonly IntentState[]
  /** The positions of the journal. */
  readonly journal: HeldSides
  /** Rows of other hosts on sides of which the list shows nothing. */
  readonly elsewhere: readonly Position[]
}

/** Returns the lower-cased keys of the exits that protect: listed orders, and our own that no list shows. */
export function protectiveKeys({ snapshot, open, journal, elsewhere }: ExitFacts): ReadonlySet<string> {
  const { orders, positions } = snapshot
  const held = new Set([
    ...[...positions.value, ...elsewhere].filter(({ sizeInUsd }) => sizeInUsd > 0n).map(sideKeyOf),
    ...[...journal].filter(([, { sizeUsd }]) => sizeUsd > 0n).map(([key]) => key),
  ])
  // A row that cannot be read may be of any side: its exits are not taken away for that.
  const isUnread = (positions.missing ?? []).length > 0
  const isHeld = (sideKey: string): boolean => isUnread || held.has(sideKey)
  const listed = new Set(orders.value.map(({ orderKey }) => hexKey(orderKey)))
  const stages = new Map(
    open.flatMap((state) => exitsOf(state).map(({ orderKey }) => [hexKey(orderKey), stageOf(state, listed)])),
  )
  const isProtective = (orderKey: string, sideKey: string): boolean => {
    const stage = stages.get(hexKey(orderKey))
    // An entry at the market ends within seconds, and its exits are for its position.
    return stage === 'deciding' || (stage !== 'waits' && isHeld(sideKey))
  }
  return new Set([
    ...orders.value
      .filter(
        (order) =>
          isExitOrder(order) &&
          isProtective(
            order.orderKey,
            sideKeyOf({ ...order, collateralToken: order.initialCollateralToken }),
          ),
      )
      .map(({ orderKey }) => hexKey(orderKey)),
    ...open.flatMap((state) => {
      const sideKey = sideKeyOf(sideOfIntent(state.intent))
      return exitsOf(state)
        .filter((child) => !hasEnded(child) && isProtective(child.orderKey, sideKey))
        .map(({ orderKey }) => hexKey(orderKey))
    }),
  ])
}

/** Exits among the created orders of an intent: those of an entry, or the one that it is. */
function exitsOf(state: IntentState): readonly Child[] {
  const { kind, terms } = state.intent
  const isExitItself =
    kind === 'decrease' && (terms.orderType === 'take-profit' || terms.orderType === 'stop-loss')
  return (lastAttempt(state)?.children ?? []).filter(
    (child) => isExit(child) || (isExitItself && child.role === 'main'),
  )
}

/**
 * The progress of the entry of an intent's exits: `waits` while it rests, or when it was cancelled, so that they protect nothing; `deciding` when it
 * has not ended and no list shows it; `over` when it filled, and where there is no entry.
 */
function stageOf(state: IntentState, listed: ReadonlySet<string>): 'waits' | 'deciding' | 'over' {
  if (state.intent.kind !== 'increase') return 'over'
  const exits = new Set(exitsOf(state).map(({ orderKey }) => orderKey))
  const entries = (lastAttempt(state)?.children ?? []).filter(({ orderKey }) => !exits.has(orderKey))
  if (entries.some(({ phase }) => phase === 'EXECUTED') || entries.length === 0) return 'over'
  const isAtMarket = state.intent.terms.orderType === 'market'
  return entries.every((entry) => hasEnded(entry) || (!isAtMarket && listed.has(hexKey(entry.orderKey))))
    ? 'waits'
    : 'deciding'
}
