/** Resting orders as rows, by the journal and by the venue's list, and the notes on positions made of them. */
import { expect, test } from 'vitest'
import type { Child, Intent, IntentState } from '../../src/domain/order/intent.ts'
import { heldRows } from '../../src/domain/summaries/heldRow.ts'
import {
  isInFlight,
  openOrderCount,
  type RestingFacts,
  type RestingRow,
  restingRows,
} from '../../src/domain/summaries/restingRow.ts'
import type { Hex } from '../../src/protocol/address.ts'
import type { Order } from '../../src/protocol/position.ts'
import { contractPriceOf, MAX_UINT256, usd } from '../../src/protocol/units.ts'
import { armedState, position, symbol } from '../monitor/events.ts'
import { armedFacts, intentOf } from '../support/intents.ts'

const { marketToken, direction, collateralToken } = position
const side = { marketToken, direction, collateralToken }
const keyOf = (digit: string): Hex => `0x${digit.repeat(64)}`

function child(over: Partial<Child>): Child {
  return { index: 0, orderKey: keyOf('1'), role: 'main', phase: 'OPEN', ...over }
}

/** An intent that landed with these orders; the trigger and type of each by its place. */
function landed(
  children: readonly Child[],
  created: readonly { readonly orderType: number; readonly trigger: number; readonly sizeUsd: bigint }[],
  parts: Partial<Intent> = {},
): IntentState {
  const creates = created.map(({ orderType, trigger, sizeUsd }) => ({
    ...{ orderType, sizeDeltaUsd: sizeUsd, collateralAmount: 0n },
    kept: {
      ...side,
      triggerContractPrice: contractPriceOf(usd(trigger), 18),
      ...{ acceptableContractPrice: 0n, minOutputAmount: 0n, autoCancel: false },
    },
  }))
  const [attempt] = armedState.attempts
  if (attempt === undefined) throw new Error('no attempt')
  return {
    ...armedState,
    intent: intentOf(parts),
    attempts: [{ ...attempt, phase: 'LANDED', armed: armedFacts({ creates }), children }],
  }
}

const foreign: Order = {
  ...{ orderKey: keyOf('9'), account: position.account, receiver: position.account, marketToken, direction },
  ...{ initialCollateralToken: collateralToken, orderType: 8, sizeDeltaUsd: usd(50), isFrozen: false },
  ...{ initialCollateralDeltaAmount: 0n, triggerContractPrice: contractPriceOf(usd(2_000), 18) },
  ...{ acceptableContractPrice: 0n, updatedAtSeconds: 1_800_000_000, validFromSeconds: 0 },
}

const facts: RestingFacts = {
  ...{ open: [], others: [], heldUsd: () => undefined, markOf: () => usd(1_000) },
  ...{ symbolOf: () => symbol, indexDecimals: () => 18, taskOf: () => undefined },
}

const rowsOf = (over: Partial<RestingFacts>): readonly RestingRow[] => restingRows({ ...facts, ...over })
const entry = child({ phase: 'EXECUTED' })
const stop = child({ index: 1, orderKey: keyOf('2'), role: 'stop-loss' })
const target = child({ index: 2, orderKey: keyOf('3'), role: 'take-profit' })
const made = [
  { orderType: 3, trigger: 990, sizeUsd: usd(500) },
  { orderType: 6, trigger: 900, sizeUsd: MAX_UINT256 },
  { orderType: 5, trigger: 1_100, sizeUsd: usd(200) },
] as const
const limit = { terms: { ...intentOf().terms, orderType: 'limit' as const } }

test('each order that rests is a row with type, trigger, distance to the mark, and the highest trigger first', () => {
  const rows = rowsOf({
    open: [{ state: landed([child({}), stop, target], made, limit) }],
    others: [foreign],
  })
  expect(rows.map(({ type, triggerPrice, distanceBps100 }) => [type, triggerPrice, distanceBps100])).toEqual([
    ['stop entry', usd(2_000), 1_000_000],
    ['target', usd(1_100), 100_000],
    ['limit', usd(990), -10_000],
    ['stop', usd(900), -100_000],
  ])
})

test('an entry that filled is no row, and what can still fill is counted', () => {
  const opened = landed([entry, stop, target], made, limit)
  const rows = rowsOf({ open: [{ state: opened }], others: [foreign] })
  expect(rows.map(({ type }) => type)).toEqual(['stop entry', 'target', 'stop'])
  expect(openOrderCount(rows, [opened])).toBe(3)
  expect(openOrderCount(rows, [opened, armedState])).toBe(4)
  const over = { ...opened, closing: { outcome: 'EXECUTED' } } as IntentState
  expect(rowsOf({ open: [{ state: over }] })).toEqual([])
  const cancelled = landed([entry, { ...stop, phase: 'CANCELLED' }], made, limit)
  expect(rowsOf({ open: [{ state: cancelled }] })).toEqual([])
})

