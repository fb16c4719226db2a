/** Strategies: their state, their last decision, their book, and pause and resume. */
import type { VNode } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { commandForms } from '../commandForms.ts'
import type { PageCommand } from '../formCommand.ts'
import { formCommand, formsAt } from '../formCommand.ts'
import {
  Head,
  html,
  kept,
  Section,
  useBounded,
  useDaemonNow,
  useMayCommand,
  usePage,
  useSlice,
} from '../markup.ts'
import { setFieldCommand, switchCommand } from '../pageCommands.ts'
import type { Book, Decision, StrategyRow } from '../pageWire.ts'
import { amountOf, NOTHING, signedUsdText, usdText } from '../shownAmount.ts'
import { holds } from '../shownFigures.ts'
import { clockText, momentText, spanText, zonedText } from '../shownTimes.ts'
import { texts } from '../texts.ts'
import { toneOf } from './headlineView.ts'
import { StrategyFileDialog } from './strategyFileView.ts'

const { strategies: words } = texts
const firstRows = 20
const figures: readonly string[] = [words.turn, words.book, words.brought]

/** Shows in words with a mark what keeps a strategy from deciding; a strategy with no obstacle runs. */
function stateOf(row: StrategyRow): { readonly text: string; readonly tone: string; readonly hint?: string } {
  if (row.unfit !== undefined) return { text: words.unfit(row.unfit.reason), tone: 'mark down' }
  if (row.pausedBy !== undefined) {
    const { by, reason, sinceMs } = row.pausedBy
    return { text: words.pausedBy(by, reason), tone: 'mark warn', hint: texts.since(zonedText(sinceMs)) }
  }
  if (row.pausedForMs !== undefined) {
    return { text: words.pausedFor(spanText(row.pausedForMs)), tone: 'mark warn', ...hintOf(row.lastError) }
  }
  if (row.failures > 0)
    return { text: words.failing(row.failures), tone: 'mark warn', ...hintOf(row.lastError) }
  if (row.tradingState !== 'active') return { text: texts.trading[row.tradingState], tone: 'mark warn' }
  return { text: words.running, tone: '' }
}

const hintOf = (hint: string | undefined) => (hint === undefined ? {} : { hint })

/** Position and result in the books of one strategy. */
interface Held {
  readonly sizeUsd: bigint
  readonly pnlUsd: bigint
  readonly trades: number
  readonly wins: number
}

function heldBy(books: readonly Book[]): ReadonlyMap<string, Held> {
  return new Map(
    [...Map.groupBy(books, ({ strategy }) => strategy)].map(([strategy, own]) => [
      strategy,
      {
        sizeUsd: own.reduce((sum, { sizeUsd }) => sum + amountOf(sizeUsd), 0n),
        pnlUsd: own.reduce((sum, { results }) => sum + amountOf(results.pnlUsd), 0n),
        trades: own.reduce((sum, { results }) => sum + results.trades, 0),
        wins: own.reduce((sum, { results }) => sum + results.wins, 0),
      },
    ]),
  )
}

/** Shows the time since an event; it redraws each second without its row. */
function Age({ atMs }: { readonly atMs: number }): VNode {
  const nowMs = useDaemonNow()
  return html`<span title=${momentText(atMs)}>${texts.ago(spanText(nowMs - atMs))}</span>`
}

interface RowProps {
  readonly row: StrategyRow
  readonly decision: Decision | undefined
  readonly held: Held | undefined
  readonly onCommand: ((command: PageCommand) => void) | undefined
  readonly onFile: (name: string) => void
}

/** The newest signal that led to no order, and why. */
function unservedOf({ lastUnserved }: StrategyRow): VNode | string {
  if (lastUnserved === undefined) return ''
  const { signal, reason, atMs } = lastUnserved
  return html`<small><time>${clockText(atMs)}</time> ${words.unserved(signal, reason)}</small>`
}

