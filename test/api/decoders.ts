/** Every decoder with a body that it reads, and ways to change one value of a body. */
import {
  getOrders,
  getPositions,
  getPositionsWithOrders,
  getTrades,
} from '../../src/api/accounts/accountReads.ts'
import {
  getWithdrawalStatus,
  prepareDeposit,
  prepareWithdrawal,
} from '../../src/api/accounts/accountTransfers.ts'
import { getSubaccountStatus, prepareSubaccountApproval } from '../../src/api/accounts/subaccounts.ts'
import {
  getAllowances,
  getBuybackStats,
  getStakingPower,
  getWalletBalances,
} from '../../src/api/accounts/wallet.ts'
import { getOhlcv } from '../../src/api/feeds/ohlcv.ts'
import { getCandles, getMarketsState, getOracleTokens, getPrices, ping } from '../../src/api/feeds/oracle.ts'
import { getOracleMarkets, getOracleMarketsInfo, getSignedPrices } from '../../src/api/feeds/oracleMarkets.ts'
import {
  getApy,
  getPerformanceAnnualized,
  getPerformanceSnapshots,
  getRates,
} from '../../src/api/markets/history.ts'
import { getJitHistory, getJitLiquidity } from '../../src/api/markets/jitLiquidity.ts'
import { getMarketsConfig, getMarketsInfo, getMarketsValues } from '../../src/api/markets/marketInfo.ts'
import { getMarkets, getMarketTickers, getTradingCapacity } from '../../src/api/markets/marketReads.ts'
import { getGmPools, getGmUserEarnings } from '../../src/api/markets/poolYields.ts'
import { getStatsSources, getStatsSummary, getStatsTimeseries } from '../../src/api/markets/stats.ts'
import { getPairs, getRiskOracleMarkets, getTokensInfo } from '../../src/api/markets/tokens.ts'
import { prepareClassicCancel } from '../../src/api/orders/classicOrders.ts'
import { getOrderStatus, prepareOrder, submitOrder } from '../../src/api/orders/expressOrders.ts'
import { prepareCancel, prepareEdit } from '../../src/api/orders/orderChanges.ts'
import { getRelayStatus, submitRelay } from '../../src/api/orders/relayRequests.ts'
import { DecodeError, RefusedError } from '../../src/api/transport/apiErrors.ts'
import type { Transport } from '../../src/api/transport/transportTypes.ts'
import type { MissingRow } from '../../src/protocol/missing.ts'
import { fixtureText, transportAnswering } from './support.ts'

const account = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'
const ticket = { host: 'http://one/v1', requestId: '6f1c-0a7e' }
const once = { attempts: 1 }

