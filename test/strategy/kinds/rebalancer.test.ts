/** Weights over several markets: nothing within the band, reductions first, and never past a target. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Position } from '../../../src/protocol/position.ts'
import { usd } from '../../../src/protocol/units.ts'
import { rebalancer } from '../../../src/strategy/kinds/rebalancer.ts'
import { viewOf } from '../../../src/strategy/strategy.ts'
import { MARKET, marketView, OTHER_MARKET, position, SYMBOL, snapshot } from '../../risk/world.ts'
import { size } from './kindScene.ts'

const OTHER = 'BTC/USD [BTC-USDC]'

function decide(params: Record<string, unknown>, positions: readonly Position[] = [], isOtherRead = true) {
  const eth = marketView()
  const btc = { ...eth, market: { ...eth.market, symbol: OTHER, marketToken: OTHER_MARKET } }
  const world = snapshot({ view: eth, positions })
  const markets = new Map(world.markets)
  if (isOtherRead) markets.set(OTHER_MARKET.toLowerCase(), btc)
  return rebalancer.decide(
    viewOf({
      snapshot: { ...world, markets },
      params: rebalancer.params.parse({ totalUsd: 1000, ...params }),
      instance: { name: 'mine', symbols: [SYMBOL, OTHER], size },
      openIntents: [],
    }),
  )
}

const held = (sizeUsd: number, parts: Partial<Position> = {}) =>
  position({ sizeInUsd: usd(sizeUsd), ...parts })

test('it opens what its weights name, long and short, at most one order of its size a time', () => {
  expect(decide({ weights: { [SYMBOL]: 7000, [OTHER]: -3000 } })).toMatchObject([
    { kind: 'increase', marketToken: MARKET, direction: 'long', sizeDeltaUsd: usd(500) },
    { kind: 'increase', marketToken: OTHER_MARKET, direction: 'short', sizeDeltaUsd: usd(300) },
  ])
})

test('what is too much goes off before anything is added, and a side without a weight is closed', () => {
  const weights = { [SYMBOL]: 5000, [OTHER]: 5000 }
  expect(decide({ weights }, [held(800)])).toMatchObject([
    { kind: 'decrease', marketToken: MARKET, sizeDeltaUsd: usd(300), keepLeverage: true },
  ])
  expect(decide({ weights: { [OTHER]: 5000 } }, [held(800)])).toMatchObject([
    { kind: 'close', marketToken: MARKET, direction: 'long' },
  ])
  expect(decide({ weights: { [SYMBOL]: -5000 } }, [held(800)])).toMatchObject([
    { kind: 'close', direction: 'long' },
  ])
})

test('within the band, below the least order, and while a market cannot be read, nothing is done', () => {
  const weights = { [SYMBOL]: 5000 }
  expect(decide({ weights, bandBps: 500 }, [held(460)])).toEqual([])
  expect(decide({ weights, bandBps: 10, minOrderUsd: 50 }, [held(460)])).toEqual([])
  expect(decide({ weights }, [], false)).toEqual([])
})

test('weights beyond the whole and two sums are refused, and every market with a weight is read', () => {
  const parsed = (params: unknown) => rebalancer.params.safeParse(params).success
  expect(parsed({ totalUsd: 5, weights: { a: 6000, b: -5000 } })).toBe(false)
  expect(parsed({ totalUsd: 5, totalLeverage: 1, weights: {} })).toBe(false)
  expect(parsed({ weights: { a: 100 } })).toBe(false)
  const params = rebalancer.params.parse({ totalUsd: 5, weights: { 'DOGE/USD [WETH-USDC]': 100 } })
  // A market that has a weight alone is read as well.
  expect(rebalancer.needs(params, [SYMBOL]).symbols).toEqual([SYMBOL, 'DOGE/USD [WETH-USDC]'])
})

test('no order passes its target, whatever is held', () => {
  const amounts = fc.integer({ min: 0, max: 3_000 })
  fc.assert(
    fc.property(amounts, fc.integer({ min: 1, max: 10_000 }), (heldUsd, weight) => {
      const positions = heldUsd === 0 ? [] : [held(heldUsd)]
      for (const decision of decide({ weights: { [SYMBOL]: weight } }, positions)) {
        if (decision.kind !== 'increase' && decision.kind !== 'decrease') throw new Error(decision.kind)
        const target = (usd(1000) * BigInt(weight)) / 10_000n
        const after =
          decision.kind === 'increase'
            ? usd(heldUsd) + decision.sizeDeltaUsd
            : usd(heldUsd) - decision.sizeDeltaUsd
        expect(decision.kind === 'increase' ? after <= target : after >= target).toBe(true)
        expect(decision.sizeDeltaUsd <= size.usd).toBe(true)
      }
    }),
  )
})
