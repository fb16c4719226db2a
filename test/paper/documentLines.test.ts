/** Lines of the two documents that are told apart by details, and what was decided where they are unclear, over real sockets. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadCatalog } from '../../src/paper/catalog/catalog.ts'
import { type Any, ethMarket, ethSymbol, startVenue, trader, usd } from './support.ts'

const btcMarket = '0x47c031236e19d024b42f8AE6780E44A573170703'
/** Enough for any size below. */
const lots = { collateralToPay: { amount: '1000000000000000000', token: 'USDC' } }

let paper: Awaited<ReturnType<typeof startVenue>>

beforeEach(async () => {
  paper = await startVenue()
})

afterEach(() => paper.close())

const set = (change: Record<string, unknown>) => paper.call('POST', `${paper.control}/faults`, change)
const reasonsOf = (body: Any): string[] =>
  body.validationWarnings.map((one: Any) => one.details.reason ?? one.code)

async function capacity(): Promise<Any> {
  const query = new URLSearchParams({ symbol: ethSymbol, direction: 'long' })
  return (await paper.get(`/markets/trading-capacity?${query}`)).body
}

/** A size beyond the pool's own room, and one beyond the open interest that is allowed at all. */
async function sizes(): Promise<{ readonly withoutJit: string; readonly overAll: string }> {
  const { baseAvailableLiquidity } = await capacity()
  return { withoutJit: (BigInt(baseAvailableLiquidity) + 1n).toString(), overAll: usd(2e8) }
}

test('/trades/search tells parts of a twap, and deposits and withdrawals, from other orders', async () => {
  await paper.trade({})
  await paper.trade({ orderType: 'twap', twapConfig: { duration: 60, parts: 2 } })
  paper.clock.move(70_000)
  const [position] = await paper.positions()
  for (const operation of ['deposit', 'withdraw']) {
    const prepared = await paper.post('/orders/txns/collateral/prepare', {
      mode: 'express',
      from: trader.address,
      operation,
      positionKey: position.key,
      amount: '5000000',
    })
    expect(prepared.status).toBe(200)
    await paper.submit(prepared.body)
    paper.clock.move(2500)
  }
  const found = async (combination: Any): Promise<Any[]> =>
    (
      await paper.post('/trades/search', {
        address: trader.address,
        orderEventCombinations: [{ eventName: 'OrderExecuted', ...combination }],
      })
    ).body.trades
  const typesOf = (rows: Any[]) => rows.map((row) => row.orderType)
  expect(typesOf(await found({}))).toEqual([4, 2, 3, 3, 2])
  const twap = await found({ isTwap: true })
  expect(typesOf(twap)).toEqual([3, 3])
  expect(new Set(twap.map((row) => row.numberOfParts))).toEqual(new Set([2]))
  expect(new Set(twap.map((row) => row.twapGroupId)).size).toBe(1)
  expect(typesOf(await found({ isTwap: false }))).toEqual([4, 2, 2])
  expect((await found({ isTwap: false }))[0].twapGroupId).toBeUndefined()
  expect(typesOf(await found({ isDepositOrWithdraw: true }))).toEqual([4, 2])
  expect(typesOf(await found({ isDepositOrWithdraw: false, isTwap: false }))).toEqual([2])
  expect(typesOf(await found({ isDepositOrWithdraw: true, orderType: 2 }))).toEqual([2])
})

test.each(['/prices/tickers', '/signed_prices/latest', '/prices/candles?tokenSymbol=ETH&period=1m'])(
  'oracle limits: %s has a route timeout of 10 s',
  async (path) => {
    const slept: number[] = []
    paper.clock.sleep = async (ms) => {
      slept.push(ms)
    }
    const slow = async (latencyMs: number) => {
      await paper.call('DELETE', `${paper.control}/wire`)
      await paper.call('POST', `${paper.control}/wire`, { kind: 'latency', latencyMs, host: 'oracle/*' })
      return paper.call('GET', paper.oracle + path)
    }
    expect((await slow(9999)).status).toBe(200)
    const late = await slow(15_000)
    expect([late.status, late.body]).toEqual([503, { errors: ['Service Unavailable'] }])
    expect(late.headers.get('x-trace-id')).toBeTruthy()
    expect(slept).toEqual([9999, 10_000])
    await paper.call('DELETE', `${paper.control}/wire`)
    await set({ latencyMs: 15_000 })
    expect((await paper.call('GET', paper.oracle + path)).status).toBe(503)
    expect((await paper.call('GET', `${paper.oracle}/markets`)).status).toBe(200)
    expect((await paper.get('/orders?address=0x')).status).toBe(400)
  },
)

