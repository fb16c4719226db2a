/** Limits in the units that a trader reads. */
import { expect, test } from 'vitest'
import { limitWords } from '../../src/cli/output/limitWords.ts'

test.each([
  ['maxSlippageBps', '100', '1%'],
  ['maxDailyLossEquityBps', '500', '5% of equity a day'],
  ['maxWishEquityBps', '500000', '50x equity'],
  ['capacityHeadroomBps', '1000', '10% of capacity'],
  ['maxDrawdownBps', '2000', '20%'],
  ['maxLeverageBps', '25000', '2.5x'],
  ['maxOrderSizeUsd', '$2,500.00', '$2,500.00'],
  ['maxDailyLossUsd', '$1,000.00', '$1,000.00 a day'],
  ['relayFeesPerDayUsd', '$100.00', '$100.00 a day'],
  ['executionFeesPerDay', '0.2', '0.2 ETH a day'],
  ['maxOrdersPerHour', '60', '60 an hour'],
  ['attemptsPerCause', '12', '12 a day'],
  ['rejectsInRow', '5', '5 in a row'],
  ['maxDataAgeMs', '15000', '15 s'],
  ['reserveSeconds', '3600', '1 h 0 min'],
  ['drawdown', 'halted', 'halted'],
  ['executionFeesPerDay', 'none', 'none'],
])('%s of %s is told as %s', (limit, value, words) => {
  expect(limitWords(limit, value, 'ETH')).toBe(words)
})
