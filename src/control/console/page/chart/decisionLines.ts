/** Prices that strategies decide by, as lines over the candles of a market: their names, their colours, and which of them are shown. */
import type { VNode } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { html } from '../markup.ts'
import type { Candles } from '../pageWire.ts'
import { zonedText } from '../shownTimes.ts'
import { chartTexts as words } from './chartTexts.ts'

/** A line as it is drawn. */
export interface ShownIndicator {
  /** Its strategy and its name there: `eth-trend fast`. */
  readonly label: string
  /** Class of its colour; the page's sheet has the colour under the same name. */
  readonly tone: string
  readonly points: Candles['indicators'][number]['points']
}

const tones = ['accent', 'warn', 'up', 'down', 'muted']

/** The lines of a report; a colour comes again after five. */
function indicatorsOf(report: Candles | undefined): readonly ShownIndicator[] {
  return (report?.indicators ?? []).map(({ strategy, name, points }, at) => ({
    label: `${strategy} ${name}`,
    tone: tones[at % tones.length] ?? '',
    points,
  }))
}

/** `eth-trend fast 2,001.50`: the newest value of a line at a moment (Unix seconds), in words; nothing before it began. */
export function indicatorText(
  { label, points }: ShownIndicator,
  atSeconds: number,
  priceOf: (price: number) => string,
): string {
  const found = points.findLast(([at]) => at <= atSeconds)
  return found === undefined ? '' : ` ${label} ${priceOf(found[1])}`
}

/** Names of lines that this browser hides, a line each. */
const hiddenKey = 'perpd.hidden'

/** The lines of a report that this browser shows, and the list in which each is shown and hidden. */
export function useIndicators(
  report: Candles | undefined,
): readonly [shown: readonly ShownIndicator[], list: VNode | string] {
  const [hidden, setHidden] = useState(() => localStorage.getItem(hiddenKey)?.split('\n') ?? [])
  const all = useMemo(() => indicatorsOf(report), [report])
  const shown = useMemo(() => all.filter(({ label }) => !hidden.includes(label)), [all, hidden])
  if (all.length === 0) return [shown, '']
  const toggle = (label: string) => {
    const others = hidden.filter((each) => each !== label)
    const next = others.length < hidden.length ? others : [...hidden, label]
    localStorage.setItem(hiddenKey, next.join('\n'))
    setHidden(next)
  }
  const since = Math.min(...all.map(({ points }) => points[0]?.[0] ?? Number.POSITIVE_INFINITY))
  const list = html`<div class="intervals tools" role="group" aria-label=${words.indicators}>
    ${all.map(
      ({ label, tone }) =>
        html`<button key=${label} aria-pressed=${!hidden.includes(label)} onClick=${() => toggle(label)}><span class=${tone} aria-hidden="true">━</span> ${label}</button>`,
    )}
    <small>${words.indicatorsSince(zonedText(since * 1_000))}</small>
  </div>`
  return [shown, list]
}
