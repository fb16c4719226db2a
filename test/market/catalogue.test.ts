/** The catalogue: what hosts say is held against our facts, and what an operator and the chain say is taken over. */
import { expect, test } from 'vitest'
import type { Event } from '../../src/domain/event.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { createCatalogue, type MarketProof, SETTLE_MS } from '../../src/market/marketCatalogue.ts'
import { createMarketRecords } from '../../src/market/marketRecords.ts'
import { asListed, pinnedApi, withReads } from '../../src/market/pinnedApi.ts'
import { trustMarket } from '../../src/operator/commands/trustMarket.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { ethMarket, intentOf, usdc, weth } from '../support/intents.ts'
import { type Between, manualClock, settle, venueBench } from '../support/venue.ts'

const ethSymbol = 'ETH/USD [WETH-USDC]'
const newMarket = '0x1111111111111111111111111111111111111111'
const newToken = '0x2222222222222222222222222222222222222222'

function open(prove?: () => Promise<MarketProof>, journal = createMemoryJournal()) {
  const clock = manualClock(Date.UTC(2026, 10, 20, 12))
  const events: Event[] = []
  const emit = (event: Event): void => void events.push(event)
  const fatal = (error: unknown): never => {
    throw error
  }
  const catalogue = createCatalogue({
    shipped: arbitrum.facts,
    records: createMarketRecords({ journal, clock }),
    clock,
    emit,
    fatal,
    ...(prove === undefined ? {} : { prove }),
  })
  return { catalogue, clock, events, journal }
}

const said = (decimals: number) => ({ tokens: [{ address: usdc, decimals, symbol: 'USDC' }] }) as const

test('a market opens again once its host has said it right for ten minutes, and not before', async () => {
  const { catalogue, clock, events } = open()
  catalogue.judge('one', said(8))
  expect(catalogue.standing(ethMarket)).toMatchObject({ state: 'contradicted' })
  expect(catalogue.closedBy(ethMarket)).toContain('one says that USDC')
  // Another host's truth settles nothing.
  await clock.advance(SETTLE_MS)
  catalogue.judge('two', said(6))
  expect(catalogue.closedBy(ethMarket)).toBeDefined()
  catalogue.judge('one', said(8))
  await clock.advance(SETTLE_MS - 1)
  catalogue.judge('one', said(6))
  expect(catalogue.closedBy(ethMarket)).toBeDefined()
  await clock.advance(1)
  catalogue.judge('one', said(6))
  expect(catalogue.closedBy(ethMarket)).toBeUndefined()
  expect(events.map(({ type }) => type)).toEqual(['market.contradicted', 'market.settled'])
})

test('a host that changes its mind all the time is told of and written once a minute at most', async () => {
  const { catalogue, clock, journal, events } = open()
  const tokens = [...arbitrum.facts.tokens.values()]
  for (let second = 0; second < 600; second += 1) {
    const { address, decimals, symbol } = tokens[second % tokens.length] ??
      tokens[0] ?? { ...said(6).tokens[0] }
    catalogue.judge('one', { tokens: [{ address, decimals: decimals + 1 + second, symbol }] })
    await clock.advance(1_000)
  }
  expect(events.length).toBeLessThanOrEqual(11)
  expect((await journal.records('@account')).length).toBeLessThanOrEqual(11)
})

test('what was contradicted stays so after a restart, but for hosts that are not in use any more', async () => {
  const first = open()
  first.catalogue.judge('one', said(8))
  await settle()
  const second = open(undefined, first.journal)
  second.catalogue.useHosts(['one', 'two'])
  expect(second.catalogue.closedBy(ethMarket)).toBeDefined()
  const third = open(undefined, first.journal)
  third.catalogue.useHosts(['two'])
  expect(third.catalogue.closedBy(ethMarket)).toBeUndefined()
})

test('an increase that was accepted before a contradiction is not signed after it, and a close is', () => {
  const { catalogue } = open()
  const increase = intentOf()
  const close = intentOf({
    kind: 'close',
    decision: {
      kind: 'close',
      marketToken: ethMarket,
      direction: 'long',
      collateralToken: usdc,
      reason: 'the test wishes it',
    },
  })
  expect(catalogue.veto(increase)).toBeUndefined()
  catalogue.judge('one', said(8))
  expect(catalogue.veto(increase)).toMatchObject({ code: 'MARKET_NOT_TRUSTED' })
  expect(catalogue.veto(close)).toBeUndefined()
})

test.each([
  { symbol: 'BTC/USD [WBTC.b-USDC]', isRight: true },
  { symbol: 'BTC/USD [WBTC-USDC]', isRight: true },
  { symbol: 'btc/usd [btc-usdc]', isRight: true },
  { symbol: 'ETH/USD [WETH-USDC]', isRight: false },
  { symbol: 'BTC/USD [BTC-USDT]', isRight: false },
])('the market of bitcoin may be called $symbol: $isRight', ({ symbol, isRight }) => {
  const { catalogue } = open()
  const market = [...arbitrum.facts.markets.values()].find((each) => each.symbol === 'BTC/USD [BTC-USDC]')
  if (market === undefined) throw new Error('no bitcoin')
  catalogue.judge('one', { markets: [{ ...market, symbol }] })
  expect(catalogue.closedBy(market.marketToken) === undefined).toBe(isRight)
})

