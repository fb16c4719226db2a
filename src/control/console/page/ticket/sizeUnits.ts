/** A size in each unit in which it may be typed: one is typed, and the others follow. Pure. */
import { typedPrice } from '../chart/levelMoves.ts'
import { absOf, decimalText, shareText, usdText } from '../shownAmount.ts'
import { leveredUsd, plainPercent, type sizeUnits, type TicketFields, typedTimes } from './ticket.ts'

/** Facts that sizes are converted by; USD with 30 decimals. */
export interface SizeFacts {
  /** The price now; undefined: it is not known. */
  readonly markUsd: bigint | undefined
  /** Equity of the account; undefined or absent: it is not known. */
  readonly equityUsd?: bigint | undefined
}

type Unit = (typeof sizeUnits)[number]

const WHOLE_BPS = 10_000n
const ONE = 10n ** 30n
/** Digits of a number of tokens that follows from dollars. */
const tokenDigits = 6

/** A percentage above zero in basis points; undefined for anything else. */
export function typedBps(text: string): number | undefined {
  const figure = plainPercent(text)
  if (!/^\d{1,4}(?:\.\d{1,2})?$/.test(figure)) return undefined
  const bps = Math.round(Number(figure) * 100)
  return bps > 0 ? bps : undefined
}

/** The distance that a place of an exit is typed as, bps of the entry; undefined for a price, and for anything else. */
export function typedDistance(text: string): number | undefined {
  const bps = text.trim().endsWith('%') ? typedBps(text) : undefined
  return bps !== undefined && bps < Number(WHOLE_BPS) ? bps : undefined
}

/** The price at which an order would open: the typed one, or the mark. USD with 30 decimals. */
export function entryOf({ type, price }: TicketFields, markUsd: bigint | undefined): bigint | undefined {
  return type === 'market' ? markUsd : typedPrice(price)
}

/** Dollars of the size that was typed, 30 decimals; undefined for a size by risk, and where a fact for it is lacking. */
export function dollarsOf(fields: TicketFields, { markUsd, equityUsd }: SizeFacts): bigint | undefined {
  const { unit, amount, leverage } = fields
  if (unit === 'collateral') return leveredUsd(amount, leverage)
  if (unit === 'equity') {
    const bps = typedBps(amount)
    return bps === undefined || equityUsd === undefined ? undefined : (equityUsd * BigInt(bps)) / WHOLE_BPS
  }
  const typed = typedPrice(amount)
  if (unit === 'size' || typed === undefined) return unit === 'size' ? typed : undefined
  const entry = entryOf(fields, markUsd)
  return unit === 'tokens' && entry !== undefined ? (typed * entry) / ONE : undefined
}

/** From the entry to the stop, USD with 30 decimals; undefined: there is no stop. */
function stopDistance({ stopLoss }: TicketFields, entry: bigint): bigint | undefined {
  const bps = typedDistance(stopLoss)
  if (bps !== undefined) return (entry * BigInt(bps)) / WHOLE_BPS
  const stop = typedPrice(stopLoss)
  return stop === undefined ? undefined : absOf(stop - entry)
}

/** Decimal text of an amount with 30 decimals, cut to so many digits that count. */
function cut(amount: bigint, digits: number): string {
  const unit = 10n ** BigInt(Math.max(0, amount.toString().length - digits))
  return decimalText((amount / unit) * unit, 30)
}

/** The size that was typed in each unit, as it is read; undefined where it is not known. */
export function sizesOf(fields: TicketFields, facts: SizeFacts): Readonly<Record<Unit, string | undefined>> {
  const dollars = dollarsOf(fields, facts)
  const entry = entryOf(fields, facts.markUsd)
  const { equityUsd } = facts
  const apart = entry === undefined ? undefined : stopDistance(fields, entry)
  const times = typedTimes(fields.leverage)
  const none = {
    size: undefined,
    tokens: undefined,
    equity: undefined,
    collateral: undefined,
    risk: undefined,
  }
  if (dollars === undefined) return none
  return {
    size: usdText(dollars),
    tokens: entry === undefined ? undefined : cut((dollars * ONE) / entry, tokenDigits),
    equity: equityUsd === undefined || equityUsd <= 0n ? undefined : equityShare(dollars, equityUsd),
    collateral: times === undefined ? undefined : usdText((dollars * ONE) / times),
    risk: apart === undefined || entry === undefined ? undefined : usdText((dollars * apart) / entry),
  }
}

/** Percent without its sign: as it may be typed, and of less than that two digits of what it is. */
function equityShare(dollars: bigint, equityUsd: bigint): string {
  const share = (dollars * WHOLE_BPS) / equityUsd
  return share > 0n ? decimalText(share, 2) : shareText(dollars, equityUsd).slice(0, -1)
}

/**
 * The amount that stands in the field when another unit is chosen: the same size in it. Empty for a size by risk and from one: by the price alone it
 * would lose more than it says.
 */
export function amountIn(unit: Unit, fields: TicketFields, facts: SizeFacts): string {
  if (unit === fields.unit) return fields.amount
  const text = unit === 'risk' ? '' : (sizesOf(fields, facts)[unit] ?? '').replace('$', '')
  // A share below a basis point cannot be typed.
  return unit === 'equity' && text.startsWith('0.00') ? '' : text
}
