/** Every statistic of a report: its name, its definition, and its text. The page, `--json`, the terminal and a comparison print these rows. Pure. */
import type { Decimal } from 'decimal.js'
import { formatDollars } from '../../protocol/units.ts'
import { NONE, numberText, percentText, signedDollars, signedPercent, spanOf } from './figureText.ts'
import type { ReportCosts } from './reportSubject.ts'
import type { Statistics } from './statistics.ts'

/** One statistic. */
export interface StatisticRow {
  readonly name: string
  /** A sentence or two for people. */
  readonly definition: string
  readonly text: (statistics: Statistics) => string
}

const ofRatio =
  (of: (statistics: Statistics) => Decimal | null) =>
  (statistics: Statistics): string =>
    numberText(of(statistics))

/** The statistics, in their order. */
export const statisticTable: readonly StatisticRow[] = [
  {
    name: 'Made',
    definition: 'Equity at the end less equity at the beginning and deposits, after all costs.',
    text: ({ madeUsd, madeRatio }) => `${signedDollars(madeUsd)} (${signedPercent(madeRatio)})`,
  },
  {
    name: 'Holding',
    definition:
      'Result of holding the index assets with the initial equity, in equal parts and without costs.',
    text: ({ holdMadeUsd, holdRatio }) =>
      holdMadeUsd === null ? NONE : `${signedDollars(holdMadeUsd)} (${signedPercent(holdRatio)})`,
  },
  {
    name: 'Return a year',
    definition:
      'The compounded daily returns, scaled to 365 days. Over a few days it means little; of one day there is none.',
    text: ({ yearlyReturn }) => signedPercent(yearlyReturn),
  },
  {
    name: 'Largest drawdown',
    definition: 'The deepest fall of the equity, as a share of the highest point before it.',
    text: ({ drawdown: { usd, ratio } }) => `${formatDollars(usd)} (${percentText(ratio)})`,
  },
  {
    name: 'Its length',
    definition:
      'From the peak before the largest drawdown until that peak was reached again, or until the end.',
    text: ({ drawdown: { usd, lengthSeconds, hasRecovered } }) =>
      usd === 0n ? NONE : `${spanOf(lengthSeconds)}${hasRecovered ? '' : ', not over'}`,
  },
  {
    name: 'Longest drawdown',
    definition: 'The longest time that the equity stayed below a peak.',
    text: ({ drawdown: { longestSeconds } }) => (longestSeconds === 0 ? NONE : spanOf(longestSeconds)),
  },
  {
    name: 'Sharpe',
    definition:
      'Mean of the daily returns (UTC) over their sample standard deviation, times the square root of 365; without a risk-free rate.',
    text: ofRatio(({ sharpe }) => sharpe),
  },
  {
    name: 'Sortino',
    definition:
      'Mean of the daily returns over the root of the mean of the squared negative ones, counted over all days, times the square root of 365.',
    text: ofRatio(({ sortino }) => sortino),
  },
  {
    name: 'Calmar',
    definition: 'The return a year over the largest drawdown as a share.',
    text: ofRatio(({ calmar }) => calmar),
  },
  {
    name: 't statistic',
    definition:
      'Mean of the daily returns over its standard error (their sample standard deviation over the square root of their number). Nearer than 2 to zero, chance alone would do.',
    text: ofRatio(({ tStatistic }) => tStatistic),
  },
  {
    name: 'Trades',
    definition:
      "Closed trades: a strategy's part of a position from opening to full close. Trades that are open at the end do not count.",
    text: ({ tradeFigures: { closed, open } }) =>
      open === 0 ? `${closed}` : `${closed} closed, ${open} still open`,
  },
  {
    name: 'Win ratio',
    definition: 'Closed trades with a profit after all costs, over all closed trades.',
    text: ({ tradeFigures: { winRatio } }) => percentText(winRatio, 1),
  },
  {
    name: 'Profit factor',
    definition: 'Sum of the profits over the sum of the losses; none when no trade lost.',
    text: ofRatio(({ tradeFigures }) => tradeFigures.profitFactor),
  },
  {
    name: 'Expectancy',
    definition:
      'The mean result of a closed trade after all its costs; in R: over the mean loss of the losing trades.',
    text: ({ tradeFigures: { expectancyUsd, expectancyR } }) =>
      expectancyUsd === null
        ? NONE
        : `${signedDollars(expectancyUsd)}${expectancyR === null ? '' : ` (${numberText(expectancyR)} R)`}`,
  },
  {
    name: 'SQN',
    definition:
      'Mean result of the closed trades over its sample standard deviation, times the square root of their number.',
    text: ofRatio(({ tradeFigures }) => tradeFigures.sqn),
  },
  {
    name: 'Best and worst trade',
    definition: 'The largest and the smallest result of a closed trade after all its costs.',
    text: ({ tradeFigures: { bestUsd, worstUsd } }) =>
      bestUsd === null ? NONE : `${signedDollars(bestUsd)}, ${signedDollars(worstUsd)}`,
  },
  {
    name: 'Time in market',
    definition:
      "Share of the curve's moments at which a position was open; without sizes, of the time in which a trade was.",
    text: ({ timeInMarket }) => percentText(timeInMarket, 1),
  },
  {
    name: 'Leverage',
    definition:
      'Size of all open positions over the equity: the mean, and the most, over the moments of the curve.',
    text: ({ leverage }) =>
      leverage === null ? NONE : `${numberText(leverage.mean)} x, most ${numberText(leverage.most)} x`,
  },
  {
    name: 'Turnover',
    definition: 'The sizes of all fills, added up, and over the mean equity.',
    text: ({ turnoverUsd, turnoverTimes }) =>
      `${formatDollars(turnoverUsd)} (${numberText(turnoverTimes)} x)`,
  },
  {
    name: 'All costs',
    definition: 'The costs of all kinds, added up, and in basis points of the turnover.',
    text: ({ costsUsd, allCostsBps }) => `${formatDollars(costsUsd)} (${numberText(allCostsBps)} bps)`,
  },
]

