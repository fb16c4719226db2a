import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { encodeRecord } from '../../src/domain/records.ts'
import { JournalFaultError } from '../../src/journal/journal.ts'
import { openJournal, openJournalReader } from '../../src/journal/service/open.ts'
import { hashOf } from '../../src/journal/sqlite/hashChain.ts'
import { openSqliteReader } from '../../src/journal/sqlite/journalReader.ts'
import { createSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { storyOf, wholeStory } from './story.ts'

const options = { clockNow: () => 1_800_000_000_000, holder: 'test' }

let directory = ''
let path = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perpd-journal-'))
  path = join(directory, 'perpd.db')
})
afterEach(() => {
  rmSync(directory, { recursive: true })
})

/** Writes a journal with this many closed intents and one that is armed, and closes it. */
async function fill(closed: number): Promise<void> {
  const journal = createSqliteJournal({ ...options, path })
  const known = journal.summary().intents
  for (let n = known + 1; n <= known + closed; n += 1) {
    await Promise.all(wholeStory(n).map((record) => journal.append(record)))
  }
  const open = storyOf(known + closed + 1)
  for (const record of [open.accepted(), open.preparing(), open.armed()]) await journal.append(record)
  await journal.close()
}

/** Changes the file as another program would. */
function tamper(sql: string): void {
  const db = new DatabaseSync(path)
  db.exec(sql)
  db.close()
}

/** The fault that opening gives, as the operator reads it, with the directory left out. */
async function faultOf(open: () => { close(): Promise<void> }): Promise<string> {
  try {
    await open().close()
  } catch (error) {
    return textOfFault(error)
  }
  return 'it opened'
}
async function faultOfAsync(opening: Promise<unknown>): Promise<string> {
  return await opening.then(() => 'it opened', textOfFault)
}
function textOfFault(error: unknown): string {
  expect(error).toBeInstanceOf(JournalFaultError)
  const { code, message } = error as JournalFaultError
  return `${code}\n${message}`.replaceAll(directory, '<dir>')
}
const writerFault = (): Promise<string> => faultOf(() => createSqliteJournal({ ...options, path }))
const readerFault = (): Promise<string> => faultOf(() => openSqliteReader(path))
const firstLine = (text: string): string => text.split('\n')[0] ?? ''

test('makes missing directories and files for this user alone', async () => {
  path = join(directory, 'state', 'deep', 'perpd.db')
  const journal = createSqliteJournal({ ...options, path })
  const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8)
  expect(modeOf(join(directory, 'state', 'deep'))).toBe('700')
  for (const suffix of ['', '-wal', '-shm', '.lock', '.owner.json', '.head']) {
    expect([suffix, modeOf(`${path}${suffix}`)]).toEqual([suffix, '600'])
  }
  await journal.close()
})

test('opens what a location names, and refuses a scheme that it does not know', async () => {
  const sqlite = await openJournal(`sqlite:${path}`, options)
  expect(sqlite.path).toBe(path)
  await sqlite.close()
  await (await openJournalReader(path)).close()
  expect((await openJournal('memory:', options)).path).toBe(':memory:')
  expect(await faultOfAsync(openJournal('postgres://db/perpd', options))).toMatchInlineSnapshot(`
    "JOURNAL_SCHEME_UNKNOWN
    The journal cannot be at such a place.
      path: postgres://db/perpd
      Nothing was opened. The journal may be a path, sqlite:<path>, or memory:."
  `)
  expect(firstLine(await faultOfAsync(openJournalReader('memory:')))).toBe('JOURNAL_SCHEME_UNKNOWN')
})

test('the epoch grows by one with every opening, and open intents are found again', async () => {
  await fill(2)
  const journal = createSqliteJournal({ ...options, path })
  expect(journal.lease.epoch).toBe(2)
  expect(journal.openIntents().map(({ intent, attempts }) => [intent.intentId, attempts[0]?.phase])).toEqual([
    ['intent-3', 'ARMED'],
  ])
  expect(journal.hasDecision('trend', 'key-1')).toBe(true)
  expect((await journal.append(storyOf(3).sent())).seq).toBe(18)
  await journal.close()
})

