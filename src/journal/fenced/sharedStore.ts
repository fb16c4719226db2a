/**
 * The store on a server that several machines reach.
 *
 * - A commit moves the head from the end of the chain that this writer knows to the next one: whoever lost the right, or a server that
 *   went back, moves nothing.
 * - A lost answer is settled here: the same records are sent again, which changes nothing when they were committed, and the hash of the head says
 *   which of the two happened. What the server shows counts as durable once a later write was acknowledged.
 * - A server that went back is healed from memory where the right is still this writer's: the same texts with the same hashes.
 * - The right is confirmed by beats over a connection of their own. A writer whose beat stood too long signs nothing, and takes a new epoch first.
 * - A writer whose beat stood so long that another may have taken the right does not go on where the server was replaced meanwhile: the other's
 *   records may be lost with the server, and what they signed would be signed once more. Its next opening notes that.
 */
import type { Clock } from '../../base/clock.ts'
import { defined, ifDefined } from '../../base/defined.ts'
import type { Ending } from '../../domain/accountRecords/spend.ts'
import type { GuardTable } from '../../domain/guardTable.ts'
import type { JournalServer, Replication } from '../../domain/journalServer.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import type { StoredRecord } from '../../domain/records.ts'
import { type IntentQuery, JournalFaultError, type JournalLease } from '../journal.ts'
import { closedFault } from '../journalFaults.ts'
import type { JournalStore, KeptRecord, StoreEntry } from '../journalStore.ts'
import type { KeptSnapshot, LedgerSnapshot } from '../ledgerState.ts'
import type { Tail } from '../sqlite/hashChain.ts'
import type { HighWaterMark } from '../sqlite/highWaterMark.ts'
import { checksum } from '../sqlite/writeSnapshot.ts'
import { Confirmation, type Moment, momentOf } from './confirmation.ts'
import { isSamePlace, KnownRecords } from './knownRecords.ts'
import type { LeaseTimes } from './leaseTimes.ts'
import { fencedFault, goneFault, nameOfHolder, replacedFault, staleFault } from './sharedFaults.ts'
import type { SharedReads } from './sharedReads.ts'
import { type Head, OutcomeUnknown, type Right, type SharedServer } from './sharedServer.ts'
import { mayPass, type Steady } from './steady.ts'

/** Lines of the guard are of use this long after their deadline and their claim, seconds: a week. */
const SIGNED_SECONDS = 604_800

/** Beats between two looks at the standbys. */
const BEATS_PER_LOOK = 5

/** Rounds of writing and reading the head without a pause. */
const MOST_ROUNDS = 8

/** Connections to the same server, so that no request waits for one of another kind. */
export interface Connections {
  readonly writer: SharedServer
  readonly beats: SharedServer
  readonly reader: SharedServer
}

/** Parts that opening made; the store owns them from then on. */
export interface SharedStoreParts {
  readonly connections: Connections
  readonly reads: SharedReads
  readonly clock: Clock
  readonly times: LeaseTimes
  /** Repeats until the outcome is known. */
  readonly steady: Steady
  /** Runs something after `ms`; the returned function takes it back. */
  readonly later: (ms: number, run: () => void) => () => void
  readonly right: Right
  readonly tail: Tail
  /** When the right was given, by the server's clock, Unix ms. */
  readonly sinceMs?: number
  /** When the right was asked for that was given, or was last confirmed. */
  readonly confirmed: Moment
  /** Opening found that the server was replaced; whoever opens notes it with the first record. */
  readonly mayMissRecords?: true
  /** Where the chain ended, in a file of this machine; absent: none. */
  readonly mark?: HighWaterMark
  /** The guard's file of this machine; absent: none. */
  readonly openLocalGuard?: () => GuardTable
  /** Gives the lock of this machine back. */
  readonly release: () => void
}

/** The store over an opened journal. */
export function createSharedStore(parts: SharedStoreParts): JournalStore {
  return new SharedStore(parts)
}

class SharedStore implements JournalStore {
  readonly path: string
  readonly lease: JournalLease
  readonly ended: Promise<JournalFaultError>
  readonly #parts: SharedStoreParts
  readonly #known: KnownRecords
  readonly #end: (fault: JournalFaultError) => void
  #right: Right
  readonly #confirmation: Confirmation
  #fault: JournalFaultError | undefined
  #isClosed = false
  #turn: Promise<unknown> = Promise.resolve()
  #cancelBeat: () => void = () => {}
  #sinceMs: number | undefined
  /** The doubt that opening found and no record notes yet. */
  #isDoubted: boolean
  #replication: Replication | undefined
  #beats = 0

