/** The sections of a report's page, in the order in which they are read. Pure. */
import { formatDollars } from '../../protocol/units.ts'
import {
  momentOf,
  NONE,
  numberText,
  percentText,
  priceOf,
  signedDollars,
  signedPercent,
  spanOf,
} from '../figures/figureText.ts'
import type { ReportSubject, Trade } from '../figures/reportSubject.ts'
import type { Statistics } from '../figures/statistics.ts'
import { costTable, statisticTable } from '../figures/statisticTable.ts'
import { listedTrades, MOST_TRADES } from './chartData.ts'
import { type Html, html, type Part } from './markupText.ts'

/** A section with its heading. */
export function section(id: string, title: string, ...inside: readonly Part[]): Html {
  return html`<section aria-labelledby="${id}-title" id="${id}"><h2 id="${id}-title">${title}</h2>${inside}</section>`
}

/** A place for a chart, with a text for those who do not see it. */
export function chart(name: string, label: string): Html {
  return html`<figure><figcaption>${label}</figcaption><div class="chart" data-chart="${name}" role="img" aria-label="${label}"></div></figure>`
}

/** A table that scrolls sideways where it is wider than its place; a reader of the keyboard scrolls it too. */
export function table(label: string, head: readonly string[], rows: Part): Html {
  return html`<div class="wide" tabindex="0" role="region" aria-label="${label}"><table><thead><tr>${head.map((each) => html`<th scope="col">${each}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`
}

/** The assumptions, before any figure. */
export function assumptions({ assumptions: sentences, isResult }: ReportSubject): Html {
  return section(
    'assumptions',
    'Assumptions',
    !isResult && html`<p class="warn"><strong>No result:</strong> price impact is left out.</p>`,
    html`<ul>${sentences.map((each) => html`<li>${each}</li>`)}</ul>`,
  )
}

/** Every statistic with its definition. */
export function statisticsSection(statistics: Statistics): Html {
  return section(
    'figures',
    'Figures',
    html`<dl class="figures">${statisticTable.map(
      ({ name, definition, text }) =>
        html`<div><dt>${name}</dt><dd class="num">${text(statistics)}</dd><dd class="muted">${definition}</dd></div>`,
    )}</dl>`,
  )
}

/** Equity beside holding, the falls, and exposure. */
export function curves({ equity }: ReportSubject, { drawdown }: Statistics): Html {
  const hasSizes = equity.some(({ longUsd }) => longUsd !== null)
  const hasHold = equity.some(({ holdUsd }) => holdUsd !== null)
  const fall =
    drawdown.usd === 0n
      ? 'The equity never fell below an earlier figure.'
      : `The largest drawdown went from ${momentOf(drawdown.peakSecond)} to ${momentOf(drawdown.lowSecond)} UTC; ${drawdown.hasRecovered ? `the peak was reached again after ${spanOf(drawdown.lengthSeconds)}.` : `the peak was not reached again in ${spanOf(drawdown.lengthSeconds)}.`}`
  return section(
    'equity',
    'Equity',
    chart('equity', hasHold ? 'Equity, and holding the index assets, USD' : 'Equity, USD'),
    chart('falls', 'Drawdown, percent below the highest point before'),
    html`<p>${fall}</p>`,
    hasSizes && chart('exposure', 'Exposure: open longs upwards, open shorts downwards, USD'),
  )
}

/** Returns by month, and results by hour. */
export function periods({ months, holdMonths, hours }: Statistics): Html {
  const hold = new Map(holdMonths.map(({ month, ratio }) => [month, ratio]))
  const rows = months.map(
    ({ month, ratio }) =>
      html`<tr><th scope="row">${month}</th><td class="num ${sign(ratio.isNegative(), ratio.isZero())}">${signedPercent(ratio)}</td><td class="num">${signedPercent(hold.get(month) ?? null)}</td></tr>`,
  )
  const hourRows = hours
    .filter(({ trades }) => trades > 0)
    .map(
      ({ hour, trades, wins, resultUsd }) =>
        html`<tr><th scope="row">${String(hour).padStart(2, '0')}:00</th><td class="num">${trades}</td><td class="num">${wins}</td><td class="num ${sign(resultUsd < 0n, resultUsd === 0n)}">${signedDollars(resultUsd)}</td></tr>`,
    )
  return section(
    'periods',
    'Returns by month and by hour',
    table('Returns by month', ['Month (UTC)', 'Return', 'Holding'], rows),
    chart('hours', 'Results of closed trades by the hour in which they were opened, UTC, USD'),
    hourRows.length > 0 && table('Results by hour', ['Opened (UTC)', 'Trades', 'Won', 'Result'], hourRows),
  )
}

const sign = (isDown: boolean, isZero: boolean): string => (isZero ? '' : isDown ? 'down' : 'up')

/** Trades: the chart of the one that is selected, its story, and the table. */
export function trades(statistics: Statistics): Html {
  const listed = listedTrades(statistics)
  const more = statistics.trades.length - listed.length
  return section(
    'trades',
    'Trades',
    listed.length === 0
      ? html`<p>There was no trade.</p>`
      : [
          html`<p class="muted">A row's time, or a mark on the chart, shows a trade and the stories of its orders.</p>`,
          chart('trade', 'Candles around the selected trade, with its entry and exit, USD'),
          html`<div id="story" aria-live="polite"></div>`,
          more > 0 &&
            html`<p class="warn">The newest ${MOST_TRADES} of ${statistics.trades.length} trades; --csv writes all.</p>`,
          table(
            'Trades',
            [
              'Opened (UTC)',
              'Market',
              'Strategy',
              'Size',
              'Entry',
              'Exit',
              'For',
              'Costs',
              'Result',
              'Reason for opening',
              'Reason for closing',
            ],
            listed.map(tradeRow),
          ),
        ],
  )
}

