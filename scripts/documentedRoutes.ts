/** The routes of the two API documents and of the venue's public clients, with the section that says them; a test compares them with src/api. */
import type { Service } from '../src/api/transport/hosts.ts'

/** One route as the documents have it. */
export interface DocumentedRoute {
  readonly service: Service
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Document and section. */
  readonly section: string
  /** The documented cache window, ms; `varies` for candles; absent where the documents state none. */
  readonly cacheMs?: number | 'varies'
  readonly note?: string
}

type Row = readonly [path: string, cacheMs?: number | 'varies' | undefined, note?: string]

function rows(
  service: Service,
  method: DocumentedRoute['method'],
  section: string,
  routes: readonly Row[],
): readonly DocumentedRoute[] {
  return routes.map(([path, cacheMs, note]) => ({
    service,
    method,
    path,
    section,
    ...(cacheMs === undefined ? {} : { cacheMs }),
    ...(note === undefined ? {} : { note }),
  }))
}

const unstated = undefined
/** No public source shows the form; docs/reference/unverified.md has the list of all of them. */
const unverified = 'unverified'

/** Every documented route, in the documents' order. */
export const documentedRoutes: readonly DocumentedRoute[] = [
  ...rows('oracle', 'GET', 'oracle: Endpoints', [
    ['/ping'],
    ['/prices/tickers', 300],
    ['/signed_prices/latest', 1_000],
    ['/prices/candles', 'varies'],
    ['/tokens'],
    ['/markets', 10_000],
    ['/markets/info', 10_000, 'unverified; units of rates, not to trade on'],
    ['/markets/state', 5_000, unverified],
    ['/rates'],
    ['/apy'],
    ['/performance/annualized'],
    ['/performance/snapshots'],
    ['/tokens/info'],
  ]),
  ...rows('api', 'GET', 'application: Market reads', [
    ['/markets', 60_000],
    ['/markets/info', 1_000],
    ['/markets/config', 30_000],
    ['/markets/values', 1_000],
    ['/markets/trading-capacity', 1_000],
    ['/markets/tickers', unstated, 'the legacy liquidity stops at the decoder'],
    ['/risk-oracle/markets', 60_000, 'unverified; any other form as it came'],
  ]),
  ...rows('api', 'GET', 'application: Rates, yield, earnings', [
    ['/rates'],
    ['/apy'],
    ['/performance/annualized'],
    ['/performance/snapshots'],
    ['/yield/gm-pools', 1_800_000],
    ['/yield/gm-user-earnings', 2_000, unverified],
  ]),
  ...rows('api', 'GET', 'application: Stats', [
    ['/stats/summary', 30_000, unverified],
    ['/stats/timeseries', 30_000, unverified],
    ['/stats/sources', 30_000, unverified],
  ]),
  ...rows('api', 'GET', 'application: Positions, orders, trades', [
    ['/positions', 1_000],
    ['/positions/{key}', 1_000, unverified],
    ['/orders'],
    ['/orders/{key}', unstated, unverified],
    ['/trades'],
    ['/trades/search', unstated, 'where a deployment has no POST there'],
  ]),
  ...rows('api', 'POST', 'application: Positions, orders, trades', [
    ['/trades/search', unstated, 'a POST on the wire; changes nothing'],
  ]),
  ...rows('api', 'GET', 'application: Pair feeds', [['/pairs'], ['/pairs/solana', 60_000]]),
  ...rows('solanaFeed', 'GET', 'application: Pair feeds', [['/v1/pairs', 60_000]]),
  ...rows('pairFeed', 'GET', 'application: Pair feeds', [
    ['/api/{chain}/pairs', unstated, 'unverified; read as `/pairs`'],
  ]),
  ...rows('api', 'GET', 'application: Other reads', [
    ['/incentives/usdg/boost-apr', 1_800_000, 'unverified; any other form as it came'],
    ['/whitelists', 60_000, 'unverified; any other form as it came'],
  ]),
  ...rows('api', 'GET', 'application: Other reads', [
    ['/tokens'],
    ['/tokens/info', 1_000],
    ['/balances/wallet'],
    ['/allowances'],
  ]),
  ...rows('api', 'GET', 'application: Other reads', [
    ['/prices/ohlcv', unstated, 'unverified; units, prefer the oracle’s candles'],
  ]),
  ...rows('api', 'GET', 'application: Other reads', [
    ['/jit/liquidity_info'],
    ['/v2/jit/liquidity_info', unstated, 'where the first version is gone'],
    ['/jit/liquidity_history', unstated, unverified],
    ['/staking/power'],
    ['/buyback/weekly-stats'],
  ]),
  ...rows('api', 'POST', 'application: Order transactions and relay', [['/orders/txns/prepare']]),
  ...rows('api', 'POST', 'application: Order transactions and relay', [
    ['/orders/txns/submit', unstated, 'one POST, to the host that prepared'],
    ['/orders/txns/status', unstated, 'the host that prepared, no other'],
  ]),
  ...rows('api', 'POST', 'application: Order transactions and relay', [
    ['/orders/txns/edit/prepare'],
    ['/orders/txns/cancel/prepare'],
    ['/orders/txns/collateral/prepare'],
  ]),
  ...rows('api', 'POST', 'application: Order transactions and relay', [
    ['/relay/submit', unstated, 'one POST, to any host'],
    ['/relay/status', unstated, 'any host'],
  ]),
  ...rows('api', 'POST', 'application: Subaccounts', [
    ['/subaccounts/status', unstated, 'changes nothing'],
    ['/subaccounts/approval/prepare'],
  ]),
  ...rows('api', 'POST', 'application: Order transactions and relay', [
    ['/gmx-account/deposit/cross-chain/prepare'],
    ['/gmx-account/withdraw/cross-chain/prepare'],
    ['/gmx-account/withdraw/cross-chain/submit', unstated, 'one POST, to the host that prepared'],
    ['/gmx-account/withdraw/cross-chain/status', unstated, 'the host that prepared, no other'],
  ]),
]
