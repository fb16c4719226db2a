/** Backtests: those that were made here, the one that is being made, and a form to start one. A report opens in a tab of its own. */
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Head, html, Section, useBounded, useDaemonNow, useMayCommand, usePage, useSlice } from '../markup.ts'
import { pageAccount } from '../pageAccount.ts'
import { NO_ANSWER, read } from '../pageApi.ts'
import type { Runs } from '../pageWire.ts'
import { runTexts as words } from '../runTexts.ts'
import { amountOf, percentText, signedUsdText } from '../shownAmount.ts'
import { holds } from '../shownFigures.ts'
import { spanText } from '../shownTimes.ts'
import { texts } from '../texts.ts'
import { toneOf } from './headlineView.ts'
import { RunDialog } from './runDialog.ts'

/** Interval between readings of the list, ms: while a run is being made, and else. */
const [runningMs, idleMs] = [1_000, 20_000]
const firstRows = 10
const titles = [words.run, words.made, words.hold, words.drawdown, words.trades, '']
const figures: readonly string[] = [words.made, words.hold, words.drawdown, words.trades]

type Job = NonNullable<Runs['job']>

/** A UTC day. */
const dayText = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(0, 10)

/** Reads the list for as long as it is shown. */
function useRuns(): {
  readonly runs: Runs | undefined
  readonly isUnread: boolean
  readonly look: () => void
} {
  const { store } = usePage()
  const [runs, setRuns] = useState<Runs | undefined>(undefined)
  const [isUnread, setUnread] = useState(false)
  const [asked, ask] = useState(0)
  const isMaking = runs?.job?.state === 'running' || runs?.runs.some(({ isBeingMade }) => isBeingMade)
  const everyMs = isMaking === true ? runningMs : idleMs
  useEffect(() => {
    let isOver = false
    const look = async () => {
      const answer = await read<Runs>('/api/runs')
      if (isOver || typeof store.get().session === 'string') return
      setUnread(!answer.ok)
      if (answer.ok) setRuns(answer.value)
    }
    void look()
    const timer = setInterval(() => document.visibilityState === 'visible' && void look(), everyMs)
    return () => {
      isOver = true
      clearInterval(timer)
    }
  }, [everyMs, asked])
  return { runs, isUnread, look: () => ask((count) => count + 1) }
}

/** Shows the progress of the run in progress, or the end of the last one. */
function JobLine({
  job,
  onCancel,
}: {
  readonly job: Job
  readonly onCancel: (() => void) | undefined
}): VNode {
  const nowMs = useDaemonNow()
  const { name, state, percent, startedAtMs, problem } = job
  if (state === 'running')
    return html`<div class="line" id="run-job">
      <progress aria-label=${words.progress(name)} max="100" value=${percent}></progress>
      <span class="num grow">${words.running(name, percent, spanText(Math.max(0, nowMs - startedAtMs)))}</span>
      ${onCancel === undefined ? '' : html`<button aria-label=${words.cancelLabel(name)} onClick=${onCancel}>${words.cancel}</button>`}
    </div>`
  if (state === 'failed')
    return html`<div class="problem" id="run-job"><p>${words.failed(name)}</p><pre class="text">${problem ?? ''}</pre></div>`
  return html`<p class="muted" id="run-job">${state === 'over' ? words.over(name) : words.cancelled(name)}</p>`
}

type Row = Runs['runs'][number]

