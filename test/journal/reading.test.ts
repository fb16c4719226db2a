/** How far the reading of a long journal is: told with figures that grow to the whole, by a start and by a compaction. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tellReading } from '../../src/daemon/logging/tellReading.ts'
import { createSqliteJournal, openSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { wholeStory } from './story.ts'

test('records that are read are told one by one, up to the newest', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-reading-'))
  try {
    const options = { path: join(folder, 'journal.db'), clockNow: () => 1_800_000_000_000, holder: 'test' }
    const journal = createSqliteJournal(options)
    for (const record of wholeStory(1)) await journal.append(record)
    const { records } = journal.summary()
    await journal.close()
    const told: (readonly [number, number])[] = []
    const progress = (done: number, total: number) => void told.push([done, total])
    const again = openSqliteJournal({ ...options, progress }, { compact: true })
    await again.journal.close()
    expect(told).toEqual(Array.from({ length: records }, (_, index) => [index + 1, records]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a start tells its reading every five seconds with what is left, and a short one nothing', () => {
  const told: unknown[] = []
  let nowMs = 0
  const reading = tellReading(
    (...note) => void told.push(note),
    () => nowMs,
  )
  // 1,024 records a second.
  for (let done = 1; done <= 4 * 1_024; done += 1) {
    nowMs = (done / 1_024) * 1_000
    reading(done, 20_480)
  }
  expect(told).toEqual([])
  for (let done = 4 * 1_024 + 1; done <= 20_480; done += 1) {
    nowMs = (done / 1_024) * 1_000
    reading(done, 20_480)
  }
  expect(told).toHaveLength(3)
  expect(told[0]).toEqual([
    'journal.reading',
    'info',
    '6,144 of 20,480 records of the journal are read, about 14 s left',
    { records: 6_144, of: 20_480, left_ms: 14_000 },
  ])
})
