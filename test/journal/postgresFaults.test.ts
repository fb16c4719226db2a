/** Faults of a real PostgreSQL under the store: a backend that is killed in the middle, restarts, lost answers, two writers, a server that went back. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { defaultLeaseTimes } from '../../src/journal/fenced/leaseTimes.ts'
import {
  lookAtPostgres,
  openPostgresReader,
  openPostgresStore,
} from '../../src/journal/postgres/openPostgres.ts'
import { acceptLoss } from '../../src/journal/service/acceptLoss.ts'
import { type Cluster, startCluster } from '../support/postgres.ts'
import type { OpenedBackend } from './conformance.ts'
import { openBackend } from './postgresBackend.ts'
import { storyOf, wholeStory } from './story.ts'

let cluster: Cluster
const directory = mkdtempSync(join(tmpdir(), 'perpd-postgres-faults-'))
const opened: OpenedBackend[] = []
let schemas = 0
beforeAll(async () => {
  cluster = await startCluster()
}, 120_000)
afterEach(async () => {
  for (const { journal } of opened.splice(0)) await journal.close()
})
afterAll(() => {
  cluster.remove()
  rmSync(directory, { recursive: true })
})

async function fresh(
  more: { readonly requestMs?: number } = {},
): Promise<OpenedBackend & { readonly schema: string }> {
  schemas += 1
  const schema = `f${schemas}`
  const path = join(directory, `${schema}.db`)
  const backend = await openBackend({ path, url: cluster.url(schema), cluster, schema, ...more })
  opened.push(backend)
  return { ...backend, schema }
}

const bodies = (schema: string): readonly string[] =>
  cluster.sql(`SELECT body FROM ${schema}.perpd_record ORDER BY seq`).split('\n').filter(Boolean)

/** Holds every commit to the head of a schema until it is let go. */
async function holdHead(schema: string): Promise<() => Promise<void>> {
  const { default: pg } = await import('pg')
  const holder = new pg.Client({ connectionString: cluster.url() })
  holder.on('error', () => undefined)
  await holder.connect()
  await holder.query(`BEGIN; SELECT 1 FROM ${schema}.perpd_head FOR UPDATE`)
  return async () => {
    await holder.query('ROLLBACK')
    await holder.end()
  }
}

test('a backend that is killed in the middle of an append loses nothing and writes nothing twice', async () => {
  const { journal, schema } = await fresh()
  await journal.append(storyOf(1).accepted())
  const letGo = await holdHead(schema)
  const waiting = journal.append(storyOf(1).preparing())
  const waits = `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%perpd_head SET seq%'`
  const pid = await untilSome(() => cluster.sql(waits))
  process.kill(Number(pid), 'SIGKILL')
  await letGo().catch(() => undefined)
  expect((await waiting).seq).toBe(2)
  expect(bodies(schema)).toHaveLength(2)
})

test('an append that the server does not answer is not known: the connection is given up, and the outcome settled by hash', async () => {
  const { journal, schema } = await fresh({ requestMs: 400 })
  await journal.append(storyOf(1).accepted())
  const letGo = await holdHead(schema)
  const waiting = journal.append(storyOf(1).preparing())
  const given = `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%perpd_head SET seq%'`
  // The first try still waits at the server when the second one comes.
  await untilSome(() => (Number(cluster.sql(given)) >= 2 ? 'two' : ''))
  await letGo()
  expect((await waiting).seq).toBe(2)
  expect(bodies(schema)).toHaveLength(2)
})

test.for(['fast', 'immediate'] as const)('a server that restarts (%s) is waited for', async (mode) => {
  const { journal, schema } = await fresh()
  await journal.append(storyOf(1).accepted())
  cluster.stop(mode)
  const waiting = journal.append(storyOf(1).preparing())
  cluster.start()
  expect((await waiting).seq).toBe(2)
  expect((await journal.append(storyOf(1).armed())).seq).toBe(3)
  expect(bodies(schema)).toHaveLength(3)
})

