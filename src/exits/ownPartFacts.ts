/**
 * The own part of a position with the exits that rest for it, by one look. Exits of a waiting entry belong to that entry, and are left alone until it
 * fills. While any order of the instance on a side is in flight, or rests without being listed, its exits are left alone: it may be the very exit.
 * Pure.
 */

import type { Part } from '../books/sideParts.ts'
import { type PositionSide, sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import { type Child, hasEnded, type IntentState, isProvisional, lastAttempt } from '../domain/order/intent.ts'
import { isExit } from '../domain/order/orderLegs.ts'
import { marketOf, reductionPriceOf, type Snapshot } from '../domain/snapshot.ts'
import { hexKey, sameHex } from '../protocol/address.ts'
import { lacksMarket } from '../protocol/missing.ts'
import type { Position } from '../protocol/position.ts'
import { minOf, mulDiv, type Usd } from '../protocol/units.ts'
import { openIntentsOf, type RestingOrder, restingOrdersOf } from '../strategy/resting.ts'
import { liveExits, waitingExits } from './exitsLeft.ts'

/** One part of a position, and what rests for it. */
export interface OwnPart {
  readonly side: PositionSide
  readonly position: Position
  /** Size that both the instance's book and the position have at least, USD. */
  readonly ownUsd: Usd
  /** Size by its book alone, USD: more than the position where a fill is shown that no record reports yet. */
  readonly bookUsd: Usd
  /** Entry price of the instance's own entries, USD per whole index token. */
  readonly entryPrice: Usd
  /** At which a reduction executes now. */
  readonly price: Usd
  readonly resting: readonly RestingOrder[]
}

/** Returns the part of a position that an instance has; undefined: the list shows none, or its exits must be left alone now. */
export function ownPartOf(
  { snapshot, states: all }: { readonly snapshot: Snapshot; readonly states: readonly IntentState[] },
  part: PositionSide & Part,
): OwnPart | undefined {
  const states = all.filter((state) => !isOver(state))
  const key = sideKeyOf(part)
  const view = marketOf(snapshot, part.marketToken)
  const position = snapshot.positions.value.find((each) => sideKeyOf(each) === key)
  if (view === undefined || position === undefined) return undefined
  const ownUsd = minOf(part.sizeUsd, position.sizeInUsd)
  if (ownUsd <= 0n || lacksMarket(snapshot.orders.missing, part.marketToken)) return undefined
  const isHere = (order: { readonly marketToken: string; readonly direction: string }) =>
    sameHex(order.marketToken, part.marketToken) && order.direction === part.direction
  const own = restingOrdersOf(snapshot, states).filter(isHere)
  const shown = new Set(own.map(({ intentId }) => intentId))
  const isOnTheWay = openIntentsOf(states).some((open) => isHere(open) && !shown.has(open.intentId))
  const listed = new Set(own.map(({ orderKey }) => hexKey(orderKey)))
  const isUnlisted = states
    .filter(({ intent }) => isHere(intent.terms))
    .flatMap(liveExits)
    .some(({ orderKey }) => !listed.has(hexKey(orderKey)))
  if (isOnTheWay || isUnlisted || own.some(({ isChanging }) => isChanging)) return undefined
  const entryPrice =
    part.sizeInTokens > 0n
      ? mulDiv(part.costUsd, 10n ** BigInt(view.indexToken.decimals), part.sizeInTokens)
      : position.entryPrice
  if (entryPrice === undefined || entryPrice <= 0n) return undefined
  const price = reductionPriceOf(position, snapshot)
  const ofWaiting = new Set(states.flatMap(waitingExits).map(({ orderKey }) => hexKey(orderKey)))
  const resting = own.filter(
    ({ collateralToken, orderKey }) =>
      sameHex(collateralToken, part.collateralToken) && !ofWaiting.has(hexKey(orderKey)),
  )
  const { marketToken, direction, collateralToken } = part
  const side = { marketToken, direction, collateralToken }
  return { side, position, ownUsd, bookUsd: part.sizeUsd, entryPrice, price, resting }
}

/**
 * Says whether all orders of the intent have ended, so that none of them is an exit that waits. An entry may have filled in a block that is not
 * final: a part is not without its stop for the minutes of that. An exit must have ended for good: where one endpoint lies or a block is
 * taken back it rests still. What a reduction at the market executed is waited for: nothing is closed twice.
 */
function isOver(state: IntentState): boolean {
  const { kind, terms } = state.intent
  const children = lastAttempt(state)?.children ?? []
  if (children.length === 0) return false
  if (children.every(({ phase }) => phase === 'CANCELLED')) return true
  if (kind === 'close' || (kind === 'decrease' && terms.orderType === 'market')) return false
  const isEntry = (child: Child) => kind === 'increase' && !isExit(child)
  return children.every((child) => hasEnded(child) && (isEntry(child) || !isProvisional(child.evidence)))
}
