/**
 * A book for every strategy and side, folded over the journal's records: each strategy's part of each position, and its results. Moves that the chain
 * may still take back stay separate, in their order, so that taking one back leaves the state without it. The rules are in docs/books.md.
 */

import { MadeAnswers } from '../base/madeOnce.ts'
import {
  type AccountRecord,
  type AccountState,
  type DiscrepancyState,
  type PositionSide,
  sideKeyOf,
  sideOfIntent,
} from '../domain/accountRecords/accountRecord.ts'
import type { IntentState } from '../domain/order/intent.ts'
import type { FillCosts } from '../domain/order/orderLegs.ts'
import { type Hex, hexKey } from '../protocol/address.ts'
import { dayOf, keyOf } from './bookKeys.ts'
import {
  isSameMove,
  type KeyedSide,
  moveOfDiscrepancy,
  movesOfIntent,
  type PlacedMove,
  reversed,
  sendingOf,
  sentAtMs,
} from './bookMoves.ts'
import { type BooksKept, type BooksState, daemonKeeps, type KeptFigures, noBooks } from './booksState.ts'
import { ExitOrders } from './exitOrders.ts'
import { addFigures, type Figures, isNone, negated, noFigures } from './figures.ts'
import { FillResults } from './fillResults.ts'
import { bookKeyOf, roundsOf } from './rounds.ts'
import { SideLog, type SideTokens } from './sideLog.ts'
import { noPart, type Part, type Posting } from './sideParts.ts'
import { StopEnds } from './stopEnds.ts'
import { StopLevels } from './stopLevels.ts'
import {
  begunAnew,
  noTrackRecord,
  type TrackRecord,
  withFigures,
  withoutPosting,
  withPosting,
} from './trackRecord.ts'

/** The book of a strategy on one side: its part there, and all its results so far. */
export interface Book extends PositionSide, Part {
  readonly strategy: string
  readonly figures: Figures
}

/** Result of a strategy's book of one side on one day. */
export interface BookDay extends PositionSide {
  /** 00:00 UTC, Unix ms. */
  readonly dayMs: number
  readonly strategy: string
  readonly figures: Figures
}

/** Queries of the books. */
export interface BookReads {
  /** Returns all books with a position or a result, in the order in which they began. */
  all(): readonly Book[]
  /** Index tokens of each side by its moves alone, base units, signed: its books add up to it. */
  tokens(): readonly SideTokens[]
  /** Returns a strategy's parts with a position. `isFinal`: without any order's moves that the chain may take back. */
  partsOf(strategy: string, isFinal?: boolean): readonly (PositionSide & Part)[]
  /** Returns the size that a strategy holds of one side, USD; never below 0. */
  heldBy(strategy: string, side: PositionSide): bigint
  /** Returns the record by which protections judge a strategy, including results that the chain may take back. */
  trackOf(strategy: string): TrackRecord
  /** Returns days from this one on (Unix ms), as far as retained. `isFinal`: without moves that the chain may take back. */
  days(sinceMs: number, isFinal?: boolean, strategy?: string): readonly BookDay[]
  /** Returns costs and results of an order's fill, as far back as fills are retained; undefined for an order without a fill. */
  fillOf(orderKey: Hex): FillCosts | undefined
  /** Returns the time from which the books hold a part of a side, Unix ms; undefined: they hold none. */
  heldSince(side: PositionSide): number | undefined
  /** Returns the time when the newest stop of ours on a side ended, Unix ms; undefined: none ever did. */
  stopEndedAt(side: PositionSide): number | undefined
  /**
   * Returns the nearest-to-profit level at which a stop-loss of a strategy rested for its present part of a side, contract price; fired ones no
   * longer count. Undefined: none rested.
   */
  nearestStopOf(strategy: string, side: PositionSide): bigint | undefined
}

/** Receives the effect of a move on a book. */
export type BookListener = (posting: Posting, side: PositionSide) => void

/** Kinds of records that change the effect of an intent's orders, or the cost of sending them. */
const moving: ReadonlySet<string> = new Set([
  'landed',
  'attempt.unlanded',
  'child.executed',
  'child.cancelled',
  'child.reopened',
  'intent.closed',
])

