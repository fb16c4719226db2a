/**
 * The exposure: the account's positions plus everything that may still be added, per side of a market and in all. It is the worst case
 * (docs/orders.md, "The promises"): every open increase counts whole, every open reduction counts as nothing.
 */

import { defined, ifDefined } from '../../base/defined.ts'
import { sideKeyOf, sideOfIntent } from '../../domain/accountRecords/accountRecord.ts'
import { filledOrders, fillsOf } from '../../domain/accountRecords/fills.ts'
import {
  type HeldSide,
  type HeldSides,
  isTakenOff,
  largerOf,
  shownSides,
} from '../../domain/accountRecords/held.ts'
import { LIST_LAG_MS } from '../../domain/accountRecords/listLag.ts'
import { comingOf, mayStillAdd, reservedOf } from '../../domain/machine/intentExposure.ts'
import { isTakenBack } from '../../domain/order/cancelAsked.ts'
import {
  hasEnded,
  type IntentState,
  isOpen,
  isProvisional,
  isWaiting,
  lastAttempt,
} from '../../domain/order/intent.ts'
import type { LaneName } from '../../domain/order/laneTable.ts'
import { isExit } from '../../domain/order/orderLegs.ts'
import { unprovenSinceMs } from '../../domain/order/withheld.ts'
import { type AccountLists, type ListedPositions, positionOf, type Snapshot } from '../../domain/snapshot.ts'
import { type Address, hexKey, sameHex } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import { isIncreaseOrder, type Order } from '../../protocol/position.ts'
import { maxOf, minOf, type Usd } from '../../protocol/units.ts'

/** An open intent as the exposure needs it. */
export interface InFlight {
  readonly intentId: string
  readonly strategy: string
  readonly collateralToken: Address
  /** Order type of a reduction, or its kind: one of another sort does not wait for it. */
  readonly sort: string
  /** Unix ms when it was accepted. */
  readonly sinceMs: number
  /**
   * Its orders executed, and it is counted all the same: `unlisted` until the list of positions shows it, `provisional` while the
   * chain may take it back. Absent: its end is not known.
   */
  readonly executed?: 'unlisted' | 'provisional'
  /** Time from which its message is signed and nobody has seen it in a block, Unix ms. Absent: it is not signed, or its fate is known. */
  readonly unprovenSinceMs?: number
  /** The lane that its message was handed to. */
  readonly lane?: LaneName
}

/** One side of one market. USD, never negative. */
export interface SideExposure {
  readonly marketToken: Address
  readonly direction: Direction
  /** Size held, both collateral tokens together: of each the larger of list, journal and other hosts. */
  readonly heldUsd: Usd
  /** Size above `heldUsd` that comes back if the chain drops blocks that are not final: reductions count once they are final. */
  readonly unsettledUsd: Usd
  /** Reservations of our open intents. */
  readonly reservedUsd: Usd
  /** Part of `reservedUsd` that is held already, until its fill is final, or rests by a list before its message is seen; counted twice. Absent: none. */
  readonly twiceUsd?: Usd
  /**
   * Increase orders at the venue beyond our reservations, USD: orders that no open intent of ours explains, the operator's own or a lost one's, and
   * enlargements by edits.
   */
  readonly restingUsd: Usd
  /** Our orders in flight that may add; the first one holds the slot. Orders resting at the venue are reserved, and hold none. */
  readonly increases: readonly InFlight[]
  /** Reductions of ours in flight, oldest first; exits that rest at the venue are none. */
  readonly reductions: readonly InFlight[]
}

/** A resting order that an open intent of ours explains. */
export interface OwnOrder {
  readonly intentId: string
  readonly strategy: string
  /** Key of the decision that made it: identifies an order of a task. */
  readonly decisionKey: string
  /** True if exits that came with it rest too. */
  readonly hasExits: boolean
  /** An edit or cancel of it whose fate is not known yet. */
  readonly changedBy?: string
}

/** Everything held and in flight. */
export interface Exposure {
  /** By `sideKey`. */
  readonly sides: ReadonlyMap<string, SideExposure>
  /** Held, reserved and resting of all sides, USD. */
  readonly totalExposureUsd: Usd
  /** By lower-cased order key; ended ones are not in it. */
  readonly ownOrders: ReadonlyMap<string, OwnOrder>
}

/** Key of one side of one market in a `Book`. */
export function sideKey(marketToken: string, direction: Direction): string {
  return `${hexKey(marketToken)}:${direction}`
}

/** One side of the exposure; an empty one when nothing is held or in flight there. */
export function sideOf(exposure: Exposure, marketToken: Address, direction: Direction): SideExposure {
  return exposure.sides.get(sideKey(marketToken, direction)) ?? emptySide(marketToken, direction)
}

