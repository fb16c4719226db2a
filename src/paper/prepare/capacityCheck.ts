/** Checks as prepare does whether there is capacity for an increase (docs/reference/api-coverage.md A3 and A22 to A24). */
import { type Json, refused } from '../http/http.ts'
import type { Capacity } from '../math/capacity.ts'
import { capacityJson, hasStaleValues } from '../pools/marketRows.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import type { VenueState } from '../state/venueState.ts'

/** Longest wait of a prepare for a JIT refresh that is under way, ms (rule 8). */
const JIT_WAIT_MS = 500

/** A warning beside a prepared order. */
export interface CapacityWarning {
  readonly code: string
  readonly message: string
  readonly details: Json
}

const reasons = {
  STALE_MARKET_DATA: 'the market data is stale',
  JIT_DATA_UNAVAILABLE: 'just-in-time liquidity is unknown',
  JIT_ACCOUNT_ELIGIBILITY_UNKNOWN: "the account's right to just-in-time liquidity is unknown",
  COLLATERAL_SWAP: 'the collateral is swapped first',
} as const

function unavailable(reason: keyof typeof reasons): CapacityWarning {
  return {
    code: 'TRADING_CAPACITY_UNAVAILABLE',
    message: `Trading capacity cannot be checked for sure: ${reasons[reason]}`,
    details: { reason },
  }
}

/** Waits for a refresh of the JIT data that is under way, 500 ms at most; in time, the data is fresh again. */
export async function awaitJitRefresh(venueState: VenueState): Promise<void> {
  const { dataFaults } = venueState
  const { jitRefreshMs } = dataFaults
  if (dataFaults.jitData !== 'stale' || jitRefreshMs === 0) return
  await venueState.clock.sleep(Math.min(JIT_WAIT_MS, jitRefreshMs))
  if (jitRefreshMs > JIT_WAIT_MS) return
  dataFaults.jitData = 'available'
  dataFaults.jitRefreshMs = 0
}

/**
 * Warnings about the capacity for an increase.
 *
 * @throws HttpFailure 400 INSUFFICIENT_LIQUIDITY for a market increase above it
 */
export function capacityWarnings(
  venueState: VenueState,
  market: VenueMarket,
  capacity: Capacity,
  order: {
    readonly sizeDeltaUsd: bigint
    readonly isResting: boolean
    readonly swapsCollateral: boolean
  },
): CapacityWarning[] {
  const { dataFaults } = venueState
  const size = order.sizeDeltaUsd
  const warnings: CapacityWarning[] = []
  const isOverRoom = size > capacity.openInterestHeadroom
  if (hasStaleValues(venueState, market)) warnings.push(unavailable('STALE_MARKET_DATA'))
  if (size > capacity.baseAvailableLiquidity && !isOverRoom) {
    if (dataFaults.jitData !== 'available') warnings.push(unavailable('JIT_DATA_UNAVAILABLE'))
    else if (dataFaults.jitEligibility === 'unknown') {
      warnings.push(unavailable('JIT_ACCOUNT_ELIGIBILITY_UNKNOWN'))
    }
  }
  if (order.swapsCollateral) warnings.push(unavailable('COLLATERAL_SWAP'))
  if (size <= capacity.availableLiquidity) return warnings
  const isUncertain = warnings.length > 0 && !isOverRoom
  const tooLarge = {
    code: 'INSUFFICIENT_LIQUIDITY',
    message: `Requested size exceeds the available liquidity of ${market.catalog.symbol}`,
    details: { ...capacityJson(venueState, market, capacity), requestedSizeUsd: size.toString() },
  }
  // An uncertain check only warns: an unknown capacity is not reported as too small.
  if (isUncertain) return warnings
  if (order.isResting) return [tooLarge, ...warnings]
  throw refused(tooLarge.code, tooLarge.message, tooLarge.details)
}