/** The fold. */
export class Books implements BookReads {
  readonly #sides = new Map<string, SideLog>()
  readonly #totals = new Map<string, KeptFigures>()
  readonly #days = new Map<number, Map<string, KeptFigures>>()
  /** Moves of open intents with executed orders, cached so that the next record need not compute them again. */
  readonly #newest = new Map<string, { readonly state: IntentState; readonly moves: readonly PlacedMove[] }>()
  readonly #kept: BooksKept
  readonly #tell: BookListener
  /** Track records from settled results alone. */
  readonly #tracks: Map<string, TrackRecord>
  /** Fill results from settled moves alone. */
  readonly #fills: FillResults
  readonly #exitOrders: ExitOrders
  readonly #stopEnds: StopEnds
  readonly #stopLevels: StopLevels
  readonly #rounds = roundsOf(this.#sides)
  /** Answers for one strategy, until a move changes any: each of its turns asks some times. */
  readonly #made = new MadeAnswers()

  /** Continues from a state. `tell` receives each posting once, when nothing takes it back any more. */
  constructor(from: BooksState = noBooks, kept = daemonKeeps, tell: BookListener = () => undefined) {
    this.#kept = kept
    this.#fills = new FillResults(from.fills, kept.fills)
    this.#exitOrders = new ExitOrders(from.exitOrders)
    this.#tell = tell
    this.#tracks = new Map(from.tracks)
    this.#stopEnds = new StopEnds(from.stopEnds)
    this.#stopLevels = new StopLevels(from.stopLevels)
    for (const { side, parts, ...rest } of from.sides) {
      const key = sideKeyOf(side)
      this.#sides.set(key, new SideLog(side, key, { parts: new Map(parts), ...rest }))
    }
    for (const kept of from.totals) this.#totals.set(keyOf(kept.strategy, kept.side), kept)
    for (const { dayMs: day, ...kept } of from.days) {
      const ofDay = this.#days.get(day) ?? new Map<string, KeptFigures>()
      this.#days.set(day, ofDay.set(keyOf(kept.strategy, kept.side), kept))
    }
  }

  /** A record of an intent: its kind, and the intent's states before and with it. */
  foldIntent(kind: string, before: IntentState | undefined, after: IntentState): void {
    this.#exitOrders.fold(kind, after)
    this.#stopEnds.fold(kind, after)
    if (moving.has(kind)) this.#foldMoves(before, after)
    this.#stopLevels.fold(kind, after, this.#rounds)
  }

  #foldMoves(before: IntentState | undefined, after: IntentState): void {
    this.#made.forget()
    const [atMs, { intentId }] = [after.updatedAtMs, after.intent]
    const known = this.#newest.get(intentId)
    const were =
      known !== undefined && known.state === before ? known.moves : before ? movesOfIntent(before) : []
    const are = movesOfIntent(after, this.#exitOrders.isOfExits(after))
    if (after.closing !== undefined) this.#exitOrders.forget(after)
    if (are.length > 0 && after.closing === undefined)
      this.#newest.set(intentId, { state: after, moves: are })
    else this.#newest.delete(intentId)
    const find = (among: readonly PlacedMove[], { move }: PlacedMove) =>
      among.find((each) => each.move.id === move.id)
    for (const each of were) if (find(are, each) === undefined) this.#takeBack(each, atMs)
    for (const each of are) {
      const was = find(were, each)
      if (was === undefined) this.#put(each, atMs)
      else if (!isSameMove(was, each)) this.#replace(was, each, atMs)
    }
    this.#foldSending(before, after)
  }

  /** A record of the account: the account's states before and with it. */
  foldAccount(record: AccountRecord, before: AccountState, after: AccountState): void {
    if (record.kind === 'strategy.switched' && record.to === 'running') {
      const { strategy, atMs } = record
      this.#tracks.set(strategy, begunAnew(this.#trackOf(strategy), atMs))
    }
    if (record.kind !== 'discrepancy.raised' && record.kind !== 'discrepancy.settled') return
    this.#made.forget()
    const discrepancyId =
      record.kind === 'discrepancy.raised' ? record.discrepancy.discrepancyId : record.discrepancyId
    const moveIn = ({ discrepancies }: AccountState) => {
      const state: DiscrepancyState | undefined = discrepancies.get(discrepancyId)
      return state === undefined ? undefined : moveOfDiscrepancy(state)
    }
    const [was, is] = [moveIn(before), moveIn(after)]
    if (was !== undefined && is !== undefined && was.move.sizeDeltaUsd === is.move.sizeDeltaUsd) return
    if (was !== undefined) this.#takeBack(was, record.atMs)
    if (is !== undefined) this.#put(is, record.atMs)
  }

