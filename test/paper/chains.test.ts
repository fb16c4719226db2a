/** Several chains on one port: worlds of their own whose prices are in step, peers that share no order records. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createMultiChainVenue } from '../../src/paper/server/multiChainVenue.ts'
import { type ServedVenue, serveVenues } from '../../src/paper/server/serve.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { type Any, manualClock, trader, usd } from './support.ts'

const all = [chains.arbitrum, chains.avalanche, chains.megaeth]
let open: readonly ServedVenue[] = []
afterEach(async () => {
  await open[0]?.close()
  open = []
})

async function startFleet(options: Partial<Parameters<typeof createMultiChainVenue>[0]> = {}) {
  const clock = manualClock()
  const venues = createMultiChainVenue({
    clock,
    chains: all,
    seed: 7,
    settingsOf: () => ({ keeperJitterMs: 0 }),
    ...options,
  })
  open = await serveVenues(venues, { hostname: '127.0.0.1', port: 0 })
  return { clock, venues, served: open }
}

async function ask(url: string, body?: unknown): Promise<{ status: number; body: Any }> {
  const response = await fetch(url, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) })
  return { status: response.status, body: await response.json() }
}

/** USD price of an asset at the oracle of a chain, as a float. */
async function priceOf(served: ServedVenue | undefined, symbol: string): Promise<number> {
  const tokens = (await ask(`${served?.oracle[0]}/tokens`)).body.tokens as Any[]
  const rows = (await ask(`${served?.oracle[0]}/prices/tickers`)).body as Any[]
  const row = rows.find((one) => one.tokenSymbol === symbol)
  const { decimals } = tokens.find((one) => one.address === row.tokenAddress)
  return Number(row.medianPrice) * 10 ** (decimals - 30)
}

test('every chain has an oracle with two fallbacks and two peers, all on one port', async () => {
  const { served } = await startFleet()
  expect(served.map(({ oracle, api }) => [oracle.length, api.length])).toEqual([
    [3, 2],
    [3, 2],
    [3, 2],
  ])
  expect(
    new Set(served.flatMap(({ oracle, api }) => [...oracle, ...api]).map((url) => new URL(url).port)).size,
  ).toBe(1)
  for (const { oracle, api } of served) {
    for (const base of oracle) expect((await ask(`${base}/ping`)).body).toEqual({ ok: true })
    for (const base of api) expect((await ask(`${base}/markets`)).body.length).toBeGreaterThan(4)
  }
  expect(await ask(`${new URL(served[0]?.api[0] ?? '').origin}/base/api/0/v1/markets`)).toEqual({
    status: 404,
    body: { message: 'Not Found' },
  })
})

test('an asset costs the same on every chain, at the start and an hour later', async () => {
  const { served, clock } = await startFleet()
  const [arbitrum, avalanche, megaeth] = served
  for (let look = 0; look < 2; look += 1) {
    const near = (one: number, other: number): void => expect(Math.abs(one / other - 1)).toBeLessThan(1e-9)
    const eth = await priceOf(arbitrum, 'ETH')
    near(eth, await priceOf(avalanche, 'ETH'))
    near(eth, await priceOf(megaeth, 'WETH'))
    const avax = await priceOf(arbitrum, 'AVAX')
    near(avax, await priceOf(avalanche, 'WAVAX'))
    clock.move(3_600_000)
  }
})

test('each chain has its own catalogue and its own books', async () => {
  const { served, clock } = await startFleet()
  for (const [i, symbol, token] of [
    [0, 'ETH/USD [WETH-USDC]', 'USDC'],
    [1, 'AVAX/USD [WAVAX-USDC]', 'USDC'],
    [2, 'ETH/USD [USDM-USDM]', 'USDM'],
  ] as const) {
    const base = served[i]?.api[0]
    const decimals = token === 'USDM' ? 18 : 6
    const prepared = await ask(`${base}/orders/txns/prepare`, {
      kind: 'increase',
      orderType: 'market',
      mode: 'express',
      from: trader.address,
      symbol,
      direction: 'long',
      size: usd(500),
      collateralToken: token,
      collateralToPay: { amount: `200${'0'.repeat(decimals)}`, token },
    })
    expect(prepared.status).toBe(200)
    const { typedData, batchParams, relayParams } = prepared.body.payload
    expect(typedData.domain).toMatchObject({
      chainId: all[i]?.chainId,
      verifyingContract: all[i]?.contracts.gelatoRelayRouter,
    })
    const { requestId } = prepared.body
    const submitted = await ask(`${base}/orders/txns/submit`, {
      mode: 'express',
      requestId,
      from: trader.address,
      signature: await trader.signTypedData(typedData),
      eip712Data: { batchParams, relayParams },
    })
    expect(submitted.body).toMatchObject({ status: 'relay_accepted' })
    clock.move(2500)
    expect((await ask(`${base}/orders/txns/status`, { requestId })).body.status).toBe('executed')
    expect(await ask(`${served[i]?.api[1]}/orders/txns/status`, { requestId })).toEqual({
      status: 404,
      body: { message: 'Transaction not found' },
    })
    const open = await Promise.all(
      served.map(async ({ api }) => (await ask(`${api[0]}/positions?address=${trader.address}`)).body.length),
    )
    expect(open).toEqual([0, 1, 2].map((chain) => (chain <= i ? 1 : 0)))
  }
})

