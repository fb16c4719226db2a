/**
 * The world's books: what every market did, hour by hour since the venue began, before that the seeded past. Every route of
 * yields, rates, earnings, stats and pairs reads from here, so they agree with each other and with the trades that were made.
 */
import { fac } from '../math/integer.ts'
import {
  interestInTokens,
  interestUsd,
  type MarketPrices,
  maxReservedUsd,
  mid,
  slotValue,
} from '../math/marketState.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import { marketPrices, type VenueState } from '../state/venueState.ts'
import { addFlow, dollarsOf, type Flow, noFlow, type Sample } from './flow.ts'
import { hourlyRates } from './marketRows.ts'
import {
  type Rates,
  type SeededHistory,
  seededFlow,
  seededHistoryOf,
  seededPoolFactors,
  seededRates,
  seededSample,
} from './seededHistory.ts'
import type { SwapStep } from './swaps.ts'

/** Hours kept one by one; older ones are kept as days. */
export const HOURS_KEPT = 24 * 8
/** Days kept; older ones are forgotten. */
const DAYS_KEPT = 1200
/** Wallets remembered one by one for the count of users; more are no longer told apart. */
const USERS_KEPT = 100_000
/** Hours sampled one by one when the venue was asleep; of a longer sleep every day is sampled once. */
const MAX_CATCH_UP_HOURS = 24 * 8

const HOUR = 3600

/** A finished hour: what happened in it and how the market stood at its end. `span` is 1, or 24 for a day. */
export interface LedgerRow {
  /** Hours since 1970 of the start. */
  readonly hour: number
  readonly span: number
  readonly flow: Flow
  readonly sample: Sample
}

/** One market's books. */
export interface MarketLedger {
  readonly market: VenueMarket
  readonly history: SeededHistory
  /** The hour that is running. */
  running: Flow
  /** Ascending; hours. */
  readonly hours: LedgerRow[]
  /** Ascending; days. */
  readonly days: LedgerRow[]
}

/** All books of a venue. */
export interface Ledger {
  /** Hour in which the venue began; earlier ones are the seeded past. */
  readonly firstHour: number
  /** The hour that is running, since 1970. */
  runningHour: number
  readonly byMarket: ReadonlyMap<string, MarketLedger>
  /** Wallets that traded today, and ever, on this venue; lower case. */
  readonly users: {
    day: number
    today: Set<string>
    readonly ever: Set<string>
    readonly byDay: Map<number, number>
  }
}

const ledgers = new WeakMap<VenueState, Ledger>()

/** The books of a venue, opened at its first use. The venue opens them before a saved venue is put back. */
export function ledgerOf(venueState: VenueState): Ledger {
  const known = ledgers.get(venueState)
  if (known !== undefined) return known
  const firstHour = Math.floor(venueState.epochSeconds / HOUR)
  const byMarket = new Map<string, MarketLedger>()
  for (const market of venueState.markets) {
    const base = sampleOf(venueState, market, venueState.epochSeconds)
    byMarket.set(market.key, {
      market,
      history: seededHistoryOf(venueState, market, base),
      running: noFlow(),
      hours: [],
      days: [],
    })
  }
  const ledger: Ledger = {
    firstHour,
    runningHour: firstHour,
    byMarket,
    users: { day: Math.floor(firstHour / 24), today: new Set(), ever: new Set(), byDay: new Map() },
  }
  ledgers.set(venueState, ledger)
  return ledger
}

/** Returns the state of a market at a second. */
function sampleOf(venueState: VenueState, market: VenueMarket, seconds: number): Sample {
  const { settings, state } = market
  const prices = marketPrices(venueState, market, seconds)
  const rates = hourlyRates(market, prices)
  const open = openPnl(market, prices)
  return {
    poolLongUsd: slotValue(settings, state.pool, 0) * mid(prices.long),
    poolShortUsd: slotValue(settings, state.pool, 1) * mid(prices.short),
    maxReservedLongUsd: settings.isSpotOnly ? 0n : maxReservedUsd(settings, state, 'long', prices),
    maxReservedShortUsd: settings.isSpotOnly ? 0n : maxReservedUsd(settings, state, 'short', prices),
    unrealizedLongUsd: open.long,
    unrealizedShortUsd: open.short,
    fundingLong: rates.funding.long,
    fundingShort: rates.funding.short,
    borrowingLong: rates.borrowing.long,
    borrowingShort: rates.borrowing.short,
  }
}