  all(): readonly Book[] {
    const found = new Map<string, Book>()
    const put = (strategy: string, side: PositionSide, figures: Partial<Figures>, part?: Part): void => {
      const key = keyOf(strategy, side)
      const book = found.get(key) ?? { strategy, ...side, ...noPart, figures: noFigures }
      found.set(key, { ...book, ...part, figures: addFigures(book.figures, figures) })
    }
    for (const { strategy, side, figures } of this.#totals.values()) put(strategy, side, figures)
    for (const log of this.#sides.values()) {
      for (const posting of log.waitingPostings()) put(posting.strategy, log.side, posting.figures)
      for (const [strategy, part] of log.now.parts) put(strategy, log.side, {}, part)
    }
    return [...found.values()]
  }

  tokens(): readonly SideTokens[] {
    return [...this.#sides.values()].flatMap(({ tokens }) => tokens ?? [])
  }

  partsOf(strategy: string, isFinal = false): readonly (PositionSide & Part)[] {
    return this.#made.of(`parts ${isFinal} ${strategy}`, () =>
      [...this.#sides.values()].flatMap((log) => log.partOf(strategy, isFinal) ?? []),
    )
  }

  heldBy(strategy: string, side: PositionSide): bigint {
    const sizeUsd = this.#sides.get(sideKeyOf(side))?.now.parts.get(strategy)?.sizeUsd ?? 0n
    return sizeUsd > 0n ? sizeUsd : 0n
  }

  trackOf(strategy: string): TrackRecord {
    let track = this.#trackOf(strategy)
    for (const log of this.#sides.values()) {
      for (const posting of log.waitingPostings()) {
        if (posting.strategy === strategy) track = withPosting(track, posting, log.side)
      }
    }
    // A result that was taken back or moved may leave the result above its former peak.
    return withFigures(track, {})
  }

  days(sinceMs: number, isFinal = false, asked?: string): readonly BookDay[] {
    const find = () => this.#findDays(sinceMs, isFinal, asked)
    return asked === undefined ? find() : this.#made.of(`days ${dayOf(sinceMs)} ${isFinal} ${asked}`, find)
  }

  #findDays(sinceMs: number, isFinal: boolean, asked?: string): readonly BookDay[] {
    const found = new Map<string, BookDay>()
    const firstDay = dayOf(sinceMs)
    const put = (day: number, strategy: string, side: PositionSide, figures: Figures): void => {
      if (day < firstDay || (asked !== undefined && strategy !== asked)) return
      const key = `${day} ${keyOf(strategy, side)}`
      const row = found.get(key) ?? { dayMs: day, strategy, ...side, figures: noFigures }
      found.set(key, { ...row, figures: addFigures(row.figures, figures) })
    }
    for (const [day, kept] of this.#days)
      for (const { strategy, side, figures } of kept.values()) put(day, strategy, side, figures)
    for (const log of this.#sides.values())
      for (const { move, strategy, figures } of log.waitingPostings())
        if (!isFinal || move.isFinal || move.intentId === undefined)
          put(dayOf(move.atMs), strategy, log.side, figures)
    return [...found.values()].sort((one, other) => one.dayMs - other.dayMs)
  }

  fillOf(orderKey: Hex): FillCosts | undefined {
    return this.#fills.of(
      hexKey(orderKey),
      [...this.#sides.values()].flatMap((log) => log.waitingPostings()),
    )
  }

  heldSince(side: PositionSide): number | undefined {
    return this.#sides.get(sideKeyOf(side))?.now.heldSinceMs
  }

  stopEndedAt(side: PositionSide): number | undefined {
    return this.#stopEnds.of(sideKeyOf(side))
  }

  nearestStopOf(strategy: string, side: PositionSide): bigint | undefined {
    return this.#stopLevels.of(strategy, side, this.#rounds)
  }

  /** Returns the postings that a later record may still take back, and that were therefore not reported. */
  unsettled(): readonly { readonly posting: Posting; readonly side: PositionSide }[] {
    return [...this.#sides.values()].flatMap((log) =>
      log.allPostings().map((posting) => ({ posting, side: log.side })),
    )
  }

  /** For a snapshot. */
  state(): BooksState {
    return {
      sides: [...this.#sides.values()].map((log) => {
        const state = log.state()
        return { side: log.side, ...state, parts: [...state.parts] }
      }),
      totals: [...this.#totals.values()],
      days: [...this.#days].flatMap(([day, kept]) =>
        [...kept.values()].map((each) => ({ dayMs: day, ...each })),
      ),
      tracks: [...this.#tracks],
      fills: this.#fills.state(),
      exitOrders: this.#exitOrders.state(),
      stopEnds: this.#stopEnds.state(),
      stopLevels: this.#stopLevels.state(),
    }
  }

  #trackOf(strategy: string): TrackRecord {
    return this.#tracks.get(strategy) ?? noTrackRecord
  }

  #logOf({ side, key }: PlacedMove): SideLog {
    const known = this.#sides.get(key)
    if (known !== undefined) return known
    const log = new SideLog(side, key)
    this.#sides.set(key, log)
    return log
  }

  #put(placed: PlacedMove, foldedMs: number): void {
    const log = this.#logOf(placed)
    this.#recount(log, log.put(placed.move, foldedMs), foldedMs)
  }

  /** Puts a move in the place of one that says something else of the same fill. */
  #replace(was: PlacedMove, placed: PlacedMove, foldedMs: number): void {
    const log = this.#logOf(placed)
    const lost = was.key === placed.key ? log.replace(placed.move) : undefined
    if (lost !== undefined) {
      this.#recount(log, lost, foldedMs)
      return
    }
    this.#takeBack(was, foldedMs)
    this.#put(placed, foldedMs)
  }

