/** A report as JSON and as tables for a spreadsheet. Pure. */

import { csvText } from '../../base/csvText.ts'
import type { Difference } from '../../report/figures/compare.ts'
import { decimalOf } from '../../report/figures/figureText.ts'
import { costTable, sentenceOf, statisticTable } from '../../report/figures/statisticTable.ts'
import type { Reported } from '../../report/html/reportPage.ts'

/** Significant digits of a ratio. */
const DIGITS = 12

/** Values for JSON: amounts are decimal texts of integers with 30 decimals, ratios decimal texts. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  if ('toSignificantDigits' in value && typeof value.toSignificantDigits === 'function')
    return value.toSignificantDigits(DIGITS).toFixed()
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]))
}

function oneJson({ subject, statistics }: Reported): unknown {
  const { title, name, source, isResult, assumptions, fromSeconds, toSeconds, configuration, journalPath } =
    subject
  return {
    ...{ title, name, source, isResult, fromSeconds, toSeconds, journalPath },
    sentence: sentenceOf(statistics, isResult),
    assumptions,
    statistics: plain(statistics),
    definitions: Object.fromEntries(statisticTable.map((row) => [row.name, row.definition])),
    configuration,
  }
}

/** The JSON of one report, or of several with their differences. */
export function reportJson(reports: readonly Reported[], differences: readonly Difference[]): string {
  const [only] = reports
  const value =
    reports.length === 1 && only !== undefined
      ? oneJson(only)
      : { reports: reports.map(oneJson), differences }
  return JSON.stringify(value, undefined, 2)
}

const moment = (second: number | null): string | null =>
  second === null ? null : new Date(second * 1000).toISOString()

/** The tables of one report by file name. Amounts are plain decimals, times ISO 8601. */
export function reportCsv({ subject, statistics }: Reported): ReadonlyMap<string, string> {
  const { trades, days, months, hours, costs, costsBps } = statistics
  return new Map([
    [
      'statistics.csv',
      csvText(
        ['name', 'value', 'definition'],
        statisticTable.map(({ name, text, definition }) => [name, text(statistics), definition]),
      ),
    ],
    [
      'trades.csv',
      csvText(
        [
          ...['opened_at', 'closed_at', 'market', 'direction', 'strategy', 'size_usd', 'entry_price'],
          ...['exit_price', 'costs_usd', 'result_usd', 'open_reason', 'close_reason', 'orders'],
        ],
        trades.map((trade) => [
          ...[
            moment(trade.openedSecond),
            moment(trade.closedSecond),
            trade.market,
            trade.side,
            trade.strategy,
          ],
          ...[trade.sizeUsd, trade.entryPrice, trade.exitPrice, trade.costsUsd, trade.resultUsd].map(
            decimalOf,
          ),
          ...[trade.openReason, trade.closeReason, trade.intentIds.join(' ')],
        ]),
      ),
    ],
    [
      'equity.csv',
      csvText(
        ['at', 'equity_usd', 'hold_usd', 'long_usd', 'short_usd'],
        subject.equity.map(({ second, equityUsd, holdUsd, longUsd, shortUsd }) => [
          moment(second),
          ...[equityUsd, holdUsd, longUsd, shortUsd].map(decimalOf),
        ]),
      ),
    ],
    [
      'days.csv',
      csvText(
        ['day', 'return'],
        days.map(({ daySecond, ratio }) => [
          new Date(daySecond * 1000).toISOString().slice(0, 10),
          ratio.toSignificantDigits(DIGITS).toFixed(),
        ]),
      ),
    ],
    [
      'months.csv',
      csvText(
        ['month', 'return'],
        months.map(({ month, ratio }) => [month, ratio.toSignificantDigits(DIGITS).toFixed()]),
      ),
    ],
    [
      'hours.csv',
      csvText(
        ['hour', 'trades', 'wins', 'result_usd'],
        hours.map(({ hour, trades: count, wins, resultUsd }) => [hour, count, wins, decimalOf(resultUsd)]),
      ),
    ],
    [
      'costs.csv',
      csvText(
        ['kind', 'usd', 'bps_of_turnover'],
        costTable.map(({ kind, name }) => [
          name,
          decimalOf(costs[kind]),
          costsBps[kind]?.toSignificantDigits(DIGITS).toFixed() ?? null,
        ]),
      ),
    ],
  ])
}

/** The tables of several reports side by side. */
export function comparisonCsv(
  reports: readonly Reported[],
  differences: readonly Difference[],
): ReadonlyMap<string, string> {
  const names = reports.map(({ subject }) => subject.title)
  return new Map([
    [
      'statistics.csv',
      csvText(
        ['name', ...names],
        statisticTable.map(({ name, text }) => [name, ...reports.map(({ statistics }) => text(statistics))]),
      ),
    ],
    [
      'differences.csv',
      csvText(
        ['name', ...names],
        differences.map(({ name, values }) => [name, ...values.map((each) => each ?? null)]),
      ),
    ],
  ])
}
