/** The size that an accepted increase may still have. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { usd } from '../../src/protocol/units.ts'
import { isDenial } from '../../src/risk/exposure/admissionContext.ts'
import { resizeIncrease } from '../../src/risk/resize.ts'
import { sizeIncrease } from '../../src/risk/sizing/sizing.ts'
import { capacity, desk, increase, intentState, marketView, NOW_MS, snapshot } from './world.ts'

test('the new size is within the room as it is now, what the venue said of it less headroom, and every limit', () => {
  let shrunk = 0
  const dollars = fc.integer({ min: 1, max: 200_000 })
  fc.assert(
    fc.property(
      dollars,
      dollars,
      dollars,
      fc.integer({ min: 0, max: 5_000 }),
      dollars,
      fc.integer({ min: 10_000, max: 500_000 }),
      (wished, room, told, headroomBps, minOrder, leverageBps) => {
        const { intent } = intentState({ decision: increase({ sizeDeltaUsd: usd(wished), leverageBps }) })
        const view = marketView({
          capacityLong: { value: capacity({ availableLiquidity: usd(room) }), atMs: NOW_MS },
        })
        const limits = {
          capacityHeadroomBps: headroomBps,
          minOrderSizeUsd: usd(minOrder),
          maxPositionSizeUsd: usd(90_000),
          maxLeverageBps: 100_000,
        }
        const at = desk({ snapshot: snapshot({ view }), limits })
        const result = resizeIncrease(intent, usd(told), at)
        if (typeof result !== 'bigint') return
        const size = result
        shrunk += 1
        expect(size).toBeGreaterThanOrEqual(usd(minOrder))
        expect(size).toBeLessThanOrEqual(intent.terms.sizeDeltaUsd)
        const left = (amount: number) => usd(amount) - (usd(amount) * BigInt(headroomBps)) / 10_000n
        expect(size).toBeLessThanOrEqual(left(room))
        if (told < wished) expect(size).toBeLessThanOrEqual(left(told))
        expect(size).toBeLessThanOrEqual(usd(90_000))
      },
    ),
    { seed: 20_261_121, numRuns: 500 },
  )
  expect(shrunk).toBeGreaterThan(50)
})

test('a size that was cut for its leverage is not cut for it again', () => {
  const limits = { maxLeverageBps: 100_000 }
  const decision = increase({ sizeDeltaUsd: usd(10_000), leverageBps: 200_000 })
  const first = sizeIncrease(decision, desk({ limits }))
  if (isDenial(first)) throw new Error(first.code)
  expect(first.sizeDeltaUsd).toBe(usd(5_000))
  const { intent } = intentState({ decision })
  const accepted = { decision, terms: { ...intent.terms, sizeDeltaUsd: first.sizeDeltaUsd } }
  expect(resizeIncrease(accepted, usd(5_000), desk({ limits }))).toBe(usd(5_000))
  expect(resizeIncrease(accepted, 0n, desk({ limits }))).toMatchObject({ code: 'NO_CAPACITY' })
})
