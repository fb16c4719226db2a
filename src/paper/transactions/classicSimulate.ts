/**
 * Simulated executions, as OrderHandler.simulateExecuteOrder runs them: an order is tried at the prices that the caller names.
 * It always reverts: with EndOfOracleSimulation when the order would execute, else with what it would fail with.
 */
import { type Address, type Hex, hexKey } from '../../protocol/address.ts'
import { tryDecrease } from '../keeper/executeDecrease.ts'
import { tryIncrease } from '../keeper/executeIncrease.ts'
import { trySwap } from '../keeper/executeSwap.ts'
import type { PricePair } from '../math/marketState.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'
import { bringsCollateral, isMarketOrder, isTriggered, orderTypes } from '../state/orderTypes.ts'
import type { OrderRecord } from '../state/venueRecords.ts'
import { tokenPrice, type VenueState } from '../state/venueState.ts'
import { emptyRevert } from './callFrame.ts'

/** OracleUtils.SimulatePricesParams. */
export interface SimulatedPrices {
  readonly primaryTokens: readonly Address[]
  /** Contract prices: USD x 10^(30 - decimals) of one smallest unit. */
  readonly primaryPrices: readonly PricePair[]
  /** Unix seconds. */
  readonly minTimestamp: bigint
  readonly maxTimestamp: bigint
}

/** The venue with the prices of a simulation and no others. */
function pricedWorld(venueState: VenueState, { primaryTokens, primaryPrices }: SimulatedPrices): VenueState {
  const given = new Map(primaryTokens.map((token, i) => [hexKey(token), primaryPrices[i]]))
  const prices = {
    ...venueState.prices,
    at: (tokenKey: string): PricePair => {
      const price = given.get(tokenKey)
      if (price === undefined || price.min === 0n || price.max === 0n) {
        throw new ProtocolRevert('EmptyPrimaryPrice', [tokenKey])
      }
      return price
    },
  }
  return Object.create(venueState, { prices: { value: prices } }) as VenueState
}

function requireTime(venueState: VenueState, order: OrderRecord, given: SimulatedPrices): void {
  const updatedAt = BigInt(order.updatedAtSeconds)
  if (given.minTimestamp < updatedAt) {
    throw new ProtocolRevert('OracleTimestampsAreSmallerThanRequired', [given.minTimestamp, updatedAt])
  }
  const expiration = BigInt(venueState.chain.requestExpirationSeconds)
  if (isMarketOrder(Number(order.params.orderType)) && given.maxTimestamp > updatedAt + expiration) {
    throw new ProtocolRevert('OracleTimestampsAreLargerThanRequestExpirationTime', [
      given.maxTimestamp,
      updatedAt,
      expiration,
    ])
  }
}

function requireTrigger(venueState: VenueState, order: OrderRecord, seconds: number): void {
  const { addresses, numbers, orderType, isLong } = order.params
  const type = Number(orderType)
  const market = venueState.marketByKey.get(hexKey(addresses.market))
  if (isMarketOrder(type) || market === undefined || market.settings.isSpotOnly) return
  const index = tokenPrice(venueState, market.indexToken, seconds)
  if (isTriggered(type, isLong, numbers.triggerPrice, index)) return
  throw new ProtocolRevert('InvalidOrderPrices', [index.min, index.max, numbers.triggerPrice, orderType])
}

/**
 * Tries an order at given prices, for the contract that asks. Never returns, and changes nothing.
 *
 * @throws ProtocolRevert EndOfOracleSimulation when the order would execute, else why it would not
 */
export function simulateOrder(
  venueState: VenueState,
  key: Hex,
  given: SimulatedPrices,
  caller: Address,
  nowMs: number,
): never {
  const { primaryTokens, primaryPrices } = given
  if (primaryTokens.length !== primaryPrices.length) {
    throw new ProtocolRevert('InvalidPrimaryPricesForSimulation', [
      BigInt(primaryTokens.length),
      BigInt(primaryPrices.length),
    ])
  }
  const order = venueState.orders.get(hexKey(key))
  if (order === undefined) throw new ProtocolRevert('EmptyOrder')
  const type = Number(order.params.orderType)
  // Both are for keepers with a role that no router has.
  if (order.isFrozen || type === orderTypes.limitSwap) {
    throw new ProtocolRevert('InvalidKeeperForFrozenOrder', [caller])
  }
  const priced = pricedWorld(venueState, given)
  const seconds = Math.floor(nowMs / 1000)
  requireTrigger(priced, order, seconds)
  requireTime(venueState, order, given)
  try {
    if (type === orderTypes.marketSwap) trySwap(priced, order, seconds)
    else if (bringsCollateral(type)) tryIncrease(priced, order, seconds)
    else tryDecrease(priced, order, seconds)
  } catch (error) {
    // Prices that nothing costs leave the range of the model's integers, as of the contract's: a panic there.
    if (error instanceof RangeError) throw emptyRevert()
    throw error
  }
  throw new ProtocolRevert('EndOfOracleSimulation')
}
