/**
 * Exits that have lost their purpose: their increase was cancelled, there is no position on their side, or other strategies own all of it. On chain
 * they stay (a decrease on an empty position reverts), and would close a part of the next position there (docs/orders.md, "Unwind an order").
 */
import { type PositionSide, sideKeyOf, sideOfIntent } from '../domain/accountRecords/accountRecord.ts'
import type { HeldSides } from '../domain/accountRecords/held.ts'
import { LIST_LAG_MS } from '../domain/accountRecords/listLag.ts'
import { dropExits } from '../domain/exitKeeper.ts'
import type { CancelDecision } from '../domain/order/decision.ts'
import {
  type Child,
  type Evidence,
  hasEnded,
  type IntentState,
  isProvisional,
  lastAttempt,
} from '../domain/order/intent.ts'
import { isExit } from '../domain/order/orderLegs.ts'
import { positionsOn, type Snapshot } from '../domain/snapshot.ts'
import { hexKey, sameHex } from '../protocol/address.ts'
import { lacksMarket } from '../protocol/missing.ts'
import type { OwnOrder } from './exposure/accountExposure.ts'

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
  const orphans = states.flatMap((state) =>
    orphansOf(state, snapshot, known, isOthers).flatMap(({ orderKey }) => {
      const isResting = snapshot.orders.value.some((row) => sameHex(row.orderKey, orderKey))
      const isChanging = exposure.ownOrders.get(hexKey(orderKey))?.changedBy !== undefined
      return isResting && !isChanging ? [{ ...sideOfIntent(state.intent), orderKey }] : []
    }),
  )
  const sides = Map.groupBy(orphans, ({ marketToken, direction }) => `${hexKey(marketToken)}:${direction}`)
  const reason = 'Exits rest without the position that they were to close.'
  return [...sides.values()].flatMap((ofSide) => {
    const [first] = ofSide
    return first === undefined ? [] : dropExits(first, ofSide, { reason, facts: { orders: ofSide.length } })
  })
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
  const isEntry = (child: Child) => !isExit(child) && intent.kind !== 'decrease'
  const exits = attempt.children.filter((child) => !isEntry(child) && !hasEnded(child))
  if (exits.length === 0) return []
  const parents = attempt.children.filter(isEntry)
  if (parents.some((child) => !hasEnded(child) || isProvisional(child.evidence))) return []
  const isCancelled = parents.length > 0 && parents.every(({ phase }) => phase === 'CANCELLED')
  if (isCancelled) return exits
  const newestMs = Math.max(
    0,
    ...[attempt, ...parents].map(({ evidence }) => shownFromMs(evidence) ?? state.updatedAtMs),
  )
  // A stamp far ahead of the list was written before the clock was set back: it is old.
  if (Math.abs(snapshot.positions.atMs - newestMs) < LIST_LAG_MS) return []
  return isOthers(sideOfIntent(intent)) || !hasPosition(state, snapshot, known) ? exits : []
}

/** From when lists may show it, Unix ms. Evidence is written anew once it is final, and its block still says when it happened. */
function shownFromMs(evidence: Evidence | undefined): number | undefined {
  if (evidence?.block === undefined) return evidence?.atMs
  return Math.min(evidence.atMs, evidence.block.timestampSeconds * 1_000)
}

function hasPosition({ intent }: IntentState, snapshot: Snapshot, known: HeldSides): boolean {
  const { terms } = intent
  // A host that hides a position would have its stops cancelled.
  const side = sideOfIntent(intent)
  if ((known.get(sideKeyOf(side))?.sizeUsd ?? 0n) > 0n) return true
  // A position whose row cannot be read is not gone.
  if (lacksMarket(snapshot.positions.missing, terms.marketToken)) return true
  return positionsOn(snapshot, terms.marketToken, terms.direction).some(
    ({ collateralToken, sizeInUsd }) =>
      sizeInUsd > 0n && sameHex(collateralToken, terms.collateralToken.address),
  )
}
