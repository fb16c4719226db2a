/** Which positions have no stop-loss that rests at the venue. Pure. */
import { type PositionSide, sideKeyOf } from '../../domain/account/accountRecord.ts'
import { STOP_LOSS, stopChildrenOf } from '../../domain/account/stopChildren.ts'
import type { Book } from '../../domain/books/books.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import type { Order, Position } from '../../protocol/position.ts'

/**
 * Positions for which no stop-loss rests, in their order. A frozen order does not fire, and counts as none.
 *
 * @param open intents with something to come: of orders of ours the journal says whether they rest, for lists are late
 * @param others orders of the venue's list that the journal does not explain: another client made them
 * @param isMeant whether a side is meant to be without one
 */
export function sidesWithoutStop(
  positions: readonly Position[],
  open: readonly IntentState[],
  others: readonly Order[],
  isMeant: (side: PositionSide) => boolean = () => false,
): readonly PositionSide[] {
  const stopped = new Set([
    ...open.flatMap(stopsOf),
    ...others
      .filter(({ orderType, isFrozen }) => orderType === STOP_LOSS && !isFrozen)
      .map((order) => sideKeyOf({ ...order, collateralToken: order.initialCollateralToken })),
  ])
  return positions
    .filter((position) => position.sizeInUsd > 0n && !stopped.has(sideKeyOf(position)) && !isMeant(position))
    .map(({ marketToken, direction, collateralToken }) => ({ marketToken, direction, collateralToken }))
}

/**
 * Whether all of a side is in books of instances whose files say that the kind's decisions are the only exits (`onSignalOnly`). What
 * nobody opened here is not meant so.
 */
export function isSignalOnlySide(
  books: readonly Pick<Book, 'strategy' | 'sizeUsd' | keyof PositionSide>[],
  signalOnly: ReadonlySet<string>,
  side: PositionSide,
): boolean {
  const key = sideKeyOf(side)
  const holders = books.filter((book) => book.sizeUsd !== 0n && sideKeyOf(book) === key)
  return holders.length > 0 && holders.every(({ strategy }) => signalOnly.has(strategy))
}

/** Sides on which a stop-loss of the intent rests. */
function stopsOf(state: IntentState): readonly string[] {
  return stopChildrenOf(state)
    .filter(({ phase }) => phase === 'OPEN')
    .map(({ side }) => sideKeyOf(side))
}
