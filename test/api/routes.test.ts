/** What each route asks for and what it makes of a whole, well-formed body (test/fixtures/api, written from the wire). */
import { expect, test } from 'vitest'
import {
  getOrder,
  getOrders,
  getPosition,
  getPositions,
  getTrades,
} from '../../src/api/accounts/accountReads.ts'
import { getCandles, getMarketsState, getOracleTokens, getPrices, ping } from '../../src/api/feeds/oracle.ts'
import { getMarkets, getMarketTickers, getTradingCapacity } from '../../src/api/markets/marketReads.ts'
import { getTokens, getTokensInfo } from '../../src/api/markets/tokens.ts'
import { getRelayStatus, submitRelay } from '../../src/api/orders/relayRequests.ts'
import type { Read } from '../../src/api/transport/route.ts'
import type { Transport } from '../../src/api/transport/transportTypes.ts'
import { MAX_UINT256, ONE_USD } from '../../src/protocol/units.ts'
import { fixtureText, scriptedTransport } from './support.ts'

const account = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'
const weth = '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1'
const usdc = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'
const btc = '0x47904963fc8b2340414262125aF798B9655E58Cd'
const ethMarket = '0x70d95587d40A2caf56bd97485aB3Eec10Bee6336'
const btcMarket = '0x47c031236e19d024b42f8AE6780E44A573170703'

/** The value of a route over a fixture, and the request it made. */
async function over<T>(
  fixture: string,
  ask: (transport: Transport) => Promise<Read<T>>,
): Promise<{ value: T; request: string; body: unknown }> {
  const { transport, seen } = scriptedTransport(() => ({ body: fixtureText(fixture) }))
  const { value } = await ask(transport)
  const [first] = seen
  return {
    value,
    request: `${first?.method} ${first?.url}`,
    body: first?.body === undefined ? undefined : JSON.parse(first.body),
  }
}

const zeroAddress = `0x${'00'.repeat(20)}`

test('ping says whether the oracle is well', async () => {
  expect(await over('oracle-ping', ping)).toMatchObject({ value: true, request: 'GET http://primary/ping' })
})

test('oracle prices are exact USD per whole token, of tokens whose decimals are known', async () => {
  const decimals = new Map<string, number>([
    [weth, 18],
    [btc, 8],
    [usdc, 6],
  ])
  const all = await over('oracle-tickers', (transport) =>
    getPrices(transport, (token) => decimals.get(token)),
  )
  expect(all.request).toBe('GET http://primary/prices/tickers')
  expect(all.value).toEqual([
    {
      tokenSymbol: 'ETH',
      tokenAddress: weth,
      minPrice: 1739495434083952n * 10n ** 18n,
      maxPrice: 1739595434083952n * 10n ** 18n,
      medianPrice: 1739545434083952n * 10n ** 18n,
      updatedAtSeconds: 1800000000,
    },
    {
      tokenSymbol: 'BTC',
      tokenAddress: btc,
      minPrice: 61536387027772485n * 10n ** 18n,
      maxPrice: 61536387027772485n * 10n ** 18n + 2n * 10n ** 8n,
      medianPrice: 61536387027772485n * 10n ** 18n + 10n ** 8n,
      updatedAtSeconds: 1783345314,
    },
    {
      tokenSymbol: 'USDC',
      tokenAddress: usdc,
      minPrice: 9996878n * 10n ** 23n,
      maxPrice: 9996880n * 10n ** 23n,
      medianPrice: 9996879n * 10n ** 23n,
      updatedAtSeconds: 1800000000,
    },
  ])
  const some = await over('oracle-tickers', (transport) =>
    getPrices(transport, (token) => (token === weth ? 18 : undefined)),
  )
  expect(some.value.map(({ tokenSymbol }) => tokenSymbol)).toEqual(['ETH'])
})

test('candles come ascending, the running one last', async () => {
  const got = await over('oracle-candles', (transport) =>
    getCandles(transport, { tokenSymbol: 'ETH', period: '5m', limit: 3 }),
  )
  expect(got.request).toBe('GET http://primary/prices/candles?tokenSymbol=ETH&period=5m&limit=25')
  expect(got.value).toEqual([
    { timestampSeconds: 1800000000, open: 1740, high: 1740.1, low: 1738, close: 1739 },
    { timestampSeconds: 1800000300, open: 1739, high: 1741.6, low: 1738.9, close: 1741.5 },
    { timestampSeconds: 1800000600, open: 1741.5, high: 1742, low: 1740.25, close: 1741.75 },
  ])
})