/** Shows a run; `onResume`: absent where it cannot be resumed now. */
function RunLine({
  row,
  onResume,
}: {
  readonly row: Row
  readonly onResume: ((name: string) => void) | undefined
}): VNode {
  const { name, strategies, fromSeconds, toSeconds, figures: found, sentence, page } = row
  const head = html`<th scope="row" class="text" data-label=${words.run}>${strategies.join(', ')}
    <small class="num">${words.span(dayText(fromSeconds), dayText(toSeconds))}</small>
    <small class="mono">${name}</small>${sentence === undefined ? '' : html`<small>${sentence}</small>`}</th>`
  if (found === undefined && row.isBeingMade)
    return html`<tr>${head}<td colspan="5" class="muted">${words.beingMade}</td></tr>`
  if (found === undefined)
    return html`<tr>${head}<td colspan="4" class="muted">${words.stopped}</td><td class="tools">${
      onResume === undefined
        ? ''
        : html`<button aria-label=${words.resumeLabel(name)} onClick=${() => onResume(name)}>${words.resume}</button>`
    }</td></tr>`
  const { madeUsd, holdMadeUsd, maxDrawdownBps, trades, wins, isResult } = found
  return html`<tr>
    ${head}
    <td class=${`num ${toneOf(amountOf(madeUsd))}`} data-label=${words.made}>${signedUsdText(madeUsd)}${
      isResult
        ? ''
        : html`<small><strong class="mark warn">${words.noResult}</strong> ${words.noResultHint}</small>`
    }</td>
    <td class="num" data-label=${words.hold}>${signedUsdText(holdMadeUsd)}</td>
    <td class="num" data-label=${words.drawdown}>${percentText(maxDrawdownBps)}</td>
    <td class="num" data-label=${words.trades}>${texts.strategies.trades(wins, trades)}</td>
    <td class="tools">${
      page === undefined
        ? ''
        : html`<a href=${page} target="_blank" rel="noopener" aria-label=${words.reportLabel(name)}>${words.report}</a>`
    }</td>
  </tr>`
}

/** The section. */
export function RunsView(): VNode {
  const { feed, announce } = usePage()
  const mayCommand = useMayCommand()
  const find = useSlice((state) => state.find)
  const { runs, isUnread, look } = useRuns()
  const [isStarting, setStarting] = useState(false)
  const [problem, setProblem] = useState('')
  const all = (runs?.runs ?? []).filter(
    ({ name }) => runs?.job?.state !== 'running' || name !== runs.job.name,
  )
  const found = all.filter(({ name, strategies }) => holds(find, name, ...strategies))
  const [shown, more, showMore] = useBounded(found, firstRows)
  const job = runs?.job
  const state = job?.state
  useEffect(() => {
    if (job === undefined || state === 'running') return
    announce(
      { over: words.over, cancelled: words.cancelled, failed: words.failed }[job.state as 'over'](job.name),
    )
  }, [state, job?.name])

  async function change(path: string, body: object): Promise<void> {
    const answer = await feed.change('POST', path, body)
    const text = answer.ok ? '' : answer.code === NO_ANSWER ? texts.noAnswer : answer.message
    setProblem(text)
    if (text !== '') announce(text)
    look()
  }

  const resume = (name: string): void => void change('/api/runs/resume', { name, account: pageAccount() })
  const tools =
    mayCommand && state !== 'running'
      ? html`<button onClick=${() => setStarting(true)}>${words.start}</button>`
      : ''
  return html`<${Section} id="runs" title=${texts.sections.runs} count=${texts.shownOf(shown.length, all.length)} tools=${tools}>
    ${job === undefined ? '' : html`<${JobLine} job=${job} onCancel=${mayCommand ? () => change('/api/runs/cancel', {}) : undefined} />`}
    ${problem === '' ? '' : html`<p class="problem" role="alert">${problem}</p>`}
    ${isUnread ? html`<p class="warn">${words.unread}</p>` : ''}
    ${
      shown.length === 0
        ? html`<p class="muted">${runs === undefined ? texts.loading : all.length === 0 ? words.none : texts.nothingFound}</p>`
        : html`<div class="scroll"><table>
            <${Head} titles=${titles} figures=${figures} />
            <tbody>${shown.map((row) => html`<${RunLine} key=${row.name} row=${row} onResume=${mayCommand && state !== 'running' ? resume : undefined} />`)}</tbody>
          </table></div>`
    }
    ${more > 0 ? html`<div class="tools"><button onClick=${showMore}>${texts.more(more)}</button></div>` : ''}
    ${(runs?.more ?? 0) > 0 ? html`<p class="muted">${words.older(runs?.more ?? 0)}</p>` : ''}
    <${RunDialog} isOpen=${isStarting} onEnd=${() => setStarting(false)} onBegun=${look} />
  <//>`
}
