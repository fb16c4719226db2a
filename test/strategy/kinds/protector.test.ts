import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import type { Order, Position } from '../../../src/protocol/position.ts'
import { contractPriceOf, usd } from '../../../src/protocol/units.ts'
import { admit } from '../../../src/risk/admit.ts'
import { orphanCancels } from '../../../src/risk/orphans.ts'
import { protector } from '../../../src/strategy/kinds/protector.ts'
import { openIntentsOf } from '../../../src/strategy/resting.ts'
import {
  type Decision,
  type OpenIntent,
  type OwnEvent,
  type RestingOrder,
  viewOf,
} from '../../../src/strategy/strategy.ts'
import {
  ACCOUNT,
  decrease,
  desk,
  intentState,
  MARKET,
  marketView,
  NOW_MS,
  oraclePrice,
  order,
  position,
  SYMBOL,
  snapshot,
  WETH,
} from '../../risk/world.ts'

const OWN = `0x${'a1'.repeat(32)}` as const
const FOREIGN = `0x${'b2'.repeat(32)}` as const

function stop(sizeUsd: number, changes: Partial<Order> = {}): Order {
  return order({
    orderKey: FOREIGN,
    orderType: 6,
    sizeDeltaUsd: usd(sizeUsd),
    triggerContractPrice: contractPriceOf(usd(1900), 18),
    ...changes,
  })
}

function resting(row: Order, changes: Partial<RestingOrder> = {}): RestingOrder {
  return {
    orderKey: row.orderKey,
    intentId: `intent-of-${row.orderKey}`,
    orderType: row.orderType === 5 ? 'take-profit' : 'stop-loss',
    marketToken: row.marketToken,
    direction: row.direction,
    collateralToken: row.initialCollateralToken,
    sizeDeltaUsd: row.sizeDeltaUsd,
    isFrozen: row.isFrozen,
    isChanging: false,
    ...changes,
  }
}

interface Scene {
  readonly positions: readonly Position[]
  readonly own?: readonly Order[]
  readonly others?: readonly Order[]
  readonly ownChanges?: Partial<RestingOrder>
  readonly openIntents?: readonly OpenIntent[]
  readonly params?: Record<string, unknown>
  readonly priceUsd?: number
  readonly symbols?: readonly string[]
  readonly hidesOrders?: boolean
  readonly atMs?: number
  readonly sinceMs?: Record<string, number>
  readonly events?: readonly OwnEvent[]
}

function turn(scene: Scene) {
  const { own = [], others = [], priceUsd = 2000, hidesOrders = false } = scene
  const price = usd(priceUsd)
  const value = oraclePrice({ minPrice: price, maxPrice: price, medianPrice: price })
  const view = marketView({ oraclePrice: { value, atMs: NOW_MS } })
  const world = snapshot({ view, positions: scene.positions, orders: [...own, ...others] })
  const orders = hidesOrders ? { ...world.orders, missing: [{ problem: 'is no order' }] } : world.orders
  return protector.decide(
    viewOf({
      snapshot: { ...world, orders, atMs: scene.atMs ?? NOW_MS },
      params: protector.params.parse({ graceSeconds: 0, ...scene.params }),
      instance: { name: 'protector', symbols: scene.symbols ?? [] },
      openIntents: scene.openIntents ?? [],
      events: scene.events ?? [],
      restingOrders: own.map((row) => resting(row, scene.ownChanges)),
    }),
    { sinceMs: scene.sinceMs ?? {} },
  )
}
const decide = (scene: Scene) => turn(scene).decisions

test('a position that somebody opened without a stop gets one, which risk admits', () => {
  const positions = [position()]
  const [decision, ...more] = decide({ positions })
  expect(more).toEqual([])
  expect(decision).toMatchObject({
    kind: 'decrease',
    orderType: 'stop-loss',
    sizeDeltaUsd: usd(1000),
    triggerPrice: usd(1900),
    reason: '$1,000.00 of the long position has no stop-loss.',
  })
  const world = snapshot({ positions })
  expect(admit(decision as Decision, desk({ snapshot: world })).kind).toBe('intent')
})

test('the shipped example gives a position both a stop and a target, and a file without targetBps stops alone', () => {
  const path = join(import.meta.dirname, '../../../strategies/examples/protector.yaml')
  const { params } = parse(readFileSync(path, 'utf8')) as { readonly params: Record<string, unknown> }
  const types = (scene: Scene) =>
    decide(scene).map((each) => (each.kind === 'decrease' ? each.orderType : each.kind))
  const positions = [position()]
  expect(types({ positions, params: { ...params, graceSeconds: 0 } })).toEqual(['stop-loss', 'take-profit'])
  expect(types({ positions })).toEqual(['stop-loss'])
})

test('a short has its stop above, and its target below', () => {
  const short = position({ direction: 'short', liquidationPrice: usd(2380) })
  expect(decide({ positions: [short], params: { targetBps: 1000 } })).toMatchObject([
    { orderType: 'stop-loss', triggerPrice: usd(2100) },
    { orderType: 'take-profit', triggerPrice: usd(1800) },
  ])
})