test('oracle tokens carry the decimals that prices need', async () => {
  const got = await over('oracle-tokens', getOracleTokens)
  expect(got.value).toEqual([
    { symbol: 'ETH', address: weth, decimals: 18, isSynthetic: false },
    { symbol: 'BTC', address: btc, decimals: 8, isSynthetic: true },
    { symbol: 'USDC', address: usdc, decimals: 6, isSynthetic: false },
  ])
})

test('a market status that is not open or closed is unknown, in every shape the route may have', async () => {
  const got = await over('oracle-markets-state', getMarketsState)
  const wanted = new Map([
    [ethMarket.toLowerCase(), 'open'],
    [btcMarket.toLowerCase(), 'unknown'],
  ])
  expect(got.value).toEqual(wanted)
  const rows = (
    JSON.parse(fixtureText('oracle-markets-state')) as { markets: { marketToken: string; status: string }[] }
  ).markets
  for (const body of [
    rows,
    Object.fromEntries(rows.map(({ marketToken, status }) => [marketToken, status])),
    Object.fromEntries(rows.map(({ marketToken, status }) => [marketToken, { status }])),
  ]) {
    const { transport } = scriptedTransport(() => ({ body: JSON.stringify(body) }))
    expect((await getMarketsState(transport)).value).toEqual(wanted)
  }
})

test('markets carry their tokens, limits and highest leverage', async () => {
  const got = await over('markets', getMarkets)
  expect(got.request).toBe('GET http://one/v1/markets')
  expect(got.value).toEqual([
    {
      symbol: 'ETH/USD [WETH-USDC]',
      marketToken: ethMarket,
      indexToken: weth,
      longToken: weth,
      shortToken: usdc,
      isListed: true,
      isSpotOnly: false,
      minPositionSizeUsd: ONE_USD,
      minCollateralUsd: ONE_USD,
      maxLeverageBps: 1_000_000,
      leverageTiers: [
        { maxLeverageBps: 1_000_000, minCollateralFactor: 10n ** 28n },
        { maxLeverageBps: 500_000, minCollateralFactor: 2n * 10n ** 28n, maxPositionSizeUsd: 1n },
      ],
      listedAtSeconds: 1_691_452_800,
    },
    expect.objectContaining({ symbol: 'SWAP-ONLY [USDC-USDC.e]', isSpotOnly: true }),
  ])
  expect(got.value[1]).not.toHaveProperty('maxLeverageBps')
  expect(got.value[1]).not.toHaveProperty('leverageTiers')
})

test('tickers carry capacity, and the legacy liquidity never leaves the decoder', async () => {
  const got = await over('markets-tickers', (transport) =>
    getMarketTickers(transport, { symbols: ['ETH/USD [WETH-USDC]', 'BTC/USD [BTC-USDC]'] }),
  )
  expect(got.request).toBe(
    'GET http://one/v1/markets/tickers?symbols=ETH%2FUSD%20%5BWETH-USDC%5D&symbols=BTC%2FUSD%20%5BBTC-USDC%5D',
  )
  expect(got.value[0]).toEqual({
    symbol: 'ETH/USD [WETH-USDC]',
    marketToken: ethMarket,
    minPrice: 1739495434083952n * 10n ** 18n,
    maxPrice: 1739595434083952n * 10n ** 18n,
    markPrice: 1739545434083952n * 10n ** 18n,
    longInterestUsd: 34_000_000n * ONE_USD,
    shortInterestUsd: 33_000_000n * ONE_USD,
    fundingRateLong: -12n * 10n ** 24n,
    fundingRateShort: 123n * 10n ** 23n,
    longInterestUsdMark: 34_790_908n * ONE_USD,
    shortInterestUsdMark: 33_051_363n * ONE_USD,
    longInterestInTokens: 20_000n * 10n ** 18n,
    shortInterestInTokens: 19_000n * 10n ** 18n,
    borrowingRateLong: 10n ** 24n,
    borrowingRateShort: 0n,
    netRateLong: -13n * 10n ** 24n,
    netRateShort: 123n * 10n ** 23n,
    high24h: 1800n * ONE_USD,
    low24h: 1700n * ONE_USD,
    open24h: 1750n * ONE_USD,
    close24h: 1739n * ONE_USD,
    priceChange24h: -11n * ONE_USD,
    priceChange24hBps: -62n,
    poolAmountLongUsd: 60_000_000n * ONE_USD,
    poolAmountShortUsd: 59_000_000n * ONE_USD,
    capacityLong: {
      availableLiquidity: 1_500_000n * ONE_USD,
      baseAvailableLiquidity: 1_000_000n * ONE_USD,
      jitAvailableLiquidity: 500_000n * ONE_USD,
      limitingFactor: 'reserve',
      jitDataStatus: 'available',
      marketDataStatus: 'fresh',
    },
    capacityShort: {
      availableLiquidity: 7n * ONE_USD,
      baseAvailableLiquidity: 7n * ONE_USD,
      jitAvailableLiquidity: 0n,
      limitingFactor: 'openInterest',
      jitDataStatus: 'stale',
      marketDataStatus: 'unrecognised',
    },
  })
  expect(got.value[1]?.capacityLong).toBeUndefined()
  const names = new Set(got.value.flatMap((ticker) => Object.keys(ticker)))
  expect([...names].filter((name) => name.startsWith('available'))).toEqual([])
})

