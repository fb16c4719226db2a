/**
 * The book: what the account holds plus everything that may still come, per side of a market and in all. It is the worst
 * case (orders.md, "Exposure while unresolved"): every open increase counts whole, every open reduction counts as nothing.
 */
import { type Address, hexKey } from '../domain/address.ts'
import type { IntentState } from '../domain/intent.ts'
import { isOpen } from '../domain/intent.ts'
import type { Direction } from '../domain/market.ts'
import type { Order } from '../domain/position.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { Usd } from '../domain/units.ts'

/** An open intent as the book needs it. */
export interface InFlight {
  readonly intentId: string
  readonly strategy: string
  readonly collateralToken: Address
  /** Unix ms when it was accepted. */
  readonly sinceMs: number
}

/** One side of one market. USD, never negative. */
export interface SideBook {
  readonly marketToken: Address
  readonly direction: Direction
  /** Size of the positions, both collateral tokens together. */
  readonly heldUsd: Usd
  /** Reservations of our open intents. */
  readonly reservedUsd: Usd
  /** Increase orders at the venue that no open intent of ours explains: the operator's own, or a lost one's. */
  readonly restingUsd: Usd
  /** Open increases of ours; the first one holds the slot. */
  readonly increases: readonly InFlight[]
  /** Open decreases and closes of ours, oldest first. */
  readonly reductions: readonly InFlight[]
}

/** Everything held and in flight. */
export interface Book {
  /** By `sideKey`. */
  readonly sides: ReadonlyMap<string, SideBook>
  /** Held, reserved and resting of all sides, USD. */
  readonly totalExposureUsd: Usd
}

// MarketIncrease, LimitIncrease and StopIncrease (wire: eip712-and-chain, section 6).
const increaseOrderTypes: ReadonlySet<number> = new Set([2, 3, 8])

/** Key of one side of one market in a `Book`. */
export function sideKey(marketToken: string, direction: Direction): string {
  return `${hexKey(marketToken)}:${direction}`
}

/** One side of the book; an empty one when nothing is held or in flight there. */
export function sideOf(book: Book, marketToken: Address, direction: Direction): SideBook {
  return book.sides.get(sideKey(marketToken, direction)) ?? emptySide(marketToken, direction)
}

/** Size on one side with everything that may still come to it, USD. */
export function worstCaseUsd(side: SideBook): Usd {
  return side.heldUsd + side.reservedUsd + side.restingUsd
}

/**
 * The book of a snapshot and the journal's intents. Closed intents are passed over. A fill that shows in the positions
 * while its intent is still open counts twice for that moment: the worst case errs on the safe side.
 */
export function bookOf(
  snapshot: Pick<Snapshot, 'positions' | 'orders'>,
  openIntents: readonly IntentState[],
): Book {
  const sides = new Map<string, SideBook>()
  const change = (
    marketToken: Address,
    direction: Direction,
    update: (side: SideBook) => Partial<SideBook>,
  ): void => {
    const key = sideKey(marketToken, direction)
    const side = sides.get(key) ?? emptySide(marketToken, direction)
    sides.set(key, { ...side, ...update(side) })
  }

  for (const position of snapshot.positions.value) {
    change(position.marketToken, position.direction, (side) => ({
      heldUsd: side.heldUsd + position.sizeInUsd,
    }))
  }

  const open = openIntents.filter(isOpen)
  for (const { intent } of [...open].sort((a, b) => a.intent.acceptedAtMs - b.intent.acceptedAtMs)) {
    const inFlight: InFlight = {
      intentId: intent.intentId,
      strategy: intent.strategy,
      collateralToken: intent.terms.collateralToken.address,
      sinceMs: intent.acceptedAtMs,
    }
    change(intent.terms.marketToken, intent.terms.direction, (side) => ({
      reservedUsd: side.reservedUsd + intent.reservationUsd,
      ...(intent.kind === 'increase'
        ? { increases: [...side.increases, inFlight] }
        : { reductions: [...side.reductions, inFlight] }),
    }))
  }

  const explained = new Set(
    open.flatMap((state) => state.attempts.flatMap((attempt) => attempt.children.map(childKey))),
  )
  for (const order of snapshot.orders.value) {
    if (!isIncreaseOrder(order) || explained.has(hexKey(order.orderKey))) continue
    change(order.marketToken, order.direction, (side) => ({
      restingUsd: side.restingUsd + order.sizeDeltaUsd,
    }))
  }

  let totalExposureUsd = 0n
  for (const side of sides.values()) totalExposureUsd += worstCaseUsd(side)
  return { sides, totalExposureUsd }
}

function childKey(child: { readonly orderKey: string }): string {
  return hexKey(child.orderKey)
}

function isIncreaseOrder(order: Order): boolean {
  return increaseOrderTypes.has(order.orderType)
}

function emptySide(marketToken: Address, direction: Direction): SideBook {
  return {
    marketToken,
    direction,
    heldUsd: 0n,
    reservedUsd: 0n,
    restingUsd: 0n,
    increases: [],
    reductions: [],
  }
}
