/** `protect.minEdgeBps` of a file, over the paper venue: by the fees, impact and gas that the venue and its chain tell. */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import { usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
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

function opener(name: string, marketToken: `0x${string}`, targetBps: number | undefined): LoadedStrategy {
  const strategy = defineStrategy({
    kind: name,
    description: 'Opens with a target.',
    params: z.object({}),
    needs: () => ({ symbols: [ethSymbol] }),
    decide: (view): readonly StrategyDecision[] => {
      const price = view.market(ethSymbol)?.oraclePrice?.value.maxPrice
      if (price === undefined || view.openIntents.length > 0 || view.positions(ethSymbol).length > 0)
        return []
      const target = targetBps === undefined ? undefined : price + (price * BigInt(targetBps)) / 10_000n
      return [
        {
          kind: 'increase',
          marketToken,
          direction: 'long',
          sizeDeltaUsd: usd(500),
          leverageBps: 40_000,
          collateralToken: usdc,
          ...(target === undefined ? {} : { tpsl: [{ type: 'take-profit' as const, triggerPrice: target }] }),
          reason: 'it is time',
        },
      ]
    },
  }) as Strategy
  const protect = { edge: { minBps: 100, holdMs: 86_400_000 } }
  return loadedOf(strategy, name, [ethSymbol], { protect })
}

test.each([
  ['near', 90, 'EDGE_TOO_SMALL'],
  ['far', 900, undefined],
  ['silent', undefined, 'EDGE_UNKNOWN'],
] as const)('an entry whose target is %s is judged by what it costs now', async (name, targetBps, code) => {
  bench = await kindsBench({ path: [[0, 1_800]] })
  const marketToken = await bench.marketToken(ethSymbol)
  const { engine, codes } = engineOver(bench, { strategies: [opener(name, marketToken, targetBps)] })
  running = engine
  await engine.start()
  await bench.clock.advance(30_000)
  const entries = bench.journal.recentIntents().filter(({ intent }) => intent.kind === 'increase')
  expect(entries).toHaveLength(code === undefined ? 1 : 0)
  expect([...new Set(codes())]).toEqual(code === undefined ? [] : [code])
})
