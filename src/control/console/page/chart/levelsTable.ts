/** The table of levels beside a chart: the way of the keyboard and of single clicks to what a drag does. */
import type { VNode } from 'preact'
import { Head, html, useMayCommand, usePage } from '../markup.ts'
import { newCommandId } from '../newCommandId.ts'
import { cancelLegCommand } from '../pageCommands.ts'
import { NOTHING } from '../shownAmount.ts'
import type { Level } from './chartLevels.ts'
import { chartTexts as words } from './chartTexts.ts'

const titles = [words.kind, words.price, words.distance, words.size, words.pnl, '']
const figures = [words.price, words.distance, words.size, words.pnl]

function LevelRow(props: {
  readonly level: Level
  /** Price that the line moves to; absent: it does not move. */
  readonly moving?: string | undefined
  readonly isOld: boolean
  readonly onMove: (level: Level) => void
}): VNode {
  const { level, moving, isOld, onMove } = props
  const { command } = usePage()
  const mayCommand = useMayCommand()
  const { name, direction, text, distance, size, pnl, order, maintainer } = level
  const buttons =
    order === undefined || !mayCommand
      ? ''
      : html`${
          maintainer === undefined
            ? html`<button aria-label=${words.moveLabel(name, direction, text)} disabled=${isOld || moving !== undefined}
                onClick=${() => onMove(level)}>${words.move}</button>`
            : html`<small class="muted">${words.maintained(maintainer)}</small>`
        }
        <button aria-label=${words.cancelLabel(name, direction, text)} disabled=${isOld}
          onClick=${() => command(cancelLegCommand(order, newCommandId()))}>${words.cancel}</button>`
  return html`<tr>
    <th scope="row" data-label=${words.kind}>${name} <span class=${`side ${direction}`}>${direction === 'long' ? '↑' : '↓'} ${direction}</span>
      ${moving === undefined ? '' : html` <strong class="mark warn">${words.moving(moving)}</strong>`}</th>
    <td class="num" data-label=${words.price}>${text}</td>
    <td class="num" data-label=${words.distance}>${distance ?? NOTHING}</td>
    <td class="num" data-label=${words.size}>${size}</td>
    <td class="num" data-label=${words.pnl}>${pnl ?? NOTHING}</td>
    <td class="tools">${buttons}</td>
  </tr>`
}

/** The table; a sentence where there is nothing. */
export function LevelsTable(props: {
  readonly levels: readonly Level[]
  /** Price that a line moves to, by the key of its level. */
  readonly moving: ReadonlyMap<string, string>
  /** The page hears nothing from the daemon: nothing is sent. */
  readonly isOld: boolean
  readonly onMove: (level: Level) => void
}): VNode {
  const { levels, moving, isOld, onMove } = props
  if (levels.length === 0) return html`<p class="muted">${words.noLevels}</p>`
  return html`<div class="scroll levels"><table aria-label=${words.levels}>
      <${Head} titles=${titles} figures=${figures} />
      <tbody>${levels.map(
        (level) =>
          html`<${LevelRow} key=${level.key} level=${level} moving=${moving.get(level.key)} isOld=${isOld} onMove=${onMove} />`,
      )}</tbody>
    </table></div>
    <p class="muted"><small>${words.pnlNote}</small></p>`
}
