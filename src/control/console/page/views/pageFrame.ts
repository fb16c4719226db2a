/** The whole page: its header, its sections, its dialogs, and what is read to whoever does not see it. */
import type { VNode } from 'preact'
import { useCallback, useMemo, useRef, useState } from 'preact/hooks'
import type { PageCommand } from '../formCommand.ts'
import type { LiveFeed } from '../liveFeed.ts'
import { html, type Page, PageContext, usePage, useSlice } from '../markup.ts'
import { NO_ANSWER } from '../pageApi.ts'
import type { PageStore } from '../pageStore.ts'
import { texts } from '../texts.ts'
import { AttentionView } from './attentionView.ts'
import { CommandDialog } from './commandDialog.ts'
import { ConfigDialog } from './configView.ts'
import { EquityView } from './equityView.ts'
import { Headline, TradingButtons } from './headlineView.ts'
import { goTo, KeysDialog, useKeys } from './keysView.ts'
import { BreakersView, LimitsView } from './limitsView.ts'
import { LoginView } from './loginView.ts'
import { LogView } from './logView.ts'
import { HostsView, MarketsView } from './marketsView.ts'
import { OrdersView } from './ordersView.ts'
import { PositionsView } from './positionsView.ts'
import { PriceView } from './priceView.ts'
import { RestingView } from './restingView.ts'
import { RunsView } from './runsView.ts'
import { SessionsDialog } from './sessionsView.ts'
import { StoryView } from './storyView.ts'
import { StrategiesView } from './strategiesView.ts'
import { TasksView } from './tasksView.ts'

const sections = [
  'positions',
  'orders',
  'strategies',
  'tasks',
  'runs',
  'limits',
  'markets',
  'hosts',
  'log',
] as const

/** Says who is logged in, and ends the session. */
function SessionTools({
  onHelp,
  onSessions,
  onConfig,
}: {
  readonly onHelp: () => void
  readonly onSessions: () => void
  readonly onConfig: () => void
}): VNode {
  const { feed } = usePage()
  const session = useSlice((state) => state.session)
  const [problem, setProblem] = useState('')
  const role = typeof session === 'string' ? undefined : session.role

  async function logOut(): Promise<void> {
    setProblem('')
    const answer = await feed.logOut()
    if (!answer.ok) setProblem(texts.notLoggedOut(answer.code === NO_ANSWER ? '' : answer.code))
  }

  return html`<div class="tools">
    ${role === undefined ? '' : html`<span class="muted">${texts.role[role]}</span>`}
    <button onClick=${onHelp} aria-label=${texts.help} title=${texts.help}>?</button>
    <button onClick=${onConfig}>${texts.config.button}</button>
    <button onClick=${onSessions}>${texts.sessions.title}</button>
    <button onClick=${logOut}>${texts.logOut}</button>
    ${problem === '' ? '' : html`<strong class="problem" role="alert">${problem}</strong>`}
  </div>`
}

function FindField({ field }: { readonly field: { current: HTMLInputElement | null } }): VNode {
  const { store } = usePage()
  const set = (text: string) => store.take({ type: 'find', text })
  return html`<input ref=${field} type="search" class="find" aria-label=${texts.find} placeholder=${texts.findHint}
    onInput=${(event: Event) => set((event.currentTarget as HTMLInputElement).value)}
    onKeyDown=${(event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      const input = event.currentTarget as HTMLInputElement
      input.value = ''
      set('')
      input.blur()
    }} />`
}

function OpenPage(): VNode {
  const find = useRef<HTMLInputElement>(null)
  const [isHelp, setHelp] = useState(false)
  const [isSessions, setSessions] = useState(false)
  const [isConfig, setConfig] = useState(false)
  const onHelp = useCallback(() => setHelp(true), [])
  useKeys({ find: () => find.current?.focus(), help: onHelp })
  return html`
    <a class="skip" href="#positions">${texts.skip}</a>
    <header class="top">
      <div class="bar">
        <h1>${texts.title}</h1>
        <nav aria-label=${texts.title}>
          ${sections.map(
            (id) =>
              html`<a key=${id} href=${`#${id}`} onClick=${(event: Event) => {
                event.preventDefault()
                goTo(id)
              }}>${texts.sections[id]}</a>`,
          )}
        </nav>
        <${FindField} field=${find} />
        <${SessionTools} onHelp=${onHelp} onSessions=${() => setSessions(true)} onConfig=${() => setConfig(true)} />
      </div>
      <${Headline} />
      <${TradingButtons} />
    </header>
    <main>
      <${AttentionView} />
      <div class="grid">
        <div class="main">
          <${PositionsView} />
          <${PriceView} />
          <${RestingView} />
          <${OrdersView} />
          <${StrategiesView} />
          <${TasksView} />
          <${RunsView} />
          <${MarketsView} />
        </div>
        <div class="aside">
          <${EquityView} />
          <${LimitsView} />
          <${BreakersView} />
          <${HostsView} />
        </div>
        <${LogView} />
      </div>
    </main>
    <${StoryView} />
    <${KeysDialog} isOpen=${isHelp} onEnd=${() => setHelp(false)} />
    <${SessionsDialog} isOpen=${isSessions} onEnd=${() => setSessions(false)} />
    <${ConfigDialog} isOpen=${isConfig} onEnd=${() => setConfig(false)} />`
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
