import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Order } from '../../../src/protocol/position.ts'
import { contractPriceOf, usd } from '../../../src/protocol/units.ts'
import { admit } from '../../../src/risk/admit.ts'
import { orderJanitor } from '../../../src/strategy/kinds/orderJanitor.ts'
import type { CancelDecision, StrategyDecision } from '../../../src/strategy/strategy.ts'
import { viewOf } from '../../../src/strategy/strategy.ts'
import {
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
} from '../../risk/world.ts'

const oldSeconds = NOW_MS / 1_000 - 86_400
const keyOf = (digit: number) => `0x${digit.toString(16).padStart(64, '0')}` as const
/** An entry of a long that waits at a price, a day old. */
const entry = (priceUsd: number, changes: Partial<Order> = {}): Order =>
  order({
    orderKey: keyOf(1),
    updatedAtSeconds: oldSeconds,
    triggerContractPrice: contractPriceOf(usd(priceUsd), 18),
    ...changes,
  })
const stop = (changes: Partial<Order> = {}): Order =>
  entry(1_500, { orderKey: keyOf(2), orderType: 6, ...changes })

interface Scene {
  readonly orders: readonly Order[]
  readonly positions?: Parameters<typeof snapshot>[0]
  readonly params?: Record<string, unknown>
  readonly symbols?: readonly string[]
}

function worldOf({ orders, positions = {} }: Scene) {
  const view = marketView({
    oraclePrice: { value: oraclePrice({ medianPrice: usd(2_000) }), atMs: NOW_MS },
  })
  const world = snapshot({ ...positions })
  return {
    ...world,
    markets: new Map([[MARKET.toLowerCase(), view]]),
    orders: { value: orders, atMs: NOW_MS },
  }
}

function decide(scene: Scene): readonly StrategyDecision[] {
  const decided = orderJanitor.decide(
    viewOf({
      snapshot: worldOf(scene),
      params: orderJanitor.params.parse(scene.params ?? {}),
      instance: { name: 'janitor', symbols: scene.symbols ?? [] },
      openIntents: [],
    }),
    { told: {}, edits: {} },
  )
  return 'decisions' in decided ? decided.decisions : decided
}
const keys = (scene: Scene) =>
  decide(scene).flatMap((decision) => (decision.kind === 'cancel' ? decision.orderKeys : []))
const held = { positions: [position({ sizeInUsd: usd(500) })] } as never

test('an exit whose position is gone is cancelled, and one whose position or entry is there stays', () => {
  expect(decide({ orders: [stop()] })).toMatchObject([
    { kind: 'cancel', marketToken: MARKET, direction: 'long', orderKeys: [keyOf(2)] },
  ])
  expect(keys({ orders: [stop()], positions: held })).toEqual([])
  expect(keys({ orders: [stop(), entry(1_900)] })).toEqual([])
  expect(keys({ orders: [stop()], params: { orphans: false, staleAfterSeconds: 300 } })).toEqual([])
})

test('an entry goes when it is too old or too far, and only when the file says from when', () => {
  expect(keys({ orders: [entry(1_900)] })).toEqual([])
  expect(keys({ orders: [entry(1_900)], params: { staleAfterSeconds: 3_600 } })).toEqual([keyOf(1)])
  expect(keys({ orders: [entry(1_900)], params: { staleAfterSeconds: 90_000 } })).toEqual([])
  expect(keys({ orders: [entry(1_300)], params: { unreachableBps: 3_000 } })).toEqual([keyOf(1)])
  expect(keys({ orders: [entry(1_500)], params: { unreachableBps: 3_000 } })).toEqual([])
})

test('what changed a moment ago, the parts of a twap, market orders and other markets are left alone', () => {
  const params = { staleAfterSeconds: 300, unreachableBps: 100 }
  const young = { updatedAtSeconds: NOW_MS / 1_000 - 60 }
  expect(keys({ orders: [stop(young), entry(1_000, young)], params })).toEqual([])
  expect(keys({ orders: [entry(1_000, { validFromSeconds: oldSeconds })], params })).toEqual([])
  expect(keys({ orders: [entry(1_000, { orderType: 2 }), stop({ orderType: 4 })], params })).toEqual([])
  expect(keys({ orders: [entry(1_000)], params, symbols: ['BTC/USD [BTC-USDC]'] })).toEqual([])
  expect(keys({ orders: [entry(1_000)], params, symbols: [SYMBOL] })).toEqual([keyOf(1)])
})

