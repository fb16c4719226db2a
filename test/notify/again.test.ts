/** How often a cause is told, over seeded stories. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createCauseFilter } from '../../src/monitor/incidents/again.ts'

const hourMs = 3_600_000
const level = 'warn'

test('a cause that goes on is told first, then each tenth time to the hundredth, then once an hour', () => {
  const filter = createCauseFilter()
  const told: number[] = []
  for (let at = 0; at < 400; at++) {
    const count = filter.take({ cause: 'cause', level }, at * 60_000)
    if (count !== undefined) told.push(count)
  }
  // A minute apart: the 100th is told at minute 99, and the hours after it at 159, 219 and so on.
  expect(told).toEqual([1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 160, 220, 280, 340, 400])
})

test('an end is never held back, and the next time of its cause is a first one', () => {
  const filter = createCauseFilter()
  expect([1, 2, 3].map((at) => filter.take({ cause: 'cause', level }, at))).toEqual([1, undefined, undefined])
  expect(filter.take({ cause: 'cause', level, isEnd: true }, 4)).toBe(1)
  expect(filter.take({ cause: 'cause', level, isEnd: true }, 5)).toBe(1)
  expect(filter.take({ cause: 'cause', level }, 6)).toBe(1)
})

test('whatever the story, a first is told, no hour of a cause that goes on is silent, and causes do not touch each other', () => {
  const step = fc.record({
    cause: fc.constantFrom('a', 'b', 'c'),
    waitMs: fc.integer({ min: 0, max: hourMs }),
    isEnd: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (story) => {
      const together = createCauseFilter()
      const alone = new Map(['a', 'b', 'c'].map((cause) => [cause, createCauseFilter()]))
      const toldAtMs = new Map<string, number>()
      let nowMs = 0
      for (const { cause, waitMs, isEnd } of story) {
        nowMs += waitMs
        const notice = { cause, level, ...(isEnd ? { isEnd } : {}) } as const
        const count = together.take(notice, nowMs)
        expect(alone.get(cause)?.take(notice, nowMs)).toBe(count)
        const lastMs = toldAtMs.get(cause)
        if (isEnd || lastMs === undefined || nowMs - lastMs >= hourMs) expect(count).toBeDefined()
        if (isEnd) toldAtMs.delete(cause)
        else if (count !== undefined) toldAtMs.set(cause, nowMs)
      }
    }),
    { seed: 16, numRuns: 300 },
  )
})

test('of more causes than are kept, the one that was seen longest ago is forgotten', () => {
  const filter = createCauseFilter(2)
  for (const cause of ['a', 'b', 'a', 'c']) filter.take({ cause, level }, 0)
  expect(filter.take({ cause: 'a', level }, 1)).toBeUndefined()
  expect(filter.take({ cause: 'b', level }, 1)).toBe(1)
})

test('another stage of a cause is told at once, and counts from one', () => {
  const filter = createCauseFilter()
  const stages = ['reducing', 'reducing', 'halted', 'halted', 'reducing']
  const told = stages.map((stage, at) => filter.take({ cause: 'cause', level, stage }, at))
  expect(told).toEqual([1, undefined, 1, undefined, 1])
})

test('a cause that matters more than before is told at once, and what matters less then is no news', () => {
  const filter = createCauseFilter()
  const levels = ['warn', 'warn', 'error', 'warn', 'error', 'info'] as const
  expect(levels.map((each, at) => filter.take({ cause: 'cause', level: each }, at))).toEqual([
    ...[1, undefined, 1, undefined, undefined, undefined],
  ])
})
