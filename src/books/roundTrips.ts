/** Round trips: the history of a book from zero to zero, folded over its postings. docs/books.md describes the parts of each result. Pure. */
import { defined } from '../base/defined.ts'
import type { PositionSide } from '../domain/accountRecords/accountRecord.ts'
import { sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import type { TokenAmount, Usd } from '../protocol/units.ts'
import type { Book } from './books.ts'
import { resultOf } from './figures.ts'
import type { Posting } from './sideParts.ts'

/** One of them. USD has 30 decimals. */
export interface RoundTrip extends PositionSide {
  readonly strategy: string
  readonly openedAtMs: number
  readonly closedAtMs: number
  /** All that was opened, USD: of one that was added to, the sum. */
  readonly sizeUsd: Usd
  /** Closed size, index token, base units; 0 where no evidence gives it. */
  readonly tokens: TokenAmount
  /** Cost of the closed part and its worth at the end, USD; divided by the tokens these are the entry and exit price. */
  readonly entryUsd: Usd
  readonly exitUsd: Usd
  /** Position fees, funding, borrowing, and the cost of messages, including those that cancelled its exits afterwards, USD. */
  readonly feesUsd: Usd
  /** After all costs, USD, signed. */
  readonly pnlUsd: Usd
  readonly reductions: number
  /** The order that ended it, or another event that did. */
  readonly endedBy: { readonly id: string; readonly intentId?: string }
}

interface Open {
  readonly openedAtMs: number
  sizeUsd: Usd
  tokens: TokenAmount
  entryUsd: Usd
  exitUsd: Usd
  feesUsd: Usd
  pnlUsd: Usd
  reductions: number
}

/** Split of a strategy's result: `tripsUsd`, `openUsd` and `outsideUsd` add up to the result of its books. USD, signed. */
export interface TripSums {
  readonly strategy: string
  /** Round trips that ended. */
  readonly tripsUsd: Usd
  /** Open round trip: results of its closed parts less all its costs so far. */
  readonly openUsd: Usd
  /** Neither: swaps, and messages that filled nothing while nothing was held and no exit was theirs. */
  readonly outsideUsd: Usd
}

/** Collector of round trips. */
export interface RoundTrips {
  /** Takes each posting, in the order in which the books report them. */
  take(posting: Posting, side: PositionSide): void
  /** Those that ended, in the order of their ends. */
  ended(): readonly RoundTrip[]
  /** Returns the sums of each strategy that has a book, in the order of the books; `books` after the last posting. */
  sums(books: readonly Book[]): readonly TripSums[]
}

/** Collects round trips. */
export function createRoundTrips(): RoundTrips {
  const open = new Map<string, Open>()
  const ended: RoundTrip[] = []
  /** Index in the list of each book's newest round trip. */
  const newest = new Map<string, number>()
  const openPnlOf = (book: Book): Usd =>
    (open.get(`${book.strategy} ${sideKeyOf(book)}`)?.pnlUsd ?? 0n) - book.carriedUsd
  return {
    sums(books) {
      const sumOf = (amounts: readonly Usd[]): Usd => amounts.reduce((sum, each) => sum + each, 0n)
      return [...Map.groupBy(books, ({ strategy }) => strategy)].map(([strategy, own]) => {
        const tripsUsd = sumOf(ended.filter((trip) => trip.strategy === strategy).map(({ pnlUsd }) => pnlUsd))
        const openUsd = sumOf(own.map(openPnlOf))
        const allUsd = sumOf(own.map(({ figures }) => resultOf(figures)))
        return { strategy, tripsUsd, openUsd, outsideUsd: allUsd - tripsUsd - openUsd }
      })
    },
    take(posting, side) {
      const { move, strategy, figures, sizeDeltaUsd, sizeInTokens, costUsd, carriedUsd, isFlat } = posting
      const key = `${strategy} ${sideKeyOf(side)}`
      if (posting.bearerId !== undefined) {
        const place = newest.get(key)
        const trip = place === undefined ? undefined : ended[place]
        if (place === undefined || trip === undefined) return
        const [feesUsd, pnlUsd] = [trip.feesUsd + move.sendingUsd, trip.pnlUsd - move.sendingUsd]
        ended[place] = { ...trip, feesUsd, pnlUsd }
        return
      }
      if (sizeDeltaUsd === 0n) return
      const trip = open.get(key) ?? {
        openedAtMs: move.atMs,
        sizeUsd: 0n,
        tokens: 0n,
        entryUsd: 0n,
        exitUsd: 0n,
        feesUsd: 0n,
        pnlUsd: 0n,
        reductions: 0,
      }
      open.set(key, trip)
      if (sizeDeltaUsd > 0n) {
        trip.sizeUsd += sizeDeltaUsd
        return
      }
      const { pricePnlUsd, impactUsd, positionFeesUsd } = figures
      trip.tokens -= sizeInTokens
      trip.entryUsd += costUsd
      trip.exitUsd += side.direction === 'long' ? costUsd + pricePnlUsd : costUsd - pricePnlUsd
      trip.feesUsd += positionFeesUsd + carriedUsd
      trip.pnlUsd += pricePnlUsd + impactUsd - positionFeesUsd - carriedUsd
      trip.reductions += 1
      if (!isFlat) return
      open.delete(key)
      const { id, intentId } = move
      const { marketToken, direction, collateralToken } = side
      newest.set(key, ended.length)
      ended.push({
        strategy,
        marketToken,
        direction,
        collateralToken,
        closedAtMs: move.atMs,
        ...trip,
        endedBy: { id, ...defined({ intentId }) },
      })
    },
    ended: () => ended,
  }
}
