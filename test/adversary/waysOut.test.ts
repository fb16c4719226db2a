/** One bad party of a kind, everybody else honest: a kill with a close has closed within a minute, at an honest price, and accuses nobody honest. */
import { expect, test } from 'vitest'
import { WAY_OUT_MS, waysOut } from './waysOut.ts'

test('whoever lies or is silent, a kill has closed within a minute', { timeout: 600_000 }, async () => {
  // One pays with the short token and one with the long; both hold something that a kill can close.
  for (const { party, told, late, accused, violations } of await waysOut(886_000_024, 2)) {
    expect(told, party).toBe(2)
    expect({ party, late, accused, violations }, `${WAY_OUT_MS} ms`).toEqual({
      party,
      late: [],
      accused: [],
      violations: [],
    })
  }
})