test('an edit or a cancel in flight fills nothing, and a market order at the keeper does not rest', () => {
  const market = landed([child({})], [{ orderType: 2, trigger: 0, sizeUsd: usd(500) }])
  expect([rowsOf({ open: [{ state: market }] }), isInFlight(market)]).toEqual([[], true])
  const cancel = { ...armedState, intent: intentOf({ kind: 'cancel' }) }
  expect([isInFlight(cancel), isInFlight(landed([child({})], made, limit))]).toEqual([false, false])
})

test('an exit is in force for no more than its position, an entry for all of its size', () => {
  const open = [{ state: landed([child({}), stop, target], made, limit) }]
  const sizes = (heldUsd: bigint | undefined) =>
    rowsOf({ open, heldUsd: () => heldUsd }).map((row) => row.sizeUsd)
  expect(sizes(usd(300))).toEqual([usd(200), usd(500), usd(300)])
  expect(sizes(usd(100))).toEqual([usd(100), usd(500), usd(100)])
  expect(sizes(undefined)).toEqual([usd(200), usd(500), MAX_UINT256])
  const others = [{ ...foreign, orderType: 6, sizeDeltaUsd: usd(900) }]
  expect(rowsOf({ others, heldUsd: () => usd(300) })[0]?.sizeUsd).toBe(usd(300))
})

test('the owner is the instance, the running task, the hand, or another client', () => {
  const owner = (parts: Partial<Intent>, over: Partial<RestingFacts> = {}) => {
    const [row] = rowsOf({ open: [{ state: landed([child({})], made, { ...limit, ...parts }) }], ...over })
    return [row?.ownerKind, row?.owner]
  }
  expect(owner({})).toEqual(['instance', 'eth-trend'])
  expect(owner({ strategy: '@operator' })).toEqual(['hand', '@operator'])
  expect(owner({ strategy: '@operator' }, { taskOf: () => 'b1' })).toEqual(['task', 'b1'])
  expect(rowsOf({ others: [foreign] })[0]).toMatchObject({ ownerKind: 'others', owner: '', intentId: null })
})

test('a frozen order says so; without a mark, or without a trigger, no distance is made up', () => {
  const open = [{ state: landed([child({ phase: 'FROZEN' })], made, limit) }]
  expect(rowsOf({ open, markOf: () => undefined })[0]).toMatchObject({ isFrozen: true, distanceBps100: null })
  const swap = { ...foreign, orderType: 1, triggerContractPrice: 0n }
  expect(rowsOf({ others: [swap] })[0]).toMatchObject({
    type: 'limit swap',
    triggerPrice: null,
    distanceBps100: null,
  })
  expect(rowsOf({ others: [foreign], indexDecimals: () => undefined })[0]?.triggerPrice).toBeNull()
})

test('an order that another client changed stands with the terms in force', () => {
  const listedOf = () => ({ sizeDeltaUsd: usd(70), triggerPrice: usd(950) })
  const open = [{ state: landed([child({})], made, limit), listedOf }]
  expect(rowsOf({ open })[0]).toMatchObject({ triggerPrice: usd(950), sizeUsd: usd(70) })
})

test('a position has its nearest stop and target with their count, its owners, and what no stop would close', () => {
  const stops = [950, 900].map((trigger, at) => ({
    ...foreign,
    orderKey: keyOf(`${at + 1}`),
    orderType: 6,
    triggerContractPrice: contractPriceOf(usd(trigger), 18),
  }))
  const targets = [1_200, 1_100].map((trigger, at) => ({
    ...foreign,
    orderKey: keyOf(`${at + 3}`),
    orderType: 5,
    triggerContractPrice: contractPriceOf(usd(trigger), 18),
  }))
  const frozen = {
    ...foreign,
    orderKey: keyOf('7'),
    orderType: 6,
    isFrozen: true,
    triggerContractPrice: contractPriceOf(usd(990), 18),
  }
  const note = (over: object = {}) =>
    heldRows({
      positions: [position],
      resting: rowsOf({ others: [...stops, ...targets, frozen] }),
      withoutStop: [{ ...side, uncoveredUsd: usd(30) }],
      ownersOf: () => [{ kind: 'hand', name: '@operator' }],
      symbolOf: () => symbol,
      tokenOf: () => ({ symbol: 'USDC', decimals: 6 }),
      ...over,
    })[0]
  expect(note()).toMatchObject({
    stops: { nearest: usd(950), count: 2 },
    targets: { nearest: usd(1_100), count: 2 },
    uncoveredUsd: usd(30),
    owners: [{ kind: 'hand' }],
    collateral: { symbol: 'USDC', decimals: 6, amount: position.collateralAmount },
  })
  expect(note({ resting: [], withoutStop: [] })).toMatchObject({
    stops: { nearest: null, count: 0 },
    uncoveredUsd: 0n,
  })
  expect(note({ withoutStop: undefined })?.uncoveredUsd).toBeNull()
})
