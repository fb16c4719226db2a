/**
 * What clients rely on, by letter: A, B, C, the parts of E and G that need a test of their own, and L.
 * D to K are in behaviours-prepare, behaviours-orders, subaccounts and gmxAccount.
 */
import { Agent, request } from 'node:http'
import { getAddress, hashTypedData, isHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashRelayParams } from '../../src/protocol/signing/relayRouter.ts'
import { type Any, ethMarket, ethSymbol, startVenue, trader, usd, usdc } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
beforeAll(async () => {
  paper = await startVenue()
  await paper.trade({ tpsl: [{ type: 'take-profit', triggerPrice: usd(4000) }] })
  await paper.trade({ orderType: 'limit', triggerPrice: usd(1000), size: usd(300) })
})
afterAll(() => paper.close())

const account = trader.address
const reads = [
  '/markets',
  '/markets/info',
  '/markets/config',
  '/markets/values',
  '/markets/tickers',
  `/markets/trading-capacity?symbol=${encodeURIComponent(ethSymbol)}&direction=short`,
  '/tokens',
  '/tokens/info',
  '/rates?period=7d&averageBy=1d',
  '/apy?period=7d',
  `/positions?address=${account}&includeRelatedOrders=true`,
  `/orders?address=${account}`,
  `/trades?address=${account}&showDebugValues=true`,
  '/prices/ohlcv?symbol=ETH%2FUSD&timeframe=1h&limit=3',
  '/yield/gm-pools?period=7d&includeComponents=true',
  '/jit/liquidity_info',
  '/jit/liquidity_history?period=1h',
  `/balances/wallet?address=${account}`,
  `/allowances?address=${account}&spender=router`,
  `/staking/power?address=${account}`,
  '/buyback/weekly-stats',
  '/performance/annualized?period=90d',
  '/performance/snapshots?period=90d',
  '/risk-oracle/markets',
]

/** Every leaf of a body with the name of its field. */
function* leaves(value: Any, name = ''): Generator<readonly [string, unknown]> {
  if (Array.isArray(value)) {
    for (const one of value) yield* leaves(one, name)
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, one] of Object.entries(value)) yield* leaves(one, key)
  } else yield [name, value] as const
}

test('A.1 JSON over HTTP/1.1 with keep-alive, and the content type on errors too', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const sockets = new Set<unknown>()
  const one = (path: string): Promise<readonly [number, string, string]> =>
    new Promise((resolve, reject) => {
      request(`${paper.api}${path}`, { agent }, (response) => {
        sockets.add(response.socket)
        let text = ''
        response.on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () =>
          resolve([response.statusCode ?? 0, response.headers['content-type'] ?? '', text]),
        )
      })
        .on('error', reject)
        .end()
    })
  for (const [path, status] of [
    ['/tokens', 200],
    ['/tokens', 200],
    ['/orders', 400],
    ['/nothing', 404],
    ['/markets', 200],
  ] as const) {
    const [got, type, text] = await one(path)
    expect([path, got, type]).toEqual([path, status, 'application/json'])
    expect(() => JSON.parse(text)).not.toThrow()
  }
  expect(sockets.size).toBe(1)
  agent.destroy()
})

/** Fields that travel as JSON numbers (A.2 and the field tables). */
const numberFields = new Set([
  ...['decimals', 'visualMultiplier', 'orderType', 'decreasePositionSwapType', 'updatedAt', 'timestamp'],
  ...[
    'srcChainId',
    'numberOfParts',
    'apy',
    'baseApy',
    'bonusApr',
    'feeApy',
    'tradersPnlUsd',
    'tradersPnlApr',
  ],
  ...['timeWeightedPoolValue', 'startTimestamp', 'endTimestamp', 'snapshotTimestamp', 'weekStart', 'weekEnd'],
  ...['realizedPnlLongUsd', 'realizedPnlShortUsd', 'unrealizedPnlLongUsd', 'unrealizedPnlShortUsd'],
  ...['userSharePercent', 'loyaltyRatio', 'lastPowerResetAt', 'powerResetCount', 'powerAccrualStart'],
  ...['loyaltyTrackingStart', 'weeksTracked', 'days'],
])
/** Fields that are texts whatever they hold. */
const texts = new Set(['symbol', 'name', 'data', 'performance', 'contractVersion'])

