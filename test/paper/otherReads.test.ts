/**
 * The other reads over real sockets (docs/reference/api-coverage.md GET /tokens, O3, GET /prices/ohlcv and GET
 * /buyback/weekly-stats).
 */
import { getAddress } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Any, ethMarket, ethSymbol, START_MS, startVenue, stranger, trader, usd } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
beforeAll(async () => {
  paper = await startVenue()
})
afterAll(() => paper.close())

const symbol = encodeURIComponent(ethSymbol)
const DAY = 86_400

test('/prices/ohlcv: ascending, Unix ms, USD with 30 decimals, and equal to the oracle candles', async () => {
  const rows = (await paper.get(`/prices/ohlcv?symbol=${symbol}&timeframe=5m&limit=20`)).body
  const oracle = (
    await paper.call('GET', `${paper.oracle}/prices/candles?tokenSymbol=ETH&period=5m&limit=20`)
  ).body.candles.toReversed()
  expect(rows.map((row: Any) => row.timestamp / 1000)).toEqual(oracle.map((row: Any) => row[0]))
  for (const [i, row] of rows.entries()) {
    for (const [at, name] of ['open', 'high', 'low', 'close'].entries()) {
      expect(Number(BigInt(row[name]) / 10n ** 18n) / 1e12).toBeCloseTo(oracle[i][at + 1], 6)
    }
  }
})

test('/prices/ohlcv: since is Unix ms; a missing symbol, timeframe, or a limit out of range is 400', async () => {
  const since = START_MS - 6 * 3_600_000
  const rows = (await paper.get(`/prices/ohlcv?symbol=${symbol}&timeframe=1h&limit=4&since=${since}`)).body
  expect(rows.map((row: Any) => row.timestamp)).toEqual([0, 1, 2, 3].map((i) => since + i * 3_600_000))
  expect((await paper.get(`/prices/ohlcv?symbol=${symbol}&timeframe=1h`)).body).toHaveLength(1000)
  const bad = await paper.get('/prices/ohlcv?timeframe=2h')
  expect(bad.status).toBe(400)
  expect(Object.keys(bad.body.message)).toEqual(['symbol', 'timeframe'])
  expect((await paper.get(`/prices/ohlcv?symbol=${symbol}&timeframe=1h&limit=1001`)).status).toBe(400)
  expect((await paper.get('/prices/ohlcv?symbol=NOPE&timeframe=1h')).body).toEqual({
    message: 'Market not found',
  })
})

test('Signed price: every field in its form, prices as the tickers, one answer a second', async () => {
  const other = await startVenue()
  const read = async () => (await other.call('GET', `${other.oracle}/signed_prices/latest`)).body
  const { signedPrices } = await read()
  const tickers = (await other.call('GET', `${other.oracle}/prices/tickers`)).body
  const ofTokens = tickers.filter((row: Any) => !row.tokenSymbol.startsWith('GLV '))
  expect(signedPrices.map((row: Any) => row.minPrice)).toEqual(ofTokens.map((row: Any) => row.minPrice))
  for (const row of signedPrices) {
    expect(row.signer).toBe(getAddress(row.signer))
    expect(row.signature).toMatch(/^0x[0-9a-f]{130}$/)
    expect(row.signatureWithoutBlockHash).toMatch(/^0x[0-9a-f]{130}$/)
    expect(row.salt).toMatch(/^0x[0-9a-f]{64}$/)
    expect(row.minBlockHash).toMatch(/^0x[0-9a-f]{64}$/)
    expect(row.tokenOracleType).toBe(0)
    expect(Math.abs(row.minBlockTimestamp - START_MS / 1000)).toBeLessThanOrEqual(1)
    expect(row.createdAt).toBe(START_MS / 1000)
  }
  other.clock.move(999)
  expect((await read()).signedPrices[0].createdAt).toBe(START_MS / 1000)
  other.clock.move(1)
  const later = (await read()).signedPrices[0]
  expect(later.createdAt).toBe(START_MS / 1000 + 1)
  expect(later.maxBlockNumber).toBeGreaterThan(signedPrices[0].maxBlockNumber)
  await other.close()
})

