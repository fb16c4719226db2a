/** The form that starts a backtest of a strategy that runs. */
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { html, usePage, useSlice } from '../markup.ts'
import { pageAccount } from '../pageAccount.ts'
import { NO_ANSWER } from '../pageApi.ts'
import type { StrategyRow } from '../pageWire.ts'
import { runTexts as words } from '../runTexts.ts'
import { texts } from '../texts.ts'

const none: readonly StrategyRow[] = []

interface Field {
  readonly name: 'from' | 'to' | 'balance' | 'source'
  readonly label: string
  readonly type: 'date' | 'text'
  readonly hint?: string
  readonly pattern?: string
  readonly initial?: string
}
const fields: readonly Field[] = [
  { name: 'from', label: words.from, type: 'date', hint: words.fromHint },
  { name: 'to', label: words.to, type: 'date', hint: words.toHint },
  { name: 'balance', label: words.balance, type: 'text', pattern: '\\d{1,12}', initial: '10000' },
  {
    name: 'source',
    label: words.source,
    type: 'text',
    hint: words.sourceHint,
    pattern: '[A-Za-z0-9][A-Za-z0-9_\\-]{0,39}',
  },
]

/** The dialog. */
export function RunDialog({
  isOpen,
  onEnd,
  onBegun,
}: {
  readonly isOpen: boolean
  readonly onEnd: () => void
  readonly onBegun: () => void
}): VNode {
  const { feed, announce } = usePage()
  const rows = useSlice((state) => state.status?.strategies ?? none)
  const dialog = useRef<HTMLDialogElement>(null)
  const [problem, setProblem] = useState('')
  const [isSending, setSending] = useState(false)

  useEffect(() => {
    if (!isOpen) dialog.current?.close()
    else if (dialog.current?.open === false) {
      setProblem('')
      dialog.current.showModal()
    }
  }, [isOpen])

  async function submit(event: Event): Promise<void> {
    event.preventDefault()
    const typed = [...new FormData(event.currentTarget as HTMLFormElement)]
    const given = Object.fromEntries(
      typed.map(([name, value]) => [name, String(value).trim()]).filter(([, value]) => value !== ''),
    )
    const body = { ...given, account: pageAccount() }
    setSending(true)
    const answer = await feed.change<{ readonly job: { readonly name: string } }>('POST', '/api/runs', body)
    setSending(false)
    if (!answer.ok) {
      const text = answer.code === NO_ANSWER ? texts.noAnswer : answer.message
      setProblem(text)
      return announce(text)
    }
    announce(words.begun(answer.value.job.name))
    onBegun()
    onEnd()
  }

  return html`<dialog ref=${dialog} aria-labelledby="run-title" onClose=${onEnd}>
    <form class="form" onSubmit=${submit}>
      <h2 id="run-title">${words.title}</h2>
      <ul>${words.effects.map((effect) => html`<li key=${effect}>${effect}</li>`)}</ul>
      <label>${words.strategy}<select name="strategy">
        ${rows.map(({ name }) => html`<option key=${name} value=${name}>${name}</option>`)}
      </select></label>
      ${fields.map(
        ({ name, label, type, hint, pattern, initial }) =>
          html`<label key=${name}>${label}<input name=${name} type=${type} pattern=${pattern} defaultValue=${initial} autocomplete="off" />${hint === undefined ? '' : html`<small>${hint}</small>`}</label>`,
      )}
      <label>${words.mode}<select name="mode">
        ${(['fast', 'exact'] as const).map((mode) => html`<option key=${mode} value=${mode}>${words.modes[mode]}</option>`)}
      </select></label>
      ${problem === '' ? '' : html`<p class="problem" role="alert">${problem}</p>`}
      <div class="tools form-tools">
        <button class="primary" disabled=${isSending || rows.length === 0}>${words.send}</button>
        <button type="button" onClick=${onEnd}>${texts.close}</button>
      </div>
    </form>
  </dialog>`
}