test('two spellings of one file share one lock', async () => {
  const journal = createSqliteJournal({ ...options, path })
  mkdirSync(join(directory, 'other'))
  path = join(directory, 'other', '..', 'perpd.db')
  expect(firstLine(await writerFault())).toBe('JOURNAL_LOCKED')
  // A refused opening in this process must not have dropped the lock that keeps other processes out.
  const other = spawnSync(process.execPath, [script('writer.ts'), path, '0'], { encoding: 'utf8' })
  expect(other.status).toBe(1)
  expect(other.stderr).toContain(`JournalFaultError: Another perpd uses this journal.`)
  expect(other.stderr).toContain(`pid: ${process.pid}\n`)
  await journal.close()
  expect(await writerFault()).toBe('it opened')
})

test('a name that a dead process left behind is not shown as the holder', async () => {
  const journal = createSqliteJournal({ ...options, path })
  const owner = JSON.parse(readFileSync(`${path}.owner.json`, 'utf8')) as { pid: number }
  expect(await writerFault()).toContain(`pid: ${process.pid}\n`)
  const dead = spawnSync(process.execPath, ['-e', '0'])
  writeFileSync(`${path}.owner.json`, JSON.stringify({ ...owner, pid: dead.pid }))
  expect(await writerFault()).toContain('pid: not known yet\n')
  writeFileSync(`${path}.owner.json`, 'torn')
  expect(await writerFault()).toContain('pid: not known yet\n')
  await journal.close()
})

test('a directory in the place of the journal is refused', async () => {
  path = directory
  expect(await writerFault()).toMatchInlineSnapshot(`
    "JOURNAL_IS_DIRECTORY
    The journal path is a directory.
      path: <dir>
      Nothing was changed. Set the journal path to a file, for example perpd.db inside that directory."
  `)
  expect(await readerFault()).toBe(await writerFault())
})

test('a path below a plain file is refused', async () => {
  writeFileSync(path, '')
  path = join(path, 'perpd.db')
  expect(await writerFault()).toMatchInlineSnapshot(`
    "JOURNAL_NOT_OPENED
    A part of the journal path that should be a directory is a file.
      path: <dir>/perpd.db/perpd.db
      reason: EEXIST: file already exists, mkdir '<dir>/perpd.db'
      Nothing was changed. Set the journal path to a file in a directory."
  `)
})

test('a missing journal is no fault of the writer but one of the reader', async () => {
  expect(await readerFault()).toMatchInlineSnapshot(`
    "JOURNAL_MISSING
    This path has no journal yet.
      path: <dir>/perpd.db
      Nothing was changed. Check the journal path; perpd creates the journal at its first start."
  `)
  expect(await writerFault()).toBe('it opened')
  expect(await readerFault()).toBe('it opened')
})

test('a file that is no sqlite file is refused and kept as it is', async () => {
  writeFileSync(path, 'these are my notes, not a journal\n'.repeat(100))
  expect(await writerFault()).toMatchInlineSnapshot(`
    "JOURNAL_NOT_SQLITE
    The journal file is not a sqlite file, or its first page is damaged.
      path: <dir>/perpd.db
      reason: file is not a database
      Nothing was changed. Set the journal path to another file, or restore this one from a backup."
  `)
  expect(await readerFault()).toBe(await writerFault())
  expect(readFileSync(path, 'utf8')).toContain('these are my notes')
})

test('a database of another program is refused and not changed', async () => {
  tamper('CREATE TABLE photos (name TEXT)')
  const before = readFileSync(path)
  expect(await writerFault()).toMatchInlineSnapshot(`
    "JOURNAL_FOREIGN
    The journal path is a database of another program.
      path: <dir>/perpd.db
      applicationId: 0
      Nothing was changed in it. Set the journal path to another file."
  `)
  expect(await readerFault()).toBe(await writerFault())
  expect(readFileSync(path).equals(before)).toBe(true)
})

test('a journal of a newer schema is refused and not changed', async () => {
  await fill(1)
  tamper('PRAGMA user_version = 99')
  expect(await writerFault()).toMatchInlineSnapshot(`
    "JOURNAL_NEWER
    The journal was written by a newer perpd.
      path: <dir>/perpd.db
      version: 99
      readable: 1
      Nothing was changed. Run the newer perpd; an older one would misread open orders."
  `)
  expect(await readerFault()).toBe(await writerFault())
})

