import { expect, test } from 'vitest'
import type { Order, Position } from '../../../src/protocol/position.ts'
import { contractPriceOf, usd } from '../../../src/protocol/units.ts'
import { orderJanitor } from '../../../src/strategy/kinds/orderJanitor.ts'
import { type OpenIntent, type StrategyDecision, viewOf } from '../../../src/strategy/strategy.ts'
import { MARKET, marketView, NOW_MS, oraclePrice, order, position, snapshot } from '../../risk/world.ts'

const HOUR_MS = 3_600_000
const keyOf = (digit: number) => `0x${digit.toString(16).padStart(64, '0')}` as const
const at = (priceUsd: number) => contractPriceOf(usd(priceUsd), 18)
const entry = (priceUsd: number, changes: Partial<Order> = {}): Order =>
  order({
    orderKey: keyOf(1),
    updatedAtSeconds: NOW_MS / 1_000 - 86_400,
    triggerContractPrice: at(priceUsd),
    ...changes,
  })
const stop = (priceUsd: number, changes: Partial<Order> = {}): Order =>
  entry(priceUsd, { orderKey: keyOf(2), orderType: 6, sizeDeltaUsd: usd(1_000), ...changes })

interface Scene {
  readonly orders: readonly Order[]
  readonly positions?: readonly Position[]
  readonly params: Record<string, unknown>
  /** Orders that somebody looks after; the others nobody does. */
  readonly kept?: readonly string[]
  readonly openIntents?: readonly OpenIntent[]
  readonly priceUsd?: number
  readonly atMs?: number
}

/** A janitor that remembers from turn to turn. */
function janitor() {
  let memory: unknown = orderJanitor.memory?.first
  return (scene: Scene): readonly StrategyDecision[] => {
    const { orders, positions = [], params, kept = [], openIntents = [], atMs = NOW_MS } = scene
    const median = usd(scene.priceUsd ?? 2_000)
    const view = marketView({ oraclePrice: { value: oraclePrice({ medianPrice: median }), atMs } }, atMs)
    const world = { ...snapshot({ view, orders, positions }), atMs }
    const decided = orderJanitor.decide(
      viewOf({
        snapshot: {
          ...world,
          orders: { value: orders, atMs },
          positions: { value: positions, atMs },
        },
        params: orderJanitor.params.parse(params),
        instance: { name: 'janitor', symbols: [] },
        openIntents,
        strayOrders: orders.map(({ orderKey }) => orderKey).filter((each) => !kept.includes(each)),
      }),
      memory,
    )
    if (!('decisions' in decided)) throw new Error('a turn')
    memory = decided.memory
    return decided.decisions
  }
}
const once = (scene: Scene) => janitor()(scene)

test('an entry out of reach is moved to the distance of the file, on the side where it waits', () => {
  const params = { unreachableBps: 1_000, onUnreachable: 'edit', entryDistanceBps: 200 }
  const moved = (orders: readonly Order[]) => once({ orders, params })
  expect(moved([entry(1_500)])).toMatchObject([
    { kind: 'edit', orderKey: keyOf(1), direction: 'long', triggerPrice: usd(1_960) },
  ])
  expect(moved([entry(1_900)])).toEqual([])
  expect(moved([entry(2_600, { direction: 'short' })])).toMatchObject([{ triggerPrice: usd(2_040) }])
  // A stop-market waits on the other side.
  expect(moved([entry(2_600, { orderType: 8 })])).toMatchObject([{ triggerPrice: usd(2_040) }])
  // The price is past it, and it has not fired: no move mends that.
  expect(moved([entry(2_600)])).toMatchObject([{ kind: 'report-order', cause: 'unreachable', isOver: false }])
})

test('a stale entry is moved too, and told where it lies near enough already', () => {
  const params = { staleAfterSeconds: 3_600, onStale: 'edit', entryDistanceBps: 200 }
  expect(once({ orders: [entry(1_500)], params })).toMatchObject([{ kind: 'edit', triggerPrice: usd(1_960) }])
  expect(once({ orders: [entry(1_970)], params })).toMatchObject([{ kind: 'report-order', cause: 'stale' }])
})

test('an exit larger than what is held is made as large as that, and a stop behind the liquidation goes before it', () => {
  const params = { onOversized: 'edit', onBehindLiquidation: 'edit', liquidationGapBps: 100 }
  const positions = [position({ sizeInUsd: usd(400), liquidationPrice: usd(1_600) })]
  expect(once({ orders: [stop(1_700)], positions, params })).toMatchObject([
    { kind: 'edit', orderKey: keyOf(2), sizeDeltaUsd: usd(400) },
  ])
  expect(once({ orders: [stop(1_500)], positions, params })).toMatchObject([
    { kind: 'edit', orderKey: keyOf(2), triggerPrice: usd(1_616) },
  ])
  // A size that stands for the whole position, one that is hardly larger, and one that an entry may yet fill.
  expect(once({ orders: [stop(1_700, { sizeDeltaUsd: 2n ** 256n - 1n })], positions, params })).toEqual([])
  expect(once({ orders: [stop(1_700, { sizeDeltaUsd: usd(405) })], positions, params })).toEqual([])
  expect(once({ orders: [stop(1_700), entry(1_900)], positions, params })).toEqual([])
  // Of a short it is the other way round.
  const short = [position({ direction: 'short', sizeInUsd: usd(1_000), liquidationPrice: usd(2_500) })]
  const late = stop(2_600, { direction: 'short' })
  expect(once({ orders: [late], positions: short, params })).toMatchObject([{ triggerPrice: usd(2_475) }])
  // Hardly anything is left between price and liquidation.
  expect(once({ orders: [stop(1_500)], positions, params, priceUsd: 1_620 })).toMatchObject([
    { kind: 'report-order', cause: 'behind-liquidation' },
  ])
})

