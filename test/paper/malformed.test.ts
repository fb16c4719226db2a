/**
 * Strictness: requests of every kind of wrongness to every route, made by fast-check from a fixed seed, in the process. None may get a
 * 5xx or crash; every 4xx has a documented body and a trace. `MALFORMED_RUNS=100000` makes the long run.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createVenue } from '../../src/paper/server/venue.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { type Any, ethMarket, ethSymbol, manualClock, START_MS, trader, usd, usdc } from './support.ts'

const runs = Number(process.env.MALFORMED_RUNS ?? 5000)

const reads = [
  '/markets',
  '/markets/config',
  '/markets/values',
  '/markets/info',
  '/markets/tickers',
  '/markets/trading-capacity',
  '/risk-oracle/markets',
  '/tokens',
  '/tokens/info',
  '/balances/wallet',
  '/allowances',
  '/positions',
  '/orders',
  '/trades',
  '/trades/search',
  '/rates',
  '/apy',
  '/performance/annualized',
  '/performance/snapshots',
  '/yield/gm-pools',
  '/yield/gm-user-earnings',
  '/stats/summary',
  '/stats/timeseries',
  '/stats/sources',
  '/pairs',
  '/prices/ohlcv',
  '/staking/power',
  '/buyback/weekly-stats',
  '/jit/liquidity_info',
  '/jit/liquidity_history',
  '/incentives/usdg/boost-apr',
  '/whitelists',
  '/nothing/here',
]
const oracleReads = [
  '/ping',
  '/prices/tickers',
  '/prices/candles',
  '/tokens',
  '/tokens/info',
  '/markets',
  '/markets/info',
  '/markets/state',
  '/signed_prices/latest',
  '/apy',
]
const writes = [
  '/orders/txns/prepare',
  '/orders/txns/edit/prepare',
  '/orders/txns/cancel/prepare',
  '/orders/txns/collateral/prepare',
  '/orders/txns/submit',
  '/orders/txns/status',
  '/subaccounts/status',
  '/subaccounts/approval/prepare',
  '/gmx-account/deposit/cross-chain/prepare',
  '/gmx-account/withdraw/cross-chain/prepare',
  '/gmx-account/withdraw/cross-chain/submit',
  '/gmx-account/withdraw/cross-chain/status',
  '/relay/submit',
  '/relay/status',
  '/trades/search',
]
const queryNames = [
  'address',
  'account',
  'spender',
  'symbol',
  'symbols',
  'addresses',
  'direction',
  'limit',
  'offset',
  'cursor',
  'since',
  'from',
  'to',
  'fromTimestamp',
  'toTimestamp',
  'timestamp',
  'period',
  'window',
  'pools',
  'markets',
  'metrics',
  'metric',
  'interval',
  'granularity',
  'tokenSymbol',
  'includeRelatedOrders',
  'includeComponents',
  'total_period',
  'average_by',
  'network',
  'version',
  'eventNames',
  'orderTypes',
  'weeks',
]
const prepareBody = {
  kind: 'increase',
  orderType: 'market',
  mode: 'express',
  from: trader.address,
  symbol: ethSymbol,
  direction: 'long',
  size: usd(1000),
  collateralToken: 'USDC',
  collateralToPay: { amount: '200000000', token: 'USDC' },
  twapConfig: { duration: 3600, parts: 4 },
  triggerPrice: usd(1000),
  slippage: 50,
  receiveToken: 'USDC',
  manualSwapPath: [ethMarket],
  tpsl: [{ type: 'take-profit', triggerPrice: usd(9000) }],
  keepLeverage: true,
  referralCode: 'abc',
  executionFeeBuffer: 30,
  gasPaymentToken: 'USDC',
  subaccountAddress: trader.address,
  subaccountApproval: {},
}
const template: Readonly<Record<string, unknown>> = {
  ...prepareBody,
  requestId: 'x',
  signature: `0x${'11'.repeat(65)}`,
  eip712Data: { batchParams: {}, relayParams: {} },
  orderKey: `0x${'00'.repeat(32)}`,
  orderKeys: [`0x${'00'.repeat(32)}`],
  key: `0x${'00'.repeat(32)}`,
  positionKey: `${trader.address}:${ethMarket}:${usdc}:true`,
  operation: 'deposit',
  amount: '1000000',
  token: 'USDC',
  taskId: `0x${'22'.repeat(32)}`,
  to: chains.arbitrum.contracts.gelatoRelayRouter,
  data: '0x01020304',
  account: trader.address,
  address: trader.address,
  subaccount: trader.address,
  maxAllowedCount: 5,
  expiresAt: 2_000_000_000,
  dstChainId: 8453,
  srcChainId: 8453,
  type: 'cancel',
  limit: 10,
  cursor: 'x',
}

const oddText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1e999',
    'NaN',
    'null',
    '__proto__',
    'constructor',
    '[]',
    '{}',
    '0x',
    '9'.repeat(80),
  ),
  fc.constantFrom(
    trader.address,
    ethMarket,
    usdc,
    'ETH',
    'USDC',
    ethSymbol,
    'long',
    'short',
    'true',
    '1d',
    '90d',
    'total',
  ),
  fc.integer().map(String),
  fc.bigInt().map(String),
)
const odd: fc.Arbitrary<unknown> = fc.oneof(
  oddText,
  fc.integer(),
  fc.double(),
  fc.constantFrom(null, true, false, [], {}, [[]], [null], { amount: 1 }, { token: 'ETH', amount: '1' }),
  fc.jsonValue({ maxDepth: 3 }),
)
const body = fc.oneof(
  fc
    .record({
      drop: fc.subarray(Object.keys(template)),
      put: fc.dictionary(fc.constantFrom(...Object.keys(template)), odd),
    })
    .map(({ drop, put }) => {
      const made: Record<string, unknown> = { ...template, ...put }
      for (const name of drop) delete made[name]
      return JSON.stringify(made)
    }),
  fc
    .dictionary(fc.constantFrom(...Object.keys(template)), odd)
    .map((put) => JSON.stringify({ ...prepareBody, ...put })),
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc.string(),
  fc.constantFrom('', '{', '[]', 'null', '"', '{"a":1', '\u0000', '[1,2', '{}'),
)
const query = fc
  .array(fc.tuple(fc.oneof(fc.constantFrom(...queryNames), fc.string()), oddText), { maxLength: 5 })
  .map((pairs) =>
    new URLSearchParams(
      pairs.map(([name, value]) => [name, value.toWellFormed()] as [string, string]),
    ).toString(),
  )
const headers = fc.dictionary(
  fc.constantFrom(
    'accept',
    'content-type',
    'x-trace-id',
    'origin',
    'authorization',
    'range',
    'if-none-match',
  ),
  fc.stringMatching(/^[\x21-\x7e]{0,40}$/),
)
const suffix = fc.oneof(
  { weight: 5, arbitrary: fc.constant('') },
  fc.webPath(),
  fc.string().map((text) => `/${encodeURIComponent(text.toWellFormed())}`),
  fc.constantFrom('/', '//', '/%', '/%zz', '/..', '/%00'),
)
const request = fc.oneof(
  fc.record({
    method: fc.constant('GET'),
    path: fc
      .tuple(
        fc.constantFrom(
          ...reads.map((path) => `/api/0/v1${path}`),
          ...oracleReads.map((path) => `/oracle/0${path}`),
        ),
        suffix,
        query,
      )
      .map(([path, more, text]) => `${path}${more}?${text}`),
    headers,
    body: fc.constant(undefined),
  }),
  fc.record({
    method: fc.constantFrom('POST', 'POST', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'),
    path: fc
      .tuple(
        fc.constantFrom(
          ...writes.map((path) => `/api/1/v1${path}`),
          ...reads.map((path) => `/api/0/v1${path}`),
        ),
        suffix,
      )
      .map(([path, more]) => path + more),
    headers,
    body,
  }),
  fc.record({
    method: fc.constantFrom('GET', 'POST'),
    path: fc.oneof(
      fc.webPath(),
      fc.constantFrom(
        '/api/9/v1/markets',
        '/oracle/7/ping',
        '/api/0/markets',
        '/api/0/v2/jit/liquidity_info',
        '',
      ),
    ),
    headers,
    body: fc.constant(undefined),
  }),
)

test(`${runs} malformed requests get documented 4xx, never a 5xx or a crash`, {
  timeout: 3_600_000,
}, async () => {
  const clock = manualClock()
  const venue = createVenue({ clock, chain: chains.arbitrum, seed: 7 })
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, headers: given, body: text }) => {
      let made: Request
      try {
        made = new Request(`http://127.0.0.1${path.startsWith('/') ? '' : '/'}${path}`, {
          method,
          headers: given,
          ...(text === undefined || method === 'HEAD' ? {} : { body: text }),
        })
      } catch {
        return
      }
      clock.move(1)
      const response = await venue.fetch(made)
      const answered = await response.text()
      const what = `${method} ${path} ${text ?? ''} -> ${response.status} ${answered.slice(0, 300)}`
      expect(response.status < 500, what).toBe(true)
      if (response.status < 400) return
      expect(response.headers.get('x-trace-id'), what).toMatch(/^paper-/)
      expect(response.headers.get('access-control-expose-headers'), what).toBe('X-Trace-Id')
      expect(response.headers.get('content-type'), what).toBe('application/json')
      if (method === 'HEAD') return
      const value: Any = JSON.parse(answered)
      const isDocumented =
        typeof value.message === 'string' ||
        (typeof value.message === 'object' && value.message !== null) ||
        Array.isArray(value.errors)
      expect(isDocumented, what).toBe(true)
    }),
    { numRuns: runs, seed: 20_261_121, endOnFailure: true },
  )
  expect(clock.now()).toBeGreaterThan(START_MS)
})
