/**
 * Cache window of each read, and the parameters that distinguish one request from another (docs/reference/api-coverage.md A12 and O12). Where the
 * documents state no window, one is chosen. It is a second for values that the backend caches for a second, a minute for values that move by the
 * hour. Candles have fifteen seconds as on the other service. Reads that must show what an account just did (`/orders`, `/trades`, balances,
 * allowances) have none. `/positions` has a separate window of a second that ends with the position (positionReads.ts). The Solana feed has a
 * snapshot that must not outlive fifteen minutes (pairs.ts).
 */

/** The window of a read. */
export interface CacheWindow {
  /** Milliseconds that an answer to a query holds. */
  readonly ms: (query: URLSearchParams) => number
  /** Parameters that the read looks at; others do not make a new question. */
  readonly names: readonly string[]
}

const window = (ms: number, ...names: string[]): CacheWindow => ({ ms: () => ms, names })

const SECOND = 1000
const MINUTE = 60_000
const HALF_HOUR = 1_800_000

/** Windows of the application API by path. */
export const apiCacheWindows: Readonly<Record<string, CacheWindow>> = {
  '/markets': window(MINUTE),
  '/markets/info': window(SECOND),
  '/markets/config': window(30 * SECOND),
  '/markets/values': window(SECOND),
  '/markets/trading-capacity': window(SECOND, 'symbol', 'direction'),
  '/markets/tickers': window(SECOND, 'addresses', 'symbols'),
  '/risk-oracle/markets': window(MINUTE),
  '/tokens': window(SECOND),
  '/tokens/info': window(SECOND),
  '/pairs': window(MINUTE),
  '/prices/ohlcv': window(15 * SECOND, 'symbol', 'timeframe', 'limit', 'since'),
  '/rates': window(MINUTE, 'period', 'averageBy', 'address'),
  '/apy': window(MINUTE, 'period'),
  '/performance/annualized': window(MINUTE, 'period', 'address'),
  '/performance/snapshots': window(MINUTE, 'period', 'address'),
  '/yield/gm-pools': window(HALF_HOUR, 'period', 'pools', 'includeComponents'),
  '/yield/gm-user-earnings': window(2 * SECOND, 'account'),
  '/stats/summary': window(30 * SECOND, 'networks', 'versions'),
  '/stats/timeseries': window(30 * SECOND, 'metric', 'groupBy', 'networks', 'versions', 'from', 'to'),
  '/stats/sources': window(30 * SECOND),
  '/staking/power': window(SECOND, 'address'),
  '/buyback/weekly-stats': window(MINUTE),
  '/jit/liquidity_info': window(SECOND),
  '/jit/liquidity_history': window(MINUTE, 'period', 'from', 'to'),
  '/incentives/usdg/boost-apr': window(HALF_HOUR),
  '/whitelists': window(MINUTE, 'address'),
}

/** Windows of the oracle price service by path. `/ping` asks the database each time. */
export const oracleCacheWindows: Readonly<Record<string, CacheWindow>> = {
  '/prices/tickers': window(300),
  '/signed_prices/latest': window(SECOND),
  '/prices/candles': {
    ms: (query) => (['1m', '5m'].includes(query.get('period') ?? '') ? 15 * SECOND : MINUTE),
    names: ['tokenSymbol', 'period', 'limit'],
  },
  '/tokens': window(SECOND),
  '/tokens/info': window(SECOND),
  '/markets': window(10 * SECOND),
  '/markets/info': window(10 * SECOND),
  '/markets/state': window(5 * SECOND),
  '/rates': window(MINUTE, 'period', 'averageBy', 'address'),
  '/apy': window(MINUTE, 'period'),
  '/performance/annualized': window(MINUTE, 'period', 'address'),
  '/performance/snapshots': window(MINUTE, 'period', 'address'),
}

/** Windows of the hosts beside the two services, by path pattern. */
export const otherCacheWindows: Readonly<Record<string, CacheWindow>> = {
  '/pairs/api/:chain/pairs': window(MINUTE),
  '/api/:host{[0-1]}/v2/jit/liquidity_info': window(SECOND),
}

/** Parameters whose values are addresses: the same in any case. */
const addressNames = new Set(['address', 'addresses', 'account', 'pools'])

/** Returns the key of a request: its path and the parameters that count, in one form. */
export function questionOf(path: string, query: URLSearchParams, names: readonly string[]): string {
  if (names.length === 0 || query.size === 0) return path
  let question = path
  for (const name of names) {
    const values = query.getAll(name)
    if (values.length === 0) continue
    const shown = addressNames.has(name) ? values.map((value) => value.toLowerCase()) : values
    question += `&${name}=${JSON.stringify(shown)}`
  }
  return question
}
