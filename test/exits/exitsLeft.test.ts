/** What is left of exits once one of them, or a decision, took something off the part: cancelled at once, and before any entry. */
import { expect, test } from 'vitest'
import { createUnseen } from '../../src/account/holdings/unseen.ts'
import { type PricedExits, usualMoves, usualRange } from '../../src/domain/order/exitSettings.ts'
import type { Child, Intent, IntentState } from '../../src/domain/order/intent.ts'
import { signedOrderIn } from '../../src/domain/order/signedOrder.ts'
import { checkExitsLeft, sidesOfLostExits } from '../../src/exits/exitsLeft.ts'
import { syncExits } from '../../src/exits/syncExits.ts'
import type { Hex } from '../../src/protocol/address.ts'
import type { Order } from '../../src/protocol/position.ts'
import { contractPriceOf, MAX_UINT256, type Usd, usd } from '../../src/protocol/units.ts'
import { MARKET, marketView, NOW_MS, order, position, snapshot, USDC } from '../risk/world.ts'

const side = { marketToken: MARKET, direction: 'long', collateralToken: USDC } as const
const keyOf = (index: number): `0x${string}` => `0x${(index + 1).toString(16).padStart(64, '0')}`
const exits = {
  stopLoss: { bps: 500 },
  takeProfits: [{ bps: 1_000 }],
  ...usualMoves,
  range: usualRange,
}

type Phase = Child['phase']

/** An increase with its target and its stop, and how far each of the three orders is. */
function entered(phases: readonly [entry: Phase, target: Phase, stop: Phase]): IntentState {
  const roles = ['main', 'take-profit', 'stop-loss'] as const
  return landed(
    'increase',
    phases.map((phase, index) => ({ role: roles[index] ?? 'main', phase })),
  )
}

function landed(kind: string, children: readonly Partial<Child>[], terms: object = {}): IntentState {
  const intent = {
    intentId: kind.padEnd(24, '0'),
    strategy: 'eth',
    kind,
    acceptedAtMs: NOW_MS - 60_000,
    terms: { ...side, collateralToken: { address: USDC }, orderType: 'market', ...terms },
  }
  const orders = children.map((child, index) => ({ index, orderKey: keyOf(index), ...child }))
  const creates = [2, 5, 6].map((orderType) => ({ orderType, sizeDeltaUsd: usd(400), kept: side }))
  const attempt = { phase: 'LANDED', children: orders, armed: { creates } }
  return { intent, attempts: [attempt], updatedAtMs: NOW_MS } as unknown as IntentState
}

/** A limit entry at rest, with its target and its stop. */
function waitingEntry(): IntentState {
  const children = (['main', 'take-profit', 'stop-loss'] as const).map((role, index) => ({
    ...{ index, orderKey: keyOf(index + 3), role },
    phase: 'OPEN' as const,
  }))
  const state = landed('increase', children, { orderType: 'limit' })
  return { ...state, intent: { ...state.intent, intentId: 'waiting'.padEnd(24, '0') } }
}

const row = (index: number, orderType: number, sizeDeltaUsd: Usd, triggerUsd: number): Order =>
  order({
    orderKey: keyOf(index),
    orderType,
    sizeDeltaUsd,
    triggerContractPrice: contractPriceOf(usd(triggerUsd), 18),
  })

const stopRow = row(2, 6, usd(400), 1_900)

function decided(
  states: readonly IntentState[],
  orders: readonly Order[],
  ownUsd: Usd,
  asked: PricedExits = exits,
  listsAtMs = NOW_MS,
) {
  const part = {
    ...side,
    sizeUsd: ownUsd,
    sizeInTokens: (ownUsd * 10n ** 18n) / usd(2_000),
    costUsd: ownUsd,
    collateral: 0n,
    carriedUsd: 0n,
    sizeTime: 0n,
  }
  const positions = ownUsd > 0n ? [position({ sizeInUsd: ownUsd })] : []
  const read = snapshot({ view: marketView(), positions, orders })
  const lists = {
    positions: { ...read.positions, atMs: listsAtMs },
    orders: { ...read.orders, atMs: listsAtMs },
  }
  // Of an intent that closed nothing is waited for.
  const open = states.filter(({ closing }) => closing === undefined)
  return syncExits({
    exitsOn: () => asked,
    snapshot: { ...read, ...lists },
    states: open,
    lostExits: sidesOfLostExits(states, lists, NOW_MS),
    parts: ownUsd > 0n ? [part] : [],
    enteredMs: () => NOW_MS - 60_000,
    nearestStop: () => undefined,
  })
}

test('no exit is placed by lists of before the venue cancelled one: it goes with its position', () => {
  const lost = entered(['EXECUTED', 'EXECUTED', 'CANCELLED'])
  const closed = { ...lost, closing: {} } as IntentState
  const kinds = (state: IntentState, listsAtMs: number) =>
    decided([state], [], usd(400), exits, listsAtMs).map(({ kind }) => kind)
  expect(kinds(closed, NOW_MS - 14_000)).toEqual([])
  expect(kinds(closed, NOW_MS)).toEqual(['decrease', 'decrease'])
})

