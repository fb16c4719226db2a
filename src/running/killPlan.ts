/** A kill in people's words: the positions that it leaves and their protection, and all its steps, before it is begun. Pure. */

import { sidesWithoutStop } from '../account/holdings/stops.ts'
import type { KeptExit, LeftPosition } from '../domain/accountEvent.ts'
import { sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import type { HeldSide } from '../domain/accountRecords/held.ts'
import { marketOf, type Snapshot } from '../domain/snapshot.ts'
import { hexKey } from '../protocol/address.ts'
import { isOnMarket, type Order, orderName, pnlIfClosed } from '../protocol/position.ts'
import { priceOfContractPrice, type Usd } from '../protocol/units.ts'
import type { KillLeft } from '../tasks/killTask.ts'

/** A position before a kill. */
export interface KillPosition extends LeftPosition {
  /** By the venue, less the costs of closing where it says them, USD, signed. */
  readonly pnlUsd: Usd
}

/** A resting order before a kill. */
export interface KillOrder {
  /** Its market; null of a swap, which is on none. */
  readonly symbol: string | null
  readonly direction: 'long' | 'short'
  /** As the venue's page calls it. */
  readonly name: string
  /** USD per whole index token; null where it is not known. */
  readonly triggerPrice: Usd | null
  readonly sizeUsd: Usd
  /** True for an exit that stays; with closing, until its position is closed. */
  readonly stays: boolean
}

/** A position or an order that the list of the venue lacks, and that is known otherwise. */
export interface KillUnlisted {
  /** As the venue's page calls the order; null of a position. */
  readonly name: string | null
  /** Its market; null of a swap, which is on none. */
  readonly symbol: string | null
  readonly direction: 'long' | 'short'
  /** Null where nobody knows it. */
  readonly sizeUsd: Usd | null
  readonly triggerPrice: Usd | null
  readonly stays: boolean
  /** The reason why it is known although no list shows it, a clause. */
  readonly why: string
}

/** All that a kill would find and do now. */
export interface KillPreview {
  readonly positions: readonly KillPosition[]
  readonly orders: readonly KillOrder[]
  /** The kill closes and cancels these too. */
  readonly unlisted: readonly KillUnlisted[]
  /** Orders that are sent and not ended: it waits for them. */
  readonly inFlight: number
  /** Rows that cannot be read, a sentence each. */
  readonly unread: readonly string[]
}

type Symbols = Readonly<Record<string, string>>

/** The positions of a snapshot, and the exits among these orders that protect each. */
export function leftPositions(
  snapshot: Snapshot,
  exits: readonly Order[],
  symbols: Symbols,
): readonly KillPosition[] {
  const held = snapshot.positions.value.filter(({ sizeInUsd }) => sizeInUsd > 0n)
  const indexDecimals = (marketToken: string) => marketOf(snapshot, marketToken)?.indexToken.decimals
  const bare = new Map(
    sidesWithoutStop(held, [], exits, () => 0n, { indexDecimals }).map((side) => [sideKeyOf(side), side]),
  )
  return held.map((position): KillPosition => {
    const key = sideKeyOf(position)
    const own = exits.filter(
      (order) => sideKeyOf({ ...order, collateralToken: order.initialCollateralToken }) === key,
    )
    return {
      symbol: symbols[hexKey(position.marketToken)] ?? position.marketToken,
      direction: position.direction,
      sizeUsd: position.sizeInUsd,
      pnlUsd: pnlIfClosed(position).usd,
      exits: own.map(
        (order): KeptExit => ({
          name: orderName(order.orderType),
          triggerPrice: triggerOf(order, snapshot),
          sizeUsd: order.sizeDeltaUsd,
        }),
      ),
      uncoveredUsd: bare.get(key)?.uncoveredUsd ?? 0n,
    }
  })
}

/**
 * Returns the plan of a kill from this view.
 *
 * @param whole the whole work of a kill with the same choice for exits, and closing: orders that lists hide are in it, closing or not
 */
export function killPreview(
  left: KillLeft,
  whole: KillLeft,
  snapshot: Snapshot,
  symbols: Symbols,
): KillPreview {
  const orderOf = (stays: boolean) => (order: Order) => ({
    symbol: isOnMarket(order) ? (symbols[hexKey(order.marketToken)] ?? order.marketToken) : null,
    direction: order.direction,
    name: orderName(order.orderType),
    triggerPrice: triggerOf(order, snapshot),
    sizeUsd: order.sizeDeltaUsd,
    stays,
  })
  return {
    positions: leftPositions(snapshot, left.exits, symbols),
    orders: [...left.resting.map(orderOf(false)), ...left.exits.map(orderOf(true))],
    unlisted: unlistedBefore(whole, snapshot, symbols, !left.isUntilClosed),
    inFlight: left.inFlight,
    unread: [
      ...left.unread,
      ...(left.isUntilClosed ? [] : (snapshot.positions.missing ?? [])).map(
        (row) => `a position cannot be read: ${row.problem}`,
      ),
    ],
  }
}

/** Positions and orders that the lists lack. `leaves`: positions stay. */
function unlistedBefore(
  { hiddenSides, hiddenOrders, elsewhere, held }: KillLeft,
  { unlisted = [] }: Snapshot,
  symbols: Symbols,
  leaves: boolean,
): readonly KillUnlisted[] {
  const symbolOf = (marketToken: string) => symbols[hexKey(marketToken)] ?? marketToken
  const shown = new Set([...held, ...elsewhere].map(sideKeyOf))
  const reasons = new Map(unlisted.map((side) => [sideKeyOf(side), side.why]))
  const sides = new Map(
    [...unlisted, ...hiddenSides].flatMap((side) =>
      shown.has(sideKeyOf(side)) ? [] : [[sideKeyOf(side), side] as const],
    ),
  )
  const position = (side: HeldSide, why: string): KillUnlisted => ({
    name: null,
    symbol: symbolOf(side.marketToken),
    direction: side.direction,
    sizeUsd: side.sizeUsd,
    triggerPrice: null,
    stays: leaves,
    why,
  })
  return [
    ...elsewhere.map((row) =>
      position({ ...row, sizeUsd: row.sizeInUsd }, 'one host lists it, another does not'),
    ),
    ...[...sides].map(([key, side]) =>
      position(side, reasons.get(key) ?? 'only the journal has it, no list shows it'),
    ),
    ...hiddenOrders.map(
      ({ marketToken, direction, isKept, rests }): KillUnlisted => ({
        name: rests.name,
        symbol: isOnMarket({ marketToken }) ? symbolOf(marketToken) : null,
        direction,
        sizeUsd: rests.sizeUsd ?? null,
        triggerPrice: rests.triggerPrice ?? null,
        stays: isKept,
        why: 'it rests according to the journal, but no list shows it',
      }),
    ),
  ]
}

function triggerOf(order: Order, snapshot: Snapshot): Usd | null {
  const decimals = isOnMarket(order) ? marketOf(snapshot, order.marketToken)?.indexToken.decimals : undefined
  return decimals === undefined ? null : priceOfContractPrice(order.triggerContractPrice, decimals)
}