test("somebody else's stop is enough, one that froze or is of another position is not", () => {
  const positions = [position()]
  expect(decide({ positions, others: [stop(1000)] })).toEqual([])
  // All of the position, as some clients write it.
  expect(decide({ positions, others: [stop(0, { sizeDeltaUsd: 2n ** 256n - 1n })] })).toEqual([])
  for (const other of [
    stop(1000, { isFrozen: true }),
    stop(1000, { orderType: 5 }),
    stop(1000, { direction: 'short' }),
    stop(1000, { initialCollateralToken: WETH }),
  ])
    expect(decide({ positions, others: [other] })).toHaveLength(1)
})

test('what another stop leaves uncovered is covered, and no more', () => {
  expect(decide({ positions: [position()], others: [stop(400)] })).toMatchObject([{ sizeDeltaUsd: usd(600) }])
})

test('no second one is placed while one rests, is on its way or is being changed', () => {
  const positions = [position()]
  expect(decide({ positions, own: [stop(1000, { orderKey: OWN })] })).toEqual([])
  const waiting = {
    ...decrease(usd(1000)),
    orderType: 'stop-loss' as const,
    triggerPrice: usd(1900),
  }
  const [open] = openIntentsOf([intentState({ decision: waiting })])
  const onTheWay = { ...(open as OpenIntent), orderType: 'stop-loss' as const }
  expect(decide({ positions, openIntents: [onTheWay] })).toEqual([])
  expect(
    decide({
      positions: [position({ sizeInUsd: usd(3000) })],
      own: [stop(1000, { orderKey: OWN })],
      ownChanges: { isChanging: true },
    }),
  ).toEqual([])
})

test('a list of orders that lacks rows places nothing: one of them may be a stop', () => {
  expect(decide({ positions: [position()], hidesOrders: true })).toEqual([])
})

test('of two of its own for one position one is cancelled', () => {
  const second = `0x${'a2'.repeat(32)}` as const
  const own = [stop(1000, { orderKey: OWN }), stop(1000, { orderKey: second })]
  expect(decide({ positions: [position()], own })).toMatchObject([{ kind: 'cancel', orderKeys: [second] }])
})

test('its stop follows the size of the position, and the entry that what was added moved', () => {
  const own = [stop(1000, { orderKey: OWN })]
  const grown = position({ sizeInUsd: usd(1500), entryPrice: usd(1960) })
  expect(decide({ positions: [grown], own })).toMatchObject([
    { kind: 'edit', orderKey: OWN, sizeDeltaUsd: usd(1500), triggerPrice: usd(1862) },
  ])
  expect(decide({ positions: [position({ sizeInUsd: usd(400) })], own })).toMatchObject([
    { kind: 'edit', sizeDeltaUsd: usd(400) },
  ])
  // Within the tolerance an edit is not worth its fee.
  expect(decide({ positions: [position({ sizeInUsd: usd(1015) })], own })).toEqual([])
  // The new place is past already: the old one stays.
  const [edit] = decide({ positions: [grown], own, priceUsd: 1855 })
  expect(edit).not.toHaveProperty('triggerPrice')
})

test('one that froze is tried again as it is', () => {
  const own = [stop(1000, { orderKey: OWN, isFrozen: true })]
  const decisions = decide({ positions: [position()], own, priceUsd: 1890 })
  expect(decisions).toMatchObject([{ kind: 'edit', sizeDeltaUsd: usd(1000) }])
  expect(decisions[0]).not.toHaveProperty('triggerPrice')
})

test('a price that fell past the stop before it looked: the stop counts from there, or the position closes', () => {
  const positions = [position({ liquidationPrice: usd(1000) })]
  expect(decide({ positions, priceUsd: 1800 })).toMatchObject([
    { orderType: 'stop-loss', triggerPrice: usd(1710) },
  ])
  const [decision, ...more] = decide({
    positions,
    priceUsd: 1800,
    params: { whenPast: 'close', targetBps: 500 },
  })
  expect(more).toEqual([])
  expect(decision).toMatchObject({ kind: 'decrease', sizeDeltaUsd: usd(1000) })
  expect(decision).not.toHaveProperty('orderType')
})

test('a stop that would come after the liquidation comes half way before it', () => {
  const near = position({ liquidationPrice: usd(1960) })
  expect(decide({ positions: [near] })).toMatchObject([{ triggerPrice: usd(1980) }])
  // Half way from the entry is past: half way from the price.
  expect(decide({ positions: [near], priceUsd: 1970 })).toMatchObject([{ triggerPrice: usd(1965) }])
})

