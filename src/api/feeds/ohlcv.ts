/**
 * Candles of the application API (docs/reference/api-coverage.md GET /prices/ohlcv). The oracle's candles are the better documented
 * ones: prefer them.
 */
import type { CandlePeriod } from '../../protocol/market.ts'
import type { Usd } from '../../protocol/units.ts'
import { count, list, Malformed, object, usd30 } from '../decode/decode.ts'
import { type CallOptions, COALESCE_MS, type Read, type Route } from '../transport/route.ts'
import type { Transport } from '../transport/transportTypes.ts'

/** Which candles. Timeframes, default limit and the form of the symbol are not documented; the oracle's are assumed. */
export interface OhlcvQuery {
  /** Market symbol, `ETH/USD [WETH-USDC]`. */
  readonly symbol: string
  readonly timeframe: CandlePeriod
  /** 1 to 1000; always sent. */
  readonly limit: number
  /** Unix ms of the first candle wanted. */
  readonly sinceMs?: number
}

/** One candle with exact prices, USD with 30 decimals per whole index token (unit assumed, not documented). */
export interface OhlcvCandle {
  /** Unix ms of the start of the period. */
  readonly timestampMs: number
  readonly open: Usd
  readonly high: Usd
  readonly low: Usd
  readonly close: Usd
}

const ohlcvRoute: Route<OhlcvQuery, readonly OhlcvCandle[]> = {
  path: '/prices/ohlcv',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: COALESCE_MS,
  isHistory: true,
  query: ({ symbol, timeframe, limit, sinceMs }) => ({ symbol, timeframe, limit, since: sinceMs }),
  decode: (body) => list(body, '', candle).sort((one, other) => one.timestampMs - other.timestampMs),
}

/** Candles of a market, ascending (`GET /prices/ohlcv`). */
export function getOhlcv(
  transport: Transport,
  query: OhlcvQuery,
  options?: CallOptions,
): Promise<Read<readonly OhlcvCandle[]>> {
  return transport.call(ohlcvRoute, query, options)
}

/** Below this a Unix time must be in seconds: as milliseconds it would be the spring of 1973. */
const MILLISECONDS_FROM = 100_000_000_000

function candle(value: unknown): OhlcvCandle {
  const row = object(value)
  const timestamp = count(row.timestamp, 'timestamp')
  const high = usd30(row.high, 'high')
  const low = usd30(row.low, 'low')
  if (high < low) throw new Malformed('high', 'is below the low', row.high)
  return {
    timestampMs: timestamp < MILLISECONDS_FROM ? timestamp * 1000 : timestamp,
    open: usd30(row.open, 'open'),
    high,
    low,
    close: usd30(row.close, 'close'),
  }
}
