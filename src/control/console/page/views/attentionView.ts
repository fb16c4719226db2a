/** Lists what needs a person: reasons why nothing new is opened, discrepancies to settle, kills, and every other open incident. */
import type { VNode } from 'preact'
import { html, Section, useMayCommand, usePage, useSlice } from '../markup.ts'
import { liftCommand, protectCommand, settleCommand } from '../pageCommands.ts'
import { addressOf } from '../pagePlace.ts'
import { positionOfSide } from '../shownFigures.ts'
import { type Matter, mattersOf } from '../shownMatters.ts'
import { texts } from '../texts.ts'

const { attention: words } = texts

/** The buttons that settle a matter; none for who may only read, and for what no button settles. */
function MatterButtons({ matter }: { readonly matter: Matter }): VNode | null {
  const { command, store } = usePage()
  const mayCommand = useMayCommand()
  const { text, discrepancy, liftScope, bareSide } = matter
  if (!mayCommand) return null
  if (discrepancy !== undefined)
    return html`<span class="settle tools">
      <button type="button" aria-label=${words.settleLabel(words.adopt, text)} onClick=${() => command(settleCommand(discrepancy, 'adopted'))}>${words.adopt}</button>
      <button type="button" aria-label=${words.settleLabel(words.ignore, text)} onClick=${() => command(settleCommand(discrepancy, 'ignored'))}>${words.ignore}</button>
    </span>`
  if (liftScope !== undefined)
    return html`<span class="settle tools">
      <button type="button" aria-label=${words.liftLabel(liftScope)}
        onClick=${() => command(liftCommand(liftScope, store.get().status?.halts ?? []))}>${words.lift}</button>
    </span>`
  if (bareSide === undefined) return null
  const protect = () => {
    const position = positionOfSide(store.get(), bareSide)
    if (position !== undefined) command(protectCommand(position, store.get().status))
  }
  return html`<span class="settle tools">
    <button type="button" aria-label=${words.settleLabel(texts.positions.protect, text)} onClick=${protect}>${texts.positions.protect}</button>
  </span>`
}

function MatterTitle({ matter: { tone, title } }: { readonly matter: Matter }): VNode {
  return html`<strong><span aria-hidden="true">${tone === 'down' ? '■' : '▲'}</span> ${title}</strong>`
}

/** The gravest matter in one line with its button, and the way to the others; nothing where nothing needs anybody. */
export function AttentionLine(): VNode | null {
  const status = useSlice((state) => state.status)
  const matters = status === undefined ? [] : mattersOf(status)
  const [first] = matters
  if (first === undefined) return null
  const rest = matters.length - 1
  return html`<div class=${`alarm ${first.tone}`} role="group" aria-label=${texts.sections.attention}>
    <p title=${first.text}><${MatterTitle} matter=${first} /> <span class="text">${first.text}</span></p>
    <${MatterButtons} key=${first.key} matter=${first} />
    <a href=${addressOf({ page: 'risk' })}>${rest === 0 ? words.whole : words.more(rest)}</a>
  </div>`
}

function MatterRow({ matter }: { readonly matter: Matter }): VNode {
  const { tone, text, hint } = matter
  return html`<li class=${tone}>
    <${MatterTitle} matter=${matter} />
    <span class="text">${text}</span>
    ${hint === undefined ? '' : html`<small class="text">${hint}</small>`}
    <${MatterButtons} matter=${matter} />
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