test('whoever opened it has a time to place its own, which a restart does not begin anew', () => {
  const positions = [position()]
  const params = { graceSeconds: 20 }
  const first = turn({ positions, params })
  expect(first.decisions).toEqual([])
  const { sinceMs } = first.memory
  expect(turn({ positions, params, sinceMs, atMs: NOW_MS + 19_999 }).decisions).toEqual([])
  expect(turn({ positions, params, sinceMs, atMs: NOW_MS + 20_000 }).decisions).toHaveLength(1)
  // A clock that was ahead when the gap was seen makes the wait no longer than that after a refusal.
  const back = turn({ positions, params, sinceMs, atMs: NOW_MS - 18_000_000 })
  expect(back.decisions).toEqual([])
  const later = { positions, params, sinceMs: back.memory.sinceMs, atMs: NOW_MS - 18_000_000 + 35_000 }
  expect(turn(later).decisions).toHaveLength(1)
  // Covered meanwhile: the time begins anew with the next gap.
  expect(turn({ positions, params, sinceMs, others: [stop(1000)] }).memory.sinceMs).toEqual({})
})

test('what was refused is asked for again a little later', () => {
  const positions = [position()]
  const refused: OwnEvent = {
    kind: 'denied',
    atMs: NOW_MS,
    decisionKey: 'key-1',
    order: 'decrease',
    marketToken: MARKET,
    direction: 'long',
    code: 'POSITION_UNPROVEN',
    reason: 'The test wishes it.',
  }
  const { decisions, memory } = turn({ positions, events: [refused] })
  expect(decisions).toEqual([])
  expect(turn({ positions, ...memory, atMs: NOW_MS + 14_999 }).decisions).toEqual([])
  expect(turn({ positions, ...memory, atMs: NOW_MS + 15_000 }).decisions).toHaveLength(1)
})

test('with markets named it leaves positions of others alone', () => {
  expect(decide({ positions: [position()], symbols: [SYMBOL] })).toHaveLength(1)
  expect(decide({ positions: [position()], symbols: ['BTC/USD [BTC-USDC]'] })).toEqual([])
})

test('the stop that a position leaves behind is cancelled', () => {
  const decision = { ...decrease(usd(1000)), orderType: 'stop-loss' as const, triggerPrice: usd(1900) }
  const placed = intentState({ decision, orderKey: OWN, acceptedAtMs: NOW_MS - 600_000 })
  const state = { ...placed, updatedAtMs: NOW_MS - 600_000 }
  const own = stop(1000, { orderKey: OWN })
  const ownOrders = new Map([
    [OWN, { intentId: 'intent-1', strategy: 'protector', decisionKey: 'key-1', hasExits: false }],
  ])
  const gone = snapshot({ positions: [], orders: [own] })
  expect(orphanCancels(gone, [state], { ownOrders })).toMatchObject([{ kind: 'cancel', orderKeys: [OWN] }])
  const held = snapshot({ positions: [position()], orders: [own] })
  expect(orphanCancels(held, [state], { ownOrders })).toEqual([])
})

test('whatever sizes and stops of others come, two of them agree on one stop each that cover the position', () => {
  const change = fc.record({
    sizeUsd: fc.integer({ min: 10, max: 100_000 }),
    otherUsd: fc.option(fc.integer({ min: 1, max: 100_000 }), { nil: undefined }),
  })
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 8 }), (changes) => {
      const names = ['a1', 'c3']
      const own = new Map<string, Order>()
      for (const { sizeUsd, otherUsd } of changes) {
        const positions = [position({ sizeInUsd: usd(sizeUsd), account: ACCOUNT, marketToken: MARKET })]
        const foreign = otherUsd === undefined ? [] : [stop(otherUsd)]
        let quiet = 0
        for (let round = 0; quiet < names.length && round < 20; round++) {
          // Both see the same world, and what they decide comes at once.
          const before = new Map(own)
          quiet = 0
          for (const name of names) {
            const mine = before.get(name)
            const others = [...before].flatMap(([whose, row]) => (whose === name ? [] : [row]))
            const decisions = decide({
              positions,
              own: mine === undefined ? [] : [mine],
              others: [...foreign, ...others],
            })
            if (decisions.length === 0) quiet += 1
            for (const decision of decisions) {
              if (decision.kind === 'decrease') {
                expect(mine).toBeUndefined()
                const orderKey = `0x${name.repeat(32)}` as const
                own.set(name, stop(0, { orderKey, sizeDeltaUsd: decision.sizeDeltaUsd }))
              } else if (decision.kind === 'edit' && mine !== undefined) {
                own.set(name, { ...mine, sizeDeltaUsd: decision.sizeDeltaUsd ?? 0n })
              } else throw new Error(decision.kind)
            }
          }
        }
        expect(quiet).toBe(names.length)
        const rows = [...foreign, ...own.values()]
        const coveredUsd = rows.reduce((sum, { sizeDeltaUsd }) => sum + sizeDeltaUsd, 0n)
        expect(coveredUsd >= usd(sizeUsd) - usd(sizeUsd) / 50n).toBe(true)
        for (const row of own.values())
          expect(row.sizeDeltaUsd <= usd(sizeUsd) + usd(sizeUsd) / 50n).toBe(true)
      }
    }),
    { seed: 15, numRuns: 300 },
  )
})
