/** A journal copied between its file and a real PostgreSQL, and back. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { type CopyOptions, copyToDatabase, copyToFile } from '../../src/journal/service/copyJournal.ts'
import { openJournal } from '../../src/journal/service/open.ts'
import { verifyJournal, verifySqliteJournal } from '../../src/journal/service/verifyJournal.ts'
import { openSqliteReader } from '../../src/journal/sqlite/journalReader.ts'
import { openGuard } from '../../src/keys/signingGuard.ts'
import { type Cluster, startCluster } from '../support/postgres.ts'
import { storyOf, wholeStory } from './story.ts'

let cluster: Cluster
const directory = mkdtempSync(join(tmpdir(), 'perpd-copied-journal-'))
beforeAll(async () => {
  cluster = await startCluster()
}, 120_000)
afterAll(() => {
  cluster.remove()
  rmSync(directory, { recursive: true })
})

const nowMs = 1_800_000_000_000
const still = () => undefined

function optionsOf(name: string, schema = name): CopyOptions {
  return {
    ...{ path: join(directory, `${name}.db`), clockNow: () => nowMs, holder: 'a copy' },
    postgres: {
      url: new Secret(cluster.url(schema)),
      account: 'test',
      needsStandby: false,
      signatureLivesMs: 60_000,
    },
  }
}

/** Writes whole stories into the file, or into the database with `postgres`, as a daemon does. */
async function write(options: CopyOptions, stories: readonly number[], isDatabase = false): Promise<void> {
  const { path, postgres, ...others } = options
  const journal = await openJournal(path, isDatabase ? { ...others, postgres } : others)
  // A hundred at once, and always in the same order: a flush for each record takes minutes on a busy disk.
  for (let from = 0; from < stories.length; from += 100)
    await Promise.all(
      stories.slice(from, from + 100).map(async (n) => {
        for (const record of wholeStory(n)) await journal.append(record)
      }),
    )
  await journal.close()
}

const each = (count: number, from = 1) => Array.from({ length: count }, (_, index) => from + index)

test('a journal goes from its file into a database, on there, and back into a file, with one chain of hashes', async () => {
  const options = optionsOf('there')
  await write(options, each(300))
  const { tail: before } = verifySqliteJournal(options.path)
  // A copy that was cut off: a part of the records is there already.
  const partial = optionsOf('partial', 'there')
  await write(partial, each(100))
  expect(await copyToDatabase(partial, still)).toEqual({ records: 700, written: 700 })
  expect(await copyToDatabase(options, still)).toEqual({ records: 2_100, written: 1_400 })
  expect(await copyToDatabase(options, still)).toEqual({ records: 2_100, written: 0 })
  expect(cluster.sql('SELECT hash FROM there.perpd_record WHERE seq = 2100')).toBe(before.hash)

  await write(options, [301], true)
  await expect(copyToFile(options, still)).rejects.toMatchObject({ code: 'JOURNAL_EXISTS' })
  // The mark of this machine names the newer record: the old file is refused and cannot be traded on.
  await expect(write(options, [302])).rejects.toMatchObject({ code: 'JOURNAL_ROLLED_BACK' })
  for (const end of ['', '-wal', '-shm']) rmSync(`${options.path}${end}`, { force: true })
  expect(await copyToFile(options, still)).toEqual({ records: 2_107, written: 2_107 })
  const after = verifySqliteJournal(options.path)
  expect([after.records, after.problems]).toEqual([2_107, []])
  await write(options, [302])
  expect(readdirSync(directory).filter((name) => name.includes('copying'))).toEqual([])
})

/** Copies in a process that is killed once so many records are there. */
function copyUntilKilled(direction: 'database' | 'file', records: number, options: CopyOptions): void {
  const { url, ...postgres } = options.postgres
  const given = JSON.stringify({ ...options, postgres, url: url.reveal() })
  const script = join(import.meta.dirname, 'copyUntil.ts')
  const { signal, stderr } = spawnSync(process.execPath, [script, direction, String(records), given])
  expect([signal, String(stderr)]).toEqual(['SIGKILL', ''])
}

