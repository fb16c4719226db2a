/** Positions: what is held, how far it is from its liquidation, whether a stop rests, and whose it is. */
import type { VNode } from 'preact'
import { Head, html, Meter, Section, useDaemonNow, useMayCommand, usePage, useSlice } from '../markup.ts'
import { newCommandId } from '../newCommandId.ts'
import { closeCommand, protectCommand } from '../pageCommands.ts'
import { NOTHING, percentText, priceText, signedUsdText, timesText, usdText } from '../shownAmount.ts'
import { holds, type ShownPosition, shownPositions } from '../shownFigures.ts'
import { markAge } from '../shownMatters.ts'
import { spanText } from '../shownTimes.ts'
import { texts } from '../texts.ts'
import { toneOf } from './headlineView.ts'

const { positions: words } = texts

/** Nearer than this to its liquidation a position is marked, bps. */
const nearBps = 1_000
const figures: readonly string[] = [
  words.size,
  words.entry,
  words.mark,
  words.liquidation,
  words.distance,
  words.leverage,
  words.pnl,
]
/** A bar is full from this distance on, bps. */
const farBps = 5_000

function Distance({ bps }: { readonly bps: number | undefined }): VNode {
  if (bps === undefined) return html`<span class="muted">${words.noLiquidation}</span>`
  const text = percentText(bps)
  const isNear = bps < nearBps
  return html`<span class="num">${isNear ? html`<strong class="down">▲ ${text}</strong>` : text}</span>
    <${Meter} bps=${(bps * 10_000) / farBps} label=${text} tone=${isNear ? 'down' : ''} />`
}

function StopMark({ bareUsd }: { readonly bareUsd: bigint | undefined }): VNode {
  if (bareUsd === undefined) return html`<span class="muted">${words.unknownStop}</span>`
  return bareUsd === 0n
    ? html`<span>${words.hasStop}</span>`
    : html`<strong class="mark down">${words.noStop}</strong> ${words.bare(usdText(bareUsd))}`
}

function PositionLine({
  position,
  isOld,
}: {
  readonly position: ShownPosition
  readonly isOld: boolean
}): VNode {
  const { command } = usePage()
  const mayCommand = useMayCommand()
  const { symbol, row, collateral, distanceBps, bareUsd, pnlUsd, isAfterAllCosts, books, isUnmanaged } =
    position
  const faded = isOld ? ' faded' : ''
  return html`<tr>
    <th scope="row" data-label=${words.market}>
      ${symbol} <span class=${`side ${row.direction}`}>${row.direction === 'long' ? '↑' : '↓'} ${row.direction}</span>
      ${collateral === undefined ? '' : html` <small>${words.backedBy(collateral)}</small>`}
      ${isUnmanaged ? html` <strong class="mark warn">${words.unmanaged}</strong>` : ''}
    </th>
    <td class="num" data-label=${words.size}>${usdText(row.sizeInUsd)}</td>
    <td class="num" data-label=${words.entry}>${row.entryPrice === undefined ? NOTHING : priceText(row.entryPrice)}</td>
    <td class=${`num${faded}`} data-label=${words.mark}>${priceText(row.markPrice)}</td>
    <td class="num" data-label=${words.liquidation}>${row.liquidationPrice === undefined ? NOTHING : priceText(row.liquidationPrice)}</td>
    <td class=${`num${faded}`} data-label=${words.distance}><${Distance} bps=${distanceBps} /></td>
    <td class="num" data-label=${words.leverage}>${row.leverageBps === undefined ? NOTHING : timesText(row.leverageBps)}</td>
    <td class=${`num ${toneOf(pnlUsd)}${faded}`} data-label=${words.pnl}>
      ${signedUsdText(pnlUsd)}${isAfterAllCosts ? '' : html`<small>${words.beforeClosing}</small>`}
    </td>
    <td data-label=${words.stop}><${StopMark} bareUsd=${bareUsd} /></td>
    <td data-label=${words.books}>
      ${books.map(
        (book) =>
          html`<small key=${book.strategy}>${words.book(book.strategy, usdText(book.sizeUsd), signedUsdText(book.results.pnlUsd))}</small>`,
      )}
    </td>
    <td class="tools">
      ${
        mayCommand
          ? html`<button aria-label=${words.protectLabel(row.direction, symbol, collateral ?? '')}
              onClick=${() => command(protectCommand(position))}>${words.protect}</button>
            <button aria-label=${words.closeLabel(row.direction, symbol, collateral ?? '')}
              onClick=${() => command(closeCommand(position, newCommandId()))}>${words.close}</button>`
          : ''
      }
    </td>
  </tr>`
}

/** The table. */
export function PositionsView(): VNode {
  const status = useSlice((state) => state.status)
  const books = useSlice((state) => state.books)
  const markets = useSlice((state) => state.markets)
  const find = useSlice((state) => state.find)
  const all = status === undefined ? [] : shownPositions(status, books, markets)
  const nowMs = useDaemonNow()
  const limits = useSlice((state) => state.limits)
  const age = status === undefined ? undefined : markAge(status, limits, nowMs)
  const tools =
    age?.isOld === true && all.length > 0
      ? html`<strong class="mark down">${words.old(spanText(age.ageMs))}</strong>`
      : ''
  const found = all.filter(({ symbol, row, books: parts }) =>
    holds(find, symbol, row.direction, ...parts.map(({ strategy }) => strategy)),
  )
  const titles = [
    words.market,
    words.size,
    words.entry,
    words.mark,
    words.liquidation,
    words.distance,
    words.leverage,
    words.pnl,
    words.stop,
    words.books,
    '',
  ]
  const empty = status === undefined ? texts.loading : all.length === 0 ? words.none : texts.nothingFound
  return html`<${Section} id="positions" title=${texts.sections.positions} count=${texts.shownOf(found.length, all.length)} tools=${tools}>
    ${
      found.length === 0
        ? html`<p class="muted">${empty}</p>`
        : html`<div class="scroll"><table>
            <${Head} titles=${titles} figures=${figures} />
            <tbody>${found.map(
              (position) => html`<${PositionLine} key=${position.key} position=${position}
              isOld=${age?.isOld === true} />`,
            )}</tbody>
          </table></div>
          <p class="muted"><small>${words.pnlNote}</small></p>`
    }
  <//>`
}
