/** The order ticket of Trade: a column beside the chart, or on a narrow screen a button and a sheet. */
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { html, Section, useMayCommand } from '../markup.ts'
import { addressOf } from '../pagePlace.ts'
import { goTo, usePlace } from '../placeHistory.ts'
import { texts } from '../texts.ts'
import { useMarket } from '../views/priceView.ts'
import { openTicket } from './ticket.ts'
import { TicketForm } from './ticketForm.ts'
import { ticketTexts as words } from './ticketTexts.ts'

/** A screen with room for a column beside the chart; style.css has the same width. */
const wideScreen = '(min-width: 1180px)'

function useIsWide(): boolean {
  const [isWide, setWide] = useState(matchMedia(wideScreen).matches)
  useEffect(() => {
    const list = matchMedia(wideScreen)
    const look = () => setWide(list.matches)
    list.addEventListener('change', look)
    return () => list.removeEventListener('change', look)
  }, [])
  return isWide
}

/** The ticket, for whoever may command. */
export function TicketView(): VNode | null {
  const mayCommand = useMayCommand()
  const market = useMarket()
  const { query, ...place } = usePlace()
  const isWide = useIsWide()
  const sheet = useRef<HTMLDialogElement>(null)
  const { ticket, ...rest } = query
  const isOpen = ticket === 'open'
  const close = () => {
    if (isOpen) goTo({ ...place, query: rest })
  }
  useEffect(() => {
    if (isWide && isOpen) {
      // Asked for again it is another place; Back does not lead to it. A navigation would take the focus away.
      history.replaceState(null, '', addressOf({ ...place, query: rest }))
      dispatchEvent(new HashChangeEvent('hashchange'))
      // A page that has just opened takes the focus first.
      queueMicrotask(() => document.querySelector<HTMLElement>('#ticket input[name=direction]')?.focus())
    } else if (!isOpen) sheet.current?.close()
    else if (sheet.current?.open === false) sheet.current.showModal()
  }, [isOpen, isWide, market])
  if (!mayCommand) return null
  const form =
    market === undefined
      ? html`<p class="muted">${words.noMarket}</p>`
      : html`<${TicketForm} market=${market} />`
  if (isWide) return html`<${Section} id="ticket" title=${words.title}>${form}<//>`
  return html`<${Section} id="ticket" title=${words.title} tools=${html`<button class="primary" onClick=${openTicket}>${words.open}</button>`} />
    <dialog ref=${sheet} class="sheet" aria-labelledby="ticket-sheet" onClose=${close}>
      <div class="bar"><h2 id="ticket-sheet">${words.title}</h2><button type="button" onClick=${close}>${texts.close}</button></div>
      ${isOpen ? form : ''}
    </dialog>`
}