test('of two writers one is fenced, whatever both append at the same time', async () => {
  const { journal, takeOver, schema } = await fresh()
  const other = await takeOver?.()
  if (other === undefined) throw new TypeError('nobody takes over')
  opened.push(other)
  const results = await Promise.allSettled([
    ...wholeStory(1).map((record) => journal.append(record)),
    ...wholeStory(2).map((record) => other.journal.append(record)),
  ])
  expect(results.slice(0, 7).every(({ status }) => status === 'rejected')).toBe(true)
  expect(results.slice(7).map((each) => (each.status === 'fulfilled' ? each.value : undefined))).toHaveLength(
    7,
  )
  expect(bodies(schema)).toHaveLength(7)
  expect(journal.lease.lost()).toMatchObject({ code: 'JOURNAL_FENCED' })
})

test('a second machine waits for a holder that lives and is refused, and takes over once the beat stood still', async () => {
  const { journal, schema } = await fresh()
  await journal.append(storyOf(1).accepted())
  const elsewhere = () =>
    openPostgresStore({
      path: join(directory, `${schema}-elsewhere.db`),
      clockNow: Date.now,
      holder: 'elsewhere',
      postgres: {
        url: new Secret(cluster.url(schema)),
        account: 'test',
        needsStandby: false,
        signatureLivesMs: 60_000,
      },
      times: { ...defaultLeaseTimes, standStillMs: 3_000 },
    })
  await expect(elsewhere()).rejects.toMatchObject({ code: 'JOURNAL_LOCKED' })
  // As a machine that died: its beats end, and it gives nothing back.
  cluster.sql(`UPDATE ${schema}.perpd_head SET holder = 'gone/1 dead', epoch = 7`)
  const { store, ledger } = await elsewhere()
  expect([store.lease.epoch, ledger.seq]).toEqual([8, 1])
  await expect(journal.append(storyOf(1).preparing())).rejects.toMatchObject({ code: 'JOURNAL_FENCED' })
  await store.close()
})

test('a holder whose right was taken ends by itself, though it has nothing to write', async () => {
  const { journal, schema } = await fresh()
  await journal.append(storyOf(1).accepted())
  cluster.sql(`UPDATE ${schema}.perpd_head SET holder = 'elsewhere/1 taken', epoch = 7`)
  expect(await journal.failed).toMatchObject({ code: 'JOURNAL_FENCED', facts: { holder: 'elsewhere/1' } })
})

test('a holder of this machine that died is not waited for, even after an opening that ended before it had the right', async () => {
  const { journal, schema } = await fresh()
  await journal.append(storyOf(1).accepted())
  const path = join(directory, `${schema}.db`)
  const opening = (url: string) => {
    // The lock of a process that was killed lies there, and its pid is nobody's.
    rmSync(`${path}.lock`, { force: true })
    return openPostgresStore({
      ...{ path, clockNow: Date.now, holder: 'test' },
      postgres: { url: new Secret(url), account: 'test', needsStandby: false, signatureLivesMs: 60_000 },
      times: { ...defaultLeaseTimes, standStillMs: 600_000 },
    })
  }
  const refused = cluster.url(schema).replace(/\/[^/?]+(?=\?|$)/, '/nobodys')
  await expect(opening(refused)).rejects.toMatchObject({ code: 'JOURNAL_NOT_PERMITTED' })
  const { store, ledger } = await opening(cluster.url(schema))
  expect(ledger.seq).toBe(1)
  expect(readFileSync(`${path}.holder`, 'utf8').trimEnd().split('\n')).toHaveLength(1)
  await store.close()
})

test('the line of the guard comes with its record, so that another machine knows the signature', async () => {
  const { journal, store, schema } = await fresh()
  const armed = storyOf(1).armed()
  if (armed.kind !== 'attempt.armed') throw new TypeError('nothing is armed')
  for (const record of [storyOf(1).accepted(), storyOf(1).preparing()]) await journal.append(record)
  const table = await store.openGuardTable()
  const entry = {
    ...{ intentId: 'intent-1', attempt: 1, digest: armed.armed.digest, addsUsd: 10n ** 33n },
    ...{ deadlineSeconds: armed.armed.deadlineSeconds, atSeconds: 1_800_000_000 },
  }
  await table.append(entry, () => [entry])
  await journal.append(armed)
  const other = await openBackend({
    path: join(directory, `${schema}-other.db`),
    url: cluster.url(schema),
    cluster,
    schema,
    times: { ...defaultLeaseTimes, standStillMs: 0, lookMs: 1 },
  })
  opened.push(other)
  expect((await other.store.openGuardTable()).entries).toEqual([entry])
})

