/** A ticket with its preview and its sends: one id for one order, however often it is sent. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { usePage } from '../markup.ts'
import { type Answered, NO_ANSWER } from '../pageApi.ts'
import type { Answer } from '../pageWire.ts'
import { usdText } from '../shownAmount.ts'
import { lastName, refusalText, rememberName } from '../views/commandDialog.ts'
import {
  keepTicket,
  keptTicket,
  newTicket,
  type Quote,
  rememberFields,
  type Ticket,
  type TicketFields,
  ticketBody,
} from './ticket.ts'

const ORDERS = '/api/orders'
/** Interval between tries to learn what became of a send, ms. */
const retryMs = 2_000

type Refused = Extract<Answered<Answer>, { readonly ok: false }>

/** A pool that a short symbol may mean, in words. */
export interface PoolRow {
  readonly symbol: string
  /** Capacity for the side, and the expected cost of opening this size there; undefined: not known. */
  readonly free: string | undefined
  readonly cost: string | undefined
}

/** The daemon's answer to what the ticket asks: a quote, a refusal with the pools to choose from, or an order that was accepted. */
export interface Said {
  readonly quote?: Quote
  /** The quote before, once the daemon refused to send by it. */
  readonly before?: Quote | undefined
  readonly refused?: Refused | undefined
  readonly pools?: readonly PoolRow[] | undefined
  readonly done?: Answer
}

/** Current request: for a preview, a send, or one that asks what became of a send. */
export type Busy = 'show' | 'send' | 'ask'

/** Codes by which a send is refused that another look may allow. */
const shownAnew: ReadonlySet<string> = new Set(['QUOTE_WORSE', 'PRICE_FAR'])

type Post = (body: object) => Promise<Answered<Answer>>

/** The reason for a preview: the person asks, or it is asked for anew by itself. */
interface Asking {
  /** The quote whose differences are marked. */
  readonly before?: Quote | undefined
  /** The refusal because of which it is asked for. */
  readonly why?: Refused | undefined
  readonly isQuiet?: boolean
}

/** The pools of a short symbol with the cost of this size in each, as far as the daemon would accept it. */
function poolRows(
  post: Post,
  body: object,
  pools: NonNullable<Refused['pools']>,
): Promise<readonly PoolRow[]> {
  return Promise.all(
    pools.map(async ({ symbol, freeUsd }) => {
      const answer = await post({ ...body, market: symbol })
      const quote = answer.ok ? answer.value.quote : undefined
      return {
        symbol,
        free: freeUsd === null ? undefined : usdText(freeUsd),
        cost: quote === undefined ? undefined : usdText(quote.expected.totalUsd),
      }
    }),
  )
}

/** Sends a body again until something answers, or nobody waits for it any more. */
async function answered(
  post: Post,
  body: object,
  { isGone, onRetry }: { readonly isGone: () => boolean; readonly onRetry: () => void },
): Promise<Answered<Answer>> {
  let answer = await post(body)
  while (!answer.ok && answer.code === NO_ANSWER && !isGone()) {
    onRetry()
    await new Promise((resolve) => setTimeout(resolve, retryMs))
    answer = await post(body)
  }
  return answer
}

/** The ticket of this tab. `market`: that of the chart. */
export function useTicket(market: string) {
  const { feed, announce } = usePage()
  const [ticket, setTicket] = useState<Ticket>(keptTicket)
  const [said, setSaid] = useState<Said>({})
  const [busy, setBusy] = useState<Busy | undefined>(undefined)
  const [by, setBy] = useState(lastName())
  const [answers, setAnswers] = useState(0)
  const isSending = useRef(false)
  const isGone = useRef(false)
  const asked = useRef(0)
  const post: Post = (body) => feed.change<Answer>('POST', ORDERS, body)

  function keep(next: Ticket): void {
    keepTicket(next)
    setTicket(next)
  }

  /** Other terms are another order: what was shown is not theirs. */
  function change(fields: Partial<TicketFields>): void {
    asked.current += 1
    setBusy(undefined)
    keep({ ...ticket, fields: { ...ticket.fields, ...fields } })
    setSaid({})
  }

  /** An order was made, or refused: an id that has made one, or belongs to another one, is used up. */
  function ended(sending: Ticket, answer: Answered<Answer>, pools: readonly PoolRow[] = []): void {
    const { fields } = sending
    announce(answer.ok ? answer.value.statement : refusalText(answer))
    if (answer.ok) rememberFields(fields)
    if (answer.ok) keep({ ...newTicket(), fields: { ...fields, amount: '' } })
    else keep(answer.code === 'ID_USED' ? { ...newTicket(), fields } : sending)
    setSaid(answer.ok ? { done: answer.value } : { refused: answer, pools })
    if (answer.ok) feed.refresh()
  }

  async function show({ before, why, isQuiet = false }: Asking): Promise<void> {
    const number = ++asked.current
    if (!isQuiet) setBusy('show')
    const body = { ...ticketBody(ticket, market, by), preview: true }
    const answer = await post(body)
    const pools = answer.ok || answer.pools === undefined ? [] : await poolRows(post, body, answer.pools)
    if (number !== asked.current) return
    if (!isQuiet) setBusy(undefined)
    const quote = answer.ok ? answer.value.quote : undefined
    if (quote !== undefined) {
      setSaid({ quote, before, refused: why })
      if (!isQuiet && answer.ok)
        announce(`${why === undefined ? '' : `${refusalText(why)} `}${answer.value.statement}`)
    } else if (isQuiet && !answer.ok && answer.code === NO_ANSWER) setSaid({})
    else ended(ticket, answer, pools)
    if (!isQuiet) setAnswers((count) => count + 1)
  }

  /** A form that is gone leaves the outcome to the next one, which finds what was sent. */
  async function carryOut({ sent: body, ...unsent }: Ticket, shown: Quote | undefined): Promise<void> {
    if (isSending.current || body === undefined) return
    isSending.current = true
    asked.current += 1
    setBusy('send')
    const answer = await answered(post, body, { isGone: () => isGone.current, onRetry: () => setBusy('ask') })
    isSending.current = false
    if (isGone.current) return
    setBusy(undefined)
    if (answer.ok || !shownAnew.has(answer.code)) {
      setAnswers((count) => count + 1)
      return ended(unsent, answer)
    }
    keep(unsent)
    await show({ before: shown, why: answer })
  }

  /** Sends what was shown. The ticket is kept with it first, so that a reload asks about the same order. */
  async function send(quote: Quote): Promise<void> {
    if (isSending.current) return
    rememberName(by)
    const body = { ...ticketBody(ticket, market, by), quoted: quote.quoted }
    const sending = { ...ticket, sent: quote.farBps === null ? body : { ...body, far: true } }
    keep(sending)
    await carryOut(sending, quote)
  }

  useEffect(() => {
    void carryOut(ticket, undefined)
    return () => {
      isGone.current = true
    }
  }, [])
  // Another chart is another order, but for one that is on its way.
  const first = useRef(market)
  useEffect(() => {
    if (first.current === market || isSending.current) return
    first.current = market
    change({ market: '' })
  }, [market, busy])

  return { ticket, said, answers, busy, by, setBy, change, show, send }
}
