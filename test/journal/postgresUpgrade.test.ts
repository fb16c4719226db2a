/** Two versions of perpd beside each other on a real PostgreSQL: the older one waits and takes over nothing that it cannot read. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { defaultLeaseTimes } from '../../src/journal/fenced/leaseTimes.ts'
import type { JournalFaultError } from '../../src/journal/journal.ts'
import { openPostgresStore } from '../../src/journal/postgres/openPostgres.ts'
import { POSTGRES_SCHEMA_VERSION } from '../../src/journal/postgres/postgresSchema.ts'
import { hashOf } from '../../src/journal/sqlite/hashChain.ts'
import { type Cluster, startCluster } from '../support/postgres.ts'
import { openBackend } from './postgresBackend.ts'
import { storyOf } from './story.ts'

let cluster: Cluster
const directory = mkdtempSync(join(tmpdir(), 'perpd-postgres-upgrade-'))
beforeAll(async () => {
  cluster = await startCluster()
}, 120_000)
afterAll(() => {
  cluster.remove()
  rmSync(directory, { recursive: true })
})

/** Waits as a standby of this version for a journal without a living holder, and gives the codes that it heard. */
function standby(schema: string) {
  const codes: string[] = []
  let heard = (_code: string): void => {}
  const opened = openPostgresStore({
    path: join(directory, `${schema}-standby.db`),
    clockNow: Date.now,
    holder: 'standby',
    postgres: {
      url: new Secret(cluster.url(schema)),
      account: 'test',
      needsStandby: false,
      signatureLivesMs: 60_000,
    },
    times: { ...defaultLeaseTimes, standStillMs: 500, lookMs: 50 },
    waiting({ code }: JournalFaultError) {
      codes.push(code)
      heard(code)
    },
  })
  /** Resolves once it heard a code so many times more. */
  const hears = (code: string, times: number): Promise<void> =>
    new Promise((resolve) => {
      let left = times
      heard = (each) => {
        if (each === code) left -= 1
        if (left === 0) resolve()
      }
    })
  return { opened, codes, hears }
}

/** A journal of one record whose holder is dead: it gave nothing back. */
async function left(schema: string): Promise<{ readonly hash: string; readonly epoch: string }> {
  const url = cluster.url(schema)
  const { journal } = await openBackend({ path: join(directory, `${schema}.db`), url, cluster, schema })
  await journal.append(storyOf(1).accepted())
  await journal.close()
  cluster.sql(`UPDATE ${schema}.perpd_head SET holder = 'newer/1 dead'`)
  return {
    hash: cluster.sql(`SELECT hash FROM ${schema}.perpd_head`),
    epoch: cluster.sql(`SELECT epoch FROM ${schema}.perpd_head`),
  }
}

test('an older standby does not take a journal with a record of a newer perpd, and waits until it can read all', async () => {
  const { hash, epoch } = await left('records')
  const body = JSON.stringify({ v: RECORD_VERSION + 1, kind: 'future.thing', atMs: 1, intentId: 'intent-1' })
  const newer = hashOf(hash, 2, body)
  cluster.sql(`BEGIN;
    INSERT INTO records.perpd_record (account, seq, at_ms, intent_id, kind, body, hash)
      VALUES ('test', 2, 1, 'intent-1', 'future.thing', '${body}', '${newer}');
    UPDATE records.perpd_head SET seq = 2, hash = '${newer}'; COMMIT`)
  const { opened, codes, hears } = standby('records')
  // Far longer than a beat stands still before a takeover.
  await hears('JOURNAL_NEWER', 30)
  expect(codes.every((code) => code === 'JOURNAL_NEWER')).toBe(true)
  expect(cluster.sql('SELECT epoch, holder FROM records.perpd_head')).toBe(`${epoch}|newer/1 dead`)

  cluster.sql(`BEGIN; DELETE FROM records.perpd_record WHERE seq = 2;
    UPDATE records.perpd_head SET seq = 1, hash = '${hash}'; COMMIT`)
  const { store, ledger } = await opened
  expect([store.lease.epoch, ledger.seq]).toEqual([Number(epoch) + 1, 1])
  await store.close()
})

test('an older standby does not take tables of a newer perpd', async () => {
  const { epoch } = await left('tables')
  cluster.sql(`UPDATE tables.perpd_head SET version = ${POSTGRES_SCHEMA_VERSION + 1}`)
  const { opened, hears } = standby('tables')
  await hears('JOURNAL_NEWER', 30)
  expect(cluster.sql('SELECT epoch FROM tables.perpd_head')).toBe(epoch)
  cluster.sql(`UPDATE tables.perpd_head SET version = ${POSTGRES_SCHEMA_VERSION}`)
  const { store } = await opened
  expect(store.lease.epoch).toBe(Number(epoch) + 1)
  await store.close()
})

test('a head that an earlier perpd made has no time of its right, and gets one with the next takeover', async () => {
  await left('times')
  cluster.sql('ALTER TABLE times.perpd_head DROP COLUMN since_ms')
  const before = Date.now()
  const { store } = await standby('times').opened
  const { sinceMs = 0, holder } = store.server?.() ?? {}
  // One machine, one clock.
  expect(sinceMs).toBeGreaterThanOrEqual(before - 1_000)
  expect(holder).toMatch(/\/\d+$/)
  await store.close()
})
