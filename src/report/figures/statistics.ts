/** All statistics of a report, from its subject. Pure. */
import type { Decimal } from 'decimal.js'
import type { Usd } from '../../protocol/units.ts'
import {
  type DayReturn,
  dailyReturns,
  type MonthReturn,
  monthlyReturns,
  Ratio,
  ratioOf,
} from './dailyReturns.ts'
import { type Drawdown, drawdownOf, withoutTransfers } from './drawdown.ts'
import { calmarOf, sharpeOf, sortinoOf, tStatisticOf, yearlyReturn } from './ratios.ts'
import type { EquityMoment, ReportCosts, ReportSubject, Trade } from './reportSubject.ts'
import {
  type HourResult,
  heldBpsOf,
  hourResults,
  secondsInMarket,
  type TradeFigures,
  tradeFigures,
} from './tradeFigures.ts'

/** The kinds of costs, in the order in which they are shown. */
const costKinds = [
  'positionFeeUsd',
  'impactUsd',
  'fundingUsd',
  'borrowingUsd',
  'executionUsd',
  'relayUsd',
  'swapUsd',
  'liquidationUsd',
] as const satisfies readonly (keyof ReportCosts)[]

/** Statistics of a report. Ratios are null where there is nothing to divide by. */
export interface Statistics {
  /** Length of the report in days, rounded up. */
  readonly spanDays: number
  readonly startUsd: Usd
  readonly endUsd: Usd
  /** Deposits less withdrawals since the beginning. */
  readonly transfersUsd: Usd
  /** End less beginning and transfers, after all costs. */
  readonly madeUsd: Usd
  readonly madeRatio: Decimal | null
  /** The same of holding the index assets; null where no prices say so. */
  readonly holdMadeUsd: Usd | null
  readonly holdRatio: Decimal | null
  readonly days: readonly DayReturn[]
  readonly months: readonly MonthReturn[]
  /** Holding by month, beside `months`; empty where no prices say so. */
  readonly holdMonths: readonly MonthReturn[]
  readonly hours: readonly HourResult[]
  readonly yearlyReturn: Decimal | null
  readonly sharpe: Decimal | null
  readonly sortino: Decimal | null
  readonly calmar: Decimal | null
  readonly tStatistic: Decimal | null
  readonly drawdown: Drawdown
  readonly holdDrawdown: Drawdown | null
  readonly trades: readonly Trade[]
  readonly tradeFigures: TradeFigures
  /** Share of the curve's moments at which something was open; of the time in which a trade was, where the source has no sizes. */
  readonly timeInMarket: Decimal | null
  readonly turnoverUsd: Usd
  /** Turnover over the mean equity; null where the curve begins with nothing. */
  readonly turnoverTimes: Decimal | null
  readonly costsUsd: Usd
  readonly costs: ReportCosts
  /** Costs by kind in basis points of the turnover; null without turnover. */
  readonly costsBps: Readonly<Record<keyof ReportCosts, Decimal | null>>
  readonly allCostsBps: Decimal | null
  /** Most and mean open size over equity; null where the source has no sizes. */
  readonly leverage: { readonly most: Decimal; readonly mean: Decimal } | null
}

/** Makes the statistics of a report. */
export function statisticsOf(subject: ReportSubject): Statistics {
  const { trades, turnoverUsd, costs, fromSeconds, toSeconds } = subject
  const equity = withoutTransfers(subject.equity, subject.transfers)
  const [first, last] = [equity[0], equity.at(-1)]
  const startUsd = first?.equityUsd ?? 0n
  const endUsd = subject.equity.at(-1)?.equityUsd ?? 0n
  const madeUsd = (last?.equityUsd ?? 0n) - startUsd
  const days = dailyReturns(subject.equity, subject.transfers)
  const hold = heldMoments(subject.equity)
  const holdMadeUsd = hold === null ? null : (hold.at(-1)?.equityUsd ?? 0n) - (hold[0]?.equityUsd ?? 0n)
  const drawdown = drawdownOf(equity)
  const costsUsd = costKinds.reduce((sum, kind) => sum + costs[kind], 0n)
  const bpsOf = (amount: Usd): Decimal | null => ratioOf(amount, turnoverUsd)?.times(10_000) ?? null
  const heldBps = heldBpsOf(subject.equity)
  const meanUsd = equity.length === 0 ? 0n : sumOf(subject.equity) / BigInt(equity.length)
  return {
    spanDays: Math.ceil((toSeconds - fromSeconds) / 86_400),
    startUsd,
    endUsd,
    transfersUsd: endUsd - (last?.equityUsd ?? 0n),
    madeUsd,
    madeRatio: ratioOf(madeUsd, startUsd),
    holdMadeUsd,
    holdRatio: holdMadeUsd === null ? null : ratioOf(holdMadeUsd, startUsd),
    days,
    months: monthlyReturns(days),
    holdMonths: hold === null ? [] : monthlyReturns(dailyReturns(hold)),
    hours: hourResults(trades),
    yearlyReturn: yearlyReturn(days),
    sharpe: sharpeOf(days),
    sortino: sortinoOf(days),
    calmar: calmarOf(days, drawdown.ratio),
    tStatistic: tStatisticOf(days),
    drawdown,
    holdDrawdown: hold === null ? null : drawdownOf(hold),
    trades,
    tradeFigures: tradeFigures(trades),
    timeInMarket:
      heldBps === null
        ? ratioOf(BigInt(secondsInMarket(trades, toSeconds)), BigInt(Math.max(0, toSeconds - fromSeconds)))
        : new Ratio(heldBps).div(10_000),
    turnoverUsd,
    turnoverTimes: startUsd > 0n ? ratioOf(turnoverUsd, meanUsd) : null,
    costsUsd,
    costs,
    costsBps: Object.fromEntries(
      costKinds.map((kind) => [kind, bpsOf(costs[kind])]),
    ) as Statistics['costsBps'],
    allCostsBps: bpsOf(costsUsd),
    leverage: leverageOf(subject.equity),
  }
}

const sumOf = (equity: readonly EquityMoment[]): Usd =>
  equity.reduce((sum, { equityUsd }) => sum + equityUsd, 0n)

/** Holding as a curve of equity; null where a moment has no price. */
function heldMoments(equity: readonly EquityMoment[]): readonly EquityMoment[] | null {
  if (equity.length === 0) return null
  const moments = equity.flatMap((moment) =>
    moment.holdUsd === null ? [] : [{ ...moment, equityUsd: moment.holdUsd }],
  )
  return moments.length === equity.length ? moments : null
}

function leverageOf(equity: readonly EquityMoment[]): Statistics['leverage'] {
  const all = equity.flatMap(({ equityUsd, longUsd, shortUsd }) =>
    longUsd === null || shortUsd === null ? [] : (ratioOf(longUsd + shortUsd, equityUsd) ?? []),
  )
  if (all.length === 0) return null
  const most = all.reduce((top, each) => (each.greaterThan(top) ? each : top), new Ratio(0))
  return { most, mean: all.reduce((sum, each) => sum.plus(each), new Ratio(0)).div(all.length) }
}
