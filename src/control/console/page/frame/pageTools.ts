/** Tools that the head has on a wide screen and the menu More on a phone. */
import type { RefObject, VNode } from 'preact'
import { html, usePage, useSlice } from '../markup.ts'
import { texts } from '../texts.ts'

/** The field of the search. Esc empties and leaves it. `field`: by which keys reach it. */
export function FindField({ field }: { readonly field?: RefObject<HTMLInputElement | null> }): VNode {
  const { store } = usePage()
  const find = useSlice((state) => state.find)
  const set = (text: string) => store.take({ type: 'find', text })
  return html`<input ref=${field} type="search" class="find" aria-label=${texts.find} placeholder=${texts.findHint}
    defaultValue=${find}
    onInput=${(event: Event) => set((event.currentTarget as HTMLInputElement).value)}
    onKeyDown=${(event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      const input = event.currentTarget as HTMLInputElement
      input.value = ''
      set('')
      input.blur()
    }} />`
}

/** Opens the help. */
export function HelpButton({ onHelp }: { readonly onHelp: () => void }): VNode {
  return html`<button type="button" onClick=${onHelp} aria-label=${texts.help} title=${texts.help}>?</button>`
}
