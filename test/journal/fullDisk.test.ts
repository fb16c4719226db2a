/** A disk that is full, and one that does not keep what it acknowledges: the journal ends on purpose, and nothing is tried again. */
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { BaseError } from '../../src/base/errors.ts'
import { BALLAST_BYTES, LEFT_TO_RECORDS_BYTES, WAL_RESERVED_BYTES } from '../../src/journal/ballast.ts'
import { KEPT_OF_DISK_BYTES } from '../../src/journal/freeSpace.ts'
import { verifySqliteJournal } from '../../src/journal/service/verifyJournal.ts'
import { createSqliteJournal, openSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { storyOf, wholeStory } from './story.ts'

let directory = ''
let path = ''
const options = { clockNow: () => 1_800_000_000_000, holder: 'test' }
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perpd-full-'))
  path = join(directory, 'perpd.db')
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(directory, { recursive: true })
})

/** Where records are written: in the thread that appends them, and in one of the journal's. */
const everyThread = [
  { where: 'here', inThread: false },
  { where: 'in a thread', inThread: true },
]

/** Whether this user may mount a file system of its own: root in a container that allows it. */
function mayMount(): boolean {
  const at = mkdtempSync(join(tmpdir(), 'perpd-mount-'))
  try {
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', at]).status === 0
    if (mounted) spawnSync('umount', [at])
    return mounted
  } finally {
    rmSync(at, { recursive: true })
  }
}

test.skipIf(!mayMount()).for(everyThread)(
  'a file system without space stops the journal with one clear fault, and what was acknowledged is there when there is space again ($where)',
  async ({ inThread }) => {
    const disk = join(directory, 'disk')
    mkdirSync(disk)
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]).status).toBe(0)
    try {
      const on = join(disk, 'perpd.db')
      writeFileSync(join(disk, 'ballast'), Buffer.alloc(600_000))
      const journal = createSqliteJournal({ ...options, path: on, inThread })
      let acknowledged = 0
      let fault: BaseError | undefined
      for (let n = 1; n < 1_000 && fault === undefined; n += 1) {
        for (const record of wholeStory(n)) {
          try {
            acknowledged = (await journal.append(record)).seq
          } catch (error) {
            fault = error as BaseError
            break
          }
        }
      }
      expect(fault?.code).toMatch(/^JOURNAL_(FULL|WRITE_FAILED)$/)
      expect(fault?.message).toContain('perpd stops on purpose')
      expect(fault?.message).toContain('Free space on the disk')
      const later = await journal.append(storyOf(5_000).accepted()).catch((error: unknown) => error)
      expect(later).toBe(fault)
      await journal.close()
      rmSync(join(disk, 'ballast'))
      const found = verifySqliteJournal(on)
      expect(found.problems).toEqual([])
      expect(found.records).toBe(acknowledged)
      const again = createSqliteJournal({ ...options, path: on })
      expect((await again.append(storyOf(5_000).accepted())).seq).toBe(acknowledged + 1)
      await again.close()
    } finally {
      spawnSync('umount', [disk])
    }
  },
)

function statfsOf(disk: string): number {
  const { bavail, bsize } = statfsSync(disk)
  return bavail * bsize
}

/** A disk of 96 MiB for the length of `use`, and how another user takes all that is free of it. */
async function onSmallDisk(
  use: (disk: string, fill: () => void, empty: () => void) => Promise<void>,
): Promise<void> {
  const disk = join(directory, 'disk')
  mkdirSync(disk)
  expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', disk]).status).toBe(0)
  const taken = join(disk, 'taken')
  const fill = (): void => {
    const block = Buffer.alloc(1024 * 1024)
    try {
      for (;;) appendFileSync(taken, block)
    } catch {
      // Full.
    }
    expect(statfsSync(disk).bavail).toBe(0)
  }
  try {
    await use(disk, fill, () => rmSync(taken))
  } finally {
    spawnSync('umount', [disk])
  }
}

const claim = {
  intentId: 'intent-1',
  attempt: 1,
  digest: '0x12',
  deadlineSeconds: 1_800_000_600,
  addsUsd: 0n,
  atSeconds: 1_800_000_000,
} as const

