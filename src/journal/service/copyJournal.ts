/**
 * Moves a journal between a file and a database: the same texts in the same order, so that both have one chain of hashes. What was begun is resumed. The
 * lock of this machine is held meanwhile, and in a database the right to write: no daemon trades.
 */
import { existsSync, renameSync, rmSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { defined } from '../../base/defined.ts'
import type { SignEntry } from '../../domain/guardTable.ts'
import { type AnyRecord, encodeRecord } from '../../domain/records.ts'
import { ballastOf } from '../ballast.ts'
import { openGuardFile } from '../guardFile.ts'
import { journalFault } from '../journalFaults.ts'
import { createLedger } from '../journalLedger.ts'
import { syncDirectory } from '../journalPath.ts'
import type { JournalStore, StoreEntry } from '../journalStore.ts'
import type { PostgresJournal } from '../postgres/postgresPlace.ts'
import { hashOf, type Tail } from '../sqlite/hashChain.ts'
import { highWaterMarkPathOf } from '../sqlite/highWaterMark.ts'
import { openForReading } from '../sqlite/journalReader.ts'
import { type OpenedStore, openSqliteStore } from '../sqlite/openSqlite.ts'
import { genesis } from '../sqlite/recordReplay.ts'
import { replay } from '../sqlite/replay.ts'
import type { JournalOptions } from './open.ts'

/** Records that are written in one commit. */
const PAGE = 1_000

/** The result of a copy. */
export interface CopiedJournal {
  /** Records that both have now, by one chain of hashes. */
  readonly records: number
  /** Records that this run wrote; fewer where an earlier run was cut off. */
  readonly written: number
}

/** Options of a copy: those of the journal, with the database. */
export type CopyOptions = JournalOptions & Required<{ readonly postgres?: PostgresJournal }>

/** Hears how many records are read, of how many. */
type Progress = (done: number, total: number) => void

/**
 * Copies the file's records into the database, with what the guard's file beside it says of each signature; both files stay as they are.
 *
 * @throws JournalFaultError JOURNAL_MISSING, JOURNAL_LOCKED while a daemon has either, JOURNAL_COPY_DIFFERS where the database has other records or other
 * lines of the guard, and as reading and opening do.
 */
export async function copyToDatabase(options: CopyOptions, progress: Progress): Promise<CopiedJournal> {
  const { path } = options
  const { openPostgresStore, readSignedRows } = await import('../postgres/openPostgres.ts')
  const db = openForReading(path)
  // The mark of this machine is ahead of a database that is not filled yet.
  const headPath = `${path}.copying.head`
  try {
    const target = await openPostgresStore({ ...options, headPath })
    try {
      const lines = await linesOf(target.store)
      const copied = await copyRecords(pagesOf(db, path), lastOf(db), target, progress, lines)
      refuseOtherLines(target.store.path, await readSignedRows(options.postgres), lines)
      return copied
    } finally {
      await target.store.close()
    }
  } finally {
    db.close()
    rmSync(headPath, { force: true })
  }
}

/**
 * Copies the database's records into a new file, which takes its place when it is whole. Lines of the guard that other machines wrote come with them. The
 * database stays as it is.
 *
 * @throws JournalFaultError JOURNAL_EXISTS where a file is in the way, JOURNAL_LOCKED while a daemon has the database, and as reading and opening do.
 */
export async function copyToFile(options: CopyOptions, progress: Progress): Promise<CopiedJournal> {
  const { path, maxBytes, clockNow, holder } = options
  if (existsSync(path)) throw inTheWay(path)
  const { openPostgresStore } = await import('../postgres/openPostgres.ts')
  const source = await openPostgresStore(options)
  const copying = `${path}.copying`
  try {
    const target = openSqliteStore({ path: copying, clockNow, holder, ...defined({ maxBytes }) }, {})
    let copied: CopiedJournal
    try {
      copied = await copyRecords(source.store.read(0), source.tail, target, progress)
      await takeSignatures(source.store, path)
    } finally {
      await target.store.close()
    }
    renameSync(copying, path)
    syncDirectory(path)
    for (const left of [highWaterMarkPathOf(copying), ballastOf(copying), `${copying}.lock`])
      rmSync(left, { force: true })
    return copied
  } finally {
    await source.store.close()
  }
}

/** Appends what the target lacks, and holds each record against the one chain of both. */
async function copyRecords(
  pages: AsyncIterable<readonly { readonly record: AnyRecord }[]>,
  end: Tail,
  { store, ledger, tail }: OpenedStore,
  progress: Progress,
  lines: GuardLines = new Map(),
): Promise<CopiedJournal> {
  let { seq, hash } = genesis
  let written = 0
  for await (const page of pages) {
    const entries: StoreEntry[] = []
    for (const { record } of page) {
      const body = encodeRecord(record)
      seq += 1
      hash = hashOf(hash, seq, body)
      if (seq === tail.seq && hash !== tail.hash) throw differs(store.path, seq)
      if (seq <= tail.seq) continue
      const digest = record.kind === 'attempt.armed' ? record.armed.digest.toLowerCase() : ''
      entries.push({ record, body, ...defined({ state: ledger.fold(record), signed: lines.get(digest) }) })
    }
    if (entries.length > 0) await store.append(entries)
    written += entries.length
    progress(seq, end.seq)
  }
  if (seq < tail.seq || hash !== end.hash) throw differs(store.path, Math.min(seq, tail.seq))
  for await (const page of store.read(0)) progress(page.at(-1)?.seq ?? 0, end.seq)
  if (written > 0) await store.keep(ledger.snapshot())
  return { records: seq, written }
}

/** The records of a file in pages, each held against its hash. */
async function* pagesOf(
  db: DatabaseSync,
  path: string,
): AsyncIterable<readonly { readonly record: AnyRecord }[]> {
  const ledger = createLedger()
  let from = genesis
  for (;;) {
    const page: { readonly record: AnyRecord }[] = []
    from = replay(db, path, from, ledger, {
      upTo: from.seq + PAGE,
      listen: (_seq, record) => void page.push({ record }),
    })
    if (page.length === 0) return
    yield page
  }
}

function lastOf(db: DatabaseSync): Tail {
  const row = db.prepare('SELECT seq, hash FROM record ORDER BY seq DESC LIMIT 1').get()
  return row === undefined ? genesis : { seq: Number(row.seq), hash: String(row.hash) }
}

/** Writes the guard's lines of other machines into this machine's file, so that nothing that they signed is signed again. */
async function takeSignatures(source: JournalStore, path: string): Promise<void> {
  const lines = await linesOf(source)
  const entries = [...lines.values()]
  const file = openGuardFile({ path: `${path}.signed` })
  try {
    const known = new Set(file.entries.map(({ digest }) => digest))
    for (const entry of entries) if (!known.has(entry.digest)) await file.append(entry, () => entries)
  } finally {
    file.close()
  }
  const written = openGuardFile({ path: `${path}.signed` })
  written.close()
  refuseOtherLines(path, written.entries, lines)
}

/** Lines of the guard by digest. */
type GuardLines = ReadonlyMap<string, SignEntry>

/** The lines that a store knows: those of this machine's file, and those of a database. */
async function linesOf(store: JournalStore): Promise<GuardLines> {
  const table = await store.openGuardTable()
  table.close()
  return new Map(table.entries.map((entry) => [entry.digest, entry]))
}

/** Refuses a copy whose lines of the guard say something else: the exposure that a key signed is summed from them. A line without its record is in no database. */
function refuseOtherLines(name: string, copied: readonly SignEntry[], lines: GuardLines): void {
  for (const { digest, addsUsd, deadlineSeconds, atSeconds } of copied) {
    const line = lines.get(digest)
    if (line === undefined) continue
    if (line.addsUsd === addsUsd && line.deadlineSeconds === deadlineSeconds && line.atSeconds === atSeconds)
      continue
    throw journalFault(
      'JOURNAL_COPY_DIFFERS',
      name,
      'A line of the signing guard there differs from the one that is to be copied.',
      'The records are copied; the exposure that was signed would be counted wrongly. Remove the rows of this account from that database, or the file of the copy, and copy again.',
      { facts: { digest } },
    )
  }
}

function differs(name: string, seq: number): Error {
  return journalFault(
    'JOURNAL_COPY_DIFFERS',
    name,
    'The journal there has other records than the one that is to be copied.',
    'Nothing of it was changed. Two journals of one account have one past: find out which of them the last daemon wrote.',
    { facts: { seq } },
  )
}

function inTheWay(path: string): Error {
  return journalFault(
    'JOURNAL_EXISTS',
    path,
    'There is a journal at this place already.',
    'Nothing was changed. Move the file away first, with the files whose names begin with its name and end in -wal or -shm; the high-water mark stays.',
  )
}