  /** Takes back a move as if it had never been, while that is possible; a settled move is returned to the unattributed book. */
  #takeBack(placed: PlacedMove, foldedMs: number): void {
    const { move } = placed
    const log = this.#logOf(placed)
    const lost = log.takeBack(move.id)
    if (lost !== undefined) {
      this.#recount(log, lost, foldedMs)
      return
    }
    this.#fills.delete(move.id)
    for (const each of reversed(move)) this.#put({ ...placed, move: each }, foldedMs)
  }

  /** Removes postings that no longer count from the results, and adds those that count now. */
  #recount(log: SideLog, lost: readonly Posting[], nowMs: number): void {
    for (const posting of lost) {
      const { strategy, move, figures } = posting
      this.#takeOff(strategy, log, figures, move.atMs)
      this.#tracks.set(strategy, withoutPosting(this.#trackOf(strategy), posting))
      this.#fills.giveBack(posting)
    }
    for (const posting of log.count(nowMs)) {
      const { strategy, move, figures } = posting
      this.#add(strategy, log, figures, move.atMs)
      this.#tracks.set(strategy, withPosting(this.#trackOf(strategy), posting, log.side))
      this.#fills.take(posting)
    }
    for (const posting of log.settle(nowMs)) this.#tell(posting, log.side)
  }

  /** Adds to the results of a book. */
  #book(strategy: string, log: KeyedSide, figures: Partial<Figures>, atMs: number): void {
    this.#tracks.set(strategy, withFigures(this.#trackOf(strategy), figures))
    this.#add(strategy, log, figures, atMs)
  }

  /** Subtracts from the sums of a book; a book whose sums become zero is removed. */
  #takeOff(strategy: string, log: SideLog, figures: Figures, atMs: number): void {
    this.#add(strategy, log, negated(figures), atMs)
    const key = bookKeyOf(strategy, log.key)
    for (const kept of [this.#totals, this.#days.get(dayOf(atMs))])
      if (kept !== undefined && isNone(kept.get(key)?.figures ?? noFigures)) kept.delete(key)
  }

  /** Adds to the sums of a book, all in all and of the day. */
  #add(strategy: string, { side, key: sideKey }: KeyedSide, figures: Partial<Figures>, atMs: number): void {
    const day = dayOf(atMs)
    const ofDay = this.#days.get(day) ?? new Map<string, KeptFigures>()
    this.#days.set(day, ofDay)
    const key = bookKeyOf(strategy, sideKey)
    for (const kept of [this.#totals, ofDay]) {
      const known = kept.get(key)?.figures ?? noFigures
      kept.set(key, { strategy, side, figures: addFigures(known, figures) })
    }
    while (this.#days.size > this.#kept.days) this.#days.delete(Math.min(...this.#days.keys()))
  }

  /** Books the cost of a message to its strategy from the moment it lands, whatever the outcome of its orders. */
  #foldSending(before: IntentState | undefined, after: IntentState): void {
    // A record that leaves the attempts as they are, as the last one does, costs nothing.
    if (before?.attempts === after.attempts) return
    const was = before === undefined ? noFigures : sendingOf(before)
    const is = sendingOf(after)
    const figures = {
      relayFeesUsd: is.relayFeesUsd - was.relayFeesUsd,
      executionFees: is.executionFees - was.executionFees,
    }
    if (figures.relayFeesUsd === 0n && figures.executionFees === 0n) return
    const side = sideOfIntent(after.intent)
    this.#book(after.intent.strategy, { side, key: sideKeyOf(side) }, figures, sentAtMs(after))
  }
}
