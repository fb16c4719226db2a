/**
 * Realized results of orders since 00:00 UTC, by market and in all: profit and loss of executed orders, less the venue's fees, with the funding that
 * the chain shows to be put aside.
 * Every order of an intent counts at its own end, once that is final: the parts of a twap, and exits that end days after their entry. Liquidations
 * and deleveragings by the protocol count too, on their market and for the account: a host that hides one in its lists must not hide the loss. The
 * books give a strategy's share.
 */

import { madeOnce } from '../../base/madeOnce.ts'
import type { BookReads } from '../../books/books.ts'
import { openResultUsd } from '../../books/bookView.ts'
import { venueResultOf } from '../../books/figures.ts'
import type { Discrepancies } from '../../domain/accountRecords/accountRecord.ts'
import { type IntentState, isProvisional, type Settlement } from '../../domain/order/intent.ts'
import type { HasClock, HasJournal } from '../../execution/context/executionParts.ts'
import { hexKey } from '../../protocol/address.ts'
import type { Position } from '../../protocol/position.ts'
import { minOf, type Usd } from '../../protocol/units.ts'
import { dayStartOf, isOfToday } from '../../risk/breakers/circuitBreakers.ts'
import type { HasTrading } from '../accountParts.ts'

/** Results of one day. */
export interface DayResult {
  /** Takes up intents, open or ended; each order of theirs counts once. */
  add(states: readonly IntentState[], nowMs: number): void
  /** Takes in the protocol's acts on positions, as they were found; each counts once. */
  addDiscrepancies(account: Discrepancies, nowMs: number): void
  /** Returns the results of all orders by lower-case market token, USD, signed; a market without an end of the day is absent. */
  byMarket(nowMs: number): ReadonlyMap<string, Usd>
  /** Returns the same of all orders that executed since then (Unix ms), within the day, and of the protocol's acts. */
  ofAll(sinceMs: number, nowMs: number): Usd
  /** Returns the part of it from funding that was put aside for the account: it is in no list of a host. */
  receivedSince(sinceMs: number, nowMs: number): Usd
}

/** Realized result of an order, or of an act of the protocol. */
interface Realized {
  readonly market: string
  readonly executedMs: number
  readonly resultUsd: Usd
  readonly receivedUsd: Usd
}

/** The orders of an intent that executed for good, by lower-cased key; made once for a state: each decision of each strategy looks at all of them. */
const executedFor = madeOnce(({ intent, attempts }: IntentState) =>
  attempts
    .flatMap(({ children }) => children)
    .flatMap(({ orderKey, phase, evidence, settlement }) => {
      if (phase !== 'EXECUTED' || settlement === undefined || isProvisional(evidence)) return []
      const market = hexKey(intent.terms.marketToken)
      return [{ key: hexKey(orderKey), market, seenMs: evidence?.atMs ?? 0, settlement }]
    }),
)

/** Whole days before the newest that are kept, ms. */
const keptDaysMs = 2 * 86_400_000