test('A.2 integers travel as decimal strings, JSON numbers only where a field table says so', async () => {
  for (const path of reads) {
    const { body } = await paper.get(path)
    for (const [name, value] of leaves(body)) {
      if (typeof value === 'number') expect([path, name, numberFields.has(name)]).toEqual([path, name, true])
      if (typeof value !== 'string' || texts.has(name)) continue
      if (/^[-+]?[\d.]+(e[-+]?\d+)?$/i.test(value)) {
        expect([path, name, value]).toEqual([path, name, expect.stringMatching(/^(0|-?[1-9]\d*)$/)])
      }
    }
  }
})

test('A.2 identifiers are never all digits', async () => {
  const { body } = await paper.prepare({})
  for (const id of [body.requestId, body.idempotencyKey]) expect(id).not.toMatch(/^-?\d+$/)
  const { taskId } = (await paper.submit(body)).body
  expect(isHex(taskId)).toBe(true)
  for (const row of (await paper.get('/trades?limit=50')).body.trades) {
    for (const id of [row.id, row.orderKey, row.transactionHash]) expect(id).not.toMatch(/^-?\d+$/)
  }
})

test('A.3 a bigint of a request is a decimal string or a JSON integer; lists are repeated keys', async () => {
  const text = await paper.prepare({ collateralToPay: { amount: '200000000', token: 'USDC' } })
  const number = await paper.prepare({ collateralToPay: { amount: 200_000_000, token: 'USDC' } })
  expect([text.status, number.status]).toEqual([200, 200])
  expect(number.body.estimates).toEqual(text.body.estimates)
  const btc = 'BTC/USD [BTC-USDC]'
  const query = [ethSymbol, btc].map((symbol) => `symbols=${encodeURIComponent(symbol)}`).join('&')
  const rows = (await paper.get(`/markets/tickers?${query}`)).body
  expect(rows.map(({ symbol }: Any) => symbol).sort()).toEqual([btc, ethSymbol])
})

test('A.4 addresses come back checksummed whatever the case of the question', async () => {
  for (const path of reads) {
    const { body } = await paper.get(path.replaceAll(account, account.toLowerCase()))
    for (const [name, value] of leaves(body)) {
      if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(value)) continue
      expect([path, name, value]).toEqual([path, name, getAddress(value)])
    }
  }
  const { body } = await paper.prepare({ from: account.toLowerCase(), collateralToken: usdc.toLowerCase() })
  for (const [name, value] of leaves(body)) {
    if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(value)) continue
    expect([name, value]).toEqual([name, getAddress(value)])
  }
})

test('A.5 errors have one of three bodies and a trace id, and bad input is never a 5xx', async () => {
  const forms: Any[] = [
    await paper.prepare({ symbol: 'NONE/USD' }),
    await paper.prepare({ mode: 'neither' }),
    await paper.get('/orders'),
    await paper.get('/nothing'),
    await paper.post('/orders/txns/status', { requestId: 'nobody' }),
    await paper.post('/orders/txns/submit', 'no JSON'),
    await paper.post('/relay/status', { taskId: 7 }),
  ]
  for (const { status, headers, body } of forms) {
    expect([400, 404]).toContain(status)
    expect(headers.get('x-trace-id')).toBeTruthy()
    expect(
      Object.keys(body).filter((name) => !['code', 'message', 'details', 'traceId'].includes(name)),
    ).toEqual([])
    if (typeof body.message === 'string') continue
    expect(body.code).toBeUndefined()
    for (const field of Object.values<Any>(body.message)) expect(typeof field.message).toBe('string')
  }
})

