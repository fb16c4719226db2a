/** Months as a Markdown table and as JSON. */
import { toPlain } from '../../src/domain/views/orderView.ts'
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

/** The row of one month; months are not averaged, so that the worst seed is seen. */
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

/** The same for programs: amounts as decimal texts of base units, like everywhere. */
export function monthJson(reports: readonly MonthReport[]): string {
  return JSON.stringify(toPlain(reports), undefined, 2)
}