test('vault tokens are in the oracle list, the tickers and the candles: the ones whose APY is served', async () => {
  const oracle = async (path: string) => (await paper.call('GET', paper.oracle + path)).body
  const { glvs } = (await paper.get('/apy?period=7d')).body
  const { tokens } = await oracle('/tokens')
  const vaults = tokens.filter((token: Any) => Object.hasOwn(glvs, token.address))
  expect(vaults.length).toBe(Object.keys(glvs).length)
  expect(vaults.length).toBeGreaterThan(1)
  const tickers = await oracle('/prices/tickers')
  for (const { symbol, address, decimals } of vaults) {
    expect([symbol.startsWith('GLV ['), decimals]).toEqual([true, 18])
    const ticker = tickers.find((one: Any) => one.tokenAddress === address)
    expect(ticker.tokenSymbol).toBe(symbol)
    expect(BigInt(ticker.minPrice) < BigInt(ticker.maxPrice)).toBe(true)
    const query = new URLSearchParams({ tokenSymbol: symbol, period: '1h', limit: '3' })
    const { candles } = await oracle(`/prices/candles?${query}`)
    expect(candles).toHaveLength(3)
    const [, open, high, low, close] = candles[0]
    expect(low <= Math.min(open, close) && high >= Math.max(open, close)).toBe(true)
    // Prices of 18 decimals are USD x 10^12.
    expect(close).toBeCloseTo(Number(BigInt(ticker.medianPrice)) / 1e12, 6)
  }
  const [first] = tickers
  expect((await oracle('/signed_prices/latest')).signedPrices.map((row: Any) => row.tokenAddress)).toEqual(
    tickers.map((row: Any) => row.tokenAddress).slice(0, -vaults.length),
  )
  expect(first.tokenSymbol).not.toContain('GLV')
})

test('the symbols of vault tokens are those of their own network', async () => {
  const { chains } = await import('../../src/protocol/chains/index.ts')
  const other = await startVenue({ chain: chains.avalanche })
  const symbolsOf = async (one: typeof paper): Promise<string[]> =>
    (await one.call('GET', `${one.oracle}/tokens`)).body.tokens
      .map((token: Any) => token.symbol)
      .filter((symbol: string) => symbol.startsWith('GLV'))
  const [here, there] = [await symbolsOf(paper), await symbolsOf(other)]
  expect(here).toContain('GLV [WETH-USDC]')
  expect(there.length).toBeGreaterThan(0)
  expect(there).not.toContain('GLV [WETH-USDC]')
  await other.close()
})

test('rule 9: the least collateral counts the size: what prepares is executed, and what would be cancelled fails', async () => {
  const poor = await paper.prepare({ collateralToPay: { amount: '1900000', token: 'USDC' } })
  expect([poor.status, poor.body.code]).toEqual([400, 'INSUFFICIENT_COLLATERAL'])
  // By halving: the least payment for $1,000 that prepares.
  let [least, most] = [1_900_000n, 200_000_000n]
  while (most - least > 1n) {
    const amount = (least + most) / 2n
    const { status } = await paper.prepare({ collateralToPay: { amount: amount.toString(), token: 'USDC' } })
    if (status === 200) most = amount
    else least = amount
  }
  expect(most).toBeGreaterThan(5_000_000n)
  const enough = await paper.trade({
    collateralToPay: { amount: (most + 20_000n).toString(), token: 'USDC' },
  })
  expect(enough.status).toBe('executed')
})

test('rule 9: a side with much open interest asks for more, and what the position already holds counts', async () => {
  const market = paper.venue.venueState.marketByKey.get(ethMarket.toLowerCase())
  if (market === undefined) throw new Error('no market')
  const order = { collateralToPay: { amount: '60000000', token: 'USDC' } }
  expect((await paper.prepare(order)).status).toBe(200)
  const settings = market.settings as { minCollateralFactorForOpenInterest: { long: bigint; short: bigint } }
  const before = settings.minCollateralFactorForOpenInterest
  const interest = market.state.long.interestUsd.reduce((sum, one) => sum + one, 0n)
  // A tenth of the size for the open interest as it is.
  settings.minCollateralFactorForOpenInterest = { ...before, long: 10n ** 59n / interest }
  expect((await paper.prepare(order)).body.code).toBe('INSUFFICIENT_COLLATERAL')
  expect((await paper.prepare({ ...order, direction: 'short' })).status).toBe(200)
  await paper.trade({})
  expect((await paper.prepare(order)).status).toBe(200)
  const twap = { ...order, orderType: 'twap', twapConfig: { duration: 600, parts: 10 } }
  expect((await paper.prepare(twap)).status).toBe(200)
  expect((await paper.prepare({ ...twap, size: usd(20_000) })).body.code).toBe('INSUFFICIENT_COLLATERAL')
})

