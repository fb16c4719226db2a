/** The open sessions of browsers, and an end to each. */
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { html, Section, useMayCommand, usePage, useSlice } from '../markup.ts'
import { NO_ANSWER, read } from '../pageApi.ts'
import type { OpenSession } from '../pageWire.ts'
import { momentText, zonedText } from '../shownTimes.ts'
import { texts } from '../texts.ts'

const { sessions: words } = texts

function SessionLine({
  row,
  onEnd,
}: {
  readonly row: OpenSession
  readonly onEnd: (() => void) | undefined
}): VNode {
  const { id, role, address, isOwn, begunAtMs, lastUsedAtMs } = row
  return html`<li class="line">
    <span class="grow">
      <strong class="mono">${id}</strong> ${texts.role[role]}, ${words.from(address)}${isOwn ? html` <strong class="mark">${words.own}</strong>` : ''}
      <small>${words.times(momentText(begunAtMs), zonedText(lastUsedAtMs))}</small>
    </span>
    ${onEnd === undefined ? '' : html`<button type="button" aria-label=${words.endLabel(id)} onClick=${onEnd}>${words.end}</button>`}
  </li>`
}

/** The role of the session, and the button that ends it. */
function OwnSession(): VNode {
  const { feed } = usePage()
  const session = useSlice((state) => state.session)
  const [problem, setProblem] = useState('')

  async function logOut(): Promise<void> {
    setProblem('')
    const answer = await feed.logOut()
    if (!answer.ok) setProblem(texts.notLoggedOut(answer.code === NO_ANSWER ? '' : answer.code))
  }

  return html`<div class="line">
    <span class="grow">${typeof session === 'string' ? '' : texts.role[session.role]}</span>
    <button type="button" onClick=${logOut}>${texts.logOut}</button>
    ${problem === '' ? '' : html`<strong class="problem" role="alert">${problem}</strong>`}
  </div>`
}

/** The section. The list is read when its page opens, and after each end. */
export function SessionsView(): VNode {
  const { feed, announce } = usePage()
  const mayCommand = useMayCommand()
  const [rows, setRows] = useState<readonly OpenSession[]>([])
  const [problem, setProblem] = useState('')

  function tell(code: string, message: string): void {
    const text = code === NO_ANSWER ? texts.noAnswer : `${code}: ${message}`
    setProblem(text)
    announce(text)
  }

  async function load(): Promise<void> {
    const answer = await read<readonly OpenSession[]>('/api/console/sessions')
    if (answer.ok) setRows(answer.value)
    else tell(answer.code, answer.message)
  }

  async function end({ id }: OpenSession): Promise<void> {
    const answer = await feed.change('DELETE', `/api/console/sessions/${id}`)
    if (answer.ok) announce(words.ended(id))
    else tell(answer.code, answer.message)
    await load()
  }

  useEffect(() => void load(), [])
  return html`<${Section} id="sessions" title=${words.title}>
    <${OwnSession} />
    ${problem === '' ? '' : html`<p class="problem" role="alert">${problem}</p>`}
    <ul class="rows">
      ${rows.map(
        (row) =>
          html`<${SessionLine} key=${row.id} row=${row}
            onEnd=${mayCommand && !row.isOwn ? () => end(row) : undefined} />`,
      )}
    </ul>
    <p class="muted">${words.note}</p>
  <//>`
}
