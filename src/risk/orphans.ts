/**
 * Exits that have lost their purpose: their increase was cancelled, there is no position on their side, or other strategies own all of it. On chain
 * they stay (a decrease on an empty position reverts), and would close a part of the next position there (docs/orders.md, "Unwind an order").
 */
import { type PositionSide, sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import type { HeldSides } from '../domain/accountRecords/held.ts'
import { LIST_LAG_MS } from '../domain/accountRecords/listLag.ts'
import type { CancelDecision } from '../domain/order/decision.ts'
import {
  type Child,
  type Evidence,
  hasEnded,
  type IntentState,
  isProvisional,
  lastAttempt,
} from '../domain/order/intent.ts'
import { positionsOn, type Snapshot } from '../domain/snapshot.ts'
import { type Address, hexKey, sameHex } from '../protocol/address.ts'
import type { Direction } from '../protocol/market.ts'
import { lacksMarket } from '../protocol/missing.ts'
import type { OwnOrder } from './exposure/accountExposure.ts'

interface Side {
  readonly marketToken: Address
  readonly direction: Direction
  readonly orderKeys: `0x${string}`[]
}

/**
 * Returns the cancels that the exits of `states`, the open intents of one strategy, require: one a market and side. It names only orders that rest by
 * the snapshot and that no change is in flight for. `known`: positions by the journal, whatever the list shows. `isOthers`: other strategies own the
 * whole position of a side.
 */
export function orphanCancels(
  snapshot: Snapshot,
  states: readonly IntentState[],
  exposure: { readonly ownOrders: ReadonlyMap<string, OwnOrder> },
  known: HeldSides = new Map(),
  isOthers: (side: PositionSide) => boolean = () => false,
): readonly CancelDecision[] {
  const sides = new Map<string, Side>()
  for (const state of states) {
    const { marketToken, direction } = state.intent.terms
    for (const { orderKey } of orphansOf(state, snapshot, known, isOthers)) {
      const isResting = snapshot.orders.value.some((row) => sameHex(row.orderKey, orderKey))
      if (!isResting || exposure.ownOrders.get(hexKey(orderKey))?.changedBy !== undefined) continue
      const key = `${hexKey(marketToken)}:${direction}`
      const side = sides.get(key) ?? { marketToken, direction, orderKeys: [] }
      side.orderKeys.push(orderKey)
      sides.set(key, side)
    }
  }
  return [...sides.values()].map((side) => ({
    kind: 'cancel',
    ...side,
    reason: 'Exits rest without the position that they were to close.',
    facts: { orders: side.orderKeys.length },
  }))
}

function orphansOf(
  state: IntentState,
  snapshot: Snapshot,
  known: HeldSides,
  isOthers: (side: PositionSide) => boolean,
): readonly Child[] {
  const { intent } = state
  const attempt = lastAttempt(state)
  if (attempt?.phase !== 'LANDED' || isProvisional(attempt.evidence)) return []
  const isExit = ({ role }: Child) =>
    role === 'take-profit' || role === 'stop-loss' || intent.kind === 'decrease'
  const exits = attempt.children.filter((child) => isExit(child) && !hasEnded(child))
  if (exits.length === 0) return []
  const parents = attempt.children.filter((child) => !isExit(child))
  if (parents.some((child) => !hasEnded(child) || isProvisional(child.evidence))) return []
  const isCancelled = parents.length > 0 && parents.every(({ phase }) => phase === 'CANCELLED')
  if (isCancelled) return exits
  const newestMs = Math.max(
    0,
    ...[attempt, ...parents].map(({ evidence }) => shownFromMs(evidence) ?? state.updatedAtMs),
  )
  // A stamp far ahead of the list was written before the clock was set back: it is old.
  if (Math.abs(snapshot.positions.atMs - newestMs) < LIST_LAG_MS) return []
  const { terms } = intent
  const isNotOwn = isOthers({ ...terms, collateralToken: terms.collateralToken.address })
  return isNotOwn || !hasPosition(state, snapshot, known) ? exits : []
}

/** From when lists may show it, Unix ms. Evidence is written anew once it is final, and its block still says when it happened. */
function shownFromMs(evidence: Evidence | undefined): number | undefined {
  if (evidence?.block === undefined) return evidence?.atMs
  return Math.min(evidence.atMs, evidence.block.timestampSeconds * 1_000)
}

function hasPosition({ intent: { terms } }: IntentState, snapshot: Snapshot, known: HeldSides): boolean {
  // A host that hides a position would have its stops cancelled.
  const side = { ...terms, collateralToken: terms.collateralToken.address }
  if ((known.get(sideKeyOf(side))?.sizeUsd ?? 0n) > 0n) return true
  // A position whose row cannot be read is not gone.
  if (lacksMarket(snapshot.positions.missing, terms.marketToken)) return true
  return positionsOn(snapshot, terms.marketToken, terms.direction).some(
    ({ collateralToken, sizeInUsd }) =>
      sizeInUsd > 0n && sameHex(collateralToken, terms.collateralToken.address),
  )
}
