/** The keeper of exits: what becomes of a plan and of what rests. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type ExitPlan,
  exitTypes,
  keepExits,
  type PlannedExits,
  type RestingExit,
} from '../../src/domain/exitKeeper.ts'
import { type Usd, usd } from '../../src/protocol/units.ts'
import { MARKET, USDC } from '../risk/world.ts'

const side = { marketToken: MARKET, direction: 'long', collateralToken: USDC } as const
const keyOf = (index: number): `0x${string}` => `0x${(index + 1).toString(16).padStart(64, '0')}`
const price = usd(2_000)

/** A stop of some size at a level; the key says its place in the list. */
const stop = (index: number, sizeUsd: number, atUsd: number, isFrozen = false): RestingExit => ({
  orderKey: keyOf(index),
  orderType: 'stop-loss',
  sizeDeltaUsd: usd(sizeUsd),
  triggerPrice: usd(atUsd),
  isFrozen,
})

const levels = [{ triggerPrice: usd(1_900) }]

function kept(exits: Partial<PlannedExits>, resting: readonly RestingExit[], plan: Partial<ExitPlan> = {}) {
  const asked = { owner: 'the test', side, sizeUsd: usd(1_000), toleranceBps: 200, ...plan }
  return keepExits({ ...asked, exits: [{ type: 'stop-loss', ...exits }] }, { resting, price })
}

test('what is missing is placed, and what is tolerated is not', () => {
  expect(kept({ levels }, [stop(0, 700, 1_950)])).toMatchObject([
    { kind: 'decrease', orderType: 'stop-loss', sizeDeltaUsd: usd(300), triggerPrice: usd(1_900) },
  ])
  expect(kept({ levels }, [stop(0, 985, 1_950)])).toEqual([])
  expect(kept({ levels: [] }, [])).toEqual([])
})

test('exits that are fitted only are made smaller, and neither enlarged nor retried', () => {
  expect(kept({}, [stop(0, 1_500, 1_900)])).toMatchObject([{ kind: 'edit', sizeDeltaUsd: usd(1_000) }])
  expect(kept({}, [stop(0, 500, 1_900, true)])).toEqual([])
})

test('the exit that is farthest from firing is taken away first, and one of a task last', () => {
  const resting = [stop(0, 600, 1_800), stop(1, 600, 1_950)]
  expect(kept({ levels }, resting)).toMatchObject([{ orderKey: keyOf(0), sizeDeltaUsd: usd(400) }])
  expect(kept({ levels, last: new Set([keyOf(0)]) }, resting)).toMatchObject([
    { orderKey: keyOf(1), sizeDeltaUsd: usd(400) },
  ])
})

test('a frozen exit is retried whoever wants it, and one that is well is left alone', () => {
  for (const isOne of [{}, { isOne: true }] as const) {
    expect(kept({ levels, ...isOne }, [stop(0, 1_000, 1_900, true)])).toMatchObject([
      { kind: 'edit', orderKey: keyOf(0), sizeDeltaUsd: usd(1_000) },
    ])
    expect(kept({ levels, ...isOne }, [stop(0, 1_000, 1_900)])).toEqual([])
  }
  // Its retry is in flight.
  expect(kept({ levels }, [{ ...stop(0, 1_000, 1_900, true), isChanging: true }])).toEqual([])
})

test('the one order of a plan is resized both ways, and a second one is cancelled', () => {
  for (const sizeUsd of [400, 1_500])
    expect(kept({ levels, isOne: true }, [stop(0, sizeUsd, 1_900)])).toMatchObject([
      { kind: 'edit', sizeDeltaUsd: usd(1_000) },
    ])
  expect(kept({ levels, isOne: true }, [stop(0, 1_000, 1_900), stop(1, 500, 1_950)])).toMatchObject([
    { kind: 'cancel', orderKeys: [keyOf(1)] },
  ])
})

test('a move that comes with the size waits for a new size, any other does not', () => {
  const move = { orderKey: keyOf(0), triggerPrice: usd(1_950) }
  const withSize = { levels, isOne: true, moves: [{ ...move, isWithSize: true }] } as const
  expect(kept(withSize, [stop(0, 1_000, 1_900)])).toEqual([])
  const both = { triggerPrice: usd(1_950), sizeDeltaUsd: usd(1_000) }
  expect(kept(withSize, [stop(0, 500, 1_900)])).toMatchObject([both])
  const [edit] = kept({ levels, isOne: true, moves: [move] }, [stop(0, 1_000, 1_900)])
  expect(edit).toMatchObject({ triggerPrice: usd(1_950) })
  expect(edit).not.toHaveProperty('sizeDeltaUsd')
})

