/** Typed fields of the ticket as they are understood: the faults, and the echo that stands below a field. Pure. */
import { typedPrice } from '../chart/levelMoves.ts'
import { decimalText, exactUsdText, percentText, placesOf, priceText, usdText } from '../shownAmount.ts'
import { dollarsOf, entryOf, type SizeFacts, sizesOf, typedBps, typedDistance } from './sizeUnits.ts'
import { sizeUnits, type TicketFields, typedTimes } from './ticket.ts'
import { ticketTexts } from './ticketTexts.ts'

const { problems: faults, understood: echoes } = ticketTexts

/** Fields that may be at fault. */
export type FieldName =
  | 'market'
  | 'direction'
  | 'price'
  | 'stopLoss'
  | 'takeProfit'
  | 'amount'
  | 'leverage'
  | 'by'
/** Sentences by field; a field without a fault has none. */
export type Problems = Partial<Readonly<Record<FieldName, string>>>

const WHOLE_BPS = 10_000n
const [mostShareBps, leastTimes] = [100_000, 10n ** 30n]

/** A size in the units in which it was not typed, as far as each is known; a size by risk follows from costs, which the daemon's preview has. */
function otherUnits(fields: TicketFields, facts: SizeFacts): string {
  const sizes = sizesOf(fields, facts)
  const others = sizeUnits.flatMap((unit) => {
    const text = sizes[unit]
    // The collateral follows from the leverage too, and stands below that.
    const isElsewhere = unit === fields.unit || unit === 'collateral'
    return isElsewhere || text === undefined ? [] : [echoes.follows[unit](text)]
  })
  return others.length === 0 ? '' : `: ${others.join(', ')}`
}

/** The fault of a number that is not read: the field, what was typed and what it takes; of an empty field the last alone. */
function unread(
  name: 'price' | 'stopLoss' | 'takeProfit' | 'amount' | 'leverage',
  typed: string,
  fix: string,
) {
  return typed.trim() === '' ? fix : `${faults.unread(ticketTexts[name], typed.trim())}${fix}`
}

/** True where an exit lies above the entry. */
const isAbove = (name: 'stopLoss' | 'takeProfit', direction: TicketFields['direction']): boolean =>
  (name === 'takeProfit') === (direction === 'long')

/**
 * The faults of what was typed, in the order of the fields. The daemon judges the values again.
 *
 * @param markUsd the price now, USD with 30 decimals; undefined: it is not known
 */
export function problemsOf(
  { fields, market, by }: { readonly fields: TicketFields; readonly market: string; readonly by: string },
  markUsd: bigint | undefined,
): Problems {
  const { direction, type, price, unit, amount, leverage } = fields
  const times = typedTimes(leverage)
  const share = typedBps(amount)
  const isShare = share !== undefined && share <= mostShareBps
  const found: Partial<Record<FieldName, string | undefined>> = {
    market: (fields.market.trim() || market) === '' ? faults.market : undefined,
    direction: direction === '' ? faults.direction : undefined,
    price:
      type === 'market' || typedPrice(price) !== undefined
        ? undefined
        : unread('price', price, faults.number),
    stopLoss: placeProblem('stopLoss', fields, markUsd),
    takeProfit: placeProblem('takeProfit', fields, markUsd),
    amount:
      unit === 'equity'
        ? isShare
          ? undefined
          : unread('amount', amount, faults.share)
        : typedPrice(amount) === undefined
          ? unread('amount', amount, faults.number)
          : undefined,
    leverage:
      times === undefined || times < leastTimes || /\.\d{5}/.test(leverage)
        ? unread('leverage', leverage, faults.times)
        : undefined,
    by: by.trim() === '' ? faults.by : undefined,
  }
  return Object.fromEntries(Object.entries(found).filter(([, text]) => text !== undefined)) as Problems
}

function placeProblem(
  name: 'stopLoss' | 'takeProfit',
  fields: TicketFields,
  markUsd: bigint | undefined,
): string | undefined {
  const text = fields[name]
  if (text.trim() === '' || typedDistance(text) !== undefined) return undefined
  const price = typedPrice(text)
  if (price === undefined) return unread(name, text, faults.place)
  const entry = entryOf(fields, markUsd)
  if (entry === undefined || fields.direction === '') return undefined
  return price > entry === isAbove(name, fields.direction) ? undefined : faults.wrongSide[name]
}

