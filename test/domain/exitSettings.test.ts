/** The exits of a strategy file around an entry: on their side of it, whatever the numbers, and never in the place of a decision's own. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type EntryExits,
  type PricedDistance,
  usualMoves,
  usualRange,
  withoutItsRange,
  withPlannedExits,
} from '../../src/domain/order/exitSettings.ts'
import { usd } from '../../src/protocol/units.ts'
import { increase } from '../risk/world.ts'

test('a stop and a ladder of targets lie around the entry, the other way round on a short', () => {
  const plan: EntryExits = {
    stopLoss: { bps: 200 },
    takeProfits: [{ bps: 300, shareBps: 5_000 }, { usd: usd(100) }],
  }
  expect(withPlannedExits(increase(), plan, usd(2_000)).tpsl).toEqual([
    { type: 'take-profit', triggerPrice: usd(2_060), shareBps: 5_000 },
    { type: 'take-profit', triggerPrice: usd(2_100) },
    { type: 'stop-loss', triggerPrice: usd(1_960) },
  ])
  expect(withPlannedExits(increase({ direction: 'short' }), plan, usd(2_000)).tpsl).toEqual([
    { type: 'take-profit', triggerPrice: usd(1_940), shareBps: 5_000 },
    { type: 'take-profit', triggerPrice: usd(1_900) },
    { type: 'stop-loss', triggerPrice: usd(2_040) },
  ])
})

test('what a decision brings itself stands, and keeps the same sort of the file away', () => {
  const own = { type: 'stop-loss', triggerPrice: usd(1_500) } as const
  const plan: EntryExits = { stopLoss: { bps: 200 }, takeProfits: [{ bps: 300 }] }
  const { tpsl } = withPlannedExits(increase({ tpsl: [own] }), plan, usd(2_000))
  expect(tpsl).toEqual([own, { type: 'take-profit', triggerPrice: usd(2_060) }])
  const nothing = increase()
  expect(withPlannedExits(nothing, undefined, usd(2_000))).toBe(nothing)
  expect(withPlannedExits(nothing, { takeProfits: [] }, usd(2_000))).toBe(nothing)
})

test('a stop is never on the winning side of the entry and a target never on the losing one', () => {
  const distance: fc.Arbitrary<PricedDistance> = fc.oneof(
    fc.integer({ min: 1, max: 9_999 }).map((bps): PricedDistance => ({ bps })),
    fc.bigInt({ min: 1n, max: 10n ** 36n }).map((amount): PricedDistance => ({ usd: amount })),
  )
  fc.assert(
    fc.property(
      fc.record({ stopLoss: distance, takeProfits: fc.array(distance, { maxLength: 4 }) }),
      fc.bigInt({ min: 1n, max: 10n ** 36n }),
      fc.boolean(),
      (plan: EntryExits, entryPrice, isLong) => {
        const decision = increase({ direction: isLong ? 'long' : 'short' })
        for (const { type, triggerPrice } of withPlannedExits(decision, plan, entryPrice).tpsl ?? []) {
          const isAbove = triggerPrice > entryPrice
          const isBelow = triggerPrice < entryPrice
          const wins = isLong ? isAbove : isBelow
          const loses = isLong ? isBelow : isAbove
          // A distance of less than the smallest unit is none: sizing refuses what would fire at once.
          if (triggerPrice !== entryPrice) expect(type === 'stop-loss' ? loses : wins).toBe(true)
          expect(triggerPrice >= 0n).toBe(true)
        }
      },
    ),
    { seed: 20261123, numRuns: 500 },
  )
})

test('without the range of a market all of a plan is known that does not count in it, and a list of targets whole or not at all', () => {
  const rest = { ...usualMoves, range: usualRange, timeLimitMs: 60_000 }
  const inRanges = { atrPercent: 200 }
  expect(
    withoutItsRange({
      ...rest,
      stopLoss: inRanges,
      takeProfits: [
        { bps: 100, shareBps: 5_000 },
        { ...inRanges, shareBps: 5_000 },
      ],
      trailingStop: { distance: { bps: 100 }, activation: inRanges },
      breakEven: { after: inRanges, offsetBps: 15 },
    }),
  ).toEqual({ ...rest, takeProfits: [] })
  const known = {
    ...rest,
    takeProfits: [{ bps: 100, shareBps: 5_000 }],
    trailingStop: { distance: { bps: 100 }, activation: { bps: 50 } },
    breakEven: { after: { bps: 200 }, offsetBps: 15 },
  }
  expect(withoutItsRange({ ...known, stopLoss: inRanges })).toEqual(known)
})