test.skipIf(!mayMount()).for(everyThread)(
  'on a disk that another user filled 100 orders are written and signed by what was reserved, while he takes what is given up; so at a restart; then it is reserved again ($where)',
  async ({ inThread }) => {
    await onSmallDisk(async (disk, fill, empty) => {
      const reserved = { ...options, path: join(disk, 'perpd.db'), isReserved: true, inThread }
      const journal = createSqliteJournal(reserved)
      const guard = await journal.openGuardTable()
      await journal.append(storyOf(1).accepted())
      let seq = 0
      for (let n = 2; n <= 100; n += 1) {
        if (n % 10 === 2) fill()
        for (const record of wholeStory(n)) seq = (await journal.append(record)).seq
        await guard.append(claim, () => [])
      }
      // The answer of a disk counts for a quarter of a second, and a quick machine needs less for all of these.
      await vi.waitFor(() => expect(journal.isShort()).toBe(true))
      // As a power cut would leave it: the rest of the WAL is what was taken for it.
      const copy = join(directory, 'copy.db')
      for (const ending of ['', '-wal', '.head'])
        copyFileSync(`${reserved.path}${ending}`, `${copy}${ending}`)
      expect(verifySqliteJournal(copy)).toMatchObject({ records: seq, problems: [] })
      guard.close()
      await journal.close()
      fill()
      const again = createSqliteJournal(reserved)
      expect((await again.append(storyOf(1).preparing())).seq).toBe(seq + 1)
      expect(statSync(`${reserved.path}.ballast`).size).toBeLessThan(BALLAST_BYTES)
      empty()
      await vi.waitFor(() => expect(again.isShort()).toBe(false))
      expect(statSync(`${reserved.path}.ballast`)).toMatchObject({ size: BALLAST_BYTES })
      expect(statSync(`${reserved.path}.ballast`).mode & 0o777).toBe(0o600)
      expect(statSync(`${reserved.path}-wal`).size).toBeGreaterThanOrEqual(WAL_RESERVED_BYTES)
      await again.close()
      expect(verifySqliteJournal(reserved.path)).toMatchObject({ records: seq + 1, problems: [] })
    })
  },
)

test.skipIf(!mayMount())(
  'a disk that has more than is kept of it and no room for the reserve is short until the reserve is whole',
  async () => {
    await onSmallDisk(async (disk, _fill, empty) => {
      const reserved = { ...options, path: join(disk, 'perpd.db'), isReserved: true }
      writeFileSync(join(disk, 'taken'), Buffer.alloc(26 * 1024 * 1024))
      const journal = createSqliteJournal({ ...reserved, freeBytes: () => statfsOf(disk) })
      expect(statfsOf(disk)).toBeGreaterThan(KEPT_OF_DISK_BYTES)
      expect(journal.isShort()).toBe(true)
      expect((await journal.append(storyOf(1).accepted())).seq).toBe(1)
      empty()
      expect(journal.isShort()).toBe(false)
      expect(statSync(`${reserved.path}.ballast`)).toMatchObject({ size: BALLAST_BYTES })
      await journal.close()
    })
  },
)

test.skipIf(!mayMount()).for(everyThread)(
  'a snapshot and a checkpoint that find no space wait, and stop nothing ($where)',
  async ({ inThread }) => {
    await onSmallDisk(async (disk, fill) => {
      const reserved = { ...options, path: join(disk, 'perpd.db'), isReserved: true, inThread }
      const journal = createSqliteJournal({
        ...reserved,
        maintenance: { snapshotEveryRecords: 1, checkpointAfterCommits: 1, later: laterAtOnce },
      })
      await journal.append(storyOf(1).accepted())
      fill()
      rmSync(`${reserved.path}.ballast`)
      fill()
      for (let n = 2; n <= 20; n += 1) await journal.append(storyOf(n).accepted())
      expect(journal.summary().records).toBe(20)
      await journal.close().catch(() => undefined)
      expect(verifySqliteJournal(reserved.path)).toMatchObject({ records: 20, problems: [] })
    })
  },
)

