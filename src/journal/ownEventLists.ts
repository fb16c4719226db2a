/**
 * Lists the events that strategies with a memory have not received yet about their orders. Records of their intents add events, and the memory that
 * was written with them drops them. An instance that never remembered anything has no list.
 */
import type { AccountRecord } from '../domain/accountRecords/accountRecord.ts'
import type { RecordedEvent } from '../domain/memory/ownEvent.ts'
import type { OwnEvents } from './journal.ts'

/** Most events that wait for one instance: one that pauses for months does not fill the memory. */
const MOST_WAITING = 2_000

const none: OwnEvents = { events: [], missed: 0 }

/** The lists of all instances, by name. */
export class OwnEventLists {
  readonly #lists: Map<string, OwnEvents>

  constructor(from: readonly (readonly [strategy: string, events: OwnEvents])[] = []) {
    this.#lists = new Map(from)
  }

  /** Tells whether the instance has a memory. */
  isKept(strategy: string): boolean {
    return this.#lists.has(strategy)
  }

  /** Adds what a record told; of too many the oldest are dropped, and counted. */
  add(strategy: string, more: readonly RecordedEvent[]): void {
    if (more.length === 0) return
    const { events, missed } = this.of(strategy)
    const all = [...events, ...more]
    const kept = all.slice(-MOST_WAITING)
    this.#lists.set(strategy, { events: kept, missed: missed + all.length - kept.length })
  }

  /** A record of the account: a memory drops what was given for it, and one that is forgotten its list. */
  fold(record: AccountRecord): void {
    if (record.kind === 'strategy.forgotten') this.#lists.delete(record.strategy)
    if (record.kind !== 'strategy.remembered') return
    const { events } = this.of(record.strategy)
    this.#lists.set(record.strategy, {
      events: events.filter(({ seq }) => seq > record.throughSeq),
      missed: 0,
    })
  }

  /** Returns the events that wait for an instance, in order. */
  of(strategy: string): OwnEvents {
    return this.#lists.get(strategy) ?? none
  }

  /** All of them, for a snapshot. */
  all(): readonly (readonly [strategy: string, events: OwnEvents])[] {
    return [...this.#lists]
  }
}
