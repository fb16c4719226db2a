/** Figures of closed trades: profit factor, expectancy, win ratio, and results by hour. Pure. */
import type { Decimal } from 'decimal.js'
import type { Usd } from '../../protocol/units.ts'
import { Ratio, ratioOf } from './dailyReturns.ts'
import { sqnOf } from './ratios.ts'
import type { EquityMoment, Trade } from './reportSubject.ts'

/** Figures of the trades that were closed. */
export interface TradeFigures {
  readonly closed: number
  readonly open: number
  readonly wins: number
  /** Win ratio: closed trades with a result above 0 after all their costs, over all closed trades. Null without one. */
  readonly winRatio: Decimal | null
  /** Profit factor: the sum of the results above 0 over the sum of those below. Null without a losing trade. */
  readonly profitFactor: Decimal | null
  /** Expectancy: the mean result of a closed trade after all its costs, USD, truncated. Null without one. */
  readonly expectancyUsd: Usd | null
  /** Expectancy over the mean loss of the losing trades (R). Null without a losing trade. */
  readonly expectancyR: Decimal | null
  readonly sqn: Decimal | null
  readonly bestUsd: Usd | null
  readonly worstUsd: Usd | null
}

const total = (amounts: readonly Usd[]): Usd => amounts.reduce((sum, each) => sum + each, 0n)

/** Figures of trades. */
export function tradeFigures(trades: readonly Trade[]): TradeFigures {
  const closed = trades.filter(({ closedSecond }) => closedSecond !== null)
  const results = closed.map(({ resultUsd }) => resultUsd)
  const [gains, losses] = [results.filter((each) => each > 0n), results.filter((each) => each < 0n)]
  const count = BigInt(results.length)
  const sorted = results.toSorted((one, other) => (one < other ? -1 : one > other ? 1 : 0))
  const lossUsd = -total(losses)
  return {
    closed: closed.length,
    open: trades.length - closed.length,
    wins: gains.length,
    winRatio: ratioOf(BigInt(gains.length), count),
    profitFactor: ratioOf(total(gains), lossUsd),
    expectancyUsd: count === 0n ? null : total(results) / count,
    // Both means, over one another, so that nothing is truncated between.
    expectancyR: ratioOf(total(results) * BigInt(losses.length), lossUsd * count),
    sqn: sqnOf(results.map((each) => new Ratio(String(each)))),
    bestUsd: sorted.at(-1) ?? null,
    worstUsd: sorted[0] ?? null,
  }
}

/** The trades that were opened in one hour of the day. */
export interface HourResult {
  /** 0 to 23, UTC. */
  readonly hour: number
  readonly trades: number
  readonly wins: number
  readonly resultUsd: Usd
}

/** Results of closed trades by the UTC hour of their first fill; all 24 hours. */
export function hourResults(trades: readonly Trade[]): readonly HourResult[] {
  const hourOf = ({ openedSecond }: Trade): number => Math.floor((openedSecond % 86_400) / 3_600)
  return Array.from({ length: 24 }, (_, hour) => {
    const own = trades.filter((trade) => trade.closedSecond !== null && hourOf(trade) === hour)
    return {
      hour,
      trades: own.length,
      wins: own.filter(({ resultUsd }) => resultUsd > 0n).length,
      resultUsd: total(own.map(({ resultUsd }) => resultUsd)),
    }
  })
}

/** Time in market of a curve: the moments at which something was open over all, basis points. Null where a moment has no sizes, or none is there. */
export function heldBpsOf(equity: readonly EquityMoment[]): number | null {
  if (equity.length === 0) return null
  let held = 0
  for (const { longUsd, shortUsd } of equity) {
    if (longUsd === null || shortUsd === null) return null
    if (longUsd + shortUsd > 0n) held += 1
  }
  return Math.round((held * 10_000) / equity.length)
}

/** Time in market: seconds in which at least one trade was open, overlapping ones counted once. */
export function secondsInMarket(trades: readonly Trade[], toSeconds: number): number {
  let [seconds, until] = [0, Number.NEGATIVE_INFINITY]
  for (const { openedSecond, closedSecond } of trades) {
    const end = Math.min(closedSecond ?? toSeconds, toSeconds)
    seconds += Math.max(0, end - Math.max(openedSecond, until))
    until = Math.max(until, end)
  }
  return seconds
}
