/** Limits in the units that a trader reads. */
import { expect, test } from 'vitest'
import { limitWords } from '../../src/cli/output/limitWords.ts'
import { settings } from '../../src/config/configSchema.ts'
import { limitSetName } from '../../src/domain/limits/limits.ts'
import { breakerTightness } from '../../src/risk/breakers/circuitBreakers.ts'

test.each([
  ['maxSlippageBps', '100', '1% (100 bps)'],
  ['maxDailyLossEquityBps', '500', '5% of equity a day (500 bps)'],
  ['maxWishEquityBps', '500000', '50x equity (500000 bps)'],
  ['capacityHeadroomBps', '1000', '10% of capacity (1000 bps)'],
  ['maxDrawdownBps', '2000', '20% (2000 bps)'],
  ['maxLeverageBps', '25000', '2.5x'],
  ['maxOrderSizeUsd', '$2,500.00', '$2,500.00'],
  ['maxDailyLossUsd', '$1,000.00', '$1,000.00 a day'],
  ['relayFeesPerDayUsd', '$100.00', '$100.00 a day'],
  ['executionFeesPerDay', '0.2', '0.2 ETH a day'],
  ['maxOrdersPerHour', '60', '60 an hour'],
  ['attemptsPerCause', '12', '12 a day'],
  ['rejectsInRow', '5', '5 in a row'],
  ['maxDataAgeMs', '15000', '15 s (15000 ms)'],
  ['reserveSeconds', '3600', '60 min'],
  ['drawdown', 'halted', 'halted'],
  ['executionFeesPerDay', 'none', 'none'],
])('%s of %s is told as %s', (limit, value, words) => {
  expect(limitWords('account', limit, value, 'ETH')).toBe(words)
})

test('limits are called as the settings and files that take them call them', () => {
  const names = [
    ['account', 'maxLeverageBps'],
    ['strategy eth-trend', 'maxLeverageBps'],
    ['account', 'maxDataAgeMs'],
    ['strategy eth-trend', 'maxDataAgeMs'],
    ['breakers', 'unknownAgeMs'],
    ['breakers', 'drawdown'],
  ] as const
  expect(names.map(([scope, limit]) => limitSetName(scope, limit))).toEqual([
    'maxLeverage',
    'maxLeverage',
    'maxDataAgeMs',
    'maxDataAgeSeconds',
    'unknownSeconds',
    'drawdown',
  ])
  expect(limitWords('strategy eth-trend', 'maxDataAgeMs', '15000', 'ETH')).toBe('15 s')
})

test('each figure of a breaker has the name of a setting', () => {
  const keys = new Set(settings.map(({ key }) => key.split('.').at(-1)))
  for (const name of Object.keys(breakerTightness)) expect(keys).toContain(limitSetName('breakers', name))
})
