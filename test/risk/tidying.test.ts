import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EditDecision } from '../../src/domain/order/decision.ts'
import type { IntentState } from '../../src/domain/order/intent.ts'
import type { OrderKind } from '../../src/domain/order/orderTerms.ts'
import { isIncreaseOrder, type Order } from '../../src/protocol/position.ts'
import { contractPriceOf, priceOfContractPrice, usd } from '../../src/protocol/units.ts'
import { admit } from '../../src/risk/admit.ts'
import { type DeskParts, desk, increase, intentState, MARKET, order, position, snapshot } from './world.ts'

const keyOf = (digit: number) => `0x${digit.toString(16).padStart(64, '0')}` as const
const at = (priceUsd: number) => contractPriceOf(usd(priceUsd), 18)
const entry = (changes: Partial<Order> = {}) =>
  order({ orderKey: keyOf(1), triggerContractPrice: at(1_500), autoCancel: false, ...changes })
const exit = (changes: Partial<Order> = {}) =>
  order({ orderKey: keyOf(2), orderType: 6, triggerContractPrice: at(1_500), autoCancel: true, ...changes })

const orderTypes: Readonly<Record<number, OrderKind>> = {
  3: 'limit',
  5: 'take-profit',
  6: 'stop-loss',
  8: 'stop-market',
}

/** The open intent that made an order; entries of it are counted at what rests. */
const makerOf = (row: Order, role?: 'stop-loss'): IntentState => {
  const state = intentState({
    decision: increase({ sizeDeltaUsd: row.sizeDeltaUsd }),
    intentId: `maker-${row.orderKey.slice(-2)}`,
    orderKey: row.orderKey,
    ...(isIncreaseOrder(row) ? {} : { reservationUsd: 0n }),
  })
  const attempts = state.attempts.map((attempt) => ({
    ...attempt,
    children: attempt.children.map((child) => ({ ...child, ...(role === undefined ? {} : { role }) })),
  }))
  const orderType = orderTypes[row.orderType] ?? 'limit'
  const { terms } = state.intent
  const intent = { ...state.intent, terms: { ...terms, orderType, direction: row.direction } }
  return { ...state, intent, attempts }
}

type Desk = DeskParts
const edit = (orderKey: `0x${string}`, changes: Partial<EditDecision>): EditDecision => ({
  kind: 'edit',
  marketToken: MARKET,
  direction: 'long',
  orderKey,
  reason: 'It is of no use as it is.',
  ...changes,
})
/** So far from the price of 2000 on the side where it waits; on the other one below 0. */
function waitingAt({
  orderType,
  direction,
  awayUsd,
}: {
  readonly orderType: number
  readonly direction: string
  readonly awayUsd: number
}): number {
  const isBelow = (orderType === 3 || orderType === 6) === (direction === 'long')
  return isBelow ? 2_000 - awayUsd : 2_000 + awayUsd
}

/** What a keeper that tidies is told. */
function told(decision: EditDecision, parts: Desk): string {
  const admitted = admit(
    decision,
    desk({ strategy: 'janitor', tidiesOrders: true, isKept: () => false, ...parts }),
  )
  return admitted.kind === 'denial' ? admitted.denial.code : 'admitted'
}

test('a keeper that tidies may bring an entry nearer that nobody looks after, and edits no other', () => {
  const world = { snapshot: snapshot({ orders: [entry()] }), intents: [makerOf(entry())] }
  const nearer = edit(keyOf(1), { triggerPrice: usd(1_950) })
  expect(told(nearer, world)).toBe('admitted')
  expect(told(nearer, { ...world, isKept: () => true })).toBe('ORDER_KEPT')
  expect(told(nearer, { ...world, tidiesOrders: false })).toBe('ORDER_NOT_OWN')
  // What another client placed is not perpd's to edit, whoever asks.
  expect(told(nearer, { snapshot: world.snapshot })).toBe('ORDER_NOT_OWN')
  // Without a word on who looks after it, somebody does.
  const unsaid = desk({ strategy: 'janitor', tidiesOrders: true, ...world })
  expect(admit(nearer, unsaid)).toMatchObject({ denial: { code: 'ORDER_KEPT' } })
  expect(told(edit(keyOf(1), { triggerPrice: usd(1_400) }), world)).toBe('TIDYING_BOUNDS')
  expect(told(edit(keyOf(1), { triggerPrice: usd(1_950), sizeDeltaUsd: usd(200) }), world)).toBe(
    'TIDYING_BOUNDS',
  )
})

