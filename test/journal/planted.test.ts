/** What somebody planted beside or in the files that perpd writes. */
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { writeWhole as writeApproval } from '../../src/daemon/signers/subaccountFile.ts'
import { openSqliteReader } from '../../src/journal/sqlite/journalReader.ts'
import { createSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { createVenue } from '../../src/paper/server/venue.ts'
import { writeWhole } from '../../src/paper/venue/wholeFile.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { manualClock } from '../paper/support.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-planted-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const open = () =>
  createSqliteJournal({ path: join(folder, 'journal.db'), holder: 'test', clockNow: () => 1_800_000_000_000 })

/** What a journal that was stopped is changed by, with sqlite's own means. */
const plants: readonly (readonly [name: string, sql: string])[] = [
  [
    'a trigger that drops armed attempts',
    'CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM digest; END',
  ],
  ['a trigger on the lease', 'CREATE TRIGGER t AFTER UPDATE ON lease BEGIN DELETE FROM record; END'],
  [
    'a trigger that ignores inserts',
    'CREATE TRIGGER t BEFORE INSERT ON record BEGIN SELECT RAISE(IGNORE); END',
  ],
  ['a view', 'CREATE VIEW other AS SELECT * FROM record'],
  ['a table', 'CREATE TABLE other (a TEXT) STRICT'],
  ['an index', 'CREATE INDEX other ON record (at_ms)'],
]

test.each(plants)(
  'a journal with %s is refused, by a daemon and by a reader, before anything is written',
  async (_name, sql) => {
    await open().close()
    const path = join(folder, 'journal.db')
    const db = new DatabaseSync(path)
    db.exec(sql)
    db.close()
    expect(open).toThrow(expect.objectContaining({ code: 'JOURNAL_CORRUPT' }))
    expect(() => openSqliteReader(path)).toThrow(expect.objectContaining({ code: 'JOURNAL_CORRUPT' }))
  },
)

test('the honest side: a journal opens again and again, also after sqlite gathered statistics', async () => {
  await open().close()
  const db = new DatabaseSync(join(folder, 'journal.db'))
  db.exec('ANALYZE')
  db.close()
  await open().close()
  await openSqliteReader(join(folder, 'journal.db')).close()
})

test.each([
  ['the approval', writeApproval],
  ["the paper venue's files", writeWhole],
] as const)('a link that lies where a file of %s is prepared is never written through', (_name, write) => {
  const [path, victim] = [join(folder, 'file.json'), join(folder, 'victim')]
  writeFileSync(victim, 'precious')
  symlinkSync(victim, `${path}.new`)
  write(path, 'new')
  expect(readFileSync(victim, 'utf8')).toBe('precious')
  expect(readFileSync(path, 'utf8')).toBe('new')
  expect(existsSync(`${path}.new`)).toBe(false)
  // A leftover of a kill is no obstacle.
  writeFileSync(`${path}.new`, 'half')
  write(path, 'newer')
  expect(readFileSync(path, 'utf8')).toBe('newer')
})

test('a link in the place of the name of the holder, or of the books of a paper world, is never written through', async () => {
  const victim = join(folder, 'victim')
  writeFileSync(victim, 'precious')
  symlinkSync(victim, join(folder, 'journal.db.owner.json'))
  const journal = open()
  expect(readFileSync(join(folder, 'journal.db.owner.json'), 'utf8')).toContain('holder')
  await journal.close()
  const stateFile = join(folder, 'venue.json')
  symlinkSync(victim, `${stateFile}.hours.new`)
  symlinkSync(victim, `${stateFile}.new`)
  createVenue({ clock: manualClock(), chain: arbitrum, seed: 7, stateFile }).save()
  expect(readFileSync(victim, 'utf8')).toBe('precious')
})
