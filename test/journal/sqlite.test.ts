import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { createSqliteJournal } from '../../src/journal/sqlite/sqlite.ts'
import { journalConformance } from './conformance.ts'

const directory = mkdtempSync(join(tmpdir(), 'perpd-journal-'))
afterAll(() => rmSync(directory, { recursive: true }))

let journals = 0
journalConformance('sqlite', () => {
  journals += 1
  const path = join(directory, `${journals}.db`)
  return createSqliteJournal({ path, clockNow: () => 1_800_000_000_000, holder: 'test' })
})