/** Traders' open PnL by side at mid price, USD. */
export function openPnl(
  market: VenueMarket,
  prices: MarketPrices,
): { readonly long: bigint; readonly short: bigint } {
  const { settings, state } = market
  if (settings.isSpotOnly) return { long: 0n, short: 0n }
  const value = (side: 'long' | 'short'): bigint =>
    interestInTokens(settings, state, side) * mid(prices.index)
  return {
    long: value('long') - interestUsd(settings, state, 'long'),
    short: interestUsd(settings, state, 'short') - value('short'),
  }
}

/** Closes the hours that ended up to a second, with the state as it is: call before the state changes past an hour's end. */
export function sealHours(venueState: VenueState, seconds: number): void {
  const ledger = ledgerOf(venueState)
  const hour = Math.floor(seconds / HOUR)
  if (hour <= ledger.runningHour) return
  const fineFrom = hour - MAX_CATCH_UP_HOURS
  while (ledger.runningHour < hour) {
    const { runningHour } = ledger
    const span = runningHour < fineFrom && runningHour % 24 === 0 && runningHour + 24 <= fineFrom ? 24 : 1
    const end = runningHour + span
    const isFine = runningHour >= fineFrom
    for (const books of ledger.byMarket.values()) {
      const last = books.hours.at(-1)?.sample ?? books.days.at(-1)?.sample
      const sample =
        isFine || span === 24 || last === undefined ? sampleOf(venueState, books.market, end * HOUR) : last
      keepRow(books, { hour: runningHour, span, flow: books.running, sample })
      books.running = noFlow()
    }
    ledger.runningHour = end
    turnDay(ledger, Math.floor(end / 24))
  }
}

function turnDay(ledger: Ledger, day: number): void {
  const { users } = ledger
  if (day === users.day) return
  users.byDay.set(users.day, users.today.size)
  users.day = day
  users.today = new Set()
  for (const old of users.byDay.keys()) {
    if (users.byDay.size <= DAYS_KEPT) break
    users.byDay.delete(old)
  }
}

function keepRow(books: MarketLedger, row: LedgerRow): void {
  if (row.span === 24) books.days.push(row)
  else books.hours.push(row)
  while (books.hours.length > HOURS_KEPT) foldOldestDay(books)
  while (books.days.length > DAYS_KEPT) books.days.shift()
}

/** Makes one row of the hours of the oldest day. */
function foldOldestDay(books: MarketLedger): void {
  const first = books.hours[0]
  if (first === undefined) return
  const day = Math.floor(first.hour / 24)
  const flow = noFlow()
  let last = first
  let count = 0
  while (books.hours[0] !== undefined && Math.floor(books.hours[0].hour / 24) === day) {
    last = books.hours.shift() ?? last
    addFlow(flow, last.flow)
    count += 1
  }
  books.days.push({ hour: first.hour, span: count, flow, sample: last.sample })
}

/** Rows of the live books that begin in a span of hours, ascending. */
function rowsBetween(books: MarketLedger, fromHour: number, toHour: number): LedgerRow[] {
  const isIn = (row: LedgerRow): boolean => row.hour >= fromHour && row.hour < toHour
  return [...books.days.filter(isIn), ...books.hours.filter(isIn)]
}

/** Returns the activity of a market from one hour to another (the end is not in it; the running hour may be). */
export function flowBetween(
  venueState: VenueState,
  books: MarketLedger,
  fromHour: number,
  toHour: number,
): Flow {
  const ledger = ledgerOf(venueState)
  const sum = seededFlow(venueState.seed, books.history, fromHour, Math.min(toHour, ledger.firstHour))
  if (toHour <= ledger.firstHour) return sum
  for (const row of rowsBetween(books, fromHour, toHour)) addFlow(sum, row.flow)
  if (ledger.runningHour >= fromHour && ledger.runningHour < toHour) addFlow(sum, books.running)
  return sum
}

