/**
 * Folds the records in memory and answers the daemon's questions at once while it decides and sends. It folds durable records alone and so never
 * claims more than the store holds. It remembers decisions, digests and created orders for ever, since each may come only once; of closed intents it
 * retains the newest.
 */

import type { Clocks } from '../base/clock.ts'
import { MadeAnswers } from '../base/madeOnce.ts'
import { type BookReads, Books } from '../books/books.ts'
import { type AccountState, applyAccountRecord, sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import { type Fill, fillsOf } from '../domain/accountRecords/fills.ts'
import { ownEventsOf } from '../domain/accountRecords/ownEventsOf.ts'
import { type Ending, endingOf } from '../domain/accountRecords/spend.ts'
import { applyRecord } from '../domain/machine/fold.ts'
import { type Intent, type IntentState, isOpen } from '../domain/order/intent.ts'
import { changesBy, type OrderChange } from '../domain/order/signedOrder.ts'
import { type AnyRecord, isAccountRecord } from '../domain/records.ts'
import { hexKey } from '../protocol/address.ts'
import { ClockSteps } from './clockSteps.ts'
import { createIdentities, type IdentitySet } from './identities.ts'
import type { IntentQuery, JournalSummary, LedgerReads, OwnEvents } from './journal.ts'
import { emptyLedger, encodeHead, type LedgerSnapshot, type LedgerState } from './ledgerState.ts'
import { OwnEventLists } from './ownEventLists.ts'
import type { AdmissionView } from './recordAdmission.ts'
import { RowsSince } from './rowsSince.ts'

/** Intents, and endings, that are kept at least: the newest. */
const keptAtLeast = 1_000
/** And all that are younger than this, ms: a day, which is the window of budgets, and an hour for clocks. */
const keptMs = 90_000_000
/** And no more than so many, whatever a day brings. */
const keptAtMost = 25_600

/** The folds of all durable records, and the checks before a record is written. */
export interface Ledger extends LedgerReads, AdmissionView {
  /** Number of the newest record that was folded; 0 before the first. */
  readonly seq: number
  /**
   * Folds the next record. Gives the intent's state with it, nothing for a record of the account. `admitted` is that state, where
   * admission made it already.
   *
   * @throws BaseError JOURNAL_OUT_OF_ORDER when it cannot follow the intent's story.
   */
  fold(record: AnyRecord, admitted?: IntentState): IntentState | undefined
  /** Takes in what a snapshot leaves out: the newest intents, newest first, and the newest endings, oldest first. */
  recall(intents: readonly IntentState[], endings: readonly Ending[]): void
  /** Returns the snapshot that a store persists now: the head, and the additions since the snapshot before. */
  snapshot(): LedgerSnapshot
  /** Notes that this snapshot is durable: the next one starts from it. */
  kept(snapshot: LedgerSnapshot): void
}

/** A ledger that goes on from a state, or from nothing; `books` of its own keep what a snapshot leaves out. */
export function createLedger(from: LedgerState = emptyLedger, books: Books = new Books(from.books)): Ledger {
  return new FoldedLedger(from, books)
}

class FoldedLedger implements Ledger {
  #seq: number
  #keptSeq: number
  #newestAtMs: number
  #intents: number
  #account: AccountState
  readonly #open: Map<string, IntentState>
  #newestAcceptedMs = 0
  /** By the number of an intent, and of a record. */
  #intentSteps = new ClockSteps()
  #recordSteps = new ClockSteps()
  /** In the order in which they were accepted. */
  readonly #recent = new Map<string, IntentState>()
  /** Both as they are listed, newest first, and by strategy; made anew once a record changed one: each decision reads them. */
  #newestFirst: readonly IntentState[] | undefined
  #newestBy: ReadonlyMap<string, readonly IntentState[]> | undefined
  #endings: Ending[] = []
  /** Index of the first ending that is retained. */
  #firstEnding = 0
  readonly #fills: Map<string, Fill>
  /** Intents and fills as they are listed, until `#keep` takes a record of an order: each turn reads them. */
  readonly #lists = new MadeAnswers()
  readonly #accepted = new RowsSince<Intent>(({ acceptedAtMs }) => acceptedAtMs)
  readonly #ended = new RowsSince<Ending>(({ closedAtMs }) => closedAtMs)
  readonly #changes: Map<string, OrderChange>
  readonly #identities: IdentitySet
  readonly #ownEvents: OwnEventLists
  readonly #books: Books

  constructor(from: LedgerState, books: Books) {
    this.#books = books
    this.#seq = from.seq
    this.#keptSeq = from.seq
    this.#newestAtMs = from.newestAtMs
    this.#intents = from.intents
    this.#account = from.account
    this.#open = new Map(from.open.map((state) => [state.intent.intentId, state]))
    this.#fills = new Map(from.fills.map((fill) => [sideKeyOf(fill), fill]))
    this.#changes = new Map(from.changes)
    this.#identities = createIdentities(from.identities)
    this.#ownEvents = new OwnEventLists(from.ownEvents)
  }

  get seq(): number {
    return this.#seq
  }

  get newestAtMs(): number {
    return this.#newestAtMs
  }

  // --- what records do ---------------------------------------------------------------------------------------------

  fold(record: AnyRecord, admitted?: IntentState): IntentState | undefined {
    this.#newestAtMs = record.atMs
    this.#intentSteps.stamp(this.#intents, record.atMs)
    this.#recordSteps.stamp(this.#seq, record.atMs)
    if (isAccountRecord(record)) {
      const before = this.#account
      this.#account = applyAccountRecord(before, record)
      this.#books.foldAccount(record, before, this.#account)
      this.#seq += 1
      this.#ownEvents.fold(record)
      return undefined
    }
    const before = this.state(record.intentId)
    const state = admitted ?? applyRecord(before, record)
    this.#seq += 1
    if (this.#ownEvents.isKept(state.intent.strategy))
      this.#ownEvents.add(state.intent.strategy, ownEventsOf(before, state, this.#seq))
    this.#books.foldIntent(record.kind, before, state)
    this.#identities.add(record)
    this.#keep(state)
    if (record.kind === 'intent.accepted') this.#accept(state)
    if (record.kind === 'intent.closed') this.#close(state)
    return state
  }

  recall(intents: readonly IntentState[], endings: readonly Ending[]): void {
    const newer = [...this.#recent]
    this.#recent.clear()
    this.#forgetListed()
    for (const state of intents.toReversed()) {
      const { intentId } = state.intent
      this.#newestAcceptedMs = state.intent.acceptedAtMs
      this.#recent.set(intentId, this.#open.get(intentId) ?? state)
    }
    for (const [intentId, state] of newer) this.#recent.set(intentId, state)
    this.#endings = endings.slice(-keptAtMost)
    this.#ended.forget()
    this.#firstEnding = 0
    this.#recallSteps()
    this.#dropIntents()
  }

  /** A snapshot has no steps: what was recalled shows them. */
  #recallSteps(): void {
    this.#intentSteps = new ClockSteps()
    let number = this.#intents - this.#recent.size
    for (const { intent } of this.#recent.values()) {
      this.#intentSteps.stamp(number, intent.acceptedAtMs)
      number += 1
    }
    this.#intentSteps.stamp(this.#intents, this.#newestAtMs)
    this.#recordSteps = new ClockSteps()
    for (const { seq = 0, closedAtMs } of this.#endings) this.#recordSteps.stamp(seq - 1, closedAtMs)
    this.#recordSteps.stamp(this.#seq, this.#newestAtMs)
  }

  #keep(state: IntentState): void {
    this.#forgetListed()
    const { intentId } = state.intent
    if (isOpen(state)) {
      this.#open.set(intentId, state)
      return
    }
    // While it is open it is found there.
    this.#open.delete(intentId)
    if (this.#recent.has(intentId)) this.#recent.set(intentId, state)
  }

  #accept(state: IntentState): void {
    this.#intents += 1
    this.#recent.set(state.intent.intentId, state)
    this.#newestAcceptedMs = state.intent.acceptedAtMs
    this.#dropIntents()
  }

  #dropIntents(): void {
    this.#forgetListed()
    for (const [oldestId, { intent }] of this.#recent) {
      if (!isSpare(this.#recent.size, this.#newestAcceptedMs - intent.acceptedAtMs)) break
      this.#recent.delete(oldestId)
    }
  }

  #close(state: IntentState): void {
    this.#ended.forget()
    for (const { sizeDeltaUsd = 0n, atSeconds: _, ...side } of fillsOf(state)) {
      const key = sideKeyOf(side)
      const before = this.#fills.get(key)
      this.#fills.set(key, { ...(before ?? side), sizeDeltaUsd: (before?.sizeDeltaUsd ?? 0n) + sizeDeltaUsd })
    }
    const ending = endingOf(state)
    if (ending !== undefined) this.#endings.push({ ...ending, seq: this.#seq })
    this.#dropEndings(state.updatedAtMs)
    for (const [orderKey, change] of changesBy(state)) {
      // Changes are asked of orders that rest, and the maker of an order is open while it rests.
      const makers = this.#identities.creatorsOf(orderKey)
      if (makers.length > 0 && !makers.some((intentId) => this.#open.has(intentId))) continue
      // An unknown change stays unknown: no later change tells what came before it.
      if (this.#changes.get(orderKey) !== 'unknown') this.#changes.set(orderKey, change)
    }
    if (this.#changes.size === 0) return
    for (const { children } of state.attempts) {
      for (const { orderKey } of children) this.#changes.delete(hexKey(orderKey))
    }
  }

  #dropEndings(nowMs: number): void {
    const all = this.#endings
    let from = this.#firstEnding
    for (; from < all.length; from += 1) {
      if (!isSpare(all.length - from, nowMs - (all[from]?.closedAtMs ?? 0))) break
    }
    // The list moves up now and then, not with each of them.
    const isDue = from > keptAtLeast
    if (isDue) all.splice(0, from)
    this.#firstEnding = isDue ? 0 : from
  }

  // --- what is asked before a record is written -----------------------------------------------------------------

  state(intentId: string): IntentState | undefined {
    return this.#open.get(intentId) ?? this.#recent.get(intentId)
  }

  hasDecision(strategy: string, decisionKey: string): boolean {
    return this.#identities.hasDecision(strategy, decisionKey)
  }

  digestOwner(router: string, digest: string): string | undefined {
    return this.#identities.digestOwner(router, digest)
  }

  // --- what is asked of it -----------------------------------------------------------------------------------------

  summary(): JournalSummary {
    return { records: this.#seq, intents: this.#intents, openIntents: this.#open.size }
  }

  account(): AccountState {
    return this.#account
  }

  openIntents(): readonly IntentState[] {
    return this.#lists.of('open', () => [...this.#open.values()])
  }

  recentIntents({ openOnly = false, strategy, limit }: IntentQuery = {}): readonly IntentState[] {
    const whose = strategy === undefined ? '' : ` of ${strategy}`
    return this.#lists.of(`${openOnly} ${limit}${whose}`, () => {
      const own = strategy === undefined ? this.#listed() : (this.#listedBy().get(strategy) ?? [])
      const found = openOnly ? own.filter(isOpen) : own
      return found.slice(0, limit)
    })
  }

  #listed(): readonly IntentState[] {
    const older = () => [...this.#open.values()].filter(({ intent }) => !this.#recent.has(intent.intentId))
    const newer = () => [...this.#recent].map(([intentId, state]) => this.#open.get(intentId) ?? state)
    this.#newestFirst ??= [...older(), ...newer()].reverse()
    return this.#newestFirst
  }

  #listedBy(): ReadonlyMap<string, readonly IntentState[]> {
    this.#newestBy ??= Map.groupBy(this.#listed(), ({ intent }) => intent.strategy)
    return this.#newestBy
  }

  #forgetListed(): void {
    this.#newestFirst = undefined
    this.#newestBy = undefined
    this.#lists.forget()
    this.#accepted.forget()
  }

  recentIntent(intentId: string): IntentState | undefined {
    return this.state(intentId)
  }

  endingsSince(sinceMs: number): readonly Ending[] {
    const find = () => this.#findEndings(sinceMs)
    return this.#recordSteps.isNone ? this.#ended.of(sinceMs, find) : find()
  }

  #findEndings(sinceMs: number): readonly Ending[] {
    return this.#endings.slice(this.#firstEnding).flatMap((ending) => {
      const { seq = 0, closedAtMs } = ending
      const backMs = this.#recordSteps.backSince(seq)
      if (closedAtMs - backMs < sinceMs) return []
      return backMs === 0 ? ending : { ...ending, closedAtMs: closedAtMs - backMs }
    })
  }

  closedFills(): readonly Fill[] {
    return this.#lists.of('fills', () => [...this.#fills.values()])
  }

  books(): BookReads {
    return this.#books
  }

  changeOf(orderKey: string): OrderChange | undefined {
    return this.#changes.get(hexKey(orderKey))
  }

  hasArmed(intentId: string, digest: string): boolean {
    return this.#identities.hasArmed(intentId, digest)
  }

  explains(orderKey: string, exceptIntentId: string): boolean {
    return this.#identities.creatorsOf(orderKey).some((intentId) => intentId !== exceptIntentId)
  }

  ownEvents(strategy: string): OwnEvents {
    return this.#ownEvents.of(strategy)
  }

  acceptedSince(sinceMs: number): readonly Intent[] {
    const find = () => this.#findAccepted(sinceMs)
    return this.#intentSteps.isNone ? this.#accepted.of(sinceMs, find) : find()
  }

  #findAccepted(sinceMs: number): readonly Intent[] {
    const accepted: Intent[] = []
    let number = this.#intents - this.#recent.size
    for (const { intent } of this.#recent.values()) {
      number += 1
      if (intent.acceptedAtMs - this.#intentSteps.backSince(number) >= sinceMs) accepted.push(intent)
    }
    return accepted
  }

  setBackSince(intentId: string): number {
    if (this.#intentSteps.isNone) return 0
    const index = [...this.#recent.keys()].indexOf(intentId)
    return this.#intentSteps.backSince(this.#intents - this.#recent.size + index + 1)
  }

  lookAt(clock: Clocks): void {
    this.#intentSteps.look(this.#intents, clock)
    this.#recordSteps.look(this.#seq, clock)
  }

  // --- snapshots ---------------------------------------------------------------------------------------------------

  snapshot(): LedgerSnapshot {
    return {
      seq: this.#seq,
      fromSeq: this.#keptSeq,
      head: encodeHead({
        newestAtMs: this.#newestAtMs,
        intents: this.#intents,
        account: this.#account,
        open: [...this.#open.values()],
        fills: [...this.#fills.values()],
        changes: [...this.#changes],
        ownEvents: this.#ownEvents.all(),
        books: this.#books.state(),
      }),
      part: this.#identities.part(),
    }
  }

  kept({ seq }: LedgerSnapshot): void {
    this.#keptSeq = seq
    this.#identities.kept()
  }
}

/** Numbers of newest intents that `Ledger.recall` reads from a store, tried in this order until one reaches back far enough. */
export const recallLimits: readonly number[] = [keptAtLeast, 4 * keptAtLeast, keptAtMost]

/** Tells whether the newest intents, newest first and no more than `limit`, are all that a ledger retains. */
export function reachesBack(intents: readonly IntentState[], limit: number): boolean {
  const [newest, oldest] = [intents[0], intents.at(-1)]
  if (newest === undefined || oldest === undefined || intents.length < limit) return true
  return newest.intent.acceptedAtMs - oldest.intent.acceptedAtMs >= keptMs
}

/**
 * From when on endings are read for `Ledger.recall`, Unix ms. A clock that is ahead at this start hides none: the newest record
 * has a word too.
 */
export function recallSinceMs({ newestAtMs }: Ledger, nowMs: number): number {
  return Math.min(newestAtMs, nowMs) - keptMs
}

/** Tells whether the oldest of so many may be dropped: `ageMs` is its distance from the newest. */
function isSpare(count: number, ageMs: number): boolean {
  return count > keptAtMost || (count > keptAtLeast && ageMs >= keptMs)
}
