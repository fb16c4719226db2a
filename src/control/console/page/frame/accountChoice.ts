/** The choice of an account in the head, of a daemon with several. */
import type { VNode } from 'preact'
import { html, useSlice } from '../markup.ts'
import { pageAccount, showAccount } from '../pageAccount.ts'
import { texts } from '../texts.ts'

/** A list of the accounts; nothing where there is one without a name. One that a fault stopped, or that another process holds, says so. */
export function AccountChoice(): VNode | null {
  const accounts = useSlice((state) => state.accounts)
  if (accounts.length === 0) return null
  const shown = pageAccount()
  const change = (event: Event) => showAccount((event.currentTarget as HTMLSelectElement).value)
  return html`<select class="account" aria-label=${texts.account.label} value=${shown} onChange=${change}>
    ${accounts.map(
      ({ name, isRunning, fault }) =>
        html`<option key=${name} value=${name} selected=${name === shown}>${isRunning ? name : fault === undefined ? texts.account.waits(name) : texts.account.stopped(name)}</option>`,
    )}
  </select>`
}
