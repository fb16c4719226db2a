/** From when on a message that nobody has seen counts as withheld, by a clock that may be set back. */
import { expect, test } from 'vitest'
import { isWithheld } from '../../src/domain/order/withheld.ts'

const sinceMs = Date.UTC(2026, 10, 20, 12)

test('a message is withheld after its time, and when a clock that was set back no longer says how old it is', () => {
  const after = (ms: number) => isWithheld(sinceMs, sinceMs + ms, 15_000)
  expect([0, 14_999, -5_000].map(after)).toEqual([false, false, false])
  expect([15_000, 3_600_000, -86_400_000].map(after)).toEqual([true, true, true])
  expect(isWithheld(undefined, sinceMs, 15_000)).toBe(false)
})
