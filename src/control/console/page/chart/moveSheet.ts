/** The sheet in which the new price of an order is typed or stepped: for fingers and keys, where a drag is for the mouse and the pen. */
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { html } from '../markup.ts'
import type { Level } from './chartLevels.ts'
import { chartTexts as words } from './chartTexts.ts'
import { plainPrice, steppedPrice, type WantedMove } from './levelMoves.ts'

/** The sheet of one level. `wantedOf`: what a typed text asks for; undefined: it is no price. */
export function MoveSheet(props: {
  readonly level: Level
  readonly market: string
  readonly places: number
  readonly wantedOf: (text: string) => WantedMove | undefined
  readonly onWanted: (wanted: WantedMove) => void
  readonly onEnd: () => void
}): VNode {
  const { level, market, places, wantedOf, onWanted, onEnd } = props
  const [text, setText] = useState(plainPrice(level.text))
  const dialog = useRef<HTMLDialogElement>(null)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    dialog.current?.showModal()
    field.current?.select()
  }, [])
  const wanted = wantedOf(text)
  const step = (by: 'step' | 'share', sign: 1 | -1) => () => setText(steppedPrice(text, by, sign, places))
  const submit = (event: Event) => {
    event.preventDefault()
    if (wanted === undefined) field.current?.focus()
    else onWanted(wanted)
  }
  const { name, direction } = level
  return html`<dialog ref=${dialog} class="sheet" aria-labelledby="move-title" onClose=${onEnd}>
    <form class="form" onSubmit=${submit}>
      <h2 id="move-title">${words.sheet(name, direction, market)}</h2>
      <p class="num">${words.now(level.text)}</p>
      <label>${words.newPrice}<input ref=${field} name="price" inputmode="decimal" autocomplete="off" value=${text}
        aria-invalid=${wanted === undefined} aria-describedby="move-understood"
        onInput=${(event: Event) => setText((event.currentTarget as HTMLInputElement).value)} /></label>
      <p id="move-understood" class=${`num${wanted === undefined ? ' down' : ''}`} aria-live="polite">${
        wanted === undefined
          ? words.notPrice(text)
          : `= ${words.levelNow(wanted.text, wanted.distance, wanted.pnl)}`
      }</p>
      <div class="tools steps">
        <button type="button" onClick=${step('share', -1)}>${words.shareDown}</button>
        <button type="button" onClick=${step('step', -1)}>${words.stepDown}</button>
        <button type="button" onClick=${step('step', 1)}>${words.stepUp}</button>
        <button type="button" onClick=${step('share', 1)}>${words.shareUp}</button>
      </div>
      <div class="tools form-tools">
        <button type="button" onClick=${onEnd}>${words.cancel}</button>
        <button class="primary">${words.show}</button>
      </div>
    </form>
  </dialog>`
}