test.skipIf(!mayMount())(
  'a checkpoint leaves half of the ballast to records, though another user takes all that it is given; with space again the ballast is whole',
  async () => {
    await onSmallDisk(async (disk, fill, empty) => {
      const on = join(disk, 'perpd.db')
      const maintenance = { checkpointAfterCommits: 60, later: laterAtOnce }
      const journal = createSqliteJournal({ ...options, path: on, isReserved: true, maintenance })
      const { exec } = DatabaseSync.prototype
      let checkpoints = 0
      vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql: string) {
        if (sql.startsWith('PRAGMA wal_checkpoint')) {
          checkpoints += 1
          fill()
        }
        exec.call(this, sql)
      })
      for (let n = 1; n <= 60; n += 1) await journal.append(storyOf(n).accepted())
      await vi.waitFor(() => expect(checkpoints).toBeGreaterThan(1))
      await journal.append(storyOf(61).accepted())
      expect(statSync(`${on}.ballast`).size).toBe(LEFT_TO_RECORDS_BYTES)
      empty()
      await vi.waitFor(() => expect(journal.isShort()).toBe(false))
      expect(statSync(`${on}.ballast`).size).toBe(BALLAST_BYTES)
      // He takes all of it once more, and a kill's records find theirs.
      fill()
      for (let n = 62; n <= 220; n += 1) await journal.append(storyOf(n).accepted())
      await journal.close()
      expect(verifySqliteJournal(on)).toMatchObject({ records: 220, problems: [] })
    })
  },
)

test.skipIf(!mayMount())(
  'a start on a full disk keeps no snapshot, whose size nothing was reserved for; with space again it does',
  async () => {
    await onSmallDisk(async (disk, fill, empty) => {
      const on = join(disk, 'perpd.db')
      const journal = createSqliteJournal({ ...options, path: on, isReserved: true })
      await Promise.all(Array.from({ length: 1_000 }, (_, n) => journal.append(storyOf(n + 1).accepted())))
      await journal.close()
      fill()
      const due = { ...options, path: on, isReserved: true, maintenance: { snapshotEveryRecords: 1_000 } }
      const again = createSqliteJournal(due)
      expect((await again.append(storyOf(1).preparing())).seq).toBe(1_001)
      expect(again.isShort()).toBe(true)
      await again.close()
      expect(verifySqliteJournal(on)).toMatchObject({ snapshot: 'none', records: 1_001, problems: [] })
      empty()
      await createSqliteJournal(due).close()
      expect(verifySqliteJournal(on)).toMatchObject({ snapshot: 'good', records: 1_001, problems: [] })
    })
  },
)

/** Maintenance without a pause before it. */
function laterAtOnce(_ms: number, run: () => void): () => void {
  const soon = setImmediate(run)
  return () => clearImmediate(soon)
}

test.for(everyThread)(
  'a disk that says that it is full, and has room, takes nothing from the ballast ($where)',
  async ({ inThread }) => {
    const journal = createSqliteJournal({
      ...options,
      path,
      isReserved: true,
      maxBytes: 256 * 1024,
      inThread,
    })
    let fault: unknown
    for (let n = 1; n < 1_000 && fault === undefined; n += 1)
      await journal.append(storyOf(n).accepted()).catch((error: unknown) => {
        fault = error
      })
    expect(fault).toMatchObject({ code: 'JOURNAL_FULL' })
    expect(statSync(`${path}.ballast`).size).toBe(BALLAST_BYTES)
    await journal.close()
  },
)

test('a checkpoint whose index finds no space waits, and one that the disk fails ends the journal at once', async () => {
  const maintenance = { checkpointAfterCommits: 1, later: laterAtOnce }
  const journal = createSqliteJournal({ ...options, path, maintenance })
  const exec = DatabaseSync.prototype.exec
  let errcode = 4_874
  let tries = 0
  vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql: string) {
    if (!sql.startsWith('PRAGMA wal_checkpoint')) return exec.call(this, sql)
    tries += 1
    throw Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode })
  })
  await journal.append(storyOf(1).accepted())
  await vi.waitFor(() => expect(tries).toBe(1))
  await journal.append(storyOf(2).accepted())
  await vi.waitFor(() => expect(tries).toBe(2))
  // SQLITE_IOERR_WRITE, while nothing waits for an answer.
  errcode = 778
  await journal.append(storyOf(3).accepted())
  expect(await journal.failed).toMatchObject({ code: 'JOURNAL_WRITE_FAILED' })
  await expect(journal.append(storyOf(4).accepted())).rejects.toBe(await journal.failed)
  vi.restoreAllMocks()
  await journal.close()
  expect(verifySqliteJournal(path)).toMatchObject({ records: 3, problems: [] })
})

