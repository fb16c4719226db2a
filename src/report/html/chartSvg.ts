/** Charts of a report as SVG of their own: for images, and for whatever draws no HTML. Pure. */
import { fallMoments, withoutTransfers } from '../figures/drawdown.ts'
import { decimalOf, momentOf } from '../figures/figureText.ts'
import type { ReportSubject } from '../figures/reportSubject.ts'
import type { Statistics } from '../figures/statistics.ts'
import { costTable } from '../figures/statisticTable.ts'

/** One line of a chart: its points by Unix second, null where there is none. */
interface Line {
  readonly name: string
  readonly colour: string
  readonly values: readonly (number | null)[]
}

/** Size of a chart and of its margins, pixels. */
const [WIDTH, HEIGHT] = [1200, 480]
const margin = { left: 96, right: 24, top: 56, bottom: 40 }
/** Most points of a line: more than pixels show nothing. */
const MOST_POINTS = 1_152
const [Y_STEPS, X_STEPS] = [5, 4]
/** Most names below bars that do not touch. */
const MOST_NAMES = 12

/** The charts of a subject by the name of their file: worth of the account with holding, the fall from its highest point, returns by month, and costs by kind. Empty without a curve. */
export function chartSvgs(
  subject: ReportSubject,
  { months, costs }: Statistics,
): ReadonlyMap<string, string> {
  const { equity, transfers, title } = subject
  const shown = thinned(equity)
  if (shown.length < 2) return new Map()
  const seconds = shown.map(({ second }) => second)
  const dollars = (amount: bigint | null): number | null =>
    amount === null ? null : Number(decimalOf(amount))
  const falls = new Map(
    fallMoments(withoutTransfers(equity, transfers)).map(({ second, ratio }) => [second, ratio]),
  )
  const fall = (second: number): number | null => falls.get(second)?.times(100).toNumber() ?? null
  const worth: Line = {
    name: 'Equity',
    colour: '#2563eb',
    values: shown.map(({ equityUsd }) => dollars(equityUsd)),
  }
  const hold: Line = {
    name: 'Holding',
    colour: '#9ca3af',
    values: shown.map(({ holdUsd }) => dollars(holdUsd)),
  }
  const lines = hold.values.every((value) => value === null) ? [worth] : [hold, worth]
  const drawdown: Line = { name: 'Drawdown', colour: '#dc2626', values: seconds.map(fall) }
  return new Map([
    ['equity', chartOf(`${title}: equity, USD`, seconds, lines)],
    ['drawdown', chartOf(`${title}: drawdown, %`, seconds, [drawdown])],
    ...(months.length === 0
      ? []
      : [
          [
            'months',
            barsOf(
              `${title}: returns by month, %`,
              months.map(({ month, ratio }) => [month, ratio.times(100).toNumber()]),
            ),
          ] as const,
        ]),
    [
      'costs',
      barsOf(
        `${title}: costs, USD`,
        costTable.map(({ kind, name }) => [name, dollars(costs[kind]) ?? 0]),
      ),
    ],
  ])
}

function thinned<Row>(rows: readonly Row[]): readonly Row[] {
  if (rows.length <= MOST_POINTS) return rows
  const last = rows.at(-1) as Row
  const spread = Array.from(
    { length: MOST_POINTS - 1 },
    (_, at) => rows[Math.floor((at * rows.length) / (MOST_POINTS - 1))] as Row,
  )
  return [...spread, last]
}