test('A.6 every prepare code comes with a plain message that names what is missing', async () => {
  const swap = { kind: 'swap', orderType: 'market', receiveToken: 'WETH' }
  const close = { kind: 'decrease', collateralToPay: undefined }
  const lots = { size: usd(1e9), collateralToPay: { amount: '900000000000000', token: 'USDC' } }
  for (const [code, fields, names] of [
    ['INVALID_PARAMS', { ...swap, receiveToken: 'USDC' }, /token/i],
    ['MARKET_NOT_FOUND', { symbol: 'NONE/USD' }, /NONE\/USD/],
    ['TOKEN_NOT_FOUND', { collateralToPay: { amount: '1', token: 'NONE' } }, /NONE/],
    [
      'NO_SWAP_PATH',
      { ...swap, orderType: 'twap', twapConfig: { duration: 600, parts: 2 } },
      /^No swap path/,
    ],
    ['POSITION_NOT_FOUND', { ...close, direction: 'short' }, /position/i],
    ['INSUFFICIENT_LIQUIDITY', lots, /liquidity/i],
    [
      'INSUFFICIENT_COLLATERAL',
      { direction: 'short', collateralToPay: { amount: '600000', token: 'USDC' } },
      /collateral/i,
    ],
  ] as const) {
    const { status, body } = await paper.prepare(fields as Record<string, unknown>)
    expect([status, body.code, body.message]).toEqual([400, code, expect.stringMatching(names)])
    if (code !== 'INSUFFICIENT_LIQUIDITY') continue
    expect(body.details.requestedSizeUsd).toMatch(/^[1-9]\d*$/)
    expect(Object.keys(body.details).sort()).toEqual([
      'availableLiquidity',
      'baseAvailableLiquidity',
      'jitAvailableLiquidity',
      'jitDataStatus',
      'limitingFactor',
      'marketDataStatus',
      'requestedSizeUsd',
    ])
  }
})

test('A.7 unknown request fields are ignored', async () => {
  const plain = await paper.prepare({})
  const more = await paper.prepare({ aNewField: { deep: [1] }, another: null })
  expect([more.status, more.body.estimates]).toEqual([200, plain.body.estimates])
})

test('B.1 the catalogue: symbol, four addresses, flags, tiers and minima', async () => {
  const rows = (await paper.get('/markets')).body
  expect(rows.length).toBeGreaterThan(0)
  for (const row of rows) {
    expect(row.symbol).toMatch(/^[^ ]+ \[[^\]]+-[^\]]+\]$/)
    for (const name of ['market', 'index', 'long', 'short']) {
      expect(row[`${name}TokenAddress`]).toMatch(/^0x[0-9a-fA-F]{40}$/)
    }
    expect([typeof row.isListed, typeof row.isSpotOnly]).toEqual(['boolean', 'boolean'])
    expect(BigInt(row.minPositionSizeUsd) > 0n && BigInt(row.minCollateralUsd) > 0n).toBe(true)
    for (const tier of row.leverageTiers) {
      expect([tier.maxLeverage, tier.minCollateralFactor]).toEqual([
        expect.stringMatching(/^\d+$/),
        expect.stringMatching(/^\d+$/),
      ])
    }
  }
})

const configFields =
  'maxLongPoolAmount maxShortPoolAmount minPositionImpactPoolAmount lentPositionImpactPoolAmount positionImpactPoolDistributionRate maxLongPoolUsdForDeposit maxShortPoolUsdForDeposit maxOpenInterestLong maxOpenInterestShort maxLendableImpactUsd maxCollateralSumLongTokenLong maxCollateralSumLongTokenShort maxCollateralSumShortTokenLong maxCollateralSumShortTokenShort reserveFactorLong reserveFactorShort openInterestReserveFactorLong openInterestReserveFactorShort borrowingExponentFactorLong borrowingExponentFactorShort fundingExponentFactor thresholdForStableFunding thresholdForDecreaseFunding minCollateralFactor minCollateralFactorForLiquidation minCollateralFactorForOpenInterestLong minCollateralFactorForOpenInterestShort maxPnlFactorForTradersLong maxPnlFactorForTradersShort positionFeeFactorForBalanceWasImproved positionFeeFactorForBalanceWasNotImproved positionImpactFactorPositive positionImpactFactorNegative positionImpactExponentFactorPositive positionImpactExponentFactorNegative maxPositionImpactFactorPositive maxPositionImpactFactorNegative maxPositionImpactFactorForLiquidations maxLendableImpactFactor maxLendableImpactFactorForWithdrawals swapFeeFactorForBalanceWasImproved swapFeeFactorForBalanceWasNotImproved atomicSwapFeeFactor swapImpactFactorPositive swapImpactFactorNegative swapImpactExponentFactor borrowingFactorLong borrowingFactorShort fundingFactor fundingIncreaseFactorPerSecond fundingDecreaseFactorPerSecond minFundingFactorPerSecond maxFundingFactorPerSecond minFundingIncreaseRatePerSecond minFundingFactorPerSecondLong maxFundingFactorPerSecondLong minFundingFactorPerSecondShort maxFundingFactorPerSecondShort'.split(
    ' ',
  )
