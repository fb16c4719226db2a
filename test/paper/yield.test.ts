/** Yields, rates, performance and earnings over real sockets (docs/reference/api-coverage.md A1 to A37 and O1 to O13). */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chains } from '../../src/protocol/chains/index.ts'
import { type Any, ethMarket, START_MS, startVenue, usd } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
beforeAll(async () => {
  paper = await startVenue()
})
afterAll(() => paper.close())

const startSeconds = START_MS / 1000
const usdcMarket = (rows: Any[]): Any => rows.find((row) => row.marketToken === ethMarket)
const oracleGet = (path: string) => paper.call('GET', paper.oracle + path)

test('Pool yield row: feeApy equals the base APY of the oracle service, period by period', async () => {
  for (const period of ['1d', '7d', '30d', '90d', '180d', '1y', 'total']) {
    const { pools } = (await paper.get(`/yield/gm-pools?period=${period}`)).body
    const apy = (await oracleGet(`/apy?period=${period}`)).body
    const appApy = (await paper.get(`/apy?period=${period}`)).body
    expect(appApy).toEqual(apy)
    for (const pool of pools) expect(pool.feeApy ?? 0).toBe(apy.markets[pool.marketToken].baseApy)
    for (const row of [...Object.values(apy.markets), ...Object.values(apy.glvs)] as Any[]) {
      expect(row.apy).toBeCloseTo(row.baseApy + row.bonusApr, 12)
    }
  }
})

test('Pool yield row: windows end on the full hour and have the length of the period', async () => {
  const { pools } = (await paper.get('/yield/gm-pools?period=7d')).body
  expect(usdcMarket(pools).window).toEqual({
    period: '7d',
    startTimestamp: startSeconds - 7 * 86_400,
    endTimestamp: startSeconds,
  })
  for (const pool of pools) expect(pool.window.endTimestamp % 3600).toBe(0)
})

test('Pool yield row: young pools use their shorter listed window', async () => {
  const { pools } = (await paper.get('/yield/gm-pools?period=1y')).body
  const short = pools.filter((pool: Any) => pool.window.startTimestamp > startSeconds - 365 * 86_400)
  expect(short.length).toBeGreaterThan(5)
  expect(short.length).toBeLessThan(pools.length)
})

test('Pool yield row: missing indexed metrics are null', async () => {
  const other = await startVenue({ faults: { unindexedMarkets: [ethMarket.toLowerCase()] } })
  const { pools } = (await other.get('/yield/gm-pools?period=7d&includeComponents=true')).body
  expect(usdcMarket(pools)).toMatchObject({
    feeApy: null,
    tradersPnlUsd: null,
    tradersPnlApr: null,
    timeWeightedPoolValue: null,
    components: { realizedPnlLongUsd: null, unrealizedPnlShortUsd: null },
  })
  expect(pools.filter((pool: Any) => pool.feeApy === null).length).toBeLessThan(pools.length)
  await other.close()
})

test('Pool yield row: component values appear when includeComponents is set, and add up to the traders PnL', async () => {
  const plain = (await paper.get('/yield/gm-pools?period=30d')).body
  expect(usdcMarket(plain.pools).components).toBeUndefined()
  const { pools } = (await paper.get('/yield/gm-pools?period=30d&includeComponents=true')).body
  for (const pool of pools) {
    const { realizedPnlLongUsd, realizedPnlShortUsd, unrealizedPnlLongUsd, unrealizedPnlShortUsd } =
      pool.components
    expect(pool.tradersPnlUsd).toBeCloseTo(
      realizedPnlLongUsd + realizedPnlShortUsd + unrealizedPnlLongUsd + unrealizedPnlShortUsd,
      4,
    )
  }
})