test('a server whose files were restored from an older copy is refused at the start by the mark, and accepted by name alone', async () => {
  const { journal, schema } = await fresh()
  await journal.append(storyOf(1).accepted())
  cluster.stop('fast')
  cluster.save()
  cluster.start()
  await journal.append(storyOf(1).preparing())
  await journal.append(storyOf(1).armed())
  await journal.close()
  cluster.stop('immediate')
  cluster.restore()
  cluster.start()
  const path = join(directory, `${schema}.db`)
  await expect(openBackend({ path, url: cluster.url(schema), cluster, schema })).rejects.toMatchObject({
    code: 'JOURNAL_ROLLED_BACK',
    facts: { lastRecordWritten: 3, lastRecordFound: 1 },
  })
  const options = {
    ...{ path, clockNow: Date.now, holder: 'operator Ada' },
    postgres: {
      url: new Secret(cluster.url(schema)),
      account: 'test',
      needsStandby: false,
      signatureLivesMs: 60_000,
    },
  }
  const accepted = await acceptLoss(options, { by: 'Ada', nowMs: 1_800_000_000_000, liveMs: 60_000 })
  expect(accepted).toMatchObject({ lastWritten: 3, lastFound: 1, closed: ['intent-1'] })
  const after = await openBackend({ path, url: cluster.url(schema), cluster, schema })
  opened.push(after)
  expect(after.journal.summary()).toMatchObject({ records: 3, openIntents: 0 })
})

test('what a server must be is asked on every connection, and each demand has its refusal and remedy', async () => {
  const postgres = {
    url: new Secret(cluster.url()),
    account: 'test',
    needsStandby: false,
    signatureLivesMs: 60_000,
  }
  expect(await lookAtPostgres(postgres)).toMatchObject({
    fsync: 'on',
    synchronousCommit: 'on',
    encoding: 'UTF8',
  })
  await expect(lookAtPostgres({ ...postgres, needsStandby: true })).rejects.toMatchObject({
    code: 'JOURNAL_NOT_DURABLE',
  })
  for (const [setting, code] of [
    ['fsync', 'JOURNAL_NOT_DURABLE'],
    ['full_page_writes', 'JOURNAL_NOT_DURABLE'],
    ['default_transaction_read_only', 'JOURNAL_SERVER_STANDS_BY'],
  ] as const) {
    const isOn = setting === 'default_transaction_read_only'
    cluster.sql(`ALTER SYSTEM SET ${setting} = ${isOn ? 'on' : 'off'}`)
    cluster.sql('SELECT pg_reload_conf()')
    await untilSome(() => (cluster.sql(`SHOW ${setting}`) === (isOn ? 'on' : 'off') ? 'set' : ''))
    await expect(lookAtPostgres(postgres)).rejects.toMatchObject({
      code,
      details: expect.stringContaining(' '),
    })
    cluster.sql(`ALTER SYSTEM RESET ${setting}`)
    cluster.sql('SELECT pg_reload_conf()')
    await untilSome(() => (cluster.sql(`SHOW ${setting}`) === (isOn ? 'off' : 'on') ? 'set' : ''))
  }
  cluster.sql("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
  const latin = cluster.url().replace('/postgres', '/latin')
  await expect(lookAtPostgres({ ...postgres, url: new Secret(latin) })).rejects.toMatchObject({
    code: 'JOURNAL_SERVER_UNFIT',
  })
})

test('a password, a user and a database that are refused are named by no secret', async () => {
  const secret = 'correct-horse-battery'
  cluster.sql(`CREATE ROLE locked NOLOGIN PASSWORD '${secret}'`)
  const url = new Secret(`postgres://locked:${secret}@127.0.0.1:${cluster.port}/postgres`)
  const reader = openPostgresReader({ url, account: 'test', needsStandby: false, signatureLivesMs: 60_000 })
  const error = await reader.summary().catch((cause: unknown) => cause)
  await reader.close()
  expect(error).toMatchObject({ code: 'JOURNAL_NOT_PERMITTED' })
  expect(`${String(error)} ${JSON.stringify(error)} ${(error as Error).stack}`).not.toContain(secret)
})

/** Asks until there is an answer. */
async function untilSome(ask: () => string): Promise<string> {
  for (;;) {
    const found = ask()
    if (found !== '') return found.split('\n')[0] ?? ''
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
