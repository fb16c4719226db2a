/** A trial for people and for programs: its decisions, with repeated refusals as one row, and what came of it. */
import { formatPrice } from '../../protocol/priceText.ts'
import { formatDollars, formatUnits, USD_DECIMALS, type Usd } from '../../protocol/units.ts'
import { type Column, table } from '../output/table.ts'
import type { Trial, TrialRow } from './runTrial.ts'
import type { TrialFill } from './trialVenue.ts'

/** Result of one situation. */
export interface TrialSummary {
  readonly situation: string
  readonly says: string
  /** Decisions of the kind, and those for the exits of the file. */
  readonly decisions: number
  /** Decisions for the exits of the file alone. */
  readonly exitDecisions: number
  readonly taken: number
  /** By code. */
  readonly denied: Readonly<Record<string, number>>
  readonly invalid: number
  readonly trades: number
  /** After fees, USD as decimal text, signed. */
  readonly resultUsd: string
  readonly maxDrawdownUsd: string
  readonly failed: Trial['failed'] | null
}

/** The figures of a trial. */
export function summaryOf({
  situation,
  rows,
  fills,
  resultUsd,
  maxDrawdownUsd,
  failed,
}: Trial): TrialSummary {
  const denied: Record<string, number> = {}
  for (const { outcome } of rows) {
    if (outcome === 'taken' || outcome === 'invalid') continue
    denied[outcome] = (denied[outcome] ?? 0) + 1
  }
  const of = (outcome: string) => rows.filter((row) => row.outcome === outcome).length
  return {
    situation: situation.name,
    says: situation.says,
    decisions: rows.length,
    exitDecisions: rows.filter(({ by }) => by === 'exits').length,
    taken: of('taken'),
    denied,
    invalid: of('invalid'),
    trades: fills.length,
    resultUsd: plain(resultUsd),
    maxDrawdownUsd: plain(maxDrawdownUsd),
    failed: failed ?? null,
  }
}

/** Dollars in whole millionths, for programs. */
function plain(amount: Usd): string {
  const unit = 10n ** BigInt(USD_DECIMALS - 6)
  return formatUnits((amount / unit) * unit, USD_DECIMALS)
}

/** One line of a report: a decision with what became of it and how often in a row, or a fill. */
export interface TrialLine {
  readonly turn: number
  readonly what: string
  readonly outcome: string
  readonly times: number
  /** The kind's reason of what was taken, the refusal's of what was not. */
  readonly reason: string
}

/** Decisions and fills in the order in which they came; refusals of one code that follow each other on one wish are one line. */
export function linesOf({ rows, fills }: Trial, turnOf: (atSeconds: number) => number): readonly TrialLine[] {
  const lines: TrialLine[] = []
  let [lastAt, told] = [-1, 0]
  const tellUpTo = (count: number): void => {
    for (const fill of fills.slice(told, count)) lines.push(fillLine(fill, turnOf(fill.atSeconds)))
    told = Math.max(told, count)
  }
  for (const row of rows) {
    tellUpTo(row.fillsBefore)
    const line = lineOf(row)
    const before = lines[lastAt]
    if (before?.what === line.what && before.outcome === line.outcome && row.outcome !== 'taken')
      lines[lastAt] = { ...before, times: before.times + 1 }
    else lastAt = lines.push(line) - 1
  }
  tellUpTo(fills.length)
  return lines
}

function lineOf({ turn, by, decision, symbol, outcome, reason, sizeUsd }: TrialRow): TrialLine {
  if (decision === undefined) return { turn, what: 'no decision', outcome, times: 1, reason: reason ?? '' }
  const type = 'orderType' in decision && decision.orderType !== undefined ? ` (${decision.orderType})` : ''
  const side = 'direction' in decision ? ` ${decision.direction} ${symbol.replace(/ \[.*/, '')}` : ''
  const task = 'label' in decision ? ` ${decision.label}` : ''
  const size = sizeUsd === undefined ? '' : ` ${formatDollars(sizeUsd)}`
  return {
    turn,
    what: `${by === 'exits' ? 'exit: ' : ''}${decision.kind === 'unwind' ? 'unwind' : decision.kind}${type}${side}${size}${task}`,
    outcome: outcome === 'taken' || outcome === 'invalid' ? outcome : `denied ${outcome}`,
    times: 1,
    reason: reason ?? decision.reason,
  }
}

