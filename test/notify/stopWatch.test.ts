import { expect, test } from 'vitest'
import { createIncidents } from '../../src/monitor/incidents/incidents.ts'
import type { UnprotectedSide } from '../../src/monitor/incidents/unprotected.ts'
import { usd } from '../../src/protocol/units.ts'

/** Takes the sides of looks half a minute apart; gives what is told of each. */
function createStopWatch() {
  const incidents = createIncidents({ now: () => 0 })
  let nowMs = 0
  return (sides: readonly UnprotectedSide[]) => {
    nowMs += 30_000
    return incidents.look(sides, nowMs).map(({ notice }) => notice)
  }
}

const bare = (side: string, uncoveredUsd = 500) => ({ side, uncoveredUsd: usd(uncoveredUsd) })

test('a position without a stop is told at its second look, once, and its end too', () => {
  const look = createStopWatch()
  const told = [['long ETH'], ['long ETH'], ['long ETH', 'short BTC'], [], ['long ETH'], ['long ETH']].map(
    (sides) =>
      look(sides.map((side) => bare(side))).map(({ text, isEnd = false }) => [
        text.includes('long ETH'),
        isEnd,
      ]),
  )
  expect(told).toEqual([[], [[true, false]], [], [[true, true]], [], [[true, false]]])
})

test('a position that gets its stop before the second look is told to nobody', () => {
  const look = createStopWatch()
  expect([look([bare('long ETH')]), look([]), look([bare('long ETH')]), look([])]).toEqual([[], [], [], []])
})

test('the message says how much no stop would close, of positions with one name together', () => {
  const look = createStopWatch()
  const sides = [bare('long ETH', 3_900), bare('long ETH', 100)]
  look(sides)
  expect(look(sides).map(({ text }) => text)).toEqual([expect.stringContaining('$4,000.00 of long ETH')])
  // That it is another amount is no other position.
  expect(look([bare('long ETH', 200)])).toEqual([])
})

test('twice as much without a stop as was told is told again, after two looks that show it', () => {
  const look = createStopWatch()
  const told = [100, 100, 100, 190, 4_000, 100, 4_000, 4_000, 4_100].map((uncovered) =>
    look([bare('long ETH', uncovered)]).map(({ text }) => /\$[\d,.]+/.exec(text)?.[0]),
  )
  // An entry whose stop follows a moment later is seen by one look alone.
  expect(told).toEqual([[], ['$100.00'], [], [], [], [], [], ['$4,000.00'], []])
  expect(look([])).toMatchObject([{ isEnd: true }])
})

test('a stop that is lost again and again is told no more often within an hour than one that stays lost', () => {
  const look = createStopWatch()
  let nowMs = 0
  const toldAt: number[] = []
  for (let turn = 0; turn < 4; turn++) {
    for (const uncovered of [4_000, 4_000, 100, 100]) {
      nowMs += 30_000
      const told = look([bare('long ETH', uncovered)])
      toldAt.push(...told.map(() => nowMs / 30_000))
    }
  }
  expect(toldAt).toEqual([2])
})
