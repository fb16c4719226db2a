/** Keyboard shortcuts of the page, and the dialog that lists them. */
import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { html } from '../markup.ts'
import { goTo } from '../placeHistory.ts'
import { texts } from '../texts.ts'
import { openTicket } from '../ticket/ticket.ts'
import { pageRows } from './pageRows.ts'

/** Longest wait for the letter after `g`, ms. */
const secondKeyMs = 1_500

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('input, select, textarea, [contenteditable]')

/** Listens to keys while the page is there. What is typed into a field or a dialog is no key of the page. */
export function useKeys(act: { readonly find: () => void; readonly help: () => void }): void {
  const newest = useRef(act)
  newest.current = act
  useEffect(() => {
    let firstAtMs = Number.NEGATIVE_INFINITY
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (document.querySelector('dialog[open]') !== null) return
      const isSecond = event.timeStamp - firstAtMs < secondKeyMs
      firstAtMs = Number.NEGATIVE_INFINITY
      const row = isSecond ? pageRows.find(({ key }) => key === event.key) : undefined
      if (row !== undefined) goTo({ page: row.id })
      else if (event.key === '/') newest.current.find()
      else if (event.key === '?') newest.current.help()
      else if (event.key === 'n') openTicket()
      else if (event.key === 'g') firstAtMs = event.timeStamp
      else return
      event.preventDefault()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

/** The dialog. */
export function KeysDialog({
  isOpen,
  onEnd,
}: {
  readonly isOpen: boolean
  readonly onEnd: () => void
}): VNode {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (!isOpen) dialog.current?.close()
    else if (dialog.current?.open === false) dialog.current.showModal()
  }, [isOpen])
  const { keys } = texts
  const rows = [...pageRows.map(({ key, word }) => [keys.pageKey(key), word] as const), ...keys.rows]
  return html`<dialog ref=${dialog} aria-labelledby="keys-title" onClose=${onEnd}>
    <h2 id="keys-title">${keys.title}</h2>
    <dl class="facts">
      ${rows.map(([key, what]) => html`<div key=${key}><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}
    </dl>
    <h3>${keys.wordsTitle}</h3>
    <dl class="facts">
      ${Object.entries(texts.labels).map(([label, what]) => html`<div key=${label}><dt>${label}</dt><dd>${what}</dd></div>`)}
    </dl>
    <p class="muted">${keys.note}</p>
    <div class="tools form-tools"><button onClick=${onEnd}>${texts.close}</button></div>
  </dialog>`
}
