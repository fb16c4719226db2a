/** Bodies that a broken or hostile venue may send: every decoder answers with a DecodeError or with what the body says. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { getOrders, getPositions, getPositionsWithOrders, getTrades } from '../../src/api/account.ts'
import { getWithdrawalStatus, prepareDeposit, prepareWithdrawal } from '../../src/api/accountTransfers.ts'
import { prepareClassicCancel } from '../../src/api/classicOrders.ts'
import { DecodeError, RefusedError } from '../../src/api/errors.ts'
import { getApy, getPerformanceAnnualized, getPerformanceSnapshots, getRates } from '../../src/api/history.ts'
import { getJitHistory, getJitLiquidity } from '../../src/api/jit.ts'
import { getMarketsConfig, getMarketsInfo, getMarketsValues } from '../../src/api/marketInfo.ts'
import { getMarkets, getMarketTickers, getTradingCapacity } from '../../src/api/markets.ts'
import { getOhlcv } from '../../src/api/ohlcv.ts'
import { getCandles, getMarketsState, getOracleTokens, getPrices, ping } from '../../src/api/oracle.ts'
import { getOracleMarkets, getOracleMarketsInfo, getSignedPrices } from '../../src/api/oracleMarkets.ts'
import { prepareCancel, prepareEdit } from '../../src/api/orderChanges.ts'
import { getOrderStatus, prepareOrder, submitOrder } from '../../src/api/orders.ts'
import { getRelayStatus, submitRelay } from '../../src/api/relay.ts'
import { getStatsSources, getStatsSummary, getStatsTimeseries } from '../../src/api/stats.ts'
import { getSubaccountStatus, prepareSubaccountApproval } from '../../src/api/subaccounts.ts'
import { getPairs, getRiskOracleMarkets, getTokensInfo } from '../../src/api/tokens.ts'
import type { Transport } from '../../src/api/transport.ts'
import { getAllowances, getBuybackStats, getStakingPower, getWalletBalances } from '../../src/api/wallet.ts'
import { getGmPools, getGmUserEarnings } from '../../src/api/yield.ts'
import { failureOf, fixtureText, transportAnswering } from './support.ts'
import { wireFields } from './wireFields.ts'

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
  'relay-status': (transport) => getRelayStatus(transport, { taskId: 'x' }, once),
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

const names = Object.keys(routes)

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

function bodyOf(name: string): string {
  return fixtureText(sharedBodies[name] ?? name)
}

function ask(name: string, body: unknown): Promise<{ readonly value: unknown }> {
  const route = routes[name]
  if (route === undefined) throw new Error(`no route ${name}`)
  return route(transportAnswering(body))
}

type Path = readonly (string | number)[]

/** Paths of all values below a body, containers too. */
function pathsOf(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at]
  const inner = Object.entries(value).flatMap(([key, each]) =>
    pathsOf(each, [...at, Array.isArray(value) ? Number(key) : key]),
  )
  return [at, ...inner]
}

function valueAt(body: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<string | number, unknown>)[key], body)
}

function withValue(body: unknown, path: Path, value: unknown): unknown {
  if (path.length === 0) return value
  const copy = structuredClone(body)
  const parent = valueAt(copy, path.slice(0, -1)) as Record<string | number, unknown>
  const key = path.at(-1) ?? ''
  if (value === undefined) delete parent[key]
  else parent[key] = value
  return copy
}

const poisons = fc.oneof(
  fc.constantFrom<unknown>(
    undefined,
    null,
    true,
    '',
    '-1',
    '1.5',
    '1e30',
    '0x1',
    ' 1',
    '01',
    'NaN',
    '1'.repeat(80),
    -1,
    1.5,
    2 ** 60,
    [],
    {},
    [null],
    '__proto__',
    '0xzz',
  ),
  fc.json().map((text) => JSON.parse(text) as unknown),
)

test.each(names)(
  '%s: one poisoned value is an error that names it, or changes nothing else',
  async (name) => {
    const body = JSON.parse(bodyOf(name)) as unknown
    const paths = pathsOf(body)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), poisons, async (path, poison) => {
        const result = await ask(name, withValue(body, path, poison)).then(
          ({ value }) => ({ value }),
          (error: unknown) => ({ error }),
        )
        if ('error' in result) expect(result.error).toBeInstanceOf(DecodeError)
      }),
      { seed: 20261120, numRuns: 400 },
    )
  },
)

test.each(names)('%s: arbitrary JSON is an error or a value, never a crash', async (name) => {
  await fc.assert(
    fc.asyncProperty(fc.json(), async (text) => {
      const error = await ask(name, text).then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      if (error !== undefined) expect(error).toBeInstanceOf(DecodeError)
    }),
    { seed: 20261120, numRuns: 150 },
  )
})