function tradeRow(trade: Trade, index: number): Html {
  const { market, side, strategy, sizeUsd, entryPrice, exitPrice, openedSecond, closedSecond } = trade
  const { costsUsd, resultUsd } = trade
  return html`<tr data-trade="${index}"><th scope="row"><button type="button" data-trade="${index}" aria-pressed="false">${momentOf(openedSecond)}</button></th><td>${market} ${side}</td><td>${strategy}</td><td class="num">${formatDollars(sizeUsd)}</td><td class="num">${priceOf(entryPrice)}</td><td class="num">${closedSecond === null ? 'open' : priceOf(exitPrice)}</td><td class="num">${closedSecond === null ? NONE : spanOf(closedSecond - openedSecond)}</td><td class="num">${formatDollars(costsUsd)}</td><td class="num ${sign(resultUsd < 0n, resultUsd === 0n)}">${signedDollars(resultUsd)}</td><td class="reason">${trade.openReason}</td><td class="reason">${trade.closeReason}</td></tr>`
}

/** Costs by kind. */
export function costs(statistics: Statistics): Html {
  const { turnoverUsd, costsUsd, allCostsBps } = statistics
  const rows = costTable.map(
    ({ kind, name, definition }) =>
      html`<tr><th scope="row">${name}</th><td class="num">${formatDollars(statistics.costs[kind])}</td><td class="num">${numberText(statistics.costsBps[kind])}</td><td class="muted reason">${definition}</td></tr>`,
  )
  return section(
    'costs',
    'Costs',
    table(
      'Costs by kind',
      ['Kind', 'USD', 'bps of turnover', 'Meaning'],
      [
        ...rows,
        html`<tr class="sum"><th scope="row">All</th><td class="num">${formatDollars(costsUsd)}</td><td class="num">${numberText(allCostsBps)}</td><td class="muted">of a turnover of ${formatDollars(turnoverUsd)}</td></tr>`,
      ],
    ),
  )
}

/** Distributions of trades and of days. */
export function distributions({ days, tradeFigures }: Statistics): Html {
  return section(
    'distribution',
    'Distribution',
    tradeFigures.closed > 0 && chart('tradeReturns', 'Closed trades by their result, percent of their size'),
    days.length > 0 && chart('dayReturns', 'Days by their return, percent'),
  )
}

/** Holding as the benchmark. */
export function benchmark({
  madeUsd,
  madeRatio,
  drawdown,
  holdMadeUsd,
  holdRatio,
  holdDrawdown,
}: Statistics): Html {
  if (holdMadeUsd === null || holdDrawdown === null)
    return section('benchmark', 'Benchmark', html`<p>There are no prices to compare with holding.</p>`)
  const row = (name: string, made: string, fall: string): Html =>
    html`<tr><th scope="row">${name}</th><td class="num">${made}</td><td class="num">${fall}</td></tr>`
  return section(
    'benchmark',
    'Benchmark',
    html`<p>Holding: the equity of the beginning in the index assets, in equal parts and without costs.</p>`,
    table(
      'Benchmark',
      ['', 'Made', 'Largest drawdown'],
      [
        row('This', `${signedDollars(madeUsd)} (${signedPercent(madeRatio)})`, percentText(drawdown.ratio)),
        row(
          'Holding',
          `${signedDollars(holdMadeUsd)} (${signedPercent(holdRatio)})`,
          percentText(holdDrawdown.ratio),
        ),
        row('Difference', signedDollars(madeUsd - holdMadeUsd), ''),
      ],
    ),
  )
}

/** The configuration, folded. */
export function configuration({ configuration: rows }: ReportSubject): Html {
  return html`<details><summary>Configuration</summary>${table(
    'Configuration',
    ['Name', 'Value'],
    Object.entries(rows).map(
      ([name, value]) => html`<tr><th scope="row">${name}</th><td class="mono">${value}</td></tr>`,
    ),
  )}</details>`
}