  constructor(parts: SharedStoreParts) {
    const { promise, resolve } = Promise.withResolvers<JournalFaultError>()
    this.ended = promise
    this.#end = resolve
    this.#parts = parts
    this.path = parts.connections.writer.name
    this.#right = parts.right
    this.#known = new KnownRecords(parts.tail)
    this.#confirmation = new Confirmation(parts.times, parts.confirmed)
    this.#sinceMs = parts.sinceMs
    this.#isDoubted = parts.mayMissRecords === true
    const epoch = (): number => this.#right.epoch
    this.lease = {
      get epoch() {
        return epoch()
      },
      lost: () => this.#lost(),
      renew: () => this.#renew(),
    }
    this.#planBeat()
    this.#look()
  }

  // --- the right -------------------------------------------------------------------------------------------------------

  #lost(): JournalFaultError | undefined {
    if (this.#fault !== undefined) return this.#fault
    if (this.#isClosed) return closedFault(this.path)
    return ifDefined(this.#confirmation.staleMs(momentOf(this.#parts.clock)), (ageMs) =>
      staleFault(this.path, ageMs),
    )
  }

  /** One beat. */
  async #renew(): Promise<void> {
    this.#refuse()
    const { beats } = this.#parts.connections
    const asked = momentOf(this.#parts.clock)
    const right = this.#right
    const head = await beats.confirm(right)
    if (right !== this.#right) return
    this.#sinceMs = head.sinceMs
    // A right that was not confirmed in time is not trusted any more, whatever the server says: a new epoch is taken.
    if (isSameRight(head, right) && this.#confirmation.isYoung(asked)) this.#confirmation.note(asked)
    else await this.#inTurn(() => this.#guarded(() => this.#retake(beats, head, asked)))
  }

  /** Takes a new epoch behind all that are known, where no other has one; the head, as it was asked for, must still be as it was seen. */
  async #retake(server: SharedServer, head: Head, asked: Moment): Promise<void> {
    const isOwn = head.holder === this.#right.holder
    if (!isOwn && head.epoch >= this.#right.epoch) throw fencedFault(this.path, this.#right, head)
    if (isOwn && head.epoch > this.#right.epoch) {
      // It was taken, and the answer was lost.
      this.#right = { epoch: head.epoch, holder: head.holder }
      return
    }
    const mayMiss = head.mayMissRecords === true && !this.#isDoubted
    const isReplaced = mayMiss || !isSameRight(head, this.#right)
    if (isReplaced && this.#confirmation.mayBeTaken(asked))
      throw replacedFault(this.path, this.#right, this.#confirmation.ageMs(asked))
    const right = { epoch: this.#right.epoch + 1, holder: this.#right.holder }
    const takenAt = momentOf(this.#parts.clock)
    if (!(await server.take(head, right))) return
    this.#right = right
    this.#confirmation.note(takenAt)
  }

  #planBeat(): void {
    const { later, times } = this.#parts
    this.#cancelBeat = later(times.beatMs, () => {
      this.#renew()
        .catch((error: unknown) => {
          // Nobody answered: the right goes stale by itself.
          if (mayPass(error) || this.#fault !== undefined) return
          if (!(error instanceof JournalFaultError)) throw error
          this.#fail(error)
        })
        .finally(() => {
          if (this.#fault !== undefined || this.#isClosed) return
          this.#beats += 1
          if (this.#beats % BEATS_PER_LOOK === 0) this.#look()
          this.#planBeat()
        })
    })
  }

  /** Reads the standbys, for people. No answer is none: whatever keeps the server from answering is found by what needs it. */
  #look(): void {
    const { reader } = this.#parts.connections
    reader.replication?.().then(
      (replication) => {
        this.#replication = replication
      },
      () => {
        this.#replication = undefined
      },
    )
  }

  server(): JournalServer {
    const { epoch, holder } = this.#right
    const [sinceMs, replication] = [this.#sinceMs, this.#replication]
    return { isHeld: true, epoch, holder: nameOfHolder(holder), ...defined({ sinceMs, replication }) }
  }

  #fail(fault: JournalFaultError): void {
    this.#fault ??= fault
    if (!this.#isClosed) this.#end(this.#fault)
  }

  // --- what is written ----------------------------------------------------------------------------------------------

  append(entries: readonly StoreEntry[]): Promise<number> {
    return this.#inTurn(() =>
      this.#guarded(async () => {
        const records = this.#known.chained(entries)
        const end = records.at(-1)
        if (end === undefined) return this.#known.tail.seq
        await this.#settled(end, (server) => server.append(this.#right, this.#known.tail, records))
        this.#known.add(records)
        this.#isDoubted = false
        this.#parts.mark?.write(end)
        return end.seq
      }),
    )
  }

  keep(snapshot: LedgerSnapshot): Promise<void> {
    return this.#inTurn(() =>
      this.#guarded(async () => {
        const { seq, hash } = this.#known.tail
        if (snapshot.seq !== seq)
          throw new TypeError(`a snapshot at record ${snapshot.seq}; the newest is ${seq}`)
        const sums = {
          head: checksum(hash, 0, seq, snapshot.head),
          part: checksum(hash, snapshot.fromSeq, seq, snapshot.part),
        }
        await this.#settled(undefined, (server) => server.keep(this.#right, this.#known.tail, snapshot, sums))
      }),
    )
  }

  /**
   * Has something written, and returns once it was acknowledged. `end` is where the chain ends with it: a head there says that it was
   * committed; undefined: it may be written twice.
   */
  async #settled(end: Tail | undefined, write: (server: SharedServer) => Promise<boolean>): Promise<void> {
    const { writer } = this.#parts.connections
    await this.#parts.steady(async () => {
      for (let round = 0; round < MOST_ROUNDS; round += 1) {
        const asked = momentOf(this.#parts.clock)
        if (this.#confirmation.mayBeTaken(asked)) {
          await this.#retake(writer, await writer.confirm(this.#right), asked)
          continue
        }
        if (await write(writer)) {
          // A snapshot moves no beat, so that a candidate sees nothing of it.
          if (end !== undefined) this.#confirmation.note(asked)
          return
        }
        if ((await this.#decide(writer, end, asked)) === 'committed') return
      }
      throw new OutcomeUnknown('The head of the journal does not come to rest.', {
        code: 'JOURNAL_UNSETTLED',
      })
    })
  }

  /** Says why nothing was moved, and puts right what can be. */
  async #decide(server: SharedServer, end: Tail | undefined, asked: Moment): Promise<'committed' | 'again'> {
    const right = this.#right
    const head = await server.confirm(right)
    if (!isSameRight(head, right)) {
      // The taking itself was lost, or a newer one has it.
      await this.#retake(server, head, asked)
      return 'again'
    }
    if (isSamePlace(head, this.#known.tail)) return 'again'
    if (end !== undefined && isSamePlace(head, end)) return 'committed'
    await this.#heal(server, head)
    return 'again'
  }

  /** Puts back what a server lost, where all of it is known here. */
  async #heal(server: SharedServer, head: Head): Promise<void> {
    const missing = this.#known.missingAfter(head)
    if (missing === undefined) throw goneFault(this.path, this.#known.tail, head)
    await server.append(this.#right, head, missing)
  }

  async maintain(): Promise<void> {
    this.#refuse()
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#turn.then(work)
    this.#turn = next.catch(() => undefined)
    return next
  }

  /** Whatever is no proof ends the writer. */
  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    this.#refuse()
    try {
      return await work()
    } catch (error) {
      if (error instanceof JournalFaultError) this.#fail(error)
      throw error
    }
  }

  #refuse(): void {
    if (this.#fault !== undefined) throw this.#fault
    if (this.#isClosed) throw closedFault(this.path)
  }

  // --- reads ----------------------------------------------------------------------------------------------------------

  read(afterSeq: number): AsyncIterable<readonly KeptRecord[]> {
    return this.#parts.reads.read(afterSeq)
  }

  snapshot(): Promise<KeptSnapshot | undefined> {
    return this.#parts.reads.snapshot()
  }

  records(intentId: string): Promise<readonly StoredRecord[]> {
    return this.#parts.reads.records(intentId)
  }

  intent(intentId: string): Promise<IntentState | undefined> {
    return this.#parts.reads.intent(intentId)
  }

  intents(query?: IntentQuery): Promise<readonly IntentState[]> {
    return this.#parts.reads.intents(query)
  }

  endingsSince(sinceMs: number): Promise<readonly Ending[]> {
    return this.#parts.reads.endingsSince(sinceMs)
  }

  /** Rows of all machines and lines of this one. A line is durable here; its row comes with the record that arms it, in one statement. */
  async openGuardTable(): Promise<GuardTable> {
    const { connections, steady, clock, openLocalGuard } = this.#parts
    const since = Math.floor(clock.now() / 1000) - SIGNED_SECONDS
    const rows = await steady(() => connections.reader.signed(since))
    const local = openLocalGuard?.()
    const lines = local?.entries ?? []
    const known = new Set(lines.map(({ digest }) => digest))
    return {
      path: local?.path ?? this.path,
      entries: [...rows.filter(({ digest }) => !known.has(digest)), ...lines],
      append: async (entry, kept) => {
        this.#known.claimed(entry)
        await local?.append(entry, kept)
      },
      close: () => local?.close(),
    }
  }

  isShort(): boolean {
    return false
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cancelBeat()
    const { connections, mark, release } = this.#parts
    const { writer, beats, reader } = connections
    await this.#turn
    try {
      // Once: a right that is not given back is taken seconds later.
      if (this.#fault === undefined) await writer.release(this.#right)
    } catch (error) {
      if (!mayPass(error)) throw error
    } finally {
      await Promise.all([writer.close(), beats.close(), reader.close()])
      mark?.close()
      release()
    }
  }
}

/** Tells whether a head has this right. */
export function isSameRight(head: Right, right: Right): boolean {
  return head.epoch === right.epoch && head.holder === right.holder
}
