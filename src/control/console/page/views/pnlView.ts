/** PnL by UTC day as bars and as a calendar whose days open their fills, and by strategy or market over time. */
import type { VNode } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { Head, html, Section, useBounded } from '../markup.ts'
import type { DayFills, PnlAnswer, PnlLine } from '../pageWire.ts'
import { resultTexts as words } from '../resultTexts.ts'
import { absOf, amountOf, chartNumber, signedUsdText } from '../shownAmount.ts'
import { authorText } from '../shownFigures.ts'
import { type CalendarDay, calendarOf, lastDays, linesOf, type ResultLine } from '../shownResults.ts'
import { clockText, utcText } from '../shownTimes.ts'
import { colour, type Drawing, plainAxis, timeAxis, useChart, utcDate } from './chartPlace.ts'
import { toneOf } from './headlineView.ts'
import { useReading } from './resultsView.ts'

/** Days of the bars, and weeks of the calendar at first. */
const [barDays, firstWeeks] = [60, 6]

/** A bar for each day, above the line for what was won and below it for what was lost. */
function Bars({ rows }: { readonly rows: readonly PnlLine[] }): VNode {
  const days = lastDays(rows, barDays)
  const amounts = days.map(({ centsUsd = 0n }) => centsUsd)
  const most = amounts.reduce((high, each) => (absOf(each) > high ? absOf(each) : high), 1n)
  const least = amounts.reduce((low, each) => (each < low ? each : low), 0n)
  const best = amounts.reduce((high, each) => (each > high ? each : high), 0n)
  const label = words.bars(days.length, signedUsdText(best), signedUsdText(least))
  return html`<div class="day-bars" role="img" aria-label=${label}>
    ${days.map(({ day, centsUsd = 0n }) => {
      const height = `${Number((absOf(centsUsd) * 1_000n) / most) / 20}%`
      return html`<span key=${day} title=${`${day} ${signedUsdText(centsUsd)}`}><span class=${toneOf(centsUsd)} style=${{ height }}></span></span>`
    })}
  </div>`
}

function DayCell({
  day,
  isOpen,
  onOpen,
}: {
  readonly day: CalendarDay
  readonly isOpen: boolean
  readonly onOpen: (day: string) => void
}): VNode {
  const { centsUsd } = day
  // A phone has no heads of columns: the name of the day stands beside its date there.
  const name = words.weekdays[(new Date(day.day).getUTCDay() + 6) % 7]
  const date = html`<small class=${centsUsd === undefined ? 'muted' : ''} data-name=${name}>${day.day.slice(8)}</small>`
  if (centsUsd === undefined) return html`<td class="day">${date}</td>`
  const amount = signedUsdText(centsUsd)
  return html`<td class="day"><button class=${toneOf(centsUsd)} aria-pressed=${isOpen} aria-label=${words.dayLabel(day.day, amount)} onClick=${() => onOpen(day.day)}>
    ${date} ${amount}</button></td>`
}

function Fills({ day }: { readonly day: string }): VNode {
  const { value, problem } = useReading<DayFills>(`/api/fills?day=${day}`)
  if (value === undefined) return html`<p class="muted">${problem === '' ? words.waiting : problem}</p>`
  const names = words.fillColumns
  return html`<div id="day-fills">
    <h3>${words.fillsOf(day)}</h3>
    ${value.rows.length === 0 ? html`<p class="muted">${words.noFills}</p>` : ''}
    <div class="scroll"><table>
      <${Head} titles=${Object.values(names)} figures=${[names.size, names.result]} />
      <tbody>
        ${value.rows.map(
          ({
            id,
            strategy,
            filledAt,
            market,
            direction,
            sizeDeltaUsd,
            resultUsd,
          }) => html`<tr key=${`${id} ${strategy}`}>
            <th scope="row" class="num" data-label=${names.time}>${clockText(Date.parse(filledAt))}</th>
            <td class="text" data-label=${names.market}>${market} ${direction}</td>
            <td class="text" data-label=${names.strategy}>${authorText(strategy)}</td>
            <td class="num" data-label=${names.size}>${signedUsdText(sizeDeltaUsd)}</td>
            <td class=${`num ${toneOf(amountOf(resultUsd))}`} data-label=${names.result}>${signedUsdText(resultUsd)}</td>
          </tr>`,
        )}
        <tr><th scope="row" colspan="4">${words.sending}</th><td class="num">${signedUsdText(-amountOf(value.sendingUsd))}</td></tr>
        <tr class="sum"><th scope="row" colspan="4">${words.dayPnl}</th><td class=${`num ${toneOf(amountOf(value.pnlUsd))}`}>${signedUsdText(value.pnlUsd)}</td></tr>
      </tbody>
    </table></div>
  </div>`
}

