/** The form that a session begins with. */
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { html, usePage, useSlice } from '../markup.ts'
import { NO_ANSWER } from '../pageApi.ts'
import { texts } from '../texts.ts'

/** The form. */
export function LoginView(): VNode {
  const { feed, announce } = usePage()
  const session = useSlice((state) => state.session)
  const reason =
    session === 'over' ? texts.login.over : session === 'link-over' ? texts.login.linkOver : undefined
  const [token, setToken] = useState('')
  const [problem, setProblem] = useState('')
  const [isSending, setSending] = useState(false)

  // Earlier announcements were about the account.
  useEffect(() => announce(reason ?? ''), [reason])

  async function logIn(event: Event): Promise<void> {
    event.preventDefault()
    setSending(true)
    setProblem('')
    const answer = await feed.logIn(token.trim())
    if (!answer.ok)
      setProblem(answer.code === NO_ANSWER ? texts.noAnswer : `${answer.code}: ${answer.message}`)
    setSending(false)
  }

  return html`<main class="login">
    <form onSubmit=${logIn}>
      <h1>${texts.login.title}</h1>
      ${reason === undefined ? '' : html`<p>${reason}</p>`}
      <label>
        ${texts.login.token}
        <input
          type="password"
          name="token"
          autocomplete="current-password"
          required
          autofocus
          value=${token}
          onInput=${(event: InputEvent) => setToken((event.currentTarget as HTMLInputElement).value)}
          aria-describedby="login-hint"
        />
      </label>
      <p id="login-hint" class="muted">${texts.login.hint}</p>
      <button class="primary" disabled=${isSending}>${isSending ? texts.login.sending : texts.login.send}</button>
      <p role="alert" class="problem">${problem}</p>
    </form>
  </main>`
}
