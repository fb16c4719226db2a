/** The log, newest line first, by level, strategy and text. A new line draws itself and nothing else of the page. */
import type { VNode } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { html, kept, Section, useBounded, useSlice } from '../markup.ts'
import type { LogLine, StrategyRow } from '../pageWire.ts'
import { type LogFilter, shownLines } from '../shownFigures.ts'
import { clockText, momentText } from '../shownTimes.ts'
import { texts } from '../texts.ts'

const { log: words } = texts
const firstRows = 60
const none: readonly StrategyRow[] = []

const Line = kept(({ line }: { readonly line: LogLine }) => {
  const mark = line.level === 'error' ? '■ ' : line.level === 'warn' ? '▲ ' : ''
  const tone = line.level === 'error' ? 'down' : line.level === 'warn' ? 'warn' : ''
  return html`<li class=${tone}>
    <time class="num" title=${momentText(line.atMs)}>${clockText(line.atMs)}</time>
    <span class="word">${mark}${line.word}</span>
    <span>${line.text}</span>
  </li>`
})

const chosen = (event: Event): string => (event.currentTarget as HTMLInputElement | HTMLSelectElement).value

/** The lines and their filters. */
export function LogView(): VNode {
  const lines = useSlice((state) => state.log.lines)
  const strategies = useSlice((state) => state.status?.strategies ?? none)
  const find = useSlice((state) => state.find)
  const [level, setLevel] = useState<LogFilter['level']>('info')
  const [strategy, setStrategy] = useState('')
  const [text, setText] = useState('')
  const found = useMemo(
    () => shownLines(lines, { level, strategy, texts: [find, text.trim().toLowerCase()] }),
    [lines, level, strategy, text, find],
  )
  const [shown, more, showMore] = useBounded(found, firstRows)
  const tools = html`
    <label>${words.level}
      <select value=${level} onChange=${(event: Event) => setLevel(chosen(event) as LogFilter['level'])}>
        ${Object.entries(words.levels).map(([value, name]) => html`<option key=${value} value=${value}>${name}</option>`)}
      </select>
    </label>
    <label>${words.strategy}
      <select value=${strategy} onChange=${(event: Event) => setStrategy(chosen(event))}>
        <option value="">${words.anyStrategy}</option>
        ${strategies.map(({ name }) => html`<option key=${name} value=${name}>${name}</option>`)}
      </select>
    </label>
    <label>${words.text}
      <input type="search" value=${text} onInput=${(event: Event) => setText(chosen(event))} />
    </label>`
  return html`<${Section} id="log" title=${texts.sections.log} count=${texts.shownOf(shown.length, lines.length)} tools=${tools}>
    ${shown.length === 0 ? html`<p class="muted">${words.none}</p>` : ''}
    <ol class="log" tabindex="0" aria-label=${words.jump}>${shown.map((line) => html`<${Line} key=${line.seq} line=${line} />`)}</ol>
    ${more > 0 ? html`<div class="tools"><button onClick=${showMore}>${texts.more(more)}</button></div>` : ''}
  <//>`
}