test('a chain that joins later joins the prices that are running', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-fleet-'))
  try {
    const stateFileOf = ({ name }: { name: string }): string => join(folder, `${name}.json`)
    const first = await startFleet({ chains: [chains.arbitrum], stateFileOf })
    first.clock.move(7_200_000)
    await open[0]?.close()
    const clock = manualClock(first.clock.now())
    const { served } = await startFleet({
      clock,
      chains: [chains.arbitrum, chains.avalanche],
      stateFileOf,
      seed: 8,
    })
    const [arbitrum, avalanche] = served
    expect(await priceOf(avalanche, 'ETH')).toBeCloseTo(await priceOf(arbitrum, 'ETH'), 6)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a market with hours says when it is closed, and its orders wait for the opening', async () => {
  // The clock stands at 00:00 UTC of a Saturday.
  const clock = manualClock(Date.UTC(2026, 10, 21))
  const marketHours = [{ market: 'DOGE/USD', opensAtMinute: 810, closesAtMinute: 1200 }]
  const { served } = await startFleet({
    clock,
    chains: [chains.arbitrum],
    settingsOf: () => ({ keeperJitterMs: 0, marketHours }),
  })
  const [one] = served
  const markets = (await ask(`${one?.api[0]}/markets`)).body as Any[]
  const doge = markets.find((row) => row.symbol.startsWith('DOGE/USD'))
  const stateOf = async (): Promise<string> =>
    ((await ask(`${one?.oracle[0]}/markets/state`)).body.markets as Any[]).find(
      ({ marketToken }) => marketToken === doge.marketTokenAddress,
    ).status
  expect(await stateOf()).toBe('closed')
  const path = (step: string): string => `${one?.api[0]}/orders/txns/${step}`
  const submit = async ({ requestId, payload }: Any): Promise<string> => {
    await ask(path('submit'), {
      mode: 'express',
      requestId,
      from: trader.address,
      signature: await trader.signTypedData(payload.typedData),
      eip712Data: { batchParams: payload.batchParams, relayParams: payload.relayParams },
    })
    return requestId
  }
  const send = async (fields: object): Promise<string> =>
    submit(
      (
        await ask(path('prepare'), {
          kind: 'increase',
          mode: 'express',
          from: trader.address,
          symbol: doge.symbol,
          direction: 'long',
          size: usd(100),
          slippage: 5000,
          collateralToken: 'USDC',
          collateralToPay: { amount: '100000000', token: 'USDC' },
          ...fields,
        })
      ).body,
    )
  const statusOf = async (requestId: string): Promise<string> =>
    (await ask(path('status'), { requestId })).body.status
  const resting = await send({ orderType: 'limit', triggerPrice: usd(10) })
  const market = await send({ orderType: 'market' })
  clock.move(60_000)
  expect(await statusOf(resting)).toBe('created')
  expect(await statusOf(market)).toBe('created')
  // Monday, a minute and more after the opening.
  clock.move((2 * 1440 + 811) * 60_000)
  expect(await stateOf()).toBe('open')
  expect(await statusOf(resting)).toBe('executed')
  // A market order that was not executed within 300 s never is; its owner cancels it.
  expect(await statusOf(market)).toBe('created')
  const cancel = await submit(
    (await ask(path('cancel/prepare'), { mode: 'express', from: trader.address, all: true })).body,
  )
  clock.move(3000)
  expect(await statusOf(cancel)).toBe('executed')
  expect(await statusOf(market)).toBe('cancelled')
})
