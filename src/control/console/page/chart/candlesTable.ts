/** The newest candles of a chart as a table: what the picture shows, for whoever does not see it. */
import type { VNode } from 'preact'
import { Head, html } from '../markup.ts'
import { zoneName } from '../shownTimes.ts'
import type { Candle } from './candleList.ts'
import { chartTexts as words } from './chartTexts.ts'
import { crosshairText } from './chartTimes.ts'

/** Rows of the table. */
const rows = 50
const figures = [words.open, words.high, words.low, words.close]

/** The table, the newest candle first. `priceOf`: a price with the places of its market. */
export function CandlesTable({
  candles,
  priceOf,
}: {
  readonly candles: readonly Candle[]
  readonly priceOf: (price: number) => string
}): VNode {
  const newest = candles.slice(-rows).toReversed()
  return html`<div class="scroll"><table>
    <caption>${words.newest(newest.length, zoneName(Date.now()))}</caption>
    <${Head} titles=${[words.time, ...figures]} figures=${figures} />
    <tbody>${newest.map(
      ({ timestampSeconds, open, high, low, close }) => html`<tr key=${timestampSeconds}>
        <th scope="row" data-label=${words.time}>${crosshairText(timestampSeconds)}</th>
        ${[open, high, low, close].map((price, at) => html`<td class="num" data-label=${figures[at]}>${priceOf(price)}</td>`)}
      </tr>`,
    )}</tbody>
  </table></div>`
}
