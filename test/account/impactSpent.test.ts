/** The day's budget of what prices leave by estimated impacts. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OPERATOR } from '../../src/account/halts/tradingHalts.ts'
import { impactSpentBy } from '../../src/account/impactSpent.ts'
import type { Intent } from '../../src/domain/order/intent.ts'
import { usd } from '../../src/protocol/units.ts'
import { impactCostUsd, impactWithin } from '../../src/risk/checks/impactCheck.ts'
import { intentOf, startMs } from '../support/intents.ts'

const most = { adding: 150, reducing: 1_000 }

function estimated(priceImpactBps: number, more: Partial<Intent> = {}): Intent {
  const intent = intentOf({ acceptedAtMs: startMs, ...more })
  return { ...intent, terms: { ...intent.terms, sizeDeltaUsd: usd(1_000), priceImpactBps } }
}

test('what estimates leave is summed up, at most their widest, and an operator’s way out is not', () => {
  const entries = [estimated(-100), estimated(40), estimated(-9_000)]
  expect(impactSpentBy(entries, most)).toBe(usd(25))
  // The same list by other bounds, and by these again.
  expect(impactSpentBy(entries, { ...most, adding: 200 })).toBe(usd(30))
  expect(impactSpentBy(entries, most)).toBe(usd(25))
  const withExit = [...entries, estimated(-9_000, { kind: 'close' })]
  expect(impactSpentBy(withExit, most)).toBe(usd(125))
  const withOperator = [...withExit, estimated(-9_000, { strategy: OPERATOR, kind: 'close' })]
  expect(impactSpentBy(withOperator, most)).toBe(usd(125))
  // What is opened by hand spends like a strategy's.
  expect(impactSpentBy([...withOperator, estimated(-9_000, { strategy: OPERATOR })], most)).toBe(usd(140))
})

test('an estimate is cut to what is left of the day, and one in our favour is not', () => {
  expect(impactWithin(-100, usd(1_000), undefined)).toBe(-100)
  expect(impactWithin(-100, usd(1_000), usd(10))).toBe(-100)
  expect(impactWithin(-100, usd(1_000), usd(4))).toBe(-40)
  expect(impactWithin(-100, usd(1_000), 0n)).toBe(0)
  expect(impactWithin(25, usd(1_000), 0n)).toBe(25)
  expect(impactWithin(undefined, usd(1_000), 0n)).toBeUndefined()
  const sizes = fc.bigInt({ min: 1n, max: usd(1_000_000) })
  fc.assert(
    fc.property(fc.integer({ min: -10_000, max: 10_000 }), sizes, sizes, (estimate, size, left) => {
      const within = impactWithin(estimate, size, left)
      expect(impactCostUsd(within, size, 10_000)).toBeLessThanOrEqual(left)
      expect(impactCostUsd(within, size, 10_000)).toBeLessThanOrEqual(impactCostUsd(estimate, size, 10_000))
    }),
  )
})
