/** Orders that rest at the venue, those of the account's other clients too: what each is, how far its trigger is, and whose it is. */
import type { VNode } from 'preact'
import { Head, html, Section, useBounded, usePage, useSlice } from '../markup.ts'
import type { RestingOrder } from '../pageWire.ts'
import { NOTHING, placesOf, priceText, shareText, usdText } from '../shownAmount.ts'
import { isRestingFound } from '../shownFigures.ts'
import { texts } from '../texts.ts'
import { Card, useIsNarrow, useSteadyRows } from './cards.ts'
import { ownerText } from './ownerText.ts'

const { resting: words } = texts
const firstRows = 25
const figures: readonly string[] = [words.trigger, words.away, words.size]
const titles = [words.type, words.market, words.trigger, words.away, words.size, words.owner, words.order]

/** Hundredths of a basis point of a whole. */
const WHOLE_BPS100 = 1_000_000n

/** The trigger in the places of its market, told by the mark. */
function triggerText({ triggerPrice, markPrice }: RestingOrder): string {
  if (triggerPrice === null) return NOTHING
  return priceText(triggerPrice, placesOf(markPrice ?? triggerPrice))
}

function awayText(distanceBps100: number | null): string {
  if (distanceBps100 === null) return NOTHING
  const text = shareText(BigInt(distanceBps100), WHOLE_BPS100)
  return distanceBps100 > 0 ? `+${text}` : text
}

function RestingLine({ row }: { readonly row: RestingOrder }): VNode {
  const { show } = usePage()
  const { type, isFrozen, market, direction, distanceBps100, sizeUsd, intentId } = row
  const id = intentId?.slice(0, 8)
  return html`<tr>
    <th scope="row" data-label=${words.type}>${type}${isFrozen ? html` <strong class="mark warn">${words.frozen}</strong>` : ''}</th>
    <td data-label=${words.market}>${market} <span class=${`side ${direction}`}>${direction === 'long' ? '↑' : '↓'} ${direction}</span></td>
    <td class="num" data-label=${words.trigger}>${triggerText(row)}</td>
    <td class="num" data-label=${words.away}>${awayText(distanceBps100)}</td>
    <td class="num" data-label=${words.size}>${usdText(sizeUsd)}</td>
    <td data-label=${words.owner}>${ownerText(row.ownerKind, row.owner)}</td>
    <td data-label=${words.order}>${
      intentId === null || id === undefined
        ? NOTHING
        : html`<button class="link mono" aria-label=${texts.orders.story(id)} onClick=${() => show(intentId)}>${id}</button>`
    }</td>
  </tr>`
}

function RestingCard({ row }: { readonly row: RestingOrder }): VNode {
  const { show } = usePage()
  const { type, isFrozen, market, direction, distanceBps100, sizeUsd, intentId } = row
  const what = words.what(type, market.split(' ')[0] ?? market, direction, usdText(sizeUsd))
  return html`<${Card} onTap=${intentId === null ? undefined : () => show(intentId)}
    first=${[what, awayText(distanceBps100)]}
    second=${[
      html`${triggerText(row)} ${isFrozen ? html`<strong class="mark warn">${words.frozen}</strong>` : words.rests}`,
      ownerText(row.ownerKind, row.owner),
    ]}>
    <dl class="facts"><div><dt>${words.market}</dt><dd>${market}</dd></div></dl>
  <//>`
}

/** The section. */
export function RestingView(): VNode {
  const status = useSlice((state) => state.status)
  const find = useSlice((state) => state.find)
  const isNarrow = useIsNarrow()
  const all = status?.restingOrders ?? []
  const found = all.filter((row) => isRestingFound(find, row))
  const [bounded, more, showMore] = useBounded(found, firstRows)
  const [shown, place] = useSteadyRows(bounded, ({ orderKey }) => orderKey)
  const empty = status === undefined ? texts.loading : all.length === 0 ? words.none : texts.nothingFound
  const lines = isNarrow
    ? html`<ul class="cards">${shown.map((row) => html`<${RestingCard} key=${row.orderKey} row=${row} />`)}</ul>`
    : html`<table>
        <${Head} titles=${titles} figures=${figures} />
        <tbody>${shown.map((row) => html`<${RestingLine} key=${row.orderKey} row=${row} />`)}</tbody>
      </table>`
  return html`<${Section} id="resting" title=${texts.sections.resting} count=${texts.shownOf(shown.length, all.length)}>
    ${shown.length === 0 ? html`<p class="muted">${empty}</p>` : html`<div class="scroll" ref=${place}>${lines}</div>`}
    ${more > 0 ? html`<div class="tools"><button onClick=${showMore}>${texts.more(more)}</button></div>` : ''}
  <//>`
}
