/** Opens a journal on a server for writing: this machine's lock, the lease, the records and the high-water mark, in this order. */
import type { Clock } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import type { GuardTable } from '../../domain/guardTable.ts'
import { JournalFaultError } from '../journal.ts'
import { corruptFault } from '../journalFaults.ts'
import { defaultMaintenance } from '../maintenance.ts'
import { recoverLedger } from '../recoverLedger.ts'
import type { Tail } from '../sqlite/hashChain.ts'
import type { HighWaterMark } from '../sqlite/highWaterMark.ts'
import type { OpenedStore } from '../sqlite/openSqlite.ts'
import { Confirmation, type Moment, momentOf } from './confirmation.ts'
import { isSamePlace } from './knownRecords.ts'
import type { LeaseTimes } from './leaseTimes.ts'
import { createReadAhead, type ReadAhead } from './readAhead.ts'
import { goneFault, heldFault, unreachableFault } from './sharedFaults.ts'
import { SharedReads } from './sharedReads.ts'
import type { Head, Right, SharedServer } from './sharedServer.ts'
import { type Connections, createSharedStore, isSameRight } from './sharedStore.ts'
import { createSteady, mayPass } from './steady.ts'

/** Time in which perpd settles the unknown outcome of a statement, ms; then it stops. */
const SETTLE_MS = 30_000

/** Parts that opening needs. */
export interface SharedOptions {
  readonly connections: Connections
  readonly clock: Clock
  readonly later: (ms: number, run: () => void) => () => void
  readonly times: LeaseTimes
  /** Name of this opening: `HOST/PID UUID`, never used before. */
  readonly holder: string
  /** Tells whether a holder is an earlier process of this machine; it is dead, because its lock is free. */
  readonly isOwnDead?: (holder: string) => boolean
  /** Opens this machine's high-water mark and compares it with the chain of records. Throws JournalFaultError JOURNAL_ROLLED_BACK. */
  readonly openMark?: (
    tail: Tail,
    hashAt: (seq: number) => Promise<string | undefined>,
  ) => Promise<HighWaterMark>
  readonly openLocalGuard?: () => GuardTable
  /** Releases the lock of this machine. */
  readonly release: () => void
  readonly settleMs?: number
  /**
   * Present: opening waits while another live process has the lease, while the server does not answer, and while the records need a newer perpd. Each look
   * that finds such a fault reports it here. Absent: opening ends with that fault.
   */
  readonly waiting?: (fault: JournalFaultError) => void
  /** Ends the attempt before it takes the lease: opening rejects with the reason of the signal. */
  readonly signal?: AbortSignal
}

/**
 * Takes the lease and reads the records.
 *
 * @throws JournalFaultError JOURNAL_LOCKED when another live process has the lease, JOURNAL_UNREACHABLE, JOURNAL_CORRUPT, JOURNAL_NEWER,
 * JOURNAL_ROLLED_BACK, and the server's refusals.
 */
export async function openSharedStore(options: SharedOptions): Promise<OpenedStore> {
  const { connections, clock, openMark, openLocalGuard, release } = options
  const { writer, beats, reader } = connections
  const steady = createSteady(writer.name, clock, options.settleMs ?? SETTLE_MS)
  let right: Right | undefined
  let mark: HighWaterMark | undefined
  let endBeats = (): void => {}
  try {
    right = await takeRight(options)
    const held = right
    // The head that is confirmed says whether the server was replaced until now; from now on that counts by the age of the right.
    const asked = momentOf(clock)
    const head = await steady(() => writer.confirm(held))
    if (!isSameRight(head, held)) throw heldFault(writer.name, head)
    const meanwhile = beatMeanwhile(options, held, asked)
    endBeats = meanwhile.end
    const reads = new SharedReads(reader, steady)
    // The lease comes first: its earlier holder writes nothing more, so the records that are read are complete.
    const tail = { seq: head.seq, hash: head.hash }
    /** Another process may have taken the lease and written while reading took long, and a server without some records may have taken over. */
    const refuseMoved = async (): Promise<void> => {
      const now = await steady(() => writer.confirm(held))
      if (!isSameRight(now, held)) throw heldFault(writer.name, now)
      if (!isSamePlace(now, tail)) throw goneFault(writer.name, tail, now)
    }
    const { ledger, replayedFrom } = await recoverLedger(reads, clock.now()).catch(async (error: unknown) => {
      if (error instanceof JournalFaultError && error.code === 'JOURNAL_CORRUPT') await refuseMoved()
      throw error
    })
    if (ledger.seq !== tail.seq || (await reads.hashAt(tail.seq)) !== tail.hash) {
      await refuseMoved()
      throw corruptFault(writer.name, {
        seq: ledger.seq,
        reason: `the head says that the chain ends at ${head.seq}`,
      })
    }
    mark = await openMark?.(tail, (seq) => reads.hashAt(seq))
    const { mayMissRecords } = head
    const store = createSharedStore({
      ...{ connections, reads, clock, steady, tail, release, times: options.times, later: options.later },
      right: held,
      confirmed: meanwhile.confirmed(),
      ...defined({ mark, openLocalGuard, sinceMs: head.sinceMs, mayMissRecords }),
    })
    const loss = mark?.loss
    return {
      ...{ store, ledger, tail, replayedFrom, snapshotSeq: replayedFrom, maintenance: defaultMaintenance },
      ...defined({ loss, mayMissRecords }),
    }
  } catch (error) {
    mark?.close()
    if (right !== undefined) await writer.release(right).catch(() => undefined)
    await Promise.all([writer.close(), beats.close(), reader.close()])
    release()
    throw error
  } finally {
    endBeats()
  }
}

