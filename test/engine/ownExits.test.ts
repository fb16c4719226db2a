/** Exits that a kind places itself, by a file without `exit`, over real sockets to the paper venue: they come to no more than the instance's part. */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import { usd } from '../../src/protocol/units.ts'
import { collateralTokenOf, defineStrategy, type Strategy, z } from '../../src/strategy/strategy.ts'
import { engineOver } from '../support/engine.ts'
import { ann, opening, restingAt } from '../support/janitor.ts'
import { ethSymbol, type KindsBench, kindsBench } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'

let bench: KindsBench
let engine: Engine | undefined
afterEach(async () => {
  engine?.abort()
  await bench.close()
})

/** Opens one long of $200 with a stop and a target, and lets them rest. */
const stopped = defineStrategy({
  kind: 'stopped',
  description: 'Opens once with exits of its own.',
  params: z.strictObject({}),
  memory: { version: 1, schema: z.strictObject({ opened: z.boolean() }), first: { opened: false } },
  needs: (_params, symbols) => ({ symbols }),
  decide(view, { opened }) {
    const market = view.market(ethSymbol)
    if (opened || market === undefined || view.positions().length === 0)
      return { decisions: [], memory: { opened } }
    const decision = {
      kind: 'increase' as const,
      marketToken: market.market.marketToken,
      direction: 'long' as const,
      sizeDeltaUsd: usd(200),
      leverageBps: 20_000,
      collateralToken: collateralTokenOf(market, 'short'),
      tpsl: [
        { type: 'stop-loss' as const, triggerPrice: usd(1_800) },
        { type: 'take-profit' as const, triggerPrice: usd(2_400), shareBps: 5_000 },
      ],
      reason: 'once',
    }
    return { decisions: [decision], memory: { opened: true } }
  },
}) as Strategy

const held = () =>
  bench.journal
    .books()
    .all()
    .filter(({ sizeUsd }) => sizeUsd !== 0n)
    .map(({ strategy, sizeUsd }) => `${strategy} ${sizeUsd / usd(1)}`)
    .sort()

test("a hand's reduction of a shared side makes a kind's own stop as small as what is left of its part, and a target that fits stays", {
  timeout: 240_000,
}, async () => {
  bench = await kindsBench({ path: [[0, 2_000]] })
  const { clock } = bench
  const at = engineOver(bench, { strategies: [loadedOf(stopped, 'own', [ethSymbol], { cadenceMs: 2_000 })] })
  engine = at.engine
  await engine.start()
  const ask = async (command: Parameters<Engine['operate']>[0]) => {
    expect(await engine?.operate(command, ann)).toMatchObject({ ok: true })
    await clock.advance(60_000)
  }
  await ask({ ...opening, id: 'by-hand', direction: 'long', size: '300' })
  expect(held()).toEqual(['@operator 300', 'own 200'])
  expect(await restingAt(bench)).toEqual(['long 5 2400 100', 'long 6 1800 200'])

  // The operator's own part goes first: nothing of the instance's is touched.
  const close = { type: 'close', market: ethSymbol, direction: 'long', isPreview: false } as const
  await ask({ ...close, id: 'close-1', shareBps: 6_000 })
  expect(held()).toEqual(['own 200'])
  expect(await restingAt(bench)).toEqual(['long 5 2400 100', 'long 6 1800 200'])
  await ask({ ...close, id: 'close-2', shareBps: 4_000 })
  expect(held()).toEqual(['own 120'])
  expect(await restingAt(bench)).toEqual(['long 5 2400 100', 'long 6 1800 120'])
  await ask({ ...close, id: 'close-3', shareBps: 5_000 })
  expect(await restingAt(bench)).toEqual(['long 5 2400 60', 'long 6 1800 60'])
  const edits = bench.journal.recentIntents().filter(({ intent }) => intent.kind === 'edit')
  expect(edits).toHaveLength(3)
  expect(at.codes()).toEqual([])
})
