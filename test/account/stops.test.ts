/** Which positions have no stop-loss: by the journal of our own orders, by the list of those of another client. */
import { expect, test } from 'vitest'
import { sidesWithoutStop, signalOnlyUsd } from '../../src/account/holdings/stops.ts'
import type { ChildPhase, IntentState } from '../../src/domain/order/intent.ts'
import type { Order, Position } from '../../src/protocol/position.ts'
import type { UpdateOrderParams } from '../../src/protocol/signing/relayRouter.ts'
import { contractPriceOf, MAX_UINT256, usd } from '../../src/protocol/units.ts'
import { status } from '../control/door.ts'
import { executedState } from '../monitor/events.ts'
import { intentOf, orderKey } from '../support/intents.ts'

const [position] = status.positions
if (position === undefined) throw new Error('no position')
const { marketToken, direction, collateralToken } = position
const side = { marketToken, direction, collateralToken, uncoveredUsd: position.sizeInUsd }
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
  ...{ orderType: 6, isFrozen: false, sizeDeltaUsd: position.sizeInUsd },
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
  const { sizeInUsd } = position
  const order = { orderType: 6, sizeDeltaUsd: sizeInUsd, collateralAmount: 0n, kept }
  const attempts = state.attempts.map((attempt) => ({
    ...attempt,
    armed: { ...executedState.attempts[0]?.armed, creates: [order, order] },
  }))
  const own = { ...state, attempts } as IntentState
  const long = { ...position, direction: 'long' as const, liquidationPrice: usd(1_500) }
  const moved = { sizeDeltaUsd: sizeInUsd, triggerPrice: at(1_600), acceptablePrice: 0n } as UpdateOrderParams
  expect(sidesWithoutStop([long], [own], [])).toEqual([
    { ...side, direction: 'long', isStopBehindLiquidation: true },
  ])
  const after = (change: UpdateOrderParams | 'unknown') =>
    sidesWithoutStop([long], [own], [], undefined, { changeOf: () => change })
  expect(after(moved)).toEqual([])
  // And the size in force; of a change that nobody knows, as large as it was made.
  const shrunk = { ...moved, sizeDeltaUsd: sizeInUsd / 4n }
  expect(after(shrunk)).toEqual([{ ...side, direction: 'long', uncoveredUsd: sizeInUsd - sizeInUsd / 4n }])
  expect(after('unknown')).toEqual([])
})

const whole = { ...position, sizeInUsd: usd(4_000) }
const stopOf = (sizeUsd: number | 'all', more: Partial<Order> = {}): Order => ({
  ...listed,
  sizeDeltaUsd: sizeUsd === 'all' ? MAX_UINT256 : usd(sizeUsd),
  ...more,
})

test.each(['long', 'short'] as const)(
  'stops of a %s count by the size that they would close, those of all instances and clients together',
  (which) => {
    const held = { ...whole, direction: which }
    const uncovered = (...stops: readonly Order[]) =>
      sidesWithoutStop(
        [held],
        [],
        stops.map((stop) => ({ ...stop, direction: which })),
      ).map(({ uncoveredUsd }) => Number(uncoveredUsd / 10n ** 30n))
    expect(uncovered()).toEqual([4_000])
    expect(uncovered(stopOf(100))).toEqual([3_900])
    expect(uncovered(stopOf(100), stopOf(900))).toEqual([3_000])
    expect(uncovered(stopOf(100), stopOf(3_900))).toEqual([])
    expect(uncovered(stopOf('all'))).toEqual([])
    expect(uncovered(stopOf(100), stopOf('all', { isFrozen: true }))).toEqual([3_900])
    // What exits are kept to is no lack, and what is more than that is.
    expect(uncovered(stopOf(3_920))).toEqual([])
    expect(uncovered(stopOf(3_919))).toEqual([81])
  },
)

test('a position of less than a dollar has no stop without one, and what is left of a small one is dust below a dollar', () => {
  const uncovered = (sizeUsd: bigint, stopUsd: bigint) =>
    sidesWithoutStop(
      [{ ...whole, sizeInUsd: sizeUsd }],
      [],
      stopUsd === 0n ? [] : [{ ...listed, sizeDeltaUsd: stopUsd }],
    )
  expect(uncovered(usd(1) / 2n, 0n)).toHaveLength(1)
  expect(uncovered(usd(10), usd(9))).toEqual([])
  expect(uncovered(usd(10), usd(8))).toHaveLength(1)
})

test('stops behind the liquidation price are named as the cause where they would have closed the rest, and only there', () => {
  const decimals = terms.indexToken.decimals
  const long = { ...whole, direction: 'long' as const, liquidationPrice: usd(1_500) }
  const at = (triggerUsd: number, sizeUsd: number) =>
    stopOf(sizeUsd, { direction: 'long', triggerContractPrice: contractPriceOf(usd(triggerUsd), decimals) })
  const left = (...stops: readonly Order[]) =>
    sidesWithoutStop([long], [], stops, undefined, { indexDecimals: () => decimals })
  const bare = { marketToken, direction: 'long', collateralToken }
  expect(left(at(1_900, 3_000), at(1_400, 1_000))).toEqual([
    { ...bare, uncoveredUsd: usd(1_000), isStopBehindLiquidation: true },
  ])
  expect(left(at(1_900, 100), at(1_400, 1_000))).toEqual([{ ...bare, uncoveredUsd: usd(3_900) }])
})

test('what instances hold that are meant to be without a stop is left out, and nothing more', () => {
  const book = (strategy: string, sizeUsd: number) => ({
    ...{ marketToken, direction, collateralToken },
    ...{ strategy, sizeUsd: usd(sizeUsd) },
  })
  const books = [book('signals', 3_000), book('trend', 1_000)]
  const meant = (side: Parameters<typeof signalOnlyUsd>[2]) =>
    signalOnlyUsd(books, new Set(['signals']), side)
  const uncovered = (...stops: readonly Order[]) =>
    sidesWithoutStop([whole], [], stops, meant).map(({ uncoveredUsd }) => uncoveredUsd)
  expect(uncovered()).toEqual([usd(1_000)])
  expect(uncovered(stopOf(1_000))).toEqual([])
  expect(
    signalOnlyUsd(books, new Set(['signals']), {
      ...side,
      direction: direction === 'long' ? 'short' : 'long',
    }),
  ).toBe(0n)
})
