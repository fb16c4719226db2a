/**
 * A model of a server that several machines reach: one state that moves by whole requests, and a network that loses requests and answers, holds
 * them back until long after their sender gave up, or is parted. A failover takes back commits that nobody was told of, or some that were.
 */

import type { Ending } from '../../src/domain/accountRecords/spend.ts'
import type { SignEntry } from '../../src/domain/guardTable.ts'
import type { IntentKind } from '../../src/domain/order/intent.ts'
import type { SharedOptions } from '../../src/journal/fenced/openShared.ts'
import {
  type ChainedRecord,
  type Head,
  OutcomeUnknown,
  type SharedServer,
  type StoredPart,
  type StoredRow,
  type StoredSnapshot,
} from '../../src/journal/fenced/sharedServer.ts'
import { JournalFaultError } from '../../src/journal/journal.ts'
import type { Tail } from '../../src/journal/sqlite/hashChain.ts'
import type { Address } from '../../src/protocol/address.ts'
import type { Direction } from '../../src/protocol/market.ts'

/** All that the server holds. Each write makes another one. */
export interface ModelState {
  readonly head: Head
  readonly records: readonly ChainedRecord[]
  readonly snapshot: { readonly head: StoredPart; readonly parts: readonly StoredPart[] } | undefined
}

/** What becomes of a request. */
export type Fate = 'goes' | 'lost' | 'unanswered' | 'late'

/** The network before one connection: the fate of the next request, and the time that it takes. */
export interface ModelNetwork {
  fate(request: string): Fate
  /** Waits for the way there, and for the way back. */
  travel(request: string): Promise<void>
  /** Carries something out once its sender has long given up. */
  later(work: () => void): void
}

/** What a machine keeps beside the server, whatever becomes of its processes. */
export interface ModelDisk {
  mark: Tail | undefined
  readonly lines: SignEntry[]
}

/** Opens a machine's high-water mark and its guard's lines, as its disk has them; an opening on less than the mark is refused with JOURNAL_ROLLED_BACK. */
export function openDisk(disk: ModelDisk): Pick<SharedOptions, 'openMark' | 'openLocalGuard' | 'release'> {
  return {
    async openMark(tail, hashAt) {
      const { mark } = disk
      if (mark !== undefined && (await hashAt(mark.seq)) !== mark.hash)
        throw new JournalFaultError('The mark is ahead.', { code: 'JOURNAL_ROLLED_BACK' })
      disk.mark = tail
      return {
        write(end) {
          disk.mark = end
        },
        close: () => {},
      }
    },
    openLocalGuard: () => ({
      path: 'local',
      entries: [...disk.lines],
      append: async (entry) => void disk.lines.push(entry),
      close: () => {},
    }),
    release: () => {},
  }
}

const empty: ModelState = {
  head: { epoch: 0, holder: '', beat: 0, seq: 0, hash: '' },
  records: [],
  snapshot: undefined,
}

/** The server. */
export class ModelServer {
  state: ModelState = empty
  /** The state of the last write that was acknowledged: a second server has all of it. */
  durable: ModelState = empty
  /** Servers that were replaced by one that is behind. */
  #servers = 0
  /** Told of each write, before and after. */
  readonly watch: (before: ModelState, after: ModelState) => void

  constructor(watch: ModelServer['watch'] = () => {}) {
    this.watch = watch
  }

  /** A failover: the standby has what was acknowledged, and nothing else. */
  failOver(): void {
    this.state = this.durable
  }

  /** Goes back by so many records. */
  goBackBy(records: number): void {
    this.#servers += 1
    const at = this.state.records.length - records
    const end = this.state.records[at - 1]
    this.state = {
      ...this.state,
      head: { ...this.state.head, seq: at, hash: end?.hash ?? '', mayMissRecords: true },
      records: this.state.records.slice(0, at),
    }
    this.durable = this.state
  }

  /** A failover to a server that is behind: all later writes are gone, the taking of the right among them, and requests under way reach nobody. */
  goBackTo(state: ModelState): void {
    this.#servers += 1
    this.state = { ...state, head: { ...state.head, mayMissRecords: true } }
    this.durable = this.state
  }

