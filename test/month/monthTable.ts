/** Months as a Markdown table and as JSON. */
import type { RunResult } from '../../src/backtest/runFiles.ts'
import { toPlain } from '../../src/domain/summaries/orderView.ts'
import { formatUnits, USD_DECIMALS, type Usd } from '../../src/protocol/units.ts'
import type { MonthReport } from './monthTally.ts'

const cents = 10n ** BigInt(USD_DECIMALS - 2)

/** Dollars and cents, rounded half away from zero. */
function money(amount: Usd): string {
  const size = amount < 0n ? -amount : amount
  const rounded = (size + cents / 2n) / cents
  const [whole, part = ''] = formatUnits(rounded, 2).split('.')
  return `${amount < 0n && rounded > 0n ? '-' : ''}${whole}.${part.padEnd(2, '0')}`
}

/** A share of bps in whole percent. */
const percent = (bps: number): string => `${Math.round(bps / 100)} %`

const titles = [
  'kind',
  'seed',
  'days',
  'trades',
  'won',
  'fees',
  'sending',
  'impact',
  'funding',
  'PnL',
  'open',
  'drawdown',
  'held',
  'wrong',
]

const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`

/** The head of the table. */
export const monthHead = [line(titles), line(titles.map(() => '---'))].join('\n')

/** The row of one month. */
export function monthRow(report: MonthReport): string {
  const { kind, seed, days, results, unrealizedUsd, drawdownUsd, heldBps, problems } = report
  const { trades, wins, positionFeesUsd, relayFeesUsd, impactUsd, fundingUsd, borrowingUsd, pnlUsd } = results
  return line([
    kind,
    seed,
    Number(days.toFixed(1)),
    trades,
    trades === 0 ? '' : percent((wins * 10_000) / trades),
    money(-positionFeesUsd),
    money(-relayFeesUsd),
    money(impactUsd),
    money(-fundingUsd - borrowingUsd),
    money(pnlUsd),
    money(unrealizedUsd),
    money(-drawdownUsd),
    percent(heldBps),
    problems.length,
  ])
}

const sumTitles = [
  'kind',
  'seeds',
  'days',
  'trades',
  'won',
  'fees',
  'sending',
  'impact',
  'funding',
  'PnL',
  'open',
  'came to',
  'worst',
  'best',
  'drawdown',
  'held',
  'wrong',
]

/** The head of the table of kinds. */
export const sumHead = [line(sumTitles), line(sumTitles.map(() => '---'))].join('\n')

/**
 * The row of a kind over several months: the mean of a month, beside it the month that came to least and the one that came to most (PnL
 * and what is open together), and the deepest drawdown of any. Trades and wrongs are those of all months. Undefined without a month.
 */
export function sumRow(reports: readonly MonthReport[]): string | undefined {
  const [first] = reports
  if (first === undefined) return undefined
  const count = reports.length
  const total = (read: (report: MonthReport) => number): number =>
    reports.reduce((all, each) => all + read(each), 0)
  const mean = (read: (report: MonthReport) => Usd): Usd =>
    reports.reduce((all, each) => all + read(each), 0n) / BigInt(count)
  const cameTo = ({ results, unrealizedUsd }: MonthReport): Usd => results.pnlUsd + unrealizedUsd
  const ranked = reports.map(cameTo).sort((one, other) => (one < other ? -1 : one > other ? 1 : 0))
  const deepest = reports.reduce((most, { drawdownUsd }) => (drawdownUsd > most ? drawdownUsd : most), 0n)
  const trades = total(({ results }) => results.trades)
  return line([
    first.kind,
    count,
    Number((total(({ days }) => days) / count).toFixed(1)),
    trades,
    trades === 0 ? '' : percent((total(({ results }) => results.wins) * 10_000) / trades),
    money(mean(({ results }) => -results.positionFeesUsd)),
    money(mean(({ results }) => -results.relayFeesUsd)),
    money(mean(({ results }) => results.impactUsd)),
    money(mean(({ results }) => -results.fundingUsd - results.borrowingUsd)),
    money(mean(({ results }) => results.pnlUsd)),
    money(mean(({ unrealizedUsd }) => unrealizedUsd)),
    money(mean(cameTo)),
    money(ranked[0] ?? 0n),
    money(ranked.at(-1) ?? 0n),
    money(-deepest),
    percent(total(({ heldBps }) => heldBps) / count),
    total(({ problems }) => problems.length),
  ])
}

/** Terms of the months of the table by `perpd backtest`. */
export const backtestTerms = { seed: 1, days: 30, turnSeconds: 420 } as const

const backtestTitles = [
  ...['kind', 'trades', 'won', 'fees', 'sending', 'impact', 'funding', 'came to', 'drawdown', 'held'],
]

/** The head of that table. */
export const backtestHead = [line(backtestTitles), line(backtestTitles.map(() => '---'))].join('\n')

/** The row of a kind's month by `perpd backtest`. */
export function backtestRow(kind: string, result: RunResult): string {
  const { trades, wins, costs, madeUsd, maxDrawdownUsd, heldBps } = result
  return line([
    kind,
    trades,
    trades === 0 ? '' : percent((wins * 10_000) / trades),
    money(-costs.positionFeesUsd),
    money(-costs.sendingUsd),
    money(-costs.impactUsd),
    money(-costs.fundingUsd - costs.borrowingUsd),
    money(madeUsd),
    money(-maxDrawdownUsd),
    percent(heldBps),
  ])
}

/** The months that `monthJson` wrote. */
export function monthsOfJson(text: string): MonthReport[] {
  return JSON.parse(text, (name, value: unknown) =>
    typeof value === 'string' && /(Usd|Fees)$/.test(name) ? BigInt(value) : value,
  ) as MonthReport[]
}

/** The same for programs: amounts as decimal texts of base units, like everywhere. */
export function monthJson(reports: readonly MonthReport[]): string {
  return JSON.stringify(toPlain(reports), undefined, 2)
}
