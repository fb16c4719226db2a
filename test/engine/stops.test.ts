/** Which positions have no stop-loss: by the journal of our own orders, by the list of those of another client. */
import { expect, test } from 'vitest'
import type { ChildPhase, IntentState } from '../../src/domain/order/intent.ts'
import { sidesWithoutStop } from '../../src/engine/account/stops.ts'
import type { Order, Position } from '../../src/protocol/position.ts'
import type { UpdateOrderParams } from '../../src/protocol/signing/relayRouter.ts'
import { contractPriceOf, usd } from '../../src/protocol/units.ts'
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

test('a stop-loss behind the liquidation price counts as none, and says so; one before it counts', () => {
  const decimals = terms.indexToken.decimals
  const long = { ...position, direction: 'long' as const, liquidationPrice: usd(1_500) }
  const left = (at: Position, triggerUsd: number) =>
    sidesWithoutStop(
      [at],
      [],
      [
        {
          ...listed,
          direction: at.direction,
          triggerContractPrice: contractPriceOf(usd(triggerUsd), decimals),
        },
      ],
      undefined,
      { indexDecimals: () => decimals },
    )
  const behind = { ...side, direction: 'long', isStopBehindLiquidation: true }
  expect(left(long, 1_501)).toEqual([])
  expect(left(long, 1_500)).toEqual([behind])
  expect(left(long, 1_400)).toEqual([behind])
  const short = { ...position, direction: 'short' as const, liquidationPrice: usd(2_500) }
  expect(left(short, 2_499)).toEqual([])
  expect(left(short, 2_600)).toEqual([{ ...behind, direction: 'short' }])
  // A long that the price cannot liquidate, and a position of which the venue does not say.
  expect(left({ ...long, liquidationPrice: -usd(1) }, 1)).toEqual([])
  const { liquidationPrice: _, ...unsaid } = long
  expect(left(unsaid, 1)).toEqual([])
})

test('of an order of ours the trigger in force is judged, after its edits', () => {
  const decimals = terms.indexToken.decimals
  const state = withExit('stop-loss', 'OPEN')
  const at = (triggerUsd: number) => contractPriceOf(usd(triggerUsd), decimals)
  const kept = {
    ...{ marketToken, direction: 'long' as const, collateralToken },
    ...{
      triggerContractPrice: at(1_400),
      acceptableContractPrice: 0n,
      minOutputAmount: 0n,
      autoCancel: true,
    },
  }
  const order = { orderType: 6, sizeDeltaUsd: usd(1), collateralAmount: 0n, kept }
  const attempts = state.attempts.map((attempt) => ({
    ...attempt,
    armed: { ...executedState.attempts[0]?.armed, creates: [order, order] },
  }))
  const own = { ...state, attempts } as IntentState
  const long = { ...position, direction: 'long' as const, liquidationPrice: usd(1_500) }
  const moved = { sizeDeltaUsd: usd(1), triggerPrice: at(1_600), acceptablePrice: 0n } as UpdateOrderParams
  expect(sidesWithoutStop([long], [own], [])).toEqual([
    { ...side, direction: 'long', isStopBehindLiquidation: true },
  ])
  expect(sidesWithoutStop([long], [own], [], undefined, { changeOf: () => moved })).toEqual([])
})
