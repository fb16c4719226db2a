/** The confirmation of a move: old and new in figures, what the daemon says of it, and one button. */
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { html, useDaemonNow, usePage } from '../markup.ts'
import { newCommandId } from '../newCommandId.ts'
import type { Answered } from '../pageApi.ts'
import type { Answer } from '../pageWire.ts'
import { priceText } from '../shownAmount.ts'
import { texts } from '../texts.ts'
import { lastName, refusalText, rememberName } from '../views/commandDialog.ts'
import { chartTexts as words } from './chartTexts.ts'
import type { SentMove, WantedMove } from './levelMoves.ts'

/** The strip of one move. `onEnd`: the line goes back, with the reason where it was refused. `onSent`: the daemon accepted it. */
export function MoveStrip(props: {
  readonly wanted: WantedMove
  readonly market: string
  readonly places: number
  readonly onEnd: (problem?: string) => void
  readonly onSent: (move: SentMove) => void
}): VNode {
  const { wanted, market, places, onEnd, onSent } = props
  const { feed, announce } = usePage()
  const nowMs = useDaemonNow()
  const { level, order, typed, text, distance, pnl } = wanted
  const [id] = useState(newCommandId)
  const [by, setBy] = useState(lastName())
  const [hadName] = useState(by.trim() !== '')
  const [seen, setSeen] = useState('')
  const [isSending, setSending] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const path = `/api/orders/${encodeURIComponent(order.orderKey)}/move`

  const refused = (answer: Extract<Answered<Answer>, { readonly ok: false }>): void => {
    const problem = `${texts.dialog.refused(answer.code)} ${refusalText(answer)}`
    announce(problem)
    onEnd(problem)
  }

  useEffect(() => {
    let isOver = false
    const body = { id, price: typed, preview: true, by: by.trim() || texts.dialog.byNobody }
    void feed.change<Answer>('POST', path, body).then((answer) => {
      if (isOver) return
      if (!answer.ok) return refused(answer)
      setSeen(answer.value.statement)
      announce(answer.value.statement)
    })
    button.current?.focus()
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      event.preventDefault()
      onEnd()
    }
    addEventListener('keydown', onKey)
    return () => {
      isOver = true
      removeEventListener('keydown', onKey)
    }
  }, [])

  async function send(event: Event): Promise<void> {
    event.preventDefault()
    if (isSending || seen === '' || by.trim() === '') return
    setSending(true)
    rememberName(by)
    // The daemon may accept the edit before its answer comes.
    const sentAtMs = nowMs - 2_000
    const answer = await feed.change<Answer>('POST', path, { id, price: typed, by: by.trim() })
    setSending(false)
    if (!answer.ok) return refused(answer)
    announce(answer.value.statement)
    const { intentId } = answer.value
    onSent({
      ...{
        orderKey: order.orderKey,
        name: level.name,
        market,
        direction: order.direction,
        priceUsd: wanted.priceUsd,
        text,
        sentAtMs,
      },
      intentId,
    })
    feed.refresh()
  }

  const before = order.triggerPrice === null ? '' : priceText(order.triggerPrice, places)
  return html`<form class="strip" aria-label=${words.sheet(level.name, level.direction, market)} onSubmit=${send}>
    <strong>${words.sheet(level.name, level.direction, market)}</strong>
    <span class="num">${words.from} ${before} ${words.to} <strong>${text}</strong>${
      distance === undefined ? '' : ` (${distance}${pnl === undefined ? '' : `, ${pnl}`})`
    }</span>
    <small class="muted">${seen === '' ? words.asking : seen}</small>
    ${
      hadName
        ? ''
        : html`<label>${texts.dialog.by}<input name="by" required maxlength="80" value=${by} autocomplete="name"
            onInput=${(event: Event) => setBy((event.currentTarget as HTMLInputElement).value)} /></label>`
    }
    <span class="tools">
      <button ref=${button} class="primary" aria-disabled=${isSending || seen === ''}>${isSending ? texts.dialog.sending : words.moveIt(level.name, text)}</button>
      <button type="button" onClick=${() => onEnd()}>${words.putBack}</button>
    </span>
  </form>`
}