const valueFields =
  'longPoolAmount shortPoolAmount positionImpactPoolAmount swapImpactPoolAmountLong swapImpactPoolAmountShort virtualPoolAmountForLongToken virtualPoolAmountForShortToken poolValueMax poolValueMin totalBorrowingFees longInterestUsd shortInterestUsd virtualInventoryForPositions longInterestInTokens shortInterestInTokens virtualInventoryForPositionsInTokens borrowingFactorPerSecondForLongs borrowingFactorPerSecondForShorts fundingFactorPerSecond longInterestUsdUsingLongToken longInterestUsdUsingShortToken shortInterestUsdUsingLongToken shortInterestUsdUsingShortToken longInterestInTokensUsingLongToken longInterestInTokensUsingShortToken shortInterestInTokensUsingLongToken shortInterestInTokensUsingShortToken'.split(
    ' ',
  )

test('B.2 config, values and their composite carry every field with its type', async () => {
  const missing = (row: Any, names: readonly string[]): string[] =>
    names.filter((name) => !/^-?\d+$/.test(String(row[name])) || typeof row[name] !== 'string')
  const [config, values, info] = await Promise.all(
    ['config', 'values', 'info'].map(async (name) => (await paper.get(`/markets/${name}`)).body),
  )
  for (const row of [...config, ...info]) {
    expect(missing(row, configFields)).toEqual([])
    for (const name of [
      'useOpenInterestInTokensForBalance',
      'isDisabled',
      'isSameCollaterals',
      'isSpotOnly',
    ]) {
      expect(typeof row[name]).toBe('boolean')
    }
    for (const name of [
      'virtualMarketId',
      'virtualLongTokenId',
      'virtualShortTokenId',
      'virtualIndexTokenId',
    ]) {
      expect(row[name]).toMatch(/^0x[0-9a-f]{64}$/)
    }
    expect(row.marketTokenAddress).toBe(getAddress(row.marketTokenAddress))
  }
  for (const row of [...values, ...info]) {
    expect(missing(row, valueFields)).toEqual([])
    expect(Number.isInteger(row.updatedAt) && row.updatedAt > 10 ** 12).toBe(true)
    expect(typeof row.longsPayShorts).toBe('boolean')
  }
  // The composite is exactly the two together.
  expect(Object.keys(info[0]).sort()).toEqual(
    [...new Set([...Object.keys(config[0]), ...Object.keys(values[0])])].sort(),
  )
})

