/** The whole console: its head, the page that the address names, its dialogs, and what is read to whoever does not see it. */
import type { VNode } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Alarms } from '../alarms/alarms.ts'
import type { LiveFeed } from '../feed/liveFeed.ts'
import type { PageCommand } from '../formCommand.ts'
import { html, type Page, PageContext, useSlice } from '../markup.ts'
import { pageAccount } from '../pageAccount.ts'
import { usePlace } from '../placeHistory.ts'
import type { Zone } from '../shownTimes.ts'
import type { PageStore } from '../store/pageStore.ts'
import { texts } from '../texts.ts'
import { AttentionLine } from '../views/attentionView.ts'
import { CommandDialog } from '../views/commandDialog.ts'
import { Figures } from '../views/headlineView.ts'
import { StoryView } from '../views/storyView.ts'
import { AccountChoice } from './accountChoice.ts'
import { StreamMark, TradingMark } from './headMarks.ts'
import { KeysDialog, useKeys } from './keysView.ts'
import { LoginView } from './loginView.ts'
import { PageNav } from './pageNav.ts'
import { type PageRow, pageRows } from './pageRows.ts'
import { FindField, HelpButton } from './pageTools.ts'
import { StopMenu } from './stopMenu.ts'
import { useZone, ZoneButton } from './zoneButton.ts'

/** The row of the page that the address names. Another page begins at its top, with the focus on it; so does Back. */
function usePageRow(main: { readonly current: HTMLElement | null }): PageRow {
  const { page } = usePlace()
  const isFirst = useRef(true)
  const row = pageRows.find(({ id }) => id === page) as PageRow
  useEffect(() => {
    document.title = texts.pages.tab(row.word, pageAccount())
    if (!isFirst.current) {
      scrollTo(0, 0)
      main.current?.focus({ preventScroll: true })
    }
    isFirst.current = false
  }, [row])
  return row
}

/** The head: one line of places and states, one of figures and of the gravest matter. */
function Head({
  field,
  onHelp,
  zone,
  onZone,
}: {
  readonly field: { current: HTMLInputElement | null }
  readonly onHelp: () => void
  readonly zone: Zone
  readonly onZone: () => void
}): VNode {
  return html`<header class="top">
    <div class="bar">
      <h1>${texts.title}</h1>
      <${AccountChoice} />
      <${PageNav} onHelp=${onHelp} />
      <span class="wide tools"><${FindField} field=${field} /><${HelpButton} onHelp=${onHelp} /></span>
      <${ZoneButton} zone=${zone} onChange=${onZone} />
      <${StreamMark} />
      <${TradingMark} />
      <${StopMenu} />
    </div>
    <div class="state">
      <${Figures} key=${zone} />
      <${AttentionLine} />
    </div>
  </header>`
}

function OpenPage(): VNode {
  const find = useRef<HTMLInputElement>(null)
  const main = useRef<HTMLElement>(null)
  const [isHelp, setHelp] = useState(false)
  const onHelp = useCallback(() => setHelp(true), [])
  const [zone, onZone] = useZone()
  const row = usePageRow(main)
  useKeys({ find: () => find.current?.focus(), help: onHelp })
  const skip = (event: Event) => {
    event.preventDefault()
    main.current?.focus()
  }
  const { id, word, views, beside = [] } = row
  return html`
    <a class="skip" href="#page" onClick=${skip}>${texts.skip}</a>
    <${Head} field=${find} onHelp=${onHelp} zone=${zone} onZone=${onZone} />
    <main key=${`${id} ${zone}`} ref=${main} tabindex="-1" aria-label=${word} class=${beside.length === 0 ? '' : 'columns'}>
      <div class="column">${views.map((view) => html`<${view} key=${view.name} />`)}</div>
      ${beside.length === 0 ? '' : html`<div class="column">${beside.map((view) => html`<${view} key=${view.name} />`)}</div>`}
    </main>
    <${Alarms} />
    <${StoryView} key=${zone} />
    <${KeysDialog} isOpen=${isHelp} onEnd=${() => setHelp(false)} />`
}

function Shown(): VNode {
  const session = useSlice((state) => state.session)
  if (session === 'none' || session === 'over' || session === 'link-over') return html`<${LoginView} />`
  if (session === 'unknown') return html`<main class="login"><p role="status">${texts.loading}</p></main>`
  return html`<${OpenPage} />`
}

/** The page over its state. */
export function PageFrame({ store, feed }: { readonly store: PageStore; readonly feed: LiveFeed }): VNode {
  const [command, setCommand] = useState<PageCommand | undefined>(undefined)
  const [said, announce] = useState('')
  const page: Page = useMemo(
    () => ({
      store,
      feed,
      command: setCommand,
      announce,
      show: (intentId) => store.take({ type: 'show', ...(intentId === undefined ? {} : { intentId }) }),
    }),
    [store, feed],
  )
  return html`<${PageContext.Provider} value=${page}>
    <${Shown} />
    <${CommandDialog} command=${command} onEnd=${() => setCommand(undefined)} />
    <p class="unseen" role="status" aria-live="polite">${said}</p>
  <//>`
}