/**
 * Renews the lease while the records are read, which may take longer than a candidate waits. A renewal that comes too late confirms nothing, since another
 * may have had the lease meanwhile, on a server that lost it again: the store takes a new epoch first, and ends where the server was replaced.
 */
function beatMeanwhile(
  { connections: { beats }, clock, later, times }: SharedOptions,
  right: Right,
  asked: Moment,
): { readonly confirmed: () => Moment; readonly end: () => void } {
  const confirmation = new Confirmation(times, asked)
  let cancel = (): void => {}
  let isOver = false
  const plan = (): void => {
    cancel = later(times.beatMs, () => {
      const askedAgain = momentOf(clock)
      const again = (): void => {
        if (!isOver) plan()
      }
      const heard = (head: Head): void => {
        if (isSameRight(head, right) && confirmation.isYoung(askedAgain)) confirmation.note(askedAgain)
        again()
      }
      // The next commit, or a candidate, finds a renewal that failed.
      beats.confirm(right).then(heard, again)
    })
  }
  plan()
  return {
    confirmed: () => confirmation.last(),
    end() {
      isOver = true
      cancel()
    },
  }
}

/** Takes the lease. A standby waits until it is free, without a limit. Throws faults that waiting does not cure. */
async function takeRight(options: SharedOptions): Promise<Right> {
  const { waiting, clock, connections, signal } = options
  const { reader } = connections
  const steady = createSteady(reader.name, clock, options.settleMs ?? SETTLE_MS)
  const readAhead =
    waiting === undefined ? undefined : createReadAhead(new SharedReads(reader, steady), () => clock.now())
  for (;;) {
    try {
      signal?.throwIfAborted()
      return await tryRight(options, readAhead)
    } catch (error) {
      if (waiting === undefined || !(error instanceof JournalFaultError && passes.has(error.code)))
        throw error
      waiting(error)
      await clock.sleep(options.times.lookMs, signal)
    }
  }
}

/** Codes of the faults that a standby waits out. */
const passes: ReadonlySet<string> = new Set(['JOURNAL_LOCKED', 'JOURNAL_UNREACHABLE', 'JOURNAL_NEWER'])

async function tryRight(options: SharedOptions, readAhead: ReadAhead | undefined): Promise<Right> {
  const { clock, holder, isOwnDead, connections } = options
  const { writer } = connections
  const settleMs = options.settleMs ?? SETTLE_MS
  const steady = createSteady(writer.name, clock, settleMs)
  const beganMs = clock.monotonicMs()
  let head = await steady(() => writer.prepare())
  await readAhead?.(head)
  if (head.holder !== '' && isOwnDead?.(head.holder) !== true) head = await stoodStill(options, head)
  for (;;) {
    await readAhead?.(head)
    options.signal?.throwIfAborted()
    const right = { epoch: head.epoch + 1, holder }
    try {
      if (await writer.take(head, right)) return right
    } catch (error) {
      if (!mayPass(error)) throw error
      if (clock.monotonicMs() - beganMs > settleMs + options.times.standStillMs)
        throw unreachableFault(writer.name, settleMs, error)
      await clock.sleep(options.times.lookMs)
    }
    const next = await steady(() => writer.head())
    // Only the answer was lost: the lease was taken.
    if (next.holder === holder) return { epoch: next.epoch, holder }
    if (next.holder !== head.holder && next.holder !== '') throw heldFault(writer.name, next)
    if (next.beat !== head.beat && next.holder !== '' && isOwnDead?.(next.holder) !== true)
      throw heldFault(writer.name, next)
    head = next
  }
}

/** Waits until no renewal was seen for long enough, by this machine's monotonic clock; no other machine's clock counts. */
async function stoodStill({ clock, times, connections, signal }: SharedOptions, from: Head): Promise<Head> {
  const { writer } = connections
  const steady = createSteady(writer.name, clock, SETTLE_MS)
  let sinceMs = clock.monotonicMs()
  for (;;) {
    await clock.sleep(times.lookMs, signal)
    signal?.throwIfAborted()
    const askedMs = clock.monotonicMs()
    const head = await lookAt(writer, steady)
    if (head.holder === '') return head
    if (head.beat !== from.beat || !isSameRight(head, from)) throw heldFault(writer.name, head)
    const nowMs = clock.monotonicMs()
    // While the server answered nobody, the holder could not renew its lease either.
    if (nowMs - askedMs > times.beatMs) sinceMs = nowMs
    if (nowMs - sinceMs >= times.standStillMs) return head
  }
}

async function lookAt(server: SharedServer, steady: ReturnType<typeof createSteady>): Promise<Head> {
  return await steady(() => server.head())
}