test('past all levels the part is closed or what is missing is reduced, and nothing that waits is placed then', () => {
  const passed = [{ triggerPrice: usd(2_100) }]
  const target: PlannedExits = { type: 'take-profit', levels: [{ triggerPrice: usd(2_500) }] }
  const past = (action: 'close' | 'reduce'): PlannedExits => ({
    ...{ type: 'stop-loss', levels: passed },
    past: { action, why: () => ({ reason: 'The price is past it.' }) },
  })
  const of = (stops: PlannedExits) =>
    keepExits(
      { owner: 'the test', side, sizeUsd: usd(1_000), toleranceBps: 0, exits: [stops, target] },
      { resting: [], price },
    )
  expect(of(past('close'))).toMatchObject([{ kind: 'close' }])
  expect(of(past('reduce'))).toMatchObject([{ kind: 'decrease', sizeDeltaUsd: usd(1_000) }])
  expect(of(past('reduce'))[0]).not.toHaveProperty('orderType')
  expect(of({ type: 'stop-loss', levels: passed })).toMatchObject([{ orderType: 'take-profit' }])
})

test('while exits are held back none is placed, and those that are too large are made smaller', () => {
  expect(kept({ levels }, [], { isHeldBack: true })).toEqual([])
  expect(kept({ levels }, [stop(0, 1_500, 1_900)], { isHeldBack: true })).toHaveLength(1)
})

test('a plan that is carried out asks for nothing more', () => {
  const resting = fc.array(
    fc.record({ sizeUsd: fc.integer({ min: 1, max: 3_000 }), atUsd: fc.integer({ min: 1_500, max: 1_990 }) }),
    { maxLength: 5 },
  )
  const plans = fc.record({
    isOne: fc.boolean(),
    sizeUsd: fc.integer({ min: 1, max: 2_000 }),
    elsewhereUsd: fc.integer({ min: 0, max: 2_000 }),
    toleranceBps: fc.integer({ min: 0, max: 500 }),
  })
  fc.assert(
    fc.property(resting, plans, (exits, { isOne, sizeUsd, elsewhereUsd, toleranceBps }) => {
      const plan: ExitPlan = {
        ...{ owner: 'the test', side, sizeUsd: usd(sizeUsd), toleranceBps },
        exits: [{ type: 'stop-loss', levels, elsewhereUsd: usd(elsewhereUsd), ...(isOne ? { isOne } : {}) }],
      }
      let orders = exits.map((exit, index) => stop(index, exit.sizeUsd, exit.atUsd))
      for (let look = 0; look < 4; look += 1)
        orders = after(keepExits(plan, { resting: orders, price }), orders)
      expect(keepExits(plan, { resting: orders, price })).toEqual([])
      const sumUsd = orders.reduce((sum, { sizeDeltaUsd }) => sum + sizeDeltaUsd, 0n)
      const toleratedUsd = (usd(sizeUsd) * BigInt(toleranceBps)) / 10_000n
      expect(sumUsd <= usd(sizeUsd) + toleratedUsd).toBe(true)
      expect(sumUsd + usd(elsewhereUsd) + toleratedUsd >= usd(sizeUsd)).toBe(true)
    }),
    { seed: 37, numRuns: 500 },
  )
})

/** What rests once decisions are carried out. */
function after(decisions: ReturnType<typeof keepExits>, resting: readonly RestingExit[]): RestingExit[] {
  const gone = new Set(decisions.flatMap((each) => (each.kind === 'cancel' ? each.orderKeys : [])))
  const sizes = new Map<string, Usd>(
    decisions.flatMap((each) => (each.kind === 'edit' ? [[each.orderKey, each.sizeDeltaUsd ?? 0n]] : [])),
  )
  const placed = decisions.flatMap((each, index) =>
    each.kind === 'decrease'
      ? [{ ...stop(100 + resting.length + index, 0, 1_900), sizeDeltaUsd: each.sizeDeltaUsd }]
      : [],
  )
  return [
    ...resting
      .filter(({ orderKey }) => !gone.has(orderKey))
      .map((order) => ({ ...order, sizeDeltaUsd: sizes.get(order.orderKey) ?? order.sizeDeltaUsd })),
    ...placed,
  ]
}

test('the stop has precedence', () => {
  expect(exitTypes).toEqual(['stop-loss', 'take-profit'])
})