test('lists that stay older than a lost exit are believed once lists cannot lag any more', () => {
  const ended = { closing: {}, updatedAtMs: NOW_MS - 31_000 }
  const lost = { ...entered(['EXECUTED', 'EXECUTED', 'CANCELLED']), ...ended } as IntentState
  expect(decided([lost], [], usd(400), exits, NOW_MS - 40_000).map(({ kind }) => kind)).toEqual([
    'decrease',
    'decrease',
  ])
})

test('the stop is cancelled as soon as the target closed the whole part', () => {
  const [only, ...more] = decided([entered(['EXECUTED', 'EXECUTED', 'OPEN'])], [stopRow], 0n)
  expect(only).toMatchObject({
    kind: 'cancel',
    marketToken: MARKET,
    direction: 'long',
    orderKeys: [keyOf(2)],
  })
  expect(more).toEqual([])
})

test('exits stay where nothing of ours took the part off: a list that hides it, or an entry that waits', () => {
  expect(decided([entered(['EXECUTED', 'OPEN', 'OPEN'])], [stopRow], 0n)).toEqual([])
  expect(decided([entered(['OPEN', 'OPEN', 'OPEN'])], [stopRow], 0n)).toEqual([])
})

test('a stop is placed anew at once after a reduction that the venue cancelled, and not while one is on its way', () => {
  const vain = landed('close', [{ role: 'main', phase: 'CANCELLED' }])
  expect(decided([vain], [], usd(400)).map(({ kind }) => kind)).toEqual(['decrease', 'decrease'])
  const coming = landed('close', [{ role: 'main', phase: 'OPEN' }])
  expect(decided([coming], [], usd(400))).toEqual([])
})

test('exits of an entry that waits are its own: they are no excess, cover nothing that is held, and no price moves them', () => {
  const waiting = waitingEntry()
  const [ownStop, ownTarget] = [row(2, 6, usd(400), 1_900), row(1, 5, usd(400), 2_200)]
  const theirs = [row(4, 5, usd(300), 2_300), row(5, 6, usd(300), 1_990)]
  const filled = entered(['EXECUTED', 'OPEN', 'OPEN'])
  const entry = row(3, 3, usd(300), 1_995)
  expect(decided([filled, waiting], [ownStop, ownTarget, entry, ...theirs], usd(400))).toEqual([])
  // The stop of what is held was lost.
  const lost = entered(['EXECUTED', 'OPEN', 'CANCELLED'])
  expect(decided([lost, waiting], [ownTarget, entry, ...theirs], usd(400))).toMatchObject([
    { kind: 'decrease', orderType: 'stop-loss', sizeDeltaUsd: usd(400), triggerPrice: usd(1_900) },
  ])
  const trailing = { ...exits, trailingStop: { distance: { bps: 100 } }, moveEveryMs: 0, moveStepUsd: 1n }
  const moved = decided([filled, waiting], [ownStop, ownTarget, entry, ...theirs], usd(400), trailing)
  expect(moved).toMatchObject([{ kind: 'edit', orderKey: keyOf(2) }])
})

test('an edit is over for admission as soon as the list shows its values, and a cancel once the order is gone', () => {
  const trigger = contractPriceOf(usd(1_900), 18)
  const edit = landed('edit', [], {
    edit: { orderKey: keyOf(2), sizeDeltaUsd: usd(400), triggerContractPrice: trigger },
  })
  const cancel = landed('cancel', [], { cancelOrderKeys: [keyOf(2)] })
  const manager = { closedAgoMs: () => 1_000, open: () => [], recentlyLanded: () => [edit, cancel] }
  const unseen = createUnseen(manager as never, { now: () => NOW_MS }, () => new Map())
  const inLists = (orders: readonly Order[]) =>
    unseen.in(snapshot({ view: marketView(), orders })).map(({ intent }) => intent.kind)
  expect(inLists([stopRow])).toEqual(['cancel'])
  expect(inLists([row(2, 6, usd(800), 1_900)])).toEqual(['edit', 'cancel'])
  expect(inLists([row(2, 6, usd(400), 1_800)])).toEqual(['edit', 'cancel'])
  expect(inLists([])).toEqual([])
})

test('an entry waits while exits rest for more than the part, until a message of ours changes them', () => {
  const code = (states: readonly IntentState[], partUsd: Usd, pending: readonly Intent[] = []) => {
    const journal = { openIntents: () => states, changeOf: () => undefined }
    const signedOrder = (orderKey: Hex) => signedOrderIn(journal, orderKey)
    const own = { parts: [{ ...side, sizeUsd: partUsd } as never] }
    return checkExitsLeft({ orders: { open: states, pending, signedOrder }, own }, 'eth', side)?.code
  }
  const filled = entered(['EXECUTED', 'EXECUTED', 'OPEN'])
  expect(code([filled], 0n)).toBe('EXITS_LEFT')
  expect(code([filled], usd(200))).toBe('EXITS_LEFT')
  expect(code([filled], usd(395))).toBeUndefined()
  expect(code([filled], MAX_UINT256)).toBeUndefined()
  // Exits of an entry that waits are its own.
  expect(code([entered(['OPEN', 'OPEN', 'OPEN'])], 0n)).toBeUndefined()
  const cancel = landed('cancel', [], { cancelOrderKeys: [keyOf(2)] })
  expect(code([filled, cancel], 0n)).toBeUndefined()
  expect(code([filled], 0n, [cancel.intent])).toBeUndefined()
})
