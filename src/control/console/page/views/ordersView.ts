/** Orders, newest first: a bounded number of rows, each drawn again only when it says something else. */
import { Fragment, type VNode } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { placesOfMarket } from '../chart/chartLevels.ts'
import { Head, html, kept, Section, useBounded, useMayCommand, usePage, useSlice } from '../markup.ts'
import { newCommandId } from '../newCommandId.ts'
import { cancelCommand } from '../pageCommands.ts'
import type { Order } from '../pageWire.ts'
import { NOTHING, priceText, signedUsdText, usdText } from '../shownAmount.ts'
import {
  authorText,
  isCancellable,
  isFound,
  isOpenOrder,
  orderPnlOf,
  partFilledUsd,
} from '../shownFigures.ts'
import { millisOf, momentText } from '../shownTimes.ts'
import { mostOrders } from '../store/pageOrders.ts'
import { texts } from '../texts.ts'
import { Card, useIsNarrow } from './cards.ts'
import { toneOf } from './headlineView.ts'

const { orders: words } = texts
const firstRows = 25
const figures: readonly string[] = [words.accepted, words.trigger, words.size, words.pnl]

/** Style of an order's label; serious labels are marked by more than their colour. */
function toneOfLabel(status: Order['status']): string {
  if (status === 'unknown') return 'mark down'
  return status === 'reverted' || status === 'failed' || status === 'refused' ? 'warn' : ''
}

/** Explains an order's state. For an open one the venue's status describes its creation, which no longer matters. */
function hintOf({ standing, reason, observedStatus }: Order): string {
  return standing === 'open' ? texts.labels.open : (reason ?? observedStatus ?? texts.labels[standing])
}

/** Names the type of an order; one that makes none has no type. */
function typeOf({ orderType }: Order): string {
  return orderType?.replace('stop-market', 'stop entry') ?? NOTHING
}

interface RowProps {
  readonly order: Order
  /** Places of prices of its market; undefined: not known. */
  readonly places: number | undefined
  readonly onShow: (intentId?: string) => void
  readonly onCancel: ((order: Order) => void) | undefined
}

const OrderLine = kept(({ order, places, onShow, onCancel }: RowProps) => {
  const { intentId, status, standing, strategy, market, direction, kind, triggerPrice } = order
  const { sizeDeltaUsd, acceptedAt } = order
  const id = intentId.slice(0, 8)
  const pnl = orderPnlOf(order)
  const filled = partFilledUsd(order)
  const accepted = millisOf(acceptedAt)
  return html`<tr class=${isOpenOrder(order) ? 'open' : ''}>
    <td class="num">${accepted === undefined ? NOTHING : momentText(accepted).slice(5)}</td>
    <th scope="row">
      <button class="link mono" aria-label=${words.story(id)} onClick=${() => onShow(intentId)}>${id}</button>
    </th>
    <td>${authorText(strategy)}</td>
    <td>${market} <span class=${`side ${direction}`}>${direction === 'long' ? '↑' : '↓'} ${direction}</span></td>
    <td>${kind}</td>
    <td>${typeOf(order)}</td>
    <td class="num">${triggerPrice === null ? NOTHING : priceText(triggerPrice, places)}</td>
    <td class="num">${filled === undefined ? '' : words.partOf(usdText(filled))}${usdText(sizeDeltaUsd)}</td>
    <td>
      <span class=${toneOfLabel(status)} title=${hintOf(order)}>${standing}</span>
      ${order.unwantedBy === null ? '' : html` <small class="warn">${words.unwanted(order.unwantedBy)}</small>`}
    </td>
    <td class=${`num ${toneOf(pnl)}`}>${pnl === undefined ? NOTHING : signedUsdText(pnl)}</td>
    <td class="tools">${
      onCancel !== undefined && isCancellable(order)
        ? html`<button aria-label=${words.cancelLabel(id)} onClick=${() => onCancel(order)}>${words.cancel}</button>`
        : ''
    }</td>
  </tr>`
})

/** An order on a phone: two lines, and its story and Cancel behind a tap. */
const OrderCard = kept(({ order, places, onShow, onCancel }: RowProps) => {
  const { intentId, status, standing, strategy, market, direction, kind, triggerPrice } = order
  const id = intentId.slice(0, 8)
  const pnl = orderPnlOf(order)
  const accepted = millisOf(order.acceptedAt)
  const what = words.what(kind, market.split(' ')[0] ?? market, direction, usdText(order.sizeDeltaUsd))
  const type = [
    order.orderType === null ? '' : typeOf(order),
    triggerPrice === null ? undefined : priceText(triggerPrice, places),
  ]
    .filter(Boolean)
    .join(' ')
  return html`<${Card}
    first=${[what, pnl === undefined ? '' : html`<span class=${toneOf(pnl)}>${signedUsdText(pnl)}</span>`]}
    second=${[
      html`${accepted === undefined ? NOTHING : momentText(accepted).slice(5, 16)} ${authorText(strategy)}`,
      html`<span class=${toneOfLabel(status)}>${standing}</span>`,
    ]}>
    <dl class="facts">
      <div><dt>${words.market}</dt><dd>${market}</dd></div>
      ${type === '' ? '' : html`<div><dt>${words.type}</dt><dd>${type}</dd></div>`}
      <div><dt>${words.status}</dt><dd>${hintOf(order)}</dd></div>
    </dl>
    <div class="tools">
      <button aria-label=${words.story(id)} onClick=${() => onShow(intentId)}>${words.storyButton}</button>
      ${onCancel !== undefined && isCancellable(order) ? html`<button aria-label=${words.cancelLabel(id)} onClick=${() => onCancel(order)}>${words.cancel}</button>` : ''}
    </div>
  <//>`
})