test('no name that a host may give a market is the name of another one', () => {
  const { markets, tokens } = arbitrum.facts
  const { catalogue } = open()
  for (const one of markets.values()) {
    const others = [...markets.values()].filter(({ symbol }) => symbol !== one.symbol)
    const other = others[one.symbol.length % others.length]
    if (other === undefined) throw new Error('one market alone')
    catalogue.judge('one', { markets: [{ ...one, symbol: other.symbol }] })
  }
  expect(catalogue.standings().filter(({ state }) => state === 'contradicted')).toHaveLength(markets.size)
  expect(tokens.size).toBeGreaterThan(100)
})

/** A market that is not shipped in the lists of all hosts, or of the one named alone. */
function withNew(between: Partial<{ only: string; decimals: Record<string, number> }> = {}): Between {
  return async (url, init, next) => {
    const answer = await next(url, init)
    const isTold = between.only === undefined || url.includes(between.only)
    if (!isTold || !/\/(markets|tokens|tokens\/info)$/.test(url)) return answer
    const body = JSON.parse(await answer.text()) as unknown
    const rows = (Array.isArray(body) ? body : (body as { tokens: unknown[] }).tokens) as object[]
    const lied = Object.entries(between.decimals ?? {}).find(([host]) => url.includes(host))?.[1]
    const like = rows.find((row) => JSON.stringify(row).includes(url.endsWith('/markets') ? ethMarket : weth))
    rows.push(
      url.endsWith('/markets')
        ? {
            ...like,
            symbol: 'NEW/USD [WETH-USDC]',
            marketTokenAddress: newMarket,
            indexTokenAddress: newToken,
          }
        : {
            ...like,
            symbol: 'NEW',
            name: 'New',
            baseSymbol: undefined,
            isWrapped: false,
            address: newToken,
            decimals: lied ?? 9,
          },
    )
    const text = JSON.stringify(body)
    return { status: answer.status, headers: answer.headers, text: async () => text }
  }
}

test('a market that is not shipped is trusted by name when all hosts of both services say the same of it', async () => {
  const { api } = venueBench({ between: withNew() })
  const { catalogue, events, journal } = open()
  const pinned = pinnedApi(api, catalogue)
  await pinned.getTokensInfo()
  const listed = (await pinned.getMarkets()).value.find(({ marketToken }) => marketToken === newMarket)
  expect(listed?.symbol).toBe('NEW/USD [WETH-USDC]')
  expect(catalogue.standing(newMarket)).toMatchObject({ state: 'untrusted', symbol: 'NEW/USD [WETH-USDC]' })
  const answer = await trustMarket({ catalogue, api }, 'NEW/USD [WETH-USDC]', 'ann')
  expect(answer).toMatchObject({ ok: true })
  expect(catalogue.standing(newMarket)).toMatchObject({ state: 'trusted', why: 'by ann' })
  expect(catalogue.facts().tokens.get(newToken)).toMatchObject({ decimals: 9, symbol: 'NEW' })
  expect(events).toMatchObject([{ type: 'market.trusted' }])
  // From now on it is held against every host, after a restart too.
  const later = open(undefined, journal).catalogue
  later.judge('one', { tokens: [{ address: newToken, decimals: 7, symbol: 'NEW' }] })
  expect(later.standing(newMarket)).toMatchObject({ state: 'contradicted' })
})

test('the word of an operator is held against what hosts say themselves, whatever was read before', async () => {
  const { api } = venueBench({ between: withNew({ decimals: { '/api/1': 7 } }) })
  const { catalogue } = open()
  const pinned = pinnedApi(api, catalogue)
  expect(pinnedApi(pinned, catalogue)).toBe(pinned)
  // With other reads it is pinned still, and what the hosts list stays known.
  const other = withReads(pinned, { getOrders: () => Promise.reject(new Error('other')) })
  expect(pinnedApi(other, catalogue)).toBe(other)
  expect(asListed(other)).toBe(api)
  expect(other.hosts).toBe(api.hosts)
  await expect(other.getOrders({ account: `0x${'1'.repeat(40)}` })).rejects.toThrow('other')
  expect(await trustMarket({ catalogue, api: pinned }, newMarket, 'ann')).toMatchObject({
    code: 'MARKET_FACTS_DIFFER',
    reason: expect.stringContaining('has 7 decimals instead of 9'),
  })
  const honest = open()
  const over = pinnedApi(venueBench({ between: withNew() }).api, honest.catalogue)
  expect(await trustMarket({ catalogue: honest.catalogue, api: over }, newMarket, 'ann')).toMatchObject({
    ok: true,
  })
})