test('B.3 tickers: filters, prices in USD with 30 decimals, the capacity object of trading-capacity', async () => {
  const all = (await paper.get('/markets/tickers')).body
  expect(all).toHaveLength((await paper.get('/markets')).body.length)
  const one = (await paper.get(`/markets/tickers?addresses=${ethMarket.toLowerCase()}`)).body
  expect(one.map(({ symbol }: Any) => symbol)).toEqual([ethSymbol])
  const oracle = (await paper.call('GET', `${paper.oracle}/prices/tickers`)).body
  const eth = oracle.find(({ tokenSymbol }: Any) => tokenSymbol === 'ETH')
  expect(one[0].minPrice).toBe((BigInt(eth.minPrice) * 10n ** 18n).toString())
  for (const direction of ['long', 'short']) {
    const query = new URLSearchParams({ symbol: ethSymbol, direction })
    const { body } = await paper.get(`/markets/trading-capacity?${query}`)
    expect(body).toEqual(direction === 'long' ? one[0].capacityLong : one[0].capacityShort)
  }
  for (const { capacityLong, capacityShort } of all) {
    for (const side of [capacityLong, capacityShort]) {
      for (const name of ['availableLiquidity', 'baseAvailableLiquidity', 'jitAvailableLiquidity']) {
        expect(side[name]).toMatch(/^(0|[1-9]\d*)$/)
      }
      expect(['reserve', 'openInterest', 'both', 'notApplicable']).toContain(side.limitingFactor)
    }
  }
  expect((await paper.get('/markets/tickers?symbols=NOPE')).status).toBe(400)
})

test('B.4 tokens with their flags, prices, pairs, rates and apy', async () => {
  const find = (rows: Any[], symbol: string): Any => rows.find((row) => row.symbol === symbol)
  for (const path of ['/tokens', '/tokens/info']) {
    const rows = (await paper.get(path)).body
    expect(find(rows, 'ETH')).toMatchObject({ address: `0x${'0'.repeat(40)}`, isNative: true, decimals: 18 })
    expect(find(rows, 'WETH')).toMatchObject({ isWrapped: true })
    expect(find(rows, 'USDC')).toMatchObject({ isStable: true, decimals: 6, address: usdc })
  }
  const info = (await paper.get('/tokens/info')).body
  for (const { prices } of info) {
    if (prices !== undefined) expect(BigInt(prices.maxPrice)).toBeGreaterThanOrEqual(BigInt(prices.minPrice))
  }
  expect((await paper.get('/pairs')).body.length).toBeGreaterThan(0)
  expect(Array.isArray((await paper.get('/rates?period=7d&averageBy=1d')).body)).toBe(true)
  expect(Object.keys((await paper.get('/apy?period=7d')).body)).toEqual(['markets', 'glvs'])
})

test('B.5 a market and a token are named by symbol, alias or address in every request', async () => {
  const names = [ethSymbol, ethMarket, ethMarket.toLowerCase(), 'ETH/USD']
  for (const name of names) {
    const symbol = encodeURIComponent(name)
    expect((await paper.get(`/markets/tickers?symbols=${symbol}`)).body[0].symbol).toBe(ethSymbol)
    expect((await paper.get(`/markets/trading-capacity?symbol=${symbol}&direction=long`)).status).toBe(200)
    expect((await paper.get(`/prices/ohlcv?symbol=${symbol}&timeframe=1h&limit=1`)).status).toBe(200)
    const { body } = await paper.prepare({ symbol: name })
    const [order] = body.payload.typedData.message.createOrderParamsList
    expect([name, order.addresses.market]).toEqual([name, ethMarket])
  }
  for (const token of ['USDC', usdc, usdc.toLowerCase()]) {
    const { body } = await paper.prepare({
      collateralToken: token,
      collateralToPay: { amount: '200000000', token },
    })
    const [order] = body.payload.typedData.message.createOrderParamsList
    expect([token, order.addresses.initialCollateralToken]).toEqual([token, usdc])
  }
})

test('C.1 positions and orders need a valid address; one never seen has none', async () => {
  for (const path of ['/positions', '/orders']) {
    for (const query of ['', '?address=', '?address=0x12', `?address=${account}00`]) {
      expect([path + query, (await paper.get(path + query)).status]).toEqual([path + query, 400])
    }
    const never = await paper.get(`${path}?address=0x00000000000000000000000000000000000000a7`)
    expect([never.status, never.body]).toEqual([200, []])
  }
})

