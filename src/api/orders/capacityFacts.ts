/** Reads the capacity figures of prepare, from a refusal or from a warning (docs/reference/api-coverage.md A22 to A24). */
import type { TradingCapacity } from '../../protocol/market.ts'
import type { Usd } from '../../protocol/units.ts'
import { Malformed, object, oneOf, usd30 } from '../decode/decode.ts'
import { tradingCapacity } from '../rows/capacityRow.ts'
import type { RefusedError } from '../transport/apiErrors.ts'
import type { ValidationWarning } from './orderPayload.ts'

/** Why the venue could not check the capacity for sure. `unrecognised` is a reason of a newer venue. */
export type CapacityUnavailableReason =
  | 'STALE_MARKET_DATA'
  | 'JIT_DATA_UNAVAILABLE'
  | 'JIT_ACCOUNT_ELIGIBILITY_UNKNOWN'
  | 'COLLATERAL_SWAP'
  | 'unrecognised'

const reasons = new Set<Exclude<CapacityUnavailableReason, 'unrecognised'>>([
  'STALE_MARKET_DATA',
  'JIT_DATA_UNAVAILABLE',
  'JIT_ACCOUNT_ELIGIBILITY_UNKNOWN',
  'COLLATERAL_SWAP',
])

/** The reason of a `TRADING_CAPACITY_UNAVAILABLE` warning; undefined for any other warning. */
export function capacityUnavailableReason(warning: {
  readonly code: string
  readonly details?: unknown
}): CapacityUnavailableReason | undefined {
  if (warning.code !== 'TRADING_CAPACITY_UNAVAILABLE') return undefined
  const { details } = warning
  const reason =
    typeof details === 'object' && details !== null && 'reason' in details ? details.reason : undefined
  return typeof reason === 'string' ? oneOf(reason, 'reason', reasons) : 'unrecognised'
}

/** An increase beyond the capacity: what was asked and what there is. */
export interface LiquidityShortfall {
  readonly requestedSizeUsd: Usd
  readonly capacity: TradingCapacity
}

/**
 * The numbers of `INSUFFICIENT_LIQUIDITY`, which blocks a market increase and only warns of a resting one, because capacity
 * is checked again when it triggers. Undefined for any other code, and when the numbers cannot be read.
 */
export function liquidityShortfall(said: RefusedError | ValidationWarning): LiquidityShortfall | undefined {
  const { code, details } =
    'serverCode' in said ? { code: said.serverCode, details: said.serverDetails } : said
  if (code !== 'INSUFFICIENT_LIQUIDITY') return undefined
  try {
    const fields = object(details)
    return {
      requestedSizeUsd: usd30(fields.requestedSizeUsd, 'requestedSizeUsd'),
      capacity: tradingCapacity(fields),
    }
  } catch (error) {
    if (error instanceof Malformed) return undefined
    throw error
  }
}