test('a journal with a record of a newer perpd is refused', async () => {
  await fill(0)
  rewriteLast((body) => body.replace('"v":1', '"v":2'))
  expect(await writerFault()).toMatchInlineSnapshot(`
    "JOURNAL_NEWER
    The journal was written by a newer perpd.
      path: <dir>/perpd.db
      seq: 3
      reason: The journal was written by a newer perpd.
      Nothing was changed. Run the newer perpd; an older one would misread open orders."
  `)
})

test('a journal with a record that cannot be decoded is refused whole', async () => {
  await fill(0)
  rewriteLast(() => 'not json')
  expect(await writerFault()).toMatchInlineSnapshot(`
    "JOURNAL_CORRUPT
    The journal file is damaged.
      path: <dir>/perpd.db
      seq: 3
      reason: A journal record cannot be read: it is not JSON.
      perpd does not start on a journal that it cannot read completely. Keep this file, restore a backup made while perpd was stopped, and compare the open orders at the venue before you trade."
  `)
})

test('a journal whose records cannot follow one another is refused whole', async () => {
  await fill(0)
  rewriteLast(() => encodeRecord(storyOf(1).landed()))
  expect(firstLine(await writerFault())).toBe('JOURNAL_CORRUPT')
  expect(await writerFault()).toContain('contradict each other: landed cannot follow PREPARING')
})

/** Replaces the text of the newest record and makes hash and mark fit again. */
function rewriteLast(change: (body: string) => string): void {
  const db = new DatabaseSync(path)
  const row = db.prepare('SELECT seq, body FROM record ORDER BY seq DESC LIMIT 1').get()
  const previous = db.prepare('SELECT hash FROM record WHERE seq = ?').get(Number(row?.seq) - 1)
  const body = change(String(row?.body))
  const hash = hashOf(String(previous?.hash), Number(row?.seq), body)
  db.prepare('UPDATE record SET body = ?, hash = ? WHERE seq = ?').run(body, hash, Number(row?.seq))
  db.close()
  rmSync(`${path}.head`)
}

test('a changed amount, a removed record and an order that is listed as closed are found', async () => {
  await fill(1)
  copyFileSync(path, `${path}.good`)
  const restore = () => copyFileSync(`${path}.good`, path)
  tamper(`UPDATE record SET body = replace(body, '"1000000', '"9000000') WHERE seq = 1`)
  expect(await writerFault()).toMatchInlineSnapshot(`
    "JOURNAL_CORRUPT
    The journal file is damaged.
      path: <dir>/perpd.db
      seq: 1
      reason: the record does not match its hash
      perpd does not start on a journal that it cannot read completely. Keep this file, restore a backup made while perpd was stopped, and compare the open orders at the venue before you trade."
  `)
  restore()
  tamper('DELETE FROM record WHERE seq = 3')
  expect(firstLine(await writerFault())).toBe('JOURNAL_CORRUPT')
  restore()
  tamper("UPDATE intent SET open = 0 WHERE intent_id = 'intent-2'")
  expect(await writerFault()).toContain('reason: intent: intent-2 has open 0; the records say 1')
  const reader = openSqliteReader(path)
  await expect(reader.intents()).rejects.toBeInstanceOf(JournalFaultError)
  await reader.close()
  restore()
  expect(await writerFault()).toBe('it opened')
})

test('a truncated journal is refused, whatever is left', async () => {
  await fill(40)
  const size = statSync(path).size
  copyFileSync(path, `${path}.good`)
  for (const left of [1, 50, 99, 100, 4096, 5000, size - 8192, size - 4096, size - 1]) {
    copyFileSync(`${path}.good`, path)
    truncateSync(path, left)
    expect([left, firstLine(await writerFault())]).toEqual([
      left,
      expect.stringMatching(/^JOURNAL_(CORRUPT|NOT_SQLITE|ROLLED_BACK)$/),
    ])
  }
  truncateSync(path, 0)
  expect(await writerFault()).toMatchInlineSnapshot(`
    "JOURNAL_ROLLED_BACK
    The journal has lost records: it was damaged, replaced, or restored from an older backup.
      path: <dir>/perpd.db
      lastRecordWritten: 283
      lastRecordFound: 0
      perpd does not start: a signed order that is missing here may be open. Restore the newest copy. If there is none: perpd journal accept-loss --by NAME continues with the remaining records and waits until the last lost signature has expired."
  `)
})

