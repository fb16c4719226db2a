import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Position } from '../../../src/protocol/position.ts'
import { usd } from '../../../src/protocol/units.ts'
import { targetExposure } from '../../../src/strategy/kinds/targetExposure.ts'
import { viewOf } from '../../../src/strategy/strategy.ts'
import { marketView, NOW_MS, position, SYMBOL, snapshot, USDC } from '../../risk/world.ts'
import { size } from './kindScene.ts'

function decide(
  params: Record<string, unknown>,
  positions: readonly Position[] = [],
  options: { readonly usdc?: bigint; readonly status?: 'closed' } = {},
) {
  const { usdc, status } = options
  const view = marketView(status === undefined ? {} : { status })
  const priced = { ...view, shortToken: { ...view.shortToken, minPrice: usd(1) } }
  const world = snapshot({ view: priced, positions })
  const balance = { symbol: 'USDC', address: USDC, decimals: 6, balance: usdc ?? 0n }
  return targetExposure.decide(
    viewOf({
      snapshot: usdc === undefined ? world : { ...world, balances: { value: [balance], atMs: NOW_MS } },
      params: targetExposure.params.parse(params),
      instance: { name: 'mine', symbols: [SYMBOL], size },
      openIntents: [],
    }),
  )
}

test('it adds up to a target, one order at a time, and takes off above it', () => {
  expect(decide({ targetUsd: 2000 })).toMatchObject([{ kind: 'increase', sizeDeltaUsd: usd(500) }])
  expect(decide({ targetUsd: 1200 }, [position()])).toMatchObject([
    { kind: 'increase', sizeDeltaUsd: usd(200) },
  ])
  expect(decide({ targetUsd: 800 }, [position()])).toMatchObject([
    { kind: 'decrease', sizeDeltaUsd: usd(200), keepLeverage: true },
  ])
})

test('within the band and in a closed market nothing is done', () => {
  expect(decide({ targetUsd: 1050 }, [position()])).toEqual([])
  expect(decide({ targetUsd: 2000 }, [], { status: 'closed' })).toEqual([])
})

test('a share of equity and a leverage count positions and the wallet; without the wallet they wait', () => {
  const options = { usdc: 800_000_000n }
  // 200 in the position and 800 in the wallet.
  expect(decide({ targetLeverage: 1.3 }, [position()], options)).toMatchObject([
    { kind: 'increase', sizeDeltaUsd: usd(300) },
  ])
  expect(decide({ targetEquityBps: 6000 }, [position()], options)).toMatchObject([
    { kind: 'decrease', sizeDeltaUsd: usd(400) },
  ])
  expect(decide({ targetEquityBps: 6000 }, [position()])).toEqual([])
})

test('exactly one target is accepted', () => {
  expect(targetExposure.params.safeParse({}).success).toBe(false)
  expect(targetExposure.params.safeParse({ targetUsd: 5, targetLeverage: 2 }).success).toBe(false)
})

test('no order passes the target or the size of one order, whatever is held', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), fc.integer({ min: 0, max: 20_000 }), (target, held) => {
      const positions = held === 0 ? [] : [position({ sizeInUsd: usd(held) })]
      for (const decision of decide({ targetUsd: target }, positions)) {
        if (decision.kind !== 'increase' && decision.kind !== 'decrease') throw new Error(decision.kind)
        const after =
          usd(held) + (decision.kind === 'increase' ? decision.sizeDeltaUsd : -decision.sizeDeltaUsd)
        expect(decision.sizeDeltaUsd <= size.usd).toBe(true)
        expect(decision.kind === 'increase' ? after <= usd(target) : after >= usd(target)).toBe(true)
      }
    }),
    { seed: 15 },
  )
})