const StrategyLine = kept(({ row, decision, held, onCommand, onFile }: RowProps) => {
  const { name, kind, symbols, ticks, admitted, denied } = row
  const state = stateOf(row)
  const isPaused = row.pausedBy !== undefined
  const what = isPaused ? words.resume : words.pause
  return html`<tr>
    <th scope="row" data-label=${words.name}>${name}<small>${kind}${symbols.length === 0 ? '' : `, ${symbols.join(', ')}`}</small></th>
    <td data-label=${words.state}>
      <span class=${state.tone}>${state.text}</span>${state.hint === undefined ? '' : html`<small>${state.hint}</small>`}
      ${row.status === undefined ? '' : html`<small>${row.status.text}</small>`}<small>${words.counts(ticks, admitted, denied)}</small>
    </td>
    <td data-label=${words.last}>${
      decision === undefined
        ? html`<span class="muted">${words.noDecision}</span>`
        : html`${decision.words} <strong class=${decision.outcome === 'denied' ? 'warn' : ''}>${texts.outcomes[decision.outcome]}</strong>
            <small><time>${clockText(decision.atMs)}</time>${decision.reason === undefined ? '' : ` ${decision.reason}`}</small>`
    }${unservedOf(row)}</td>
    <td class="num" data-label=${words.turn}>${row.lastTickAtMs === undefined ? NOTHING : html`<${Age} atMs=${row.lastTickAtMs} />`}</td>
    <td class="num" data-label=${words.book}>${held === undefined ? NOTHING : usdText(held.sizeUsd)}</td>
    <td class=${`num ${toneOf(held?.pnlUsd)}`} data-label=${words.brought}>
      ${held === undefined ? NOTHING : html`${signedUsdText(held.pnlUsd)}<small>${words.trades(held.wins, held.trades)}</small>`}
    </td>
    <td class="tools">${
      onCommand === undefined
        ? ''
        : html`<button aria-label=${words.switchLabel(what, name)}
            onClick=${() => onCommand(switchCommand(name, isPaused ? 'resume' : 'pause'))}>${what}</button>
            <button aria-label=${words.editLabel(name)} onClick=${() => onCommand(setFieldCommand(name))}>${words.edit}</button>`
    }<button aria-label=${words.fileLabel(name)} onClick=${() => onFile(name)}>${words.file}</button></td>
  </tr>`
})

const titles = [words.name, words.state, words.last, words.turn, words.book, words.brought, '']
const none: readonly StrategyRow[] = []

/** The table. */
export function StrategiesView(): VNode {
  const { command } = usePage()
  const mayCommand = useMayCommand()
  const rows = useSlice((state) => state.status?.strategies ?? none)
  const decisions = useSlice((state) => state.decisions)
  const books = useSlice((state) => state.books)
  const find = useSlice((state) => state.find)
  const lastOf = useMemo(() => new Map(decisions.map((each) => [each.strategy, each])), [decisions])
  const heldOf = useMemo(() => heldBy(books), [books])
  const found = rows.filter(({ name, kind, symbols }) => holds(find, name, kind, ...symbols))
  const [shown, more, showMore] = useBounded(found, firstRows)
  const onCommand = mayCommand ? command : undefined
  const [fileShown, setFileShown] = useState<string | undefined>(undefined)
  const tools = mayCommand
    ? formsAt('strategies').map(
        (name) =>
          html`<button key=${name} onClick=${() => command(formCommand(name))}>${commandForms[name].button}</button>`,
      )
    : ''
  return html`<${Section} id="strategies" title=${texts.sections.strategies} count=${texts.shownOf(shown.length, rows.length)} tools=${tools}>
    ${
      shown.length === 0
        ? html`<p class="muted">${rows.length === 0 ? words.none : texts.nothingFound}</p>`
        : html`<div class="scroll"><table>
            <${Head} titles=${titles} figures=${figures} />
            <tbody>${shown.map(
              (row) =>
                html`<${StrategyLine} key=${row.name} row=${row} decision=${lastOf.get(row.name)}
                  held=${heldOf.get(row.name)} onCommand=${onCommand} onFile=${setFileShown} />`,
            )}</tbody>
          </table></div>`
    }
    ${more > 0 ? html`<div class="tools"><button onClick=${showMore}>${texts.more(more)}</button></div>` : ''}
    <${StrategyFileDialog} name=${fileShown} onEnd=${() => setFileShown(undefined)} onCommand=${onCommand} />
  <//>`
}