test('trading capacity is asked by symbol and direction', async () => {
  const got = await over('trading-capacity', (transport) =>
    getTradingCapacity(transport, { symbol: 'ETH/USD [WETH-USDC]', direction: 'short' }),
  )
  expect(got.request).toBe(
    'GET http://one/v1/markets/trading-capacity?symbol=ETH%2FUSD%20%5BWETH-USDC%5D&direction=short',
  )
  expect(got.value.availableLiquidity).toBe(1_500_000n * ONE_USD)
})

test('tokens carry flags, and prices where the route has them', async () => {
  const got = await over('tokens-info', getTokensInfo)
  expect(got.value).toMatchObject([
    {
      symbol: 'ETH',
      decimals: 18,
      isNative: true,
      isStable: false,
      minPrice: 1739495434083952n * 10n ** 18n,
    },
    { symbol: 'USDC', decimals: 6, isStable: true, maxPrice: 99968786n * 10n ** 22n },
    { symbol: 'BTC', decimals: 8, isSynthetic: true },
  ])
  expect(got.value[2]).not.toHaveProperty('minPrice')
  expect((await over('tokens-info', getTokens)).request).toBe('GET http://one/v1/tokens')
})

test('positions keep signs, and fall back to net value where the venue sends no position value', async () => {
  const got = await over('positions', (transport) => getPositions(transport, { account }))
  expect(got.request).toBe(`GET http://one/v1/positions?address=${account}`)
  expect(got.value[0]).toEqual({
    positionKey: `${account}:${ethMarket}:${usdc}:true`,
    contractKey: `0x${'a1'.repeat(32)}`,
    account,
    marketToken: ethMarket,
    collateralToken: usdc,
    direction: 'long',
    sizeInUsd: 500n * ONE_USD,
    sizeInTokens: 287459157142857142n,
    collateralAmount: 100_000_000n,
    collateralUsd: 99968786n * 10n ** 24n,
    remainingCollateralUsd: 999n * 10n ** 29n,
    markPrice: 1739495434083952n * 10n ** 18n,
    entryPrice: 1739378n * 10n ** 27n,
    liquidationPrice: 1401n * 10n ** 30n,
    pnlUsd: -15n * 10n ** 29n,
    pnlAfterFeesUsd: -157n * 10n ** 28n,
    positionValueInUsd: 98123456789012345678901234567890n,
    netValueUsd: 98398786n * 10n ** 24n,
    leverageBps: 50_800n,
    increasedAtSeconds: 1_800_000_000,
    decreasedAtSeconds: 0,
    pendingBorrowingFeesUsd: 12n * 10n ** 26n,
    pendingFundingFeesUsd: 12n * 10n ** 25n,
    closingFeeUsd: 3n * 10n ** 29n,
    uiFeeUsd: 0n,
    fundingFeeAmount: 120n,
    claimableLongTokenAmount: 0n,
    claimableShortTokenAmount: 3n,
    positionFeeAmount: 300_000n,
    traderDiscountAmount: 0n,
    uiFeeAmount: 0n,
    pendingImpactAmount: -1_200n,
    remainingCollateralAmount: 99_931_192n,
    pnlBps: -150n,
    pnlAfterAllFeesUsd: -19n * 10n ** 29n,
    netValueAfterAllFeesUsd: 98068786n * 10n ** 24n,
    netPriceImpactDeltaUsd: -3n * 10n ** 28n,
    hasLowCollateral: false,
    indexName: 'ETH/USD',
    poolName: 'WETH-USDC',
    data: '',
  })
  expect(got.value[1]).toMatchObject({ direction: 'short', positionValueInUsd: 98398786n * 10n ** 24n })
  expect(got.value[1]).not.toHaveProperty('leverageBps')
  const { transport, seen } = scriptedTransport(() => ({
    body: JSON.stringify((JSON.parse(fixtureText('positions')) as unknown[])[0]),
  }))
  await getPosition(transport, { positionKey: `${account}:${ethMarket}:${usdc}:true` })
  expect(seen[0]?.url).toBe(`http://one/v1/positions/${account}%3A${ethMarket}%3A${usdc}%3Atrue`)
})

