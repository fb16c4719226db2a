/** Reads that a venue hands over in one process, beside the same reads as texts: nothing that a client reads may differ. */
import { expect, test } from 'vitest'
import { createApi } from '../../src/api/client.ts'
import { directReads } from '../../src/backtest/lab/directReads.ts'
import type { LabFetch } from '../../src/backtest/lab/labFetch.ts'
import { sameJson } from '../../src/backtest/lab/sameJson.ts'
import { createScheduler } from '../../src/backtest/lab/scheduler.ts'
import { labHosts, venueFetch } from '../../src/backtest/lab/venueFetch.ts'
import { createVenue } from '../../src/paper/server/venue.ts'
import { chains } from '../../src/protocol/chains/index.ts'

const account = `0x${'5e'.repeat(20)}` as const
const symbol = 'ETH/USD [WETH-USDC]'

/** One client that takes what is handed over and one that takes texts, of two venues that are the same. */
function twoClients() {
  const scheduler = createScheduler(Date.UTC(2027, 0, 4))
  const clock = scheduler.clock()
  const chain = chains.arbitrum
  let texts = 0
  const clientOf = (isDirect: boolean) => {
    const venue = createVenue({ clock, chain, seed: 7, settings: { onlyMarkets: [symbol] } })
    const { api, oracle } = labHosts(venue.paths, 0, 1)
    const asked = venueFetch({ scheduler, venue })
    const fetch: LabFetch = async (...request) => {
      const answer = await asked(...request)
      const text = () => {
        if (isDirect) texts += 1
        return answer.text()
      }
      return { ...answer, text }
    }
    return createApi({
      ...{ chain, clock, fetch, random: () => 0.5 },
      hosts: { ...chain.hosts, api, oracle },
      ...(isDirect ? { around: (transport) => directReads(transport, { fetch, clock }) } : {}),
    })
  }
  return { scheduler, direct: clientOf(true), plain: clientOf(false), texts: () => texts }
}

test('what a venue hands over is read as its text is, while candles come and go and prices move', async () => {
  const { scheduler, direct, plain, texts } = twoClients()
  const readAll = async (api: typeof direct) => {
    const reads = {
      minutes: await api.getCandles({ tokenSymbol: 'ETH', period: '1m', limit: 100 }),
      fives: await api.getCandles({ tokenSymbol: 'ETH', period: '5m', limit: 50 }),
      markets: await api.getMarkets(),
      configs: await api.getMarketsConfig(),
      values: await api.getMarketsValues(),
      tickers: await api.getMarketTickers({ symbols: [symbol] }),
      tokens: await api.getTokensInfo(),
      oracleTokens: await api.getOracleTokens(),
      states: await api.getMarketsState(),
      capacity: await api.getTradingCapacity({ symbol, direction: 'long' }),
      balances: await api.getWalletBalances({ account }),
      orders: await api.getOrders({ account }),
      positions: await api.getPositions({ account }),
    }
    return Object.fromEntries(Object.entries(reads).map(([name, { value }]) => [name, value]))
  }
  const seen = new Set<string>()
  let textsAtFirst = 0
  // Steps within a candle, to the next one, over several, and further than a window reaches.
  for (const [at, seconds] of [1, 20, 60, 60, 300, 61, 1_800, 30_000, 60].entries()) {
    await scheduler.runTo(scheduler.nowMs + seconds * 1000)
    const [one, other] = [await readAll(direct), await readAll(plain)]
    expect(one, `step ${at}`).toEqual(other)
    seen.add(JSON.stringify(one.minutes))
    if (at === 0) textsAtFirst = texts()
  }
  expect(seen.size).toBe(9)
  // The first answer of each route takes the client's whole way.
  expect(texts()).toBe(textsAtFirst)
})

test('two JSON values are the same when their texts are, whatever parts they share', () => {
  const row = [1, 2, 3]
  const base = { rows: [row, [4]], name: 'a', none: null }
  expect(sameJson(base, { rows: [row, [4]], name: 'a', none: null })).toBe(true)
  for (const other of [
    { ...base, rows: [row, [5]] },
    { ...base, rows: [row] },
    { ...base, rows: { 0: row, 1: [4] } },
    { ...base, none: undefined },
    { rows: base.rows, name: 'a', more: null },
    { rows: base.rows, name: 'a' },
    null,
    'a',
  ])
    expect(sameJson(base, other), JSON.stringify(other)).toBe(false)
})
