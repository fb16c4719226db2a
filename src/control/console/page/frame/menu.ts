/** A button and the list that it opens. The browser closes the list by Esc, by a click elsewhere and when a dialog opens. */
import type { ComponentChildren, VNode } from 'preact'
import { useRef } from 'preact/hooks'
import { html } from '../markup.ts'

/** The button with its list; a choice closes the list. `id`: of the list, once on the page. */
export function Menu(props: {
  readonly id: string
  readonly text: string
  readonly tone?: string
  readonly isCurrent?: boolean
  readonly children: ComponentChildren
}): VNode {
  const { id, text, tone = '', isCurrent = false, children } = props
  const list = useRef<HTMLDivElement>(null)
  const chosen = (event: Event) => {
    if ((event.target as Element).closest('button, a') !== null) list.current?.hidePopover()
  }
  return html`<button type="button" class=${tone} popovertarget=${id} aria-current=${isCurrent ? 'true' : undefined}>${text}</button>
    <div id=${id} ref=${list} class="menu" popover="auto" role="group" aria-label=${text} onClick=${chosen}>${children}</div>`
}
