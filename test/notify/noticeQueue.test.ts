/** What a full queue drops, over seeded stories. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { noticeLevels } from '../../src/monitor/events/notice.ts'
import { pushed } from '../../src/notify/noticeQueue.ts'

interface Item {
  readonly level: (typeof noticeLevels)[number]
  readonly n: number
}

test('a full queue keeps the order, and drops the oldest of the least level alone', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...noticeLevels), { maxLength: 60 }),
      fc.integer({ min: 1, max: 10 }),
      (levels, most) => {
        let queue: readonly Item[] = []
        levels.forEach((level, n) => {
          const before = [...queue, { level, n }]
          const { queue: after, dropped } = pushed(queue, { level, n }, most)
          queue = after
          expect(queue.length).toBe(Math.min(most, before.length))
          expect(queue).toEqual(before.filter((each) => each.n !== dropped?.n))
          if (dropped === undefined) return
          const least = noticeLevels.find((each) => before.some((item) => item.level === each))
          expect(dropped).toEqual(before.find((each) => each.level === least))
        })
      },
    ),
    { seed: 16, numRuns: 300 },
  )
})
