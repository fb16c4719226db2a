/** Figures of the account: what it is worth, and what is at risk. */
import type { VNode } from 'preact'
import { html, Section, useDaemonNow, useSlice } from '../markup.ts'
import type { Status } from '../pageWire.ts'
import { NOTHING, signedUsdText, usdText, wholeUsdText } from '../shownAmount.ts'
import { dayPnlOf, drawdownTextOf } from '../shownFigures.ts'
import { dayHint, equityHint } from '../shownMatters.ts'
import { momentText, spanText } from '../shownTimes.ts'
import { texts } from '../texts.ts'

const { headline: words } = texts

/** Up, down or neither, by what a screen shows of it. */
export function toneOf(amount: bigint | undefined): '' | 'up' | 'down' {
  if (amount === undefined || usdText(amount) === '$0.00') return ''
  return amount > 0n ? 'up' : 'down'
}

/** A figure with its name and a word on it. */
function Figure(props: {
  readonly name: string
  readonly value: string
  readonly hint: string
  readonly tone?: string
}): VNode {
  const { name, value, hint, tone = '' } = props
  return html`<div class=${tone} title=${hint}>
    <dt>${name} <small>${hint}</small></dt>
    <dd class="num">${value}</dd>
  </div>`
}

/** Profile and chain, and of a replay its date. */
function placeText({ profile, chain, replay }: Status): string {
  if (replay === undefined) return `${profile}, ${chain}`
  const date = replay.hasEnded ? undefined : momentText(replay.atMs).slice(0, 16)
  return `${profile}, ${chain}, ${words.replay(replay.file, date)}`
}

/** The figures of the account. */
export function Figures(): VNode | null {
  const status = useSlice((state) => state.status)
  const nowMs = useDaemonNow()
  if (status === undefined) return null
  const { equity, unresolved } = status
  const day = dayPnlOf(status)
  return html`<dl class="figures">
    <${Figure} name=${words.equity} value=${equity === undefined ? NOTHING : usdText(equity.equityUsd)}
      hint=${equityHint(equity, nowMs, placeText(status))} />
    <${Figure} name=${words.day} value=${day === undefined ? NOTHING : signedUsdText(day)} hint=${dayHint(equity, status.nowMs)} tone=${toneOf(day)} />
    <${Figure} name=${words.risk} value=${usdText(status.exposureUsd)}
      hint=${words.riskHint(status.positions.length, status.openOrders)} />
    <${Figure} name=${words.drawdown} value=${drawdownTextOf(status) ?? NOTHING}
      hint=${equity === undefined ? '' : words.drawdownHint(wholeUsdText(equity.peakUsd))} />
    <${Figure} name=${words.unresolved}
      value=${unresolved === 0 ? words.none : spanText(status.oldestUnresolvedSeconds * 1_000)}
      hint=${words.unresolvedHint(unresolved)} tone=${unresolved === 0 ? 'quiet' : 'warn'} />
  </dl>`
}

/** All figures of the account with what is said of each, which a phone's head has no place for. */
export function AccountView(): VNode {
  return html`<${Section} id="account" title=${texts.sections.account}><${Figures} /><${DayParts} /><//>`
}

/** The parts of the day's result, which add up to it as they are shown; nothing where they are not known. */
function DayParts(): VNode | null {
  const parts = useSlice((state) => state.status?.equity?.dayParts)
  if (parts === undefined) return null
  const rows = Object.entries(words.dayParts) as readonly [keyof typeof words.dayParts, string][]
  return html`<p class="day-parts">${words.day}: ${rows.map(([name, text]) => `${text} ${signedUsdText(parts[name])}`).join(', ')}</p>`
}