function fillLine(
  { symbol, direction, what, sizeUsd, price, pnlUsd, feeUsd }: TrialFill,
  turn: number,
): TrialLine {
  const result = what === 'opened' ? '' : `, PnL ${formatDollars(pnlUsd - feeUsd)} after its fee`
  return {
    turn,
    what: `${direction} ${symbol.replace(/ \[.*/, '')} ${formatDollars(sizeUsd)}`,
    outcome: what,
    times: 1,
    reason: `filled at ${formatPrice(price)}${result}`,
  }
}

/** Most lines of a situation that are shown when all are tried. */
const MOST_LINES = 12

/** The lines of one situation; the first of them where not all are wanted. */
export function situationText(
  trial: Trial,
  lines: readonly TrialLine[],
  width: number,
  isWhole: boolean,
): string {
  const { situation, failed } = trial
  const shown = isWhole ? lines : lines.slice(0, MOST_LINES)
  const rows = shown.map(({ turn, what, outcome, times, reason }) => [
    String(turn),
    what,
    times === 1 ? outcome : `${outcome}, ${times} times`,
    reason,
  ])
  const left = lines.length - shown.length
  return [
    `${situation.name}: ${situation.says}`,
    rows.length === 0 ? '  It decided nothing.' : table(lineColumns, rows, width, '  '),
    ...(left === 0 ? [] : [`  ${left} more: --situation ${situation.name} shows all`]),
    ...(failed === undefined ? [] : [`  It failed at turn ${failed.turn} and was stopped: ${failed.reason}`]),
  ].join('\n')
}

const lineColumns: readonly Column[] = [
  { title: 'TURN', rank: 0, isFigure: true },
  { title: 'DECISION', rank: 0 },
  { title: 'OUTCOME', rank: 1 },
  { title: 'REASON', rank: 2, isProse: true },
]

/** One row for each situation. */
export function summaryText(trials: readonly Trial[], width: number): string {
  const rows = trials.map((trial) => {
    const { situation, decisions, exitDecisions, denied, invalid, trades, failed } = summaryOf(trial)
    const refusals = [
      ...Object.entries(denied).map(([code, count]) => `${code} ${count}`),
      ...(invalid === 0 ? [] : [`invalid ${invalid}`]),
      ...(failed === null ? [] : ['failed']),
    ]
    return [
      situation,
      String(decisions),
      String(exitDecisions),
      String(trades),
      formatDollars(trial.resultUsd),
      formatDollars(trial.maxDrawdownUsd),
      refusals.join(', '),
    ]
  })
  return table(summaryColumns, rows, width)
}

const summaryColumns: readonly Column[] = [
  { title: 'SITUATION', rank: 0 },
  { title: 'DECISIONS', rank: 1, word: 'decisions', isFigure: true },
  { title: 'OF EXITS', rank: 2, word: 'of exits', isFigure: true },
  { title: 'FILLS', rank: 0, isFigure: true },
  { title: 'PNL', rank: 0, isFigure: true },
  { title: 'DRAWDOWN', rank: 0, isFigure: true },
  { title: 'NOT TAKEN', rank: 2, word: 'not taken:' },
]

/** Says that no entry of any trial was worth its costs by the file's rule, and why the first was not. Undefined: one was, or none was requested. */
export function noEntryText(trials: readonly Trial[]): string | undefined {
  const entries = trials.flatMap(({ rows }) => rows.filter(({ decision }) => decision?.kind === 'increase'))
  const denied = entries.filter(({ outcome }) => outcome === 'EDGE_TOO_SMALL' || outcome === 'EDGE_UNKNOWN')
  const [first] = denied
  if (first === undefined || entries.some(({ outcome }) => outcome === 'taken')) return undefined
  return `protect.minEdgeBps let none of ${denied.length} entries through (${first.outcome}): ${first.reason ?? ''}.`
}