test('a copy that dies by SIGKILL in the middle is resumed behind the records that it copied, in both directions', {
  timeout: 240_000,
}, async () => {
  const options = optionsOf('killed')
  await write(options, each(400))
  const { tail } = verifySqliteJournal(options.path)
  copyUntilKilled('database', 1_000, options)
  expect(cluster.sql('SELECT seq FROM killed.perpd_head')).toBe('1000')
  expect(await copyToDatabase(options, still)).toEqual({ records: 2_800, written: 1_800 })
  expect(cluster.sql('SELECT hash FROM killed.perpd_head')).toBe(tail.hash)

  for (const end of ['', '-wal', '-shm']) rmSync(`${options.path}${end}`, { force: true })
  copyUntilKilled('file', 2_000, options)
  // Nobody takes the half for the whole.
  expect(existsSync(options.path)).toBe(false)
  expect(await copyToFile(options, still)).toEqual({ records: 2_800, written: 800 })
  const after = verifySqliteJournal(options.path)
  expect([after.tail, after.problems]).toEqual([tail, []])
  // Killed once more when all was copied and nothing had its name yet.
  rmSync(options.path)
  for (const end of ['-wal', '-shm']) rmSync(`${options.path}${end}`, { force: true })
  copyUntilKilled('file', 2_800, options)
  expect(await copyToFile(options, still)).toEqual({ records: 2_800, written: 0 })
})

test('records of another past are not mixed with those that are there', async () => {
  const [one, other] = [optionsOf('one', 'mixed'), optionsOf('other', 'mixed')]
  await write(one, [1, 2])
  await write(other, [3, 4, 5])
  await copyToDatabase(one, still)
  await expect(copyToDatabase(other, still)).rejects.toMatchObject({
    code: 'JOURNAL_COPY_DIFFERS',
    facts: { seq: 14 },
  })
  // A database that is ahead of the file is not its copy either.
  await write(one, [6], true)
  await expect(copyToDatabase(one, still)).rejects.toMatchObject({ code: 'JOURNAL_COPY_DIFFERS' })
})

test('signatures that another machine gave are in the file of the guard after the way back', async () => {
  const elsewhere = optionsOf('elsewhere', 'signed')
  await write(elsewhere, [1], true)
  const here = optionsOf('here', 'signed')
  await copyToFile(here, still)
  expect(existsSync(`${here.path}.signed`)).toBe(true)
  const journal = await openJournal(here.path, { clockNow: () => nowMs, holder: 'a daemon' })
  const armed = storyOf(1).armed()
  if (armed.kind !== 'attempt.armed') throw new TypeError('nothing is armed')
  const { digest } = armed.armed
  expect((await journal.openGuardTable()).entries.map((entry) => entry.digest)).toEqual([digest])
  await journal.close()
})

/** A guard over a journal, as a daemon of the cap opens it; it may sign what is above the sum of the last day. */
async function guardOf(journal: Journal, capUsd: bigint) {
  return openGuard({
    table: await journal.openGuardTable(),
    ...{ horizonSeconds: 1e6, marginSeconds: 600, now: () => nowMs },
    exposure: { capUsd, windowSeconds: 86_400 },
    neverLeft: ({ intentId, digest }) => !journal.hasArmed(intentId, digest),
  })
}

