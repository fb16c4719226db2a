/** The order ticket before it is sent: its fields, the body that they make, and its id, which outlives a reload. */
import { plainPrice, typedPrice } from '../chart/levelMoves.ts'
import { newCommandId } from '../newCommandId.ts'
import { placeOf } from '../pagePlace.ts'
import type { Answer } from '../pageWire.ts'
import { goTo } from '../placeHistory.ts'
import { decimalText } from '../shownAmount.ts'

/** The preview of an order. */
export type Quote = NonNullable<Answer['quote']>

/** Units in which a size is typed. */
export const sizeUnits = ['size', 'tokens', 'equity', 'collateral', 'risk'] as const
/** Types of an entry. */
export const entryTypes = ['market', 'limit', 'stopEntry'] as const

/** Values of the fields, as they are typed. */
export interface TicketFields {
  /** A symbol, whole or short; empty: the market of the chart. */
  readonly market: string
  readonly direction: '' | 'long' | 'short'
  readonly type: (typeof entryTypes)[number]
  readonly price: string
  readonly stopLoss: string
  readonly takeProfit: string
  readonly unit: (typeof sizeUnits)[number]
  readonly amount: string
  readonly leverage: string
  readonly collateral: 'short' | 'long'
}

type Body = Readonly<Record<string, unknown>>

/** A ticket: the same id for the same terms, however often they are sent. */
export interface Ticket {
  readonly id: string
  readonly fields: TicketFields
  /** The body that was sent and that nothing has answered yet. */
  readonly sent?: Body
}

const ticketKey = 'perpd.ticket'
const lastKey = 'perpd.ticket.last'
/** Fields that the next ticket begins with; a stop only where it is a distance. */
const remembered = ['unit', 'leverage', 'collateral', 'stopLoss'] as const

const empty: TicketFields = {
  ...{ market: '', direction: '', type: 'market', price: '', stopLoss: '', takeProfit: '' },
  ...{ unit: 'size', amount: '', leverage: '2', collateral: 'short' },
}

/** A ticket that nothing was sent of, with the units and the stop distance that were used last. */
export function newTicket(): Ticket {
  return { id: newCommandId(), fields: { ...empty, ...stored(localStorage, lastKey) } }
}

/** The ticket of this tab, as a reload finds it. */
export function keptTicket(): Ticket {
  const kept: Partial<Ticket> = stored(sessionStorage, ticketKey)
  return typeof kept.id === 'string'
    ? { ...kept, id: kept.id, fields: { ...empty, ...kept.fields } }
    : newTicket()
}

/** Keeps it, before anything of it is sent. */
export function keepTicket(ticket: Ticket): void {
  sessionStorage.setItem(ticketKey, JSON.stringify(ticket))
}

/** Remembers the fields that the next ticket begins with. */
export function rememberFields(fields: TicketFields): void {
  const kept = remembered.filter((name) => name !== 'stopLoss' || fields.stopLoss.endsWith('%'))
  localStorage.setItem(lastKey, JSON.stringify(Object.fromEntries(kept.map((name) => [name, fields[name]]))))
}

function stored(storage: Storage, key: string): object {
  try {
    const value: unknown = JSON.parse(storage.getItem(key) ?? '{}')
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** Names of the body's fields by which a size is given; one by its collateral is sent in dollars. */
const sizeNames = {
  ...{ size: 'size', tokens: 'tokens', equity: 'equityBps', collateral: 'size', risk: 'risk' },
} as const

/** The body of a ticket whose fields have no problem (`problemsOf`), without the terms that were shown for it. `market`: that of the chart. */
export function ticketBody({ id, fields }: Ticket, market: string, by: string): Body {
  const { direction, type, price, stopLoss, takeProfit, unit, amount, leverage, collateral } = fields
  const body: Record<string, unknown> = {
    ...{ id, market: fields.market.trim() || market, direction, collateral, by: by.trim() },
    leverage: plainTimes(leverage),
    [sizeNames[unit]]:
      unit === 'equity'
        ? Math.round(Number(plainPercent(amount)) * 100)
        : unit === 'collateral'
          ? decimalText(leveredUsd(amount, leverage) ?? 0n, 30)
          : plainPrice(amount),
  }
  if (type !== 'market') body[type] = plainPrice(price)
  for (const [name, text] of Object.entries({ stopLoss, takeProfit }))
    if (text.trim() !== '') body[name] = plainPrice(text)
  return body
}

/** The figure of a percentage that was typed. */
export function plainPercent(text: string): string {
  return text.trim().replace(/%$/, '')
}

/** The figure of a leverage that was typed. */
function plainTimes(text: string): string {
  return text.trim().replace(/x$/, '')
}

/** A leverage that was typed, a factor with 30 decimals; undefined for anything else. */
export function typedTimes(text: string): bigint | undefined {
  return typedPrice(plainTimes(text))
}

/** The size that this collateral makes at this leverage, USD with 30 decimals, of which the last twelve are 0; undefined where one of them is no number. */
export function leveredUsd(collateral: string, leverage: string): bigint | undefined {
  const [typed, times] = [typedPrice(collateral), typedTimes(leverage)]
  return typed === undefined || times === undefined ? undefined : ((typed * times) / 10n ** 42n) * 10n ** 12n
}

/** Longest age of a quote that may be sent, and of its price, ms. */
const [quoteMs, priceMs] = [10_000, 5_000]
/** Age after which a quote is asked for anew, ms. */
export const anewMs = 3_500

/** Tells whether a quote is too old to be sent. `nowMs`: by the daemon's clock. */
export function isOldQuote({ atMs, priceAtMs }: Quote, nowMs: number): boolean {
  return nowMs - atMs > quoteMs || nowMs - priceAtMs > priceMs + Math.max(0, atMs - priceAtMs)
}

/**
 * The figure to type before an order is sent, whole dollars of its size: nobody opens a large one by habit. Undefined: its size is not above this share of
 * the equity, or the equity is not known.
 */
export function typedSizeOf(
  { sizeUsd }: Quote,
  equityUsd: bigint | undefined,
  aboveBps: number,
): string | undefined {
  const size = BigInt(sizeUsd)
  const isLarge = equityUsd !== undefined && size * 10_000n > equityUsd * BigInt(aboveBps)
  return isLarge ? (size / 10n ** 30n).toString() : undefined
}

/** Leads to the ticket of the market that is shown. */
export function openTicket(): void {
  const { page, item, query } = placeOf(location.hash)
  const place = page === 'trade' && item !== undefined ? { page, item } : ({ page: 'trade' } as const)
  goTo({ ...place, query: { ...query, ticket: 'open' } })
}
