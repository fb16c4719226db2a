import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { createJournal } from '../../src/journal/groupCommit.ts'
import { openSqliteStore } from '../../src/journal/sqlite/openSqlite.ts'
import { journalConformance, type OpenedBackend } from './conformance.ts'

const directory = mkdtempSync(join(tmpdir(), 'perpd-journal-'))
afterAll(() => rmSync(directory, { recursive: true }))

let journals = 0
for (const inThread of [false, true])
  journalConformance(inThread ? 'sqlite in a thread' : 'sqlite', () => {
    journals += 1
    return openAt(join(directory, `${journals}.db`), inThread)
  })

function openAt(path: string, inThread: boolean): OpenedBackend {
  const opened = openSqliteStore({ path, clockNow: () => 1_800_000_000_000, holder: 'test', inThread }, {})
  const soon = (commit: () => void) => {
    setImmediate(commit)
  }
  return {
    store: opened.store,
    journal: createJournal({ ...opened, soon }),
    takeOver: async () => {
      // As an operator who takes the lock for a stale one.
      rmSync(`${path}.lock`)
      return openAt(path, inThread)
    },
  }
}
