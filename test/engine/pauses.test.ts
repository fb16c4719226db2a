/** A 400 of prepare is not cured by asking again: the running engine over the paper venue on real sockets. */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import type { Event } from '../../src/domain/event.ts'
import { createRepeatFilter } from '../../src/monitor/log/repeatFilter.ts'
import type { AnswerEdit } from '../../src/paper/http/answerEdit.ts'
import { usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { collateralTokenOf, defineStrategy, type StrategyView, z } from '../../src/strategy/strategy.ts'
import type { StrategyDecision } from '../../src/strategy/strategyDecision.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, kindsBench, signer } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'

let bench: KindsBench
let running: Engine | undefined
afterEach(async () => {
  running?.abort()
  await bench.close()
})

/** Decisions the same every second. */
function instance(decide: (view: StrategyView) => readonly StrategyDecision[]): LoadedStrategy {
  const symbols = [ethSymbol]
  const strategy = defineStrategy({
    kind: 'same',
    description: 'Wishes the same every second.',
    params: z.strictObject({}),
    needs: () => ({ symbols, allPositionMarkets: true }),
    decide: (view) => decide(view),
  })
  return loadedOf(strategy, 'same', symbols, { cadenceMs: 1_000 })
}

async function start(decide: (view: StrategyView) => readonly StrategyDecision[]) {
  const prepares: number[] = []
  bench = await kindsBench({
    path: [
      [0, 2_000],
      [100_000, 2_000],
    ],
    onAnswer: (url) => {
      if (url.endsWith('/orders/txns/prepare'))
        prepares.push(Math.round((bench.clock.now() - startMs) / 1000))
    },
  })
  const startMs = bench.clock.now()
  const over = engineOver(bench, { strategies: [instance(decide)] })
  running = over.engine
  return { ...over, prepares }
}

function edit(route: string, ...edits: readonly AnswerEdit[]): string {
  const rule = bench.venue.wire.add({ kind: 'edit', route, edits })
  if (typeof rule === 'string') throw new Error(rule)
  return rule.id
}

const huge = '900000000000000000000000000000000000000'

test('an increase that the venue refuses is asked for ever more seldom, and again when its size changes', async () => {
  let sizeUsd = 90_000_000
  const { engine, prepares, events, codes } = await start((view) => {
    const market = view.market(ethSymbol)
    if (market === undefined) return []
    return [
      {
        kind: 'increase',
        marketToken: market.market.marketToken,
        direction: 'long',
        collateralToken: collateralTokenOf(market, 'short'),
        sizeDeltaUsd: usd(sizeUsd),
        leverageBps: 20_000,
        reason: 'test',
      },
    ]
  })
  for (const route of ['/markets/tickers', '/markets/trading-capacity']) {
    const at = route === '/markets/tickers' ? '/*/capacityLong' : ''
    edit(
      route,
      { path: `${at}/availableLiquidity`, set: huge },
      { path: `${at}/baseAvailableLiquidity`, set: huge },
    )
  }
  await engine.start()
  await bench.clock.advance(160_000)
  const closed = bench.journal.recentIntents({})
  expect(new Set(closed.map(({ closing }) => closing?.code))).toEqual(new Set(['INSUFFICIENT_LIQUIDITY']))
  // 5, 10, 20, 40 and 80 s apart; before, every second until the breaker opened.
  const gaps = prepares.slice(1).map((at, index) => at - (prepares[index] ?? 0))
  expect(gaps.map((gap) => Math.round(gap / 5) * 5)).toEqual([5, 10, 20, 40, 80])
  expect(new Set(codes())).toEqual(new Set(['REFUSED_BEFORE']))
  expect(engine.status().halts).toEqual([])
  // Each pause is one line of the log.
  const quiet = createRepeatFilter(() => 0)
  const told = (events as readonly Event[])
    .filter((event) => event.type === 'decision.denied' || event.type === 'decision.admitted')
    .flatMap((event) => quiet(event))
    .filter(({ level, text }) => level !== 'debug' && text.includes('The venue refused this order'))
  expect(told).toHaveLength(gaps.length + 1)
  const before = prepares.length
  sizeUsd = 80_000_000
  await bench.clock.advance(2_000)
  expect(prepares).toHaveLength(before + 1)
})

test('a kill whose close is refused asks ever more seldom, says why, and never gives up', async () => {
  const { engine, prepares } = await start(() => [])
  await engine.start()
  await bench.accept({
    kind: 'increase',
    marketToken: await bench.marketToken(ethSymbol),
    direction: 'long',
    sizeDeltaUsd: usd(500),
    leverageBps: 20_000,
    collateralToken: (await bench.snapshot()).markets.values().next().value?.market.shortToken ?? '0x',
    reason: 'test',
  })
  await bench.clock.advance(10_000)
  // The venue knows no such position when it is to prepare its close.
  bench.venue.faults.prepareRefuses = 'POSITION_NOT_FOUND'
  await bench.clock.advance(2_000)
  prepares.length = 0
  await engine.operate({ type: 'kill', close: true }, { by: 'ann', via: 'control' })
  await bench.clock.advance(300_000)
  expect(prepares.length).toBeGreaterThan(6)
  expect(prepares.length).toBeLessThan(14)
  expect(engine.status().kill?.problem).toContain('REFUSED_BEFORE, The venue refused this order')
  bench.venue.faults.prepareRefuses = ''
  await bench.clock.advance(90_000)
  expect(engine.status().kill).toMatchObject({ outcome: 'done' })
  expect((await bench.api.getPositions({ account: signer.address })).value).toEqual([])
})