test('an entry beside which exits rest stays where it is: they lie around its trigger', () => {
  const nearer = edit(keyOf(1), { triggerPrice: usd(1_950) })
  const stop = exit({ triggerContractPrice: at(1_400) })
  const rests = { snapshot: snapshot({ orders: [entry(), stop] }), intents: [makerOf(entry())] }
  expect(told(nearer, rests)).toBe('ENTRY_HAS_EXITS')
  // The list does not show them yet.
  const state = makerOf(entry())
  const attempts = state.attempts.map((attempt) => ({
    ...attempt,
    children: [
      ...attempt.children,
      { index: 1, orderKey: keyOf(9), phase: 'OPEN' as const, role: 'stop-loss' as const },
    ],
  }))
  const unlisted = { snapshot: snapshot({ orders: [entry()] }), intents: [{ ...state, attempts }] }
  expect(told(nearer, unlisted)).toBe('ENTRY_HAS_EXITS')
})

test('an exit is made as small as what is held and no smaller, while nothing opens on its side', () => {
  const stop = exit({ sizeDeltaUsd: usd(2_000) })
  const intents = [makerOf(stop, 'stop-loss')]
  const held = { snapshot: snapshot({ orders: [stop], positions: [position()] }), intents }
  expect(told(edit(keyOf(2), { sizeDeltaUsd: usd(1_000) }), held)).toBe('admitted')
  expect(told(edit(keyOf(2), { sizeDeltaUsd: usd(999) }), held)).toBe('TIDYING_BOUNDS')
  expect(told(edit(keyOf(2), { sizeDeltaUsd: usd(2_001) }), held)).toBe('TIDYING_BOUNDS')
  const underWay = { ...held, intents: [...intents, intentState({ intentId: 'other' })] }
  expect(told(edit(keyOf(2), { sizeDeltaUsd: usd(1_000) }), underWay)).toBe('ORDER_MAY_PROTECT')
  const gone = { snapshot: snapshot({ orders: [stop] }), intents }
  expect(told(edit(keyOf(2), { sizeDeltaUsd: usd(1_000) }), gone)).toBe('TIDYING_BOUNDS')
})

test('a stop-loss goes towards profit alone, and a take-profit stays where it is', () => {
  const stop = exit({ sizeDeltaUsd: usd(1_000) })
  const target = exit({ orderKey: keyOf(3), orderType: 5, triggerContractPrice: at(2_500) })
  const intents = [makerOf(stop, 'stop-loss'), makerOf(target, 'stop-loss')]
  const held = { snapshot: snapshot({ orders: [stop, target], positions: [position()] }), intents }
  expect(told(edit(keyOf(2), { triggerPrice: usd(1_640) }), held)).toBe('admitted')
  expect(told(edit(keyOf(2), { triggerPrice: usd(1_490) }), held)).toBe('TIDYING_BOUNDS')
  expect(told(edit(keyOf(3), { triggerPrice: usd(2_400) }), held)).toBe('TIDYING_BOUNDS')
  expect(told(edit(keyOf(3), { triggerPrice: usd(2_600) }), held)).toBe('TIDYING_BOUNDS')
})

