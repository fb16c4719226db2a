/** Shows a trader's first questions: is the daemon alive, does it trade, what is the account worth, and what is at risk? */
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { html, useDaemonNow, useMayCommand, usePage, useSlice } from '../markup.ts'
import { killCommand, tradingCommand } from '../pageCommands.ts'
import type { Status } from '../pageWire.ts'
import { NOTHING, signedUsdText, usdText, wholeUsdText } from '../shownAmount.ts'
import { dayPnlOf, drawdownTextOf } from '../shownFigures.ts'
import { dayHint, equityHint } from '../shownMatters.ts'
import { momentText, spanText } from '../shownTimes.ts'
import { texts } from '../texts.ts'

/** Without a word of the daemon for so long its figures are old, ms: it says something every ten seconds. */
const staleMs = 25_000

/** Up, down or neither, by what a screen shows of it. */
export function toneOf(amount: bigint | undefined): '' | 'up' | 'down' {
  if (amount === undefined || usdText(amount) === '$0.00') return ''
  return amount > 0n ? 'up' : 'down'
}

/** Returns the state of the stream, and the age of its newest message. */
function useStream(): { readonly state: 'connecting' | 'open' | 'lost' | 'stale'; readonly ageMs?: number } {
  const stream = useSlice((state) => state.stream)
  const heardAtMs = useSlice((state) => state.heardAtMs)
  const [nowMs, setNowMs] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  if (heardAtMs === undefined) return { state: stream }
  const ageMs = Math.max(0, nowMs - heardAtMs)
  return { state: ageMs > staleMs ? 'stale' : stream, ageMs }
}

/** Shows in words and by a mark whether the page receives the daemon's messages. */
function StreamTile(): VNode {
  const { announce } = usePage()
  const { state, ageMs } = useStream()
  const isOld = state === 'stale' || state === 'lost'
  const [wasOld, setWasOld] = useState(false)
  useEffect(() => {
    document.documentElement.classList.toggle('stale', isOld)
    if (isOld !== wasOld) announce(isOld ? texts.stream.announceStale : texts.stream.announceLive)
    setWasOld(isOld)
  }, [isOld])
  // Whatever replaces these figures, such as the log-in form, is not stale.
  useEffect(() => () => document.documentElement.classList.remove('stale'), [])
  const tone = state === 'open' ? 'up' : state === 'connecting' ? '' : 'down'
  return html`<div class=${`tile alarm ${tone}`}>
    <dt>${texts.headline.stream}</dt>
    <dd>
      <strong><span aria-hidden="true">${state === 'open' ? '●' : '○'}</span> ${texts.stream[state]}</strong>
      <small>${ageMs === undefined ? texts.stream.notHeard : texts.stream.heard(spanText(ageMs))}</small>
    </dd>
  </div>`
}

/** A figure with its name and a word below it. */
function Tile(props: {
  readonly name: string
  readonly value: string
  readonly hint: string
  readonly tone?: string
}): VNode {
  const { name, value, hint, tone = '' } = props
  return html`<div class=${`tile ${tone}`}>
    <dt>${name}</dt>
    <dd><strong class="num">${value}</strong><small title=${hint}>${hint}</small></dd>
  </div>`
}

function TradingTile({ status }: { readonly status: Status }): VNode {
  const { tradingState, halts, state, notReady } = status
  const [strictest] = halts.filter((halt) => halt.state === tradingState)
  const why =
    strictest === undefined
      ? state === 'running' && notReady.length > 0
        ? texts.headline.notReady(notReady.join('; '))
        : texts.engine[state]
      : `${texts.causes[strictest.cause]}: ${strictest.reason} (${strictest.by})`
  const isGoing = tradingState === 'active' && notReady.length === 0
  const tone = isGoing ? 'up' : tradingState === 'halted' ? 'down' : 'warn'
  const mark = isGoing ? '▶' : tradingState === 'halted' ? '■' : '▼'
  return html`<div class=${`tile alarm wide ${tone}`}>
    <dt>${texts.headline.trading}</dt>
    <dd>
      <strong><span aria-hidden="true">${mark}</span> ${texts.trading[tradingState]}${tradingState === 'active' && !isGoing ? texts.headline.waiting : ''}</strong>
      <small title=${why}>${why}</small>
    </dd>
  </div>`
}

/** Profile and chain, and of a replay its date. */
function placeText({ profile, chain, replay }: Status): string {
  if (replay === undefined) return `${profile}, ${chain}`
  const date = replay.hasEnded ? undefined : momentText(replay.atMs).slice(0, 16)
  return `${profile}, ${chain}, ${texts.headline.replay(replay.file, date)}`
}

/** The figures. */
export function Headline(): VNode {
  const status = useSlice((state) => state.status)
  const { announce } = usePage()
  const nowMs = useDaemonNow()
  const tradingState = status?.tradingState
  useEffect(() => {
    if (tradingState !== undefined) announce(texts.trading.announce(tradingState))
  }, [tradingState])
  if (status === undefined) return html`<dl class="tiles"><${StreamTile} /></dl>`
  const { equity } = status
  const day = dayPnlOf(status)
  const { headline: words } = texts
  return html`<dl class="tiles">
    <${StreamTile} />
    <${TradingTile} status=${status} />
    <${Tile} name=${words.equity} value=${equity === undefined ? NOTHING : usdText(equity.equityUsd)}
      hint=${equityHint(equity, nowMs, placeText(status))} />
    <${Tile} name=${words.day} value=${day === undefined ? NOTHING : signedUsdText(day)} hint=${dayHint(equity, status.nowMs)} tone=${toneOf(day)} />
    <${Tile} name=${words.drawdown} value=${drawdownTextOf(status) ?? NOTHING}
      hint=${equity === undefined ? '' : words.drawdownHint(wholeUsdText(equity.peakUsd))} />
    <${Tile} name=${words.risk} value=${usdText(status.exposureUsd)}
      hint=${words.riskHint(status.positions.length, status.openOrders)} />
    <${Tile} name=${words.unresolved}
      value=${status.unresolved === 0 ? words.none : spanText(status.oldestUnresolvedSeconds * 1_000)}
      hint=${words.unresolvedHint(status.unresolved)} tone=${status.unresolved === 0 ? '' : 'alarm warn'} />
  </dl>`
}

/** Buttons that halt and resume trading. */
export function TradingButtons(): VNode | null {
  const { command } = usePage()
  const status = useSlice((state) => state.status)
  if (!useMayCommand() || status === undefined) return null
  const { actions } = texts
  const trading = (state: 'active' | 'reducing' | 'halted') =>
    html`<button onClick=${() => command(tradingCommand(state, status))}>${actions[state]}</button>`
  return html`<div class="actions" role="group" aria-label=${actions.menu}>
    ${trading('active')} ${trading('reducing')} ${trading('halted')}
    <button class="danger" onClick=${() => command(killCommand(false, status))}>${actions.kill}</button>
    <button class="danger" onClick=${() => command(killCommand(true, status))}>${actions.killClose}</button>
  </div>`
}