test('Endpoints, /yield/gm-pools: pools filters by address in any case; malformed addresses and filters are 400', async () => {
  const one = await paper.get(`/yield/gm-pools?period=7d&pools=${ethMarket.toLowerCase()}`)
  expect(one.body.pools.map((pool: Any) => pool.marketToken)).toEqual([ethMarket])
  const malformed = await paper.get('/yield/gm-pools?period=7d&pools=0x12')
  expect(malformed.status).toBe(400)
  expect(malformed.body).toEqual({
    message: { pools: { message: "'pools' holds a malformed address", value: '0x12' } },
  })
  expect(malformed.headers.get('x-trace-id')).toBeTruthy()
  expect((await paper.get('/yield/gm-pools?period=2w')).body).toEqual({
    message: {
      period: { message: "'period' must be one of 1d, 7d, 30d, 90d, 180d, 1y, total", value: '2w' },
    },
  })
  expect((await paper.get('/yield/gm-pools?includeComponents=yes')).status).toBe(400)
})

test('Endpoints, /yield/gm-pools: an answer stays for 1800 s, then the window has moved', async () => {
  const other = await startVenue()
  const read = async () => (await other.get('/yield/gm-pools?period=7d')).body
  const first = await read()
  other.clock.move(1_799_000)
  expect(await read()).toEqual(first)
  other.clock.move(1_802_000)
  const later = await read()
  expect(usdcMarket(later.pools).window.endTimestamp).toBe(startSeconds + 3600)
  expect(usdcMarket(later.pools).tradersPnlUsd).not.toBe(usdcMarket(first.pools).tradersPnlUsd)
  await other.close()
})

test('Pool yield row: fees and PnL are those of the trades that were made', async () => {
  const other = await startVenue()
  const quiet = await startVenue()
  await other.trade({ size: usd(50_000), collateralToPay: { amount: '8000000000', token: 'USDC' } })
  const closed = await other.trade({
    kind: 'decrease',
    size: usd(50_000),
    collateralToken: 'USDC',
    collateralToPay: undefined,
  })
  expect(closed.status).toBe('executed')
  quiet.clock.move(5000)
  const read = async (venue: typeof other) => {
    venue.clock.move(3_600_000)
    const { pools } = (await venue.get('/yield/gm-pools?period=1d&includeComponents=true')).body
    return usdcMarket(pools)
  }
  const [traded, untouched] = [await read(other), await read(quiet)]
  const trades = other.venue.venueState.trades.filter((row) => row.eventName === 'OrderExecuted')
  const fees = trades.reduce((sum, { fields }) => {
    const amount = (name: string): bigint => BigInt(String(fields[name] ?? 0))
    const paid = amount('positionFeeAmount') + amount('borrowingFeeAmount')
    return sum + Number(paid * amount('collateralTokenPriceMin')) / 1e30
  }, 0)
  const feesOf = (row: Any) =>
    (Math.expm1(Math.log1p(row.feeApy) / 365) * row.timeWeightedPoolValue) as number
  // The receiver takes 37 percent, the pool keeps the rest.
  expect(feesOf(traded) - feesOf(untouched)).toBeCloseTo(fees * 0.63, 0)
  const pnl = Number(BigInt(String(trades.at(-1)?.fields.basePnlUsd))) / 1e30
  expect(traded.components.realizedPnlLongUsd - untouched.components.realizedPnlLongUsd).toBeCloseTo(pnl, 3)
  await Promise.all([other.close(), quiet.close()])
})

test('Endpoints, /rates: hourly snapshots of both services agree; net is funding less borrowing', async () => {
  const rows = (await paper.get(`/rates?period=7d&address=${ethMarket}`)).body
  expect(rows).toEqual((await oracleGet(`/rates?period=7d&address=${ethMarket}`)).body)
  expect(rows).toHaveLength(1)
  const snapshots = rows[0].ratesSnapshots
  expect(snapshots).toHaveLength(168)
  expect(snapshots.at(-1).timestamp).toBe(startSeconds)
  for (const row of snapshots) {
    expect(BigInt(row.netRateLong)).toBe(BigInt(row.fundingRateLong) - BigInt(row.borrowingRateLong))
    expect(BigInt(row.fundingRateLong) * BigInt(row.fundingRateShort)).toBeLessThanOrEqual(0n)
  }
  expect(new Set(snapshots.map((row: Any) => row.fundingRateLong)).size).toBeGreaterThan(100)
})

