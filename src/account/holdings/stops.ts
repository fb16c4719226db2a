/** Finds positions that resting stop-losses would not close completely, and the uncovered rest. Pure. */

import type { Book } from '../../books/books.ts'
import { type PositionSide, sideKeyOf } from '../../domain/accountRecords/accountRecord.ts'
import { STOP_LOSS, stopChildrenOf } from '../../domain/accountRecords/stopChildren.ts'
import { EXIT_TOLERANCE_BPS } from '../../domain/order/exitSettings.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { type OrderChange, signedOrderOf } from '../../domain/order/signedOrder.ts'
import { isBehindLiquidation, type Order, type Position } from '../../protocol/position.ts'
import { bps, MAX_UINT256, maxOf, minOf, priceOfContractPrice, type Usd } from '../../protocol/units.ts'

/** A position of which stop-losses that could fire would not close all. */
export interface SideWithoutStop extends PositionSide {
  /** Size that none of them would close, USD: all of it where none rests. */
  readonly uncoveredUsd: Usd
  /** Stops that would close it rest, and lie behind the liquidation price: the position is gone before they fire. */
  readonly isStopBehindLiquidation?: true
}

/** A stop-loss at rest. */
interface Stop {
  readonly side: string
  /** USD per whole index token; undefined where it is not known. */
  readonly triggerPrice: Usd | undefined
  /** Size that it would close, USD; the largest uint256, or an unknown size: all of the position. */
  readonly sizeUsd: Usd
}

/** Less than this is dust: no order closes it alone at the venue, USD. */
const DUST_USD = 10n ** 30n

/**
 * Returns the positions of which more than a tolerance would remain if all their stop-losses fired, in their order. The tolerance is 2 % of the
 * position, as for maintained exits, or a dollar. Stops count by the size that they would close. A frozen order does not fire, and one behind the
 * position's liquidation price comes too late: neither counts.
 *
 * @param open intents that are not over: the journal shows whether orders of ours rest, because lists are late
 * @param others orders of the venue's list that the journal does not explain: another client made them
 * @param meantUsd size of a side that is meant to be without a stop, USD
 * @param facts changes of an order by later messages of ours, and the decimals of a market's index token
 */
export function sidesWithoutStop(
  positions: readonly Position[],
  open: readonly IntentState[],
  others: readonly Order[],
  meantUsd: (side: PositionSide) => Usd = () => 0n,
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
          sizeUsd: order.sizeDeltaUsd,
        }
      }),
  ]
  return positions.flatMap((position): SideWithoutStop[] => {
    const key = sideKeyOf(position)
    const { sizeInUsd, marketToken, direction, collateralToken } = position
    const own = stops.filter(({ side }) => side === key)
    const isLate = ({ triggerPrice }: Stop) => isBehindLiquidation(position, triggerPrice)
    const firingUsd = closedBy(
      own.filter((stop) => !isLate(stop)),
      sizeInUsd,
    )
    const lateUsd = closedBy(own.filter(isLate), sizeInUsd)
    // A stop that comes too late was meant to close something.
    const leftOutUsd = maxOf(0n, meantUsd(position) - lateUsd)
    const uncoveredUsd = sizeInUsd - leftOutUsd - firingUsd
    const toleranceUsd = minOf(maxOf(bps(sizeInUsd, EXIT_TOLERANCE_BPS), DUST_USD), maxOf(0n, sizeInUsd - 1n))
    if (uncoveredUsd <= toleranceUsd) return []
    const side = { marketToken, direction, collateralToken, uncoveredUsd }
    const isByLate = lateUsd > 0n && uncoveredUsd - lateUsd <= toleranceUsd
    return [isByLate ? { ...side, isStopBehindLiquidation: true } : side]
  })
}

/** Returns the size of a position that these stops close together, USD. */
function closedBy(stops: readonly Stop[], sizeInUsd: Usd): Usd {
  return minOf(
    sizeInUsd,
    stops.reduce((sum, { sizeUsd }) => sum + sizeUsd, 0n),
  )
}

/**
 * Returns the size of a side in books of instances whose files make the kind's decisions the only exits (`onSignalOnly`), USD. An unattributed part
 * does not count.
 */
export function signalOnlyUsd(
  books: readonly Pick<Book, 'strategy' | 'sizeUsd' | keyof PositionSide>[],
  signalOnly: ReadonlySet<string>,
  side: PositionSide,
): Usd {
  const key = sideKeyOf(side)
  return books
    .filter((book) => book.sizeUsd > 0n && signalOnly.has(book.strategy) && sideKeyOf(book) === key)
    .reduce((sum, { sizeUsd }) => sum + sizeUsd, 0n)
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
      const signed = signedOrderOf(orderKey, state, changeOf(orderKey))
      const trigger = signed?.kept?.triggerContractPrice
      // If nothing shows the effect of a change, it has its original size.
      const made = signed ?? signedOrderOf(orderKey, state, undefined)
      return {
        side: sideKeyOf(side),
        triggerPrice: trigger === undefined ? undefined : priceOfContractPrice(trigger, decimals),
        sizeUsd: made?.sizeDeltaUsd ?? MAX_UINT256,
      }
    })
}
