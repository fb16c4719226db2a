/** Routes that no order is sized by: wallet, history, yield, pair feed, the oracle's second opinions. */
import { expect, test } from 'vitest'
import { searchTrades } from '../../src/api/accounts/accountReads.ts'
import * as wallet from '../../src/api/accounts/wallet.ts'
import * as oracleMarkets from '../../src/api/feeds/oracleMarkets.ts'
import * as history from '../../src/api/markets/history.ts'
import { getMarketsConfig, getMarketsInfo, getMarketsValues } from '../../src/api/markets/marketInfo.ts'
import { getGmPools, getGmUserEarnings } from '../../src/api/markets/poolYields.ts'
import { getPairs, getRiskOracleMarkets, getSolanaPairs } from '../../src/api/markets/tokens.ts'
import type { Read } from '../../src/api/transport/route.ts'
import type { Transport } from '../../src/api/transport/transportTypes.ts'
import { MAX_UINT256, ONE_USD } from '../../src/protocol/units.ts'
import { fixtureText, scriptedTransport } from './support.ts'

const account = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'
const weth = '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1'
const usdc = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'
const market = '0x70d95587d40A2caf56bd97485aB3Eec10Bee6336'

async function over(
  fixture: string,
  ask: (transport: Transport) => Promise<Read<unknown>>,
): Promise<{ value: unknown; request: string; body: unknown }> {
  const { transport, seen } = scriptedTransport(() => ({ body: fixtureText(fixture) }))
  const { value } = await ask(transport)
  const [first] = seen
  const body = first?.body === undefined ? undefined : (JSON.parse(first.body) as unknown)
  return { value, request: `${first?.method} ${first?.url}`, body }
}

test('balances and allowances are amounts in the token’s own units', async () => {
  expect(await over('balances-wallet', (to) => wallet.getWalletBalances(to, { account }))).toMatchObject({
    request: `GET http://one/v1/balances/wallet?address=${account}`,
    value: [{ symbol: 'USDC', address: usdc, decimals: 6, balance: 1_234_567_890n }],
  })
  expect(
    await over('allowances', (to) => wallet.getAllowances(to, { account, spender: 'router' })),
  ).toMatchObject({
    request: `GET http://one/v1/allowances?address=${account}&spender=router`,
    value: [{ symbol: 'USDC', allowance: MAX_UINT256 }],
  })
})

test('what is not known of staking is null, never zero', async () => {
  expect((await over('staking-power', (to) => wallet.getStakingPower(to, { account }))).value).toEqual({
    cumulativePower: 12n,
    totalNetworkPower: 1200n,
    userSharePercent: 1,
    historicalMaxStaked: null,
    currentStaked: 5n,
    loyaltyRatio: 0.5,
    lastPowerResetAtSeconds: null,
    powerResetCount: 0,
    projectedRewardShare: null,
    treasuryGmxBalance: 7n,
    powerAccrualStartSeconds: 1_700_000_000,
    loyaltyTrackingStartSeconds: 1_700_000_001,
  })
  expect((await over('buyback', wallet.getBuybackStats)).value).toMatchObject({
    totalAccrued: 30n,
    weeks: [{ weeklyAccrued: 10n, weekEndSeconds: 1_800_000_000 }],
  })
})

test('undocumented payloads are read in their likeliest form, and come as they are in any other', async () => {
  const pools = [market, weth]
  const whitelists = scriptedTransport(() => ({ body: pools }))
  expect((await wallet.getWhitelists(whitelists.transport, { account })).value).toEqual({
    known: pools,
    raw: pools,
  })
  expect(whitelists.seen[0]?.url).toBe(`http://one/v1/whitelists?address=${account}`)
  const boost = { boostApr: 0.25 }
  const answering = (body: unknown) => scriptedTransport(() => ({ body })).transport
  expect((await wallet.getBoostApr(answering(boost))).value).toEqual({ known: 0.25, raw: boost })
  const risk = JSON.parse(fixtureText('risk-oracle-markets')) as unknown
  expect((await getRiskOracleMarkets(answering(risk))).value).toEqual({ known: pools, raw: risk })
  for (const raw of [{ markets: [] }, 'soon', null, [7], { boostApr: '0.25' }]) {
    const unknown = { known: undefined, raw }
    const body = JSON.stringify(raw)
    expect((await wallet.getWhitelists(answering(body), { account })).value).toEqual(unknown)
    expect((await wallet.getBoostApr(answering(body))).value).toEqual(unknown)
    expect((await getRiskOracleMarkets(answering(body))).value).toEqual(unknown)
  }
})

