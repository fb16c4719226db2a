/** Edits over the running engine and the paper venue: what a host lists of an order is never what is signed anew. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import { MAX_UINT256, usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { collateralTokenOf, defineStrategy, type StrategyView, z } from '../../src/strategy/strategy.ts'
import type { StrategyDecision } from '../../src/strategy/strategyDecision.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, kindsBench, signer } from '../support/kinds.ts'
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

/** Places a limit order at $500, or makes its own resting one as large as the test says. */
function wishing() {
  let wanted: number | undefined
  const decide = (view: StrategyView): readonly StrategyDecision[] => {
    const [sizeUsd, market] = [wanted, view.market(ethSymbol)]
    wanted = undefined
    if (sizeUsd === undefined || market === undefined) return []
    const { marketToken } = market.market
    const base = { marketToken, direction: 'long', reason: 'test' } as const
    const [resting] = view.restingOrders
    if (resting !== undefined) {
      return [{ kind: 'edit', ...base, orderKey: resting.orderKey, sizeDeltaUsd: usd(sizeUsd) }]
    }
    const collateralToken = collateralTokenOf(market, 'short')
    const sizes = { sizeDeltaUsd: usd(sizeUsd), leverageBps: 20_000, collateralToken }
    return [{ kind: 'increase', ...base, ...sizes, orderType: 'limit', triggerPrice: usd(500) }]
  }
  const strategy = defineStrategy({
    kind: 'edits',
    description: 'Wishes what the test says.',
    params: z.strictObject({}),
    needs: () => ({ symbols: [ethSymbol] }),
    decide,
  })
  const loaded: LoadedStrategy = loadedOf(strategy, 'edits', [ethSymbol], { cadenceMs: 1_000 })
  const over = engineOver(bench, {
    strategies: [loaded],
    account: { maxTotalExposureUsd: usd(20_000), maxPositionSizeUsd: usd(5_000) },
  })
  running.push(over.engine)
  return {
    ...over,
    /** Asks for this size, and waits until it was decided and carried out. */
    async wish(sizeUsd: number): Promise<readonly string[]> {
      const before = over.codes().length
      wanted = sizeUsd
      await bench.clock.advance(40_000)
      return over.codes().slice(before)
    },
  }
}

const rested = async () => {
  const { value } = await bench.api.getOrders({ account: signer.address }, { isFresh: true })
  return value.map(({ sizeDeltaUsd, acceptableContractPrice }) => ({ sizeDeltaUsd, acceptableContractPrice }))
}

test('an edit of a size signs the price that was signed before, whatever a host lists', async () => {
  const { engine, wish } = wishing()
  await engine.start()
  expect(await wish(600)).toEqual([])
  const [placed] = await rested()
  const acceptableContractPrice = placed?.acceptableContractPrice ?? 0n
  expect(acceptableContractPrice).toBeGreaterThan(0n)
  expect(await wish(700)).toEqual([])
  // The second edit stands on the first.
  expect(await wish(800)).toEqual([])
  expect(await rested()).toEqual([{ sizeDeltaUsd: usd(800), acceptableContractPrice }])
  const rule = bench.venue.wire.add({
    kind: 'edit',
    route: '/orders',
    host: '*',
    edits: [{ path: '/0/acceptablePrice', set: String(MAX_UINT256) }],
  })
  if (typeof rule === 'string') throw new Error(rule)
  await bench.clock.advance(5_000)
  expect(await wish(900)).toEqual(['ORDER_DIFFERS'])
  bench.venue.wire.remove(rule.id)
  await bench.clock.advance(5_000)
  expect(await rested()).toEqual([{ sizeDeltaUsd: usd(800), acceptableContractPrice }])
  expect(await wish(900)).toEqual([])
  expect(await rested()).toEqual([{ sizeDeltaUsd: usd(900), acceptableContractPrice }])
})
