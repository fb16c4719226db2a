/** Shows whether the daemon is alive and whether it trades, in the head of every page. */
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { html, usePage, useSlice } from '../markup.ts'
import { spanText } from '../shownTimes.ts'
import { useStream } from '../streamAge.ts'
import { texts } from '../texts.ts'

const { headline: words } = texts

/** Shows in words and by a mark whether the page receives the daemon's messages, and the age of the newest. */
export function StreamMark(): VNode {
  const { announce } = usePage()
  const { state, ageMs, isOld } = useStream()
  const [wasOld, setWasOld] = useState(false)
  useEffect(() => {
    document.documentElement.classList.toggle('stale', isOld)
    if (isOld !== wasOld) announce(isOld ? texts.stream.announceStale : texts.stream.announceLive)
    setWasOld(isOld)
  }, [isOld])
  // Whatever replaces these figures, such as the log-in form, is not stale.
  useEffect(() => () => document.documentElement.classList.remove('stale'), [])
  const tone = state === 'open' ? 'up' : state === 'connecting' ? '' : 'down'
  const heard = ageMs === undefined ? texts.stream.notHeard : texts.stream.heard(spanText(ageMs))
  return html`<span class=${`lamp ${tone}`} title=${heard}>
    <strong><span aria-hidden="true">${state === 'open' ? '●' : '○'}</span> ${texts.stream[state]}</strong>
    ${ageMs === undefined ? '' : html` <small class="num">${spanText(ageMs)}</small>`}
  </span>`
}

/** Shows whether the daemon trades, and if not, why. */
export function TradingMark(): VNode | null {
  const { announce } = usePage()
  const status = useSlice((state) => state.status)
  const tradingState = status?.tradingState
  useEffect(() => {
    if (tradingState !== undefined) announce(texts.trading.announce(tradingState))
  }, [tradingState])
  if (status === undefined || tradingState === undefined) return null
  const { halts, state, notReady } = status
  const [strictest] = halts.filter((halt) => halt.state === tradingState)
  const isGoing = tradingState === 'active' && notReady.length === 0
  const why =
    strictest === undefined
      ? state === 'running' && notReady.length > 0
        ? words.notReady(notReady.join('; '))
        : texts.engine[state]
      : `${texts.causes[strictest.cause]}: ${strictest.reason} (${strictest.by})`
  const tone = isGoing ? 'up' : tradingState === 'halted' ? 'down' : 'warn'
  const mark = isGoing ? '▶' : tradingState === 'halted' ? '■' : '▼'
  return html`<span class=${`lamp trading ${tone}`} title=${why}>
    <strong><span aria-hidden="true">${mark}</span> ${texts.trading[tradingState]}${tradingState === 'active' && !isGoing ? words.waiting : ''}</strong>
    ${isGoing ? '' : html` <small class="why">${why}</small>`}
  </span>`
}
