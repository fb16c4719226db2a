/** Orders that rest at the venue, those of the account's other clients too: what each is, how far its trigger is, and whose it is. */
import type { VNode } from 'preact'
import { maintainerOf } from '../chart/chartLevels.ts'
import { Head, html, Section, useBounded, useMayCommand, usePage, useSlice } from '../markup.ts'
import { newCommandId } from '../newCommandId.ts'
import { cancelLegCommand, moveOrderCommand, protectCommand } from '../pageCommands.ts'
import type { RestingOrder } from '../pageWire.ts'
import { NOTHING, placesOf, priceText, shareText, usdText } from '../shownAmount.ts'
import { isRestingFound, positionOfSide } from '../shownFigures.ts'
import { texts } from '../texts.ts'
import { Card, useIsNarrow, useSteadyRows } from './cards.ts'
import { ownerText } from './ownerText.ts'

const { resting: words } = texts
const firstRows = 25
const figures: readonly string[] = [words.trigger, words.away, words.size]
const titles = [words.type, words.market, words.trigger, words.away, words.size, words.owner, words.order, '']

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

/**
 * Buttons of an order. One that a running strategy or task maintains would be moved back: an exit of one's own is offered instead of its move, where a
 * position is held. What waits for no price has none to move to.
 */
function Buttons({ row }: { readonly row: RestingOrder }): VNode | null {
  const { command, store } = usePage()
  const status = useSlice((state) => state.status)
  if (!useMayCommand() || status === undefined) return null
  const { type, direction, market, triggerPrice } = row
  const isKept = maintainerOf(row, status) !== undefined
  const isExit = type === 'stop' || type === 'target'
  const position = isKept && isExit ? positionOfSide(store.get(), row) : undefined
  const button = (what: string, onClick: () => void) =>
    html`<button type="button" aria-label=${words.act(what, type, direction, market, triggerText(row))} onClick=${onClick}>${what}</button>`
  return html`${position === undefined ? '' : button(texts.positions.protect, () => command(protectCommand(position, status)))}
    ${isKept || triggerPrice === null ? '' : button(words.move, () => command(moveOrderCommand(row, triggerText(row), newCommandId())))}
    ${button(texts.orders.cancel, () => command(cancelLegCommand(row, newCommandId())))}`
}

function RestingLine({ row }: { readonly row: RestingOrder }): VNode {
  const { show } = usePage()
  const { type, isFrozen, market, direction, distanceBps100, sizeUsd, intentId } = row
  const id = intentId?.slice(0, 8)
  return html`<tr>
    <th scope="row">${type}${isFrozen ? html` <strong class="mark warn">${words.frozen}</strong>` : ''}</th>
    <td>${market} <span class=${`side ${direction}`}>${direction === 'long' ? '↑' : '↓'} ${direction}</span></td>
    <td class="num">${triggerText(row)}</td>
    <td class="num">${awayText(distanceBps100)}</td>
    <td class="num">${usdText(sizeUsd)}</td>
    <td>${ownerText(row.ownerKind, row.owner)}</td>
    <td>${
      intentId === null || id === undefined
        ? NOTHING
        : html`<button class="link mono" aria-label=${texts.orders.story(id)} onClick=${() => show(intentId)}>${id}</button>`
    }</td>
    <td class="tools"><${Buttons} row=${row} /></td>
  </tr>`
}

function RestingCard({ row }: { readonly row: RestingOrder }): VNode {
  const { show } = usePage()
  const { type, isFrozen, market, direction, distanceBps100, sizeUsd, intentId } = row
  const what = words.what(type, market.split(' ')[0] ?? market, direction, usdText(sizeUsd))
  return html`<${Card}
    first=${[what, awayText(distanceBps100)]}
    second=${[
      html`${triggerText(row)} ${isFrozen ? html`<strong class="mark warn">${words.frozen}</strong>` : words.rests}`,
      ownerText(row.ownerKind, row.owner),
    ]}>
    <dl class="facts"><div><dt>${words.market}</dt><dd>${market}</dd></div></dl>
    <div class="tools">
      ${intentId === null ? '' : html`<button aria-label=${texts.orders.story(intentId.slice(0, 8))} onClick=${() => show(intentId)}>${texts.orders.storyButton}</button>`}
      <${Buttons} row=${row} />
    </div>
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
