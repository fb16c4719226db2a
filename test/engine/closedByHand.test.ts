/** What a second client with the same key does to a position of ours: it is told for what it is, and it is not unwound. */
import { afterEach, expect, test } from 'vitest'
import type { Discrepancy } from '../../src/domain/accountRecords/accountRecord.ts'
import { shortDiscrepancyId } from '../../src/domain/accountRecords/discrepancyId.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { defineStrategy, type Strategy, type StrategyView, z } from '../../src/strategy/strategy.ts'
import type { StrategyDecision } from '../../src/strategy/strategyDecision.ts'
import { engineOver } from '../support/engine.ts'
import { usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, kindsBench, signer } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'

let bench: KindsBench
let running: { abort(): void } | undefined
afterEach(async () => {
  running?.abort()
  running = undefined
  await bench.close()
})

/** Opens a long of this size, USD, whenever it sees none. */
function holder(marketToken: `0x${string}`, sizeDeltaUsd = usd(500)): LoadedStrategy {
  const strategy = defineStrategy({
    kind: 'holder',
    description: 'Holds a long.',
    params: z.object({}),
    needs: () => ({ symbols: [ethSymbol] }),
    decide: (view): readonly StrategyDecision[] =>
      (view as StrategyView).positions(ethSymbol).length > 0
        ? []
        : [
            {
              kind: 'increase',
              marketToken,
              direction: 'long',
              sizeDeltaUsd,
              leverageBps: 40_000,
              collateralToken: usdc,
              reason: 'no position is open',
            },
          ],
  }) as Strategy
  return loadedOf(strategy, 'holder', [ethSymbol])
}

test.each([
  ['by its trades alone', false],
  ['by its chain', true],
])(
  'a close from another client is told as one, holds increases, and is not bought back: %s',
  async (_how, isByChain) => {
    bench = await kindsBench({ isByChain })
    const marketToken = await bench.marketToken(ethSymbol)
    // The engine's own journal: what the bench's does is another client's.
    const journal = createMemoryJournal()
    const { engine, events, codes } = engineOver(
      { ...bench, journal, context: { ...bench.context, journal } },
      { strategies: [holder(marketToken)] },
    )
    running = engine
    await engine.start()
    await bench.clock.advance(60_000)
    const opened = () => journal.recentIntents().filter(({ intent: { kind } }) => kind === 'increase')
    expect(opened().map(({ closing }) => closing?.outcome)).toEqual(['EXECUTED'])

    await bench.accept({
      kind: 'close',
      marketToken,
      direction: 'long',
      collateralToken: usdc,
      reason: 'by hand',
    })
    await bench.clock.advance(120_000)
    expect((await bench.api.getPositions({ account: signer.address })).value).toEqual([])
    const found = (): readonly Discrepancy[] =>
      events.flatMap((event) => (event.type === 'account.discrepancy' ? [event.discrepancy] : []))
    expect(found().map(({ kind }) => kind)).toEqual(['external-close'])
    expect(codes()).toContain('UNEXPLAINED')
    expect(opened()).toHaveLength(1)

    // An operator's word lets it go on.
    const discrepancyId = found()[0]?.discrepancyId ?? ''
    await engine.operate({ type: 'discrepancy', discrepancyId, as: 'adopted' }, { by: 'ann', via: 'control' })
    await bench.clock.advance(60_000)
    expect(opened()).toHaveLength(2)
  },
)

test.each([
  ['by its trades alone', false],
  ['by its chain', true],
])('what the venue deleverages is told as that, and holds nothing: %s', async (_how, isByChain) => {
  bench = await kindsBench({
    isByChain,
    settings: { poolShareBps: 100, jitPoolShareBps: 0 },
    path: [
      [0, 1_740],
      [90, 1_740],
      [120, 4_000],
      [900, 4_000],
    ],
  })
  await fetch(`http://127.0.0.1:${bench.served.port}/__control/accounts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ address: signer.address, balances: { USDC: '900000000', WETH: '100000' } }),
  })
  const marketToken = await bench.marketToken(ethSymbol)
  const { value } = await bench.api.getTradingCapacity({ symbol: ethSymbol, direction: 'long' })
  const journal = createMemoryJournal()
  const { engine, events } = engineOver(
    { ...bench, journal, context: { ...bench.context, journal } },
    { strategies: [holder(marketToken, (value.availableLiquidity * 8n) / 10n)] },
  )
  running = engine
  await engine.start()
  await bench.clock.advance(60_000)
  const positions = async () => (await bench.api.getPositions({ account: signer.address })).value
  const opened = (await positions())[0]?.sizeInUsd ?? 0n
  expect(opened).toBeGreaterThan(0n)
  await bench.clock.advance(120_000)
  const [position] = await positions()
  expect(position?.sizeInUsd ?? opened).toBeLessThan(opened)
  const found = events.flatMap((event) =>
    event.type === 'account.discrepancy' ? [event.discrepancy.kind] : [],
  )
  expect(new Set(found)).toEqual(new Set(['adl']))
})

test('a fresh journal on a used account tells what it finds as a starting inventory, and nothing of the hour before', async () => {
  bench = await kindsBench()
  const marketToken = await bench.marketToken(ethSymbol)
  const side = { marketToken, direction: 'long', collateralToken: usdc, reason: 'by hand' } as const
  const open = { ...side, kind: 'increase', sizeDeltaUsd: usd(500), leverageBps: 20_000 } as const
  for (const decision of [open, { ...side, kind: 'close' } as const, open]) {
    await bench.accept(decision)
    await bench.clock.advance(60_000)
  }
  const journal = createMemoryJournal()
  const { engine, events } = engineOver(
    { ...bench, journal, context: { ...bench.context, journal } },
    { strategies: [holder(marketToken)] },
  )
  running = engine
  await engine.start()
  await bench.clock.advance(120_000)
  const found = events.flatMap((event) => (event.type === 'account.discrepancy' ? [event.discrepancy] : []))
  expect(found.map(({ kind, isInitial }) => [kind, isInitial])).toEqual([['unexplained-position', true]])
  const discrepancyId = shortDiscrepancyId(found[0]?.discrepancyId ?? '')
  const answer = await engine.operate(
    { type: 'discrepancy', discrepancyId, as: 'adopted' },
    { by: 'ann', via: 'control' },
  )
  expect(answer).toMatchObject({ ok: true })
  await bench.clock.advance(60_000)
  expect(engine.status().discrepancies).toEqual([])
})

test('where the richer search of trades fails, the account is judged by the plain one: a start is ready, a close by hand is told', async () => {
  bench = await kindsBench()
  await fetch(`http://127.0.0.1:${bench.served.port}/__control/wire`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'no-search', kind: 'status', status: 503, route: '/trades/search' }),
  })
  const marketToken = await bench.marketToken(ethSymbol)
  const journal = createMemoryJournal()
  const { engine, events, codes } = engineOver(
    { ...bench, journal, context: { ...bench.context, journal } },
    { strategies: [holder(marketToken)] },
  )
  running = engine
  const started = engine.start()
  await bench.clock.advance(60_000)
  await started
  await bench.clock.advance(60_000)
  expect(engine.status().state).toBe('running')
  await bench.accept({
    kind: 'close',
    marketToken,
    direction: 'long',
    collateralToken: usdc,
    reason: 'by hand',
  })
  await bench.clock.advance(240_000)
  const found = events.flatMap((event) =>
    event.type === 'account.discrepancy' ? [event.discrepancy.kind] : [],
  )
  expect(found).toEqual(['external-close'])
  expect(codes()).toContain('UNEXPLAINED')
})