test('Endpoints, /rates: an hour that has passed shows the rates the tickers showed at its end', async () => {
  const other = await startVenue()
  other.clock.move(3_600_000)
  const ticker = (await other.get(`/markets/tickers?addresses=${ethMarket}`)).body[0]
  const rows = (await other.get(`/rates?period=1d&address=${ethMarket}`)).body
  expect(rows[0].ratesSnapshots.at(-1)).toMatchObject({
    timestamp: startSeconds + 3600,
    fundingRateLong: ticker.fundingRateLong,
    borrowingRateShort: ticker.borrowingRateShort,
    netRateLong: ticker.netRateLong,
  })
  await other.close()
})

test('Errors, /rates: an invalid period or averageBy is 400 on both services', async () => {
  const means = (await paper.get(`/rates?period=90d&averageBy=30d&address=${ethMarket}`)).body
  expect(means[0].ratesSnapshots).toHaveLength(3)
  const bad = await paper.get('/rates?period=7d&averageBy=hour')
  expect(bad.status).toBe(400)
  expect(Object.keys(bad.body.message)).toEqual(['averageBy'])
  const oracle = await oracleGet('/rates?period=never')
  expect(oracle.status).toBe(400)
  expect(oracle.body).toEqual({
    errors: ["'period' must be one of 1d, 7d, 30d, 90d, 180d, 1y, total"],
  })
})

test('Endpoints, /performance: both services serve pools and vaults, 1d is refused', async () => {
  const application = (await paper.get('/performance/annualized?period=90d')).body
  const oracle = (await oracleGet('/performance/annualized?period=90d')).body
  expect(new Set(application.map((row: Any) => row.entity))).toEqual(new Set(['Market', 'Glv']))
  expect(application.map((row: Any) => row.performance)).toEqual(
    oracle.map((row: Any) => row.uniswapV2Performance),
  )
  expect(oracle[0].longTokenPerformance).toMatch(/^-?\d+\.\d+$/)
  const one = (await paper.get(`/performance/snapshots?period=30d&address=${ethMarket}`)).body
  expect(one).toHaveLength(1)
  expect(one[0].snapshots).toHaveLength(30)
  expect(one[0].snapshots.at(-1).snapshotTimestamp).toBe(startSeconds)
  expect((await paper.get('/performance/annualized?period=1d')).status).toBe(400)
  expect((await oracleGet('/performance/snapshots?period=1d')).status).toBe(400)
})

const provider = async (venue: typeof paper): Promise<Any> =>
  (await venue.call('GET', `${venue.control}/liquidity-providers`)).body[0]

test('Earnings response: one row per pool token the wallet ever held, with the trailing 7 days', async () => {
  const { address, pools } = await provider(paper)
  const { body } = await paper.get(`/yield/gm-user-earnings?account=${address.toLowerCase()}`)
  expect(body.account).toBe(address)
  expect(body.window).toEqual({
    days: 7,
    startTimestamp: startSeconds - 7 * 86_400,
    endTimestamp: startSeconds,
  })
  expect(body.pools.map((row: Any) => row.marketToken)).toEqual(pools.map((row: Any) => row.marketToken))
  for (const [i, row] of body.pools.entries()) {
    expect(BigInt(row.lifetimeFeeUsd)).toBeGreaterThan(0n)
    expect(BigInt(row.recent7dFeeUsd)).toBeLessThan(BigInt(row.lifetimeFeeUsd))
    if (pools[i].isHeld) expect(BigInt(row.recent7dFeeUsd)).toBeGreaterThan(0n)
  }
})

test('Earnings response: a wallet that never held a pool token has no rows', async () => {
  const { body } = await paper.get(`/yield/gm-user-earnings?account=${ethMarket}`)
  expect(body.pools).toEqual([])
})