test('C.2 a position row has its fields, and related orders never hide a row', async () => {
  const [row, ...others] = (await paper.get(`/positions?address=${account}`)).body
  expect(others).toEqual([])
  expect(row).toMatchObject({
    key: `${account}:${ethMarket}:${usdc}:true`,
    account,
    marketAddress: ethMarket,
    collateralTokenAddress: usdc,
    isLong: true,
    sizeInUsd: usd(1000),
    indexName: 'ETH/USD',
    poolName: 'WETH-USDC',
  })
  expect(row.contractKey).toMatch(/^0x[0-9a-f]{64}$/)
  for (const name of [
    ...[
      'sizeInTokens',
      'collateralAmount',
      'collateralUsd',
      'remainingCollateralUsd',
      'leverage',
      'markPrice',
    ],
    ...[
      'entryPrice',
      'liquidationPrice',
      'pnl',
      'pnlPercentage',
      'pnlAfterFees',
      'pnlAfterAllFees',
      'netValue',
    ],
    ...[
      'pnlAfterFeesPercentage',
      'pnlAfterAllFeesPercentage',
      'netValueAfterAllFees',
      'netPriceImapctDeltaUsd',
    ],
    ...[
      'priceImpactDiffUsd',
      'pendingImpactUsd',
      'closePriceImpactDeltaUsd',
      'leverageWithPnl',
      'closingFeeUsd',
    ],
    ...['leverageWithoutPnl', 'uiFeeUsd', 'pendingFundingFeesUsd', 'pendingClaimableFundingFeesUsd'],
    ...[
      'pendingBorrowingFeesUsd',
      'increasedAtTime',
      'decreasedAtTime',
      'fundingFeeAmount',
      'pendingImpactAmount',
    ],
    ...['claimableLongTokenAmount', 'claimableShortTokenAmount', 'positionFeeAmount', 'traderDiscountAmount'],
    ...['uiFeeAmount', 'remainingCollateralAmount', 'positionValueInUsd'],
  ]) {
    expect([name, row[name]]).toEqual([name, expect.stringMatching(/^-?\d+$/)])
  }
  const related = (await paper.get(`/positions?address=${account}&includeRelatedOrders=true`)).body
  expect(related.map(({ key }: Any) => key)).toEqual([row.key])
  expect(related[0].relatedOrders.length).toBeGreaterThan(0)
})

test('C.3 an order row has contract prices and comes oldest first', async () => {
  const rows = (await paper.get(`/orders?address=${account}`)).body
  expect(rows.map(({ orderType }: Any) => orderType)).toEqual([5, 3])
  const [takeProfit, limit] = rows
  expect(takeProfit.triggerPrice).toBe((4000n * 10n ** 12n).toString())
  expect(limit.triggerPrice).toBe((1000n * 10n ** 12n).toString())
  for (const row of rows) {
    expect(row.key).toMatch(/^0x[0-9a-f]{64}$/)
    expect(BigInt(row.executionFee)).toBeGreaterThan(0n)
    expect(row).toMatchObject({ account, receiver: account, marketAddress: ethMarket, isLong: true })
    for (const name of ['isFrozen', 'autoCancel', 'shouldUnwrapNativeToken']) {
      expect(typeof row[name]).toBe('boolean')
    }
    for (const name of [
      ...[
        'sizeDeltaUsd',
        'initialCollateralDeltaAmount',
        'acceptablePrice',
        'updatedAtTime',
        'validFromTime',
      ],
      ...['minOutputAmount', 'callbackGasLimit', 'srcChainId'],
    ]) {
      expect([name, row[name]]).toEqual([name, expect.stringMatching(/^\d+$/)])
    }
    expect(Array.isArray(row.swapPath) && Array.isArray(row.dataList)).toBe(true)
    expect((await paper.get(`/orders/${row.key}`)).body).toEqual(row)
  }
})

