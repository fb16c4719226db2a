/** An address with two hosts, a real primary and its standby: perpd asks both at each connection and uses the newest primary, whichever answers first. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { defaultLeaseTimes } from '../../src/journal/fenced/leaseTimes.ts'
import { createJournal } from '../../src/journal/groupCommit.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { lookAtPostgres, openPostgresStore } from '../../src/journal/postgres/openPostgres.ts'
import { type Cluster, hostsOf, type Standby, startCluster, startStandby } from '../support/postgres.ts'
import { storyOf } from './story.ts'

let directory: string
let primary: Cluster
let standby: Standby
let journal: Journal | undefined
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'perpd-hosts-'))
  primary = await startCluster()
  standby = await startStandby(primary, false)
}, 120_000)
afterEach(async () => {
  await journal?.close().catch(() => undefined)
  journal = undefined
  standby.remove()
  primary.remove()
  rmSync(directory, { recursive: true })
})

const placeOf = (clusters: readonly Cluster[]) => ({
  url: new Secret(`${hostsOf(clusters)}?target_session_attrs=read-write`),
  ...{ account: 'test', needsStandby: false, signatureLivesMs: 60_000, requestMs: 2_000 },
})

async function open(clusters: readonly Cluster[]): Promise<Journal> {
  const found = await openPostgresStore({
    ...{ path: join(directory, 'one.db'), clockNow: () => 1_800_000_000_000, holder: 'one' },
    postgres: placeOf(clusters),
    // Nobody else is there, and a busy machine takes longer than a candidate would wait.
    times: { ...defaultLeaseTimes, standStillMs: 60_000 },
  })
  journal = createJournal({
    ...found,
    soon(commit) {
      setImmediate(commit)
    },
  })
  return journal
}

const records = (cluster: Cluster): number => Number(cluster.sql('SELECT max(seq) FROM perpd_record'))

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** Sessions of perpd at a server. */
const sessions = (cluster: Cluster): number =>
  Number(cluster.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'perpd'"))

test('a writer follows a failover to the other host, and takes nothing of the old primary that is back, though it stands first', {
  timeout: 120_000,
}, async () => {
  const writer = await open([primary, standby])
  await writer.append(storyOf(1).accepted())
  await until(() => records(standby) === 1)
  // The standby was asked too, and left.
  await until(() => sessions(standby) === 0)

  primary.stop('immediate')
  const next = writer.append(storyOf(1).preparing())
  standby.promote()
  expect((await next).seq).toBe(2)

  primary.start()
  // It accepts writes, as if nothing had happened.
  primary.sql('CREATE TABLE accepted (n integer)')
  standby.sql(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'perpd' AND pid <> pg_backend_pid()",
  )
  expect((await writer.append(storyOf(1).armed())).seq).toBe(3)
  expect([records(primary), records(standby)]).toEqual([1, 3])
  await writer.close()

  // A process that saw no failover finds the newest one too.
  const again = await open([primary, standby])
  expect(again.summary().records).toBe(3)
})

test('without a primary an address is waited for, and names its hosts without a secret', {
  timeout: 120_000,
}, async () => {
  primary.stop('immediate')
  await expect(lookAtPostgres(placeOf([primary, standby]))).rejects.toMatchObject({
    code: 'JOURNAL_SERVER_STANDS_BY',
    facts: { path: `postgres://127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres#test` },
  })
  standby.stop('immediate')
  await expect(lookAtPostgres(placeOf([primary, standby]))).rejects.toMatchObject({
    code: 'JOURNAL_OUTCOME_UNKNOWN',
  })
})
