/** The clients as the daemon has them, over the paper venue: two readings of the wire that check each other. */
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, createApi } from '../../src/api/client.ts'
import { RefusedError } from '../../src/api/transport/apiErrors.ts'
import { createNodeFetch } from '../../src/api/transport/nodeFetch.ts'
import type { Fetch } from '../../src/api/transport/route.ts'
import type { RequestAttempt } from '../../src/api/transport/transportTypes.ts'
import { type ServedVenue, serveVenue } from '../../src/paper/server/serve.ts'
import { createVenue } from '../../src/paper/server/venue.ts'
import { hexKey } from '../../src/protocol/address.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { digestOf, domainSeparator, hashRelayParams } from '../../src/protocol/signing/relayRouter.ts'
import { absOf, ONE_USD } from '../../src/protocol/units.ts'
import { failureOf, jumpingClock, realClock, START_MS } from './support.ts'

const chain = chains.arbitrum
const signer = privateKeyToAccount(`0x${'5a'.repeat(32)}`)
const symbol = 'ETH/USD [WETH-USDC]'
const nodeFetch = createNodeFetch()
const attempts: RequestAttempt[] = []
let served: ServedVenue
let api: Api

beforeAll(async () => {
  const venue = createVenue({ clock: realClock, chain, settings: { keeperDelayMs: 100 } })
  served = await serveVenue(venue, { hostname: '127.0.0.1', port: 0, tickMs: 20 })
  api = createApi({
    chain,
    hosts: { api: served.api, oracle: served.oracle },
    fetch: nodeFetch.fetch,
    clock: realClock,
    random: Math.random,
    limits: { requestsPerSecondPerHost: Number.POSITIVE_INFINITY },
    onAttempt: (attempt) => attempts.push(attempt),
  })
})
afterAll(async () => {
  nodeFetch.close()
  await served.close()
})

test('prices of the oracle and marks of the tickers agree for every market', async () => {
  expect((await api.ping()).value).toBe(true)
  const tokens = (await api.getOracleTokens()).value
  const decimals = new Map(tokens.map((token) => [hexKey(token.address), token.decimals]))
  const prices = (await api.getPrices((token) => decimals.get(hexKey(token)))).value
  const byToken = new Map(prices.map((price) => [hexKey(price.tokenAddress), price]))
  const [markets, tickers, states] = await Promise.all([
    api.getMarkets(),
    api.getMarketTickers(),
    api.getMarketsState(),
  ])
  const compared = markets.value.filter(({ isSpotOnly }) => !isSpotOnly)
  expect(compared.length).toBeGreaterThanOrEqual(20)
  for (const market of compared) {
    const price = byToken.get(hexKey(market.indexToken))
    const ticker = tickers.value.find(({ marketToken }) => hexKey(marketToken) === hexKey(market.marketToken))
    if (price === undefined || ticker === undefined) throw new Error(`no price of ${market.symbol}`)
    const gap = absOf(price.medianPrice - ticker.markPrice)
    expect(gap * 50n, market.symbol).toBeLessThan(ticker.markPrice)
    expect(ticker.capacityLong, market.symbol).toBeDefined()
    expect(['open', 'closed', 'unknown']).toContain(states.value.get(hexKey(market.marketToken)))
  }
})

test('market settings, values and the tokens of a wallet are read whole', async () => {
  const [info, config, values, markets] = await Promise.all([
    api.getMarketsInfo(),
    api.getMarketsConfig(),
    api.getMarketsValues(),
    api.getOracleMarkets(),
  ])
  expect(info.value.length).toBeGreaterThanOrEqual(20)
  expect(config.value).toHaveLength(info.value.length)
  expect(values.value).toHaveLength(info.value.length)
  for (const row of info.value) {
    expect(row.virtualInventoryForPositionsInTokens, row.name).toBeTypeOf('bigint')
    expect(row.maxCollateralSumLongTokenLong, row.name).toBeTypeOf('bigint')
  }
  expect(markets.value.length).toBeGreaterThanOrEqual(info.value.length)
  const balances = (await api.getWalletBalances({ account: signer.address })).value
  expect(balances.find(({ symbol: name }) => name === 'USDC')?.balance).toBeTypeOf('bigint')
})

test('candles of every period end now', async () => {
  for (const [period, seconds] of [
    ['1m', 60],
    ['5m', 300],
    ['15m', 900],
    ['1h', 3_600],
    ['4h', 14_400],
    ['1d', 86_400],
  ] as const) {
    const { value } = await api.getCandles({ tokenSymbol: 'ETH', period, limit: 20 })
    expect(value).toHaveLength(20)
    const last = value.at(-1)?.timestampSeconds ?? 0
    expect(Math.abs(Date.now() / 1000 - last)).toBeLessThanOrEqual(seconds + 60)
  }
})

