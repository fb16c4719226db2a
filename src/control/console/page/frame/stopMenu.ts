/** The menu of commands that stop trading, and the button that resumes it. */
import type { VNode } from 'preact'
import { html, useMayCommand, usePage, useSlice } from '../markup.ts'
import { killCommand, tradingCommand } from '../pageCommands.ts'
import { texts } from '../texts.ts'
import { Menu } from './menu.ts'

const { actions: words } = texts

/** The menu, and Resume while trading is stopped; who may only read is told so. */
export function StopMenu(): VNode | null {
  const { command } = usePage()
  const mayCommand = useMayCommand()
  const status = useSlice((state) => state.status)
  if (!mayCommand) return html`<span class="muted">${texts.role.read}</span>`
  if (status === undefined) return null
  const { tradingState, kill } = status
  const isStopped = tradingState !== 'active' || (kill !== undefined && kill.endedAtMs === undefined)
  const trading = (state: 'active' | 'reducing' | 'halted') =>
    html`<button type="button" onClick=${() => command(tradingCommand(state, status))}>${words[state]}</button>`
  const killing = (isClosing: boolean) =>
    html`<button type="button" class="danger" onClick=${() => command(killCommand(isClosing, status))}>${isClosing ? words.killClose : words.kill}</button>`
  return html`<div class="actions" role="group" aria-label=${words.menu}>
    ${isStopped ? trading('active') : ''}
    <${Menu} id="stop-menu" text=${words.stop} tone="danger">
      ${trading('reducing')} ${trading('halted')} ${killing(false)} ${killing(true)}
    <//>
  </div>`
}