test.each([
  { what: 'one host lists it alone', between: { only: '/api/0' }, code: 'MARKET_FACTS_DIFFER' },
  { what: 'the oracle does not know its token', between: { only: '/api/' }, code: 'MARKET_FACTS_DIFFER' },
  {
    what: 'one host says other decimals',
    between: { decimals: { '/api/1': 7 } },
    code: 'MARKET_FACTS_DIFFER',
  },
  {
    what: 'one oracle host says other decimals',
    between: { decimals: { '/oracle/2': 7 } },
    code: 'MARKET_FACTS_DIFFER',
  },
])('a market that is not shipped is not trusted when $what', async ({ between, code }) => {
  const { api } = venueBench({ between: withNew(between) })
  const { catalogue } = open()
  expect(await trustMarket({ catalogue, api }, newMarket, 'ann')).toMatchObject({ ok: false, code })
  expect(catalogue.facts().markets.size).toBe(arbitrum.facts.markets.size)
})

test('a host that does not answer keeps a market from being trusted, and what nobody lists is unknown', async () => {
  const { api, venue, clock } = venueBench({ between: withNew() })
  const { catalogue } = open()
  expect(await trustMarket({ catalogue, api }, 'FOO/USD [WETH-USDC]', 'ann')).toMatchObject({
    code: 'MARKET_UNKNOWN',
  })
  expect(await trustMarket({ catalogue, api }, ethSymbol, 'ann')).toMatchObject({
    code: 'MARKET_NOT_CONTRADICTED',
  })
  venue.faults.down = ['oracle/2']
  const answer = trustMarket({ catalogue, api }, newMarket, 'ann')
  await clock.advance(60_000)
  expect(await answer).toMatchObject({ code: 'HOST_SILENT' })
})

test('a market that is not shipped cannot have the name of one that is', async () => {
  const { catalogue } = open()
  const unknown = { marketToken: newMarket, indexToken: weth, longToken: weth, shortToken: usdc } as const
  expect(catalogue.unpinnedSymbol({ ...unknown, symbol: ethSymbol })).toBe(newMarket)
  const { api } = venueBench()
  const pinned = pinnedApi(api, catalogue)
  const { value } = await pinned.getMarkets()
  expect(value.filter(({ symbol }) => symbol === ethSymbol)).toHaveLength(1)
})

const proof = (own: { readonly decimals: number; readonly symbol: string } | undefined): MarketProof => ({
  market: { marketToken: newMarket, indexToken: newToken, longToken: weth, shortToken: usdc },
  tokens: new Map(own === undefined ? [] : [[newToken, own]]),
})

test.each([
  { what: 'its token tells them', given: proof({ decimals: 18, symbol: 'NEW' }), state: 'proven' },
  { what: 'its token has another name', given: proof({ decimals: 18, symbol: 'OTHER' }), state: 'untrusted' },
  { what: 'its token has no contract', given: proof(undefined), state: 'untrusted' },
  { what: 'endpoints disagree', given: { unproven: 'they disagree' }, state: 'untrusted' },
])('a market that is not shipped is $state by the chain when $what', async ({ given, state }) => {
  const { catalogue, events } = open(async () => given)
  catalogue.judge('one', {
    markets: [
      {
        marketToken: newMarket,
        indexToken: newToken,
        longToken: weth,
        shortToken: usdc,
        symbol: 'NEW/USD [WETH-USDC]',
      },
    ],
    // The host's decimals are not those of the chain.
    tokens: [{ address: newToken, decimals: 9, symbol: 'NEW' }],
  })
  catalogue.want(newMarket)
  await settle()
  expect(catalogue.standing(newMarket)).toMatchObject({ state })
  if (state !== 'proven') return
  expect(catalogue.facts().tokens.get(newToken)?.decimals).toBe(18)
  expect(events).toMatchObject([{ type: 'market.proven', symbol: 'NEW/USD [WETH-USDC]' }])
  catalogue.judge('one', { tokens: [{ address: newToken, decimals: 9, symbol: 'NEW' }] })
  expect(catalogue.standing(newMarket)).toMatchObject({ state: 'contradicted' })
})

test('hosts are asked by the name that they use, and tell nobody else another name', async () => {
  const asked: string[] = []
  const renamed = 'XETH/USD [WETH-USDC]'
  const between: Between = async (url, init, next) => {
    asked.push(decodeURIComponent(url))
    const answer = await next(url.replaceAll('XETH', 'ETH'), init)
    if (!url.endsWith('/markets') || !url.includes('/api/0')) return answer
    const text = (await answer.text()).replace(`"${ethSymbol}"`, `"${renamed}"`)
    return { status: answer.status, headers: answer.headers, text: async () => text }
  }
  const { api } = venueBench({ between })
  const { catalogue } = open()
  const pinned = pinnedApi(api, catalogue)
  const [first, second] = api.hosts.api
  const { value } = await pinned.getMarkets({ host: first ?? '' })
  expect(value.some(({ symbol }) => symbol === renamed)).toBe(false)
  expect(catalogue.standing(ethMarket)).toMatchObject({ state: 'contradicted' })
  await pinned.getTradingCapacity({ symbol: ethSymbol, direction: 'long' }, { host: first ?? '' })
  expect(asked.at(-1)).toContain(renamed)
  await pinned.getTradingCapacity({ symbol: ethSymbol, direction: 'long' }, { host: second ?? '' })
  expect(asked.at(-1)).toContain(`=${ethSymbol}`)
})
