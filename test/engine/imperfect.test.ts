/**
 * Data that is old, or of which a row cannot be read: what adds risk waits where it must, and a position can still be left.
 * The running engine over the paper venue on real sockets.
 */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import type { Limits } from '../../src/domain/limits/limits.ts'
import type { AnswerEdit } from '../../src/paper/http/answerEdit.ts'
import type { Direction } from '../../src/protocol/market.ts'
import { usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { collateralTokenOf, defineStrategy, type StrategyView, z } from '../../src/strategy/strategy.ts'
import type { StrategyDecision } from '../../src/strategy/strategyDecision.ts'
import { engineOver } from '../support/engine.ts'
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

type Decide = (view: StrategyView) => readonly StrategyDecision[]
const account: Limits = {
  maxDataAgeMs: 15_000,
  maxTotalExposureUsd: usd(20_000),
  maxPositionSizeUsd: usd(5_000),
}

function strategyOf(decide: Decide): LoadedStrategy {
  const symbols = [ethSymbol, btcSymbol]
  const strategy = defineStrategy({
    kind: 'wishes',
    description: 'Wishes what the test says.',
    params: z.strictObject({}),
    needs: () => ({ symbols }),
    decide: (view) => decide(view),
  })
  return loadedOf(strategy, 'wishes', symbols, { cadenceMs: 1_000 })
}

/** Decisions as the test sets them, each once. */
function wishing() {
  let wishes: readonly (readonly [kind: 'increase' | 'close', symbol: string])[] = []
  const strategy = strategyOf((view) => {
    const [...now] = wishes
    wishes = []
    return now.flatMap(([kind, symbol]): readonly StrategyDecision[] => {
      const market = view.market(symbol)
      if (market === undefined) return []
      const direction: Direction = 'long'
      const base = {
        marketToken: market.market.marketToken,
        direction,
        collateralToken: collateralTokenOf(market, 'short'),
        reason: 'test',
      }
      return kind === 'close'
        ? [{ kind, ...base }]
        : [{ kind, ...base, sizeDeltaUsd: usd(500), leverageBps: 20_000 }]
    })
  })
  const over = engineOver(bench, { strategies: [strategy], account })
  running.push(over.engine)
  return {
    ...over,
    /** Decisions, and waits until it was decided and carried out. */
    async wish(...wanted: readonly (readonly ['increase' | 'close', string])[]): Promise<readonly string[]> {
      const before = over.codes().length
      wishes = wanted
      await bench.clock.advance(8_000)
      return over.codes().slice(before)
    },
  }
}

function edit(route: string, host: string, ...edits: readonly AnswerEdit[]): string {
  const rule = bench.venue.wire.add({ kind: 'edit', route, host, edits })
  if (typeof rule === 'string') throw new Error(rule)
  return rule.id
}

const held = async () =>
  (await bench.api.getPositions({ account: signer.address }, { isFresh: true })).value.map(
    ({ marketToken }) => marketToken,
  )

const old: AnswerEdit = { path: '/*/updatedAt', add: -600 }

test('a primary oracle whose prices are ten minutes old is left for its fallback: trading goes on, and it is told once', async () => {
  edit('/prices/tickers', 'oracle/0', old)
  const { engine, wish } = wishing()
  await engine.start()
  expect(await wish(['increase', ethSymbol])).toEqual([])
  expect(await held()).toHaveLength(1)
  await bench.clock.advance(60_000)
  expect(await wish(['close', ethSymbol])).toEqual([])
  expect(await held()).toEqual([])
  const told = bench.events.flatMap((event) => (event.type === 'host.prices' ? [event] : []))
  expect(told).toMatchObject([{ host: expect.stringContaining('/oracle/0'), isStale: true }])
})

test('with old prices at every oracle host nothing is opened, and a close goes out on the venue’s own mark and says so', async () => {
  const { engine, wish, events } = wishing()
  await engine.start()
  await wish(['increase', ethSymbol])
  edit('/prices/tickers', 'oracle/*', old)
  await bench.clock.advance(2_000)
  expect(await wish(['increase', ethSymbol])).toEqual(['DATA_TOO_OLD'])
  expect(await wish(['close', ethSymbol])).toEqual([])
  expect(await held()).toEqual([])
  expect(events.filter(({ type }) => type === 'price.fallback')).toMatchObject([{ source: 'ticker' }])
  const [close] = bench.journal.recentIntents({ limit: 1 })
  expect(close?.intent).toMatchObject({ kind: 'close', sizing: { priceSource: 'ticker' } })
})

test.each(['old', 'gone'])('a kill closes everything while every oracle host is %s', async (how) => {
  const { engine, wish } = wishing()
  await engine.start()
  await wish(['increase', ethSymbol])
  if (how === 'old') edit('/prices/tickers', 'oracle/*', old)
  else bench.venue.faults.down = ['oracle/0', 'oracle/1', 'oracle/2']
  await engine.operate({ type: 'kill', close: true }, { by: 'ann', via: 'control' })
  await bench.clock.advance(90_000)
  expect(engine.status().kill).toMatchObject({ outcome: 'done' })
  expect(await held()).toEqual([])
})

test('without a ticker the mark of the position’s row bounds the close', async () => {
  const { engine, wish, events } = wishing()
  await engine.start()
  await wish(['increase', ethSymbol])
  edit('/prices/tickers', 'oracle/*', old)
  bench.venue.wire.add({ kind: 'status', status: 503, route: '/markets/tickers' })
  // What the hosts said seconds before counts meanwhile.
  await bench.clock.advance(25_000)
  expect(await wish(['close', ethSymbol])).toEqual([])
  await bench.clock.advance(10_000)
  expect(await held()).toEqual([])
  expect(events.filter(({ type }) => type === 'price.fallback')).toMatchObject([{ source: 'position' }])
})

test('one oracle row that cannot be read closes its market for increases and no other, and its position can be left', async () => {
  const { engine, wish } = wishing()
  await engine.start()
  expect(await wish(['increase', ethSymbol], ['increase', btcSymbol])).toEqual([])
  expect(await held()).toHaveLength(2)
  const rows = (await (await fetch(`${bench.served.oracle[0]}/prices/tickers`)).json()) as {
    tokenAddress: string
  }[]
  const btc = (await bench.snapshot()).markets.get((await bench.marketToken(btcSymbol)).toLowerCase())
  const at = rows.findIndex(
    ({ tokenAddress }) => tokenAddress.toLowerCase() === btc?.market.indexToken.toLowerCase(),
  )
  edit('/prices/tickers', 'oracle/*', { path: `/${at}/minPrice`, set: '12.5' })
  await bench.clock.advance(2_000)
  expect(await wish(['increase', ethSymbol], ['increase', btcSymbol])).toEqual(['DATA_INCOMPLETE'])
  expect(await wish(['close', btcSymbol])).toEqual([])
  expect(await held()).toEqual([await bench.marketToken(ethSymbol)])
  const told = bench.events.find((event) => event.type === 'rows.missing')
  expect(told).toMatchObject({
    route: '/prices/tickers',
    rows: [{ token: btc?.market.indexToken, problem: expect.stringContaining('minPrice is not') }],
  })
})

test('a position whose row cannot be read is not gone: no list, discrepancy or breaker takes it for closed, and a kill closes it', async () => {
  const { engine, wish, events } = wishing()
  await engine.start()
  await wish(['increase', ethSymbol])
  await bench.clock.advance(60_000)
  const id = edit('/positions', '*', { path: '/0/sizeInUsd', set: 'many' })
  await bench.clock.advance(60_000)
  // The other market trades on; here nothing is added.
  expect(await wish(['increase', ethSymbol], ['increase', btcSymbol])).toEqual(['DATA_INCOMPLETE'])
  expect(engine.status()).toMatchObject({ discrepancies: [], halts: [], tradingState: 'active' })
  await engine.operate({ type: 'kill', close: true }, { by: 'ann', via: 'control' })
  await bench.clock.advance(90_000)
  expect(engine.status().kill).toMatchObject({ outcome: 'done' })
  bench.venue.wire.remove(id)
  expect(await held()).toEqual([])
  expect(events.filter(({ type }) => type === 'account.discrepancy')).toEqual([])
})

test('a resting order whose row cannot be read has not ended, and a kill waits for it', async () => {
  const { engine } = wishing()
  await engine.start()
  const intent = await bench.accept({
    kind: 'increase',
    marketToken: await bench.marketToken(ethSymbol),
    direction: 'long',
    orderType: 'limit',
    triggerPrice: usd(500),
    sizeDeltaUsd: usd(500),
    leverageBps: 20_000,
    collateralToken: (await bench.snapshot()).markets.values().next().value?.market.shortToken ?? '0x',
    reason: 'test',
  })
  await bench.clock.advance(10_000)
  edit('/orders', '*', { path: '/0/orderType', set: 'limit' })
  await bench.clock.advance(2_000)
  await engine.operate({ type: 'kill', close: true }, { by: 'ann', via: 'control' })
  await bench.clock.advance(30_000)
  expect(bench.story(intent.intentId).closing).toBeUndefined()
  expect(engine.status().kill).toMatchObject({ problem: expect.stringContaining('an order cannot be read') })
  expect(engine.status().kill?.outcome).toBeUndefined()
})

test('a row of the catalogue that cannot be read closes its market for increases, and its position can be left', async () => {
  const { engine, wish } = wishing()
  await engine.start()
  await wish(['increase', ethSymbol])
  const markets = (await (await fetch(`${bench.served.api[0]}/markets`)).json()) as { symbol: string }[]
  const at = markets.findIndex(({ symbol }) => symbol === ethSymbol)
  edit('/markets', '*', { path: `/${at}/minCollateralUsd`, set: 'many' })
  await bench.clock.advance(70_000)
  expect(await wish(['increase', ethSymbol], ['increase', btcSymbol])).toEqual(['DATA_INCOMPLETE'])
  expect(await wish(['close', ethSymbol])).toEqual([])
  expect(await held()).toEqual([await bench.marketToken(btcSymbol)])
})

test('a position on a market that the catalogue no longer has can be left, over a restart too', async () => {
  const first = wishing()
  await first.engine.start()
  await first.wish(['increase', ethSymbol])
  first.engine.abort()
  const markets = (await (await fetch(`${bench.served.api[0]}/markets`)).json()) as { symbol: string }[]
  const at = markets.findIndex(({ symbol }) => symbol === ethSymbol)
  edit('/markets', '*', { path: `/${at}`, remove: true })
  edit('/markets/tickers', '*', { path: `/${at}`, remove: true })
  await bench.clock.advance(70_000)
  const second = wishing()
  await second.engine.start()
  await second.engine.operate({ type: 'kill', close: true }, { by: 'ann', via: 'control' })
  await bench.clock.advance(60_000)
  expect(second.engine.status().kill).toMatchObject({ outcome: 'done' })
  expect(await held()).toEqual([])
})

test.each<readonly [string, AnswerEdit]>([
  ['never worked', { path: '/*/updatedAt', set: null }],
  ['was a minute ago', { path: '/*/updatedAt', add: -60_000 }],
])(
  'market values whose refresh %s are stale: nothing is opened, a position can be left',
  async (_how, change) => {
    const { engine, wish } = wishing()
    await engine.start()
    expect(await wish(['increase', ethSymbol])).toEqual([])
    const id = edit('/markets/values', '*', change)
    await bench.clock.advance(12_000)
    expect(await wish(['increase', ethSymbol])).toEqual(['MARKET_DATA_STALE'])
    expect(await wish(['close', ethSymbol])).toEqual([])
    expect(await held()).toEqual([])
    bench.venue.wire.remove(id)
    await bench.clock.advance(12_000)
    expect(await wish(['increase', ethSymbol])).toEqual([])
  },
)
