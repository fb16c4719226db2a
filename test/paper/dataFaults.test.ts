/** States of the data that the documents describe, provoked over real sockets. */
import { expect, test } from 'vitest'
import { type Any, ethMarket, START_MS, startVenue, trader, usd } from './support.ts'

const btcMarket = '0x47c031236e19d024b42f8AE6780E44A573170703'

test('Market values row: updatedAt is null when a refresh never succeeded, and the values are still served', async () => {
  const paper = await startVenue({ faults: { staleValues: [ethMarket] } })
  for (const path of ['/markets/values', '/markets/info']) {
    const rows = (await paper.get(path)).body
    const row = rows.find((one: Any) => one.marketTokenAddress === ethMarket)
    expect(row.updatedAt).toBeNull()
    expect(BigInt(row.longPoolAmount)).toBeGreaterThan(0n)
    expect(rows.filter((one: Any) => one.updatedAt === null)).toHaveLength(1)
  }
  await paper.close()
})

test('Limits: values retained through a total pull failure keep aging', async () => {
  const paper = await startVenue()
  await paper.call('POST', `${paper.control}/faults`, { marketData: 'stale' })
  await paper.get('/markets/values')
  paper.clock.move(16_000)
  const rows = (await paper.get('/markets/values')).body
  expect(new Set(rows.map((row: Any) => row.updatedAt))).toEqual(new Set([START_MS]))
  const marked = (await paper.call('GET', `${paper.control}/staleness`)).body
  expect(marked.stale).toHaveLength(marked.counted)
  await paper.call('POST', `${paper.control}/faults`, { marketData: 'fresh' })
  paper.clock.move(1000)
  expect((await paper.get('/markets/values')).body[0].updatedAt).toBe(START_MS + 15_000)
  await paper.close()
})

test('Market values row: updatedAt is the older of both refreshes, and null when either never succeeded', async () => {
  const paper = await startVenue()
  const set = (faults: object) => paper.call('POST', `${paper.control}/faults`, faults)
  const eth = async (): Promise<Any> => {
    paper.clock.move(1000)
    for (const path of ['/markets/info', '/markets/values'])
      expect(new Set((await paper.get(path)).body.map((row: Any) => row.updatedAt)).size).toBe(1)
    return (await paper.get('/markets/values')).body.find((row: Any) => row.marketTokenAddress === ethMarket)
  }
  // Traded in tokens only where the inventory is asked for: a trade moves it.
  const trade = async () => {
    await paper.trade({ size: usd(10_000), collateralToPay: { amount: '2000000000', token: 'USDC' } })
    paper.clock.move(10_000 - (paper.clock.now() % 5000))
  }
  const first = await eth()
  await set({ virtualInventory: 'stale' })
  await trade()
  const behind = await eth()
  expect(behind.updatedAt).toBe(first.updatedAt)
  expect(behind.virtualInventoryForPositionsInTokens).toBe(first.virtualInventoryForPositionsInTokens)
  expect(behind.longInterestUsd).not.toBe(first.longInterestUsd)
  paper.clock.move(20_000)
  const staleness = async () => (await paper.call('GET', `${paper.control}/staleness`)).body
  expect((await staleness()).stale).toHaveLength((await staleness()).counted)

  // The other one fails too, later: the older of the two is shown, and stays it when the inventory is refreshed again.
  const failedAtMs = paper.clock.now() - (paper.clock.now() % 5000)
  await set({ marketData: 'stale' })
  expect((await eth()).updatedAt).toBe(first.updatedAt)
  await set({ virtualInventory: 'fresh' })
  paper.clock.move(20_000)
  const held = await eth()
  expect(held.updatedAt).toBe(failedAtMs)

  await set({ marketData: 'fresh', virtualInventory: 'never' })
  expect((await eth()).updatedAt).toBeNull()
  await set({ virtualInventory: 'fresh' })
  const fresh = await eth()
  expect(fresh.updatedAt).toBe(paper.clock.now() - (paper.clock.now() % 5000))
  expect(fresh.virtualInventoryForPositionsInTokens).not.toBe(first.virtualInventoryForPositionsInTokens)
  expect((await staleness()).stale).toEqual([])
  await paper.close()
})

test('Limits: disabled markets are excluded from staleness accounting', async () => {
  const paper = await startVenue({ faults: { staleValues: [ethMarket, btcMarket] } })
  const all = (await paper.call('GET', `${paper.control}/staleness`)).body
  expect(new Set(all.stale)).toEqual(new Set([ethMarket, btcMarket]))
  await paper.call('POST', `${paper.control}/faults`, { disabledMarkets: [btcMarket.toLowerCase()] })
  const fewer = (await paper.call('GET', `${paper.control}/staleness`)).body
  expect(fewer).toEqual({ counted: all.counted - 1, stale: [ethMarket] })
  const rows = (await paper.get('/markets/config')).body
  expect(rows.filter((row: Any) => row.isDisabled).map((row: Any) => row.marketTokenAddress)).toEqual([
    btcMarket,
  ])
  await paper.close()
})

test('Position value: a reader revert of one market fails the whole positions list', async () => {
  const paper = await startVenue()
  await paper.trade({})
  await paper.trade({
    symbol: 'BTC/USD [BTC-USDC]',
    size: `${1000n * 10n ** 30n}`,
    collateralToPay: { amount: '200000000', token: 'USDC' },
  })
  expect(await paper.positions()).toHaveLength(2)
  const [first] = await paper.positions()
  await paper.call('POST', `${paper.control}/faults`, { readerReverts: [btcMarket] })
  const failed = await paper.get(`/positions?address=${trader.address}`)
  expect(failed.status).toBe(500)
  expect(failed.body).toEqual({ message: 'Internal Server Error' })
  expect(failed.headers.get('x-trace-id')).toBeTruthy()
  expect((await paper.get(`/positions/${encodeURIComponent(first.key)}`)).status).toBe(200)
  await paper.call('POST', `${paper.control}/faults`, { readerReverts: [] })
  expect(await paper.positions()).toHaveLength(2)
  await paper.close()
})

test('a switch with a value that means nothing is refused, and nothing changes', async () => {
  const paper = await startVenue()
  const set = async (faults: Any) => paper.call('POST', `${paper.control}/faults`, faults)
  expect((await set({ jitData: 'rotten' })).body).toEqual({
    message: 'jitData must be one of available, stale, unavailable',
  })
  expect((await set({ staleValues: ethMarket })).body).toEqual({
    message: 'staleValues must be a list of texts',
  })
  expect((await set({ statsLagSeconds: -1 })).body).toEqual({
    message: 'statsLagSeconds must be a whole number of seconds',
  })
  await paper.close()
})
