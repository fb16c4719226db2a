/** Amounts of dollars as people read them. */
import { expect, test } from 'vitest'
import { limitText } from '../../src/domain/limits/limits.ts'
import { formatAtMost, formatDollars, formatSize, MAX_UINT256, usd } from '../../src/protocol/units.ts'

test('an amount is in whole cents, and less than half of one shows its digits', () => {
  const shown = ['1234567.5', '0.2', '0.005', '0.004724', '-0.004724', '-0.1', '999.995', '0', '-12'].map(
    (text) => formatDollars(usd(text)),
  )
  const smaller = ['-0.00004997', '0.000996', '0.0000007', '-0.0000004', '-0.000001'].map((text) =>
    formatDollars(usd(text)),
  )
  expect(smaller).toEqual(['-$0.00005', '$0.001', '$0.000001', '$0.00', '-$0.000001'])
  expect(shown).toEqual([
    '$1,234,567.50',
    '$0.20',
    '$0.01',
    '$0.0047',
    '-$0.0047',
    '-$0.10',
    '$1,000.00',
    '$0.00',
    '-$12.00',
  ])
  expect(formatSize(MAX_UINT256)).toBe('all of the position')
})

test('the most that something costs is rounded up', () => {
  expect(['0.390435', '0.39', '0.000001', '0'].map((text) => formatAtMost(usd(text)))).toEqual([
    '$0.40',
    '$0.39',
    '$0.01',
    '$0.00',
  ])
})

test('what is used of a limit in dollars reads in whole cents', () => {
  expect(limitText('maxDailyLossUsd', usd('0.3'))).toBe('$0.30')
  expect(limitText('maxDailyLossUsd', usd(1_000))).toBe('$1,000.00')
  expect(limitText('maxDailyLossUsd', 0n)).toBe('$0.00')
})
