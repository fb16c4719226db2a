/** Which positions have no stop-loss: by the journal of our own orders, by the list of those of another client. */
import { expect, test } from 'vitest'
import type { ChildPhase, IntentState } from '../../src/domain/order/intent.ts'
import { sidesWithoutStop } from '../../src/engine/account/stops.ts'
import type { Order } from '../../src/protocol/position.ts'
import { status } from '../control/door.ts'
import { executedState } from '../monitor/events.ts'
import { intentOf, orderKey } from '../support/intents.ts'

const [position] = status.positions
if (position === undefined) throw new Error('no position')
const { marketToken, direction, collateralToken } = position
const side = { marketToken, direction, collateralToken }
const { terms } = intentOf()
const ofSide = {
  ...terms,
  ...{ marketToken, direction, collateralToken: { ...terms.collateralToken, address: collateralToken } },
}

/** An entry of the side that is filled, and the exit of it. */
function withExit(role: 'stop-loss' | 'take-profit', phase: ChildPhase): IntentState {
  const attempts = executedState.attempts.map(({ armed: _, ...attempt }) => ({
    ...attempt,
    children: [
      { index: 0, orderKey, role: 'main' as const, phase: 'EXECUTED' as const },
      { index: 1, orderKey, role, phase },
    ],
  }))
  return { ...executedState, intent: intentOf({ terms: ofSide }), attempts }
}

const listed = {
  ...{ orderKey, marketToken, direction, initialCollateralToken: collateralToken },
  ...{ orderType: 6, isFrozen: false },
} as Order

test('a stop-loss of ours counts while it rests, and nothing else of ours does', () => {
  const left = (state: IntentState) => sidesWithoutStop([position], [state], [])
  expect(left(withExit('stop-loss', 'OPEN'))).toEqual([])
  expect(left(withExit('stop-loss', 'CANCELLED'))).toEqual([side])
  expect(left(withExit('stop-loss', 'FROZEN'))).toEqual([side])
  expect(left(withExit('take-profit', 'OPEN'))).toEqual([side])
})

test('a stop-loss of another client counts by the list, on its own side alone', () => {
  const left = (order: Partial<Order>) => sidesWithoutStop([position], [], [{ ...listed, ...order }])
  expect(left({})).toEqual([])
  expect(left({ isFrozen: true })).toEqual([side])
  expect(left({ orderType: 5 })).toEqual([side])
  expect(left({ direction: direction === 'long' ? 'short' : 'long' })).toEqual([side])
  expect(sidesWithoutStop([{ ...position, sizeInUsd: 0n }], [], [])).toEqual([])
})