test('stale values of a market make its capacity, its ticker and its prepare say so, and no other market', async () => {
  await set({ staleValues: [ethMarket] })
  expect((await capacity()).marketDataStatus).toBe('stale')
  const tickers = (await paper.get('/markets/tickers')).body
  for (const row of tickers) {
    const status = row.marketTokenAddress === ethMarket ? 'stale' : 'fresh'
    expect([row.capacityLong.marketDataStatus, row.capacityShort.marketDataStatus]).toEqual([status, status])
  }
  const { body } = await paper.prepare({})
  expect(reasonsOf(body)).toEqual(['STALE_MARKET_DATA'])
  expect(body.estimates.tradingCapacity.marketDataStatus).toBe('stale')
  expect(reasonsOf((await paper.prepare({ symbol: 'BTC/USD [BTC-USDC]' })).body)).toEqual([])
  await set({ staleValues: [] })
  expect((await capacity()).marketDataStatus).toBe('fresh')
})

test('decided: eligibility unknown and a size beyond the room without JIT', async () => {
  const { withoutJit, overAll } = await sizes()
  await set({ jitEligibility: 'unknown' })
  const within = await paper.prepare({ ...lots, size: withoutJit })
  expect([within.status, reasonsOf(within.body)]).toEqual([200, ['JIT_ACCOUNT_ELIGIBILITY_UNKNOWN']])
  const above = await paper.prepare({ ...lots, size: overAll })
  expect([above.status, above.body.code]).toEqual([400, 'INSUFFICIENT_LIQUIDITY'])
})

test('decided: JIT data stale and a resting order beyond the room: one warning', async () => {
  const { withoutJit, overAll } = await sizes()
  await set({ jitData: 'stale' })
  const resting = { ...lots, orderType: 'limit', triggerPrice: usd(1) }
  const within = await paper.prepare({ ...resting, size: withoutJit })
  expect([within.status, reasonsOf(within.body)]).toEqual([200, ['JIT_DATA_UNAVAILABLE']])
  const above = await paper.prepare({ ...resting, size: overAll })
  expect([above.status, reasonsOf(above.body)]).toEqual([200, ['INSUFFICIENT_LIQUIDITY']])
})

test('decided: usable data is called available and fresh', async () => {
  const { jitDataStatus, marketDataStatus } = await capacity()
  expect([jitDataStatus, marketDataStatus]).toEqual(['available', 'fresh'])
})

test('decided: /markets holds listed markets alone, the other reads hold all', async () => {
  const whole = (await paper.get('/markets')).body.length
  await set({ unlistedMarkets: [ethMarket] })
  paper.clock.move(60_000)
  const keysOf = async (path: string): Promise<string[]> =>
    (await paper.get(path)).body.map((row: Any) => row.marketTokenAddress)
  const listed = await keysOf('/markets')
  expect([listed.length, listed.includes(ethMarket)]).toEqual([whole - 1, false])
  for (const path of ['/markets/info', '/markets/values', '/markets/config', '/markets/tickers']) {
    expect([path, (await keysOf(path)).includes(ethMarket)]).toEqual([path, true])
  }
  const { markets } = (await paper.call('GET', `${paper.oracle}/markets`)).body
  expect(markets.find((row: Any) => row.marketToken === ethMarket).isListed).toBe(false)
})

test('decided: the two filters of the tickers together are a union', async () => {
  const query = new URLSearchParams([
    ['addresses', btcMarket],
    ['symbols', ethSymbol],
  ])
  const rows = (await paper.get(`/markets/tickers?${query}`)).body
  expect(new Set(rows.map((row: Any) => row.marketTokenAddress))).toEqual(new Set([btcMarket, ethMarket]))
})

test('the catalogue knows the markets that were given up, and the venue does not serve what nothing prices', async () => {
  const { markets, tokens } = loadCatalog('arbitrum')
  for (const [symbol, marketToken, index] of [
    ['OM/USD [BTC-USDC]', '0x89EB78679921499632fF16B1be3ee48295cfCD91', 'OM'],
    ['WELL/USD [WETH-USDC]', '0x2347EbB8645Cc2EA0Ba92D1EC59704031F2fCCf4', 'WELL'],
  ] as const) {
    const market = markets.find((one) => one.marketToken === marketToken)
    const token = tokens.find((one) => one.address === market?.indexToken)
    expect([market?.symbol, market?.isListed, token?.symbol, token?.decimals]).toEqual([
      symbol,
      false,
      index,
      18,
    ])
    expect((await paper.prepare({ symbol })).body.code).toBe('MARKET_NOT_FOUND')
  }
})
