/**
 * What the records say, folded and kept in memory: it answers at once what the daemon asks while it decides and sends. It is
 * folded from durable records alone and so never says more than the store holds. Decisions, digests and created orders are
 * remembered for ever, since each may come only once; of closed intents the newest are.
 */
import { type AccountState, applyAccountRecord, sideKeyOf } from '../domain/account/accountRecord.ts'
import { type Fill, fillsOf } from '../domain/account/fills.ts'
import { type Ending, endingOf } from '../domain/account/spend.ts'
import { applyRecord } from '../domain/machine/fold.ts'
import { type IntentState, isOpen } from '../domain/order/intent.ts'
import { changesBy, type OrderChange } from '../domain/order/signedOrder.ts'
import { type AnyRecord, isAccountRecord, type JournalRecord } from '../domain/records.ts'
import { hexKey } from '../protocol/address.ts'
import type { IntentQuery, LedgerReads } from './journal.ts'
import {
  emptyLedger,
  encodeHead,
  encodePart,
  type Identity,
  type LedgerSnapshot,
  type LedgerState,
} from './ledgerState.ts'
import type { AdmissionView } from './recordAdmission.ts'

/** Intents that are kept at least: the newest, and those of the day (UTC) of the newest. */
const intentsKept = 1_000
/** Intents that are kept at most, whatever the day brings. */
const mostIntentsKept = 25_600
/** Endings, and moments of acceptance, that are kept at least, whatever the clock does. */
const countedKept = 5_000
/** And all that are younger than this, ms: twice the window of any budget. */
const countedMs = 172_800_000
const dayMs = 86_400_000

/** The folds of all durable records, and what is asked before a record is written. */
export interface Ledger extends LedgerReads, AdmissionView {
  /** Number of the newest record that was folded; 0 before the first. */
  readonly seq: number
  /**
   * Folds the next record. Gives the intent's state with it, nothing for a record of the account.
   *
   * @throws BaseError JOURNAL_OUT_OF_ORDER when it cannot follow the intent's story.
   */
  fold(record: AnyRecord): IntentState | undefined
  /** What a store is to keep now: the head, and what was added since the record `fromSeq` of the snapshot before. */
  snapshot(): LedgerSnapshot
  /** That snapshot is durable: the next one goes on from it. */
  kept(snapshot: LedgerSnapshot): void
}

/** A ledger that goes on from a state, or from nothing. */
export function createLedger(from: LedgerState = emptyLedger): Ledger {
  return new FoldedLedger(from)
}

class FoldedLedger implements Ledger {
  #seq: number
  #intents: number
  #account: AccountState
  readonly #open: Map<string, IntentState>
  /** In the order in which they were accepted. */
  readonly #recent: Map<string, IntentState>
  readonly #endings: Ending[]
  readonly #accepted: (readonly [atMs: number, strategy: string])[]
  readonly #fills: Map<string, Fill>
  readonly #changes: Map<string, OrderChange>
  readonly #decisions = new Set<string>()
  /** Owners by router and digest. */
  readonly #digests = new Map<string, string>()
  /** Intents by the keys of the orders that they created; more than one where an order was seen for two. */
  readonly #creators = new Map<string, readonly string[] | string>()
  /** What was added since the newest snapshot. */
  #added: Identity[] = []
  #keptSeq: number

  constructor(from: LedgerState) {
    this.#seq = from.seq
    this.#keptSeq = from.seq
    this.#intents = from.intents
    this.#account = from.account
    this.#open = new Map(from.open.map((state) => [state.intent.intentId, state]))
    this.#recent = new Map(from.recent.map((state) => [state.intent.intentId, state]))
    this.#endings = [...from.endings]
    this.#accepted = [...from.accepted]
    this.#fills = new Map(from.fills.map((fill) => [sideKeyOf(fill), fill]))
    this.#changes = new Map(from.changes)
    for (const identity of from.identities) this.#remember(identity)
  }

