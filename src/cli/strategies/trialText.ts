/** A trial for people and for programs: its decisions, with repeated refusals as one row, and what came of it. */

import type { Trial, TrialFill } from '../../backtest/trial/runTrial.ts'
import type { TrialRow } from '../../backtest/trial/trialRows.ts'
import { orderTypeName } from '../../domain/order/orderTerms.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import { formatDollars, formatUnits, USD_DECIMALS, type Usd } from '../../protocol/units.ts'
import { type Column, table } from '../output/table.ts'

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
  /** Orders that were taken and never executed, by the code of their end; entries that the file withdrew are among them. */
  readonly unexecuted: Readonly<Record<string, number>>
  readonly invalid: number
  readonly trades: number
  /** After fees, USD as decimal text, signed. */
  readonly resultUsd: string
  readonly maxDrawdownUsd: string
  readonly failed: Trial['failed'] | null
}

/** Outcomes that are no denial. */
const notDenied: ReadonlySet<string> = new Set(['taken', 'invalid', 'paused'])

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
  const unexecuted: Record<string, number> = {}
  for (const { outcome, ended } of rows) {
    if (ended !== undefined) unexecuted[ended] = (unexecuted[ended] ?? 0) + 1
    if (!notDenied.has(outcome)) denied[outcome] = (denied[outcome] ?? 0) + 1
  }
  const of = (outcome: string) => rows.filter((row) => row.outcome === outcome).length
  return {
    situation: situation.name,
    says: situation.says,
    decisions: rows.length - of('paused'),
    exitDecisions: rows.filter(({ by }) => by === 'exits').length,
    taken: of('taken'),
    denied,
    unexecuted,
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
  /** Name of the file; empty for a liquidation. */
  readonly strategy: string
  readonly what: string
  readonly outcome: string
  readonly times: number
  /** The kind's reason of what was taken, the refusal's of what was not. */
  readonly reason: string
}

/**
 * Decisions and fills in the order in which they came; refusals of one code that follow each other on one wish are one line. `turnOf` numbers the turn of a
 * Unix second.
 */
export function linesOf({ rows, fills }: Trial, turnOf: (atSeconds: number) => number): readonly TrialLine[] {
  const lines: TrialLine[] = []
  let lastAt = -1
  // An order executes seconds after its decision: a fill in the second of a turn came before it.
  for (const each of [...fills, ...rows].toSorted((one, other) => one.atSeconds - other.atSeconds)) {
    if ('what' in each) {
      lines.push(fillLine(each, turnOf(each.atSeconds)))
      continue
    }
    const line = lineOf(each)
    const before = lines[lastAt]
    if (before?.what === line.what && before.outcome === line.outcome && each.outcome !== 'taken')
      lines[lastAt] = { ...before, times: before.times + 1 }
    else lastAt = lines.push(line) - 1
  }
  return lines
}

/** Words before a decision that is not the kind's own. */
const deciders: Readonly<Record<TrialRow['by'], string>> = { kind: '', exits: 'exit: ', task: 'task: ' }

function lineOf(row: TrialRow): TrialLine {
  const { turn, strategy, by, decision, symbol, outcome, reason, sizeUsd, ended } = row
  if (decision === undefined)
    return { turn, strategy, what: 'no decision', outcome, times: 1, reason: reason ?? '' }
  const type =
    'orderType' in decision && decision.orderType !== undefined
      ? ` (${orderTypeName(decision.orderType)})`
      : ''
  const side = 'direction' in decision ? ` ${decision.direction} ${symbol.replace(/ \[.*/, '')}` : ''
  const task = 'label' in decision ? ` ${decision.label}` : ''
  const size = sizeUsd === undefined ? '' : ` ${formatDollars(sizeUsd)}`
  const taken = ended === undefined ? 'taken' : `taken, ended ${ended}`
  return {
    turn,
    strategy,
    what: `${deciders[by]}${decision.kind}${type}${side}${size}${task}`,
    outcome: outcome === 'taken' ? taken : outcome === 'invalid' ? outcome : `denied ${outcome}`,
    times: 1,
    reason: reason ?? decision.reason,
  }
}

function fillLine(
  { symbol, direction, what, sizeUsd, price, resultUsd, strategy }: TrialFill,
  turn: number,
): TrialLine {
  const result = what === 'opened' ? '' : `, PnL ${formatDollars(resultUsd)} after its costs`
  return {
    turn,
    strategy,
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
    ...(failed === undefined ? [] : [`  It failed, first at turn ${failed.turn}: ${failed.reason}`]),
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
    const { situation, decisions, exitDecisions, denied, unexecuted, invalid, trades, failed } =
      summaryOf(trial)
    const refusals = [
      ...[...Object.entries(denied), ...Object.entries(unexecuted)].map(
        ([code, count]) => `${code} ${count}`,
      ),
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