/** One kind of costs. */
export interface CostRow {
  readonly kind: keyof ReportCosts
  readonly name: string
  readonly definition: string
}

/** The kinds of costs, in their order. */
export const costTable: readonly CostRow[] = [
  {
    kind: 'positionFeeUsd',
    name: 'Position fee',
    definition:
      "The venue's fee for opening and closing, by size; of a journal, with the swaps of its fills.",
  },
  {
    kind: 'impactUsd',
    name: 'Price impact',
    definition: 'Settled price impact; negative when it was a gain.',
  },
  {
    kind: 'fundingUsd',
    name: 'Funding',
    definition: 'Funding paid between longs and shorts, as fills settled it; negative where it was received.',
  },
  { kind: 'borrowingUsd', name: 'Borrowing', definition: 'Borrowing fees paid to the pool.' },
  {
    kind: 'executionUsd',
    name: 'Execution',
    definition:
      "The keepers' part of the sending costs, where the chain shows it with a price of the native coin; else it is in relay.",
  },
  {
    kind: 'relayUsd',
    name: 'Relay',
    definition: 'The rest of the sending costs, less refunds.',
  },
  { kind: 'swapUsd', name: 'Swaps', definition: 'Fees and price impact of swaps on the way.' },
  { kind: 'liquidationUsd', name: 'Liquidation', definition: 'Fees of liquidations.' },
]

/** Fewer days than this give no ratio that a strategy could be judged by. */
const FEW_DAYS = 90

/** Standard errors within which a mean is not told from zero: some 95 of 100 means of pure chance lie there. */
const CHANCE_ERRORS = 2

/** The sentence that is read first: what it made after costs, against holding, the worst drawdown, and how sure that is. */
export function sentenceOf(statistics: Statistics, isResult: boolean): string {
  const { madeUsd, madeRatio, holdMadeUsd, drawdown } = statistics
  const made = `${madeUsd < 0n ? 'It lost' : 'It made'} ${formatDollars(madeUsd < 0n ? -madeUsd : madeUsd)} after all costs (${signedPercent(madeRatio)})`
  const hold = holdMadeUsd === null ? '' : `; holding made ${signedDollars(holdMadeUsd)}`
  const fall = `; the worst drawdown was ${formatDollars(drawdown.usd)} (${percentText(drawdown.ratio)})`
  return `${isResult ? '' : 'No result, because price impact is left out: '}${made}${hold}${fall}. ${sureness(statistics)}`
}

/** Tells how far chance may have made the result. Days count as independent, and no other file as tried. */
function sureness({ spanDays, tStatistic }: Statistics): string {
  if (spanDays < FEW_DAYS)
    return `${spanDays === 1 ? 'One day is' : `${spanDays} days are`} too few for a judgement.`
  if (tStatistic === null) return 'Without daily returns that differ nothing tells how sure that is.'
  const errors = tStatistic.abs()
  const mean = `The mean daily return is ${numberText(errors)} standard errors ${tStatistic.isNegative() ? 'below' : 'above'} zero`
  return errors.lessThan(CHANCE_ERRORS)
    ? `${mean}: less than ${CHANCE_ERRORS} is not told from chance.`
    : `${mean}: chance alone seldom does that, unless many files were tried.`
}