/** The section of days. */
export function DaysView(): VNode {
  const { value, problem } = useReading<PnlAnswer>('/api/pnl?by=day')
  const [open, setOpen] = useState('')
  const rows = value?.rows ?? []
  const weeks = useMemo(() => calendarOf(rows), [value])
  const [shown, more, showMore] = useBounded(weeks, firstWeeks)
  if (rows.length === 0)
    return html`<${Section} id="days" title=${words.days}>
      <p class="muted">${problem || (value === undefined ? words.waiting : words.none)}</p>
    <//>`
  return html`<${Section} id="days" title=${words.days}>
    <${Bars} rows=${rows} />
    <div class="scroll"><table class="calendar">
      <thead><tr><th scope="col">${words.week}</th>${words.weekdays.map((name) => html`<th scope="col" key=${name}>${name}</th>`)}<th scope="col" class="num">${words.weekSum}</th></tr></thead>
      <tbody>${shown.map(
        ({ start, days, centsUsd }) => html`<tr key=${start}>
          <th scope="row" class="num">${start}</th>
          ${days.map((day) => html`<${DayCell} key=${day.day} day=${day} isOpen=${open === day.day} onOpen=${(each: string) => setOpen(open === each ? '' : each)} />`)}
          <td class=${`num ${toneOf(centsUsd)}`} data-label=${words.weekSum}>${signedUsdText(centsUsd)}</td>
        </tr>`,
      )}</tbody>
    </table></div>
    ${more > 0 ? html`<div class="tools"><button onClick=${showMore}>${words.older}</button></div>` : ''}
    <p class="muted">${words.daysHint}</p>
    ${open === '' ? '' : html`<${Fills} day=${open} />`}
  <//>`
}

/** Colours and dashes of the lines: none is told from another by its colour alone. */
const strokes = ['--accent', '--up', '--down', '--ink'] as const

const halfDaySeconds = 43_200

interface Drawn {
  readonly seconds: readonly number[]
  readonly lines: readonly ResultLine[]
}

const overTime: Drawing<Drawn> = {
  heightPx: 180,
  optionsOf: (size, newest): uPlot.Options => ({
    ...size,
    tzDate: utcDate,
    padding: [8, 12, 0, 0],
    legend: { show: false },
    // A single day lies in the middle; else the library would show it at the edge of years.
    scales: {
      x: {
        range: ({ data }, from, to) =>
          data[0].length === 1 ? [from - halfDaySeconds, from + halfDaySeconds] : [from, to],
      },
    },
    axes: [
      timeAxis(utcText),
      {
        ...plainAxis(),
        size: 76,
        values: (_, splits) => splits.map((value) => `${value}`.replace(/^(-?)/, '$1$$')),
      },
    ],
    series: [
      {},
      ...newest().lines.map(({ name }, at) => ({
        label: authorText(name),
        stroke: colour(strokes[at % strokes.length] ?? '--ink'),
        width: 1.5,
        dash: at < strokes.length ? [] : [4, 4],
        points: { show: newest().seconds.length < 2 },
      })),
    ],
  }),
  dataOf: ({ seconds, lines }) => [
    [...seconds],
    ...lines.map(({ sumsUsd }) => sumsUsd.map((each) => chartNumber(each))),
  ],
}

function Lines({
  days,
  lines,
}: {
  readonly days: readonly string[]
  readonly lines: readonly ResultLine[]
}): VNode {
  const drawn = useMemo(
    () => ({ seconds: days.map((day) => Date.parse(`${day}T00:00:00Z`) / 1_000), lines }),
    [days, lines],
  )
  const place = useChart(drawn, overTime)
  const names = words.lineColumns
  return html`<figure class="curves">
      <div ref=${place} aria-hidden="true"></div>
      <figcaption class="muted">${words.overSummary(lines.map(({ name }) => authorText(name)).join(', '))}</figcaption>
    </figure>
    <div class="scroll"><table>
      <${Head} titles=${Object.values(names)} figures=${[names.pnl, names.won]} />
      <tbody>${lines.map(
        ({ name, centsUsd, wins, trades }) => html`<tr key=${name}>
          <th scope="row" class="text" data-label=${names.name}>${authorText(name)}</th>
          <td class=${`num ${toneOf(centsUsd)}`} data-label=${names.pnl}>${signedUsdText(centsUsd)}</td>
          <td class="num" data-label=${names.won}>${words.won(wins, trades)}</td>
        </tr>`,
      )}</tbody>
    </table></div>`
}

/** The section of strategies or markets over time. */
export function OverTimeView(): VNode {
  const [each, setEach] = useState<'strategy' | 'market'>('strategy')
  const { value, problem } = useReading<PnlAnswer>(`/api/pnl?by=day&each=${each}`)
  const found = useMemo(() => linesOf(value?.rows ?? [], words.others), [value])
  const tools = html`<label>${words.by} <select name="each" value=${each} onChange=${(event: Event) =>
    setEach((event.currentTarget as HTMLSelectElement).value === 'market' ? 'market' : 'strategy')}>
    ${(['strategy', 'market'] as const).map((name) => html`<option key=${name} value=${name}>${words.each[name]}</option>`)}
  </select></label>`
  return html`<${Section} id="over-time" title=${words.over} tools=${tools}>
    ${
      found.lines.length === 0
        ? html`<p class="muted">${problem || (value === undefined ? words.waiting : words.none)}</p>`
        : // Lines of another grouping are another chart.
          html`<${Lines} key=${`${each} ${found.lines.map(({ name }) => authorText(name)).join()}`} days=${found.days} lines=${found.lines} />`
    }
  <//>`
}
