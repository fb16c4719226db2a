/** Reductions of strategies: of positions that only one host shows, that an operator's own hand opened, and their fees. */
import { afterEach, expect, test } from 'vitest'
import type { Limits } from '../../src/domain/limits/limits.ts'
import type { DecreaseDecision } from '../../src/domain/order/decision.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { guard } from '../../src/strategy/kinds/guard.ts'
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

function loaded(strategy: Strategy, params: unknown): LoadedStrategy {
  return loadedOf(strategy, strategy.kind, [ethSymbol], { params })
}

function deciding(decide: (view: StrategyView) => readonly StrategyDecision[]): LoadedStrategy {
  const strategy = defineStrategy({
    kind: 'reducer',
    description: 'Reduces what it sees.',
    // What no strategy opened is for keepers.
    opensPositions: false,
    params: z.object({}),
    needs: () => ({ symbols: [ethSymbol] }),
    decide: (view) => decide(view as StrategyView),
  })
  return loaded(strategy as Strategy, {})
}

/** An engine that knows nothing of what the bench's own journal opened: it was opened by hand, for all it knows. */
async function besides(
  strategies: readonly LoadedStrategy[],
  account: Limits = {},
  limits: Readonly<Record<string, Limits>> = {},
) {
  const journal = createMemoryJournal()
  const at = engineOver(
    { ...bench, journal, context: { ...bench.context, journal } },
    { strategies, account, limits },
  )
  running = at.engine
  await at.engine.start()
  return { ...at, journal }
}

async function openLong(): Promise<void> {
  await bench.accept({
    kind: 'increase',
    marketToken: await bench.marketToken(ethSymbol),
    direction: 'long',
    sizeDeltaUsd: usd(500),
    leverageBps: 20_000,
    collateralToken: usdc,
    reason: 'by hand',
  })
  await bench.clock.advance(30_000)
  expect((await bench.api.getPositions({ account: signer.address })).value).toHaveLength(1)
}

test('a guard signs nothing for positions that one host of two makes up', async () => {
  let isLying = false
  bench = await kindsBench({
    lie: (url, text) => {
      if (!isLying || !url.includes('/api/0/') || !new URL(url).pathname.endsWith('/positions'))
        return undefined
      const rows = JSON.parse(text) as Record<string, unknown>[]
      const made = rows.map((row) => ({
        ...row,
        isLong: false,
        key: `${String(row.key).split(':').slice(0, -1).join(':')}:false`,
        liquidationPrice: row.markPrice,
      }))
      return JSON.stringify([...rows, ...made])
    },
  })
  await openLong()
  isLying = true
  const made = (
    await bench.api.getPositions({ account: signer.address }, { host: bench.api.hosts.api[0] ?? '' })
  ).value
  expect(made.map(({ direction }) => direction)).toEqual(['long', 'short'])
  const { engine, codes, journal } = await besides([loaded(guard as Strategy, guard.params.parse({}))])
  await bench.clock.advance(300_000)
  expect(engine.status().positions.length).toBeGreaterThan(0)
  expect(journal.recentIntents()).toEqual([])
  expect(new Set(codes())).toEqual(new Set(['POSITION_UNPROVEN']))
})

test('a position that was opened by hand is reduced when every host has shown it for half a minute, or at once by an operator', async () => {
  bench = await kindsBench()
  await openLong()
  const close = deciding((view) =>
    view.positions(ethSymbol).map(({ marketToken, direction, collateralToken }) => ({
      kind: 'close',
      marketToken,
      direction,
      collateralToken,
      reason: 'it is seen',
    })),
  )
  const { codes, journal } = await besides([close])
  await bench.clock.advance(25_000)
  expect([journal.recentIntents(), new Set(codes())]).toEqual([[], new Set(['POSITION_UNPROVEN'])])
  await bench.clock.advance(30_000)
  expect(journal.recentIntents().map(({ intent: { kind }, closing }) => [kind, closing?.outcome])).toEqual([
    ['close', 'EXECUTED'],
  ])

  await openLong()
  const other = await besides([])
  await other.engine.operate({ type: 'kill', close: true }, { by: 'ann', via: 'control' })
  await bench.clock.advance(20_000)
  expect(other.journal.recentIntents().map(({ intent: { kind } }) => kind)).toEqual(['close'])
})

test.each([
  ['of all', { reductionFeesPerDayUsd: usd(1) }, {}],
  ['of its own file', {}, { reductionFeesPerDayUsd: usd(1) }],
])(
  "a strategy's reductions stop at the budget of fees %s, and a kill goes on",
  async (_whose, ofAll, own) => {
    bench = await kindsBench()
    await openLong()
    const part = deciding((view) =>
      view.positions(ethSymbol).map(
        ({ marketToken, direction, collateralToken }): DecreaseDecision => ({
          kind: 'decrease',
          marketToken,
          direction,
          collateralToken,
          sizeDeltaUsd: usd(20),
          keepLeverage: true,
          reason: 'a part at each tick',
        }),
      ),
    )
    const { engine, codes, journal } = await besides([part], ofAll, { [part.name]: own })
    await bench.clock.advance(400_000)
    const spent = journal
      .recentIntents()
      .flatMap(({ attempts }) => attempts.map(({ armed }) => armed?.relayFeeAmount ?? 0n))
    const sum = spent.reduce((total, fee) => total + fee, 0n)
    const dearest = spent.reduce((most, fee) => (fee > most ? fee : most), 0n)
    expect(spent.length).toBeGreaterThan(1)
    expect(sum).toBeLessThan(1_000_000n + dearest)
    expect(codes()).toContain('REDUCTION_FEES_PER_DAY')
    await engine.operate({ type: 'kill', close: true }, { by: 'ann', via: 'control' })
    await bench.clock.advance(60_000)
    expect(engine.status().kill).toMatchObject({ outcome: 'done' })
    expect((await bench.api.getPositions({ account: signer.address })).value).toEqual([])
  },
)