/** Returns the state of a market at the start of an hour. */
export function sampleAt(venueState: VenueState, books: MarketLedger, hour: number): Sample {
  const ledger = ledgerOf(venueState)
  if (hour <= ledger.firstHour) return seededSample(venueState, books.market, books.history, hour)
  const rows = hour > (books.hours[0]?.hour ?? Number.POSITIVE_INFINITY) ? books.hours : books.days
  let low = 0
  let high = rows.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((rows[middle]?.hour ?? 0) < hour) low = middle
    else high = middle - 1
  }
  return rows[low]?.sample ?? books.history.base
}

/** Rates of a market at the start of an hour. */
export function ratesAt(venueState: VenueState, books: MarketLedger, hour: number): Rates {
  return hour <= ledgerOf(venueState).firstHour
    ? seededRates(books.history, books.market.settings.isSpotOnly, hour)
    : sampleAt(venueState, books, hour)
}

/** Value of a market's pool at the start of an hour, dollars. */
export function poolDollarsAt(
  venueState: VenueState,
  books: MarketLedger,
  hour: number,
): { readonly long: number; readonly short: number } {
  if (hour > ledgerOf(venueState).firstHour) {
    const sample = sampleAt(venueState, books, hour)
    return { long: dollarsOf(sample.poolLongUsd), short: dollarsOf(sample.poolShortUsd) }
  }
  const { history, market } = books
  const factors = seededPoolFactors(venueState, market, history, hour)
  return {
    long: dollarsOf(history.base.poolLongUsd) * factors.long,
    short: dollarsOf(history.base.poolShortUsd) * factors.short,
  }
}

/** Notes that an account traded. */
function noteUser(venueState: VenueState, account: string): void {
  const { users } = ledgerOf(venueState)
  const key = account.toLowerCase()
  if (users.today.size < USERS_KEPT) users.today.add(key)
  if (users.ever.size < USERS_KEPT) users.ever.add(key)
}

/** Figures of an executed position order, as its trade row has them. */
export type ExecutedFields = Readonly<Record<string, unknown>>

/** Writes an executed order on a position into the books of its market. */
export function notePositionTrade(
  venueState: VenueState,
  account: string,
  market: VenueMarket,
  isLong: boolean,
  fields: ExecutedFields,
): void {
  const books = ledgerOf(venueState).byMarket.get(market.key)
  if (books === undefined) return
  noteUser(venueState, account)
  const amount = (name: string): bigint => {
    const value = fields[name]
    return typeof value === 'bigint' ? value : 0n
  }
  const price = amount('collateralTokenPriceMin')
  const flow = books.running
  const sizeDeltaUsd = amount('sizeDeltaUsd')
  if (sizeDeltaUsd > 0n) {
    flow.volumePerpsUsd += sizeDeltaUsd
    flow.tradesPerps += 1
  }
  for (const name of ['positionFeeAmount', 'borrowingFeeAmount', 'liquidationFeeAmount']) {
    const fee = amount(name)
    flow.feesTradingUsd += fee * price
    flow.feesForPoolUsd += (fee - fac(fee, market.settings.feeReceiverFactor)) * price
  }
  if (isLong) flow.realizedLongUsd += amount('basePnlUsd')
  else flow.realizedShortUsd += amount('basePnlUsd')
}

/** Writes the steps of a swap into the books of its pools. */
export function noteSwaps(venueState: VenueState, account: string, steps: readonly SwapStep[]): void {
  if (steps.length > 0) noteUser(venueState, account)
  for (const { market, volumeUsd, feeUsd, feeForPoolUsd } of steps) {
    const flow = ledgerOf(venueState).byMarket.get(market.key)?.running
    if (flow === undefined) continue
    flow.volumeSwapsUsd += volumeUsd
    flow.feesSwapUsd += feeUsd
    flow.feesForPoolUsd += feeForPoolUsd
    flow.tradesSwaps += 1
  }
}
