/** Orders that rest and change, and the reads around them, over the paper venue: two readings of the wire that check each other. */
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, createApi } from '../../src/api/client.ts'
import { ageOfEarnings, ageOfMarketValues, ageOfOraclePrice } from '../../src/api/freshness.ts'
import { createNodeFetch } from '../../src/api/nodeFetch.ts'
import type { Prepared } from '../../src/api/orders.ts'
import { doubtsOf } from '../../src/api/priceSanity.ts'
import { chains } from '../../src/chains/index.ts'
import { digestOf, domainSeparator } from '../../src/chains/relayRouter.ts'
import { hexKey } from '../../src/domain/address.ts'
import { ONE_USD } from '../../src/domain/units.ts'
import { type ServedVenue, serveVenue } from '../../src/paper/serve.ts'
import { createVenue } from '../../src/paper/venue.ts'
import { realClock } from './support.ts'

const chain = chains.arbitrum
const signer = privateKeyToAccount(`0x${'6b'.repeat(32)}`)
const account = signer.address
const symbol = 'ETH/USD [WETH-USDC]'
const fresh = { isFresh: true }
const nodeFetch = createNodeFetch()
let served: ServedVenue
let api: Api

beforeAll(async () => {
  const venue = createVenue({ clock: realClock, chain, settings: { keeperDelayMs: 50 } })
  served = await serveVenue(venue, { hostname: '127.0.0.1', port: 0, tickMs: 20 })
  api = createApi({
    chain,
    hosts: { api: served.api, oracle: served.oracle },
    fetch: nodeFetch.fetch,
    clock: realClock,
    random: Math.random,
    limits: { requestsPerSecondPerHost: Number.POSITIVE_INFINITY },
  })
})
afterAll(async () => {
  nodeFetch.close()
  await served.close()
})

/** Signs and hands in what was prepared, and follows it to one of these statuses. */
async function carryOut(prepared: Prepared, until: readonly string[]) {
  const { batch, domain } = prepared.typedData
  const hash = digestOf(domainSeparator(domain.chainId, domain.verifyingContract), batch)
  const signature = await signer.sign({ hash })
  await api.submitOrder(prepared, { from: account, signature, echo: prepared.echo })
  const deadlineMs = realClock.now() + 10_000
  let status = await api.getOrderStatus(prepared)
  while (!until.includes(status.value.status) && realClock.now() < deadlineMs) {
    await realClock.sleep(20)
    status = await api.getOrderStatus(prepared)
  }
  expect(until).toContain(status.value.status)
  return status.value
}

const increase = {
  kind: 'increase',
  from: account,
  symbol,
  direction: 'long',
  sizeDeltaUsd: 200n * ONE_USD,
  slippageBps: 300,
  collateralToken: 'USDC',
  collateralToPay: { amount: 100_000_000n, token: 'USDC' },
} as const

test('a resting order is edited and cancelled through the clients alone', async () => {
  const [ticker] = (await api.getMarketTickers({ symbols: [symbol] })).value
  const half = (ticker?.markPrice ?? 0n) / 2n
  const resting = await api.prepareOrder({ ...increase, orderType: 'limit', triggerPrice: half })
  const { orderKeys } = await carryOut(resting.value, ['created'])
  const [orderKey] = orderKeys
  if (orderKey === undefined) throw new Error('no order key')
  const [before] = (await api.getOrders({ account }, fresh)).value
  expect(before).toMatchObject({ orderKey, orderType: 3, sizeDeltaUsd: 200n * ONE_USD, isFrozen: false })

  const edit = await api.prepareEdit({ from: account, orderKeys: [orderKey], newSizeUsd: 150n * ONE_USD })
  await carryOut(edit.value, ['created', 'executed'])
  await expect
    .poll(async () => (await api.getOrder({ orderKey }, fresh)).value.sizeDeltaUsd)
    .toBe(150n * ONE_USD)

  const cancel = await api.prepareCancel({ from: account, all: true })
  expect(cancel.value.typedData.batch.cancelOrderKeys.map(hexKey)).toEqual([hexKey(orderKey)])
  await carryOut(cancel.value, ['created', 'executed'])
  await expect.poll(async () => (await api.getOrders({ account }, fresh)).value).toEqual([])
})