test('resting orders keep contract prices, "any" included', async () => {
  const got = await over('orders', (transport) => getOrders(transport, { account }))
  expect(got.request).toBe(`GET http://one/v1/orders?address=${account}`)
  expect(got.value).toEqual([
    {
      orderKey: `0x${'0b'.repeat(32)}`,
      account,
      receiver: account,
      marketToken: ethMarket,
      initialCollateralToken: usdc,
      orderType: 5,
      direction: 'long',
      sizeDeltaUsd: 500n * ONE_USD,
      initialCollateralDeltaAmount: 0n,
      triggerContractPrice: 1_800_000_000_000_000n,
      acceptableContractPrice: MAX_UINT256,
      isFrozen: true,
      updatedAtSeconds: 1_800_000_123,
      validFromSeconds: 0,
      cancellationReceiver: zeroAddress,
      callbackContract: zeroAddress,
      uiFeeReceiver: zeroAddress,
      swapPath: [],
      decreasePositionSwapType: 0,
      executionFee: 10n ** 14n,
      callbackGasLimit: 0n,
      minOutputAmount: 0n,
      srcChainId: 0,
      shouldUnwrapNativeToken: false,
      autoCancel: true,
      dataList: [`0x${'00'.repeat(32)}`],
    },
  ])
  const { transport, seen } = scriptedTransport(() => ({
    body: JSON.stringify((JSON.parse(fixtureText('orders')) as unknown[])[0]),
  }))
  await getOrder(transport, { orderKey: '0x0b' })
  expect(seen[0]?.url).toBe('http://one/v1/orders/0x0b')
})

test('trades keep event names they do not know apart, and pass the cursor on', async () => {
  const got = await over('trades', (transport) =>
    getTrades(transport, { account, sinceSeconds: 1_800_000_000, limit: 50 }),
  )
  expect(got.request).toBe(`GET http://one/v1/trades?address=${account}&since=1800000000&limit=50`)
  expect(got.value).toMatchObject({ nextCursor: 'MTgwMDAwMDAwMzo=', hasMore: true })
  expect(got.value.trades[0]).toEqual({
    id: '0xaa:3',
    account,
    orderKey: `0x${'0c'.repeat(32)}`,
    transactionHash: `0x${'dd'.repeat(32)}`,
    eventName: 'OrderExecuted',
    orderType: 2,
    timestampSeconds: 1_800_000_007,
    initialCollateralToken: usdc,
    initialCollateralDeltaAmount: 100_000_000n,
    marketToken: ethMarket,
    direction: 'long',
    sizeDeltaUsd: 500n * ONE_USD,
    executionContractPrice: 1_739_378_000_000_000n,
    collateralTokenContractPriceMin: 99968786n * 10n ** 16n,
    collateralTokenContractPriceMax: 99968786n * 10n ** 16n,
    pnlUsd: 0n,
    priceImpactUsd: -3n * 10n ** 28n,
    positionFeeAmount: 300_000n,
    borrowingFeeAmount: 0n,
    fundingFeeAmount: 0n,
    swapPath: [],
    shouldUnwrapNativeToken: false,
    sizeDeltaInTokens: 287459157142857142n,
    acceptableContractPrice: 1_756_990_000_000_000n,
    indexTokenContractPriceMin: 1_739_495_434_083_952n,
    decreasePositionSwapType: 0,
    srcChainId: 0,
  })
  expect(got.value.trades[1]).toMatchObject({ eventName: 'unrecognised', reason: '' })
})

test('the relay takes calldata and tells how it fared', async () => {
  const call = { to: '0x5503b99308dB6923758F9A22d118207D633c4e87', data: '0x0427ef5f' } as const
  const taskId = `0x${'7a'.repeat(32)}`
  const submitted = await over('relay-submit', (transport) => submitRelay(transport, call))
  expect(submitted).toEqual({
    value: { taskId, status: 'pending' },
    request: 'POST http://one/v1/relay/submit',
    body: call,
  })
  const asked = await over('relay-status', (transport) => getRelayStatus(transport, { taskId }))
  expect(asked).toEqual({
    value: {
      taskId,
      status: 'reverted',
      txHash: `0x${'c3'.repeat(32)}`,
      reason: 'DeadlinePassed',
      revertData: '0x1bc3c4a3',
      debug: { chainId: 42_161 },
    },
    request: 'POST http://one/v1/relay/status',
    body: { taskId },
  })
})
