/** The data of a page's charts. Amounts become numbers here, for drawing alone; every figure that is read is text made of the exact one. Pure. */
import { shellWord } from '../../base/shownText.ts'
import type { Usd } from '../../protocol/units.ts'
import { ratioOf } from '../figures/dailyReturns.ts'
import { fallMoments, withoutTransfers } from '../figures/drawdown.ts'
import { decimalOf, momentOf, priceOf, signedDollars } from '../figures/figureText.ts'
import { histogramOf } from '../figures/histogram.ts'
import type { EquityMoment, OrderStory, ReportSubject, Trade } from '../figures/reportSubject.ts'
import type { Statistics } from '../figures/statistics.ts'

/** Most points of a curve that a page draws. */
const MOST_POINTS = 2_000
/** Most trades that a page lists; `--csv` has all. */
export const MOST_TRADES = 1_000

const number = (amount: Usd | null): number | null => (amount === null ? null : Number(decimalOf(amount)))

/** A trade as its chart needs it. */
function tradeData(trade: Trade) {
  const { market, side, openedSecond, closedSecond, entryPrice, exitPrice, intentIds } = trade
  return {
    market,
    side,
    opened: openedSecond,
    closed: closedSecond,
    entry: number(entryPrice),
    exit: number(exitPrice),
    intentIds,
    title: `${market} ${side}, ${momentOf(openedSecond)} UTC to ${closedSecond === null ? 'the end' : `${momentOf(closedSecond)} UTC`}`,
    text: `In at ${priceOf(entryPrice)}${closedSecond === null ? '' : `, out at ${priceOf(exitPrice)}`}; result ${signedDollars(trade.resultUsd)} after costs of ${signedDollars(trade.costsUsd).replace('+', '')}.`,
    openReason: trade.openReason,
    closeReason: trade.closeReason,
  }
}

/** The trades that a page lists: the newest. */
export function listedTrades({ trades }: Statistics): readonly Trade[] {
  return trades.slice(-MOST_TRADES)
}

/** The data block of a page of one report. */
export function chartData(
  subject: ReportSubject,
  statistics: Statistics,
  stories: ReadonlyMap<string, OrderStory>,
) {
  const drawn = thinned(subject.equity)
  const falls = new Map(
    fallMoments(withoutTransfers(subject.equity, subject.transfers)).map(({ second, ratio }) => [
      second,
      ratio,
    ]),
  )
  const candles = Map.groupBy(subject.candles, ({ market }) => market)
  const closed = statistics.trades.filter(({ closedSecond }) => closedSecond !== null)
  const returns = closed.flatMap(({ resultUsd, sizeUsd }) => ratioOf(resultUsd, sizeUsd) ?? [])
  return {
    equity: {
      seconds: drawn.map(({ second }) => second),
      equity: drawn.map(({ equityUsd }) => number(equityUsd)),
      hold: drawn.map(({ holdUsd }) => number(holdUsd)),
      falls: drawn.map(({ second }) => falls.get(second)?.times(100).toNumber() ?? null),
      long: drawn.map(({ longUsd }) => number(longUsd)),
      short: drawn.map(({ shortUsd }) => (shortUsd === null ? null : -(number(shortUsd) ?? 0))),
    },
    hours: statistics.hours.map(({ resultUsd }) => number(resultUsd)),
    tradeReturns: histogramOf(returns.map((each) => each.times(100))),
    dayReturns: histogramOf(statistics.days.map(({ ratio }) => ratio.times(100))),
    trades: listedTrades(statistics).map(tradeData),
    stories: Object.fromEntries(stories),
    candles: Object.fromEntries(
      [...candles].map(([market, own]) => [
        market,
        {
          seconds: own.map(({ second }) => second),
          open: own.map(({ open }) => number(open)),
          high: own.map(({ high }) => number(high)),
          low: own.map(({ low }) => number(low)),
          close: own.map(({ close }) => number(close)),
        },
      ]),
    ),
    /** As a word of a shell. */
    journal: shellWord(subject.journalPath),
  }
}

/** The data block of a page that compares: each curve in percent of its beginning. */
export function comparisonData(subjects: readonly ReportSubject[]) {
  return {
    curves: subjects.map(({ title, equity, transfers }) => {
      const drawn = thinned(withoutTransfers(equity, transfers))
      const startUsd = drawn[0]?.equityUsd ?? 0n
      return {
        title,
        seconds: drawn.map(({ second }) => second),
        percent: drawn.map(
          ({ equityUsd }) =>
            ratioOf(equityUsd - startUsd, startUsd)
              ?.times(100)
              .toNumber() ?? null,
        ),
      }
    }),
  }
}

/** No more points than are drawn: of each span the highest and the lowest, so that no fall is lost. */
function thinned(equity: readonly EquityMoment[]): readonly EquityMoment[] {
  if (equity.length <= MOST_POINTS) return equity
  const each = Math.ceil(equity.length / (MOST_POINTS / 2))
  const kept: EquityMoment[] = []
  for (let at = 0; at < equity.length; at += each) {
    const span = equity.slice(at, at + each)
    const by = (one: EquityMoment, other: EquityMoment): number => (one.equityUsd < other.equityUsd ? -1 : 1)
    const [low, high] = [span.toSorted(by)[0], span.toSorted(by).at(-1)]
    for (const moment of span) if (moment === low || moment === high) kept.push(moment)
  }
  const last = equity.at(-1)
  return last === undefined || kept.at(-1) === last ? kept : [...kept, last]
}