test('rates, yields and performance have one shape at both services', async () => {
  const rates = { period: '7d', averageBy: '1d', marketToken: market } as const
  const app = await over('rates', (to) => history.getRates(to, rates))
  const oracle = await over('rates', (to) => history.getOracleRates(to, rates))
  expect(app.request).toBe(`GET http://one/v1/rates?period=7d&averageBy=1d&address=${market}`)
  expect(oracle.request).toBe(`GET http://primary/rates?period=7d&averageBy=1d&address=${market}`)
  expect(app.value).toEqual([
    {
      marketToken: market,
      snapshots: [
        {
          timestampSeconds: 1_800_000_000,
          netRateLong: -13n,
          netRateShort: 12n,
          fundingRateLong: -12n,
          fundingRateShort: 12n,
          borrowingRateLong: 1n,
          borrowingRateShort: 0n,
        },
      ],
    },
  ])
  expect(oracle.value).toEqual(app.value)

  const apys = {
    markets: new Map([[market.toLowerCase(), { apy: 0.12, baseApy: 0.1, bonusApr: 0.02 }]]),
    glvs: new Map([[weth.toLowerCase(), { apy: 0.1, baseApy: 0.1, bonusApr: 0 }]]),
  }
  for (const ask of [history.getApy, history.getOracleApy]) {
    expect((await over('apy', (to) => ask(to, { period: '30d' }))).value).toEqual(apys)
  }
  for (const ask of [history.getPerformanceAnnualized, history.getOraclePerformanceAnnualized]) {
    expect((await over('performance-annualized', (to) => ask(to, { period: '90d' }))).value).toEqual([
      { address: market, entity: 'Market', performance: '0.031' },
      {
        address: weth,
        entity: 'unrecognised',
        longTokenPerformance: '1.1',
        shortTokenPerformance: '2.2',
        uniswapV2Performance: '3.3',
      },
    ])
  }
  for (const ask of [history.getPerformanceSnapshots, history.getOraclePerformanceSnapshots]) {
    expect(
      (await over('performance-snapshots', (to) => ask(to, { period: '90d', pool: market }))).value,
    ).toEqual([
      {
        address: market,
        entity: 'Glv',
        snapshots: [
          { timestampSeconds: 1_800_000_000, performance: '0.01' },
          { timestampSeconds: 1_799_990_000, uniswapV2Performance: '0.02' },
        ],
      },
    ])
  }
})

test('pool yield keeps nulls, and earnings are exact USD', async () => {
  const pools = await over('gm-pools', (to) =>
    getGmPools(to, { period: '7d', pools: [market, weth], includeComponents: true }),
  )
  expect(pools.request).toBe(
    `GET http://one/v1/yield/gm-pools?period=7d&pools=${market}&pools=${weth}&includeComponents=true`,
  )
  expect(pools.value).toEqual([
    {
      marketToken: market,
      feeApy: 0.1,
      tradersPnlUsd: -12.5,
      tradersPnlApr: null,
      timeWeightedPoolValueUsd: 1_000_000.5,
      window: {
        period: '7d',
        startTimestampSeconds: 1_799_395_200,
        endTimestampSeconds: 1_800_000_000,
      },
      components: {
        realizedPnlLongUsd: 1,
        realizedPnlShortUsd: -2,
        unrealizedPnlLongUsd: null,
        unrealizedPnlShortUsd: 0,
      },
    },
  ])
  expect(await over('gm-user-earnings', (to) => getGmUserEarnings(to, { account }))).toMatchObject({
    request: `GET http://one/v1/yield/gm-user-earnings?account=${account}`,
    value: {
      account,
      windowDays: 7,
      endTimestampSeconds: 1_800_000_000,
      pools: [{ marketToken: market, lifetimeFeeUsd: 12n * ONE_USD, recent7dFeeUsd: 0n }],
    },
  })
})