/** Returns the size on one side with everything that may still be added, USD. */
export function worstCaseUsd(side: SideExposure): Usd {
  return side.heldUsd + side.unsettledUsd + side.reservedUsd + side.restingUsd
}

/** Positions by other sources than the snapshot's list. Absent: none. */
export interface OtherSources {
  /** By the journal, open intents included. */
  readonly journal?: HeldSides
  /** By the journal's final fills alone. Absent: the open intents' fills that are not final are taken off `journal`. */
  readonly final?: HeldSides
  /** By other hosts' lists. */
  readonly hosts?: HeldSides
}

/**
 * Returns the exposure of a snapshot, the journal's intents and other sources: for each side the larger of the list's size and the size that they
 * know. Closed intents are skipped. A fill that shows in the positions while its intent is still open counts twice for that moment; one that does not
 * show yet counts by its reservation. The worst case errs on the safe side.
 */
export function exposureOf(
  snapshot: AccountLists,
  openIntents: readonly IntentState[],
  { journal = new Map(), hosts = new Map(), final }: OtherSources = {},
): Exposure {
  const sides = new Map<string, SideExposure>()
  const change = (
    marketToken: Address,
    direction: Direction,
    update: (side: SideExposure) => Partial<SideExposure>,
  ): void => {
    const key = sideKey(marketToken, direction)
    const side = sides.get(key) ?? emptySide(marketToken, direction)
    sides.set(key, { ...side, ...update(side) })
  }

  const open = openIntents.filter(isOpen)
  const held = largerOf(shownSides(snapshot.positions.value), hosts, withoutUnseen(journal, open, snapshot))
  for (const { marketToken, direction, sizeUsd } of held.values())
    change(marketToken, direction, (side) => ({ heldUsd: side.heldUsd + sizeUsd }))
  for (const [key, { marketToken, direction, sizeUsd }] of final ?? finalSides(journal, open)) {
    const beyondUsd = maxOf(0n, sizeUsd - (held.get(key)?.sizeUsd ?? 0n))
    change(marketToken, direction, (side) => ({ unsettledUsd: side.unsettledUsd + beyondUsd }))
  }

  // A position whose row cannot be read is held all the same.
  for (const { marketToken, direction, sizeInUsd = 0n } of snapshot.positions.missing ?? []) {
    if (marketToken === undefined) continue
    change(marketToken, direction ?? 'long', (side) => ({ heldUsd: side.heldUsd + sizeInUsd }))
  }

  for (const state of [...open].sort((a, b) => a.intent.acceptedAtMs - b.intent.acceptedAtMs)) {
    const { intent } = state
    const { terms } = intent
    const executed = executedOf(state, snapshot)
    const unproven = unprovenSinceMs(state)
    const inFlight: InFlight = {
      intentId: intent.intentId,
      strategy: intent.strategy,
      collateralToken: terms.collateralToken.address,
      sort: intent.kind === 'collateral-in' ? intent.kind : terms.orderType,
      sinceMs: intent.acceptedAtMs,
      ...defined({ executed, unprovenSinceMs: unproven, lane: ifDefined(unproven, () => intent.lane) }),
    }
    const place = placeOf(state, snapshot, journal)
    const twiceUsd = hasUnseenFill(state, snapshot, journal) ? 0n : twiceUsdOf(state, held, journal)
    change(terms.marketToken, terms.direction, (side) => ({
      reservedUsd: side.reservedUsd + reservedUsdOf(state, snapshot, journal),
      ...(twiceUsd > 0n && { twiceUsd: (side.twiceUsd ?? 0n) + twiceUsd }),
      ...(place && { [place]: [...side[place], inFlight] }),
    }))
  }
  const ownOrders = ownOrdersOf(open)
  const unplaced = new Set(open)
  const showing = new Map<string, Usd>()
  for (const order of snapshot.orders.value) {
    if (!isIncreaseOrder(order)) continue
    const own = ownOrders.get(hexKey(order.orderKey))
    if (own !== undefined) {
      showing.set(own.intentId, (showing.get(own.intentId) ?? 0n) + order.sizeDeltaUsd)
      continue
    }
    const sent = [...unplaced].find((state) => mayBeOf(state, order))
    if (sent !== undefined) unplaced.delete(sent)
    change(order.marketToken, order.direction, (side) => ({
      restingUsd: side.restingUsd + order.sizeDeltaUsd,
      ...(sent !== undefined && { twiceUsd: (side.twiceUsd ?? 0n) + order.sizeDeltaUsd }),
    }))
  }
  for (const state of open) {
    const beyondUsd = (showing.get(state.intent.intentId) ?? 0n) - reservedUsdOf(state, snapshot, journal)
    const { marketToken, direction } = state.intent.terms
    if (beyondUsd > 0n)
      change(marketToken, direction, (side) => ({ restingUsd: side.restingUsd + beyondUsd }))
  }

  let totalExposureUsd = 0n
  for (const side of sides.values()) totalExposureUsd += worstCaseUsd(side)
  return { sides, totalExposureUsd, ownOrders }
}

