/**
 * Available capacity for increases on one side of a market: the one place that reads the venue's capacity
 * (docs/reference/api-coverage.md A3).
 */
import type { Denial } from '../../domain/order/intent.ts'
import { ageOf, capacityReading, marketOf } from '../../domain/snapshot.ts'
import type { Address } from '../../protocol/address.ts'
import type { Direction, TradingCapacity } from '../../protocol/market.ts'
import { BPS_ONE, maxOf, mulDivUp, type Usd } from '../../protocol/units.ts'
import { sideOf } from './accountExposure.ts'
import { type AdmissionContext, marketUnknown } from './admissionContext.ts'

/** Size that may still be added on one side, and the field from which it was computed. USD, never negative. */
export interface AvailableCapacity {
  readonly basis: 'availableLiquidity' | 'baseAvailableLiquidity'
  /** The field as read. */
  readonly capacityUsd: Usd
  /** Capacity after headroom and orders in flight there. */
  readonly availableUsd: Usd
}

/**
 * Returns the capacity on one side: `availableLiquidity` when `jitDataStatus` is `available`, else `baseAvailableLiquidity`
 * (docs/reference/api-coverage.md A3 and A22 to A24). From it are subtracted `capacityHeadroomBps` of it rounded up, our reservations, and
 * unexplained resting increases on that side.
 *
 * Refuses with MARKET_UNKNOWN, CAPACITY_UNKNOWN, MARKET_DATA_STALE (the venue says so) and CAPACITY_TOO_OLD.
 */
export function availableCapacityOf(
  marketToken: Address,
  direction: Direction,
  context: Pick<AdmissionContext, 'snapshot' | 'exposure' | 'limits'>,
): AvailableCapacity | Denial {
  const { snapshot, exposure, limits } = context
  const view = marketOf(snapshot, marketToken)
  if (view === undefined) return marketUnknown(marketToken)
  const reading = capacityReading(view, direction)
  if (reading === undefined) {
    return {
      code: 'CAPACITY_UNKNOWN',
      reason: `The trading capacity of ${view.market.symbol} ${direction} could not be read; increases wait until it can.`,
    }
  }
  const capacity = reading.value
  if (capacity.marketDataStatus !== 'fresh') {
    return {
      code: 'MARKET_DATA_STALE',
      reason:
        view.staleValues === undefined
          ? `The venue reports that its data of ${view.market.symbol} is stale; increases wait.`
          : `The venue's data of ${view.market.symbol} is stale, ${view.staleValues}; increases wait.`,
      wanted: 'marketDataStatus fresh',
      allowed: `marketDataStatus ${capacity.marketDataStatus}`,
    }
  }
  const ageMs = ageOf(snapshot, reading)
  if (limits.maxDataAgeMs !== undefined && ageMs > limits.maxDataAgeMs) {
    return {
      code: 'CAPACITY_TOO_OLD',
      reason: `The trading capacity of ${view.market.symbol} ${direction} is too old to size an order.`,
      wanted: `${ageMs} ms old`,
      allowed: `at most ${limits.maxDataAgeMs} ms`,
    }
  }
  const basis = basisOf(capacity)
  const capacityUsd = maxOf(0n, capacity[basis])
  const headroomUsd = mulDivUp(capacityUsd, BigInt(limits.capacityHeadroomBps ?? 0), BigInt(BPS_ONE))
  const side = sideOf(exposure, marketToken, direction)
  const availableUsd = maxOf(0n, capacityUsd - headroomUsd - side.reservedUsd - side.restingUsd)
  return { basis, capacityUsd, availableUsd }
}

/** The field of a capacity that counts: the one with JIT liquidity only while the venue says that its data is there. */
export function basisOf(capacity: TradingCapacity): AvailableCapacity['basis'] {
  return capacity.jitDataStatus === 'available' ? 'availableLiquidity' : 'baseAvailableLiquidity'
}