function chartOf(title: string, seconds: readonly number[], lines: readonly Line[]): string {
  const all = lines.flatMap(({ values }) => values.filter((value) => value !== null))
  const [least, most] = [Math.min(...all), Math.max(...all)]
  const span = most > least ? most - least : 1
  const [first, last] = [seconds[0] ?? 0, seconds.at(-1) ?? 1]
  const x = (second: number): number =>
    margin.left + ((second - first) / Math.max(1, last - first)) * (WIDTH - margin.left - margin.right)
  const y = (value: number): number =>
    HEIGHT - margin.bottom - ((value - least) / span) * (HEIGHT - margin.top - margin.bottom)
  const rows = Array.from({ length: Y_STEPS + 1 }, (_, step) => least + (span * step) / Y_STEPS).map(
    (value) =>
      `<line x1="${margin.left}" x2="${WIDTH - margin.right}" y1="${round(y(value))}" y2="${round(y(value))}" stroke="#e5e7eb"/>${text(margin.left - 8, y(value) + 5, value.toFixed(2), 'end')}`,
  )
  const times = Array.from(
    { length: X_STEPS + 1 },
    (_, step) => first + Math.floor(((last - first) * step) / X_STEPS),
  ).map((second, step) =>
    text(
      x(second),
      HEIGHT - 12,
      momentOf(second),
      step === 0 ? 'start' : step === X_STEPS ? 'end' : 'middle',
    ),
  )
  const drawn = lines.map(
    ({ values, colour }) =>
      `<path d="${pathOf(seconds, values, x, y)}" fill="none" stroke="${colour}" stroke-width="2"/>`,
  )
  const names = lines.map(
    ({ name, colour }, at) =>
      `<rect x="${margin.left + at * 120}" y="36" width="16" height="4" fill="${colour}"/>${text(margin.left + at * 120 + 22, 43, name, 'start')}`,
  )
  return pictureOf(title, [...rows, ...times, ...drawn, ...names])
}

/** Bars up and down from zero, each with its name below the chart and its figure at its end. */
function barsOf(title: string, bars: readonly (readonly [name: string, value: number])[]): string {
  const values = [0, ...bars.map(([, value]) => value)]
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const span = most > least ? most - least : 1
  const wide = (WIDTH - margin.left - margin.right) / bars.length
  // Figures stand beyond the ends of bars.
  const [top, bottom] = [margin.top + 20, HEIGHT - margin.bottom - 24]
  const y = (value: number): number => bottom - ((value - least) / span) * (bottom - top)
  const drawn = bars.map(([name, value], at) => {
    const [x, end, zero] = [margin.left + (at + 0.5) * wide, y(value), y(0)]
    const bar = `<rect x="${round(x - wide * 0.35)}" y="${round(Math.min(end, zero))}" width="${round(wide * 0.7)}" height="${round(Math.abs(end - zero))}" fill="#2563eb"/>`
    const figure = text(x, value < 0 ? end + 18 : end - 6, value.toFixed(2), 'middle')
    return `${bar}${bars.length > MOST_NAMES ? '' : figure}${at % Math.ceil(bars.length / MOST_NAMES) === 0 ? text(x, HEIGHT - 12, name, 'middle') : ''}`
  })
  const line = `<line x1="${margin.left}" x2="${WIDTH - margin.right}" y1="${round(y(0))}" y2="${round(y(0))}" stroke="#374151"/>`
  return pictureOf(title, [...drawn, line])
}

function pictureOf(title: string, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}"><rect width="100%" height="100%" fill="#ffffff"/>${text(margin.left, 24, title, 'start')}${parts.join('')}</svg>`
}

const round = (value: number): string => value.toFixed(1)

function pathOf(
  seconds: readonly number[],
  values: readonly (number | null)[],
  x: (second: number) => number,
  y: (value: number) => number,
): string {
  let isDown = false
  const steps = values.map((value, at) => {
    if (value === null) {
      isDown = false
      return ''
    }
    const step = `${isDown ? 'L' : 'M'}${round(x(seconds[at] ?? 0))} ${round(y(value))}`
    isDown = true
    return step
  })
  return steps.join('')
}

function text(x: number, y: number, value: string, anchor: 'start' | 'middle' | 'end'): string {
  const safe = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return `<text x="${round(x)}" y="${round(y)}" font-family="sans-serif" font-size="15" fill="#374151" text-anchor="${anchor}">${safe}</text>`
}