test('whatever rests, is held and is asked, an edit of a keeper that tidies leaves every position its exits and adds to no entry', () => {
  const anyRow = fc.record({
    orderType: fc.constantFrom(3, 5, 6, 8),
    direction: fc.constantFrom('long' as const, 'short' as const),
    awayUsd: fc.integer({ min: -100, max: 1_500 }),
    sizeUsd: fc.integer({ min: 10, max: 3_000 }),
    /** Whose it is: another client's, a running instance's, nobody's. */
    owner: fc.constantFrom('foreign', 'kept', 'loose', 'loose'),
  })
  let taken = 0
  fc.assert(
    fc.property(
      fc.array(anyRow, { minLength: 1, maxLength: 3 }),
      fc.nat(),
      // Of the way to the price, hundredths; below 0 away from it.
      fc.option(fc.integer({ min: -40, max: 110 }), { nil: undefined, freq: 2 }),
      // Of what is held, else of the order, hundredths.
      fc.option(fc.integer({ min: 1, max: 250 }), { nil: undefined, freq: 1 }),
      fc.option(fc.integer({ min: 10, max: 2_000 }), { nil: undefined }),
      fc.integer({ min: 0, max: 3 }).map((one) => one === 0),
      (rows, which, wayPercent, sizePercent, heldUsd, isOpening) => {
        const prices = rows.map(waitingAt)
        const orders = rows.map((row, index) =>
          order({
            orderKey: keyOf(index + 1),
            orderType: row.orderType,
            direction: row.direction,
            sizeDeltaUsd: usd(row.sizeUsd),
            triggerContractPrice: at(prices[index] ?? 0),
          }),
        )
        const made = rows.flatMap((row, index) => {
          const each = orders[index]
          if (row.owner === 'foreign' || each === undefined) return []
          const { intent, ...rest } = makerOf(each)
          return [{ ...rest, intent: { ...intent, strategy: row.owner } }]
        })
        const positions = heldUsd === undefined ? [] : [position({ sizeInUsd: usd(heldUsd) })]
        const world = desk({
          strategy: 'janitor',
          tidiesOrders: true,
          isKept: ({ strategy }) => strategy === 'kept',
          snapshot: snapshot({ orders, positions }),
          intents: [...made, ...(isOpening ? [intentState({ intentId: 'opening' })] : [])],
        })
        const at0 = which % orders.length
        const [named, row] = [orders[at0], rows[at0]]
        if (named === undefined || row === undefined) throw new Error('no order')
        const priceUsd = prices[at0] ?? 0
        const decision = edit(named.orderKey, {
          direction: named.direction,
          ...(wayPercent === undefined
            ? {}
            : { triggerPrice: usd(priceUsd + Math.trunc(((2_000 - priceUsd) * wayPercent) / 100)) }),
          ...(sizePercent === undefined
            ? {}
            : { sizeDeltaUsd: (usd(heldUsd ?? row.sizeUsd) * BigInt(sizePercent)) / 100n }),
        })
        const admitted = admit(decision, world)
        if (admitted.kind === 'denial') return
        taken += 1
        const { edit: terms } = admitted.intent.terms
        if (terms === undefined) throw new Error('no edit')
        expect(row.owner).toBe('loose')
        const [before, after] = [named.triggerContractPrice, terms.triggerContractPrice].map((price) =>
          priceOfContractPrice(price, 18),
        ) as [bigint, bigint]
        if (isIncreaseOrder(named)) {
          const isNearer = (price: bigint) => (price > usd(2_000) ? price - usd(2_000) : usd(2_000) - price)
          expect(terms.sizeDeltaUsd).toBe(named.sizeDeltaUsd)
          // The spread: a trigger is held against the price on the side that executes.
          expect(isNearer(after)).toBeLessThanOrEqual(isNearer(before) + usd(2))
          expect(
            orders.some((each) => each.direction === named.direction && !isIncreaseOrder(each)),
            'exits beside it',
          ).toBe(false)
          return
        }
        const held = named.direction === 'long' ? usd(heldUsd ?? 0) : 0n
        expect(held).toBeGreaterThan(0n)
        expect(terms.sizeDeltaUsd >= held || terms.sizeDeltaUsd === named.sizeDeltaUsd).toBe(true)
        expect(terms.sizeDeltaUsd).toBeLessThanOrEqual(named.sizeDeltaUsd)
        if (terms.sizeDeltaUsd !== named.sizeDeltaUsd) expect(isOpening).toBe(false)
        if (named.orderType === 5) expect(after).toBe(before)
        else expect(after).toBeGreaterThanOrEqual(before)
      },
    ),
    { seed: 72, numRuns: 2_000 },
  )
  expect(taken).toBeGreaterThan(100)
})
