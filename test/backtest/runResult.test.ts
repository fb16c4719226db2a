/** Figures of a run: the deepest fall, and how many times the costs would leave nothing. */
import { expect, test } from 'vitest'
import { breakEvenOf, drawdownOf } from '../../src/backtest/runResult.ts'
import { usd } from '../../src/protocol/units.ts'

const points = (...dollars: number[]) =>
  dollars.map((each, second) => ({ second, equityUsd: usd(each), holdUsd: 0n, longUsd: 0n, shortUsd: 0n }))

test('the deepest fall is from the highest point before it, in dollars and in parts of that point', () => {
  expect(drawdownOf(points(100, 120, 90, 130, 110))).toEqual({ usd: usd(30), bps: 2_500 })
  expect(drawdownOf(points(100, 101, 102))).toEqual({ usd: 0n, bps: 0 })
  expect(drawdownOf([])).toEqual({ usd: 0n, bps: 0 })
})

test('costs break even where they take all that was made before them; there is no such multiple without costs or without a gain', () => {
  expect(breakEvenOf(usd(100), usd(50))).toBe('3.00')
  expect(breakEvenOf(-usd(25), usd(50))).toBe('0.50')
  expect(breakEvenOf(-usd(50), usd(50))).toBeNull()
  expect(breakEvenOf(usd(10), 0n)).toBeNull()
})