/** Begins with intents of before this process. */
export function createDayResult(before: readonly IntentState[], nowMs: number): DayResult {
  /** By order or discrepancy, of days around the newest: a clock that is set forth and back loses none of today. */
  const counted = new Map<string, Realized>()
  /** States whose executions are all counted: each look hands in the same ones. */
  let taken = new WeakSet<IntentState>()
  let newestMs = 0
  /** Sums by market of one day, until something is counted. */
  let sumsOfDay: { readonly dayMs: number; readonly sums: ReadonlyMap<string, Usd> } | undefined

  function isOld(executedMs: number, atMs: number): boolean {
    return executedMs < dayStartOf(Math.min(atMs, newestMs)) - keptDaysMs
  }

  function count(key: string, realized: Realized, atMs: number): void {
    if (isOld(realized.executedMs, atMs)) return
    counted.set(key, realized)
    sumsOfDay = undefined
    if (realized.executedMs <= newestMs) return
    newestMs = realized.executedMs
    for (const [each, { executedMs }] of counted) {
      if (!isOld(executedMs, atMs)) continue
      counted.delete(each)
      taken = new WeakSet()
    }
  }

  /** Sums executions since then within the day of `atMs`. */
  function sumSince(sinceMs: number, atMs: number, usdOf: (realized: Realized) => Usd): Usd {
    const dayMs = dayStartOf(atMs)
    let sumUsd = 0n
    for (const realized of counted.values())
      if (realized.executedMs >= dayMs && realized.executedMs > sinceMs) sumUsd += usdOf(realized)
    return sumUsd
  }

  function add(states: readonly IntentState[], atMs: number): void {
    const fresh = states.filter((state) => !taken.has(state))
    for (const { key, market, seenMs, settlement } of fresh.flatMap(executedFor)) {
      if (counted.has(key)) continue
      // The day of the execution, by the venue's clock; a later observation does not move it to a later day.
      const executedMs =
        settlement.timestampSeconds === undefined
          ? Math.min(seenMs, atMs)
          : settlement.timestampSeconds * 1_000
      const { fundingReceivedUsd: receivedUsd = 0n } = settlement
      count(key, { market, executedMs, resultUsd: realizedOf(settlement), receivedUsd }, atMs)
    }
    for (const state of fresh) if (executedFor(state).every(({ key }) => counted.has(key))) taken.add(state)
  }

  function addDiscrepancies({ discrepancies }: Discrepancies, atMs: number): void {
    for (const [discrepancyId, { discrepancy, raisedAtMs }] of discrepancies) {
      const { pnlUsd, fundingReceivedUsd: receivedUsd = 0n, atSeconds, marketToken } = discrepancy
      const executedMs = atSeconds === undefined ? Math.min(raisedAtMs, atMs) : atSeconds * 1_000
      if (pnlUsd === undefined || counted.has(discrepancyId)) continue
      const market = hexKey(marketToken)
      count(discrepancyId, { market, executedMs, resultUsd: pnlUsd + receivedUsd, receivedUsd }, atMs)
    }
  }

  add(before, nowMs)
  return {
    add,
    addDiscrepancies,
    byMarket(atMs) {
      const dayMs = dayStartOf(atMs)
      if (sumsOfDay?.dayMs === dayMs) return sumsOfDay.sums
      const sums = new Map<string, Usd>()
      for (const { market, executedMs, resultUsd } of counted.values())
        if (executedMs >= dayMs) sums.set(market, (sums.get(market) ?? 0n) + resultUsd)
      sumsOfDay = { dayMs, sums }
      return sums
    },
    ofAll: (sinceMs, atMs) => sumSince(sinceMs, atMs, ({ resultUsd }) => resultUsd),
    receivedSince: (sinceMs, atMs) => sumSince(sinceMs, atMs, ({ receivedUsd }) => receivedUsd),
  }
}

/**
 * Returns the realized result of a fill, USD. A decrease's PnL is after its fees, on the chain and in the venue's trades. An increase has only fees;
 * a swap has its output less its input, where the chain gives it. Funding received is in none of these figures.
 */
function realizedOf({ pnlUsd, swapResultUsd, feesUsd = 0n, fundingReceivedUsd = 0n }: Settlement): Usd {
  return (pnlUsd ?? swapResultUsd ?? -feesUsd) + fundingReceivedUsd
}

/**
 * Returns the final realized result of a strategy's books since 00:00 UTC, USD, signed: its own fills, and its part of reductions by keepers, the
 * operator, a hand or the protocol. It is after the venue's fees; sending has a separate budget.
 */
export function strategyDayUsd(books: BookReads, strategy: string, nowMs: number, isFinal = true): Usd {
  return books
    .days(dayStartOf(nowMs), isFinal, strategy)
    .reduce((sum, { figures }) => sum + venueResultOf(figures), 0n)
}

/**
 * Returns the result of a strategy's day, USD, signed, by the larger loss. One figure is the realized result of its books. The other adds results
 * that are not final yet, and the gains or losses of its open parts since the day's first figure.
 */
export function createStrategyDay(
  { clock, journal, trading }: HasClock & HasJournal & HasTrading,
  lastSeen: () => readonly Position[],
): (strategy: string, positions?: readonly Position[]) => Usd {
  return (strategy, positions = lastSeen()) => {
    const [books, nowMs] = [journal.books(), clock.now()]
    const realizedUsd = strategyDayUsd(books, strategy, nowMs)
    const mark = trading.accountJournal.state().trading.equity
    const opens = mark !== undefined && isOfToday(mark, nowMs) ? mark.dayOpenUsd : undefined
    // Before the day's first figure nobody knows which part of an open result belongs to this day.
    if (opens === undefined) return realizedUsd
    const openUsd = openResultUsd(books.partsOf(strategy), positions) - (opens[strategy] ?? 0n)
    return minOf(realizedUsd, strategyDayUsd(books, strategy, nowMs, false) + openUsd)
  }
}