test('the oracle’s markets are read, and their legacy liquidity is not', async () => {
  expect((await over('oracle-markets', oracleMarkets.getOracleMarkets)).value).toMatchObject([
    { name: 'ETH/USD [ETH-USDC]', marketToken: market, listingDate: '2023-08-08T00:00:00.000Z' },
  ])
  expect((await over('oracle-markets-info', oracleMarkets.getOracleMarketsInfo)).value).toEqual([
    {
      name: 'ETH/USD [ETH-USDC]',
      marketToken: market,
      indexToken: weth,
      longToken: weth,
      shortToken: usdc,
      isListed: true,
      openInterestLongUsd: 5n * ONE_USD,
      openInterestShortUsd: 6n * ONE_USD,
      poolAmountLong: 8n,
      fundingRateLong: -9n,
      netRateLong: -10n,
      isDisabled: false,
    },
  ])
  expect(await over('tokens-info', oracleMarkets.getOracleTokensInfo)).toMatchObject({
    request: 'GET http://primary/tokens/info',
    value: [{ symbol: 'ETH' }, { symbol: 'USDC' }, { symbol: 'BTC' }],
  })
})

test('market rows keep the protocol’s names, signs and the age of their values', async () => {
  const config = {
    marketToken: market,
    indexToken: weth,
    longToken: weth,
    shortToken: usdc,
    name: 'ETH/USD [WETH-USDC]',
    data: '',
    isSameCollaterals: false,
    isSpotOnly: false,
    isDisabled: false,
    useOpenInterestInTokensForBalance: true,
    maxLongPoolAmount: 100n,
    maxOpenInterestLong: 50_000_000n * ONE_USD,
    maxCollateralSumLongTokenLong: 10n ** 31n,
    minFundingIncreaseRatePerSecond: 0n,
    virtualIndexTokenId: `0x${'00'.repeat(32)}`,
  }
  const values = {
    marketToken: market,
    longPoolAmount: 12345678901234567890n,
    poolValueMin: -5n,
    longInterestUsd: 3n,
    virtualInventoryForPositions: -7n,
    virtualInventoryForPositionsInTokens: -8n,
    longsPayShorts: true,
    updatedAtMs: 1_800_000_000_123,
  }
  const never = { ...values, updatedAtMs: null }
  expect((await over('markets-info', getMarketsConfig)).value).toEqual([config, config])
  expect((await over('markets-info', getMarketsValues)).value).toEqual([values, never])
  expect(await over('markets-info', getMarketsInfo)).toEqual({
    request: 'GET http://one/v1/markets/info',
    value: [
      { ...config, ...values },
      { ...config, ...never },
    ],
    body: undefined,
  })
})

test('signed prices stay as they were signed', async () => {
  expect(await over('signed-prices', oracleMarkets.getSignedPrices)).toMatchObject({
    request: 'GET http://primary/signed_prices/latest',
    value: [
      {
        minOraclePrice: 1739495434083952n,
        oracleDecimals: 8,
        signature: `0x${'1b'.repeat(65)}`,
        maxBlockNumber: 300_000_002,
        createdAtSeconds: 1_800_000_000.25,
      },
    ],
  })
})

test('pair feeds are plain figures', async () => {
  const wanted = [
    {
      tickerId: 'ETH/USD [WETH-USDC]',
      baseCurrency: 'ETH',
      targetCurrency: 'USD',
      productType: 'Perpetual',
      baseVolume: 1.5,
      targetVolume: 2600.5,
      lastPrice: 1739.5,
      openInterest: 10,
      fundingRate: -0.00001,
      nextFundingRateAtSeconds: 1_800_003_600,
      poolId: market,
      liquidityUsd: 5,
    },
  ]
  expect((await over('pairs', getPairs)).value).toEqual(wanted)
  expect(await over('pairs', getSolanaPairs)).toMatchObject({
    request: 'GET http://one/v1/pairs/solana',
    value: wanted,
  })
})

test('the search of trades is a POST that reads', async () => {
  const got = await over('trades', (to) =>
    searchTrades(to, {
      account,
      fromSeconds: 1_800_000_000,
      marketsDirections: [{ marketToken: market, direction: 'long' }],
      orderEventCombinations: [{ eventName: 'OrderExecuted' }],
      showDebugValues: true,
      limit: 10,
    }),
  )
  expect(got.request).toBe('POST http://one/v1/trades/search')
  expect(got.body).toEqual({
    address: account,
    fromTimestamp: 1_800_000_000,
    marketsDirections: [{ marketAddress: market, direction: 'long' }],
    orderEventCombinations: [{ eventName: 'OrderExecuted' }],
    showDebugValues: true,
    limit: 10,
  })
})
