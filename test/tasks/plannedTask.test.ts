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