const amountFields =
  /^(?:size|collateral|remaining|min|max|mark|median|entry|liquidation|pnl|net|position(?:Value|Fee)|available|base|jit|long|short|funding|borrowing|initial|trigger|acceptable|execution|callback|validFrom|feeAmount|userNonce|deadline|desChainId|leverage$|balance|allowance|cumulative|total|current|treasury|weekly|lifetime|recent|open|pool|rates|virtual|volume|fees|revenue|tvl|byNetwork|byVersion|arbitrum|v2|value|openInterest|high|low|close|nonce|composeGas|nativeFee|relayerFee|gasPaymentTokenAmount|marketTokenAmount|approvalNonce|multichain)/

test.each(names)('%s: no amount survives as a float, an exponent or a fraction', async (name) => {
  const body = JSON.parse(bodyOf(name)) as unknown
  // The echo is opaque; unread fields of rows pass by. What is read must be refused.
  const amounts = pathsOf(body).filter(
    (path) =>
      amountFields.test(String(path.at(-1))) &&
      /^-?\d+$/.test(String(valueAt(body, path))) &&
      typeof valueAt(body, path) === 'string',
  )
  const honest = (await ask(name, body)).value
  for (const path of amounts) {
    for (const poison of ['1.5', '1e30', 1.5, 1e30, true, '0x10']) {
      const result = await ask(name, withValue(body, path, poison)).catch((error: unknown) => error)
      if (result instanceof DecodeError) continue
      // The field is not read: the value must not have changed, but for the echo, which is verbatim.
      const { echo: _echo, ...read } = (result as { value: Record<string, unknown> }).value
      const { echo: _honest, ...wanted } = honest as Record<string, unknown>
      expect({ path, ...read }).toEqual({ path, ...wanted })
    }
  }
})

test.each([
  ['oracle-tickers', '[]', 'the body is an empty list'],
  ['markets', '[]', 'the body is an empty list'],
  ['markets-tickers', '{"message":"ok"}', 'the body is not a list'],
  ['oracle-candles', '{"candles":[[1800000000,1,2,3,1]]}', 'candles[0][2] is a high below the low'],
  ['oracle-candles', '{"candles":[[1800000000,1,null,1,1]]}', 'candles[0][2] is not a finite number'],
  ['oracle-candles', '{"candles":[[1800000000,1,1,0,1]]}', 'candles[0][3] is not a positive price'],
  [
    'trading-capacity',
    '{"availableLiquidity":"1"}',
    'baseAvailableLiquidity is not an unsigned whole number',
  ],
  ['trades', '{"trades":[],"nextCursor":null}', 'hasMore is not true or false'],
  ['submit', '{"requestId":"6f1c-0a7e"}', 'status is not a text with content'],
  ['relay-submit', '{"status":"pending"}', 'taskId is not a text with content'],
] as const)('%s: %s is refused in words', async (name, body, words) => {
  const error = await failureOf(ask(name, body))
  expect(error).toBeInstanceOf(DecodeError)
  expect((error as DecodeError).shortMessage).toContain(words)
})

test('a median outside min and max, and a minimum above the maximum, are refused', async () => {
  const tickers = JSON.parse(fixtureText('oracle-tickers')) as unknown
  expect(await failureOf(ask('oracle-tickers', withValue(tickers, [0, 'medianPrice'], '1')))).toMatchObject({
    path: '[0].medianPrice',
  })
  const market = JSON.parse(fixtureText('markets-tickers')) as unknown
  expect(
    await failureOf(ask('markets-tickers', withValue(market, [1, 'minPrice'], `9${'0'.repeat(34)}`))),
  ).toMatchObject({ path: '[1].minPrice' })
})

test.each(wireFields)(
  '$fixture $at: every field of the wire is read',
  async ({ fixture, at, names: fields }) => {
    const body = JSON.parse(bodyOf(fixture)) as unknown
    const unread: string[] = []
    for (const field of fields) {
      // No field is a word inside a list inside a list; so what is read must be refused.
      const error = await ask(fixture, withValue(body, [...at, field], [['poison']])).catch(
        (thrown: unknown) => thrown,
      )
      const isNamed = error instanceof DecodeError && error.path.split(/[.[]/).includes(field)
      if (!isNamed) unread.push(field)
    }
    expect(unread).toEqual([])
  },
)

test('every decoder has its fields listed', () => {
  const listed = new Set(wireFields.map(({ fixture }) => fixture))
  const bare = ['oracle-ping', 'oracle-candles', 'oracle-markets-state', 'risk-oracle-markets', 'apy']
  const alike = ['positions', 'edit-prepare', 'cancel-prepare', 'classic-prepare']
  expect(names.filter((name) => !listed.has(name)).sort()).toEqual([...bare, ...alike].sort())
})
