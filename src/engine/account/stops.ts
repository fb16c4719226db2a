/** Which positions have no stop-loss that rests at the venue. Pure. */
import { type PositionSide, sideKeyOf } from '../../domain/account/accountRecord.ts'
import { STOP_LOSS, stopChildrenOf } from '../../domain/account/stopChildren.ts'
import type { Book } from '../../domain/books/books.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { type OrderChange, signedOrderOf } from '../../domain/order/signedOrder.ts'
import type { Order, Position } from '../../protocol/position.ts'
import { priceOfContractPrice, type Usd } from '../../protocol/units.ts'

/** A position without a stop-loss that could fire. */
export interface SideWithoutStop extends PositionSide {
  /** One rests, and lies behind the liquidation price: the position is gone before it fires. */
  readonly isStopBehindLiquidation?: true
}

/** A stop-loss at rest, and its trigger where it is known, USD per whole index token. */
interface Stop {
  readonly side: string
  readonly triggerPrice: Usd | undefined
}

/**
 * Positions for which no stop-loss rests that could fire, in their order. A frozen order does not fire, and one behind the position's
 * liquidation price comes too late: both count as none.
 *
 * @param open intents with something to come: of orders of ours the journal says whether they rest, for lists are late
 * @param others orders of the venue's list that the journal does not explain: another client made them
 * @param isMeant whether a side is meant to be without one
 * @param facts what later messages of ours made of an order, and how many decimals a market's index token has
 */
export function sidesWithoutStop(
  positions: readonly Position[],
  open: readonly IntentState[],
  others: readonly Order[],
  isMeant: (side: PositionSide) => boolean = () => false,
  facts: {
    readonly changeOf?: (orderKey: string) => OrderChange | undefined
    readonly indexDecimals?: (marketToken: string) => number | undefined
  } = {},
): readonly SideWithoutStop[] {
  const { changeOf = () => undefined, indexDecimals = () => undefined } = facts
  const stops = [
    ...open.flatMap((state) => stopsOf(state, changeOf)),
    ...others
      .filter(({ orderType, isFrozen }) => orderType === STOP_LOSS && !isFrozen)
      .map((order): Stop => {
        const decimals = indexDecimals(order.marketToken)
        return {
          side: sideKeyOf({ ...order, collateralToken: order.initialCollateralToken }),
          triggerPrice:
            decimals === undefined ? undefined : priceOfContractPrice(order.triggerContractPrice, decimals),
        }
      }),
  ]
  return positions.flatMap((position): SideWithoutStop[] => {
    const key = sideKeyOf(position)
    const own = stops.filter(({ side }) => side === key)
    const firing = own.some(({ triggerPrice }) => !isBehindLiquidation(position, triggerPrice))
    if (position.sizeInUsd <= 0n || firing || (own.length === 0 && isMeant(position))) return []
    const { marketToken, direction, collateralToken } = position
    const side = { marketToken, direction, collateralToken }
    return [own.length === 0 ? side : { ...side, isStopBehindLiquidation: true }]
  })
}

/** What is not known is not held against a stop. */
function isBehindLiquidation(
  { direction, liquidationPrice }: Position,
  triggerPrice: Usd | undefined,
): boolean {
  if (liquidationPrice === undefined || liquidationPrice <= 0n || triggerPrice === undefined) return false
  return direction === 'long' ? triggerPrice <= liquidationPrice : triggerPrice >= liquidationPrice
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

/** The stop-losses of the intent that rest. */
function stopsOf(
  state: IntentState,
  changeOf: (orderKey: string) => OrderChange | undefined,
): readonly Stop[] {
  const { decimals } = state.intent.terms.indexToken
  return stopChildrenOf(state)
    .filter(({ phase }) => phase === 'OPEN')
    .map(({ orderKey, side }): Stop => {
      const trigger = signedOrderOf(orderKey, state, changeOf(orderKey))?.kept?.triggerContractPrice
      return {
        side: sideKeyOf(side),
        triggerPrice: trigger === undefined ? undefined : priceOfContractPrice(trigger, decimals),
      }
    })
}
