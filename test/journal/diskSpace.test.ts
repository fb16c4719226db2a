/** The last part of the journal's room is kept: what must be written still can be when what can wait no longer may. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ACCOUNT_ID } from '../../src/domain/accountRecords/accountRecord.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { askedSeldom, createSpaceCheck } from '../../src/journal/sqlite/diskSpace.ts'
import { createSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-room-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const stamp = { v: RECORD_VERSION, atMs: 1_800_000_000_000, intentId: ACCOUNT_ID } as const

test('a journal is short before it is full, by an eighth of its size, and takes what must be written until then', async () => {
  const path = join(folder, 'journal.db')
  const journal = createSqliteJournal({
    path,
    holder: 'test',
    clockNow: () => stamp.atMs,
    maxBytes: 4 * 1024 * 1024,
  })
  const write = (detail: string) =>
    journal.appendAccount({
      ...stamp,
      kind: 'operator.command',
      command: 'note',
      detail,
      by: 'test',
      via: 'cli',
    })
  let before = 0
  while (!journal.isShort()) {
    await write('x'.repeat(4_000))
    before += 1
    expect(before).toBeLessThan(2_000)
  }
  expect(before).toBeGreaterThan(400)
  for (let after = 0; after < 80; after += 1) await write('y'.repeat(4_000))
  await journal.close()
})

test('a disk with less than 64 MiB left is short, one that does not say how much it has is not', async () => {
  for (const [freeBytes, isShort] of [
    [60 * 1024 * 1024, true],
    [70 * 1024 * 1024, false],
    [undefined, false],
  ] as const) {
    const path = join(folder, `disk-${freeBytes}.db`)
    const journal = createSqliteJournal({
      path,
      holder: 'test',
      clockNow: () => stamp.atMs,
      freeBytes: () => freeBytes,
    })
    expect(journal.isShort()).toBe(isShort)
    await journal.close()
  }
})

test('a disk is asked four times a second at most, whoever wants to know, and no later than that', () => {
  let nowMs = 0
  let [asked, free] = [0, 100]
  const left = askedSeldom(
    () => {
      asked += 1
      return free
    },
    () => nowMs,
  )
  const seen: (number | undefined)[] = []
  for (; nowMs < 1_000; nowMs += 10) {
    if (nowMs === 500) free = 7
    seen.push(left())
  }
  expect(asked).toBe(4)
  expect(seen.indexOf(7)).toBe(50)
})

test('the size of the file is read once until something is written', () => {
  const db = new DatabaseSync(':memory:')
  let reads = 0
  const counted = {
    prepare(sql: string) {
      const statement = db.prepare(sql)
      const get = () => {
        if (sql === 'PRAGMA page_count') reads += 1
        return statement.get()
      }
      return { get }
    },
  } as unknown as DatabaseSync
  const space = createSpaceCheck(counted, 64 * 1024, () => undefined)
  expect([space.isShort(), space.isShort()]).toEqual([false, false])
  expect(reads).toBe(1)
  db.exec('CREATE TABLE filler (text TEXT)')
  db.prepare('INSERT INTO filler VALUES (?)').run('x'.repeat(100_000))
  space.wrote()
  expect([space.isShort(), space.isShort()]).toEqual([true, true])
  expect(reads).toBe(2)
  db.close()
})
