/** A kill in the words of people: what it leaves and by what that is protected, and all that it would do, before it is begun. Pure. */
import { sideKeyOf } from '../../domain/account/accountRecord.ts'
import { marketOf, type Snapshot } from '../../domain/snapshot.ts'
import type { KeptExit, LeftPosition } from '../../domain/tasks/killState.ts'
import { hexKey } from '../../protocol/address.ts'
import { isOnMarket, type Order, orderName, pnlIfClosed } from '../../protocol/position.ts'
import { priceOfContractPrice, type Usd } from '../../protocol/units.ts'
import type { KillLeft } from '../../tasks/killTask.ts'
import { sidesWithoutStop } from './stops.ts'

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

/** All that a kill would find and do now. */
export interface KillPreview {
  readonly positions: readonly KillPosition[]
  readonly orders: readonly KillOrder[]
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

/** The plan of a kill that sees this. */
export function killPreview(left: KillLeft, snapshot: Snapshot, symbols: Symbols): KillPreview {
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
    inFlight: left.inFlight,
    unread: [
      ...left.unread,
      ...(left.isUntilClosed ? [] : (snapshot.positions.missing ?? [])).map(
        (row) => `a position cannot be read: ${row.problem}`,
      ),
    ],
  }
}

function triggerOf(order: Order, snapshot: Snapshot): Usd | null {
  const decimals = isOnMarket(order) ? marketOf(snapshot, order.marketToken)?.indexToken.decimals : undefined
  return decimals === undefined ? null : priceOfContractPrice(order.triggerContractPrice, decimals)
}
