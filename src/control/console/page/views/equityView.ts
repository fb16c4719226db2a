/** The curve of the equity, and below it how far it is from its highest. Figures of a chart are numbers; what is said of them is not. */

import type { VNode } from 'preact'
import type uPlot from 'uplot'
import { html, Section, useSlice } from '../markup.ts'
import type { EquityPoint } from '../pageWire.ts'
import { absOf, amountOf, chartNumber, percentText, usdText } from '../shownAmount.ts'
import { drawdowns, type ShownTransfer, transferMarks } from '../shownFigures.ts'
import { momentText } from '../shownTimes.ts'
import { texts } from '../texts.ts'
import { colour, type Drawing, plainAxis, timeAxis, useChart, utcDate } from './chartPlace.ts'

function optionsOf(
  title: 'equity' | 'drawdown',
  size: { readonly width: number; readonly height: number },
): uPlot.Options {
  const isEquity = title === 'equity'
  const line = colour(isEquity ? '--accent' : '--down')
  return {
    ...size,
    tzDate: utcDate,
    padding: [8, 12, isEquity ? 6 : 0, 0],
    legend: { show: false },
    cursor: { sync: { key: 'equity' }, y: false },
    axes: [
      { ...timeAxis(), show: !isEquity },
      {
        ...plainAxis(),
        size: 76,
        values: (_, splits) =>
          splits.map((value) => (isEquity ? `$${value.toLocaleString('en-US')}` : `${value}%`)),
      },
    ],
    scales: isEquity ? {} : { y: { range: (_, low) => [Math.min(low, -0.1), 0] } },
    series: [
      {},
      {
        label: texts.chart[title],
        stroke: line,
        width: 1.5,
        points: { show: false },
        ...(isEquity ? {} : { fill: `${line}33` }),
      },
      ...(isEquity
        ? [
            {
              label: texts.chart.transfers,
              stroke: colour('--ink'),
              paths: () => null,
              points: { show: true, size: 9, fill: colour('--sheet') },
            },
          ]
        : []),
    ],
  }
}

const curve: Drawing<uPlot.AlignedData> = drawingOf('equity', 150)
const fall: Drawing<uPlot.AlignedData> = drawingOf('drawdown', 80)

function drawingOf(title: 'equity' | 'drawdown', heightPx: number): Drawing<uPlot.AlignedData> {
  return { heightPx, optionsOf: (size) => optionsOf(title, size), dataOf: (data) => data }
}

function Curves({
  points,
  peakUsd,
  transfers,
}: {
  readonly points: readonly EquityPoint[]
  readonly peakUsd: bigint
  readonly transfers: readonly ShownTransfer[]
}): VNode {
  const seconds = points.map(({ atMs }) => atMs / 1_000)
  const falls = drawdowns(points, peakUsd, transfers)
  const marks = transferMarks(points, transfers)
  const equity = useChart(
    [
      seconds,
      points.map(({ equityUsd }) => chartNumber(equityUsd)),
      marks.map((equityUsd) => (equityUsd === undefined ? null : chartNumber(equityUsd))),
    ],
    curve,
  )
  const drawdown = useChart([seconds, falls.map((bps) => -bps / 100)], fall)
  const [first, last] = [points[0], points.at(-1)]
  const told = transfers.filter(({ atMs }) => first !== undefined && atMs > first.atMs).slice(-mostTold)
  const deepest = falls.reduce((most, bps) => Math.max(most, bps), 0)
  const summary =
    first === undefined || last === undefined
      ? ''
      : texts.chart.summary(
          usdText(first.equityUsd),
          usdText(last.equityUsd),
          percentText(deepest),
          texts.since(momentText(first.atMs)),
        )
  return html`<figure class="curves">
    <div ref=${equity} aria-hidden="true"></div>
    <div ref=${drawdown} aria-hidden="true"></div>
    <figcaption class="muted">${summary} ${told.map(transferText).join(' ')}</figcaption>
  </figure>`
}

/** Transfers below the curve at most, the newest. */
const mostTold = 5

function transferText({ atMs, amountUsd }: ShownTransfer): string {
  const amount = amountOf(amountUsd)
  return texts.chart.transfer(usdText(absOf(amount)), amount > 0n, momentText(atMs))
}

/** The curve and its fall. */
export function EquityView(): VNode {
  const points = useSlice((state) => state.equity)
  // The peak of before the first figure shows from how high it fell.
  const peak = useSlice((state) => state.status?.equity?.peakUsd)
  const transfers = useSlice((state) => state.status?.transfers) ?? []
  return html`<${Section} id="equity" title=${texts.sections.equity}>
    ${
      points.length < 2
        ? html`<p class="muted">${texts.chart.waiting}</p>`
        : html`<${Curves} points=${points} peakUsd=${amountOf(peak ?? '0')} transfers=${transfers} />`
    }
  <//>`
}