test('an edit is asked for so often in an hour, for a worth, and not beside a change under way', () => {
  const params = {
    ...{ unreachableBps: 1_000, onUnreachable: 'edit', editsPerHour: 2, editStepUsd: 100, orphans: false },
  }
  const ask = janitor()
  const scene = { orders: [entry(1_500, { sizeDeltaUsd: usd(400) })], params }
  const times = [0, 600_000, 1_200_000, HOUR_MS - 1, HOUR_MS, HOUR_MS + 600_000]
  expect(times.map((afterMs) => ask({ ...scene, atMs: NOW_MS + afterMs }).length)).toEqual([1, 1, 0, 0, 1, 1])
  // $300 by a third of the way are less than $100.
  expect(once({ orders: [entry(1_500, { sizeDeltaUsd: usd(300) })], params })).toEqual([])
  const open = { kind: 'edit', marketToken: MARKET, direction: 'long' } as OpenIntent
  expect(once({ ...scene, openIntents: [open] })).toEqual([])
})

test('what somebody looks after or placed is told and not edited, once, and told as over', () => {
  const params = { unreachableBps: 1_000, onUnreachable: 'edit' }
  const ask = janitor()
  const far = { orders: [entry(1_500)], params, kept: [keyOf(1)] }
  expect(ask(far)).toMatchObject([
    { kind: 'report-order', orderKey: keyOf(1), cause: 'unreachable', isOver: false },
  ])
  expect(ask(far)).toEqual([])
  expect(ask({ ...far, priceUsd: 1_550 })).toMatchObject([{ cause: 'unreachable', isOver: true }])
  expect(ask({ ...far, priceUsd: 1_550 })).toEqual([])
  expect(ask(far)).toMatchObject([{ isOver: false }])
  expect(ask({ ...far, orders: [] })).toMatchObject([{ isOver: true, reason: 'The order no longer rests.' }])
})

test('nothing is told as over by a price that is old or a list that lacks rows', () => {
  const params = { unreachableBps: 1_000, onUnreachable: 'report' }
  const view = marketView({ oraclePrice: { value: oraclePrice(), atMs: NOW_MS - 60_000 } })
  const world = snapshot({ view, orders: [entry(1_500)] })
  const told = { [keyOf(1)]: { cause: 'unreachable', marketToken: MARKET, direction: 'long' } }
  const memory = { told, edits: {} }
  const asked = (seen: typeof world) =>
    orderJanitor.decide(
      viewOf({
        snapshot: seen,
        params: orderJanitor.params.parse(params),
        instance: { name: 'janitor', symbols: [] },
        openIntents: [],
      }),
      memory,
    )
  expect(asked(world)).toEqual({ decisions: [], memory })
  const lacking = { value: [], atMs: NOW_MS, missing: [{ problem: 'a row cannot be read' }] }
  expect(asked({ ...world, orders: lacking })).toEqual({ decisions: [], memory })
})

test('each cause has its own care, and a cause that changes is told anew', () => {
  const params = {
    ...{ staleAfterSeconds: 3_600, onStale: 'report', unreachableBps: 1_000, onUnreachable: 'cancel' },
    onOrphan: 'report',
  }
  const ask = janitor()
  const young = { updatedAtSeconds: NOW_MS / 1_000 - 600 }
  expect(ask({ orders: [entry(1_500, young), stop(1_400, { direction: 'short' })], params })).toMatchObject([
    { kind: 'cancel', orderKeys: [keyOf(1)] },
    { kind: 'report-order', orderKey: keyOf(2), cause: 'orphaned' },
  ])
  const held = [position({ direction: 'short' })]
  expect(
    ask({ orders: [entry(1_900), stop(1_400, { direction: 'short' })], positions: held, params }),
  ).toMatchObject([
    { kind: 'report-order', orderKey: keyOf(2), cause: 'orphaned', isOver: true },
    { kind: 'report-order', orderKey: keyOf(1), cause: 'stale', isOver: false },
  ])
})

test('files of before edits and tells mean what they meant, and a distance out of reach is refused', () => {
  expect(orderJanitor.params.parse({ staleAfterSeconds: 604_800, unreachableBps: 3_000 })).toMatchObject({
    ...{ onStale: 'cancel', onUnreachable: 'cancel', orphans: true, onOrphan: 'cancel' },
  })
  const far = { unreachableBps: 150, onUnreachable: 'edit' }
  expect(orderJanitor.params.safeParse(far).error?.issues[0]?.path).toEqual(['entryDistanceBps'])
  expect(orderJanitor.params.safeParse({ ...far, entryDistanceBps: 100 }).success).toBe(true)
  expect(orderJanitor.params.safeParse({ onOversized: 'cancel' }).success).toBe(false)
  expect(orderJanitor.params.safeParse({ orphans: false, onOversized: 'report' }).success).toBe(true)
})