test('the amounts of the guard go with the records in both directions: each machine counts the same exposure as before', async () => {
  const options = optionsOf('amounts')
  const { path, postgres, ...others } = options
  const signedUsd = [7n, 20n, 300n]
  const journal = await openJournal(path, others)
  const table = await journal.openGuardTable()
  for (const [at, addsUsd] of signedUsd.entries()) {
    for (const record of wholeStory(at + 1)) {
      if (record.kind === 'attempt.armed') {
        const { digest, deadlineSeconds } = record.armed
        const { intentId, attempt } = record
        await table.append(
          { intentId, attempt, digest, deadlineSeconds, addsUsd, atSeconds: nowMs / 1000 - 5 },
          () => [],
        )
      }
      await journal.append(record)
    }
  }
  await journal.close()
  /** The sum that a daemon there counts: one more of the cap less it passes, and of one more does not. */
  const counts = async (at: Journal, sumUsd: bigint): Promise<void> => {
    const guard = await guardOf(at, sumUsd + 10n)
    const claim = { intentId: 'next', attempt: 1, deadlineSeconds: nowMs / 1000 + 60 }
    expect(() => guard.claim({ ...claim, addsUsd: 11n }, `0x${'ee'.repeat(32)}`)).toThrow(
      expect.objectContaining({ code: 'SIGN_EXPOSURE_CAP' }),
    )
    await guard.claim({ ...claim, addsUsd: 10n }, `0x${'ef'.repeat(32)}`)
    await at.close()
  }
  await copyToDatabase(options, still)
  expect(cluster.sql('SELECT sum(adds_usd::numeric) FROM amounts.perpd_signed')).toBe('327')
  // Another machine knows the database alone.
  const elsewhere = optionsOf('amountsElsewhere', 'amounts')
  await counts(await openJournal(elsewhere.path, { ...others, postgres }), 327n)
  for (const each of readdirSync(directory).filter((name) => name.startsWith('amountsElsewhere')))
    rmSync(join(directory, each))
  await copyToFile(elsewhere, still)
  await counts(await openJournal(elsewhere.path, others), 327n)

  // A database that was filled without the amounts is not taken for a copy.
  cluster.sql("UPDATE amounts.perpd_signed SET adds_usd = '0' WHERE adds_usd = '20'")
  await expect(copyToDatabase(options, still)).rejects.toMatchObject({ code: 'JOURNAL_COPY_DIFFERS' })
})

test('a daemon that runs is not copied under its feet', async () => {
  const options = optionsOf('running')
  await write(options, [1])
  const { path, postgres, ...others } = options
  const daemon = await openJournal(path, others)
  await expect(copyToDatabase(options, still)).rejects.toMatchObject({ code: 'JOURNAL_LOCKED' })
  await daemon.close()
  copyFileSync(path, `${path}.kept`)
  await copyToDatabase(options, still)
  expect((await openSqliteReader(`${path}.kept`).summary()).records).toBe(7)
})

test('an account that gets a name keeps its rows by the statements of docs/reference/fleet.md: a copy beside them would sign its messages twice', async () => {
  const options = optionsOf('renamed')
  await write(options, each(3), true)
  const named = { ...options, postgres: { ...options.postgres, account: 'test.alpha' } }
  expect((await copyToFile(options, still)).records).toBeGreaterThan(0)
  await expect(copyToDatabase(named, still)).rejects.toMatchObject({ code: 'JOURNAL_DIGEST_REUSED' })

  const page = readFileSync(join(import.meta.dirname, '../../docs/reference/fleet.md'), 'utf8')
  const [, sql = ''] = /```sql\n(BEGIN;.*?COMMIT;)/s.exec(page) ?? []
  cluster.sql(sql.replaceAll("'arbitrum", "'test").replaceAll('perpd_', 'renamed.perpd_'))
  const { postgres, path } = named
  expect(await verifyJournal({ path, postgres })).toMatchObject({ problems: [], intents: 3 })
  await expect(verifyJournal({ path, postgres: options.postgres })).rejects.toMatchObject({
    code: 'JOURNAL_MISSING',
  })
  expect(cluster.sql("SELECT count(*) FROM renamed.perpd_signed WHERE account = 'test.alpha'")).toBe('3')
  const { path: _, ...others } = named
  const journal = await openJournal(path, others)
  expect(journal.summary()).toMatchObject({ records: 21, intents: 3 })
  await journal.close()
})