test('lists that are old say nothing of what is gone', () => {
  const world = worldOf({ orders: [stop()] })
  const old = { ...world, positions: { ...world.positions, atMs: NOW_MS - 40_000 } }
  const view = {
    params: orderJanitor.params.parse({}),
    instance: { name: 'j', symbols: [] },
    openIntents: [],
  }
  const memory = { told: {}, edits: {} }
  expect(orderJanitor.decide(viewOf({ snapshot: old, ...view }), memory)).toEqual({ decisions: [], memory })
})

test('a file that would never cancel anything is refused', () => {
  expect(orderJanitor.params.safeParse({ orphans: false }).success).toBe(false)
})

const cancel = (orderKey: `0x${string}`): CancelDecision => ({
  kind: 'cancel',
  marketToken: MARKET,
  direction: 'long',
  orderKeys: [orderKey],
  reason: 'nobody needs it',
})
const told = (scene: Scene, orderKey: `0x${string}`, parts: Parameters<typeof desk>[0] = {}) => {
  const admitted = admit(cancel(orderKey), desk({ snapshot: worldOf(scene), strategy: 'janitor', ...parts }))
  return admitted.kind === 'denial' ? admitted.denial.code : 'admitted'
}

test('perpd lets a keeper that tidies cancel what opens and what is orphaned, and no exit that protects or may', () => {
  const tidiesOrders = true
  expect(told({ orders: [entry(1_900)] }, keyOf(1), { tidiesOrders })).toBe('admitted')
  expect(told({ orders: [entry(1_900)] }, keyOf(1))).toBe('ORDER_NOT_OWN')
  expect(told({ orders: [stop()] }, keyOf(2), { tidiesOrders })).toBe('admitted')
  expect(told({ orders: [stop()] }, keyOf(2))).toBe('ORDER_NOT_OWN')
  expect(told({ orders: [stop()], positions: held }, keyOf(2), { tidiesOrders })).toBe('ORDER_PROTECTS')
  expect(told({ orders: [stop(), entry(1_900)] }, keyOf(2), { tidiesOrders })).toBe('ORDER_MAY_PROTECT')
  // An entry of ours that is under way, and not in the list yet.
  expect(told({ orders: [stop()] }, keyOf(2), { tidiesOrders, intents: [intentState({})] })).toBe(
    'ORDER_MAY_PROTECT',
  )
  // Never by an edit: another's order keeps its price and size.
  const edit = { ...cancel(keyOf(1)), kind: 'edit', orderKey: keyOf(1), triggerPrice: usd(1_800) } as const
  const admitted = admit(
    edit,
    desk({ snapshot: worldOf({ orders: [entry(1_900)] }), strategy: 'janitor', tidiesOrders }),
  )
  expect(admitted).toMatchObject({ denial: { code: 'ORDER_NOT_OWN' } })
})

test('whatever rests and is held, no exit of a side that has a position or an entry is ever cancelled', () => {
  const anyOrder = fc.record({
    orderType: fc.constantFrom(2, 3, 5, 6, 8),
    direction: fc.constantFrom('long' as const, 'short' as const),
    ageSeconds: fc.integer({ min: 0, max: 200_000 }),
    price: fc.integer({ min: 500, max: 4_000 }),
  })
  fc.assert(
    fc.property(
      fc.array(anyOrder, { maxLength: 8 }),
      fc.boolean(),
      fc.boolean(),
      (rows, hasLong, hasEntry) => {
        const orders = rows.map(({ orderType, direction, ageSeconds, price }, at) =>
          entry(price, {
            orderKey: keyOf(at + 1),
            direction,
            orderType,
            updatedAtSeconds: NOW_MS / 1_000 - ageSeconds,
          }),
        )
        const scene: Scene = {
          orders,
          params: { staleAfterSeconds: 86_400, unreachableBps: 3_000 },
          ...(hasLong ? { positions: held } : {}),
        }
        const intents = hasEntry ? [intentState({})] : []
        const world = desk({ snapshot: worldOf(scene), intents, strategy: 'janitor', tidiesOrders: true })
        for (const decision of decide(scene)) {
          if (decision.kind !== 'cancel') throw new Error(decision.kind)
          const named = orders.filter(({ orderKey }) => decision.orderKeys.includes(orderKey))
          const exits = named.filter(({ orderType }) => orderType === 5 || orderType === 6)
          const isLong = decision.direction === 'long'
          if (isLong && hasLong) expect(exits).toEqual([])
          const isTaken = admit(decision, world).kind === 'intent'
          if (isTaken && isLong && hasEntry) expect(exits).toEqual([])
          if (!isTaken) expect(isLong && hasEntry && exits.length > 0).toBe(true)
          expect(named.every(({ updatedAtSeconds }) => NOW_MS / 1_000 - updatedAtSeconds >= 300)).toBe(true)
        }
      },
    ),
    { seed: 71, numRuns: 2_000 },
  )
})
