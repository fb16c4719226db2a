/** Decodes trading capacity, which tickers, the capacity route, estimates and refusals carry. */
import type { TradingCapacity } from '../../protocol/market.ts'
import { type Fields, inside, Malformed, object, oneOf, usd30 } from '../decode/decode.ts'
import { keptUint } from './rowMemo.ts'

const limitingFactors = new Set(['reserve', 'openInterest', 'both', 'notApplicable'] as const)
const jitDataStatuses = new Set(['available', 'stale', 'unavailable'] as const)
const marketDataStatuses = new Set(['fresh', 'stale'] as const)

/**
 * One side's capacity; all six fields must be there (docs/api-coverage.md GET /markets/trading-capacity). A status of a
 * newer venue is `unrecognised`, never a good one.
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

/** The same inside a polled row, where it may be absent: amounts are kept where their text is the same. */
export function keptCapacityIf(
  raw: unknown,
  was: unknown,
  had: TradingCapacity | undefined,
  name: string,
): TradingCapacity | undefined {
  if (raw === undefined || raw === null) return undefined
  if (had === undefined) return inside(raw, name, tradingCapacity)
  try {
    // What was decoded before was an object.
    return keptCapacity(object(raw), was as Fields, had)
  } catch (error) {
    throw error instanceof Malformed ? error.under(name) : error
  }
}

function keptCapacity(row: Fields, was: Fields, had: TradingCapacity): TradingCapacity {
  // biome-ignore format: one field a line, to be read as a table.
  return {
    availableLiquidity: keptUint(row.availableLiquidity, was.availableLiquidity, had.availableLiquidity, 'availableLiquidity'),
    baseAvailableLiquidity: keptUint(row.baseAvailableLiquidity, was.baseAvailableLiquidity, had.baseAvailableLiquidity, 'baseAvailableLiquidity'),
    jitAvailableLiquidity: keptUint(row.jitAvailableLiquidity, was.jitAvailableLiquidity, had.jitAvailableLiquidity, 'jitAvailableLiquidity'),
    limitingFactor: row.limitingFactor === was.limitingFactor ? had.limitingFactor : oneOf(row.limitingFactor, 'limitingFactor', limitingFactors),
    jitDataStatus: row.jitDataStatus === was.jitDataStatus ? had.jitDataStatus : oneOf(row.jitDataStatus, 'jitDataStatus', jitDataStatuses),
    marketDataStatus: row.marketDataStatus === was.marketDataStatus ? had.marketDataStatus : oneOf(row.marketDataStatus, 'marketDataStatus', marketDataStatuses),
  }
}
