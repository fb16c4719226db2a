/** Positions: what is held, where it is closed by itself, and whose it is. A row of a table, or on a phone a card of two lines. */
import type { VNode } from 'preact'
import { Head, html, Meter, Section, useDaemonNow, useMayCommand, usePage, useSlice } from '../markup.ts'
import { newCommandId } from '../newCommandId.ts'
import { closeCommand, protectCommand } from '../pageCommands.ts'
import {
  decimalText,
  NOTHING,
  percentText,
  priceText,
  shareText,
  signedUsdText,
  timesText,
  usdText,
} from '../shownAmount.ts'
import { holds, type ShownPosition, shownPositions } from '../shownFigures.ts'
import { markAge } from '../shownMatters.ts'
import { spanText } from '../shownTimes.ts'
import { texts } from '../texts.ts'
import { Card, useIsNarrow, useSteadyRows } from './cards.ts'
import { toneOf } from './headlineView.ts'
import { ownerText } from './ownerText.ts'

const { positions: words } = texts

/** Nearer than this to its liquidation a position is marked, bps. */
const nearBps = 1_000
/** A bar is full from this distance on, bps. */
const farBps = 5_000

/** Columns that a narrower desk leaves out; the owner stands below the market there. */
const farColumns: readonly string[] = [words.leverage, words.funding, words.owner]
const textColumns: readonly string[] = [words.market, words.owner, '']

interface Shown {
  readonly position: ShownPosition
  readonly isOld: boolean
}

function Distance({ bps }: { readonly bps: number | undefined }): VNode {
  if (bps === undefined) return html`<span class="muted">${words.noLiquidation}</span>`
  const text = percentText(bps)
  const isNear = bps < nearBps
  return html`<span class="num">${isNear ? html`<strong class="down">▲ ${text}</strong>` : text}</span>
    <${Meter} bps=${(bps * 10_000) / farBps} label=${text} tone=${isNear ? 'down' : ''} />`
}

/** The nearest of the exits that rest, and of how many. */
function Exits({
  exits,
  places,
}: {
  readonly exits: { readonly nearest: string | null; readonly count: number } | undefined
  readonly places: number
}): VNode {
  if (exits === undefined || exits.count === 0) return html`<span class="muted">${NOTHING}</span>`
  return html`<span>${exits.nearest === null ? NOTHING : priceText(exits.nearest, places)}</span>${
    exits.count === 1 ? '' : html`<small>${words.several(exits.count)}</small>`
  }`
}

/** The stop of a position: its trigger, or that part of it or all has none. */
function Stop({ position: { bareUsd, held, places, row } }: { readonly position: ShownPosition }): VNode {
  if (bareUsd === undefined) return html`<span class="muted">${words.unknownStop}</span>`
  const bare =
    bareUsd === 0n
      ? ''
      : html`<strong class="mark down">${words.noStop}</strong>${bareUsd.toString() === row.sizeInUsd ? '' : html` <small>${words.bare(usdText(bareUsd))}</small>`}`
  return html`${bare}${bareUsd !== 0n && (held?.stops.count ?? 0) === 0 ? '' : html`<${Exits} exits=${held?.stops} places=${places} />`}`
}

function Buttons({ position }: { readonly position: ShownPosition }): VNode | null {
  const { command, store } = usePage()
  const { symbol, row, collateral } = position
  if (!useMayCommand()) return null
  return html`<button type="button" aria-label=${words.protectLabel(row.direction, symbol, collateral ?? '')}
      onClick=${() => command(protectCommand(position, store.get().status))}>${words.protect}</button>
    <button type="button" aria-label=${words.closeLabel(row.direction, symbol, collateral ?? '')}
      onClick=${() => command(closeCommand(position, newCommandId()))}>${words.close}</button>`
}

function ownersText({ held }: ShownPosition): string {
  return held?.owners.map(({ kind, name }) => ownerText(kind, name)).join(', ') ?? ''
}

function collateralText({ held }: ShownPosition): string {
  if (held === undefined || held.collateral.decimals === null) return NOTHING
  const { amount, decimals, symbol } = held.collateral
  // Four places tell what matters of a token.
  const places = Math.min(4, decimals)
  return `${decimalText(BigInt(amount) / 10n ** BigInt(decimals - places), places)} ${symbol}`
}

/** The values of a position, by the names of their columns. */
function cellsOf({
  position,
  isOld,
}: Shown): readonly (readonly [name: string, value: unknown, tone: string])[] {
  const { row, distanceBps, pnlUsd, isAfterAllCosts, places, fundingDayUsd } = position
  const { entryPrice, liquidationPrice, leverageBps } = row
  const price = (value: string | undefined) => (value === undefined ? NOTHING : priceText(value, places))
  const faded = isOld ? 'faded' : ''
  return [
    [words.size, usdText(row.sizeInUsd), ''],
    [words.entry, price(entryPrice), ''],
    [words.mark, price(row.markPrice), faded],
    [
      words.pnl,
      html`${signedUsdText(pnlUsd)}<small>${shareText(pnlUsd, row.sizeInUsd)}${isAfterAllCosts ? '' : `, ${words.beforeClosing}`}</small>`,
      `${toneOf(pnlUsd)} ${faded}`,
    ],
    [words.stop, html`<${Stop} position=${position} />`, 'stop'],
    [words.target, html`<${Exits} exits=${position.held?.targets} places=${places} />`, ''],
    [
      words.liquidation,
      html`${price(liquidationPrice)}<small><${Distance} bps=${distanceBps} /></small>`,
      faded,
    ],
    [words.leverage, leverageBps === undefined ? NOTHING : timesText(leverageBps), ''],
    [words.collateral, collateralText(position), ''],
    [words.funding, fundingDayUsd === undefined ? NOTHING : signedUsdText(fundingDayUsd), ''],
    [words.owner, ownersText(position), ''],
  ]
}

