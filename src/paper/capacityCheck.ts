/** Whether there is room for an increase, as prepare checks it (application document, "Trading capacity", rules 6 to 9). */
import { type Json, refused } from './http.ts'
import { capacityJson } from './marketRows.ts'
import type { Capacity } from './model/capacity.ts'
import type { MarketSettings } from './model/market.ts'
import type { World } from './world.ts'

/** Longest wait of a prepare for a JIT refresh that is under way, ms (rule 8). */
export const JIT_WAIT_MS = 500

/** A warning beside a prepared order. */
export interface CapacityWarning {
  readonly code: string
  readonly message: string
  readonly details: Json
}

const reasons = {
  STALE_MARKET_DATA: 'the market data is stale',
  JIT_DATA_UNAVAILABLE: 'just-in-time liquidity is not known',
  JIT_ACCOUNT_ELIGIBILITY_UNKNOWN: 'it is not known whether the account may use just-in-time liquidity',
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
export async function awaitJitRefresh(world: World): Promise<void> {
  const { dataFaults } = world
  const { jitRefreshMs } = dataFaults
  if (dataFaults.jitData !== 'stale' || jitRefreshMs === 0) return
  await world.clock.sleep(Math.min(JIT_WAIT_MS, jitRefreshMs))
  if (jitRefreshMs > JIT_WAIT_MS) return
  dataFaults.jitData = 'available'
  dataFaults.jitRefreshMs = 0
}

/**
 * Warnings about the room for an increase.
 *
 * @throws HttpFailure 400 INSUFFICIENT_LIQUIDITY for a market increase above it
 */
export function capacityWarnings(
  world: World,
  capacity: Capacity,
  order: {
    readonly symbol: string
    readonly sizeDeltaUsd: bigint
    readonly isResting: boolean
    readonly swapsCollateral: boolean
  },
): CapacityWarning[] {
  const { dataFaults } = world
  const size = order.sizeDeltaUsd
  const warnings: CapacityWarning[] = []
  const isOverRoom = size > capacity.openInterestRoom
  if (dataFaults.marketData === 'stale') warnings.push(unavailable('STALE_MARKET_DATA'))
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
    message: `Requested size exceeds the available liquidity of ${order.symbol}`,
    details: { ...capacityJson(world, capacity), requestedSizeUsd: size.toString() },
  }
  if (order.isResting) return [tooLarge, ...warnings]
  if (isUncertain) return warnings
  throw refused(tooLarge.code, tooLarge.message, tooLarge.details)
}

/**
 * Refuses an increase of which a part would leave less collateral than the least in USD. A market or limit order is one part.
 *
 * @throws HttpFailure 400 INSUFFICIENT_COLLATERAL
 */
export function requireCollateral(
  settings: Pick<MarketSettings, 'minCollateralUsd'>,
  order: {
    readonly parts: bigint
    readonly heldUsd: bigint
    /** What one part adds after its fees, signed. */
    readonly addedUsdByPart: bigint
  },
): void {
  const least = settings.minCollateralUsd
  for (const done of order.parts > 1n ? [1n, order.parts] : [1n]) {
    if (order.heldUsd + order.addedUsdByPart * done >= least) continue
    throw refused(
      'INSUFFICIENT_COLLATERAL',
      order.parts > 1n
        ? `Collateral left after the fees of one of ${order.parts} parts would be below the minimum of ${least} (USD, 30 decimals)`
        : `Collateral left after fees would be below the minimum of ${least} (USD, 30 decimals)`,
    )
  }
}
