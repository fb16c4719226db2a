/** Ratios of risk, and of chance: Sharpe, Sortino, Calmar, SQN and the t statistic. Pure. */
import type { Decimal } from 'decimal.js'
import { compounded, type DayReturn, Ratio } from './dailyReturns.ts'

/** Days of a year: a market that never closes. */
const YEAR_DAYS = 365
/** Fewer daily returns than this tell nothing of a year. */
const LEAST_DAYS = 2

/** The mean; null of nothing. */
function meanOf(values: readonly Decimal[]): Decimal | null {
  return values.length === 0
    ? null
    : values.reduce((sum, each) => sum.plus(each), new Ratio(0)).div(values.length)
}

/** The standard deviation of a sample (divided by n - 1); null of fewer than two. */
function deviationOf(values: readonly Decimal[]): Decimal | null {
  const mean = meanOf(values)
  if (mean === null || values.length < 2) return null
  const squares = values.reduce((sum, each) => sum.plus(each.minus(mean).pow(2)), new Ratio(0))
  return squares.div(values.length - 1).sqrt()
}

/** Sharpe: the mean of the daily returns over their sample deviation, times the square root of 365. No interest is taken off. Null where the deviation is 0 or less than two days are there. */
export function sharpeOf(days: readonly DayReturn[]): Decimal | null {
  const ratios = days.map(({ ratio }) => ratio)
  return overDeviation(meanOf(ratios), deviationOf(ratios), YEAR_DAYS)
}

/** The t statistic: the mean of the daily returns over its standard error, which is their sample deviation over the square root of their number. Null where Sharpe is. */
export function tStatisticOf(days: readonly DayReturn[]): Decimal | null {
  const ratios = days.map(({ ratio }) => ratio)
  return overDeviation(meanOf(ratios), deviationOf(ratios), ratios.length)
}

/** Sortino: the mean of the daily returns over the root of the mean of the squared negative ones, counted over all days, times the square root of 365. Null of fewer than two days and without a losing one. */
export function sortinoOf(days: readonly DayReturn[]): Decimal | null {
  if (days.length < LEAST_DAYS) return null
  const ratios = days.map(({ ratio }) => ratio)
  const squares = ratios.map((ratio) => (ratio.isNegative() ? ratio.pow(2) : new Ratio(0)))
  return overDeviation(meanOf(ratios), meanOf(squares)?.sqrt() ?? null, YEAR_DAYS)
}

/** The compounded return, scaled to 365 days. Null of fewer than two days, and where everything was lost. */
export function yearlyReturn(days: readonly DayReturn[]): Decimal | null {
  const grown = compounded(days).plus(1)
  if (days.length < LEAST_DAYS || !grown.isPositive() || grown.isZero()) return null
  return grown.pow(new Ratio(YEAR_DAYS).div(days.length)).minus(1)
}

/** Calmar: the return scaled to 365 days over the largest drawdown as a share. Null of fewer than two days and without a drawdown. */
export function calmarOf(days: readonly DayReturn[], drawdown: Decimal | null): Decimal | null {
  const year = yearlyReturn(days)
  return year === null || drawdown === null || drawdown.isZero() ? null : year.div(drawdown)
}

/** SQN: the mean of the trades' results over their sample deviation, times the square root of their number. Null of fewer than two trades, or where all are alike. */
export function sqnOf(results: readonly Decimal[]): Decimal | null {
  return overDeviation(meanOf(results), deviationOf(results), results.length)
}

function overDeviation(mean: Decimal | null, deviation: Decimal | null, count: number): Decimal | null {
  if (mean === null || deviation === null || deviation.isZero()) return null
  return mean.div(deviation).times(new Ratio(count).sqrt())
}
