/** What may befall a journal's files, on real files: damage is found and named, and nothing is made up in its place. */
import {
  copyFileSync,
  existsSync,
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
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { BaseError } from '../../src/base/errors.ts'
import type { AnyRecord } from '../../src/domain/records.ts'
import { JournalFaultError } from '../../src/journal/journal.ts'
import { acceptLoss } from '../../src/journal/service/acceptLoss.ts'
import { type Verification, verifySqliteJournal } from '../../src/journal/service/verifyJournal.ts'
import { createSqliteJournal, openSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { storyOf, wholeStory } from './story.ts'

const nowMs = 1_800_000_000_000
let directory = ''
let path = ''
let options = { path: '', clockNow: () => nowMs, holder: 'test' }
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perpd-integrity-'))
  path = join(directory, 'perpd.db')
  options = { ...options, path }
})
afterEach(() => rmSync(directory, { recursive: true }))

/** Appends this many closed intents, one that is armed and one that is only accepted; leaves the WAL when not closed well. */
async function fill(closed: number): Promise<void> {
  const journal = createSqliteJournal(options)
  const known = journal.summary().intents
  for (let n = known + 1; n <= known + closed; n += 1) {
    await Promise.all(wholeStory(n).map((record) => journal.append(record)))
  }
  const [armed, accepted] = [storyOf(known + closed + 1), storyOf(known + closed + 2)]
  for (const record of [armed.accepted(), armed.preparing(), armed.armed(), accepted.accepted()])
    await journal.append(record)
  await journal.close()
}

function tamper(sql: string): void {
  const db = new DatabaseSync(path)
  db.exec(sql)
  db.close()
}

async function codeOf(open: () => { close(): Promise<void> }): Promise<string> {
  try {
    await open().close()
    return 'opened'
  } catch (error) {
    expect(error).toBeInstanceOf(JournalFaultError)
    return (error as BaseError).code
  }
}
const writer = (): Promise<string> => codeOf(() => createSqliteJournal(options))