test('an order goes its whole way: prepared, verified by hash, signed, submitted once, executed, seen in every list', async () => {
  const account = signer.address
  const capacity = await api.getTradingCapacity({ symbol, direction: 'long' })
  expect(capacity.value.availableLiquidity).toBeGreaterThan(100n * ONE_USD)
  const { value: prepared } = await api.prepareOrder({
    kind: 'increase',
    orderType: 'market',
    from: account,
    symbol,
    direction: 'long',
    sizeDeltaUsd: 100n * ONE_USD,
    slippageBps: 100,
    collateralToken: 'USDC',
    collateralToPay: { amount: 50_000_000n, token: 'USDC' },
  })
  const { batch, domain } = prepared.typedData
  expect(hashRelayParams(prepared.relayParams)).toBe(batch.relayParams)
  expect(batch.createOrderParamsList[0]?.numbers.sizeDeltaUsd).toBe(100n * ONE_USD)
  expect((await api.getOrderStatus(prepared)).value.status).toBe('prepared')

  const digest = digestOf(domainSeparator(domain.chainId, domain.verifyingContract), batch)
  const signature = await signer.sign({ hash: digest })
  const receipt = await api.submitOrder(prepared, { from: account, signature, echo: prepared.echo })
  expect(receipt.value).toMatchObject({ requestId: prepared.requestId, status: 'relay_accepted' })
  expect(receipt.host).toBe(prepared.host)

  const deadlineMs = realClock.now() + 10_000
  let status = await api.getOrderStatus(prepared)
  while (status.value.status !== 'executed' && realClock.now() < deadlineMs) {
    await realClock.sleep(20)
    status = await api.getOrderStatus(prepared)
  }
  expect(status.value.status).toBe('executed')
  expect(status.serverDateMs).toBeTypeOf('number')
  const options = { isFresh: true }
  const positions = (await api.getPositions({ account }, options)).value
  expect(positions).toMatchObject([{ direction: 'long', sizeInUsd: 100n * ONE_USD }])
  const position = await api.getPosition({ positionKey: positions[0]?.positionKey ?? '' }, options)
  expect(position.value.contractKey).toBe(positions[0]?.contractKey)
  expect((await api.getOrders({ account }, options)).value).toEqual([])
  const { trades } = (await api.getTrades({ account }, options)).value
  expect(trades.find(({ eventName }) => eventName === 'OrderExecuted')).toMatchObject({
    orderKey: status.value.orderKeys[0],
    direction: 'long',
  })
  expect(attempts.filter(({ route }) => route === '/orders/txns/submit')).toHaveLength(1)
})

test('the peer of the host that prepared knows nothing of the order', async () => {
  const { value: prepared } = await api.prepareOrder({
    kind: 'increase',
    orderType: 'market',
    from: signer.address,
    symbol,
    direction: 'short',
    sizeDeltaUsd: 50n * ONE_USD,
    slippageBps: 100,
    collateralToken: 'USDC',
    collateralToPay: { amount: 20_000_000n, token: 'USDC' },
  })
  const peer = api.hosts.api.find((host) => host !== prepared.host) ?? ''
  const error = await failureOf(api.getOrderStatus({ ...prepared, host: peer }))
  expect(error).toBeInstanceOf(RefusedError)
  expect(error).toMatchObject({ status: 404, serverMessage: 'Transaction not found', isOwnBody: true })
  expect((error as RefusedError).traceId).toBeDefined()
})

test('an order beyond the capacity is refused with its code and numbers', async () => {
  const error = await failureOf(
    api.prepareOrder({
      kind: 'increase',
      orderType: 'market',
      from: signer.address,
      symbol,
      direction: 'long',
      sizeDeltaUsd: 10n ** 12n * ONE_USD,
      slippageBps: 100,
      collateralToken: 'USDC',
      collateralToPay: { amount: 10n ** 18n, token: 'USDC' },
    }),
  )
  expect(error).toMatchObject({ serverCode: 'INSUFFICIENT_LIQUIDITY', status: 400 })
})

test('the venue answers in the same process, through a wrapper around its fetch', async () => {
  const clock = jumpingClock()
  const venue = createVenue({ clock, chain })
  const fetch: Fetch = (url, init) => venue.fetch(new Request(url, init))
  const inside = createApi({
    chain,
    hosts: {
      api: venue.paths.api.map((path) => `http://venue${path}`),
      oracle: venue.paths.oracle.map((path) => `http://venue${path}`),
    },
    fetch,
    clock,
    random: () => 0.5,
    limits: { timeoutMs: Number.POSITIVE_INFINITY },
  })
  const read = await inside.getMarkets()
  expect(read.value.length).toBeGreaterThanOrEqual(20)
  expect(read.readAtMs).toBe(START_MS)
})

test('the global fetch fits, and the chain’s own hosts are the default', () => {
  const made = createApi({ chain, fetch: globalThis.fetch, clock: realClock, random: Math.random })
  expect(made.hosts).toEqual(chain.hosts)
  expect(made.hosts.pairFeed).toEqual(['https://gmx-integration-cg.vercel.app'])
  const without = createApi({
    chain: chains.megaeth,
    fetch: globalThis.fetch,
    clock: realClock,
    random: Math.random,
  })
  expect([without.hosts.pairFeed, without.hosts.solanaFeed]).toEqual([undefined, undefined])
  // Hosts that are given are all there are: a paper world asks nobody on the network.
  const { hosts } = createApi({
    chain,
    hosts: served,
    fetch: nodeFetch.fetch,
    clock: realClock,
    random: Math.random,
  })
  expect(hosts).toEqual({ api: served.api, oracle: served.oracle })
})
