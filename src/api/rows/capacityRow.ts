/** Decodes trading capacity, which tickers, the capacity route, estimates and refusals carry. */
import type {
  JitDataStatus,
  LimitingFactor,
  MarketDataStatus,
  TradingCapacity,
} from '../../protocol/market.ts'
import { type Fields, inside, Malformed, object, oneOf, optional, usd30 } from '../decode/decode.ts'
import { keptUint } from './rowMemo.ts'

const limitingFactors = new Set(['reserve', 'openInterest', 'both', 'notApplicable'] as const)
const jitDataStatuses = new Set(['available', 'stale', 'unavailable'] as const)
const marketDataStatuses = new Set(['fresh', 'stale'] as const)

function limitingFactor(value: unknown, name: string): LimitingFactor {
  return oneOf(value, name, limitingFactors)
}

/** The document calls good data `usable` (docs/reference/api-coverage.md A3), the venue's clients `available`. */
function jitDataStatus(value: unknown, name: string): JitDataStatus {
  return value === 'usable' ? 'available' : oneOf(value, name, jitDataStatuses)
}

/** The same of market data, which the venue's clients call `fresh`. */
function marketDataStatus(value: unknown, name: string): MarketDataStatus {
  return value === 'usable' ? 'fresh' : oneOf(value, name, marketDataStatuses)
}

/**
 * One side's capacity (docs/reference/api-coverage.md GET /markets/trading-capacity): three amounts and two statuses, which bound an
 * increase. A status of a newer venue is `unrecognised`, never a good one.
 */
export function tradingCapacity(value: unknown, name = ''): TradingCapacity {
  const fields = object(value, name)
  return {
    availableLiquidity: usd30(fields.availableLiquidity, 'availableLiquidity'),
    baseAvailableLiquidity: usd30(fields.baseAvailableLiquidity, 'baseAvailableLiquidity'),
    jitAvailableLiquidity: usd30(fields.jitAvailableLiquidity, 'jitAvailableLiquidity'),
    limitingFactor: optional(fields.limitingFactor, 'limitingFactor', limitingFactor),
    jitDataStatus: jitDataStatus(fields.jitDataStatus, 'jitDataStatus'),
    marketDataStatus: marketDataStatus(fields.marketDataStatus, 'marketDataStatus'),
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
    // The value decoded before came from an object.
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
    limitingFactor: row.limitingFactor === was.limitingFactor ? had.limitingFactor : optional(row.limitingFactor, 'limitingFactor', limitingFactor),
    jitDataStatus: row.jitDataStatus === was.jitDataStatus ? had.jitDataStatus : jitDataStatus(row.jitDataStatus, 'jitDataStatus'),
    marketDataStatus: row.marketDataStatus === was.marketDataStatus ? had.marketDataStatus : marketDataStatus(row.marketDataStatus, 'marketDataStatus'),
  }
}