test('/staking/power: power grows with time for a staker, and is zero for a wallet that never staked', async () => {
  const other = await startVenue()
  const [{ address }] = (await other.call('GET', `${other.control}/liquidity-providers`)).body
  const read = async (account: string) => (await other.get(`/staking/power?address=${account}`)).body
  const first = await read(address)
  other.clock.move(DAY * 1000)
  const later = await read(address)
  expect(BigInt(later.cumulativePower) - BigInt(first.cumulativePower)).toBe(
    BigInt(first.currentStaked) * BigInt(DAY),
  )
  expect(BigInt(later.totalNetworkPower)).toBeGreaterThan(BigInt(first.totalNetworkPower))
  expect(first.userSharePercent).toBeCloseTo(
    Number((BigInt(first.cumulativePower) * 10n ** 12n) / BigInt(first.totalNetworkPower)) / 1e10,
    8,
  )
  expect(await read(stranger.address)).toMatchObject({
    cumulativePower: '0',
    currentStaked: '0',
    userSharePercent: 0,
    historicalMaxStaked: null,
    loyaltyRatio: null,
    lastPowerResetAt: null,
    projectedRewardShare: null,
  })
  expect((await other.get('/staking/power')).status).toBe(400)
  await other.close()
})

test('/buyback/weekly-stats: weeks add up, and are the buyback share of the protocol revenue in the stats', async () => {
  const { summary, weeks } = (await paper.get('/buyback/weekly-stats')).body
  expect(summary.weeksTracked).toBe(weeks.length)
  expect(summary.latestWeekAccrued).toBe(weeks.at(-1).weeklyAccrued)
  expect(summary.totalAccrued).toBe(weeks.at(-1).cumulativeAccrued)
  let sum = 0n
  for (const week of weeks) {
    sum += BigInt(week.weeklyAccrued)
    expect(week.cumulativeAccrued).toBe(sum.toString())
    expect(week.weekEnd - week.weekStart).toBe(7 * DAY)
    expect(new Date(week.weekStart * 1000).getUTCDay()).toBe(1)
  }
  const { weekStart, weekEnd, weeklyAccrued } = weeks.at(-3)
  const { series } = (
    await paper.get(
      `/stats/timeseries?metric=revenue.protocol&networks=arbitrum&versions=v2&from=${weekStart}&to=${weekEnd - 1}`,
    )
  ).body
  const revenue = series[0].points.reduce((total: bigint, point: Any) => total + BigInt(point.value), 0n)
  expect(weeklyAccrued).toBe(((revenue * 3000n) / 10_000n).toString())
})

test('/buyback/weekly-stats: a trade adds to the running week', async () => {
  const other = await startVenue()
  const read = async () => BigInt((await other.get('/buyback/weekly-stats')).body.summary.latestWeekAccrued)
  const before = await read()
  await other.trade({ size: usd(40_000), collateralToPay: { amount: '8000000000', token: 'USDC' } })
  other.clock.move(60_000)
  expect(await read()).toBeGreaterThan(before)
  await other.close()
})

test('/incentives/usdg/boost-apr: a rate that falls from the launch on, kept 1800 s', async () => {
  const other = await startVenue()
  const read = async () => (await other.get('/incentives/usdg/boost-apr')).body.boostApr
  const first = await read()
  other.clock.move(1_799_000)
  expect(await read()).toBe(first)
  other.clock.move(30 * DAY * 1000 - 1_799_000)
  expect(await read()).toBeCloseTo(first / 2, 10)
  await other.close()
})

test('/whitelists: empty by default, configured by wallet, an address is required', async () => {
  expect((await paper.get(`/whitelists?address=${trader.address}`)).body).toEqual([])
  expect((await paper.get('/whitelists')).body).toEqual({
    message: { address: { message: "'address' is required" } },
  })
  const other = await startVenue({
    settings: { whitelists: { [trader.address.toLowerCase()]: [ethSymbol] } },
  })
  expect((await other.get(`/whitelists?address=${trader.address}`)).body).toEqual([ethMarket])
  expect((await other.get(`/whitelists?address=${stranger.address}`)).body).toEqual([])
  await other.close()
})

test('/whitelists: what a wallet may do is kept 60 s for each address, and no longer', async () => {
  const whitelists: Record<string, readonly string[]> = {}
  const other = await startVenue({ settings: { whitelists } })
  const poolsOf = async (address: string) => (await other.get(`/whitelists?address=${address}`)).body
  expect(await poolsOf(trader.address)).toEqual([])
  whitelists[trader.address.toLowerCase()] = [ethSymbol]
  other.clock.move(59_999)
  expect(await poolsOf(trader.address)).toEqual([])
  other.clock.move(1)
  expect(await poolsOf(trader.address)).toEqual([ethMarket])
  await other.close()
})

test('/risk-oracle/markets: the listed markets with symbol and token', async () => {
  const rows = (await paper.get('/risk-oracle/markets')).body
  const markets = (await paper.get('/markets')).body
  expect(rows).toEqual(
    markets.map((row: Any) => ({ symbol: row.symbol, marketTokenAddress: row.marketTokenAddress })),
  )
})