/**
 * A strategy's own part of the exposure, at worst: its parts of positions by its books, and its own open intents. Books know a fill at
 * once, so that no fill waits for a list. A reduction that took from its part, another's that was larger than the other's part included, gives
 * room once it is final: `finalParts` are its parts without fills that the chain may take back.
 */
export function ownExposureOf(
  strategy: string,
  { orders }: Snapshot,
  openIntents: readonly IntentState[],
  parts: readonly HeldSide[],
  finalParts: readonly HeldSide[],
): Exposure {
  const own = openIntents.filter(({ intent }) => intent.strategy === strategy)
  const ownOrders = ownOrdersOf(own.filter(isOpen))
  const ofOwn = orders.value.filter(({ orderKey }) => ownOrders.has(hexKey(orderKey)))
  return exposureOf(
    {
      positions: { value: [], atMs: Number.MAX_SAFE_INTEGER },
      orders: { value: ofOwn, atMs: orders.atMs },
    },
    own,
    { journal: bySide(parts), final: bySide(finalParts) },
  )
}

function bySide(parts: readonly HeldSide[]): HeldSides {
  return new Map(parts.map((part) => [sideKeyOf(part), part]))
}

/** The journal's sizes without fills that the lists cannot show yet: those count by their reservations. */
function withoutUnseen(
  journal: HeldSides,
  open: readonly IntentState[],
  snapshot: ListedPositions,
): HeldSides {
  const sides = new Map(journal)
  const unseen = open.filter((state) => hasUnseenFill(state, snapshot, journal))
  for (const fill of unseen.flatMap(fillsOf)) {
    const side = sides.get(sideKeyOf(fill))
    const addedUsd = maxOf(0n, fill.sizeDeltaUsd ?? 0n)
    if (side !== undefined) sides.set(sideKeyOf(fill), { ...side, sizeUsd: side.sizeUsd - addedUsd })
  }
  return sides
}

/** The journal's sizes by final fills alone, of sides that fills which are not final changed. */
function finalSides(journal: HeldSides, open: readonly IntentState[]): HeldSides {
  const sides = new Map<string, HeldSide>()
  for (const { isProvisional: isUnsettled, sizeDeltaUsd = 0n, ...fill } of open.flatMap(filledOrders)) {
    const key = sideKeyOf(fill)
    const side = sides.get(key) ?? journal.get(key)
    if (isUnsettled && side !== undefined) sides.set(key, { ...side, sizeUsd: side.sizeUsd - sizeDeltaUsd })
  }
  return sides
}

/** Returns the amount that an open intent still holds, USD: its reservation until its fills show, then the rest of it. */
function reservedUsdOf(state: IntentState, snapshot: ListedPositions, journal: HeldSides): Usd {
  return hasUnseenFill(state, snapshot, journal) ? state.intent.reservationUsd : reservedOf(state)
}

/** The part of a reservation that is held already: by the journal, or by a list that shows the fill of an order in flight before the journal does. */
function twiceUsdOf(state: IntentState, held: HeldSides, journal: HeldSides): Usd {
  const comingUsd = comingOf(state)
  const filledUsd = reservedOf(state) - comingUsd
  if (rests(state) || lastAttempt(state)?.armed === undefined) return filledUsd
  const key = sideKeyOf(sideOfIntent(state.intent))
  const beyondUsd = (held.get(key)?.sizeUsd ?? 0n) - maxOf(0n, journal.get(key)?.sizeUsd ?? 0n)
  return filledUsd + maxOf(0n, minOf(comingUsd, beyondUsd))
}

/**
 * Tells whether an increase executed too shortly before the positions were read to be surely in them. An increase that was taken off again, by the
 * journal, is in none.
 */
function hasUnseenFill(state: IntentState, snapshot: ListedPositions, journal: HeldSides): boolean {
  const { intent } = state
  if (intent.reservationUsd === 0n) return false
  const row = rowOf(state, snapshot)
  if (row === undefined && isTakenOff(journal, intent)) return false
  return (lastAttempt(state)?.children ?? []).some((child) => {
    const { phase, evidence, settlement } = child
    if (phase !== 'EXECUTED' || isExit(child)) return false
    // A stamp far ahead of the list was written before the clock was set back: it is old.
    const sinceMs = snapshot.positions.atMs - (evidence?.atMs ?? state.updatedAtMs)
    if (Math.abs(sinceMs) >= LIST_LAG_MS) return false
    const filledAtSeconds = settlement?.timestampSeconds
    return filledAtSeconds === undefined || row === undefined || row.increasedAtSeconds < filledAtSeconds
  })
}