test('collateral is put into a position and its related orders are told', async () => {
  const opened = await api.prepareOrder({ ...increase, orderType: 'market' })
  await carryOut(opened.value, ['executed'])
  const [position] = (await api.getPositionsWithOrders({ account }, fresh)).value
  if (position === undefined) throw new Error('no position')
  expect(position.relatedOrders).toEqual([])
  const deposit = await api.prepareCollateral({
    from: account,
    operation: 'deposit',
    positionKey: position.positionKey,
    amount: 25_000_000n,
    slippageBps: 300,
  })
  await carryOut(deposit.value, ['executed'])
  const after = await api.getPosition({ positionKey: position.positionKey }, fresh)
  // Fees that came due meanwhile are paid out of it: a hundredth of a cent at most.
  const grownBy = after.value.collateralAmount - position.collateralAmount
  expect(grownBy).toBeLessThanOrEqual(25_000_000n)
  expect(grownBy).toBeGreaterThan(24_999_900n)
  expect(after.value.sizeInUsd).toBe(position.sizeInUsd)
})

test('a classic order is a transaction to the exchange router', async () => {
  const { value } = await api.prepareClassicOrder({ ...increase, orderType: 'market' })
  expect(hexKey(value.transaction.to)).toBe(hexKey(chain.contracts.exchangeRouter))
  expect(value.transaction.value).toBeGreaterThan(0n)
  expect(value.transaction.data.startsWith('0xac9650d8')).toBe(true)
})

test('trades are found by both forms of the search', async () => {
  const { trades } = (await api.searchTrades({ account, limit: 100 }, fresh)).value
  expect(trades.length).toBeGreaterThan(0)
  expect(new Set(trades.map((trade) => hexKey(trade.account)))).toEqual(new Set([hexKey(account)]))
})

test('records of a live venue are fresh, and its prices raise no doubt', async () => {
  const tokens = (await api.getOracleTokens()).value
  const decimals = new Map(tokens.map((token) => [hexKey(token.address), token.decimals]))
  const prices = (await api.getPrices((token) => decimals.get(hexKey(token)))).value
  expect(doubtsOf(prices, { tokens: (await api.getTokensInfo()).value })).toEqual([])
  for (const price of prices) expect(ageOfOraclePrice(price, realClock)).toBeLessThan(10_000)
  for (const row of (await api.getMarketsValues()).value) {
    expect(ageOfMarketValues(row, realClock)).toBeLessThan(15_000)
  }
  const earnings = (await api.getGmUserEarnings({ account })).value
  expect(ageOfEarnings(earnings, realClock)).toBeLessThan(10_000)
})

test('stats, JIT liquidity, candles and yields of the venue are read whole', async () => {
  const summary = (await api.getStatsSummary()).value
  expect(summary.totalsUsd.get('volume.total')).toBeTypeOf('bigint')
  expect(summary.meta.sources.length).toBeGreaterThan(0)
  expect((await api.getStatsSources()).value.map(({ health }) => health)).not.toContain('unrecognised')
  const days = (await api.getStatsTimeseries({ metric: 'volume.total' })).value
  expect(days).toMatchObject({ unit: 'usd30', meta: { sources: expect.anything() } })
  expect(days.series[0]?.points.length).toBeGreaterThan(0)
  expect((await api.getStatsTimeseries({ metric: 'users.active', groupBy: 'none' })).value.unit).toBe('count')
  const jit = (await api.getJitLiquidity()).value
  expect(jit.length).toBeGreaterThan(0)
  expect((await api.getJitHistory({ period: '1h' })).value.length).toBeGreaterThan(0)
  expect((await api.getOhlcv({ symbol, timeframe: '1h', limit: 5 })).value).toHaveLength(5)
  expect((await api.getGmPools({ period: '7d', includeComponents: true })).value.length).toBeGreaterThan(0)
  expect((await api.getPairs()).value.length).toBeGreaterThan(0)
})
