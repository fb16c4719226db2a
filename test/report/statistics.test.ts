/** Statistics of a report, by vectors that were computed by hand; the arithmetic stands beside each. */
import { expect, test } from 'vitest'
import { differencesOf } from '../../src/report/figures/compare.ts'
import { Ratio } from '../../src/report/figures/dailyReturns.ts'
import { histogramOf } from '../../src/report/figures/histogram.ts'
import { statisticsOf } from '../../src/report/figures/statistics.ts'
import { sentenceOf, statisticTable } from '../../src/report/figures/statisticTable.ts'
import { DAY, start, subject, trade, usd, worth } from './subjects.ts'

const near = (value: { toNumber(): number } | null): number => Number(value?.toNumber().toFixed(9))

test('daily returns of 10, -10 and 10 percent give Sharpe, Sortino, Calmar and the drawdown', () => {
  const { days, sharpe, sortino, calmar, yearlyReturn, drawdown, madeUsd } = statisticsOf(subject())
  expect(days.map(({ ratio }) => ratio.toString())).toEqual(['0.1', '-0.1', '0.1'])
  // Mean 1/30, sample deviation sqrt(0.08 / 6) = 2 / (10 sqrt 3): sqrt(365 / 12).
  expect(near(sharpe)).toBe(near(new Ratio(365).div(12).sqrt()))
  // Downside sqrt(0.01 / 3): (1/30) / (0.1 / sqrt 3) = 1 / sqrt 3, times sqrt 365.
  expect(near(sortino)).toBe(near(new Ratio(365).div(3).sqrt()))
  // 1.089 ^ (365 / 3) - 1, and the same over 0.1.
  expect(yearlyReturn?.toNumber()).toBeCloseTo(31_992.275338, 5)
  expect(calmar?.toNumber()).toBeCloseTo(319_922.75338, 4)
  expect(madeUsd).toBe(usd('8.9'))
  expect(drawdown).toMatchObject({
    usd: usd(11),
    peakSecond: start + DAY,
    lowSecond: start + 2 * DAY,
    lengthSeconds: 2 * DAY,
    longestSeconds: 2 * DAY,
    hasRecovered: false,
  })
  expect(drawdown.ratio?.toString()).toBe('0.1')
})

test('holding is a curve of its own, with its own drawdown', () => {
  const { holdMadeUsd, holdRatio, holdDrawdown } = statisticsOf(subject())
  expect([holdMadeUsd, holdRatio?.toString(), holdDrawdown?.usd]).toEqual([usd(50), '0.5', usd(10)])
  expect(holdDrawdown?.hasRecovered).toBe(true)
})

test('the deepest drawdown by share is not the longest one, nor the one of most dollars', () => {
  // 100 to 50 is half, and is over on the third day; 1000 to 600 is two fifths, 400 dollars, and lasts four days.
  const curve = [100, 50, 60, 1000, 600, 700, 800, 1000].map((dollars, day) => worth(day, dollars))
  const { drawdown } = statisticsOf(subject({ equity: curve }))
  expect(drawdown).toMatchObject({
    usd: usd(50),
    lengthSeconds: 3 * DAY,
    hasRecovered: true,
    longestSeconds: 4 * DAY,
  })
})

test('a deposit is no gain and a withdrawal no fall', () => {
  const moved = subject({
    equity: [worth(0, 100), worth(1, 160), worth(2, 60)],
    transfers: [
      { second: start + DAY / 2, amountUsd: usd(50) },
      { second: start + DAY * 1.5, amountUsd: usd(-100) },
    ],
  })
  const { days, madeUsd, transfersUsd, drawdown } = statisticsOf(moved)
  expect(days.map(({ ratio }) => ratio.toString())).toEqual(['0.1', '0'])
  expect([madeUsd, transfersUsd, drawdown.usd]).toEqual([usd(10), usd(-50), 0n])
})

test('months compound their days, and a day without a figure has no return', () => {
  // 31 January ends at 110; 1 February has no figure; 2 February ends at 121.
  const january = Date.UTC(2024, 0, 31) / 1000
  const at = (second: number, dollars: number) => ({ ...worth(0, dollars), second })
  const { days, months } = statisticsOf(
    subject({
      equity: [
        at(january, 100),
        at(january + 3_600, 105),
        at(january + DAY, 110),
        at(january + 3 * DAY, 121),
      ],
    }),
  )
  expect(days.map(({ ratio }) => ratio.toString())).toEqual(['0.1', '0', '0.1'])
  expect(months.map(({ month, ratio }) => [month, ratio.toString()])).toEqual([
    ['2024-01', '0.1'],
    ['2024-02', '0.1'],
  ])
})

