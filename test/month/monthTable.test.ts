/** Tables of months: a kind's row is the mean of its months with the worst and the best beside it, and what was written reads back. */
import { expect, test } from 'vitest'
import { noFigures } from '../../src/books/figures.ts'
import { monthJson, monthRow, monthsOfJson, sumHead, sumRow } from './monthTable.ts'
import type { MonthReport } from './monthTally.ts'

const usd = (cents: number): bigint => BigInt(cents) * 10n ** 28n
const month = (seed: number, pnl: number, change: Partial<MonthReport> = {}): MonthReport => ({
  kind: 'grid',
  seed,
  days: 30,
  results: {
    ...noFigures,
    pnlUsd: usd(pnl),
    positionFeesUsd: usd(300),
    relayFeesUsd: usd(100),
    trades: 4,
    wins: seed,
  },
  unrealizedUsd: usd(-50),
  drawdownUsd: usd(1000 * seed),
  heldBps: 2_000 * seed,
  ends: {},
  tasksBegun: 0,
  tasksEnded: 0,
  refusedIncreases: {},
  problems: seed === 2 ? ['1.0 h: something'] : [],
  requests: 1,
  lost: 0,
  ...change,
})
const months = [month(1, -500), month(2, 1_000), month(3, -2_000)]

test('a kind has the mean of its months, the worst and the best of them, and the deepest drawdown', () => {
  expect(sumRow(months)).toBe(
    '| grid | 3 | 30 | 12 | 50 % | -3.00 | -1.00 | 0.00 | 0.00 | -5.00 | -0.50 | -5.50 | -20.50 | 9.50 | -30.00 | 40 % | 1 |',
  )
  expect(sumRow(months)?.split('|')).toHaveLength(sumHead.split('\n')[0]?.split('|').length ?? 0)
  expect(sumRow([])).toBeUndefined()
})

test('months that were written read back the same', () => {
  const read = monthsOfJson(monthJson(months))
  expect(read).toEqual(months)
  expect(read.map(monthRow)).toEqual(months.map(monthRow))
})
