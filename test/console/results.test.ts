/** Results as the page draws them: weeks and days that add up, empty days, and at most eight lines. */
import { expect, test } from 'vitest'
import type { PnlLine } from '../../src/control/console/page/pageWire.ts'
import { calendarOf, lastDays, linesOf } from '../../src/control/console/page/shownResults.ts'
import { usd } from '../../src/protocol/units.ts'

const line = (name: string, cents: string, each?: string): PnlLine =>
  ({
    name,
    centsUsd: String(usd(cents)),
    trades: 2,
    wins: 1,
    ...(each === undefined ? {} : { each }),
  }) as PnlLine

test('weeks of the calendar begin on Monday, newest first, and sum their days; a day without a row is empty and not zero', () => {
  // The clocks of Europe change on Sunday 28 March 2027; days are UTC.
  const weeks = calendarOf([
    line('2027-03-18', '1.10'),
    line('2027-03-28', '-0.30'),
    line('2027-03-29', '0'),
    line('2027-03-31', '2'),
  ])
  expect(weeks.map(({ start, centsUsd }) => [start, centsUsd])).toEqual([
    ['2027-03-29', usd(2)],
    ['2027-03-22', usd('-0.30')],
    ['2027-03-15', usd('1.10')],
  ])
  expect(weeks.every(({ days }) => days.length === 7)).toBe(true)
  expect(weeks[0]?.days.slice(0, 3)).toEqual([
    { day: '2027-03-29', centsUsd: 0n },
    { day: '2027-03-30' },
    { day: '2027-03-31', centsUsd: usd(2) },
  ])
  expect(weeks[1]?.days.at(-1)).toEqual({ day: '2027-03-28', centsUsd: usd('-0.30') })
  expect(calendarOf([])).toEqual([])
})

test('bars end with the newest day that has a result', () => {
  const rows = [line('2027-03-18', '1'), line('2027-03-31', '2')]
  expect(lastDays(rows, 3).map(({ day }) => day)).toEqual(['2027-03-29', '2027-03-30', '2027-03-31'])
  expect(lastDays(rows, 60)).toHaveLength(17)
})

test('at most eight lines are drawn, the largest results first; the rest is one line, and all add up', () => {
  const rows = Array.from({ length: 11 }, (_, n) => [
    line('2027-03-18', `${n}.01`, `s${n}`),
    line('2027-03-19', n % 2 === 0 ? '-0.50' : '0.25', `s${n}`),
  ]).flat()
  const { days, lines } = linesOf(rows, 'others')
  expect(days).toEqual(['2027-03-18', '2027-03-19'])
  expect(lines).toHaveLength(8)
  expect(lines[0]?.name).toBe('s10')
  expect(lines.at(-1)).toMatchObject({ name: 'others', trades: 16, wins: 8 })
  const all = rows.reduce((sum, { centsUsd }) => sum + BigInt(centsUsd), 0n)
  expect(lines.reduce((sum, { centsUsd }) => sum + centsUsd, 0n)).toBe(all)
  for (const { sumsUsd, centsUsd } of lines) expect(sumsUsd.at(-1)).toBe(centsUsd)
  expect(linesOf(rows.slice(0, 16), 'others').lines.map(({ name }) => name)).not.toContain('others')
})
