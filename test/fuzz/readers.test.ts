/** 10,000 cases of odd structure over every reader of the process; by hand a million: `npm run fuzz`. */
import { expect, test } from 'vitest'
import { runCase, runCases } from './cases.ts'

const CASES = 10_000

test('whatever a reader is given, it gives a value or its own error', { timeout: 600_000 }, async () => {
  expect(await runCases(CASES, 1, 5)).toEqual([])
})

test.each([5_203_861, 5_271_118])(
  'a type that is named like what every object has is a problem, not a throw (case %d)',
  async (number) => {
    expect(await runCase(number)).toBeUndefined()
  },
)

test.each([
  [5_490_190, 'a number beyond a uint256 in an approval file'],
  [5_029_414, 'candles that nest a thousand deep'],
  [5_045_756, 'a scenario of five megabytes'],
  [5_295_491, 'a journal record that names an order with two megabytes'],
])("case %d is the reader's own error, in time and short: %s", async (number) => {
  expect(await runCase(number)).toBeUndefined()
})
