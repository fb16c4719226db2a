/** A backtest for a terminal of 80 columns: its assumptions, the sentence that a trader needs first, and its figures. */
import type { RunManifest, RunResult } from '../../backtest/runFiles.ts'
import { formatDollars, type Usd } from '../../protocol/units.ts'
import { Ratio } from '../../report/figures/dailyReturns.ts'
import { percentText } from '../../report/figures/figureText.ts'
import { columns } from '../output/table.ts'

/** `+$12.30` or `-$4.00`. */
function signed(amount: Usd): string {
  return amount > 0n ? `+${formatDollars(amount)}` : formatDollars(amount)
}

const day = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')

/** The assumptions, which come before any figure. */
export function modelText({ strategies, model, inputs, fromSeconds, toSeconds }: RunManifest): string {
  const data = inputs.map(
    ({ market, candles, periodSeconds, source, gaps }) =>
      `${market}: ${candles} candles of ${periodSeconds} s from ${source}${gaps.length === 0 ? '' : `, ${gaps.length} gap${gaps.length === 1 ? '' : 's'}`}`,
  )
  return [
    `${strategies.map(({ name }) => name).join(', ')} from ${day(fromSeconds)} to ${day(toSeconds)} UTC, by:`,
    ...[...data, ...model.sentences].map((sentence) => `- ${sentence}`),
  ].join('\n')
}

/** The figures. */
export function resultText(result: RunResult): string {
  const { costs, trades, wins, fills } = result
  const share = (part: number, whole: number): string =>
    whole === 0 ? '' : ` (${Math.round((part * 100) / whole)} %)`
  const counted = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .toSorted(([, one], [, other]) => other - one)
      .map(([code, count]) => `${code} ${count}`)
      .join(', ')
  const [denied, unexecuted] = [counted(result.denied), counted(result.unexecuted)]
  const rows: readonly (readonly [string, string])[] = [
    ['equity', `${formatDollars(result.startUsd)} to ${formatDollars(result.endUsd)}`],
    ['trades', `${trades}, won ${wins}${share(wins, trades)}; ${fills} fills`],
    ['time in market', percentText(new Ratio(result.heldBps).div(10_000), 1)],
    ['turns', `${result.turns}, ${result.decisions} decisions`],
    ['position fees', formatDollars(-costs.positionFeesUsd)],
    ['price impact', formatDollars(-costs.impactUsd)],
    ['funding', formatDollars(-costs.fundingUsd)],
    ['borrowing', formatDollars(-costs.borrowingUsd)],
    ['sending', formatDollars(-costs.sendingUsd)],
    ...(costs.swapUsd === 0n ? [] : [['swaps', formatDollars(-costs.swapUsd)] as const]),
    ...(costs.liquidationUsd === 0n ? [] : [['liquidation', formatDollars(-costs.liquidationUsd)] as const]),
    ...result.atCosts.map(({ multiple, madeUsd }) => [`at ${multiple} x costs`, signed(madeUsd)] as const),
    ...(result.madeAtP90GasUsd === undefined
      ? []
      : [['at p90 gas', signed(result.madeAtP90GasUsd)] as const]),
    [
      'break-even',
      result.breakEvenMultiple === null
        ? 'none: no profit before costs'
        : `at ${result.breakEvenMultiple} x costs`,
    ],
    ...(result.ambiguousFills === 0
      ? []
      : [['ambiguous', `${result.ambiguousFills} exits: stop and target within one candle`] as const]),
    ...(denied === '' ? [] : [['denied', denied] as const]),
    ...(unexecuted === '' ? [] : [['not executed', unexecuted] as const]),
  ]
  return columns(rows, '  ')
}

/** One of the runs of a band. */
export interface BandRun {
  readonly skewBps: number
  readonly folder: string
  readonly result: RunResult
}

/** The runs of a band side by side. */
export function bandText(runs: readonly BandRun[]): string {
  const percent = ({ maxDrawdownBps }: RunResult): string => `${(maxDrawdownBps / 100).toFixed(2)} %`
  const rows = runs.map(({ skewBps, folder, result }) => [
    `${skewBps / 100} %`,
    signed(result.madeUsd),
    signed(result.holdMadeUsd),
    percent(result),
    result.breakEvenMultiple ?? '-',
    folder,
  ])
  return columns([['SKEW', 'MADE', 'HOLDING', 'DRAWDOWN', 'BREAK-EVEN', 'FOLDER'], ...rows])
}