test('a journal that is full when it is opened says so too', async () => {
  const journal = createSqliteJournal({ ...options, path })
  for (let n = 1; n <= 300; n += 1) void journal.append(storyOf(n).accepted())
  await journal.append(storyOf(301).accepted())
  await journal.close()
  const full = { ...options, path, maxBytes: statSync(path).size }
  expect(() => openSqliteJournal(full, { compact: true })).toThrow('The journal is full.')
  expect(verifySqliteJournal(path)).toMatchObject({ snapshot: 'none', records: 301, problems: [] })
})

/** What sqlite throws when the fsync of a commit fails: SQLITE_IOERR_FSYNC. */
function failedFsync(): Error {
  return Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 1034 })
}

test('a failed fsync is never tried again: every waiting and later record is refused by the one fault', async () => {
  const journal = createSqliteJournal({ ...options, path })
  await journal.append(storyOf(1).accepted())
  const exec = DatabaseSync.prototype.exec
  let commits = 0
  vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql: string) {
    if (sql !== 'COMMIT') return exec.call(this, sql)
    commits += 1
    throw failedFsync()
  })
  const waiting = await Promise.allSettled([
    journal.append(storyOf(2).accepted()),
    journal.append(storyOf(1).preparing()),
  ])
  const [fault] = waiting.map((each) => (each.status === 'rejected' ? each.reason : undefined))
  expect(waiting.map((each) => each.status === 'rejected' && each.reason === fault)).toEqual([true, true])
  expect(String(fault).replaceAll(path, '<path>')).toMatchInlineSnapshot(`
    "JournalFaultError: The journal could not be written.
      path: <path>
      records: 2
      reason: disk I/O error
      perpd stops on purpose: it never trades without its journal, and never retries a failed write. Nothing is sent after this. Free space on the disk (or raise the file size or journal limit), check the disk for errors, then start perpd; it resumes every open order from the journal."
  `)
  await expect(journal.append(storyOf(3).accepted())).rejects.toBe(fault)
  expect(commits).toBe(1)
  // What is not known to be durable is not part of the state that anybody acts on.
  expect(journal.recentIntent('intent-2')).toBeUndefined()
  expect(journal.openIntents().map(({ intent }) => intent.intentId)).toEqual(['intent-1'])
  vi.restoreAllMocks()
  await journal.close()
  expect(verifySqliteJournal(path)).toMatchObject({ records: 1, problems: [] })
})

test('a mark that cannot be written ends the journal too: without it a later loss would not be noticed', async () => {
  if (!existsSync('/dev/full')) return
  const journal = createSqliteJournal({ ...options, path, headPath: '/dev/full' })
  await expect(journal.append(storyOf(1).accepted())).rejects.toMatchObject({
    code: 'JOURNAL_WRITE_FAILED',
  })
  await expect(journal.close()).rejects.toThrow()
})

test('a snapshot that finds no space when the journal is closed is a fault with its code; every record is there', async () => {
  const journal = createSqliteJournal({ ...options, path, maintenance: { snapshotEveryRecords: 1 } })
  await journal.append(storyOf(1).accepted())
  const { prepare } = DatabaseSync.prototype
  vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function (this: DatabaseSync, sql: string) {
    if (!sql.includes('INTO snapshot')) return prepare.call(this, sql)
    throw Object.assign(new Error('database or disk is full'), { errcode: 13 })
  })
  await expect(journal.close()).rejects.toMatchObject({ code: 'JOURNAL_FULL' })
  vi.restoreAllMocks()
  const { journal: again } = openSqliteJournal({ ...options, path }, {})
  expect(again.summary().records).toBe(1)
  await again.close()
})
