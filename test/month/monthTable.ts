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

/** One row for each month; sums are not averaged away, so that the worst seed is seen. */
export function monthTable(reports: readonly MonthReport[]): string {
  const head = [
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
  const rows = reports.map((report) => {
    const { kind, seed, days, results, unrealizedUsd, drawdownUsd, heldBps, problems } = report
    const { trades, wins, positionFeesUsd, relayFeesUsd, impactUsd, fundingUsd, borrowingUsd, pnlUsd } =
      results
    return [
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
    ]
  })
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`
  const wrong = reports.flatMap(({ kind, seed, problems }) =>
    problems.map((problem) => `${kind} seed ${seed}, ${problem}`),
  )
  return [line(head), line(head.map(() => '---')), ...rows.map(line), ...wrong].join('\n')
}

/** The same for programs: amounts as decimal texts of base units, like everywhere. */
export function monthJson(reports: readonly MonthReport[]): string {
  return JSON.stringify(toPlain(reports), undefined, 2)
}