  #move(next: ModelState): void {
    const before = this.state
    this.state = next
    this.watch(before, next)
  }

  /** One connection through a network: it carries one request at a time, as a real one does. */
  connect(network: ModelNetwork): SharedServer {
    let turn: Promise<unknown> = Promise.resolve()
    const ask = <T>(name: string, work: () => T): Promise<T> => {
      const next = turn.then(() => carry(name, work))
      turn = next.catch(() => undefined)
      return next
    }
    const carry = async <T>(name: string, work: () => T): Promise<T> => {
      const asked = this.#servers
      await network.travel(name)
      // A connection is to one server: what was under way to the one before ends with it.
      const fate = asked === this.#servers ? network.fate(name) : 'lost'
      if (fate === 'late')
        network.later(() => {
          if (asked === this.#servers) work()
        })
      const before = this.state
      const result = fate === 'goes' || fate === 'unanswered' ? work() : undefined
      if (fate === 'goes' && this.state !== before) this.durable = this.state
      await network.travel(name)
      if (fate !== 'goes')
        throw new OutcomeUnknown('The model lost it.', { code: 'MODEL_LOST', facts: { name, fate } })
      return result as T
    }
    const isAt = (right: { epoch: number; holder: string }, at?: { seq: number; hash: string }): boolean => {
      const { head } = this.state
      const isHeld = head.epoch === right.epoch && head.holder === right.holder
      return isHeld && (at === undefined || (head.seq === at.seq && head.hash === at.hash))
    }
    const moveHead = (change: Partial<Head>): void => {
      const { head } = this.state
      this.#move({ ...this.state, head: { ...head, beat: head.beat + 1, ...change } })
    }
    return {
      name: 'model',
      prepare: () => ask('prepare', () => this.state.head),
      head: () => ask('head', () => this.state.head),
      take: (from, to) =>
        ask('take', () => {
          if (!isAt(from) || this.state.head.beat !== from.beat) return false
          moveHead({ epoch: to.epoch, holder: to.holder })
          return true
        }),
      confirm: (right) =>
        ask('confirm', () => {
          if (isAt(right)) moveHead({})
          return this.state.head
        }),
      release: (right) =>
        ask('release', () => {
          if (isAt(right)) moveHead({ holder: '' })
        }),
      append: (right, at, records) =>
        ask('append', () => {
          if (!isAt(right, at)) return false
          const end = records.at(-1) ?? at
          const { head } = this.state
          this.#move({
            ...this.state,
            // What is written behind a known end is whole again.
            head: {
              ...{ epoch: head.epoch, holder: head.holder },
              ...{ seq: end.seq, hash: end.hash, beat: head.beat + 1 },
            },
            records: [...this.state.records, ...records],
          })
          return true
        }),
      keep: (right, at, { head, part, fromSeq }, sums) =>
        ask('keep', () => {
          if (!isAt(right, at)) return false
          const place = { toSeq: at.seq, recordHash: at.hash }
          const kept =
            fromSeq === 0 ? [] : (this.state.snapshot?.parts ?? []).filter(({ toSeq }) => toSeq < at.seq)
          const parts =
            fromSeq === at.seq ? kept : [...kept, { ...place, fromSeq, sum: sums.part, body: part }]
          this.#move({
            ...this.state,
            snapshot: { head: { ...place, fromSeq: 0, sum: sums.head, body: head }, parts },
          })
          return true
        }),
      snapshot: () => ask('snapshot', () => this.#snapshot()),
      records: (afterSeq, limit) =>
        ask('records', () =>
          this.#rows()
            .filter(({ seq }) => seq > afterSeq)
            .slice(0, limit),
        ),
      stories: (ids) => ask('stories', () => this.#rows().filter(({ intentId }) => ids.includes(intentId))),
      intentIds: ({ openOnly = false, strategy, limit }) =>
        ask('intentIds', () => {
          const closed = new Set(this.state.records.map(({ rows }) => rows.closes))
          return this.state.records
            .flatMap(({ rows: { intent } }) => (intent === undefined ? [] : [intent]))
            .filter(
              ([id, its]) => (strategy === undefined || its === strategy) && !(openOnly && closed.has(id)),
            )
            .map(([id]) => id)
            .reverse()
            .slice(0, limit)
        }),
      endings: (sinceMs) =>
        ask('endings', () =>
          this.state.records.flatMap(({ seq, rows: { ending } }): Ending[] => {
            if (ending === undefined || ending[1] < sinceMs) return []
            const [, closedAtMs, strategy, kind, marketToken, direction, cause, executionFee, relayFee] =
              ending
            return [
              {
                ...{ closedAtMs, strategy, cause, seq },
                kind: kind as IntentKind,
                marketToken: marketToken as Address,
                direction: direction as Direction,
                executionFee: BigInt(executionFee),
                relayFee: BigInt(relayFee),
              },
            ]
          }),
        ),
      signed: (since) =>
        ask('signed', () =>
          this.state.records.flatMap(({ signed }): SignEntry[] =>
            signed === undefined || signed.entry.deadlineSeconds < since ? [] : [signed.entry],
          ),
        ),
      close: async () => {},
    }
  }

  #rows(): readonly StoredRow[] {
    return this.state.records.map(({ seq, hash, rows }, index) => ({
      ...{ seq, hash, intentId: rows.record[1], body: rows.record[4] },
      previousHash: this.state.records[index - 1]?.hash,
    }))
  }

  #snapshot(): StoredSnapshot | undefined {
    const { snapshot, records } = this.state
    const now = (part: StoredPart): StoredPart => ({ ...part, recordHash: records[part.toSeq - 1]?.hash })
    return snapshot && { head: now(snapshot.head), parts: snapshot.parts.map(now) }
  }
}
