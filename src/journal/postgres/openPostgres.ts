/** Opening a journal in PostgreSQL: what lies on the server, and what lies on this machine beside it. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { defined } from '../../base/defined.ts'
import { systemClock } from '../../base/systemClock.ts'
import type { SignEntry } from '../../domain/guardTable.ts'
import { defaultLeaseTimes, type LeaseTimes } from '../fenced/leaseTimes.ts'
import { openSharedStore } from '../fenced/openShared.ts'
import { createSharedReader } from '../fenced/sharedReader.ts'
import type { Connections } from '../fenced/sharedStore.ts'
import { openGuardFile } from '../guardFile.ts'
import { JournalFaultError, type JournalReader } from '../journal.ts'
import { prepareFile } from '../journalPath.ts'
import { acquireWriterLock } from '../lock.ts'
import { defaultMaintenance } from '../maintenance.ts'
import type { Tail } from '../sqlite/hashChain.ts'
import {
  type HighWaterMark,
  highWaterMarkPathOf,
  openHighWaterMark,
  readHighWaterMark,
} from '../sqlite/highWaterMark.ts'
import type { OpenedStore, OpeningRules } from '../sqlite/openSqlite.ts'
import { type OwnHolders, openOwnHolders } from './ownHolders.ts'
import { createPostgresClient, type PostgresPlace } from './postgresClient.ts'
import type { ServerFacts } from './postgresDemands.ts'
import { type PostgresJournal, postgresName } from './postgresPlace.ts'
import { createPostgresServer } from './postgresServer.ts'

/** Longest time of a request, ms. */
const REQUEST_MS = 3_000

/** Between two looks of an opening that waits for a synchronous standby, ms. */
const LOOK_MS = 1_000

/** Options of opening one for writing. */
export interface PostgresOptions {
  readonly postgres: PostgresJournal
  /** Where this machine's own files lie: lock, mark and guard are named after it. */
  readonly path: string
  readonly headPath?: string
  readonly clockNow: () => number
  /** Name of the writer, for people: an account or an operator. */
  readonly holder: string
  readonly times?: LeaseTimes
  /** Given: another holder is waited for; see `openSharedStore`. */
  readonly waiting?: (fault: JournalFaultError) => void
  /** Given: ends the attempt before the right is taken; see `openSharedStore`. */
  readonly signal?: AbortSignal
  /** Told when the right is asked for, and no other holder is waited for any more: reading comes next. Another attempt may follow. */
  readonly taking?: () => void
  /** Told while records are read anew: how many are, of how many. */
  readonly progress?: (done: number, total: number) => void
}

/**
 * Opens the journal for writing and takes the right to it. One that another holds is waited for as long as its beat stands still; a holder
 * of this machine that died is not waited for. A synchronous standby that is demanded and not connected is refused first, since no commit would ever be
 * acknowledged; an opening that waits for another holder waits for it too.
 *
 * @throws JournalFaultError as `openSharedStore`, JOURNAL_STANDBY_MISSING, JOURNAL_LOCKED when another process of this machine has the same files, and of one that is compacted
 * JOURNAL_MISSING and JOURNAL_CORRUPT.
 */
export async function openPostgresStore(
  options: PostgresOptions,
  rules: OpeningRules = {},
): Promise<OpenedStore> {
  const { postgres, headPath, clockNow } = options
  if (rules.compact === true) await refuseMissing(postgres)
  await demandFollower(options)
  const path = prepareFile(options.path)
  const lock = acquireWriterLock(path, options.holder, clockNow())
  const holder = `${hostname()}/${process.pid} ${randomUUID()}`
  let holders: OwnHolders
  try {
    holders = openOwnHolders(`${path}.holder`, holder)
  } catch (error) {
    lock.release()
    throw error
  }
  const connections = tellTaking(connectionsOf(postgres), options.taking)
  const opened = await openSharedStore({
    ...{ connections, holder },
    clock: { ...systemClock, now: clockNow },
    later: defaultMaintenance.later,
    times: options.times ?? defaultLeaseTimes,
    isOwnDead: (other) => holders.isDead(other),
    openMark: (tail, hashAt) => openMark(path, highWaterMarkPathOf(path, headPath), tail, hashAt, rules),
    openLocalGuard: () => openGuardFile({ path: `${options.path}.signed` }),
    release: () => lock.release(),
    ...defined({ waiting: options.waiting, signal: options.signal }),
  })
  holders.haveRight()
  return rules.compact === true ? await compacted(opened, options) : opened
}