/** A small seeded generator, so that the same places are hit each time. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

test('a whole journal verifies, and says what it holds', async () => {
  await fill(3)
  const { tail, bytes, ...found } = verifySqliteJournal(path)
  expect(found).toEqual({
    version: 1,
    records: 25,
    intents: 5,
    openIntents: 2,
    headSeq: 25,
    snapshot: 'none',
    problems: [],
  })
  expect(tail).toMatchObject({ seq: 25, hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
  expect(bytes).toBe(statSync(path).size)
})

test('two hundred bits flipped at random places of the records are each found and the record is named', async () => {
  await fill(30)
  copyFileSync(path, `${path}.good`)
  const random = randomOf(7)
  const missed: string[] = []
  for (let flip = 0; flip < 200; flip += 1) {
    copyFileSync(`${path}.good`, path)
    const db = new DatabaseSync(path)
    const seq = 1 + random(214)
    const row = db.prepare('SELECT body FROM record WHERE seq = ?').get(seq)
    const bytes = Buffer.from(String(row?.body))
    const at = random(bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random(7))
    db.prepare('UPDATE record SET body = ? WHERE seq = ?').run(bytes.toString('latin1'), seq)
    db.close()
    const found = verifySqliteJournal(path)
    const isRefused = flip % 10 > 0 || (await writer()) === 'JOURNAL_CORRUPT'
    if (found.badSeq !== seq || !isRefused) missed.push(`${seq} byte ${at}`)
  }
  expect(missed).toEqual([])
})

test('two hundred bits flipped at random places of the files are found, or change nothing that is read', async () => {
  await fill(20)
  const files = ['', '.head'].map((ending) => ({
    file: `${path}${ending}`,
    good: readFileSync(`${path}${ending}`),
  }))
  const read = (): Pick<Verification, 'records' | 'openIntents' | 'problems'> => {
    const { records, openIntents, problems } = verifySqliteJournal(path)
    return { records, openIntents, problems }
  }
  const good = read()
  const random = randomOf(11)
  let found = 0
  for (let flip = 0; flip < 200; flip += 1) {
    for (const { file, good: bytes } of files) writeFileSync(file, bytes)
    for (const ending of ['-wal', '-shm']) rmSync(`${path}${ending}`, { force: true })
    // One in ten in the mark, which is small.
    const hit = files[flip % 10 === 0 ? 1 : 0] ?? { file: '', good: Buffer.alloc(1) }
    const bytes = Buffer.from(hit.good)
    const at = random(bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8))
    writeFileSync(hit.file, bytes)
    try {
      const now = read()
      if (now.problems.length > 0) found += 1
      else expect(now, `bit of byte ${at} of ${hit.file}`).toEqual(good)
    } catch (error) {
      if (!(error instanceof JournalFaultError)) throw new Error(`byte ${at}: ${String(error)}`)
      found += 1
    }
  }
  expect(found).toBeGreaterThan(100)
})

test('a record written twice, one moved, and one taken out of the middle are found where they are', async () => {
  await fill(3)
  copyFileSync(path, `${path}.good`)
  const cases: readonly (readonly [string, number])[] = [
    [
      `INSERT INTO record SELECT 26, at_ms, intent_id, kind, attempt, body, hash FROM record WHERE seq = 25`,
      26,
    ],
    ['UPDATE record SET seq = 99 WHERE seq = 12', 12],
    ['DELETE FROM record WHERE seq = 20', 20],
    [`UPDATE record SET kind = 'landed' WHERE seq = 7`, 7],
    [`UPDATE record SET at_ms = at_ms + 1 WHERE seq = 8`, 8],
  ]
  for (const [sql, seq] of cases) {
    copyFileSync(`${path}.good`, path)
    tamper(sql)
    expect([sql, verifySqliteJournal(path).badSeq, await writer()]).toEqual([sql, seq, 'JOURNAL_CORRUPT'])
  }
})

test('every table that follows from the records is held against them', async () => {
  await fill(3)
  copyFileSync(path, `${path}.good`)
  const cases: readonly (readonly [string, string])[] = [
    ["UPDATE intent SET decision_key = 'x' WHERE number = 2", 'intent: intent-2 has decision_key x'],
    ["UPDATE intent SET reservation_usd = '1' WHERE number = 1", 'intent: intent-1 has reservation_usd 1'],
    ["UPDATE intent SET open = 1 WHERE intent_id = 'intent-1'", 'intent: intent-1 has open 1'],
    ['DELETE FROM intent WHERE number = 1', 'intent: no row for intent-1'],
    ["UPDATE ending SET cause = 'x' WHERE intent_id = 'intent-3'", 'ending: intent-3 has cause x'],
    ['DELETE FROM ending', 'ending: no row for intent-1'],
  ]
  for (const [sql, problem] of cases) {
    copyFileSync(`${path}.good`, path)
    tamper(sql)
    const { problems } = verifySqliteJournal(path)
    expect([sql, problems.join('; ')]).toEqual([sql, expect.stringContaining(problem)])
    // Endings are computed from the records, and can be again.
    const isEnding = sql.includes('ending')
    expect([sql, await writer()]).toEqual([sql, isEnding ? 'opened' : 'JOURNAL_CORRUPT'])
    if (isEnding) expect(verifySqliteJournal(path).problems).toEqual([])
  }
})

test('a torn last commit leaves the records before it, and what was acknowledged and is gone is told by the mark', async () => {
  const journal = createSqliteJournal(options)
  for (const record of wholeStory(1)) await journal.append(record)
  copyFileSync(path, `${path}.copy`)
  copyFileSync(`${path}-wal`, `${path}.wal-copy`)
  copyFileSync(`${path}.head`, `${path}.head-copy`)
  await journal.close()
  const size = statSync(`${path}.wal-copy`).size
  const left = new Set<number>()
  for (let cut = 1; cut <= 12; cut += 1) {
    copyFileSync(`${path}.copy`, path)
    copyFileSync(`${path}.head-copy`, `${path}.head`)
    copyFileSync(`${path}.wal-copy`, `${path}-wal`)
    rmSync(`${path}-shm`, { force: true })
    truncateSync(`${path}-wal`, Math.floor((size * (12 - cut)) / 12) + 17)
    let lost = -1
    try {
      await createSqliteJournal(options).close()
    } catch (error) {
      expect(error).toMatchObject({ code: expect.stringMatching(/^JOURNAL_(ROLLED_BACK|CORRUPT)$/) })
      lost = Number((error as BaseError).facts.lastRecordFound ?? 0)
    }
    left.add(lost)
  }
  expect(left.has(-1)).toBe(false)
  expect(left.size).toBeGreaterThan(2)
})

test('a write that is torn in one slot of the mark leaves the mark before it', async () => {
  await fill(1)
  const good = readFileSync(`${path}.head`)
  copyFileSync(path, `${path}.good`)
  const slots = [0, 256].map((at) => Number(good.toString('latin1', at, at + 8).split(' ')[0]))
  const newest = slots[0] === 11 ? 0 : 256
  const torn = Buffer.from(good)
  torn.fill(0, newest + 10, newest + 256)
  writeFileSync(`${path}.head`, torn)
  expect(verifySqliteJournal(path)).toMatchObject({ headSeq: 10, problems: [] })
  // The next write, which brings the mark up to the journal, goes over the torn slot, not over the one that is good.
  const journal = createSqliteJournal(options)
  expect(verifySqliteJournal(path)).toMatchObject({ headSeq: 11 })
  expect(readFileSync(`${path}.head`).subarray(256 - newest, 256 - newest + 256)).toEqual(
    good.subarray(256 - newest, 256 - newest + 256),
  )
  await journal.append(storyOf(9).accepted())
  expect(verifySqliteJournal(path)).toMatchObject({ headSeq: 12 })
  await journal.close()
})

test('a mark that a power cut left behind is brought up at the next start: a backup that is restored then is noticed', async () => {
  await fill(1)
  const old = readFileSync(`${path}.head`)
  copyFileSync(path, `${path}.backup`)
  await fill(1)
  // The power failed before the newest marks were on the disk; perpd starts, and writes nothing.
  writeFileSync(`${path}.head`, old)
  await createSqliteJournal(options).close()
  copyFileSync(`${path}.backup`, path)
  expect(await codeOf(() => createSqliteJournal(options))).toBe('JOURNAL_ROLLED_BACK')
})

test('a mark in a place of its own tells of a backup that brought its old mark along', async () => {
  const headPath = join(directory, 'elsewhere.head')
  const placed = { ...options, headPath }
  const one = createSqliteJournal(placed)
  await one.append(storyOf(1).accepted())
  await one.close()
  expect(existsSync(`${path}.head`)).toBe(false)
  copyFileSync(path, `${path}.backup`)
  const two = createSqliteJournal(placed)
  await two.append(storyOf(2).accepted())
  await two.close()
  copyFileSync(`${path}.backup`, path)
  expect(await codeOf(() => createSqliteJournal(placed))).toBe('JOURNAL_ROLLED_BACK')
  expect(verifySqliteJournal(path, headPath).problems).toEqual([
    'the high-water mark names record 2, which the journal does not have: records were lost',
  ])
})

test('a loss is accepted in a name: unsigned orders close, signed ones stay, and nothing is made before the last signature died', async () => {
  await fill(1)
  copyFileSync(path, `${path}.backup`)
  await fill(1)
  copyFileSync(`${path}.backup`, path)
  expect(await writer()).toBe('JOURNAL_ROLLED_BACK')
  const accepted = await acceptLoss(options, { by: 'Ada', nowMs, liveMs: 3_600_000 })
  expect(accepted).toEqual({
    lastWritten: 22,
    lastFound: 11,
    closed: ['intent-3'],
    quietUntilMs: nowMs + 3_600_000,
  })
  const journal = createSqliteJournal(options)
  expect(journal.account().loss).toMatchObject({ by: 'Ada', atMs: nowMs, quietUntilMs: nowMs + 3_600_000 })
  expect(journal.openIntents().map(({ intent }) => intent.intentId)).toEqual(['intent-2'])
  expect(journal.recentIntent('intent-3')?.closing).toMatchObject({
    outcome: 'EXPIRED',
    code: 'JOURNAL_LOSS_ACCEPTED',
    evidence: { level: 'operator' },
  })
  await journal.close()
  expect(verifySqliteJournal(path)).toMatchObject({ records: 13, headSeq: 13, problems: [] })
  expect(await acceptLoss(options, { by: 'Ada', nowMs, liveMs: 1 })).toBeUndefined()
  expect(verifySqliteJournal(path)).toMatchObject({ records: 13 })
})

test('a journal that is gone altogether may be begun anew only by accepting the loss', async () => {
  await fill(1)
  rmSync(path)
  expect(await writer()).toBe('JOURNAL_ROLLED_BACK')
  expect(await acceptLoss(options, { by: 'Ada', nowMs, liveMs: 1 })).toMatchObject({
    lastFound: 0,
    closed: [],
  })
  expect(await writer()).toBe('opened')
})

test('a snapshot is where a start goes on from, and a bad one is left aside for the records', async () => {
  await fill(4)
  const made = openSqliteJournal(options, { compact: true })
  const states = made.journal.openIntents()
  await made.journal.close()
  const later = createSqliteJournal(options)
  await later.append(storyOf(50).accepted())
  await later.append(storyOf(6).preparing())
  await later.close()
  expect(verifySqliteJournal(path)).toMatchObject({ snapshot: 'good', snapshotSeq: 32, problems: [] })
  const good = openSqliteJournal(options, {})
  expect(good.replayedFrom).toBe(32)
  const open = good.journal.openIntents()
  expect(open.slice(0, 1)).toEqual(states.slice(0, 1))
  expect(open.map(({ intent }) => intent.intentId)).toEqual(['intent-5', 'intent-6', 'intent-50'])
  expect(open[1]?.attempts).toHaveLength(1)
  await good.journal.close()
  for (const sql of [
    `UPDATE snapshot SET body = replace(body, 'trend', 'unexplained')`,
    'UPDATE snapshot SET seq = 31',
    `UPDATE snapshot SET hash = 'x'`,
    'UPDATE snapshot SET seq = 500',
    `UPDATE ledger_part SET body = replace(body, 'decision', 'decisiom')`,
    'DELETE FROM ledger_part',
    `UPDATE ledger_part SET hash = 'x'`,
    'UPDATE ledger_part SET from_seq = 1',
    'UPDATE ledger_part SET to_seq = 31',
    `INSERT INTO ledger_part VALUES (33, 32, 'x', '[]')`,
  ]) {
    tamper(sql)
    expect(verifySqliteJournal(path)).toMatchObject({ snapshot: 'bad', problems: [] })
    const replayed = openSqliteJournal(options, {})
    expect([sql, replayed.replayedFrom]).toEqual([sql, 0])
    expect(replayed.journal.openIntents()).toEqual(open)
    await replayed.journal.close()
    await openSqliteJournal(options, { compact: true }).journal.close()
  }
})

test('what came after a snapshot is held against hash, fold and tables like any record', async () => {
  await fill(2)
  await openSqliteJournal(options, { compact: true }).journal.close()
  await fill(1)
  copyFileSync(path, `${path}.good`)
  for (const sql of [
    `UPDATE record SET body = replace(body, '1000000', '9000000') WHERE seq = 19`,
    'DELETE FROM record WHERE seq = 21',
    "UPDATE intent SET open = 1 WHERE intent_id = 'intent-1'",
    "UPDATE intent SET open = 0 WHERE intent_id = 'intent-3'",
  ]) {
    copyFileSync(`${path}.good`, path)
    tamper(sql)
    expect([sql, await writer()]).toEqual([sql, 'JOURNAL_CORRUPT'])
  }
})

test('a busy writer keeps snapshots by itself, so that no start reads the whole history', async () => {
  const journal = createSqliteJournal(options)
  const records: AnyRecord[] = []
  for (let n = 1; n <= 1_500; n += 1) records.push(...wholeStory(n))
  await Promise.all(records.map((record) => journal.append(record as Parameters<typeof journal.append>[0])))
  await journal.close()
  const { journal: again, replayedFrom } = openSqliteJournal(options, {})
  expect(replayedFrom).toBe(10_500)
  await again.close()
  expect(verifySqliteJournal(path)).toMatchObject({ snapshotSeq: 10_500, problems: [] })
})

test('a table whose definition or page changed is told, and nothing is written into it', async () => {
  const changes = [
    "UPDATE sqlite_schema SET sql = replace(sql, 'execution_fee', 'exeCution_fee') WHERE name = 'ending'",
    "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'intent_open') WHERE name = 'ending_time'",
  ]
  await fill(20)
  copyFileSync(path, `${path}.good`)
  for (const change of changes) {
    copyFileSync(`${path}.good`, path)
    const db = new DatabaseSync(path, { defensive: false })
    db.exec('PRAGMA writable_schema = ON')
    db.exec(change)
    db.close()
    const before = readFileSync(path)
    expect(verifySqliteJournal(path).problems, change).not.toEqual([])
    expect(await codeOf(() => createSqliteJournal(options)), change).toBe('JOURNAL_CORRUPT')
    expect(readFileSync(path).equals(before), change).toBe(true)
  }
})

test('an amount of an ending that is no number any more is a damaged journal', async () => {
  await fill(20)
  await openSqliteJournal(options, { compact: true }).journal.close()
  copyFileSync(path, `${path}.good`)
  for (const column of ['execution_fee', 'relay_fee']) {
    copyFileSync(`${path}.good`, path)
    tamper(`UPDATE ending SET ${column} = 'p' WHERE intent_id = 'intent-3'`)
    expect(await codeOf(() => createSqliteJournal(options)), column).toBe('JOURNAL_CORRUPT')
  }
})