/** The echo of a field in words; empty where there is nothing to repeat. */
export function understoodOf(
  name: 'price' | 'stopLoss' | 'takeProfit' | 'amount' | 'leverage',
  fields: TicketFields,
  facts: SizeFacts,
): string {
  if (name === 'stopLoss' || name === 'takeProfit') return exitEcho(name, fields, facts)
  if (name === 'leverage') {
    const times = typedTimes(fields.leverage)
    const { collateral } = sizesOf(fields, facts)
    if (times === undefined) return ''
    const follows = fields.unit === 'collateral' || collateral === undefined
    return `${echoes.times(decimalText(times, 30))}${follows ? '' : `: ${echoes.follows.collateral(collateral)}`}`
  }
  const typed = typedPrice(fields[name])
  if (name === 'amount' && fields.unit === 'equity') {
    const bps = typedBps(fields.amount)
    return bps === undefined ? '' : `${echoes.share(decimalText(BigInt(bps), 2))}${otherUnits(fields, facts)}`
  }
  if (typed === undefined) return ''
  if (name !== 'amount') return echoes.dollars(exactUsdText(typed, placesAt(facts)))
  if (fields.unit === 'risk') return echoes.risk(exactUsdText(typed))
  const own = {
    size: () => echoes.dollars(exactUsdText(typed)),
    tokens: () => echoes.tokens(decimalText(typed, 30)),
    collateral: () => echoes.collateral(exactUsdText(typed)),
  }[fields.unit as 'size' | 'tokens' | 'collateral']()
  return `${own}${otherUnits(fields, facts)}`
}

/** Places of prices of the market; undefined: its price is not known. */
function placesAt({ markUsd }: SizeFacts): number | undefined {
  return markUsd === undefined ? undefined : placesOf(markUsd)
}

/** The place of an exit as price, distance from the entry and dollars, as far as each is known. */
function exitEcho(name: 'stopLoss' | 'takeProfit', fields: TicketFields, facts: SizeFacts): string {
  const text = fields[name]
  const entry = entryOf(fields, facts.markUsd)
  const bps = typedDistance(text)
  const price = typedPrice(text)
  if (bps === undefined) {
    if (price === undefined) return ''
    const echo = exactUsdText(price, placesAt(facts))
    if (entry === undefined) return echoes.dollars(echo)
    const apart = price > entry ? price - entry : entry - price
    const share = Number((apart * WHOLE_BPS + entry / 2n) / entry)
    return echoes.apart(echo, percentText(share), sizeEcho(name, fields, apart, facts))
  }
  if (entry === undefined || fields.direction === '') return ''
  const apart = (entry * BigInt(bps)) / WHOLE_BPS
  const place = isAbove(name, fields.direction) ? entry + apart : entry - apart
  return echoes.about(priceText(place, placesAt(facts)), sizeEcho(name, fields, apart, facts))
}

/** Dollars that the size wins or loses over a distance from the entry, before costs; empty for one by risk. */
function sizeEcho(
  name: 'stopLoss' | 'takeProfit',
  fields: TicketFields,
  apart: bigint,
  facts: SizeFacts,
): string {
  const [dollars, entry] = [dollarsOf(fields, facts), entryOf(fields, facts.markUsd)]
  if (dollars === undefined || entry === undefined) return ''
  return echoes.ofSize[name](usdText((dollars * apart) / entry))
}

/** Fields that a refusal of the daemon is about, by its code. */
const refusedFields: Readonly<Record<string, FieldName>> = {
  MARKET_AMBIGUOUS: 'market',
  MARKET_UNKNOWN: 'market',
  MARKET_NOT_LISTED: 'market',
  TRIGGER_WOULD_FIRE: 'price',
  STOP_NEEDED: 'stopLoss',
  STOP_BEHIND_LIQUIDATION: 'stopLoss',
  EXITS_PLANNED: 'stopLoss',
  RISK_BELOW_COSTS: 'amount',
  MIN_LEVERAGE: 'leverage',
  MAX_LEVERAGE: 'leverage',
}

/** The field that a refusal is about; undefined: none alone. */
export function refusedField(code: string): FieldName | undefined {
  return refusedFields[code]
}