test('Earnings response: fees of a trade reach a holder by its share, with the next refresh of the accumulator', async () => {
  const holder = '0x00000000000000000000000000000000000000A1'
  const other = await startVenue({
    settings: { keeperJitterMs: 0, poolShares: { [holder]: { 'ETH/USD [WETH-USDC]': 500_000 } } },
  })
  const read = async () => (await other.get(`/yield/gm-user-earnings?account=${holder}`)).body.pools[0]
  expect((await read()).lifetimeFeeUsd).toBe('0')
  await other.trade({ size: usd(10_000), collateralToPay: { amount: '2000000000', token: 'USDC' } })
  const fields = other.venue.venueState.trades.at(-1)?.fields
  const fee = BigInt(String(fields?.positionFeeAmount))
  const price = BigInt(String(fields?.collateralTokenPriceMin))
  other.clock.move(5000)
  const kept = fee - (fee * 37n) / 100n
  const earned = (await read()).lifetimeFeeUsd
  expect(earned).toBe(((kept * price) / 2n).toString())
  await other.close()
})

test('Limits: the earnings accumulator is refreshed every 5 s, for all accounts at once, and the answer says when it was made', async () => {
  const [holder, second] = ['0x00000000000000000000000000000000000000A1', `0x${'a2'.repeat(20)}`]
  const share = { 'ETH/USD [WETH-USDC]': 500_000 }
  const other = await startVenue({
    settings: { keeperJitterMs: 0, poolShares: { [holder]: share, [second]: share } },
  })
  const read = async (account = holder) => {
    const { window, pools } = (await other.get(`/yield/gm-user-earnings?account=${account}`)).body
    return [window.endTimestamp, BigInt(pools[0].lifetimeFeeUsd), BigInt(pools[0].recent7dFeeUsd)]
  }
  // To the next refresh; the fees of a trade fall into the five seconds after it.
  other.clock.move(60_000 - (other.clock.now() % 60_000))
  const refreshedAtMs = other.clock.now()
  expect(await read()).toEqual([refreshedAtMs / 1000, 0n, 0n])
  await other.trade({ size: usd(10_000), collateralToPay: { amount: '2000000000', token: 'USDC' } })
  // An answer itself is kept for two seconds.
  other.clock.move(refreshedAtMs + 2999 - other.clock.now())
  expect(await read(second)).toEqual([refreshedAtMs / 1000 + 2, 0n, 0n])
  other.clock.move(2000)
  expect(await read()).toEqual([refreshedAtMs / 1000 + 4, 0n, 0n])
  other.clock.move(1)
  const fresh = await read(second)
  expect(fresh).toEqual([refreshedAtMs / 1000 + 5, expect.any(BigInt), fresh[1]])
  expect(fresh[1]).toBeGreaterThan(0n)
  other.clock.move(2000)
  expect((await read()).slice(1)).toEqual(fresh.slice(1))
  // Over an hour's end, in which the books are closed, nothing is lost or counted twice.
  other.clock.move(3_600_000)
  expect((await read()).slice(1)).toEqual(fresh.slice(1))
  await other.close()
})

test('Earnings: available on the avalanche and megaeth hosts', async () => {
  for (const chain of [chains.avalanche, chains.megaeth]) {
    const other = await startVenue({ chain })
    const { address } = await provider(other)
    const { body } = await other.get(`/yield/gm-user-earnings?account=${address}`)
    expect(body.pools.length).toBeGreaterThan(0)
    await other.close()
  }
})

test('Errors, /yield/gm-user-earnings: a missing or malformed account is 400, warming up is 503', async () => {
  expect((await paper.get('/yield/gm-user-earnings')).body).toEqual({
    message: { account: { message: "'account' is required" } },
  })
  expect((await paper.get('/yield/gm-user-earnings?account=0x1')).status).toBe(400)
  const other = await startVenue({ settings: { earningsWarmUpSeconds: 5 } })
  const path = `/yield/gm-user-earnings?account=${ethMarket}`
  const cold = await other.get(path)
  expect(cold.status).toBe(503)
  expect(cold.body).toEqual({ message: 'Internal Server Error' })
  expect(cold.headers.get('x-trace-id')).toBeTruthy()
  other.clock.move(5000)
  expect((await other.get(path)).status).toBe(200)
  await other.call('POST', `${other.control}/faults`, { earnings: 'warming-up' })
  other.clock.move(2000)
  expect((await other.get(path)).status).toBe(503)
  await other.close()
})
