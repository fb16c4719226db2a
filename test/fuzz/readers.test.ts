/** 20,000 cases of odd structure over every reader of the process; by hand a million: `npm run fuzz`. */
import { expect, test } from 'vitest'
import { runCase, runCases } from './cases.ts'

const CASES = 20_000

test('whatever a reader is given, it gives a value or its own error', { timeout: 600_000 }, async () => {
  expect(await runCases(CASES, 1, 5)).toEqual([])
})

test.each([5_203_861, 5_271_118])(
  'a type that is named like what every object has is a problem, not a throw (case %d)',
  async (number) => {
    expect(await runCase(number)).toBeUndefined()
  },
)
