/** The preview of an order by hand: one table of its costs, and what follows from it. Every figure is the daemon's own. */
import type { VNode } from 'preact'
import { html } from '../markup.ts'
import {
  percentText,
  placesOf,
  priceText,
  ratioText,
  signedUsdText,
  timesText,
  usdText,
} from '../shownAmount.ts'
import type { Quote } from './ticket.ts'
import { ticketTexts as words } from './ticketTexts.ts'

type Shown = Quote['after']

/** Rows of figures: name, expected, at most. */
function costRows({
  expected,
  boundPriceUsd,
  venueFeesUsd,
  orderFeesUsd,
  worstCostUsd,
  comesBackUsd,
}: Quote) {
  const known = (value: string | null) => (value === null ? words.unknown : usdText(value))
  const most = (value: string | null) => (value === null ? words.any : usdText(value))
  return [
    [words.impact, known(expected.priceImpactUsd), most(boundPriceUsd)],
    [words.fee, usdText(expected.positionFeeUsd), usdText(venueFeesUsd)],
    [
      words.sendingCost(comesBackUsd === null ? undefined : usdText(comesBackUsd)),
      known(expected.sendingUsd),
      usdText(orderFeesUsd),
    ],
    [words.all, usdText(expected.totalUsd), most(worstCostUsd)],
  ] as const
}

function positionText(shown: Shown): string {
  if (shown === null) return words.none
  return `${usdText(shown.sizeUsd)}${shown.leverageBps === null ? '' : ` ${timesText(shown.leverageBps)}`}`
}

function liquidationText(shown: Shown, places: number): string {
  return shown?.liquidationPrice == null ? words.none : priceText(shown.liquidationPrice, places)
}

/** Facts below the table, by name. */
function factsOf(quote: Quote): readonly (readonly [string, string])[] {
  const { before, after, lostAtStopUsd, wonAtTargetUsd, limits, exits, cap, tokens, sizeUsd } = quote
  // The price now tells the places of the market, whatever the others are.
  const places = placesOf(quote.referencePrice)
  const price = (value: string) => priceText(value, places)
  const way = after?.liquidationBps == null ? '' : `, ${words.away(percentText(after.liquidationBps))}`
  const hasStop = exits.some(({ type }) => type === 'stop-loss')
  const first = after?.liquidationPrice == null ? '' : `; ${hasStop ? words.stopFirst : words.noStop}`
  const ratio =
    lostAtStopUsd === null || wonAtTargetUsd === null || BigInt(lostAtStopUsd) >= 0n
      ? ''
      : ` (${words.ratio(ratioText(wonAtTargetUsd, lostAtStopUsd))})`
  return [
    [words.market, quote.chosen ?? quote.market],
    [words.size, `${usdText(sizeUsd)}, ${tokens}`],
    ...(cap === null ? [] : [[words.cap, cap] as const]),
    [words.fills, price(quote.triggerPrice ?? quote.referencePrice)],
    [words.bound, quote.boundPrice === null ? words.any : price(quote.boundPrice)],
    ...exits.map(({ type, triggerPrice }) => [type, price(triggerPrice)] as const),
    [words.position, `${positionText(before)} > ${positionText(after)}`],
    [
      words.liquidation,
      after === null
        ? words.unknown
        : `${liquidationText(before, places)} > ${liquidationText(after, places)}${way}${first}`,
    ],
    ...(lostAtStopUsd === null ? [] : [[words.lost, signedUsdText(lostAtStopUsd)] as const]),
    ...(wonAtTargetUsd === null ? [] : [[words.won, `${signedUsdText(wonAtTargetUsd)}${ratio}`] as const]),
    ...limits.map(
      ({ limit, usedUsd, wholeUsd }) =>
        [words.limits, words.limitUsed(limit, usdText(usedUsd), usdText(wholeUsd))] as const,
    ),
    ...quote.guardWarnings.map((text) => [words.warning, text] as const),
  ]
}

/** The table. `before`: what was shown last, whose differences are marked. */
export function QuoteTable({
  quote,
  before,
}: {
  readonly quote: Quote
  readonly before: Quote | undefined
}): VNode {
  const old = before === undefined ? undefined : costRows(before)
  const oldFacts = before === undefined ? undefined : new Map(factsOf(before))
  const mark = (differs: boolean) => (differs ? 'num changed' : 'num')
  return html`<div class="quote">
    <h3 id="quote-title" tabindex="-1">${words.preview}</h3>
    ${before === undefined ? '' : html`<p class="warn">${words.changed}</p>`}
    <table aria-labelledby="quote-title">
      <thead><tr><th scope="col">${words.costs}</th><th scope="col" class="num">${words.expected}</th><th scope="col" class="num">${words.atMost}</th></tr></thead>
      <tbody>${costRows(quote).map(
        ([name, expected, most], at) => html`<tr key=${at}><th scope="row">${name}</th>
          <td class=${mark(old !== undefined && old[at]?.[1] !== expected)}>${expected}</td>
          <td class=${mark(old !== undefined && old[at]?.[2] !== most)}>${most}</td></tr>`,
      )}</tbody>
    </table>
    <dl class="facts">${factsOf(quote).map(
      ([name, text]) =>
        html`<div key=${`${name} ${text}`}><dt>${name}</dt><dd class=${mark(oldFacts !== undefined && oldFacts.get(name) !== text)}>${text}</dd></div>`,
    )}</dl>
  </div>`
}
