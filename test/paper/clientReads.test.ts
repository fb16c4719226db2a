/** The client of the house reads every route beside trading from the venue: two readings of the wire that check each other. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, createApi } from '../../src/api/client.ts'
import { createNodeFetch } from '../../src/api/transport/nodeFetch.ts'
import { hexKey } from '../../src/protocol/address.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { realClock } from '../api/support.ts'
import { ethMarket, startVenue } from './support.ts'

const nodeFetch = createNodeFetch()
let paper: Awaited<ReturnType<typeof startVenue>>
let api: Api
beforeAll(async () => {
  paper = await startVenue()
  const { served } = paper
  api = createApi({
    chain: chains.arbitrum,
    hosts: { api: served.api, oracle: served.oracle, pairFeed: served.pairs, solanaFeed: served.solana },
    fetch: nodeFetch.fetch,
    clock: realClock,
    random: () => 0.5,
    limits: { requestsPerSecondPerHost: Number.POSITIVE_INFINITY },
  })
})
afterAll(async () => {
  nodeFetch.close()
  await paper.close()
})

test('rates, APY and performance of both services decode and agree', async () => {
  const query = { period: '7d', averageBy: '1d', marketToken: ethMarket } as const
  const rates = (await api.getRates(query)).value
  expect(rates[0]?.snapshots).toHaveLength(7)
  expect((await api.getOracleRates(query)).value).toEqual(rates)
  const apy = (await api.getApy({ period: '30d' })).value
  expect((await api.getOracleApy({ period: '30d' })).value).toEqual(apy)
  const pools = (await api.getGmPools({ period: '30d', pools: [ethMarket] })).value
  expect(pools[0]?.feeApy).toBe(apy.markets.get(hexKey(ethMarket))?.baseApy)
  const [performance] = (await api.getPerformanceAnnualized({ period: '90d', pool: ethMarket })).value
  const [oracle] = (await api.getOraclePerformanceAnnualized({ period: '90d', pool: ethMarket })).value
  expect(oracle?.uniswapV2Performance).toBe(performance?.performance)
  const [history] = (await api.getPerformanceSnapshots({ period: '90d', pool: ethMarket })).value
  const [oracleHistory] = (await api.getOraclePerformanceSnapshots({ period: '90d', pool: ethMarket })).value
  expect(oracleHistory?.snapshots.map((one) => one.uniswapV2Performance)).toEqual(
    history?.snapshots.map((one) => one.performance),
  )
})

test('pair feeds decode from their own hosts, and are what the application API says', async () => {
  const pairs = (await api.getPairs()).value
  expect((await api.getListingPairs({ chain: 'arbitrum' })).value).toEqual(pairs)
  const solana = (await api.getSolanaPairs()).value
  expect((await api.getSolanaFeedPairs()).value).toEqual(solana)
})

test('signed prices, staking power, buyback, boost, whitelists and risk-oracle markets decode', async () => {
  expect((await api.getSignedPrices()).value.length).toBeGreaterThan(50)
  const [provider] = (await paper.call('GET', `${paper.control}/liquidity-providers`)).body
  const power = (await api.getStakingPower({ account: provider.address })).value
  expect(power.cumulativePower).toBeGreaterThan(0n)
  const earnings = (await api.getGmUserEarnings({ account: provider.address })).value
  expect(earnings.pools.length).toBeGreaterThan(0)
  const buyback = (await api.getBuybackStats()).value
  expect(buyback.weeks.length).toBeGreaterThan(10)
  expect(await api.getBoostApr()).toBeDefined()
  expect(await api.getWhitelists({ account: provider.address })).toBeDefined()
  expect(await api.getRiskOracleMarkets()).toBeDefined()
})
