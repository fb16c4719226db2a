/** Pauses after what time may cure, over endings that are handed in. */
import { expect, test } from 'vitest'
import type { IntentState } from '../../src/domain/intent.ts'
import { checkPause } from '../../src/risk/pause.ts'
import { intentOf, startMs } from '../support/intents.ts'

function refused(code: string, closedAtMs: number): IntentState {
  const evidence = { level: 'local', atMs: closedAtMs, statement: 'nothing was signed' } as const
  return {
    intent: intentOf(),
    attempts: [],
    updatedAtMs: closedAtMs,
    closedAtMs,
    closing: { outcome: 'REFUSED_LOCAL', code, reason: 'dear', evidence },
  }
}

test('a fee above the limit makes the wish wait, longer each time; a price that moved does not', () => {
  const dear = [refused('FEE_ABOVE_LIMIT', startMs), refused('FEE_ABOVE_LIMIT', startMs - 5_000)]
  const at = (ms: number, states = dear, adds = true) => checkPause(intentOf(), adds, states, startMs + ms)
  expect(at(9_999)).toMatchObject({
    code: 'REFUSED_BEFORE',
    reason: expect.stringContaining('The fee was above the limit for this order 2 times in a row'),
  })
  expect(at(10_000)).toBeUndefined()
  expect(at(3_999, dear, false)?.code).toBe('REFUSED_BEFORE')
  expect(at(4_000, dear, false)).toBeUndefined()
  expect(at(1, [refused('PRICE_OUT_OF_BOUNDS', startMs)])).toBeUndefined()
})