test('four trades give profit factor, expectancy, win ratio and SQN', () => {
  const { tradeFigures } = statisticsOf(
    subject({ trades: [trade(10), trade(-5), trade(10), trade(5), trade(99, { closedSecond: null })] }),
  )
  expect(tradeFigures).toMatchObject({
    closed: 4,
    open: 1,
    wins: 3,
    expectancyUsd: usd(5),
    bestUsd: usd(10),
    worstUsd: usd(-5),
  })
  // 25 over 5; 5 over 5; mean 5 over sqrt(150 / 3) times 2 is the root of 2.
  expect([tradeFigures.profitFactor, tradeFigures.expectancyR, tradeFigures.winRatio].map(String)).toEqual([
    '5',
    '1',
    '0.75',
  ])
  expect(near(tradeFigures.sqn)).toBe(near(new Ratio(2).sqrt()))
})

test('what there is nothing to divide by is null, not zero and not infinite', () => {
  const alike = statisticsOf(subject({ trades: [trade(5), trade(5)], turnoverUsd: 0n }))
  expect(alike.tradeFigures).toMatchObject({ profitFactor: null, expectancyR: null, sqn: null })
  expect([alike.allCostsBps, alike.costsBps.relayUsd]).toEqual([null, null])
  const flat = statisticsOf(subject({ equity: [worth(0, 100), worth(1, 100), worth(2, 100)] }))
  expect([flat.sharpe, flat.sortino, flat.calmar]).toEqual([null, null, null])
  const nothing = statisticsOf(subject({ equity: [], turnoverUsd: 0n }))
  expect(nothing).toMatchObject({ days: [], sharpe: null, madeRatio: null, holdMadeUsd: null })
  const fromZero = statisticsOf(subject({ equity: [worth(0, 0), worth(1, 5)] }))
  expect(fromZero).toMatchObject({ days: [], madeUsd: usd(5), madeRatio: null, yearlyReturn: null })
})

test('a curve of results that begins with nothing has falls in dollars, and no ratio of returns', () => {
  const results = [0, -30, 20, -20, -20].map((dollars, day) => worth(day, dollars))
  const { drawdown, ...others } = statisticsOf(subject({ equity: results }))
  expect(drawdown).toMatchObject({ usd: usd(40), ratio: null, lengthSeconds: 2 * DAY, hasRecovered: false })
  expect(others).toMatchObject({
    madeUsd: usd(-20),
    days: [],
    sharpe: null,
    yearlyReturn: null,
    turnoverTimes: null,
  })
})

test('time in market counts overlapping trades once, and an open one until the end', () => {
  const span = (from: number, to: number | null) =>
    trade(1, { openedSecond: start + from, closedSecond: to === null ? null : start + to })
  const trades = [span(0, 100), span(50, 200), span(300, null)]
  const equity = [0, 1].map((days) => ({ ...worth(days, 100), longUsd: null, shortUsd: null }))
  const { timeInMarket } = statisticsOf(subject({ toSeconds: start + 400, trades, equity }))
  expect(timeInMarket?.toString()).toBe('0.75')
})

test('time in market is the share of moments with an open position where the curve has sizes', () => {
  const equity = [0n, usd(5), 0n].map((longUsd, day) => ({ ...worth(day, 100), longUsd }))
  const { timeInMarket } = statisticsOf(subject({ equity, trades: [trade(1, { closedSecond: null })] }))
  expect(timeInMarket?.toString()).toBe('0.3333')
  const short = statisticsOf(subject({ equity: equity.map((each) => ({ ...each, shortUsd: usd(1) })) }))
  expect(short.timeInMarket?.toString()).toBe('1')
})

test('one day gives no return a year, Sharpe, Sortino, Calmar or t statistic', () => {
  const day = statisticsOf(subject({ equity: [worth(0, 100), worth(0.5, 90), worth(1, 95)] }))
  expect(day.days).toHaveLength(1)
  const { yearlyReturn, sharpe, sortino, calmar, tStatistic } = day
  expect([yearlyReturn, sharpe, sortino, calmar, tStatistic]).toEqual([null, null, null, null, null])
  const shown = statisticTable.filter(({ text }) => text(day) === '-').map(({ name }) => name)
  expect(shown).toEqual(expect.arrayContaining(['Return a year', 'Sortino', 'Calmar']))
})

