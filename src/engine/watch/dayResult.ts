/**
 * What orders realized since 00:00 UTC, by market and of all: profit and loss of what executed, less the venue's fees, with the funding
 * that the chain shows to be put aside.
 * Every order of an intent counts at its own end, when that is final: the parts of a twap, and the exits that end days after
 * what they came with. What the protocol liquidated or deleveraged counts too, on its market and for the account: a host that
 * hides it in its lists must not hide the loss. What is a strategy's is told by its books.
 */
import type { AccountState } from '../../domain/account/accountRecord.ts'
import type { BookReads } from '../../domain/books/books.ts'
import { venueResultOf } from '../../domain/books/figures.ts'
import { type IntentState, isProvisional, type Settlement } from '../../domain/order/intent.ts'
import { openResultUsd } from '../../domain/views/bookView.ts'
import { type Address, hexKey } from '../../protocol/address.ts'
import type { Position } from '../../protocol/position.ts'
import { minOf, type Usd } from '../../protocol/units.ts'
import { dayStartOf } from '../../risk/breakers/circuitBreakers.ts'
import type { EngineContext } from '../context/engineContext.ts'

/** Results of one day. */
export interface DayResult {
  /** Takes up intents, open or ended; each order of theirs counts once. */
  add(states: readonly IntentState[], nowMs: number): void
  /** Takes up what the protocol did to positions, as it was found; each counts once. */
  addFindings(account: Pick<AccountState, 'findings'>, nowMs: number): void
  /** Of all orders on a market, USD, signed; 0 before the first end of the day. */
  onMarket(marketToken: Address, nowMs: number): Usd
  /** The same of all orders that executed since then (Unix ms), within the day, and of what the protocol did. */
  ofAll(sinceMs: number, nowMs: number): Usd
  /** Of that the funding that was put aside for the account: it is in no list of a host. */
  receivedSince(sinceMs: number, nowMs: number): Usd
}

/** What an order, or the protocol, realized. */
interface Realized {
  readonly executedMs: number
  readonly resultUsd: Usd
  readonly receivedUsd: Usd
}

/** Begins with intents of before this process. */
export function createDayResult(before: readonly IntentState[], nowMs: number): DayResult {
  let dayMs = dayStartOf(nowMs)
  let counted = new Set<string>()
  let results = new Map<string, Usd>()
  let all: Realized[] = []

  function turnDay(atMs: number): void {
    if (dayStartOf(atMs) === dayMs) return
    dayMs = dayStartOf(atMs)
    counted = new Set()
    results = new Map()
    all = []
  }

  function count(marketToken: Address, realized: Realized): void {
    all.push(realized)
    const key = hexKey(marketToken)
    results.set(key, (results.get(key) ?? 0n) + realized.resultUsd)
  }

  function add(states: readonly IntentState[], atMs: number): void {
    turnDay(atMs)
    for (const { intent, attempts } of states) {
      for (const { orderKey, phase, evidence, settlement } of attempts.flatMap(({ children }) => children)) {
        if (phase !== 'EXECUTED' || settlement === undefined || isProvisional(evidence)) continue
        // The day of the execution, by the venue's clock; what was seen of it later is not of a later day.
        const executedMs =
          settlement.timestampSeconds === undefined
            ? (evidence?.atMs ?? 0)
            : settlement.timestampSeconds * 1_000
        if (executedMs < dayMs || counted.has(hexKey(orderKey))) continue
        counted.add(hexKey(orderKey))
        const { fundingReceivedUsd: receivedUsd = 0n } = settlement
        count(intent.terms.marketToken, { executedMs, resultUsd: realizedOf(settlement), receivedUsd })
      }
    }
  }

  function addFindings({ findings }: Pick<AccountState, 'findings'>, atMs: number): void {
    turnDay(atMs)
    for (const [findingId, { finding: discrepancy, raisedAtMs }] of findings) {
      const { pnlUsd, fundingReceivedUsd: receivedUsd = 0n, atSeconds, marketToken } = discrepancy
      const executedMs = atSeconds === undefined ? raisedAtMs : atSeconds * 1_000
      if (pnlUsd === undefined || executedMs < dayMs || counted.has(findingId)) continue
      counted.add(findingId)
      count(marketToken, { executedMs, resultUsd: pnlUsd + receivedUsd, receivedUsd })
    }
  }

  function resultOf(key: string, atMs: number): Usd {
    turnDay(atMs)
    return results.get(key) ?? 0n
  }

  add(before, nowMs)
  return {
    add,
    addFindings,
    onMarket: (marketToken, atMs) => resultOf(hexKey(marketToken), atMs),
    ofAll(sinceMs, atMs) {
      turnDay(atMs)
      return all.reduce((sum, each) => (each.executedMs > sinceMs ? sum + each.resultUsd : sum), 0n)
    },
    receivedSince(sinceMs, atMs) {
      turnDay(atMs)
      return all.reduce((sum, each) => (each.executedMs > sinceMs ? sum + each.receivedUsd : sum), 0n)
    },
  }
}

/**
 * What a fill realized, USD: a decrease's PnL is after its fees, on the chain and in the venue's trades; an increase has fees
 * alone; a swap what came out less what went in, where the chain says it. Funding received is in none of these figures.
 */
function realizedOf({ pnlUsd, swapResultUsd, feesUsd = 0n, fundingReceivedUsd = 0n }: Settlement): Usd {
  return (pnlUsd ?? swapResultUsd ?? -feesUsd) + fundingReceivedUsd
}

/**
 * What a strategy's books realized since 00:00 UTC, USD, signed, by what is final: its own fills, and its part of what keepers, the
 * operator, a hand or the protocol took off its books. After the venue's fees; what sending cost has a budget of its own.
 */
export function strategyDayUsd(
  books: Pick<BookReads, 'days'>,
  strategy: string,
  nowMs: number,
  isFinal = true,
): Usd {
  return books
    .days(dayStartOf(nowMs), isFinal)
    .filter((day) => day.strategy === strategy)
    .reduce((sum, { figures }) => sum + venueResultOf(figures), 0n)
}

/**
 * What a strategy's day came to, USD, signed, by what loses more: what its books realized, or that with what is not final yet and with what its
 * open parts gained or lost since the day's first figure.
 */
export function createStrategyDay(
  { clock, journal, trading }: Pick<EngineContext, 'clock' | 'journal' | 'trading'>,
  lastSeen: () => readonly Position[],
): EngineContext['dayResultUsd'] {
  return (strategy, positions = lastSeen()) => {
    const [books, nowMs] = [journal.books(), clock.now()]
    const realizedUsd = strategyDayUsd(books, strategy, nowMs)
    const mark = trading.accountJournal.state().trading.equity
    const opens = mark?.dayStartMs === dayStartOf(nowMs) ? mark.dayOpenUsd : undefined
    // Before the day's first figure nobody knows what of an open part is of this day.
    if (opens === undefined) return realizedUsd
    const openUsd = openResultUsd(books.partsOf(strategy), positions) - (opens[strategy] ?? 0n)
    return minOf(realizedUsd, strategyDayUsd(books, strategy, nowMs, false) + openUsd)
  }
}
