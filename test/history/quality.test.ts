/** The quality of candles: ranges that are missing or stand still, and candles that leave their neighbours. */
import { expect, test } from 'vitest'
import { columnsOf } from '../../src/history/columns.ts'
import { gapsIn, rangeWithout } from '../../src/history/gaps.ts'
import { qualityOf } from '../../src/history/quality.ts'
import { usd } from '../../src/protocol/units.ts'

const START = 1_735_689_600
const candle = (minute: number, low: number, high = low) => ({
  startSeconds: START + minute * 60,
  open: usd(low),
  high: usd(high),
  low: usd(low),
  close: usd(high),
})

test('an honest series has no gap, no range without a move and no outlier', () => {
  const candles = Array.from({ length: 200 }, (_, at) => candle(at, 2000 + (at % 7), 2002 + (at % 7)))
  expect(qualityOf(columnsOf(candles).columns, '1m')).toEqual({ gaps: [], flat: [], outliers: [] })
})

test('a gap, a price that stands still and a far candle are each named by their range', () => {
  const moving = Array.from({ length: 100 }, (_, at) => candle(at, 2000 + (at % 3), 2001 + (at % 3)))
  const still = Array.from({ length: 15 }, (_, at) => candle(100 + at, 2001))
  const candles = [
    ...moving,
    ...still,
    candle(120, 2001, 2002),
    candle(121, 2002, 2400),
    candle(122, 2399, 2400),
  ]
  const { gaps, flat, outliers } = qualityOf(columnsOf(candles).columns, '1m')
  expect(gaps).toEqual([{ fromSeconds: START + 115 * 60, toSeconds: START + 120 * 60 }])
  expect(flat).toEqual([{ fromSeconds: START + 100 * 60, toSeconds: START + 115 * 60 }])
  expect(outliers).toEqual([{ atSeconds: START + 121 * 60, moveBps: 1988 }])
})

test('the ends of a range count: what is missing before the first candle and after the last is a gap', () => {
  expect(gapsIn([120, 180], 60, { fromSeconds: 30, toSeconds: 300 })).toEqual([
    { fromSeconds: 60, toSeconds: 120 },
    { fromSeconds: 240, toSeconds: 300 },
  ])
  expect(gapsIn([], 60, { fromSeconds: 0, toSeconds: 60 })).toEqual([{ fromSeconds: 0, toSeconds: 60 }])
  expect(gapsIn([0], 60, { fromSeconds: 0, toSeconds: 60 })).toEqual([])
})

test('what is left of a range is what no other range covers', () => {
  const covered = [
    { fromSeconds: 0, toSeconds: 10 },
    { fromSeconds: 20, toSeconds: 30 },
  ]
  expect(rangeWithout({ fromSeconds: 5, toSeconds: 40 }, covered)).toEqual([
    { fromSeconds: 10, toSeconds: 20 },
    { fromSeconds: 30, toSeconds: 40 },
  ])
  expect(rangeWithout({ fromSeconds: 0, toSeconds: 10 }, covered)).toEqual([])
})
