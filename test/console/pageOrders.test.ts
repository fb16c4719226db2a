/** Which orders the page has after what it was told: none that ended is shown as open, and it knows from when on it has all. */
import { expect, test } from 'vitest'
import type { Order } from '../../src/control/console/page/pageWire.ts'
import { isOpenOrder } from '../../src/control/console/page/shownFigures.ts'
import { mostOrders } from '../../src/control/console/page/store/pageOrders.ts'
import {
  type Change,
  emptyPage,
  fold,
  type PageState,
} from '../../src/control/console/page/store/pageState.ts'
import { order, status } from './rows.ts'

const at = (number: number) => new Date(number * 60_000).toISOString()
const open = (number: number): Order => order(`o${number}`, { acceptedAt: at(number) })
const ended = (number: number): Order =>
  order(`o${number}`, { acceptedAt: at(number), closedAt: at(number + 1) })
/** Orders that ended, newest first: from the first number to the last. */
const row = (first: number, last: number): readonly Order[] =>
  Array.from({ length: last - first + 1 }, (_, index) => ended(last - index))
const told = (openIntents: readonly Order[]): Change => ({
  type: 'status',
  status: status({ openIntents }),
  nowMs: 0,
})
const newest = (orders: readonly Order[]): Change => ({ type: 'orders', orders })
const after = (...changes: readonly Change[]): PageState => changes.reduce(fold, emptyPage)
const openIds = ({ orders }: PageState) => orders.filter(isOpenOrder).map(({ intentId }) => intentId)

test('an open order that is older than the newest hundred is on the page, and its price on the chart', () => {
  const state = after(newest(row(101, 200)), told([open(3), open(7)]))
  expect(openIds(state)).toEqual(['o7', 'o3'])
  expect([state.orders.length, state.allSince]).toEqual([102, at(101)])
})

test('an old order that ended is not shown as one that rests, and what the page lacks with it is said', () => {
  const before = after(
    newest([...row(2, 100), open(1)]),
    told([open(1)]),
    newest(row(21, 120)),
    told([open(1)]),
  )
  expect([openIds(before), before.allSince]).toEqual([['o1'], at(1)])
  const state = fold(before, told([]))
  expect(openIds(state)).toEqual([])
  expect([state.allSince, state.isAllOrders]).toEqual([at(21), false])
  // Read again it is there with its end.
  const again = fold(state, { type: 'all-orders', orders: row(1, 120), asked: 1_000 })
  expect([again.orders.length, again.allSince, again.isAllOrders]).toEqual([120, at(1), true])
})

test('one of the newest is taken from the list of these, which may be ahead of the status', () => {
  const state = after(told([]), newest([open(100), ...row(1, 99)]), told([]))
  expect(openIds(state)).toEqual(['o100'])
})

test('a page that slept over more than a hundred orders knows that it lacks some, and shows none of before the gap', () => {
  const before = after(newest(row(1, 100)), { type: 'all-orders', orders: row(1, 100), asked: 1_000 })
  expect([before.allSince, before.isAllOrders]).toEqual([at(1), true])
  const state = after(newest(row(1, 100)), told([open(50)]), newest(row(301, 400)))
  expect(state.orders.map(({ intentId }) => intentId)).toEqual([
    ...row(301, 400).map(({ intentId }) => intentId),
    'o50',
  ])
  expect([state.allSince, state.isAllOrders]).toEqual([at(301), false])
  expect(fold(before, newest(row(100, 199))).isAllOrders).toBe(true)
})

test('of more orders than the page keeps the oldest go, but for open ones, and it has not all any more', () => {
  const all = row(2, mostOrders)
  const before = after({ type: 'all-orders', orders: [...all, open(1)], asked: mostOrders + 1 })
  expect([before.orders.length, before.isAllOrders]).toEqual([mostOrders, true])
  const state = fold(fold(before, newest(row(mostOrders - 94, mostOrders + 5))), told([open(1)]))
  expect([state.orders.length, openIds(state)]).toEqual([mostOrders + 1, ['o1']])
  expect([state.allSince, state.isAllOrders]).toEqual([at(6), false])
})

test('fewer than a hundred orders are all there are', () => {
  expect(after(newest([]))).toMatchObject({ isAllOrders: true })
  expect(after(newest(row(1, 99)))).toMatchObject({ isAllOrders: true, allSince: at(1) })
  expect(after(newest(row(1, 100)))).toMatchObject({ isAllOrders: false, allSince: at(1) })
})