/** The listed position of an order's own side. */
const rowOf = ({ intent }: IntentState, snapshot: ListedPositions) =>
  positionOf(snapshot, sideOfIntent(intent))

/** Returns the pending evidence of an intent whose orders all ended, at least one of them by execution. */
function executedOf(state: IntentState, snapshot: ListedPositions): InFlight['executed'] {
  const children = lastAttempt(state)?.children ?? []
  if (!children.every(hasEnded)) return undefined
  const fills = children.filter(({ phase }) => phase === 'EXECUTED')
  if (fills.length === 0) return undefined
  const row = rowOf(state, snapshot)
  const adds = state.intent.reservationUsd > 0n
  const changedAtSeconds = Math.max(row?.increasedAtSeconds ?? 0, row?.decreasedAtSeconds ?? 0)
  const isListed =
    row === undefined
      ? !adds
      : fills.every(
          ({ settlement }) => changedAtSeconds >= (settlement?.timestampSeconds ?? Number.POSITIVE_INFINITY),
        )
  const mayBeTakenBack = fills.some(({ evidence }) => isProvisional(evidence))
  return isListed && mayBeTakenBack ? 'provisional' : 'unlisted'
}

/** Returns the list in which an intent in flight stands; undefined when it rests, or can neither add nor reduce. */
function placeOf(
  state: IntentState,
  snapshot: ListedPositions,
  journal: HeldSides,
): 'increases' | 'reductions' | undefined {
  const { kind, reservationUsd } = state.intent
  if (kind === 'swap' || kind === 'cancel') return undefined
  if (kind === 'collateral-out' || reservationUsd > 0n) {
    const isWaitingForExits = kind !== 'collateral-out' && !mayStillAdd(state)
    const isQuiet = rests(state) || isWaitingForExits
    return isQuiet && !hasUnseenFill(state, snapshot, journal) ? undefined : 'increases'
  }
  return kind === 'edit' || rests(state) || isWithdrawn(state) ? undefined : 'reductions'
}

/** Tells whether the account cancelled all orders of a landed intent, by final evidence: nothing of it filled that a list could lack. */
function isWithdrawn(state: IntentState): boolean {
  const { phase, evidence, children = [] } = lastAttempt(state) ?? {}
  return phase === 'LANDED' && !isProvisional(evidence) && children.length > 0 && children.every(isTakenBack)
}

/** Tells whether a listed order is by all signs that of a message which nobody has seen in a block yet: its key is known from there on. */
function mayBeOf({ intent: { terms, acceptedAtMs }, attempts }: IntentState, order: Order): boolean {
  const isUnplaced = attempts.at(-1)?.armed !== undefined && attempts.at(-1)?.children.length === 0
  const isSame = order.direction === terms.direction && order.sizeDeltaUsd === terms.sizeDeltaUsd
  const isSince = order.updatedAtSeconds * 1_000 + LIST_LAG_MS >= acceptedAtMs
  return isUnplaced && isSame && isSince && sameHex(order.marketToken, terms.marketToken)
}

/** Tells whether an intent landed and only orders that wait for their price or time remain. */
function rests(state: IntentState): boolean {
  const attempt = lastAttempt(state)
  const open = attempt?.children.filter((child) => !hasEnded(child)) ?? []
  return (
    attempt?.phase === 'LANDED' && open.length > 0 && open.every((child) => isWaiting(state.intent, child))
  )
}

function ownOrdersOf(open: readonly IntentState[]): ReadonlyMap<string, OwnOrder> {
  const changedBy = new Map(
    open.flatMap(({ intent: { intentId, terms } }) =>
      [
        ...(terms.edit === undefined ? [] : [terms.edit.orderKey]),
        ...(terms.cancelOrderKeys ?? []),
        ...(terms.batch?.cancelOrderKeys ?? []),
        ...(terms.batch?.updateOrderParamsList ?? []).map(({ key }) => key),
      ].map((key) => [hexKey(key), intentId] as const),
    ),
  )
  return new Map(
    open.flatMap(({ intent: { intentId, strategy, decisionKey }, attempts }) => {
      const live = attempts.flatMap(({ children }) => children).filter((child) => !hasEnded(child))
      const hasExits = live.some(isExit)
      return live.map(({ orderKey }): readonly [string, OwnOrder] => {
        const changer = changedBy.get(hexKey(orderKey))
        const own = { intentId, strategy, decisionKey, hasExits }
        return [hexKey(orderKey), { ...own, ...defined({ changedBy: changer }) }]
      })
    }),
  )
}

function emptySide(marketToken: Address, direction: Direction): SideExposure {
  return {
    marketToken,
    direction,
    heldUsd: 0n,
    unsettledUsd: 0n,
    reservedUsd: 0n,
    restingUsd: 0n,
    increases: [],
    reductions: [],
  }
}
