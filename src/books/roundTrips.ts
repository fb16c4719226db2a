/** Round trips: the history of a book from zero to zero, folded over its postings. docs/books.md describes the parts of each result. Pure. */
import { defined } from '../base/defined.ts'
import type { PositionSide } from '../domain/accountRecords/accountRecord.ts'
import { sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import type { TokenAmount, Usd } from '../protocol/units.ts'
import type { Book } from './books.ts'
import { resultOf } from './figures.ts'
import type { Posting } from './sideParts.ts'

/** The event that began or ended a round trip: an order of ours, or a discrepancy. */
export interface TripEvent {
  /** Key of the order, or id of the discrepancy. */
  readonly id: string
  /** Absent: no order of ours. */
  readonly intentId?: string
}

/** Amounts of a round trip that add up over several, USD. */
export const tripAmounts = [
  // All that was opened: of one that was added to, the sum.
  'sizeUsd',
  // PnL of the price alone, and settled price impact, signed.
  'pricePnlUsd',
  'impactUsd',
  // Fees of the venue for opening and closing.
  'feesUsd',
  // Funding paid less funding received: negative for a net receipt.
  'fundingUsd',
  'borrowingUsd',
  // Cost of its messages less what came back, including those that cancelled its exits afterwards.
  'sendingUsd',
  // Price and impact less all costs, to the last unit, signed.
  'pnlUsd',
] as const

/** These amounts, USD with 30 decimals. */
export type TripAmounts = Readonly<Record<(typeof tripAmounts)[number], Usd>>

/** The course of a book from its first fill on. */
interface TripCourse {
  /** The most that was held at once, USD. */
  readonly largestUsd: Usd
  /** Closed size, index token, base units; 0 where no evidence gives it. */
  readonly tokens: TokenAmount
  /** Cost of the closed part and its worth at the end, USD; divided by the tokens these are the entry and exit price. */
  readonly entryUsd: Usd
  readonly exitUsd: Usd
  readonly reductions: number
}

/** One of them. */
export interface RoundTrip extends PositionSide, TripAmounts, TripCourse {
  readonly strategy: string
  readonly openedAtMs: number
  readonly closedAtMs: number
  readonly openedBy: TripEvent
  readonly endedBy: TripEvent
}

/** A book since its last end. Charges by time of an empty book are carried into its next round trip. */
interface Open extends Omit<TripAmounts, 'sendingUsd'>, TripCourse {
  readonly openedAtMs?: number
  readonly openedBy?: TripEvent
  readonly heldUsd: Usd
}

const nothingYet: Open = {
  ...{ heldUsd: 0n, largestUsd: 0n, sizeUsd: 0n, tokens: 0n, entryUsd: 0n, exitUsd: 0n },
  ...{ pricePnlUsd: 0n, impactUsd: 0n, feesUsd: 0n, fundingUsd: 0n, borrowingUsd: 0n },
  ...{ pnlUsd: 0n, reductions: 0 },
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
  /** Returns a collector that goes on from here and leaves this one as it is. */
  copy(): RoundTrips
}

/** State of a collector: open books, round trips that ended, and the index of each book's newest one among them. */
interface Collected {
  readonly open: Map<string, Open>
  readonly ended: RoundTrip[]
  readonly newest: Map<string, number>
}

/** Collects round trips. */
export function createRoundTrips(
  { open, ended, newest }: Collected = { open: new Map(), ended: [], newest: new Map() },
): RoundTrips {
  const openPnlOf = (book: Book): Usd =>
    (open.get(`${book.strategy} ${sideKeyOf(book)}`)?.pnlUsd ?? 0n) - book.carriedUsd
  return {
    ended: () => ended,
    copy: () => createRoundTrips({ open: new Map(open), ended: [...ended], newest: new Map(newest) }),
    sums(books) {
      const tripsUsd = new Map<string, Usd>()
      for (const { strategy, pnlUsd } of ended)
        tripsUsd.set(strategy, (tripsUsd.get(strategy) ?? 0n) + pnlUsd)
      const sumOf = (amounts: readonly Usd[]): Usd => amounts.reduce((sum, each) => sum + each, 0n)
      return [...Map.groupBy(books, ({ strategy }) => strategy)].map(([strategy, own]) => {
        const ofTripsUsd = tripsUsd.get(strategy) ?? 0n
        const openUsd = sumOf(own.map(openPnlOf))
        const allUsd = sumOf(own.map(({ figures }) => resultOf(figures)))
        return { strategy, tripsUsd: ofTripsUsd, openUsd, outsideUsd: allUsd - ofTripsUsd - openUsd }
      })
    },
    take(posting, side) {
      const { move, strategy, bearerId } = posting
      const key = `${strategy} ${sideKeyOf(side)}`
      if (bearerId !== undefined) {
        const place = newest.get(key)
        const trip = place === undefined ? undefined : ended[place]
        if (place === undefined || trip === undefined) return
        const { sendingUsd } = move
        ended[place] = { ...trip, sendingUsd: trip.sendingUsd + sendingUsd, pnlUsd: trip.pnlUsd - sendingUsd }
        return
      }
      const trip = withPosting(open.get(key) ?? nothingYet, posting, side)
      if (trip === undefined) return
      open.set(key, trip)
      if (posting.sizeDeltaUsd >= 0n || !posting.isFlat) return
      open.delete(key)
      newest.set(key, ended.length)
      ended.push(endedTrip(trip, posting, side))
    },
  }
}

/** Returns a book since its last end with one more posting; undefined where the posting does not concern a round trip. */
function withPosting(before: Open, posting: Posting, side: PositionSide): Open | undefined {
  const { move, figures, sizeDeltaUsd, sizeInTokens, costUsd, carriedUsd } = posting
  const { pricePnlUsd, impactUsd, positionFeesUsd } = figures
  const isHeld = before.openedAtMs !== undefined
  const charged = {
    ...before,
    fundingUsd: before.fundingUsd + figures.fundingUsd,
    borrowingUsd: before.borrowingUsd + figures.borrowingUsd,
  }
  if (sizeDeltaUsd === 0n) {
    if (isHeld) return { ...charged, feesUsd: before.feesUsd + positionFeesUsd }
    return figures.fundingUsd === 0n && figures.borrowingUsd === 0n ? undefined : charged
  }
  const heldUsd = before.heldUsd + sizeDeltaUsd
  const begun: Open = {
    ...charged,
    feesUsd: before.feesUsd + positionFeesUsd,
    heldUsd,
    largestUsd: heldUsd > before.largestUsd ? heldUsd : before.largestUsd,
    openedAtMs: before.openedAtMs ?? move.atMs,
    openedBy: before.openedBy ?? eventOf(posting),
  }
  if (sizeDeltaUsd > 0n) return { ...begun, sizeUsd: before.sizeUsd + sizeDeltaUsd }
  const worthUsd = side.direction === 'long' ? costUsd + pricePnlUsd : costUsd - pricePnlUsd
  return {
    ...begun,
    tokens: before.tokens - sizeInTokens,
    entryUsd: before.entryUsd + costUsd,
    exitUsd: before.exitUsd + worthUsd,
    pricePnlUsd: before.pricePnlUsd + pricePnlUsd,
    impactUsd: before.impactUsd + impactUsd,
    pnlUsd: before.pnlUsd + pricePnlUsd + impactUsd - positionFeesUsd - carriedUsd,
    reductions: before.reductions + 1,
  }
}

/** Returns the round trip that a posting ended. */
function endedTrip({ heldUsd: _, ...trip }: Open, posting: Posting, side: PositionSide): RoundTrip {
  const { marketToken, direction, collateralToken } = side
  const { pricePnlUsd, impactUsd, feesUsd, fundingUsd, borrowingUsd, pnlUsd } = trip
  const event = eventOf(posting)
  return {
    strategy: posting.strategy,
    ...{ marketToken, direction, collateralToken },
    ...trip,
    openedAtMs: trip.openedAtMs ?? posting.move.atMs,
    openedBy: trip.openedBy ?? event,
    closedAtMs: posting.move.atMs,
    // Carried costs that the reductions bore and that are no other charge are those of messages.
    sendingUsd: pricePnlUsd + impactUsd - feesUsd - fundingUsd - borrowingUsd - pnlUsd,
    endedBy: event,
  }
}

function eventOf({ move: { id, intentId } }: Posting): TripEvent {
  return { id, ...defined({ intentId }) }
}
