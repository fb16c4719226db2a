/** A real PostgreSQL with an archive of its log: a base backup, recovery to its end and to a time, and what perpd says of what came back. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { acceptLoss } from '../../src/journal/service/acceptLoss.ts'
import { openByRules } from '../../src/journal/service/open.ts'
import { verifyJournal } from '../../src/journal/service/verifyJournal.ts'
import { type Cluster, type Standby, startCluster } from '../support/postgres.ts'
import { storyOf, wholeStory } from './story.ts'

const nowMs = 1_800_000_000_000
let directory: string
let cluster: Cluster
let restored: Standby
let archive: string
let savedAt: string

/** The journal as one machine sees it at a server: its mark lies beside its own path. */
const placeOf = (server: Cluster, machine = 'one') => ({
  ...{ path: join(directory, `${machine}.db`), clockNow: () => nowMs, holder: machine },
  postgres: { url: new Secret(server.url()), account: 'test', needsStandby: false, signatureLivesMs: 60_000 },
})

/** Nine records before the moment that is noted, and two after it; the tenth is a signature. The backup is older than the last four. */
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'perpd-pitr-'))
  cluster = await startCluster("archive_mode=on\narchive_command='cp %p ../archive/%f'\n")
  archive = join(dirname(cluster.data), 'archive')
  mkdirSync(archive)
  chmodSync(archive, 0o777)
  const { journal } = await openByRules(placeOf(cluster), {})
  for (const record of wholeStory(1)) await journal.append(record)
  restored = await cluster.backUp('restored', ['-X', 'fetch'])
  const story = storyOf(2)
  for (const record of [story.accepted(), story.preparing()]) await journal.append(record)
  savedAt = cluster.sql('SELECT clock_timestamp()')
  for (const record of [story.armed(), story.sent()]) await journal.append(record)
  await journal.close()
  const segment = cluster.sql('SELECT pg_walfile_name(pg_current_wal_lsn())')
  cluster.sql('SELECT pg_switch_wal()')
  const archived = `SELECT coalesce(last_archived_wal >= '${segment}', false) FROM pg_stat_archiver`
  while (cluster.sql(archived) !== 't') await new Promise((resolve) => setTimeout(resolve, 50))
  cluster.stop('immediate')
}, 120_000)
afterEach(() => {
  restored.remove()
  cluster.remove()
  rmSync(directory, { recursive: true })
})

/** Recovers the backup from the archive: to its end, or to a time. */
function recover(to?: string): void {
  const target = to === undefined ? '' : `recovery_target_time='${to}'\nrecovery_target_action='promote'\n`
  restored.configure(`archive_mode=off\nrestore_command='cp ../archive/%f %p'\n${target}`)
  writeFileSync(join(restored.data, 'recovery.signal'), '')
  restored.start()
  while (restored.sql('SELECT pg_is_in_recovery()') !== 'f')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
}

test('recovery to the end of the archive brings every record back: perpd goes on, and adds nothing until a record that it cannot know of is dead', async () => {
  recover()
  expect(await verifyJournal(placeOf(restored))).toMatchObject({ records: 11, headSeq: 11, problems: [] })
  const { journal } = await openByRules(placeOf(restored), {})
  // Nobody can tell the end of the archive from the end of the records: another machine may have written more.
  expect(journal.account().loss).toEqual({ atMs: nowMs, quietUntilMs: nowMs + 60_000 })
  // It was signed: the venue says what became of it.
  expect(journal.openIntents()).toHaveLength(1)
  expect((await journal.append(storyOf(3).accepted())).seq).toBe(13)
  await journal.close()
  const again = await openByRules(placeOf(restored), {})
  expect(again.journal.summary().records).toBe(13)
  await again.journal.close()
}, 120_000)

test('recovery to a time is a loss: the mark of the machine that traded names it, and nothing trades before it is accepted by name', async () => {
  recover(savedAt)
  expect(await verifyJournal(placeOf(restored))).toMatchObject({
    ...{ records: 9, headSeq: 11 },
    problems: [expect.stringContaining('the high-water mark names record 11')],
  })
  await expect(openByRules(placeOf(restored), {})).rejects.toMatchObject({
    code: 'JOURNAL_ROLLED_BACK',
    facts: { lastRecordWritten: 11, lastRecordFound: 9 },
  })
  const quietUntilMs = nowMs + 60_000
  expect(await acceptLoss(placeOf(restored), { by: 'Ada', nowMs, liveMs: 60_000 })).toEqual({
    ...{ lastWritten: 11, lastFound: 9, quietUntilMs },
    // The signature of the tenth record may land until then: what was not signed as far as is known is closed, not signed again.
    closed: ['intent-2'],
  })
  const { journal } = await openByRules(placeOf(restored), {})
  expect([journal.summary().records, journal.openIntents().length]).toEqual([11, 0])
  await journal.close()
  expect(await verifyJournal(placeOf(restored))).toMatchObject({ records: 11, problems: [] })
}, 120_000)

test('a machine without a mark of that journal closes what a lost record may have signed, and the one that wrote it refuses as before', async () => {
  recover(savedAt)
  const { journal } = await openByRules(placeOf(restored, 'new'), {})
  // Nine, the doubt, and the end of an order whose signature is gone.
  expect(journal.summary()).toMatchObject({ records: 11, openIntents: 0 })
  expect(journal.account().loss).toEqual({ atMs: nowMs, quietUntilMs: nowMs + 60_000 })
  expect((await journal.intent('intent-2'))?.closing).toMatchObject({
    ...{ outcome: 'EXPIRED', code: 'JOURNAL_LOSS_POSSIBLE' },
    evidence: { level: 'local' },
  })
  await journal.close()
  // Its lease and its records change nothing of what the old machine knows.
  await expect(openByRules(placeOf(restored), {})).rejects.toMatchObject({ code: 'JOURNAL_ROLLED_BACK' })
}, 120_000)

test('a database that was restored on another server is one that may lack records', async () => {
  cluster.start()
  cluster.sql("UPDATE perpd_head SET history = '1/00000001'")
  const { journal } = await openByRules(placeOf(cluster, 'new'), {})
  expect(journal.account().loss).toEqual({ atMs: nowMs, quietUntilMs: nowMs + 60_000 })
  await journal.close()
  cluster.sql('UPDATE perpd_head SET history = NULL')
  const { journal: older } = await openByRules(placeOf(cluster, 'new'), {})
  // Tables of before say no history: they are taken as they are, and say it from now on.
  expect(older.summary().records).toBe(12)
  await older.close()
  expect(cluster.sql('SELECT history FROM perpd_head')).toMatch(/^\d+\/00000001$/)
}, 120_000)
