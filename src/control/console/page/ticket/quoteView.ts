/** The preview of an order by hand: one table of its costs, and what follows from it. Every word and figure is the daemon's own. */
import type { VNode } from 'preact'
import { html } from '../markup.ts'
import type { Quote } from './ticket.ts'
import { ticketTexts as words } from './ticketTexts.ts'

/** Rows of a quote beside its table. */
const factsOf = ({ rows: { order, outcome } }: Quote) => [...order, ...outcome]

/** The table. `before`: what was shown last, whose differences are marked. */
export function QuoteTable({
  quote,
  before,
}: {
  readonly quote: Quote
  readonly before: Quote | undefined
}): VNode {
  const old = before?.rows.costs
  const oldFacts = before === undefined ? undefined : new Set(factsOf(before).map(String))
  const mark = (differs: boolean) => (differs ? 'num changed' : 'num')
  return html`<div class="quote">
    <h3 id="quote-title" tabindex="-1">${words.preview}</h3>
    ${before === undefined ? '' : html`<p class="warn">${words.changed}</p>`}
    <table aria-labelledby="quote-title">
      <thead><tr><th scope="col">${words.costs}</th><th scope="col" class="num">${words.expected}</th><th scope="col" class="num">${words.atMost}</th></tr></thead>
      <tbody>${quote.rows.costs.map(
        ([name, expected, most], at) => html`<tr key=${at}><th scope="row">${name}</th>
          <td data-label=${words.expected} class=${mark(old !== undefined && old[at]?.[1] !== expected)}>${expected}</td>
          <td data-label=${words.atMost} class=${mark(old !== undefined && old[at]?.[2] !== most)}>${most}</td></tr>`,
      )}</tbody>
    </table>
    <dl class="facts">${factsOf(quote).map(
      (row) =>
        html`<div key=${String(row)}><dt>${row[0]}</dt><dd class=${oldFacts?.has(String(row)) === false ? 'changed' : ''}>${row[1]}</dd></div>`,
    )}</dl>
  </div>`
}