test('one flipped byte in any page is refused with a clear fault, or changes nothing that is read', async () => {
  await fill(25)
  const good = readFileSync(path)
  const stories = await readAll()
  let refused = 0
  const flips = (good.length / 4096) * 4
  for (let flip = 0; flip < flips; flip += 1) {
    const bytes = Buffer.from(good)
    // Four places in every page, spread by a multiplier without a common divisor, the first of them in its header.
    const at = Math.floor(flip / 4) * 4096 + ((flip % 4) * 1009 + (flip % 7))
    bytes[at] = (bytes[at] ?? 0) ^ 0x11
    rmSync(`${path}-wal`, { force: true })
    rmSync(`${path}-shm`, { force: true })
    writeFileSync(path, bytes)
    try {
      expect(await readAll()).toEqual(stories)
    } catch (error) {
      if (!(error instanceof JournalFaultError)) throw new Error(`byte ${at}: ${String(error)}`)
      refused += 1
    }
  }
  expect(refused).toBeGreaterThan(flips / 4)
})

/** Everything a writer reads out of the journal. */
async function readAll(): Promise<unknown> {
  const journal = createSqliteJournal({ ...options, path })
  try {
    const intents = journal.recentIntents()
    const stories = intents.map(({ intent }) => journal.records(intent.intentId))
    return [journal.summary(), intents, await Promise.all(stories)]
  } finally {
    await journal.close()
  }
}

test('an older backup in the place of the journal is refused', async () => {
  await fill(1)
  copyFileSync(path, `${path}.backup`)
  await fill(1)
  copyFileSync(`${path}.backup`, path)
  expect(await writerFault()).toMatchInlineSnapshot(`
    "JOURNAL_ROLLED_BACK
    The journal has lost records: it was damaged, replaced, or restored from an older backup.
      path: <dir>/perpd.db
      lastRecordWritten: 20
      lastRecordFound: 10
      perpd does not start: a signed order that is missing here may be open. Restore the newest copy. If there is none: perpd journal accept-loss --by NAME continues with the remaining records and waits until the last lost signature has expired."
  `)
  rmSync(`${path}.head`)
  expect(await writerFault()).toBe('it opened')
})

test('a bit that flips in the WAL is noticed, though sqlite drops the commit without a word', async () => {
  await fill(1)
  spawnSync(process.execPath, [script('act.ts'), 'kill', path])
  const wal = readFileSync(`${path}-wal`)
  const at = wal.length - 100
  wal[at] = (wal[at] ?? 0) ^ 1
  writeFileSync(`${path}-wal`, wal)
  rmSync(`${path}-shm`)
  expect(await writerFault()).toContain('lastRecordWritten: 11\n  lastRecordFound: 10\n')
  const db = new DatabaseSync(path)
  expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
  db.close()
})

test('a journal that may not be touched by this user is refused', async () => {
  await fill(1)
  chmodSync(directory, 0o755)
  chmodSync(path, 0o000)
  chmodSync(`${path}.lock`, 0o000)
  expect(runAsNobody('writer')).toMatchInlineSnapshot(`
    "JOURNAL_NOT_PERMITTED
    This user cannot read and write the journal file.
      path: <dir>/perpd.db
      reason: EACCES: permission denied, access '<dir>/perpd.db'
      Nothing was changed. Give the file and its directory to the user that runs perpd (file mode 0600, directory 0700)."
  `)
  expect(runAsNobody('reader')).toContain('JOURNAL_NOT_PERMITTED')
})

test('a reader that may only read finds all records, after a clean stop and after a kill', async () => {
  await fill(2)
  chmodSync(path, 0o444)
  chmodSync(directory, 0o555)
  expect(runAsNobody('reader')).toBe('{"records":17,"intents":3,"openIntents":1}')
  chmodSync(directory, 0o755)
  chmodSync(path, 0o644)
  const killed = spawnSync(process.execPath, [script('act.ts'), 'kill', path], { encoding: 'utf8' })
  expect([killed.stderr, killed.signal]).toEqual(['', 'SIGKILL'])
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(0)
  for (const suffix of ['', '-wal', '-shm']) chmodSync(`${path}${suffix}`, 0o444)
  chmodSync(directory, 0o555)
  expect(runAsNobody('reader')).toBe('{"records":18,"intents":4,"openIntents":2}')
  chmodSync(directory, 0o755)
})

