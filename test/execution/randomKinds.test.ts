/** Seeded walks through all kinds at random, over sockets: no payload is refused, no limit is passed, and everything ends. */
import { afterEach, expect, test } from 'vitest'
import type { Decision } from '../../src/domain/order/decision.ts'
import { type IntentState, isOpen } from '../../src/domain/order/intent.ts'
import type { Snapshot } from '../../src/domain/snapshot.ts'
import { isIncreaseOrder } from '../../src/protocol/position.ts'
import { ONE_USD, usd } from '../../src/protocol/units.ts'
import { usdc } from '../support/intents.ts'
import { btcSymbol, ethSymbol, type KindsBench, kindsBench, priceAt } from '../support/kinds.ts'

let at: KindsBench | undefined

afterEach(async () => {
  await at?.close()
  at = undefined
})

/** A small generator of numbers: the same seed, the same walk. */
function dice(seed: number) {
  let state = seed
  const roll = (sides: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
  return { roll, pick: <T>(list: readonly T[]): T => list[roll(list.length)] as T }
}

const limits = {
  maxTotalExposureUsd: usd(1500),
  maxPositionSizeUsd: usd(600),
  maxUnboundedOrderUsd: usd(150),
  maxLeverageBps: 100_000,
  reduceAgainAfterMs: 2_000,
}

async function anyDecision(
  bench: KindsBench,
  snapshot: Snapshot,
  { roll, pick }: ReturnType<typeof dice>,
): Promise<Decision> {
  const marketToken = await bench.marketToken(pick([ethSymbol, btcSymbol]))
  const direction = pick(['long', 'short'] as const)
  const base = { marketToken, direction, collateralToken: usdc, reason: 'the dice say so' } as const
  const sign = direction === 'long' ? 1 : -1
  const near = () => 20 + roll(400)
  const worse = priceAt(snapshot, marketToken, -near() * sign)
  const better = priceAt(snapshot, marketToken, near() * sign)
  const sizeDeltaUsd = BigInt(20 + roll(400)) * ONE_USD
  const increase = { ...base, kind: 'increase', sizeDeltaUsd, leverageBps: 10_000 + roll(80_000) } as const
  const decrease = { ...base, kind: 'decrease', sizeDeltaUsd, keepLeverage: roll(2) === 0 } as const
  const twap = { parts: 2 + roll(4), durationSeconds: 10 + roll(60) }
  const orders = snapshot.orders.value
  const order = orders.length === 0 ? undefined : pick(orders)
  const onOrder = {
    marketToken: order?.marketToken ?? marketToken,
    direction: order?.direction ?? direction,
    reason: base.reason,
  }
  const orderKey = order?.orderKey ?? (`0x${'00'.repeat(32)}` as const)
  return pick<Decision>([
    increase,
    { ...increase, tpsl: [{ type: 'take-profit', triggerPrice: better }] },
    {
      ...increase,
      tpsl: [
        { type: 'stop-loss', triggerPrice: worse },
        { type: 'take-profit', triggerPrice: better, shareBps: 5000 },
      ],
    },
    { ...increase, orderType: 'limit', triggerPrice: worse },
    { ...increase, orderType: 'stop-market', triggerPrice: better },
    { ...increase, orderType: 'twap', twap },
    decrease,
    { ...decrease, orderType: 'take-profit', triggerPrice: better },
    { ...decrease, orderType: 'stop-loss', triggerPrice: worse },
    { ...decrease, orderType: 'twap', twap },
    { ...base, kind: 'close' },
    { ...base, kind: 'collateral-in', amount: BigInt(1 + roll(50_000_000)) },
    { ...base, kind: 'collateral-out', amount: BigInt(1 + roll(50_000_000)) },
    { ...base, kind: 'swap', payAmount: BigInt(10_000_000 + roll(50_000_000)) },
    { ...onOrder, kind: 'edit', orderKey, sizeDeltaUsd },
    { ...onOrder, kind: 'cancel', orderKeys: [orderKey] },
  ])
}

function exposureUsd({ positions, orders }: Snapshot): bigint {
  const held = positions.value.reduce((sum, { sizeInUsd }) => sum + sizeInUsd, 0n)
  return orders.value.filter(isIncreaseOrder).reduce((sum, { sizeDeltaUsd }) => sum + sizeDeltaUsd, held)
}

/** Cancels what rests and closes what is held, until nothing is left. */
async function wound(bench: KindsBench): Promise<void> {
  for (let round = 0; round < 12; round += 1) {
    const snapshot = await bench.snapshot()
    const [order] = snapshot.orders.value
    const [position] = snapshot.positions.value
    if (order === undefined && position === undefined && bench.orderManager.open().length === 0) return
    for (const each of snapshot.orders.value) {
      const { marketToken, direction, orderKey } = each
      const reason = 'the walk is over'
      const admitted = await bench.judge({
        kind: 'cancel',
        marketToken,
        direction,
        orderKeys: [orderKey],
        reason,
      })
      if (admitted.kind === 'intent') await bench.orderManager.accept(admitted.intent)
    }
    for (const { marketToken, direction, collateralToken } of snapshot.positions.value) {
      const close = {
        kind: 'close',
        marketToken,
        direction,
        collateralToken,
        reason: 'the walk is over',
      } as const
      const admitted = await bench.judge(close, { reduceAgainAfterMs: 1 })
      if (admitted.kind === 'intent') await bench.orderManager.accept(admitted.intent)
    }
    await bench.clock.advance(15_000)
  }
}

test.each([1, 5])('walk %s through all kinds', async (seed) => {
  const bench = await kindsBench()
  at = bench
  const rolled = dice(seed)
  const admitted = new Map<string, number>()
  for (let step = 0; step < 30; step += 1) {
    const snapshot = await bench.snapshot()
    const judged = await bench.judge(await anyDecision(bench, snapshot, rolled), limits)
    if (judged.kind === 'intent') {
      const { kind, terms } = judged.intent
      const name = `${kind} ${terms.orderType}`
      admitted.set(name, (admitted.get(name) ?? 0) + 1)
      await bench.orderManager.accept(judged.intent)
    }
    await bench.clock.advance(500 + rolled.roll(8_000))
    expect(exposureUsd(await bench.snapshot())).toBeLessThanOrEqual(limits.maxTotalExposureUsd)
  }
  expect(admitted.size).toBeGreaterThanOrEqual(6)
  await wound(bench)
  // A change of an order that ended before it reverts, and is dead by its deadline alone.
  await bench.clock.advance(400_000)
  // What moved by itself between the look and the prepare may be refused as that; nothing looks like an attack.
  const closings = bench.journal.recentIntents({ limit: 500 }).map(({ closing }) => closing)
  expect(closings.filter((closing) => closing?.code === 'TYPED_DATA_MISMATCH')).toEqual([])
  expect(closings.filter((closing) => closing?.outcome === 'EXECUTED').length).toBeGreaterThan(10)
  const after = await bench.snapshot()
  expect([after.positions.value, after.orders.value]).toEqual([[], []])
  const left = bench.journal.recentIntents({ limit: 500 }).filter(isOpen).map(told)
  expect(left).toEqual([])
  const digests = bench.venue.record().map(({ digest }) => digest)
  expect(new Set(digests).size).toBe(digests.length)
})

const told = ({ intent, attempts }: IntentState) =>
  `${intent.kind} ${intent.terms.orderType} ${attempts.at(-1)?.phase}`
