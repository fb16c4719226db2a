/** When the keeper finds a resting order ready: at a second, and whether it may be within a span of prices. */
import { hexKey } from '../../protocol/address.ts'
import { positionKeyOf } from '../../protocol/signing/relayRouter.ts'
import type { PricePair } from '../math/marketState.ts'
import { isOpenAt } from '../state/hours.ts'
import { isTriggered, orderTypes } from '../state/orderTypes.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import type { OrderRecord } from '../state/venueRecords.ts'
import { tokenPrice, type VenueState } from '../state/venueState.ts'

/** Tells whether the keeper executes a resting order at a second. */
export function isReady(venueState: VenueState, order: OrderRecord, second: number): boolean {
  if (order.isFrozen || BigInt(second) < order.params.numbers.validFromTime) return false
  const market = marketOfTrigger(venueState, order)
  if (market === undefined) return true
  if (!isOpenAt(venueState, market.key, second)) return false
  return isMet(order, tokenPrice(venueState, market.indexToken, second)) && hasItsPosition(venueState, order)
}

/**
 * Tells whether a resting order may be ready at a second up to `untilSecond`, while no position comes or goes. `boundsOf` gives the lowest and the
 * highest pair of a market's index token until then.
 */
export function mayBeReady(
  venueState: VenueState,
  order: OrderRecord,
  untilSecond: number,
  boundsOf: (market: VenueMarket) => { readonly low: PricePair; readonly high: PricePair },
): boolean {
  if (order.isFrozen || BigInt(untilSecond) < order.params.numbers.validFromTime) return false
  const market = marketOfTrigger(venueState, order)
  if (market === undefined) return true
  const { low, high } = boundsOf(market)
  return (isMet(order, low) || isMet(order, high)) && hasItsPosition(venueState, order)
}

/** The market whose index price triggers an order; undefined: it needs no trigger. */
function marketOfTrigger(venueState: VenueState, { params }: OrderRecord): VenueMarket | undefined {
  if (Number(params.orderType) === orderTypes.limitSwap) return undefined
  const market = venueState.marketByKey.get(hexKey(params.addresses.market))
  return market?.settings.isSpotOnly === true ? undefined : market
}

function isMet({ params }: OrderRecord, index: PricePair): boolean {
  return isTriggered(Number(params.orderType), params.isLong, params.numbers.triggerPrice, index)
}

/** Orders that decrease wait for their position; it is looked for last, since its key is a hash. */
function hasItsPosition(venueState: VenueState, { account, params }: OrderRecord): boolean {
  const type = Number(params.orderType)
  if (type !== orderTypes.limitDecrease && type !== orderTypes.stopLossDecrease) return true
  const { market, initialCollateralToken } = params.addresses
  return venueState.positions.has(positionKeyOf(account, market, initialCollateralToken, params.isLong))
}