/** The same connections; `taking` is told of each attempt to take the right. */
function tellTaking(connections: Connections, taking: (() => void) | undefined): Connections {
  const { writer } = connections
  const told = {
    ...writer,
    take(...parties: Parameters<typeof writer.take>) {
      taking?.()
      return writer.take(...parties)
    },
  }
  return { ...connections, writer: told }
}

/** Refuses, or waits, while the standby that is demanded is not connected. A server that does not answer is left to the opening. */
async function demandFollower({ postgres, waiting, signal }: PostgresOptions): Promise<void> {
  for (;;) {
    if (!postgres.needsStandby || signal?.aborted === true) return
    try {
      await lookAtPostgres(postgres)
      return
    } catch (error) {
      if (!(error instanceof JournalFaultError) || error.code !== 'JOURNAL_STANDBY_MISSING') return
      if (waiting === undefined) throw error
      waiting(error)
      await systemClock.sleep(LOOK_MS, signal)
    }
  }
}

/** Refuses to compact what is not there: opening would make it. */
async function refuseMissing(postgres: PostgresJournal): Promise<void> {
  const { openPostgresView } = await import('./postgresView.ts')
  await (await openPostgresView(postgres)).close()
}

/** Reads all records anew and keeps their folds as the snapshot. The right is held meanwhile, so that no record comes behind those that are read. */
async function compacted(opened: OpenedStore, { postgres, progress }: PostgresOptions): Promise<OpenedStore> {
  try {
    const { readWholeLedger } = await import('./postgresView.ts')
    const ledger = await readWholeLedger(postgres, progress)
    const snapshot = ledger.snapshot()
    await opened.store.keep(snapshot)
    ledger.kept(snapshot)
    return { ...opened, ledger, snapshotSeq: ledger.seq, replayedFrom: 0 }
  } catch (error) {
    await opened.store.close()
    throw error
  }
}

/** Opens the journal for reading only, beside a running or a dead daemon. */
export function openPostgresReader(postgres: PostgresJournal): JournalReader {
  return createSharedReader(createPostgresServer(placeOf(postgres), postgres.account), systemClock)
}

/** Reads all lines of the guard that are in the database. Throws JournalFaultError, and OutcomeUnknown without an answer. */
export async function readSignedRows(postgres: PostgresJournal): Promise<readonly SignEntry[]> {
  const server = createPostgresServer(placeOf(postgres), postgres.account)
  try {
    return await server.signed(0)
  } finally {
    await server.close()
  }
}

/** Connects once, and gives what the server is. Throws JournalFaultError for the first demand that is not met, OutcomeUnknown without an answer. */
export async function lookAtPostgres(postgres: PostgresJournal): Promise<ServerFacts> {
  const client = createPostgresClient({ ...placeOf(postgres), needsFollower: true })
  try {
    return await client.facts()
  } finally {
    await client.close()
  }
}

function placeOf(postgres: PostgresJournal): PostgresPlace {
  const { url, needsStandby, requestMs = REQUEST_MS } = postgres
  return { url, name: postgresName(postgres), needsStandby, requestMs, seen: { timeline: 0 } }
}

/** Three connections: no beat waits for an append, and no append for a long read. */
function connectionsOf(postgres: PostgresJournal): Connections {
  const place = placeOf(postgres)
  const connection = () => createPostgresServer(place, postgres.account)
  return { writer: connection(), beats: connection(), reader: connection() }
}

async function openMark(
  path: string,
  headPath: string,
  tail: Tail,
  hashAt: (seq: number) => Promise<string | undefined>,
  { acceptLoss = false }: OpeningRules,
): Promise<HighWaterMark> {
  const mark = readHighWaterMark(headPath)
  const hash = mark === undefined ? undefined : await hashAt(mark.seq)
  return openHighWaterMark(path, headPath, tail, (seq) => (seq === mark?.seq ? hash : undefined), acceptLoss)
}
