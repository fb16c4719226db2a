/** Lists what needs a person: reasons why nothing new is opened, discrepancies to settle, kills, and every other open incident. */
import type { VNode } from 'preact'
import { html, Section, useMayCommand, usePage, useSlice } from '../markup.ts'
import { liftCommand, settleCommand } from '../pageCommands.ts'
import type { Halt } from '../shownHalts.ts'
import { type Matter, mattersOf } from '../shownMatters.ts'
import { texts } from '../texts.ts'

const { attention: words } = texts
const none: readonly Halt[] = []

function MatterRow({ matter }: { readonly matter: Matter }): VNode {
  const { command } = usePage()
  const mayCommand = useMayCommand()
  const { tone, title, text, hint, discrepancy, liftScope } = matter
  const halts = useSlice((state) => state.status?.halts ?? none)
  return html`<li class=${tone}>
    <strong><span aria-hidden="true">${tone === 'down' ? '■' : '▲'}</span> ${title}</strong>
    <span class="text">${text}</span>
    ${hint === undefined ? '' : html`<small class="text">${hint}</small>`}
    ${
      discrepancy === undefined || !mayCommand
        ? ''
        : html`<span class="settle tools">
            <button aria-label=${words.settleLabel(words.adopt, text)} onClick=${() => command(settleCommand(discrepancy, 'adopted'))}>${words.adopt}</button>
            <button aria-label=${words.settleLabel(words.ignore, text)} onClick=${() => command(settleCommand(discrepancy, 'ignored'))}>${words.ignore}</button>
          </span>`
    }${
      liftScope === undefined || !mayCommand
        ? ''
        : html`<span class="settle tools">
            <button aria-label=${words.liftLabel(liftScope)} onClick=${() => command(liftCommand(liftScope, halts))}>${words.lift}</button>
          </span>`
    }
  </li>`
}

/** The list; a line that says so where it is empty. */
export function AttentionView(): VNode | null {
  const status = useSlice((state) => state.status)
  if (status === undefined) return null
  const matters = mattersOf(status)
  if (matters.length === 0) {
    return html`<p class="calm"><span aria-hidden="true">✓</span> ${words.none}</p>`
  }
  return html`<${Section} id="attention" title=${texts.sections.attention} count=${String(matters.length)}>
    <ul class="matters">
      ${matters.map((matter) => html`<${MatterRow} key=${matter.key} matter=${matter} />`)}
    </ul>
  <//>`
}