  get seq(): number {
    return this.#seq
  }

  // --- what records do ---------------------------------------------------------------------------------------------

  fold(record: AnyRecord): IntentState | undefined {
    if (isAccountRecord(record)) {
      this.#account = applyAccountRecord(this.#account, record)
      this.#seq += 1
      return undefined
    }
    const state = applyRecord(this.state(record.intentId), record)
    this.#seq += 1
    this.#addIdentities(record)
    this.#keep(state)
    if (record.kind === 'intent.accepted') this.#accept(state)
    if (record.kind === 'intent.closed') this.#close(state)
    return state
  }

  #addIdentities(record: JournalRecord): void {
    if (record.kind === 'intent.accepted') {
      this.#add(['decision', record.intent.strategy, record.intent.decisionKey])
    }
    if (record.kind === 'attempt.armed') {
      this.#add(['digest', hexKey(record.armed.router), hexKey(record.armed.digest), record.intentId])
    }
    if (record.kind !== 'landed') return
    for (const orderKey of record.orderKeys.map(hexKey)) {
      // A landing that is confirmed names its orders again.
      if (!this.#creatorsOf(orderKey).includes(record.intentId))
        this.#add(['order', orderKey, record.intentId])
    }
  }

  #add(identity: Identity): void {
    this.#remember(identity)
    this.#added.push(identity)
  }

  #remember(identity: Identity): void {
    switch (identity[0]) {
      case 'decision':
        this.#decisions.add(keyOf(identity[1], identity[2]))
        break
      case 'digest':
        this.#digests.set(keyOf(identity[1], identity[2]), identity[3])
        break
      case 'order': {
        const before = this.#creatorsOf(identity[1])
        this.#creators.set(identity[1], before.length === 0 ? identity[2] : [...before, identity[2]])
        break
      }
    }
  }

  #creatorsOf(orderKey: string): readonly string[] {
    const found = this.#creators.get(orderKey)
    return typeof found === 'string' ? [found] : (found ?? [])
  }

  #keep(state: IntentState): void {
    const { intentId } = state.intent
    if (isOpen(state)) this.#open.set(intentId, state)
    else this.#open.delete(intentId)
    if (this.#recent.has(intentId)) this.#recent.set(intentId, state)
  }

  #accept(state: IntentState): void {
    const { intentId, acceptedAtMs, strategy } = state.intent
    this.#intents += 1
    this.#recent.set(intentId, state)
    this.#accepted.push([acceptedAtMs, strategy])
    drop(this.#accepted, ([atMs]) => acceptedAtMs - atMs >= countedMs)
    const dayStartMs = acceptedAtMs - (acceptedAtMs % dayMs)
    for (const [oldestId, oldest] of this.#recent) {
      const { size } = this.#recent
      const isNeeded = size <= intentsKept || oldest.intent.acceptedAtMs >= dayStartMs
      if (isNeeded && size <= mostIntentsKept) break
      this.#recent.delete(oldestId)
    }
  }

  #close(state: IntentState): void {
    for (const { sizeDeltaUsd = 0n, ...side } of fillsOf(state)) {
      const key = sideKeyOf(side)
      const before = this.#fills.get(key)
      this.#fills.set(key, { ...(before ?? side), sizeDeltaUsd: (before?.sizeDeltaUsd ?? 0n) + sizeDeltaUsd })
    }
    const ending = endingOf(state)
    if (ending !== undefined) this.#endings.push({ ...ending, seq: this.#seq })
    drop(this.#endings, ({ closedAtMs }) => state.updatedAtMs - closedAtMs >= countedMs)
    for (const [orderKey, change] of changesBy(state)) {
      // Changes are asked of orders that rest, and the maker of an order is open while it rests.
      const makers = this.#creatorsOf(orderKey)
      if (makers.length > 0 && !makers.some((intentId) => this.#open.has(intentId))) continue
      // What is not known once stays so: no later change says what came before it.
      if (this.#changes.get(orderKey) !== 'unknown') this.#changes.set(orderKey, change)
    }
    for (const { children } of state.attempts) {
      for (const { orderKey } of children) this.#changes.delete(hexKey(orderKey))
    }
  }

  // --- what is asked before a record is written -----------------------------------------------------------------

  state(intentId: string): IntentState | undefined {
    return this.#open.get(intentId) ?? this.#recent.get(intentId)
  }

  hasDecision(strategy: string, decisionKey: string): boolean {
    return this.#decisions.has(keyOf(strategy, decisionKey))
  }

  digestOwner(router: string, digest: string): string | undefined {
    return this.#digests.get(keyOf(hexKey(router), hexKey(digest)))
  }

  // --- what is asked of it -----------------------------------------------------------------------------------------

  summary() {
    return { records: this.#seq, intents: this.#intents, openIntents: this.#open.size }
  }

  account(): AccountState {
    return this.#account
  }

  openIntents(): readonly IntentState[] {
    return [...this.#open.values()]
  }

  recentIntents({ openOnly = false, strategy, limit }: IntentQuery = {}): readonly IntentState[] {
    const older = [...this.#open.values()].filter(({ intent }) => !this.#recent.has(intent.intentId))
    const found = [...older, ...this.#recent.values()].filter(
      (state) =>
        (!openOnly || isOpen(state)) && (strategy === undefined || state.intent.strategy === strategy),
    )
    const newestFirst = found.toReversed()
    return limit === undefined ? newestFirst : newestFirst.slice(0, limit)
  }

  recentIntent(intentId: string): IntentState | undefined {
    return this.state(intentId)
  }

  endingsSince(sinceMs: number): readonly Ending[] {
    return this.#endings.filter(({ closedAtMs }) => closedAtMs >= sinceMs)
  }

  closedFills(): readonly Fill[] {
    return [...this.#fills.values()]
  }

  changeOf(orderKey: string): OrderChange | undefined {
    return this.#changes.get(hexKey(orderKey))
  }

  hasArmed(intentId: string, digest: string): boolean {
    const isThis = (key: string, owner: string) => owner === intentId && key.endsWith(hexKey(digest))
    return [...this.#digests].some(([key, owner]) => isThis(key, owner))
  }

  explains(orderKey: string, exceptIntentId: string): boolean {
    return this.#creatorsOf(hexKey(orderKey)).some((intentId) => intentId !== exceptIntentId)
  }

  acceptedSince(sinceMs: number, strategy?: string): number {
    let accepted = 0
    for (const [atMs, by] of this.#accepted) {
      if (atMs >= sinceMs && (strategy === undefined || by === strategy)) accepted += 1
    }
    return accepted
  }

  // --- snapshots ---------------------------------------------------------------------------------------------------

  snapshot(): LedgerSnapshot {
    return {
      seq: this.#seq,
      fromSeq: this.#keptSeq,
      head: encodeHead({
        intents: this.#intents,
        account: this.#account,
        open: [...this.#open.values()],
        recent: [...this.#recent.values()],
        endings: this.#endings,
        accepted: this.#accepted,
        fills: [...this.#fills.values()],
        changes: [...this.#changes],
      }),
      part: encodePart(this.#added),
    }
  }

  kept({ seq }: LedgerSnapshot): void {
    this.#keptSeq = seq
    this.#added = []
  }
}

/** Drops the oldest that are too old, but for the newest `countedKept`. */
function drop<T>(list: T[], isOld: (each: T) => boolean): void {
  let count = 0
  for (const each of list) {
    if (list.length - count <= countedKept || !isOld(each)) break
    count += 1
  }
  if (count > 0) list.splice(0, count)
}

function keyOf(one: string, other: string): string {
  return `${one.length} ${one} ${other}`
}
