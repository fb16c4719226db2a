/** `protect.maxDrawdownUsd` of a file, over the paper venue: what a strategy holds at a loss counts while it lasts. */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import { usd } from '../../src/protocol/units.ts'
import { defineStrategy, type Strategy, type StrategyDecision, z } from '../../src/strategy/strategy.ts'
import { engineOver } from '../support/engine.ts'
import { usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, kindsBench } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'

let bench: KindsBench | undefined
let running: Engine | undefined
afterEach(async () => {
  running?.abort()
  await bench?.close()
})

test('a strategy that holds at a loss adds nothing while the loss is above its limit, and adds again when it has recovered', async () => {
  bench = await kindsBench({
    path: [
      [0, 1_800],
      [60, 1_800],
      [61, 1_600],
      [180, 1_600],
      [181, 1_790],
    ],
  })
  const marketToken = await bench.marketToken(ethSymbol)
  const strategy = defineStrategy({
    kind: 'adder',
    description: 'Adds every half a minute.',
    params: z.object({}),
    needs: () => ({ symbols: [ethSymbol] }),
    decide: (view): readonly StrategyDecision[] => [
      {
        kind: 'increase',
        marketToken,
        direction: 'long',
        sizeDeltaUsd: usd(200),
        leverageBps: 20_000,
        collateralToken: usdc,
        reason: `half a minute is over at ${view.snapshot.atMs}`,
      },
    ],
  }) as Strategy
  const loaded = loadedOf(strategy, 'adder', [ethSymbol], { protect: { maxDrawdownUsd: usd(30) } })
  const { engine, codes } = engineOver(bench, { strategies: [{ ...loaded, cadenceMs: 30_000 }] })
  running = engine
  const entries = () => bench?.journal.recentIntents().length ?? 0
  await engine.start()
  await bench.clock.advance(65_000)
  const [early, before] = [entries(), codes()]
  expect(early).toBeGreaterThanOrEqual(2)
  expect(before).toEqual([])
  await bench.clock.advance(110_000)
  expect([entries(), new Set(codes())]).toEqual([early, new Set(['STRATEGY_DRAWDOWN'])])
  await bench.clock.advance(65_000)
  expect(entries()).toBeGreaterThan(early)
})
