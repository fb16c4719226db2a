/**
 * The curve of the equity with its deposits and withdrawals, the same without them, and below it how far it is from its highest. Figures of a chart are
 * numbers; what is said of them is not.
 */
import type { VNode } from 'preact'
import type uPlot from 'uplot'
import { html, Section, useSlice } from '../markup.ts'
import type { EquityPoint } from '../pageWire.ts'
import { absOf, amountOf, chartNumber, shareText, signedUsdText, usdText } from '../shownAmount.ts'
import { drawdowns, lessDeposits, type ShownTransfer, transferSteps, WHOLE } from '../shownCurve.ts'
import { zonedText } from '../shownTimes.ts'
import { texts } from '../texts.ts'
import { axisDate, colour, type Drawing, plainAxis, timeAxis, useChart } from './chartPlace.ts'

/** The curve as it is drawn. */
interface Drawn {
  readonly points: readonly EquityPoint[]
  /** The figures without deposits and withdrawals, USD; undefined: there was none. */
  readonly less: readonly bigint[] | undefined
  readonly steps: readonly (bigint | undefined)[]
  /** Millionths. */
  readonly falls: readonly number[]
}

const common = (size: { readonly width: number; readonly height: number }) => ({
  ...size,
  tzDate: axisDate,
  legend: { show: false },
  cursor: { sync: { key: 'equity' }, y: false },
})

/** Names each deposit and withdrawal next to its mark. */
function nameSteps(chart: uPlot, { points, steps }: Drawn): void {
  const { ctx } = chart
  ctx.save()
  ctx.fillStyle = colour('--ink')
  ctx.font = `${11 * devicePixelRatio}px sans-serif`
  for (const [at, step] of steps.entries()) {
    const point = points[at]
    if (step === undefined || point === undefined) continue
    const x = chart.valToPos(point.atMs / 1_000, 'x', true)
    const y = chart.valToPos(chartNumber(point.equityUsd), 'y', true)
    const isRight = x > ctx.canvas.width / 2
    ctx.textAlign = isRight ? 'right' : 'left'
    ctx.fillText(texts.chart.step(signedUsdText(step), step > 0n), x + (isRight ? -8 : 8), y - 8)
  }
  ctx.restore()
}

const curve: Drawing<Drawn> = {
  heightPx: 150,
  optionsOf: (size, newest): uPlot.Options => ({
    ...common(size),
    padding: [16, 12, 6, 0],
    axes: [
      { ...timeAxis(), show: false },
      {
        ...plainAxis(),
        size: 76,
        values: (_, splits) => splits.map((value) => `$${value.toLocaleString('en-US')}`),
      },
    ],
    series: [
      {},
      { label: texts.chart.equity, stroke: colour('--accent'), width: 1.5, points: { show: false } },
      {
        ...{ label: texts.chart.lessDeposits, stroke: colour('--ink'), width: 1.5, dash: [4, 4] },
        points: { show: false },
      },
      {
        label: texts.chart.transfers,
        stroke: colour('--ink'),
        paths: () => null,
        points: { show: true, size: 9, fill: colour('--sheet') },
      },
    ],
    hooks: { draw: [(chart) => nameSteps(chart, newest())] },
  }),
  dataOf: ({ points, less, steps }) => [
    secondsOf(points),
    points.map(({ equityUsd }) => chartNumber(equityUsd)),
    points.map((_, at) => (less === undefined ? null : chartNumber(less[at] ?? 0n))),
    points.map(({ equityUsd }, at) => (steps[at] === undefined ? null : chartNumber(equityUsd))),
  ],
}

const fall: Drawing<Drawn> = {
  heightPx: 80,
  optionsOf: (size): uPlot.Options => ({
    ...common(size),
    padding: [8, 12, 0, 0],
    axes: [
      timeAxis(),
      { ...plainAxis(), size: 76, values: (_, splits) => splits.map((value) => `${value}%`) },
    ],
    scales: { y: { range: (_, low) => [Math.min(low, -0.1), 0] } },
    series: [
      {},
      {
        ...{ label: texts.chart.drawdown, stroke: colour('--down'), width: 1.5, points: { show: false } },
        fill: `${colour('--down')}33`,
      },
    ],
  }),
  dataOf: ({ points, falls }) => [secondsOf(points), falls.map((millionths) => -millionths / 10_000)],
}

const secondsOf = (points: readonly EquityPoint[]): number[] => points.map(({ atMs }) => atMs / 1_000)

function Curves({
  points,
  peakUsd,
  transfers,
}: {
  readonly points: readonly EquityPoint[]
  readonly peakUsd: bigint
  readonly transfers: readonly ShownTransfer[]
}): VNode {
  const [first, last] = [points[0], points.at(-1)]
  const shown = transfers.filter(
    ({ atMs }) => first !== undefined && last !== undefined && atMs > first.atMs && atMs <= last.atMs,
  )
  const less = shown.length === 0 ? undefined : lessDeposits(points, shown)
  const falls = drawdowns(points, peakUsd, transfers)
  const drawn: Drawn = { points, falls, less, steps: transferSteps(points, shown) }
  const equity = useChart(drawn, curve)
  const drawdown = useChart(drawn, fall)
  const deepest = falls.reduce((most, each) => Math.max(most, each), 0)
  const summary =
    first === undefined || last === undefined
      ? ''
      : texts.chart.summary(
          usdText(first.equityUsd),
          usdText(last.equityUsd),
          shareText(BigInt(deepest), WHOLE),
          texts.since(zonedText(first.atMs)),
        )
  const rest = less?.at(-1)
  return html`<figure class="curves">
    <div ref=${equity} aria-hidden="true"></div>
    <div ref=${drawdown} aria-hidden="true"></div>
    <figcaption class="muted">${summary} ${shown.slice(-mostTold).map(transferText).join(' ')}
      ${first === undefined || rest === undefined ? '' : html`<strong>${texts.chart.less(usdText(rest), signedUsdText(rest - amountOf(first.equityUsd)))}</strong>`}</figcaption>
  </figure>`
}

/** Transfers below the curve at most, the newest. */
const mostTold = 5

function transferText({ atMs, amountUsd }: ShownTransfer): string {
  const amount = amountOf(amountUsd)
  return texts.chart.transfer(usdText(absOf(amount)), amount > 0n, zonedText(atMs))
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
