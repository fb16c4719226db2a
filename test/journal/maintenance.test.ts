/** Snapshots and checkpoints come when they are due, and in a pause. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { defaultMaintenance } from '../../src/journal/maintenance.ts'
import { openSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { storyOf } from './story.ts'

let directory = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perpd-upkeep-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

test('a checkpoint waits for a pause after enough commits, keeps a snapshot that is due, and waits no longer when it is late', async () => {
  const path = join(directory, 'perpd.db')
  const asked: { readonly ms: number; readonly run: () => void; isCancelled: boolean }[] = []
  const upkeep = {
    ...defaultMaintenance,
    snapshotEveryRecords: 4,
    checkpointAfterCommits: 3,
    checkpointAtLatestCommits: 5,
    later: (ms: number, run: () => void) => {
      const entry = { ms, run, isCancelled: false }
      asked.push(entry)
      return () => {
        entry.isCancelled = true
      }
    },
  }
  const options = { path, clockNow: () => 1_800_000_000_000, holder: 'test', maintenance: upkeep }
  const { journal } = openSqliteJournal(options, {})
  for (let n = 1; n <= 5; n += 1) await journal.append(storyOf(n).accepted())
  expect(asked.map(({ ms, isCancelled }) => ({ ms, isCancelled }))).toEqual([
    { ms: 50, isCancelled: true },
    { ms: 50, isCancelled: true },
    { ms: 0, isCancelled: false },
  ])
  asked[2]?.run()
  const db = new DatabaseSync(path, { readOnly: true })
  expect(db.prepare('SELECT seq FROM snapshot').get()).toEqual({ seq: 5 })
  db.close()
  await journal.append(storyOf(6).accepted())
  expect(asked).toHaveLength(3)
  await journal.close()
  const { journal: again, replayedFrom } = openSqliteJournal(options, {})
  expect(replayedFrom).toBe(5)
  await again.close()
})

test.for([
  { where: 'here', inThread: false },
  { where: 'in a thread', inThread: true },
])('what is late is done between two commits where no pause ever comes ($where)', async ({ inThread }) => {
  const path = join(directory, 'perpd.db')
  const maintenance = { checkpointAfterCommits: 2, checkpointAtLatestCommits: 4, later: () => () => {} }
  const options = { path, clockNow: () => 1_800_000_000_000, holder: 'test', maintenance, inThread }
  const { journal } = openSqliteJournal(options, {})
  const emptyBytes = statSync(path).size
  for (let n = 1; n <= 4; n += 1) await journal.append(storyOf(n).accepted())
  expect(statSync(path).size).toBe(emptyBytes)
  // Handed in at once: the next begins as the one before it ends.
  await Promise.all([5, 6].map((n) => journal.append(storyOf(n).accepted())))
  expect(statSync(path).size).toBeGreaterThan(emptyBytes)
  expect(journal.summary().records).toBe(6)
  await journal.close()
})
