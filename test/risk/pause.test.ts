/** Pauses after what time may cure, over endings that are handed in. */
import { expect, test } from 'vitest'
import type { IntentState } from '../../src/domain/order/intent.ts'
import { checkPause } from '../../src/risk/breakers/pause.ts'
import { armedFacts, intentOf, startMs } from '../support/intents.ts'

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

test('a fee above the limit makes the wish wait, longer each time; what takes risk away does not for a price', () => {
  const dear = [refused('FEE_ABOVE_LIMIT', startMs), refused('FEE_ABOVE_LIMIT', startMs - 5_000)]
  const at = (ms: number, states = dear, adds = true) => checkPause(intentOf(), adds, states, startMs + ms)
  expect(at(9_999)).toMatchObject({
    code: 'REFUSED_BEFORE',
    reason: expect.stringContaining('The fee was above the limit for this order 2 times in a row'),
  })
  expect(at(10_000)).toBeUndefined()
  expect(at(3_999, dear, false)?.code).toBe('REFUSED_BEFORE')
  expect(at(4_000, dear, false)).toBeUndefined()
  expect(at(1, [refused('PRICE_OUT_OF_BOUNDS', startMs)], false)).toBeUndefined()
})

test.each(['PRICE_OUT_OF_BOUNDS', 'POSITION_MOVED', 'OFFER_EXPIRED', 'CHAIN_CLOCK_SKEW'])(
  'an increase waits after %s, longer each time, and not at all for another cause',
  (code) => {
    const moved = [refused(code, startMs), refused(code, startMs - 5_000), refused(code, startMs - 9_000)]
    const at = (ms: number, states: readonly IntentState[] = moved) =>
      checkPause(intentOf(), true, states, startMs + ms)
    expect(at(19_999)).toMatchObject({
      code: 'REFUSED_BEFORE',
      reason: expect.stringContaining(`for this order 3 times in a row (${code})`),
    })
    expect(at(20_000)).toBeUndefined()
    expect(at(4_999, moved.slice(0, 1))?.code).toBe('REFUSED_BEFORE')
    expect(at(5_000, moved.slice(0, 1))).toBeUndefined()
    expect(at(1, [refused('TYPED_DATA_MISMATCH', startMs)])).toBeUndefined()
    expect(
      at(
        899_999,
        Array.from({ length: 30 }, () => refused(code, startMs)),
      )?.code,
    ).toBe('REFUSED_BEFORE')
    expect(
      at(
        900_000,
        Array.from({ length: 30 }, () => refused(code, startMs)),
      ),
    ).toBeUndefined()
  },
)

test("a strategy's reduction that was signed and came to nothing waits longer each time; an operator's does not, nor what was wished", () => {
  const failed = (closedAtMs: number, cancelReason: string): IntentState => ({
    ...refused('CANCELLED', closedAtMs),
    attempts: [
      {
        n: 1,
        lane: 'order-chain',
        host: 'here',
        phase: 'LANDED',
        armed: armedFacts(),
        children: [
          { index: 0, orderKey: `0x${'0d'.repeat(32)}`, phase: 'CANCELLED', role: 'main', cancelReason },
        ],
      },
    ],
    closing: {
      outcome: 'CANCELLED',
      code: 'CANCELLED',
      reason: 'the protocol cancelled it',
      evidence: { level: 'chain-final', atMs: closedAtMs, statement: 'an event' },
    },
  })
  const states = (count: number, reason = 'EmptyPosition()') =>
    Array.from({ length: count }, (_, index) => failed(startMs - index * 60_000, reason))
  const at = (count: number, ms: number, isOperator = false, adds = false) =>
    checkPause(intentOf(), adds, states(count), startMs + ms, isOperator)?.code
  expect([at(1, 4_999), at(1, 5_000)]).toEqual(['FAILED_BEFORE', undefined])
  expect([at(3, 19_999), at(3, 20_000)]).toEqual(['FAILED_BEFORE', undefined])
  expect([at(12, 299_999), at(12, 300_000)]).toEqual(['FAILED_BEFORE', undefined])
  expect([at(12, 0, true), at(12, 0, false, true)]).toEqual([undefined, undefined])
  expect(checkPause(intentOf(), false, states(3, 'USER_INITIATED_CANCEL'), startMs)).toBeUndefined()
})

test.each([50_000, 600_000, 18_000_000])(
  'a clock that was set back by %i ms makes no pause longer than it is, whether the step was measured or not',
  (backMs) => {
    const at = (ms: number, adds: boolean, setBackMs: number) =>
      checkPause(
        intentOf(),
        adds,
        [refused('FEE_ABOVE_LIMIT', startMs)],
        startMs - backMs + ms,
        false,
        () => setBackMs,
      )?.code
    for (const [adds, pauseMs] of [
      [true, 5_000],
      [false, 2_000],
    ] as const) {
      expect([at(pauseMs - 1, adds, backMs), at(pauseMs, adds, backMs)]).toEqual([
        'REFUSED_BEFORE',
        undefined,
      ])
      expect(at(0, adds, 0)).toBeUndefined()
    }
  },
)
