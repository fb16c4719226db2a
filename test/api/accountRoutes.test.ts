/** Account reads beyond the plain lists: related orders, the search of trades and its older form. */
import { expect, test } from 'vitest'
import {
  getPositionsWithOrders,
  getPositionWithOrders,
  getTrades,
  searchTrades,
} from '../../src/api/accounts/accountReads.ts'
import { position } from '../../src/api/rows/accountRows.ts'
import { RefusedError } from '../../src/api/transport/apiErrors.ts'
import { failureOf, fixtureText, type Reply, scriptedTransport } from './support.ts'

const account = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'

test('positions carry their related orders only when these are asked for', async () => {
  const [plain] = JSON.parse(fixtureText('positions')) as object[]
  const row = { ...plain, relatedOrders: JSON.parse(fixtureText('orders')) }
  const { transport, seen } = scriptedTransport(({ url }) => ({
    body: url.includes('/positions/') ? row : [row, plain],
  }))
  const { value } = await getPositionsWithOrders(transport, { account })
  expect(value.map(({ relatedOrders }) => relatedOrders.map(({ orderType }) => orderType))).toEqual([[5], []])
  const one = await getPositionWithOrders(transport, { positionKey: 'k' })
  expect(one.value.relatedOrders[0]).toMatchObject({ isFrozen: true, autoCancel: true })
  expect(seen.map(({ url }) => url)).toEqual([
    `http://one/v1/positions?address=${account}&includeRelatedOrders=true`,
    'http://two/v1/positions/k?includeRelatedOrders=true',
  ])
})

test('the value of a position is digits with 30 decimals, or dollars with a point, and no other text', () => {
  const [row] = JSON.parse(fixtureText('positions')) as object[]
  const readValue = (positionValueInUsd: string) =>
    position({ ...row, positionValueInUsd }).positionValueInUsd
  expect(readValue('98123456789012345678901234567890')).toBe(98123456789012345678901234567890n)
  expect(readValue('98.12')).toBe(9_812n * 10n ** 28n)
  expect(readValue('-0.000000000000000000000000000001')).toBe(-1n)
  for (const bad of ['1.', '.5', '1e3', '1.5.5', ' 1.5', `1.${'0'.repeat(31)}`, `${'9'.repeat(49)}.0`])
    expect(() => readValue(bad), bad).toThrow('positionValueInUsd')
})

const query = { account, fromSeconds: 1, toSeconds: 2, limit: 50, cursor: 'next' } as const

test('where the search of trades has no POST, the GET of the document is asked', async () => {
  for (const status of [404, 405]) {
    const { transport, seen } = scriptedTransport(
      ({ method }): Reply =>
        method === 'POST' ? { status, body: '<pre>Cannot POST</pre>' } : { body: fixtureText('trades') },
    )
    expect((await searchTrades(transport, query)).value.trades).toHaveLength(2)
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST http://one/v1/trades/search',
      `GET http://two/v1/trades/search?address=${account}&fromTimestamp=1&toTimestamp=2&limit=50&cursor=next`,
    ])
  }
})

test('trades are asked by market, symbol, events and time, each under its wire name', async () => {
  const { transport, seen } = scriptedTransport(() => ({ body: fixtureText('trades') }))
  await getTrades(transport, {
    account,
    symbol: 'ETH/USD [WETH-USDC]',
    eventNames: ['OrderExecuted', 'OrderCancelled'],
    sinceSeconds: 1,
    untilSeconds: 2,
  })
  expect(seen[0]?.url).toBe(
    `http://one/v1/trades?address=${account}&symbol=ETH%2FUSD%20%5BWETH-USDC%5D&since=1&until=2&actions=OrderExecuted&actions=OrderCancelled`,
  )
})

test('a search of all accounts names none, and has no GET', async () => {
  const { transport, seen } = scriptedTransport(() => ({ body: fixtureText('trades') }))
  await searchTrades(transport, { forAllAccounts: true, limit: 5 })
  expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ forAllAccounts: true, limit: 5 })
  const gone = scriptedTransport(() => ({ status: 405 }))
  expect(await failureOf(searchTrades(gone.transport, { forAllAccounts: true }))).toBeInstanceOf(RefusedError)
  expect(gone.seen).toHaveLength(1)
})

test('a search that the GET cannot say is not asked as one: its answer would hold other trades', async () => {
  const filters = [
    { marketsDirections: [{ marketToken: 'any', direction: 'long' }] },
    { orderEventCombinations: [{ eventName: 'OrderExecuted' }] },
  ] as const
  for (const filter of filters) {
    const { transport, seen } = scriptedTransport(() => ({ status: 405 }))
    expect(await failureOf(searchTrades(transport, { account, ...filter }))).toBeInstanceOf(RefusedError)
    expect(seen).toHaveLength(1)
  }
  // That it leaves rows out where it does not know the word is no answer with others.
  const plain = scriptedTransport((seen) =>
    seen.method === 'POST' ? { status: 405 } : { body: fixtureText('trades') },
  )
  await searchTrades(plain.transport, { account, showDebugValues: true })
  expect(plain.seen.at(-1)?.url).toMatch(/\/trades\/search\?address=0x\w+&showDebugValues=true$/)
  const refused = scriptedTransport(() => ({ status: 400, body: { message: 'no' } }))
  expect(await failureOf(searchTrades(refused.transport, query))).toMatchObject({ status: 400 })
  expect(refused.seen).toHaveLength(1)
})