const routes: Readonly<Record<string, (transport: Transport) => Promise<{ readonly value: unknown }>>> = {
  'oracle-ping': (transport) => ping(transport, once),
  'oracle-tickers': (transport) => getPrices(transport, () => 18, once),
  'oracle-candles': (transport) =>
    getCandles(transport, { tokenSymbol: 'ETH', period: '5m', limit: 9 }, once),
  'oracle-tokens': (transport) => getOracleTokens(transport, once),
  'oracle-markets-state': (transport) => getMarketsState(transport, once),
  markets: (transport) => getMarkets(transport, once),
  'markets-tickers': (transport) => getMarketTickers(transport, {}, once),
  'trading-capacity': (transport) => getTradingCapacity(transport, { symbol: 'x', direction: 'long' }, once),
  'tokens-info': (transport) => getTokensInfo(transport, once),
  'positions-with-orders': (transport) => getPositionsWithOrders(transport, { account }, once),
  positions: (transport) => getPositions(transport, { account }, once),
  orders: (transport) => getOrders(transport, { account }, once),
  trades: (transport) => getTrades(transport, { account }, once),
  prepare: (transport) =>
    prepareOrder(
      transport,
      {
        kind: 'decrease',
        orderType: 'market',
        from: account,
        symbol: 'x',
        direction: 'long',
        sizeDeltaUsd: 1n,
        slippageBps: 1,
        collateralToken: 'USDC',
        keepLeverage: false,
      },
      once,
    ),
  submit: (transport) =>
    submitOrder(transport, ticket, {
      from: account,
      signature: '0x',
      echo: { batchParams: {}, relayParams: {} },
    }),
  status: (transport) => getOrderStatus(transport, ticket, once),
  'relay-submit': (transport) => submitRelay(transport, { to: account, data: '0x' }),
  'balances-wallet': (transport) => getWalletBalances(transport, { account }, once),
  allowances: (transport) => getAllowances(transport, { account, spender: 'router' }, once),
  'staking-power': (transport) => getStakingPower(transport, { account }, once),
  buyback: (transport) => getBuybackStats(transport, once),
  rates: (transport) => getRates(transport, { period: '7d', averageBy: '1d' }, once),
  apy: (transport) => getApy(transport, { period: '7d' }, once),
  'performance-annualized': (transport) => getPerformanceAnnualized(transport, { period: '90d' }, once),
  'performance-snapshots': (transport) => getPerformanceSnapshots(transport, { period: '90d' }, once),
  'gm-pools': (transport) => getGmPools(transport, { period: '7d' }, once),
  'gm-user-earnings': (transport) => getGmUserEarnings(transport, { account }, once),
  'oracle-markets': (transport) => getOracleMarkets(transport, once),
  'oracle-markets-info': (transport) => getOracleMarketsInfo(transport, once),
  'signed-prices': (transport) => getSignedPrices(transport, once),
  'markets-config': (transport) => getMarketsConfig(transport, once),
  'markets-values': (transport) => getMarketsValues(transport, once),
  'markets-info': (transport) => getMarketsInfo(transport, once),
  pairs: (transport) => getPairs(transport, once),
  'risk-oracle-markets': (transport) => getRiskOracleMarkets(transport, once),
  'relay-status': (transport) => getRelayStatus(transport, { taskId: `0x${'7a'.repeat(32)}` }, once),
  'stats-summary': (transport) => getStatsSummary(transport, {}, once),
  'stats-timeseries': (transport) => getStatsTimeseries(transport, { metric: 'volume.total' }, once),
  'stats-sources': (transport) => getStatsSources(transport, once),
  'jit-info': (transport) => getJitLiquidity(transport, once),
  // The first version is gone there, so that the second answers.
  'jit-info-v2': (transport) => getJitLiquidity({ ...transport, call: withoutFirstVersion(transport) }, once),
  'jit-history': (transport) => getJitHistory(transport, { period: '1h' }, once),
  ohlcv: (transport) => getOhlcv(transport, { symbol: 'x', timeframe: '5m', limit: 2 }, once),
  'subaccount-status': (transport) =>
    getSubaccountStatus(transport, { account, subaccountAddress: account }, once),
  'subaccount-approval': (transport) =>
    prepareSubaccountApproval(
      transport,
      {
        account,
        subaccountAddress: account,
        shouldAdd: true,
        expiresAtSeconds: 1,
        maxAllowedCount: 1n,
      },
      once,
    ),
  'edit-prepare': (transport) =>
    prepareEdit(transport, { from: account, orderKeys: [`0x${'0b'.repeat(32)}`], newSizeUsd: 1n }, once),
  'cancel-prepare': (transport) => prepareCancel(transport, { from: account, all: true }, once),
  'classic-prepare': (transport) => prepareClassicCancel(transport, { from: account, all: true }, once),
  'deposit-prepare': (transport) =>
    prepareDeposit(transport, { srcChainId: 8453, account, amount: 1n, token: { symbol: 'USDC' } }, once),
  'withdraw-prepare': (transport) =>
    prepareWithdrawal(
      transport,
      {
        srcChainId: 8453,
        account,
        bridgeOutParams: { token: account, amount: 1n, minAmountOut: 1n, provider: account, data: '0x' },
      },
      once,
    ),
  'withdraw-status': (transport) =>
    getWithdrawalStatus(transport, { host: 'http://one/v1', requestId: 'wd-1a' }, once),
}

export const names = Object.keys(routes)

/** Reads by a route over a transport of the test's own. */
export function readOf(name: string, transport: Transport): Promise<{ readonly value: unknown }> {
  const route = routes[name]
  if (route === undefined) throw new Error(`no route ${name}`)
  return route(transport)
}

function withoutFirstVersion(transport: Transport): Transport['call'] {
  return (route, input, options) => {
    if (route.version === 'v2') return transport.call(route, input, options)
    const { path, method, kind } = route
    return Promise.reject(
      new RefusedError({ route: path, method, kind, host: '', status: 404, isOwnBody: true }),
    )
  }
}

/** Routes that have the body of another. */
const sharedBodies: Readonly<Record<string, string>> = {
  'markets-config': 'markets-info',
  'markets-values': 'markets-info',
  'positions-with-orders': 'positions',
}

export function bodyOf(name: string): string {
  return fixtureText(sharedBodies[name] ?? name)
}

/** Reads a body by a route. A row that cannot be read is told as the error that it is to that row. */
export async function ask(name: string, body: unknown): Promise<{ readonly value: unknown }> {
  const read: { readonly value: unknown; readonly missing?: readonly MissingRow[] } = await readOf(
    name,
    transportAnswering(body),
  )
  const [row] = read.missing ?? []
  if (row === undefined) return read
  const [path = '', ...problem] = row.problem.split(' ')
  const place = { route: name, method: 'GET', kind: 'read', host: 'http://one' } as const
  throw new DecodeError({ ...place, path, problem: problem.join(' '), value: undefined })
}

export type Path = readonly (string | number)[]

/** Paths of all values below a body, containers too. */
export function pathsOf(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at]
  const inner = Object.entries(value).flatMap(([key, each]) =>
    pathsOf(each, [...at, Array.isArray(value) ? Number(key) : key]),
  )
  return [at, ...inner]
}

export function valueAt(body: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<string | number, unknown>)[key], body)
}

export function withValue(body: unknown, path: Path, value: unknown): unknown {
  if (path.length === 0) return value
  const copy = structuredClone(body)
  const parent = valueAt(copy, path.slice(0, -1)) as Record<string | number, unknown>
  const key = path.at(-1) ?? ''
  if (value === undefined) delete parent[key]
  else parent[key] = value
  return copy
}