function script(name: string): string {
  return fileURLToPath(new URL(`./${name}`, import.meta.url))
}

/** Opens the journal in a process without the rights of root, and says what came of it. */
function runAsNobody(role: 'writer' | 'reader'): string {
  const { stdout, stderr } = spawnSync(process.execPath, [script('act.ts'), role, path], { encoding: 'utf8' })
  return (stdout + stderr).replaceAll(directory, '<dir>').trim()
}

test('a reader sees what the writer committed, while it writes and after', async () => {
  const journal = createSqliteJournal({ ...options, path })
  const reader = openSqliteReader(path)
  expect(await reader.summary()).toEqual({ records: 0, intents: 0, openIntents: 0 })
  const [first, ...rest] = wholeStory(1)
  if (first) await journal.append(first)
  expect(await reader.intents({ openOnly: true })).toEqual(journal.openIntents())
  for (const record of rest) await journal.append(record)
  expect((await reader.intent('intent-1'))?.closing?.outcome).toBe('EXECUTED')
  expect(await reader.records('intent-1')).toEqual(await journal.records('intent-1'))
  expect(await reader.intent('nobody')).toBeUndefined()
  await journal.close()
  expect(await reader.summary()).toEqual({ records: 7, intents: 1, openIntents: 0 })
  await reader.close()
  expect(await readerFault()).toBe('it opened')
})

test('a journal that reached its size limit stops with one clear fault and keeps what was acknowledged', async () => {
  const journal = createSqliteJournal({ ...options, path, maxBytes: 200_000 })
  let acknowledged = 0
  const write = async (): Promise<void> => {
    for (let n = 1; ; n += 1)
      for (const record of wholeStory(n)) acknowledged = (await journal.append(record)).seq
  }
  const fault = await write().catch((error: unknown) => error)
  expect(String(fault).replaceAll(directory, '<dir>')).toMatchInlineSnapshot(`
    "JournalFaultError: The journal is full.
      path: <dir>/perpd.db
      records: 1
      reason: database or disk is full
      perpd stops on purpose: it never trades without its journal, and never retries a failed write. Nothing is sent after this. Free space on the disk (or raise the file size or journal limit), check the disk for errors, then start perpd; it resumes every open order from the journal."
  `)
  await expect(journal.append(storyOf(999).accepted())).rejects.toBe(fault)
  expect(journal.summary().records).toBe(acknowledged)
  await journal.close()
  const again = createSqliteJournal({ ...options, path })
  expect(again.summary().records).toBe(acknowledged)
  await again.close()
})

test('records appended in one turn share one transaction', async () => {
  const journal = createSqliteJournal({ ...options, path })
  const reader = new DatabaseSync(path, { readOnly: true })
  const commits = (): unknown => reader.prepare('PRAGMA data_version').get()?.data_version
  const sizeOf = (): number => statSync(`${path}-wal`).size
  const before = sizeOf()
  const version = commits()
  const appended = [1, 2, 3, 4].map((n) => journal.append(storyOf(n).accepted()))
  expect(journal.openIntents()).toEqual([])
  expect(commits()).toBe(version)
  await appended[0]
  expect(journal.openIntents()).toHaveLength(4)
  expect(Number(commits())).toBe(Number(version) + 1)
  expect(commitFrames(path, before)).toBe(1)
  await Promise.all(appended)
  reader.close()
  await journal.close()
})

/** Counts the commit frames of a WAL from a place on (sqlite.org/fileformat2.html, 4.1): those that carry the size of the database. */
function commitFrames(journalPath: string, from: number): number {
  const wal = readFileSync(`${journalPath}-wal`)
  let frames = 0
  for (let at = Math.max(from, 32); at < wal.length; at += 24 + 4096) {
    if (wal.readUInt32BE(at + 4) !== 0) frames += 1
  }
  return frames
}

test('another program that holds the file is named as such', async () => {
  await fill(0)
  const other = new DatabaseSync(path)
  other.exec('BEGIN IMMEDIATE')
  expect(await writerFault()).toMatchInlineSnapshot(`
    "JOURNAL_BUSY
    Another program has locked the journal file.
      path: <dir>/perpd.db
      reason: database is locked
      Nothing was changed. Close other programs that have the file open (a sqlite shell, a backup), then start again."
  `)
  other.close()
  expect(await writerFault()).toBe('it opened')
})
