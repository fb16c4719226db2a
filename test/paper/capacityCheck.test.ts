/** Prepare's capacity rules (docs/reference/api-coverage.md A3 and A22 to A25), over real sockets. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Any, ethSymbol, startVenue, usd } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>

beforeEach(async () => {
  paper = await startVenue()
})

afterEach(() => paper.close())

const faults = (change: Record<string, unknown>) => paper.call('POST', `${paper.control}/faults`, change)
const lots = { collateralToPay: { amount: '90000000000000', token: 'USDC' } }

async function capacity(): Promise<Any> {
  const query = new URLSearchParams({ symbol: ethSymbol, direction: 'long' })
  return (await paper.get(`/markets/trading-capacity?${query}`)).body
}

const reasonsOf = (body: Any): string[] =>
  body.validationWarnings.map((one: Any) => one.details.reason ?? one.code)

test('rule 6: a market increase above the capacity fails, a resting one is warned', async () => {
  const { availableLiquidity } = await capacity()
  const size = (BigInt(availableLiquidity) + 1n).toString()
  const market = await paper.prepare({ ...lots, size })
  expect([market.status, market.body.code, market.body.details.requestedSizeUsd]).toEqual([
    400,
    'INSUFFICIENT_LIQUIDITY',
    size,
  ])
  expect(market.headers.get('x-trace-id')).toBeTruthy()
  const resting = await paper.prepare({ ...lots, size, orderType: 'limit', triggerPrice: usd(1) })
  expect([resting.status, reasonsOf(resting.body)]).toEqual([200, ['INSUFFICIENT_LIQUIDITY']])
})

test('rule 7: each reason of an unavailable capacity can be provoked', async () => {
  await faults({ marketData: 'stale' })
  expect(reasonsOf((await paper.prepare({})).body)).toEqual(['STALE_MARKET_DATA'])
  await faults({ marketData: 'fresh' })
  expect(reasonsOf((await paper.prepare({ collateralToken: 'WETH' })).body)).toEqual(['COLLATERAL_SWAP'])
  const { baseAvailableLiquidity } = await capacity()
  const size = (BigInt(baseAvailableLiquidity) + 1n).toString()
  await faults({ jitEligibility: 'unknown' })
  expect(reasonsOf((await paper.prepare({ ...lots, size })).body)).toEqual([
    'JIT_ACCOUNT_ELIGIBILITY_UNKNOWN',
  ])
  await faults({ jitEligibility: 'known', jitData: 'unavailable' })
  expect(reasonsOf((await paper.prepare({ ...lots, size })).body)).toEqual(['JIT_DATA_UNAVAILABLE'])
  expect(reasonsOf((await paper.prepare({})).body)).toEqual([])
})

test('rule 8: prepare waits 500 ms for a JIT refresh, and then goes on without it', async () => {
  const slept: number[] = []
  const { clock } = paper
  clock.sleep = async (ms) => {
    slept.push(ms)
  }
  const { baseAvailableLiquidity } = await capacity()
  const size = (BigInt(baseAvailableLiquidity) + 1n).toString()
  await faults({ jitData: 'stale', jitRefreshMs: 700 })
  expect(reasonsOf((await paper.prepare({ ...lots, size })).body)).toEqual(['JIT_DATA_UNAVAILABLE'])
  await faults({ jitRefreshMs: 300 })
  expect(reasonsOf((await paper.prepare({ ...lots, size })).body)).toEqual([])
  expect(slept).toEqual([500, 300])
  expect((await capacity()).jitDataStatus).toBe('available')
})

test('rule 8: without JIT, a size above max open interest still fails', async () => {
  await faults({ jitData: 'unavailable' })
  const answer = await paper.prepare({ ...lots, size: usd(9e11) })
  expect([answer.status, answer.body.code]).toEqual([400, 'INSUFFICIENT_LIQUIDITY'])
})

test('rule 9: collateral after fees below the minimum fails, and for a twap every part must meet it', async () => {
  const small = { size: usd(100), collateralToPay: { amount: '5000000', token: 'USDC' } }
  expect((await paper.prepare(small)).status).toBe(200)
  const twap = { ...small, orderType: 'twap', twapConfig: { duration: 3600, parts: 10 } }
  const answer = await paper.prepare(twap)
  expect([answer.status, answer.body.code]).toEqual([400, 'INSUFFICIENT_COLLATERAL'])
  const tiny = { size: usd(100), collateralToPay: { amount: '900000', token: 'USDC' } }
  expect((await paper.prepare(tiny)).body.code).toBe('INSUFFICIENT_COLLATERAL')
})