test('costs are split by kind, in basis points of the turnover', () => {
  const { costsUsd, costsBps, allCostsBps, turnoverTimes } = statisticsOf(subject())
  expect(costsUsd).toBe(usd('1.8'))
  // 1 of 2000 is 5 bps; 1.8 of 2000 is 9.
  expect([costsBps.positionFeeUsd, costsBps.impactUsd, allCostsBps].map(String)).toEqual(['5', '-2.5', '9'])
  // Mean equity 417.9 / 4.
  expect(turnoverTimes?.toNumber()).toBeCloseTo(2000 / 104.475, 9)
})

test('results by hour go by the hour of the first fill, open trades left out', () => {
  const { hours } = statisticsOf(
    subject({
      trades: [
        trade(10, { openedSecond: start + 3_600 * 5 }),
        trade(-4, { openedSecond: start + DAY + 3_600 * 5 + 3_599 }),
        trade(7, { openedSecond: start + 3_600 * 5, closedSecond: null }),
      ],
    }),
  )
  expect(hours[5]).toEqual({ hour: 5, trades: 2, wins: 1, resultUsd: usd(6) })
  expect(hours.filter(({ trades }) => trades > 0)).toHaveLength(1)
})

test('a distribution holds every value once, in spans of a round width', () => {
  const buckets = histogramOf([-3, -0.1, 0, 0.1, 7.9, 8].map((each) => new Ratio(each)))
  expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(6)
  expect(buckets[0]).toMatchObject({ from: -3, to: -2.5, count: 1 })
  expect(buckets.at(-1)).toMatchObject({ from: 8, count: 1 })
  expect(histogramOf([new Ratio(0)])).toEqual([{ from: 0, to: 1, count: 1 }])
  expect(histogramOf([])).toEqual([])
})

test('the sentence says what it made after costs, against holding, and the worst drawdown', () => {
  expect(sentenceOf(statisticsOf(subject()), true)).toBe(
    'It made $8.90 after all costs (+8.90 %); holding made +$50.00; the worst drawdown was $11.00 (10.00 %). 3 days are too few for a judgement.',
  )
  expect(sentenceOf(statisticsOf(subject()), false)).toMatch(/^No result/)
})

/** A hundred days of which three of four gain `up` percent and the fourth loses one. */
function hundredDays(up: number) {
  let dollars = new Ratio(100)
  const equity = [worth(0, '100')]
  for (let day = 1; day <= 100; day += 1) {
    dollars = dollars.times(new Ratio(100).plus(day % 4 === 0 ? -1 : up).div(100))
    equity.push(worth(day, dollars.toFixed(30)))
  }
  return statisticsOf(subject({ equity, toSeconds: start + 100 * DAY }))
}

test('of 90 days and more the sentence says how far chance alone may have made the result', () => {
  // A gain of g in 75 days and a loss of 1 in 25: mean 0.75 g - 0.25, sample deviation (g + 1) sqrt(18.75 / 99), over ten.
  const tOf = (gain: number) =>
    new Ratio(0.75 * gain - 0.25).times(10).div(
      new Ratio(18.75)
        .div(99)
        .sqrt()
        .times(gain + 1),
    )
  expect(near(hundredDays(0.4).tStatistic)).toBe(near(tOf(0.4)))
  expect(sentenceOf(hundredDays(0.4), true)).toMatch(
    /The mean daily return is 0\.82 standard errors above zero: less than 2 is not told from chance\.$/,
  )
  expect(sentenceOf(hundredDays(1), true)).toMatch(
    /is 5\.74 standard errors above zero: chance alone seldom does that, unless many files were tried\.$/,
  )
  const flat = statisticsOf(subject({ equity: [worth(0, 1), worth(99, 1)], toSeconds: start + 99 * DAY }))
  expect(sentenceOf(flat, true)).toMatch(/Without daily returns that differ/)
  expect(sentenceOf(hundredDays(-0.9), true)).toMatch(/standard errors below zero: chance alone/)
})

test('a comparison names the settings that differ, those that one lacks too', () => {
  const differences = differencesOf([
    { configuration: { seed: '1', chain: 'arbitrum', 'model.skewBps': '300' } },
    { configuration: { seed: '2', chain: 'arbitrum' } },
  ])
  expect(differences).toEqual([
    { name: 'seed', values: ['1', '2'] },
    { name: 'model.skewBps', values: ['300', undefined] },
  ])
})
