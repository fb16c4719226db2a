/** The common step of tasks that make orders over time, around a plan of any kind: pure. */
import { expect, test } from 'vitest'
import type { Snapshot } from '../../src/domain/snapshot.ts'
import type { ExecutorParams, ExecutorProgress } from '../../src/domain/taskStates/executorState.ts'
import { usd } from '../../src/protocol/units.ts'
import { type ExecutorPlan, executorTask } from '../../src/tasks/executorStep.ts'
import type { ExecutorView } from '../../src/tasks/executorView.ts'
import { ethMarket, startMs, usdc } from '../support/intents.ts'

const symbol = 'ETH/USD [WETH-USDC]'
const side = { marketToken: ethMarket, direction: 'long', collateralToken: usdc } as const
const params: ExecutorParams = {
  ...side,
  symbol,
  action: 'increase',
  sizeUsd: usd(500),
  budget: { orders: 4, feesUsd: usd(100), untilMs: startMs + 60_000 },
  asked: 'it',
}
const view: ExecutorView = {
  nowMs: startMs,
  children: [],
  isMade: () => false,
  mostSendingUsd: usd(1),
  feeTokenDecimals: 18,
  capacity: () => usd(1_000),
  booked: () => ({ ownUsd: 0n, othersUsd: 0n }),
  denialOf: () => undefined,
}
const snapshot = { orders: { value: [] } } as unknown as Snapshot
const order: ExecutorPlan<ExecutorProgress> = {
  kind: 'order',
  decision: {
    kind: 'increase',
    ...side,
    sizeDeltaUsd: usd(100),
    leverageBps: 20_000,
    reason: 'it',
    facts: {},
  },
  sizeUsd: usd(100),
  orders: 1,
  state: { made: 0 },
}

test('a plan that makes an order before its markets were read has them read first, and is asked again', () => {
  const { next } = executorTask<ExecutorParams, ExecutorProgress>({
    name: 'pulse',
    version: 1,
    symbolsOf: ({ symbol }) => [symbol],
    plan: () => order,
  })
  const task = { taskId: 'pulse:a1', by: 'ann', sinceMs: startMs, params, state: { made: 0 } }
  expect(next(task, view)).toEqual({ kind: 'read', symbols: [symbol] })
  expect(next(task, { ...view, snapshot })).toMatchObject({
    kind: 'go-on',
    decisions: [{ decisionKey: 'pulse:a1#1', state: { made: 1 } }],
  })
})
