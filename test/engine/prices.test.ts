/** Oracle prices in a snapshot: in doubt they are left out, and their age is told by our own clock. */
import { expect, test } from 'vitest'
import { marketOf } from '../../src/domain/snapshot.ts'
import { readSnapshot } from '../../src/engine/snapshotReader.ts'
import { type Address, sameHex } from '../../src/protocol/address.ts'
import { viewOf as strategyView } from '../../src/strategy/strategy.ts'
import { account, ethMarket, usdc, weth } from '../support/intents.ts'
import { type Between, type VenueBench, venueBench } from '../support/venue.ts'

const needs = { symbols: ['ETH/USD [WETH-USDC]'] }

interface Wire {
  /** What a token's price is multiplied by, as a scale that was read wrongly would. */
  times: Readonly<Record<Address, bigint>>
  /** How far the venue's clock is before ours, s: its Date headers and its stamps. */
  aheadSeconds: number
  /** What the stamps of prices lag behind the venue's own clock, s. */
  oldSeconds: number
  /** Whether the venue says of every market that it is closed. */
  isClosed: boolean
}

function bench(): VenueBench & { readonly wire: Wire } {
  const wire: Wire = { times: {}, aheadSeconds: 0, oldSeconds: 0, isClosed: false }
  const between: Between = async (url, init, next) => {
    const answer = await next(url, init)
    const date = new Date(Date.parse(answer.headers.get('Date') ?? '') + wire.aheadSeconds * 1000)
    const headers = {
      get: (name: string) => (name.toLowerCase() === 'date' ? date.toUTCString() : answer.headers.get(name)),
    }
    const text = async () => {
      if (url.endsWith('/markets/state') && wire.isClosed)
        return (await answer.text()).replaceAll('"open"', '"closed"')
      if (!url.endsWith('/prices/tickers')) return answer.text()
      const rows = JSON.parse(await answer.text()) as Record<string, string | number>[]
      for (const row of rows) {
        const [, factor = 1n] =
          Object.entries(wire.times).find(([token]) => sameHex(token, String(row.tokenAddress))) ?? []
        for (const name of ['minPrice', 'maxPrice', 'medianPrice']) {
          if (row[name] !== undefined) row[name] = (BigInt(row[name]) * factor).toString()
        }
        const shiftSeconds = wire.aheadSeconds - wire.oldSeconds
        row.updatedAt = Number(row.updatedAt) + shiftSeconds
      }
      return JSON.stringify(rows)
    }
    return { ...answer, status: answer.status, headers, text }
  }
  return { ...venueBench({ between }), wire }
}

async function viewOf({ api, clock }: VenueBench, acceptedPrices = new Map<string, bigint>()) {
  const snapshot = await readSnapshot({ api, clock, account, acceptedPrices, onFeed: () => undefined }, needs)
  const view = marketOf(snapshot, ethMarket)
  if (view === undefined) throw new Error('the venue lists no ETH market')
  return { snapshot, view }
}

test('prices that nothing speaks against are there, without a doubt', async () => {
  const { view } = await viewOf(bench())
  expect(view.priceDoubts).toBeUndefined()
  expect(view.oraclePrice).toBeDefined()
  expect(view.shortToken.minPrice).toBeDefined()
})

test('a stable coin far from one dollar has no price, and the doubt says so', async () => {
  const paper = bench()
  paper.wire.times = { [usdc]: 10n }
  const { view } = await viewOf(paper)
  expect(view.priceDoubts).toMatchObject([{ code: 'STABLE_OUT_OF_RANGE', tokenAddress: usdc }])
  expect(view.shortToken.minPrice).toBeUndefined()
  expect(view.oraclePrice).toBeDefined()
})

test('a price of many times the last accepted one is left out until it is back', async () => {
  const paper = bench()
  const accepted = new Map<string, bigint>()
  const before = (await viewOf(paper, accepted)).view.oraclePrice?.value.medianPrice
  expect(accepted.get(weth.toLowerCase())).toBe(before)
  paper.wire.times = { [weth]: 1000n }
  for (let look = 0; look < 2; look += 1) {
    await paper.clock.advance(1000)
    const { view } = await viewOf(paper, accepted)
    expect(view.oraclePrice).toBeUndefined()
    expect(view.priceDoubts).toMatchObject([{ code: 'MOVED_TOO_FAR', tokenAddress: weth }])
  }
  paper.wire.times = {}
  await paper.clock.advance(1000)
  expect((await viewOf(paper, accepted)).view.oraclePrice).toBeDefined()
})

test('the age of a price is the same whichever clock is wrong, to a second', async () => {
  for (const aheadSeconds of [-20, 0, 20]) {
    const paper = bench()
    paper.wire.aheadSeconds = aheadSeconds
    paper.wire.oldSeconds = 30
    // The first answer tells the clock of the host.
    await paper.api.getOracleTokens()
    const { snapshot, view } = await viewOf(paper)
    const ageMs = snapshot.atMs - (view.oraclePrice?.atMs ?? 0)
    expect(Math.abs(ageMs - 30_000), `${aheadSeconds} s ahead`).toBeLessThanOrEqual(1500)
  }
})

test('the feed of prices is as old as the oldest of a market that trades: one that is closed has no newer price', async () => {
  for (const isClosed of [false, true]) {
    const paper = bench()
    Object.assign(paper.wire, { oldSeconds: 3_600, isClosed })
    const { api, clock } = paper
    await api.getOracleTokens()
    const ages = new Map<string, number>()
    const onFeed = (feed: string, ageMs: number) => void ages.set(feed, ageMs)
    const snapshot = await readSnapshot({ api, clock, account, onFeed }, needs)
    expect(marketOf(snapshot, ethMarket)?.status).toBe(isClosed ? 'closed' : 'open')
    const ageMs = ages.get('oracle') ?? Number.NaN
    if (isClosed) expect(ageMs).toBe(0)
    else expect(ageMs).toBeGreaterThan(3_500_000)
    // What is sized by it has the price's own age.
    expect(snapshot.atMs - (marketOf(snapshot, ethMarket)?.oraclePrice?.atMs ?? 0)).toBeGreaterThan(3_500_000)
  }
})

test('a stamp from the future makes no price younger than its read', async () => {
  const paper = bench()
  paper.wire.oldSeconds = -3600
  const { snapshot, view } = await viewOf(paper)
  expect(view.oraclePrice?.atMs).toBeLessThanOrEqual(snapshot.atMs)
})

test('several candle periods of one market are read, and each is found by its period', async () => {
  const symbol = 'ETH/USD [WETH-USDC]'
  const { api, clock } = bench()
  const candles = [
    { symbol, period: '1m' as const, limit: 5 },
    { symbol, period: '1h' as const, limit: 3 },
  ]
  const snapshot = await readSnapshot(
    { api, clock, account, onFeed: () => undefined },
    { symbols: [symbol], candles },
  )
  const view = strategyView({
    snapshot,
    params: {},
    instance: { name: 'a', symbols: [symbol] },
    openIntents: [],
  })
  expect(view.candles(symbol)?.value).toEqual(view.candles(symbol, '1m')?.value)
  const stepOf = (period: '1m' | '1h') => {
    const [first, second] = view.candles(symbol, period)?.value ?? []
    return (second?.timestampSeconds ?? 0) - (first?.timestampSeconds ?? 0)
  }
  expect([stepOf('1m'), stepOf('1h')]).toEqual([60, 3_600])
  expect(view.candles(symbol, '1d')).toBeUndefined()
})
