/**
 * JIT liquidity and trading capacity over real sockets (docs/reference/api-coverage.md A3, GET /markets/trading-capacity and GET
 * /jit/liquidity_info).
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Any, ethMarket, ethSymbol, START_MS, startVenue } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
beforeAll(async () => {
  paper = await startVenue()
})
afterAll(() => paper.close())

const capacityPath = (direction: string) =>
  `/markets/trading-capacity?symbol=${encodeURIComponent(ethSymbol)}&direction=${direction}`
const ethInfo = (body: Any): Any => body.liquidityInfos.find((row: Any) => row.market === ethMarket)

test('Trading capacity: availableLiquidity is the base plus JIT, the same in tickers, and moves with time', async () => {
  const other = await startVenue()
  const long = (await other.get(capacityPath('long'))).body
  expect(long).toMatchObject({ jitDataStatus: 'available', marketDataStatus: 'fresh' })
  expect(BigInt(long.jitAvailableLiquidity)).toBeGreaterThan(0n)
  expect(BigInt(long.availableLiquidity)).toBe(
    BigInt(long.baseAvailableLiquidity) + BigInt(long.jitAvailableLiquidity),
  )
  const [ticker] = (await other.get(`/markets/tickers?addresses=${ethMarket}`)).body
  expect(ticker.capacityLong).toEqual(long)
  other.clock.move(60_000)
  expect((await other.get(capacityPath('long'))).body.jitAvailableLiquidity).not.toBe(
    long.jitAvailableLiquidity,
  )
  await other.close()
})

test('Trading capacity: jitDataStatus stale or unavailable leaves the base alone; marketDataStatus can be stale', async () => {
  const other = await startVenue()
  for (const jitData of ['stale', 'unavailable']) {
    await other.call('POST', `${other.control}/faults`, { jitData, marketData: 'stale' })
    const { body } = await other.get(capacityPath('short'))
    expect(body).toMatchObject({
      jitDataStatus: jitData,
      marketDataStatus: 'stale',
      jitAvailableLiquidity: '0',
      availableLiquidity: body.baseAvailableLiquidity,
    })
  }
  await other.close()
})

test('Trading capacity: without a JIT share there is none', async () => {
  const other = await startVenue({ settings: { jitPoolShareBps: 0 } })
  expect((await other.get(capacityPath('long'))).body.jitAvailableLiquidity).toBe('0')
  await other.close()
})

test('Trading capacity: an increase that only JIT has room for executes, and the pools keep their sum', async () => {
  const other = await startVenue({
    settings: { keeperJitterMs: 0, startBalances: { USDC: '90000000', ETH: '50' } },
  })
  const long = (await other.get(capacityPath('long'))).body
  const size = BigInt(long.baseAvailableLiquidity) + BigInt(long.jitAvailableLiquidity) / 2n
  const slots = (slot: 0 | 1): bigint =>
    other.venue.venueState.markets
      .filter((market) => market.catalog.symbol.endsWith('[WETH-USDC]'))
      .reduce((sum, market) => sum + market.state.pool[slot], 0n)
  const before = slots(0)
  const done = await other.trade({
    size: size.toString(),
    collateralToPay: { amount: '20000000000000', token: 'USDC' },
  })
  expect(done.status).toBe('executed')
  expect(slots(0)).toBe(before)
  const [position] = await other.positions()
  expect(position.sizeInUsd).toBe(size.toString())
  await other.close()
})

test('JIT liquidity info: v1 and v2 say the same, and what capacity is computed from', async () => {
  const v1 = ethInfo((await paper.get('/jit/liquidity_info')).body)
  const v2Base = paper.api.replace(/v1$/, 'v2')
  const v2 = ethInfo((await paper.call('GET', `${v2Base}/jit/liquidity_info`)).body)
  expect(v2.long.maxReservedUsd).toBe(v1.maxReservedUsdWithJitLong)
  expect(v2.short.maxReservedUsd).toBe(v1.maxReservedUsdWithJitShort)
  expect([...v2.long.glvShiftParams, ...v2.short.glvShiftParams]).toEqual(v1.glvShiftParams)
  for (const shift of v1.glvShiftParams) {
    expect(shift).toMatchObject({ glv: v1.glv, toMarket: ethMarket })
    expect(BigInt(shift.marketTokenAmount)).toBeGreaterThan(0n)
    expect(BigInt(shift.minMarketTokens)).toBeGreaterThan(0n)
  }
  const capacity = (await paper.get(capacityPath('long'))).body
  const [row] = (await paper.get('/markets/values')).body.filter(
    (one: Any) => one.marketTokenAddress === ethMarket,
  )
  const [ticker] = (await paper.get(`/markets/tickers?addresses=${ethMarket}`)).body
  const reserved = BigInt(row.longInterestInTokens) * (BigInt(ticker.maxPrice) / 10n ** 18n)
  expect(capacity.limitingFactor).toBe('reserve')
  expect(BigInt(capacity.availableLiquidity)).toBe(BigInt(v1.maxReservedUsdWithJitLong) - reserved)
})

test('JIT liquidity history row: each side may be null, and the newest row is the liquidity of that hour', async () => {
  const { snapshots } = (await paper.get('/jit/liquidity_history?period=1h')).body
  const rows = snapshots.filter((row: Any) => row.marketAddress === ethMarket)
  expect(rows).toHaveLength(24)
  expect(rows.at(-1).timestamp).toBe(START_MS / 1000)
  for (const name of ['longLiquidityUsd', 'shortLiquidityUsd']) {
    const missing = snapshots.filter((row: Any) => row[name] === null).length
    expect(missing).toBeGreaterThan(0)
    expect(missing).toBeLessThan(snapshots.length / 10)
  }
  const oneSided = snapshots.filter(
    (row: Any) => (row.longLiquidityUsd === null) !== (row.shortLiquidityUsd === null),
  )
  expect(oneSided.length).toBeGreaterThan(0)
  const info = ethInfo((await paper.get('/jit/liquidity_info')).body)
  const capacity = (await paper.get(capacityPath('short'))).body
  expect(rows.at(-1).glvAddress).toBe(info.glv)
  const shortUsd = BigInt(rows.at(-1).shortLiquidityUsd)
  const difference = shortUsd - BigInt(capacity.jitAvailableLiquidity)
  expect(difference * difference).toBeLessThan((shortUsd / 1000n) ** 2n)
})

test('JIT liquidity history: from and to bound it by days, a bad period or second is 400', async () => {
  const to = START_MS / 1000
  const { snapshots } = (await paper.get(`/jit/liquidity_history?period=1d&from=${to - 3 * 86_400}&to=${to}`))
    .body
  const days = new Set(snapshots.map((row: Any) => row.timestamp))
  expect([...days]).toEqual([to - 3 * 86_400, to - 2 * 86_400, to - 86_400, to])
  expect((await paper.get('/jit/liquidity_history')).body).toEqual({
    message: { period: { message: "'period' is required" } },
  })
  expect((await paper.get('/jit/liquidity_history?period=1w')).status).toBe(400)
  expect((await paper.get('/jit/liquidity_history?period=1d&from=now')).body).toEqual({
    message: 'Invalid from timestamp: whole seconds expected',
  })
})
