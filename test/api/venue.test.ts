/** Orders that rest and change, and the reads around them, over the paper venue: two readings of the wire that check each other. */
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Api } from '../../src/api/client.ts'
import { ageOfEarnings, ageOfMarketValues, ageOfOraclePrice } from '../../src/api/freshness.ts'
import { doubtsOf } from '../../src/api/priceSanity.ts'
import { hexKey } from '../../src/protocol/address.ts'
import { ONE_USD } from '../../src/protocol/units.ts'
import { realClock } from './support.ts'
import { carryOut, chain, startClients } from './venueSupport.ts'

const signer = privateKeyToAccount(`0x${'6b'.repeat(32)}`)
const account = signer.address
const symbol = 'ETH/USD [WETH-USDC]'
const fresh = { isFresh: true }
const owner = { signer, from: account }
let clients: Awaited<ReturnType<typeof startClients>>
let api: Api

beforeAll(async () => {
  clients = await startClients()
  api = clients.api
})
afterAll(() => clients.close())

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
  const { orderKeys } = await carryOut(api, resting.value, owner, ['created'])
  const [orderKey] = orderKeys
  if (orderKey === undefined) throw new Error('no order key')
  const [before] = (await api.getOrders({ account }, fresh)).value
  expect(before).toMatchObject({ orderKey, orderType: 3, sizeDeltaUsd: 200n * ONE_USD, isFrozen: false })

  const edit = await api.prepareEdit({ from: account, orderKeys: [orderKey], newSizeUsd: 150n * ONE_USD })
  await carryOut(api, edit.value, owner, ['created', 'executed'])
  await expect
    .poll(async () => (await api.getOrder({ orderKey }, fresh)).value.sizeDeltaUsd)
    .toBe(150n * ONE_USD)

  const cancel = await api.prepareCancel({ from: account, all: true })
  expect(cancel.value.typedData.batch.cancelOrderKeys.map(hexKey)).toEqual([hexKey(orderKey)])
  await carryOut(api, cancel.value, owner, ['created', 'executed'])
  await expect.poll(async () => (await api.getOrders({ account }, fresh)).value).toEqual([])
})

test('collateral is put into a position and its related orders are told', async () => {
  const opened = await api.prepareOrder({ ...increase, orderType: 'market' })
  await carryOut(api, opened.value, owner, ['executed'])
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
  await carryOut(api, deposit.value, owner, ['executed'])
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