/** Rows in a group: a group of which no row says something else is not looked at. */
const groupRows = 25

interface GroupProps extends Omit<RowProps, 'order' | 'places'> {
  readonly rows: readonly Order[]
  /** One for each row. */
  readonly places: readonly (number | undefined)[]
  readonly isNarrow: boolean
}

const OrderGroup = kept(
  ({ rows, places, isNarrow, onShow, onCancel }: GroupProps) =>
    html`<${Fragment}>${rows.map(
      (order, at) =>
        html`<${isNarrow ? OrderCard : OrderLine} key=${order.intentId} order=${order} places=${places[at]} onShow=${onShow} onCancel=${onCancel} />`,
    )}<//>`,
)

const titles = [
  words.accepted,
  words.order,
  words.strategy,
  words.market,
  words.kind,
  words.type,
  words.trigger,
  words.size,
  words.status,
  words.pnl,
  '',
]

function groupsOf(rows: readonly Order[]): readonly (readonly Order[])[] {
  return Array.from({ length: Math.ceil(rows.length / groupRows) }, (_, at) =>
    rows.slice(at * groupRows, (at + 1) * groupRows),
  )
}

/** Places of prices of these rows, by the market of each. */
function usePlaces(): (rows: readonly Order[]) => readonly (number | undefined)[] {
  const status = useSlice((state) => state.status)
  const markets = useSlice((state) => state.markets)
  return useMemo(() => {
    const known = new Map<string, number | undefined>()
    return (rows) =>
      rows.map(({ market }) => {
        if (!known.has(market)) known.set(market, placesOfMarket({ status, markets }, market))
        return known.get(market)
      })
  }, [status, markets])
}

/** The table. */
export function OrdersView(): VNode {
  const { command, show, feed } = usePage()
  const mayCommand = useMayCommand()
  const orders = useSlice((state) => state.orders)
  const isAllOrders = useSlice((state) => state.isAllOrders)
  const allSince = useSlice((state) => state.allSince)
  const find = useSlice((state) => state.find)
  const [isOpenOnly, setOpenOnly] = useState(false)
  const found = useMemo(
    () => orders.filter((order) => (!isOpenOnly || isOpenOrder(order)) && isFound(find, order)),
    [orders, isOpenOnly, find],
  )
  const onCancel = useMemo(
    () => (mayCommand ? (order: Order) => command(cancelCommand(order, newCommandId())) : undefined),
    [mayCommand, command],
  )
  const [shown, more, showMore] = useBounded(found, firstRows)
  const isNarrow = useIsNarrow()
  const placesOfRows = usePlaces()
  const mayBeOlder = !isAllOrders && allSince !== undefined && orders.length < mostOrders
  const groups = groupsOf(shown).map(
    (rows, at) =>
      html`<${OrderGroup} key=${at} rows=${rows} places=${placesOfRows(rows)} isNarrow=${isNarrow} onShow=${show} onCancel=${onCancel} />`,
  )
  const tools = html`<label class="check">
    <input type="checkbox" checked=${isOpenOnly}
      onChange=${(event: Event) => setOpenOnly((event.currentTarget as HTMLInputElement).checked)} />
    ${words.openOnly}
  </label>`
  return html`<${Section} id="orders" title=${texts.sections.orders} count=${texts.shownOf(shown.length, orders.length)} tools=${tools}>
    ${
      shown.length === 0
        ? html`<p class="muted">${orders.length === 0 ? words.none : texts.nothingFound}</p>`
        : isNarrow
          ? html`<ul class="cards">${groups}</ul>`
          : html`<div class="scroll"><table><${Head} titles=${titles} figures=${figures} /><tbody>${groups}</tbody></table></div>`
    }
    <div class="tools">
      ${more > 0 ? html`<button onClick=${showMore}>${texts.more(more)}</button>` : ''}
      ${more === 0 && mayBeOlder ? html`<button onClick=${() => feed.loadOlder()}>${texts.older}</button>` : ''}
    </div>
  <//>`
}
