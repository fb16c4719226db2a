/** An hour in which nobody lies, feeds stand 1 % apart, lists lag and every host restarts: nobody is accused, nothing is refused or sent twice. */
import { expect, test } from 'vitest'
import { honestDay } from './honestDay.ts'

test('honest lag, feeds 1 % apart and restarts refuse nothing, accuse nobody and send nothing twice', {
  timeout: 600_000,
}, async () => {
  const { armed, submits, executed, closedExecuted, ...shown } = await honestDay(1, 1)
  expect(shown).toEqual({ hours: 1, refused: {}, accusations: [], violation: undefined })
  expect(submits).toBe(armed)
  expect(executed).toBeGreaterThan(15)
  expect(executed).toBeLessThanOrEqual(closedExecuted)
})