test('C.4 what a status reports is in the lists at once', async () => {
  const own = await startVenue()
  // The empty list is asked for first, so that nothing kept may answer the next question.
  expect(await own.positions()).toEqual([])
  const prepared = (await own.prepare({})).body
  await own.submit(prepared)
  let polls = 0
  for (; (await own.status(prepared.requestId)).body.status !== 'executed'; polls += 1) {
    await own.positions()
    own.clock.move(50)
  }
  expect(polls).toBeLessThan(50)
  expect(await own.positions()).toHaveLength(1)
  const resting = (await own.prepare({ orderType: 'limit', triggerPrice: usd(1000) })).body
  await own.submit(resting)
  while ((await own.status(resting.requestId)).body.status !== 'created') own.clock.move(50)
  expect((await own.get(`/orders?address=${account}`)).body).toHaveLength(1)
  await own.close()
})

test('E.1 the payload has the typed data, the batch, the relay parameters and the router', async () => {
  const { payload } = (await paper.prepare({})).body
  expect(Object.keys(payload).sort()).toEqual([
    'batchParams',
    'relayParams',
    'relayRouterAddress',
    'typedData',
  ])
  expect(Object.keys(payload.typedData).sort()).toEqual(['domain', 'message', 'primaryType', 'types'])
  expect(payload.typedData.primaryType).toBe('Batch')
  expect(payload.relayRouterAddress).toBe(payload.typedData.domain.verifyingContract)
})

test('E.2 the domain is the chain’s relay router', async () => {
  const { domain } = (await paper.prepare({})).body.payload.typedData
  expect(domain).toEqual({
    name: 'GmxBaseGelatoRelayRouter',
    version: '1',
    chainId: 42161,
    verifyingContract: '0x5503b99308dB6923758F9A22d118207D633c4e87',
  })
})

test('E.3 the primary type is listed first, and a wallet that knows only the payload can sign it', async () => {
  const prepared = (await paper.prepare({})).body
  const { typedData } = prepared.payload
  expect(Object.keys(typedData.types)[0]).toBe('Batch')
  const signature = await trader.signTypedData(typedData)
  const answer = await paper.post('/orders/txns/submit', {
    ...(await paper.submitBody(prepared)),
    signature,
  })
  expect([answer.status, answer.body.status]).toEqual([200, 'relay_accepted'])
  paper.clock.move(2500)
  expect((await paper.status(prepared.requestId)).body.status).toBe('executed')
})

test('E.4 the message: zero account, owner as receiver, hashes, and a nonce of its own for every prepare', async () => {
  const prepared = await Promise.all([paper.prepare({}), paper.prepare({})])
  const digests = new Set<string>()
  for (const { body } of prepared) {
    const { typedData, relayParams } = body.payload
    const { message } = typedData
    expect(message.account).toBe(`0x${'0'.repeat(40)}`)
    expect(message.subaccountApproval).toBe(`0x${'0'.repeat(64)}`)
    const [{ addresses }] = message.createOrderParamsList
    expect([addresses.receiver, addresses.cancellationReceiver]).toEqual([account, `0x${'0'.repeat(40)}`])
    expect(message.relayParams).toBe(
      hashRelayParams({
        ...relayParams,
        fee: { ...relayParams.fee, feeAmount: BigInt(relayParams.fee.feeAmount) },
        userNonce: BigInt(relayParams.userNonce),
        deadline: BigInt(relayParams.deadline),
        desChainId: BigInt(relayParams.desChainId),
      }),
    )
    digests.add(hashTypedData(typedData))
  }
  expect(digests.size).toBe(2)
})