const titles = [
  words.market,
  words.size,
  words.entry,
  words.mark,
  words.pnl,
  words.stop,
  words.target,
  words.liquidation,
  words.leverage,
  words.collateral,
  words.funding,
  words.owner,
  '',
]

const classOf = (name: string, tone: string): string =>
  `${textColumns.includes(name) ? '' : 'num'} ${tone} ${farColumns.includes(name) ? 'far' : ''}`

function PositionLine({ position, isOld }: Shown): VNode {
  const { symbol, row, collateral, isUnmanaged } = position
  return html`<tr>
    <th scope="row">
      ${symbol} <span class=${`side ${row.direction}`}>${row.direction === 'long' ? '↑' : '↓'} ${row.direction}</span>
      ${collateral === undefined ? '' : html` <small>${words.backedBy(collateral)}</small>`}
      <small class="near">${ownersText(position)}</small>
      ${isUnmanaged ? html` <strong class="mark warn">${words.unmanaged}</strong>` : ''}
    </th>
    ${cellsOf({ position, isOld }).map(([name, value, tone]) => html`<td key=${name} class=${classOf(name, tone)}>${value}</td>`)}
    <td class="tools"><${Buttons} position=${position} /></td>
  </tr>`
}

function PositionCard({ position, isOld }: Shown): VNode {
  const { symbol, row, pnlUsd, distanceBps, places, held, bareUsd, isUnmanaged } = position
  const { direction, entryPrice, leverageBps } = row
  const what = words.what(
    direction,
    symbol.split(' ')[0] ?? symbol,
    leverageBps === undefined ? '' : timesText(leverageBps),
    usdText(row.sizeInUsd),
  )
  const stop = held?.stops.nearest
  const way = `${entryPrice === undefined ? NOTHING : priceText(entryPrice, places)} › ${priceText(row.markPrice, places)}`
  return html`<${Card} first=${[
    html`${direction === 'long' ? '▲' : '▼'} ${what}${isUnmanaged ? html` <strong class="mark warn">${words.unmanaged}</strong>` : ''}`,
    html`<strong class=${`${toneOf(pnlUsd)} ${isOld ? 'faded' : ''}`}>${signedUsdText(pnlUsd)}</strong>`,
  ]}
    second=${[
      html`<span class=${isOld ? 'faded' : ''}>${way}</span> ${
        bareUsd === undefined || bareUsd === 0n
          ? stop === undefined || stop === null
            ? ''
            : words.stopNear(priceText(stop, places))
          : html`<strong class="mark down">${words.noStop}</strong>`
      } ${distanceBps === undefined ? '' : words.liquidationNear(percentText(distanceBps))}`,
      '⋯',
    ]}>
    <dl class="facts">
      <div><dt>${words.market}</dt><dd>${symbol}</dd></div>
      ${cellsOf({ position, isOld }).map(([name, value, tone]) => html`<div key=${name}><dt>${name}</dt><dd class=${tone}>${value}</dd></div>`)}
    </dl>
    <div class="tools"><${Buttons} position=${position} /></div>
  <//>`
}

/** The section. */
export function PositionsView(): VNode {
  const status = useSlice((state) => state.status)
  const books = useSlice((state) => state.books)
  const markets = useSlice((state) => state.markets)
  const find = useSlice((state) => state.find)
  const isNarrow = useIsNarrow()
  const all = status === undefined ? [] : shownPositions(status, books, markets)
  const nowMs = useDaemonNow()
  const limits = useSlice((state) => state.limits)
  const age = status === undefined ? undefined : markAge(status, limits, nowMs)
  const isOld = age?.isOld === true
  const tools =
    age !== undefined && isOld && all.length > 0
      ? html`<strong class="mark down">${words.old(spanText(age.ageMs))}</strong>`
      : ''
  const found = all.filter((position) =>
    holds(find, position.symbol, position.row.direction, ownersText(position)),
  )
  const [rows, place] = useSteadyRows(found, ({ key }) => key)
  const empty = status === undefined ? texts.loading : all.length === 0 ? words.none : texts.nothingFound
  const lines = isNarrow
    ? html`<ul class="cards">${rows.map((position) => html`<${PositionCard} key=${position.key} position=${position} isOld=${isOld} />`)}</ul>`
    : html`<table>
        <${Head} titles=${titles} figures=${titles.filter((title) => !textColumns.includes(title))} far=${farColumns} />
        <tbody>${rows.map((position) => html`<${PositionLine} key=${position.key} position=${position} isOld=${isOld} />`)}</tbody>
      </table>`
  return html`<${Section} id="positions" title=${texts.sections.positions} count=${texts.shownOf(found.length, all.length)} tools=${tools}>
    ${
      found.length === 0
        ? html`<p class="muted">${empty}</p>`
        : html`<div class="scroll" ref=${place}>${lines}</div>
          <p class="muted"><small>${words.pnlNote}</small></p>`
    }
  <//>`
}
