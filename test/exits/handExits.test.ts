/** Exits of an order by hand, over real sockets to the paper venue: they close no more than what is left of the operator's own part. */
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

/** Holds a long of $1,000. */
const holder = defineStrategy({
  kind: 'holder',
  description: 'Holds a long.',
  params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }),
  decide(view) {
    const market = view.market(ethSymbol)
    if (market === undefined || view.ownPositions().length + view.openIntents.length > 0) return []
    return [
      {
        kind: 'increase' as const,
        marketToken: market.market.marketToken,
        direction: 'long' as const,
        sizeDeltaUsd: usd(1_000),
        leverageBps: 20_000,
        collateralToken: collateralTokenOf(market, 'short'),
        reason: 'no position is open',
      },
    ]
  },
}) as Strategy

test("exits of an order by hand shrink with the operator's part of a shared side, and go with it; what fits is left alone", {
  timeout: 240_000,
}, async () => {
  bench = await kindsBench({ path: [[0, 2_000]] })
  const { clock, journal } = bench
  const at = engineOver(bench, {
    strategies: [loadedOf(holder, 'holder', [ethSymbol], { cadenceMs: 5_000 })],
  })
  engine = at.engine
  await engine.start()
  const ask = async (command: Parameters<Engine['operate']>[0]) => {
    expect(await engine?.operate(command, ann)).toMatchObject({ ok: true })
    await clock.advance(50_000)
  }
  await clock.advance(30_000)
  await ask({ ...opening, id: 'by-hand', direction: 'long', stopLoss: '1800', takeProfit: '2400' })
  expect(await restingAt(bench)).toEqual(['long 5 2400 500', 'long 6 1800 500'])
  const changes = () =>
    journal.recentIntents().filter(({ intent: { kind } }) => kind === 'edit' || kind === 'cancel').length
  expect(changes()).toBe(0)

  const close = { type: 'close', market: ethSymbol, direction: 'long', isPreview: false } as const
  await ask({ ...close, id: 'close-1', shareBps: 2_000 })
  expect(await restingAt(bench)).toEqual(['long 5 2400 200', 'long 6 1800 200'])
  expect(changes()).toBe(2)
  await ask({ ...close, id: 'close-2', shareBps: 2_000 })
  expect(await restingAt(bench)).toEqual([])
  expect(changes()).toBe(3)
  expect(at.codes()).toEqual([])
})