test('E.4 every number of the message is a uint256, whatever is asked, so that clients can sign', async () => {
  const own = await startVenue()
  await own.trade({ direction: 'short' })
  const sizes = ['1', '1000', usd(0.01), usd(3), usd(900_000)]
  const kinds = [
    { orderType: 'market' },
    { orderType: 'limit', triggerPrice: '1' },
    { orderType: 'limit', triggerPrice: usd(1700), acceptablePriceImpactBps: '1'.repeat(70) },
    { orderType: 'stop-market', triggerPrice: (2n ** 255n).toString() },
  ]
  const closes = [
    { orderType: 'market', kind: 'decrease', collateralToPay: undefined },
    { orderType: 'take-profit', kind: 'decrease', collateralToPay: undefined, triggerPrice: usd(1700) },
  ]
  let made = 0
  for (const fields of [...kinds, ...closes]) {
    for (const size of sizes) {
      for (const direction of ['long', 'short']) {
        for (const slippage of [0, 10_000]) {
          const pay = { amount: '90000000000', token: 'USDC' }
          const answer = await own.prepare({ collateralToPay: pay, ...fields, size, direction, slippage })
          if (answer.status === 400) continue
          expect(answer.status).toBe(200)
          const { message } = answer.body.payload.typedData
          for (const { numbers } of message.createOrderParamsList) {
            for (const [name, value] of Object.entries<string>(numbers)) {
              const isFit = /^\d+$/.test(value) && BigInt(value) < 2n ** 256n
              expect([fields, size, direction, slippage, name, isFit ? '' : value]).toEqual([
                ...[fields, size, direction, slippage, name, ''],
              ])
            }
          }
          made += 1
        }
      }
    }
  }
  expect(made).toBeGreaterThan(60)
  await own.close()
})

const order = ['prepared', 'relay_accepted', 'relay_pending', 'relay_submitted', 'created', 'executed']

test('G.2 a status goes forward only, echoes its requestId, and tells hashes and keys once they are known', async () => {
  const prepared = (await paper.prepare({})).body
  const seen: Any[] = [(await paper.status(prepared.requestId)).body]
  await paper.submit(prepared)
  for (let i = 0; i < 40; i += 1) {
    seen.push((await paper.status(prepared.requestId)).body)
    paper.clock.move(100)
  }
  const steps = seen.map(({ status }) => order.indexOf(status))
  expect(steps).toEqual([...steps].sort((a, b) => a - b))
  expect(steps[0]).toBe(0)
  expect(seen.at(-1).status).toBe('executed')
  expect(new Set(seen.map(({ requestId }) => requestId))).toEqual(new Set([prepared.requestId]))
  for (const { createdAt, updatedAt } of seen) {
    expect(new Date(createdAt).toISOString()).toBe(createdAt)
    expect(updatedAt >= createdAt).toBe(true)
  }
  const last = seen.at(-1)
  expect(last.createdTxnHash).toMatch(/^0x[0-9a-f]{64}$/)
  expect(last.executionTxnHash).toMatch(/^0x[0-9a-f]{64}$/)
  expect(last.executionTxnHash).not.toBe(last.createdTxnHash)
  expect(last.orderKeys).toHaveLength(1)
})

test('G.4 by default a market order is executed and visible well under six seconds after its submit', async () => {
  const own = await startVenue({ settings: {} })
  const startedMs = own.clock.now()
  const prepared = (await own.prepare({})).body
  await own.submit(prepared)
  while ((await own.status(prepared.requestId)).body.status !== 'executed') own.clock.move(100)
  expect(own.clock.now() - startedMs).toBeLessThanOrEqual(2500)
  expect(await own.positions()).toHaveLength(1)
  await own.close()
})

test.each([
  '/markets/config',
  '/markets/values',
  `/markets/trading-capacity?symbol=${encodeURIComponent(ethSymbol)}&direction=long`,
  `/trades?address=${account}`,
  '/prices/ohlcv?symbol=ETH%2FUSD&timeframe=1m',
  '/performance/annualized',
  '/performance/snapshots',
  '/yield/gm-pools',
  '/buyback/weekly-stats',
  `/staking/power?address=${account}`,
  `/balances/wallet?address=${account}`,
  `/allowances?address=${account}&spender=router`,
  '/jit/liquidity_info',
])('L %s is part of the surface', async (path) => {
  expect((await paper.get(path)).status).toBe(200)
})

test.each([
  ['/trades/search', { address: account }, 200],
  ['/relay/submit', {}, 400],
  ['/relay/status', { taskId: `0x${'1'.repeat(64)}` }, 404],
  ['/orders/txns/collateral/prepare', {}, 400],
] as const)('L POST %s is part of the surface', async (path, body, status) => {
  const answer = await paper.post(path, body)
  expect(answer.status).toBe(status)
  expect(answer.body.message === 'Not Found').toBe(false)
})
