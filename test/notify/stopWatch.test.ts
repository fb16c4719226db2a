import { expect, test } from 'vitest'
import { createStopWatch } from '../../src/notify/stopWatch.ts'

test('a position without a stop is told at its second look, once, and its end too', () => {
  const look = createStopWatch()
  const told = [['long ETH'], ['long ETH'], ['long ETH', 'short BTC'], [], ['long ETH'], ['long ETH']].map(
    (sides) => look(sides).map(({ text, isEnd = false }) => [text.includes('long ETH'), isEnd]),
  )
  expect(told).toEqual([[], [[true, false]], [], [[true, true]], [], [[true, false]]])
})

test('a position that gets its stop before the second look is told to nobody', () => {
  const look = createStopWatch()
  expect([look(['long ETH']), look([]), look(['long ETH']), look([])]).toEqual([[], [], [], []])
})
