/**
 * Hosts that lie about what markets and tokens are: one of two, the first or the second. Nothing of the lie is traded on, no
 * honest host is blamed, and what is held can be left. The running engine over the paper venue on real sockets.
 */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readMarket } from '../../src/chain/marketProof.ts'
import { createHttpTransport } from '../../src/chain/wire/httpTransport.ts'
import { createRpcClient } from '../../src/chain/wire/jsonRpc.ts'
import type { Engine } from '../../src/daemon/engine.ts'
import type { Intent } from '../../src/domain/order/intent.ts'
import type { AnswerEdit } from '../../src/paper/http/answerEdit.ts'
import { hexKey } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { ONE_USD, usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { collateralTokenOf, defineStrategy, type StrategyView, z } from '../../src/strategy/strategy.ts'
import type { StrategyDecision } from '../../src/strategy/strategyDecision.ts'
import { engineOver } from '../support/engine.ts'
import { ethMarket, usdc, weth } from '../support/intents.ts'
import { btcSymbol, ethSymbol, type KindsBench, kindsBench, signer } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'

let bench: KindsBench
const running: Engine[] = []
beforeEach(async () => {
  bench = await kindsBench()
})
afterEach(async () => {
  for (const engine of running.splice(0)) engine.abort()
  await bench.close()
})

const linkSymbol = 'LINK/USD [LINK-USDC]'

/** What is shipped, without LINK and its market. */
function withoutLink() {
  const { tokens, markets, printedOn } = arbitrum.facts
  return {
    printedOn,
    tokens: new Map([...tokens].filter(([, { symbol }]) => symbol !== 'LINK')),
    markets: new Map([...markets].filter(([, { symbol }]) => !symbol.startsWith('LINK/USD'))),
  }
}

type Wish = 'increase' | 'close' | 'swap'

/** Decisions as the test sets them, each once. */
function wishing(options: Pick<Parameters<typeof engineOver>[1], 'facts' | 'prove'> = {}) {
  let wishes: readonly (readonly [Wish, string])[] = []
  const symbols = [ethSymbol, btcSymbol, linkSymbol]
  const needs = { symbols, balances: true }
  const decide = (view: StrategyView): readonly StrategyDecision[] => {
    const [...now] = wishes
    wishes = []
    return now.flatMap(([kind, symbol]): readonly StrategyDecision[] => {
      const market = view.market(symbol)
      if (market === undefined) return []
      const { marketToken } = market.market
      const base = { marketToken, direction: 'long', reason: 'test' } as const
      // A thousand dollars, whatever a list says of their decimals.
      if (kind === 'swap') return [{ kind, ...base, payAmount: 1_000_000_000n }]
      const collateralToken = collateralTokenOf(market, 'short')
      return kind === 'close'
        ? [{ kind, ...base, collateralToken }]
        : [{ kind, ...base, collateralToken, sizeDeltaUsd: usd(2_000), leverageBps: 50_000 }]
    })
  }
  const strategy = defineStrategy({
    kind: 'wishes',
    description: 'Wishes what the test says.',
    params: z.strictObject({}),
    needs: () => needs,
    decide,
  })
  const loaded: LoadedStrategy = loadedOf(strategy, 'wishes', symbols, { needs })
  const over = engineOver(bench, {
    ...options,
    strategies: [loaded],
    account: { maxDataAgeMs: 15_000 },
  })
  running.push(over.engine)
  return {
    ...over,
    /** Decisions, and waits until it was decided and carried out. */
    async wish(...wanted: readonly (readonly [Wish, string])[]): Promise<readonly string[]> {
      const before = over.codes().length
      wishes = wanted
      await bench.clock.advance(12_000)
      return over.codes().slice(before)
    },
  }
}

const held = async () => (await bench.api.getPositions({ account: signer.address }, { isFresh: true })).value

const intents = (): readonly Intent[] =>
  bench.journal.recentIntents({ limit: 100 }).map(({ intent }) => intent)

type Row = Readonly<Record<string, unknown>>

/** Where the row of an address is in a list of the venue. */
async function placeOf(service: 'api' | 'oracle', route: string, field: string, address: string) {
  const body: unknown = await (await fetch(`${bench.served[service][0]}${route}`)).json()
  const rows = (Array.isArray(body) ? body : (body as { tokens: unknown }).tokens) as readonly Row[]
  const at = rows.findIndex((row) => hexKey(String(row[field])) === hexKey(address))
  if (at < 0) throw new Error(`${route} has no ${address}`)
  return { at: Array.isArray(body) ? `/${at}` : `/tokens/${at}`, row: rows[at] ?? {} }
}

function lie(route: string, host: string, ...edits: readonly AnswerEdit[]): string {
  const rule = bench.venue.wire.add({ kind: 'edit', route, host, edits })
  if (typeof rule === 'string') throw new Error(rule)
  return rule.id
}

async function tokenLie(host: string, token: string, decimals: number): Promise<readonly string[]> {
  const ids: string[] = []
  for (const route of ['/tokens', '/tokens/info']) {
    const { at } = await placeOf('api', route, 'address', token)
    ids.push(lie(route, host, { path: `${at}/decimals`, set: decimals }))
  }
  return ids
}

const kPepe = '0x0Bb2a83F995E1E1eae9D7fDCE68Ab1ac55b2cc85'

/** The name of one market on the tokens of another. */
async function namedLie(host: string): Promise<readonly string[]> {
  const real = await placeOf('api', '/markets', 'marketTokenAddress', ethMarket)
  const other = await placeOf('api', '/markets', 'marketTokenAddress', kPepe)
  const named = ['marketTokenAddress', 'indexTokenAddress', 'longTokenAddress', 'shortTokenAddress']
  const swapped = (at: string, { row }: { row: Row }) =>
    named.map((name): AnswerEdit => ({ path: `${at}/${name}`, set: row[name] }))
  return [lie('/markets', host, ...swapped(real.at, other), ...swapped(other.at, real))]
}

/** Both hosts are asked in turn, and that of a list changes with the questions between: by then each was asked. */
const [tokensMs, marketsMs] = [75_000, 125_000]

const attacks: readonly (readonly [string, (host: string) => Promise<readonly string[]>, number])[] = [
  ['ETH with 14 decimals', (host) => tokenLie(host, weth, 14), tokensMs],
  ['WETH with 6 decimals', (host) => tokenLie(host, weth, 6), tokensMs],
  ['USDC with 8 decimals', (host) => tokenLie(host, usdc, 8), tokensMs],
  ['ETH/USD on the pool of kPEPE', namedLie, marketsMs],
]
const cases = attacks.flatMap(([what, begin, waitMs]) =>
  ['api/0', 'api/1'].map((host) => [what, host, begin, waitMs] as const),
)

test.each(cases)(
  '%s, said by %s alone: nothing is added, what is held closes, no honest host is blamed',
  async (_what, host, begin, waitMs) => {
    const { engine, wish, events } = wishing()
    await engine.start()
    expect(await wish(['increase', ethSymbol], ['swap', ethSymbol])).toEqual([])
    const [before] = await held()
    expect(before?.marketToken).toBe(ethMarket)
    // A fifth of the size, in base units of USDC: fees and impact move it by a little.
    expect(Number(before?.collateralAmount) / 1e6).toBeCloseTo(400, -2)

    await begin(host)
    await bench.clock.advance(waitMs)
    // Which host is asked for a list changes with the questions between: one more, and the next is asked.
    for (let step = 0; step < 9 && engine.status().contradictions.length === 0; step += 1) {
      await bench.api.getPositions({ account: signer.address }, { isFresh: true })
      await bench.clock.advance(61_000)
    }
    const codes = await wish(['increase', ethSymbol], ['swap', ethSymbol])
    // The venue's own books first: two times the decision at most, and nowhere else.
    for (const position of await held()) {
      expect(position.marketToken).toBe(ethMarket)
      expect(Number(position.collateralAmount) / 1e6).toBeLessThan(900)
    }
    expect(codes).toEqual(['MARKET_NOT_TRUSTED', 'MARKET_NOT_TRUSTED'])
    const told = events.flatMap((event) => (event.type === 'market.contradicted' ? [event] : []))
    expect(told.length).toBeGreaterThan(0)
    for (const { contradictions, symbols } of told) {
      expect(symbols).toContain(ethSymbol)
      for (const each of contradictions) expect(each.host).toContain(host)
    }
    expect(engine.status().contradictions.length).toBeGreaterThan(0)
    expect(await wish(['close', ethSymbol])).toEqual([])
    // The liar may be the host that is asked to prepare, and refuse it; whoever decisions it again asks the next.
    if ((await held()).length > 0) expect(await wish(['close', ethSymbol])).toEqual([])
    expect(await held()).toEqual([])

    expect(intents().filter(({ terms }) => terms.swap !== undefined)).toHaveLength(1)
    for (const { terms } of intents()) {
      expect(terms.marketToken).toBe(ethMarket)
      expect(terms.indexToken).toMatchObject({ address: weth, decimals: 18 })
      expect(terms.collateralToken).toMatchObject({ address: usdc, decimals: 6 })
      expect(terms.collateralDelta).toBeLessThanOrEqual(1_000_000_000n)
      if (terms.swap === undefined) continue
      // A thousand dollars of ETH at some thousands of dollars is more than a tenth of one.
      expect(terms.swap.minOutputAmount).toBeGreaterThan(10n ** 17n)
    }
    const blamed = events.filter(({ type }) => type === 'host.cooldown' || type === 'order.payload_rejected')
    expect(blamed).toEqual([])
  },
)

test('a market that is not shipped is traded when an operator trusts it, and not before', async () => {
  const { engine, wish } = wishing({ facts: withoutLink() })
  await engine.start()
  expect(await wish(['increase', linkSymbol], ['increase', ethSymbol])).toEqual(['MARKET_NOT_TRUSTED'])
  expect((await held()).map(({ marketToken }) => marketToken)).toEqual([ethMarket])
  const trusted = await engine.operate({ type: 'market', market: linkSymbol }, { by: 'ann', via: 'control' })
  expect(trusted).toMatchObject({ ok: true })
  expect(await wish(['increase', linkSymbol])).toEqual([])
  expect(await held()).toHaveLength(2)
})

test('a market that is not shipped is traded when every endpoint proves it, and not while one says otherwise', async () => {
  const ask = (urls: readonly string[], chain: Pick<typeof arbitrum, 'contracts'>) => {
    const clients = urls.map((url, index) =>
      createRpcClient(`rpc-${index}`, createHttpTransport(url, fetch), bench.clock, {
        timeoutMs: 60_000,
        batchSize: 1,
      }),
    )
    return (market: `0x${string}`) => readMarket(clients, chain, market, new AbortController().signal)
  }
  const { rpc } = bench.served
  const elsewhere = { contracts: { ...arbitrum.contracts, reader: arbitrum.contracts.multicall } }
  const doubted = wishing({ facts: withoutLink(), prove: ask(rpc, elsewhere) })
  await doubted.engine.start()
  expect(await doubted.wish(['increase', linkSymbol])).toEqual(['MARKET_NOT_TRUSTED'])
  doubted.engine.abort()

  const { engine, wish, events } = wishing({ facts: withoutLink(), prove: ask(rpc, arbitrum) })
  await engine.start()
  await bench.clock.advance(15_000)
  expect(await wish(['increase', linkSymbol])).toEqual([])
  expect(events.find(({ type }) => type === 'market.proven')).toMatchObject({ symbol: linkSymbol })
  expect((await held()).map(({ marketToken }) => marketToken)).toEqual([await bench.marketToken(linkSymbol)])
})

test('the prices of an oracle host that lies about decimals are scaled by ours', async () => {
  const { at } = await placeOf('oracle', '/tokens', 'address', weth)
  lie('/tokens', 'oracle/0', { path: `${at}/decimals`, set: 14 })
  const { engine, wish, events } = wishing()
  await engine.start()
  expect(await wish(['increase', ethSymbol], ['increase', btcSymbol])).toEqual(['MARKET_NOT_TRUSTED'])
  const [told] = events.flatMap((event) => (event.type === 'market.contradicted' ? [event] : []))
  expect(told?.contradictions).toMatchObject([{ host: expect.stringContaining('oracle/0'), address: weth }])
  expect((await held()).map(({ marketToken }) => marketToken)).toEqual([await bench.marketToken(btcSymbol)])
})

test('a position can be left though no host names its market or its tokens any more', async () => {
  const { engine, wish } = wishing()
  await engine.start()
  expect(await wish(['increase', ethSymbol])).toEqual([])
  engine.abort()
  for (const route of ['/markets', '/markets/config'])
    lie(route, '*', { path: (await placeOf('api', route, 'marketTokenAddress', ethMarket)).at, remove: true })
  for (const route of ['/tokens', '/tokens/info'])
    for (const token of [weth, usdc])
      lie(route, 'api/*', { path: `${(await placeOf('api', route, 'address', token)).at}`, remove: true })
  await bench.clock.advance(61_000)
  const next = wishing()
  await next.engine.start()
  await next.engine.operate({ type: 'kill', close: true }, { by: 'ann', via: 'control' })
  await bench.clock.advance(60_000)
  expect(next.engine.status().kill).toMatchObject({ outcome: 'done' })
  expect(await held()).toEqual([])
})

test('lists that are honest contradict nothing, however late they are', async () => {
  bench.venue.faults.unlistedMarkets = [await bench.marketToken(btcSymbol)]
  const { engine, wish, events } = wishing()
  await engine.start()
  await bench.clock.advance(125_000)
  expect(await wish(['increase', ethSymbol])).toEqual([])
  bench.venue.faults.unlistedMarkets = []
  await bench.clock.advance(125_000)
  expect(await wish(['close', ethSymbol])).toEqual([])
  expect(events.filter(({ type }) => type.startsWith('market.'))).toEqual([])
  expect(engine.status().contradictions).toEqual([])
})

test('an operator goes on in spite of a contradiction, and a restart remembers both', async () => {
  await tokenLie('api/0', usdc, 8)
  const first = wishing()
  await first.engine.start()
  await bench.clock.advance(tokensMs)
  expect(await first.wish(['increase', ethSymbol])).toEqual(['MARKET_NOT_TRUSTED'])
  first.engine.abort()

  const second = wishing()
  await second.engine.start()
  // Nothing was said yet in this run, by whichever host is asked first.
  expect(second.engine.status().contradictions).toMatchObject([{ address: usdc }])
  const answer = await second.engine.operate(
    { type: 'market', market: ethSymbol },
    { by: 'ann', via: 'control' },
  )
  expect(answer).toMatchObject({
    ok: true,
    statement: expect.stringContaining('has 8 decimals instead of 6'),
  })
  await bench.clock.advance(tokensMs)
  expect(second.engine.status().contradictions).toEqual([])
  expect(await second.wish(['increase', ethSymbol])).toEqual([])
  const [position] = await held()
  expect((position?.collateralAmount ?? 0n) / 10n ** 6n).toBeLessThan(410n)
  expect(position?.sizeInUsd).toBeGreaterThan(1_900n * ONE_USD)
  second.engine.abort()

  const third = wishing()
  await third.engine.start()
  await bench.clock.advance(tokensMs)
  expect(third.engine.status().contradictions).toEqual([])
  // Another lie of the same host is another contradiction.
  await tokenLie('api/0', usdc, 7)
  await bench.clock.advance(tokensMs)
  expect(await third.wish(['increase', ethSymbol])).toEqual(['MARKET_NOT_TRUSTED'])
})
