/** The budget of a task is what its orders may be signed for. */
import { expect, test } from 'vitest'
import type { Snapshot } from '../../src/domain/snapshot.ts'
import { usd } from '../../src/protocol/units.ts'
import { plannedTask } from '../../src/tasks/plannedTask.ts'
import { ethMarket, startMs, usdc } from '../support/intents.ts'

const market = { symbol: 'ETH/USD [WETH-USDC]', marketToken: ethMarket }
const position = {
  marketToken: ethMarket,
  direction: 'long',
  collateralToken: usdc,
  sizeInUsd: usd(2_000),
}
const snapshot = {
  markets: new Map([[ethMarket.toLowerCase(), { market }]]),
  positions: { value: [position] },
} as unknown as Snapshot
const feesOf = (action: 'increase' | 'decrease') => {
  const planned = plannedTask(
    {
      kind: 'twap',
      taskKey: 'one',
      reason: 'a test',
      marketToken: ethMarket,
      direction: 'long',
      collateralToken: usdc,
      action,
      leverageBps: 20_000,
      sizeUsd: usd(1_000),
      parts: 4,
      minutes: 60,
    } as never,
    { snapshot, nowMs: startMs, mostSendingUsd: usd(1), mostReducingUsd: usd(7), asked: 'a test' },
  )
  if ('code' in planned) throw new Error(planned.reason)
  return planned.params.budget.feesUsd
}

test('a task that only reduces has a budget for the fees that its orders may be signed for', () => {
  const spare = feesOf('increase') - usd(4)
  expect(feesOf('decrease')).toBe(spare + usd(4 * 7))
})

/** The budget of a chase of this size. */
const chaseOf = (sizeUsd: number, minutes = 30) => {
  const planned = plannedTask(
    {
      ...{ kind: 'chase', marketToken: ethMarket, direction: 'long', collateralToken: usdc },
      ...{ leverageBps: 20_000, sizeUsd: usd(sizeUsd), minutes, worstPrice: usd(2_000) },
    } as never,
    { snapshot, nowMs: startMs, mostSendingUsd: usd(5), mostReducingUsd: usd(5), asked: 'a test' },
  )
  if ('code' in planned) throw new Error(planned.reason)
  const { orders, feesUsd } = planned.params.budget
  return { orders, feesUsd }
}

test('a chase has twice the orders that it needs, and the moves that one hundredth of its size pays for, at least four', () => {
  // The venue's fee of 10 bps, and $5 for each of two orders and four moves.
  expect(chaseOf(100)).toEqual({ orders: 8, feesUsd: usd('30.1') })
  expect(chaseOf(10_000)).toEqual({ orders: 4 + 20, feesUsd: usd(10 + 5 * 22) })
  // It looks for a move every 15 s: more than these are none.
  expect(chaseOf(1_000_000)).toEqual({ orders: 4 + 120, feesUsd: usd(1_000 + 5 * 122) })
  expect(chaseOf(100, 0.5)).toEqual({ orders: 4 + 2, feesUsd: usd('20.1') })
})
