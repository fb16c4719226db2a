/** Decodes trading capacity, which tickers, the capacity route, estimates and refusals carry. */
import type { TradingCapacity } from '../domain/market.ts'
import { object, oneOf, usd30 } from './decode.ts'

const limitingFactors = new Set(['reserve', 'openInterest', 'both', 'notApplicable'] as const)
const jitDataStatuses = new Set(['available', 'stale', 'unavailable'] as const)
const marketDataStatuses = new Set(['fresh', 'stale'] as const)

/**
 * One side's capacity; all six fields must be there (wire: reads, 2.4). A status of a newer venue is `unrecognised`,
 * never a good one.
 */
export function tradingCapacity(value: unknown, name = ''): TradingCapacity {
  const fields = object(value, name)
  return {
    availableLiquidity: usd30(fields.availableLiquidity, 'availableLiquidity'),
    baseAvailableLiquidity: usd30(fields.baseAvailableLiquidity, 'baseAvailableLiquidity'),
    jitAvailableLiquidity: usd30(fields.jitAvailableLiquidity, 'jitAvailableLiquidity'),
    limitingFactor: oneOf(fields.limitingFactor, 'limitingFactor', limitingFactors),
    jitDataStatus: oneOf(fields.jitDataStatus, 'jitDataStatus', jitDataStatuses),
    marketDataStatus: oneOf(fields.marketDataStatus, 'marketDataStatus', marketDataStatuses),
  }
}
