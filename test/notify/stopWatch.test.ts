import { expect, test } from 'vitest'
import { createStopWatch } from '../../src/notify/stopWatch.ts'
import { usd } from '../../src/protocol/units.ts'

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
