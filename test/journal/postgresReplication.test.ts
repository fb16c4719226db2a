/**
 * Two real PostgreSQL servers with streaming replication under the store: each row of the faults that a primary and its standby have. The address that perpd
 * knows stays and moves to the server that took over, as an operator's virtual IP does.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { type Awaited, awaitedOf } from '../../src/daemon/logging/tellWaiting.ts'
import { defaultLeaseTimes } from '../../src/journal/fenced/leaseTimes.ts'
import { createJournal } from '../../src/journal/groupCommit.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { lookAtPostgres, openPostgresStore } from '../../src/journal/postgres/openPostgres.ts'
import { acceptLoss } from '../../src/journal/service/acceptLoss.ts'
import { openByRules } from '../../src/journal/service/open.ts'
import { verifyJournal } from '../../src/journal/service/verifyJournal.ts'
import { type MovingAddress, startAddress } from '../support/movingAddress.ts'
import { type Cluster, type Standby, startCluster, startStandby } from '../support/postgres.ts'
import { storyOf, wholeStory } from './story.ts'

/** Times of a lease that is taken soon. */
const times = { ...defaultLeaseTimes, beatMs: 200, staleMs: 600, standStillMs: 1_500, lookMs: 50 }

let directory: string
let primary: Cluster
let standby: Standby
let address: MovingAddress
const opened: Journal[] = []

async function begin(isSynchronous: boolean): Promise<void> {
  directory = mkdtempSync(join(tmpdir(), 'perpd-replication-'))
  primary = await startCluster()
  standby = await startStandby(primary, isSynchronous)
  address = await startAddress(primary.port)
}

afterEach(async () => {
  for (const journal of opened.splice(0)) await journal.close().catch(() => undefined)
  await address.close()
  standby.remove()
  primary.remove()
  rmSync(directory, { recursive: true })
})

/** A place of one machine: its own files, and the database at the address. */
const placeOf = (machine: string, needsStandby: boolean, port = address.port) => ({
  path: join(directory, `${machine}.db`),
  clockNow: () => 1_800_000_000_000,
  holder: machine,
  postgres: {
    url: new Secret(`postgres://perpd@127.0.0.1:${port}/postgres`),
    ...{ account: 'test', needsStandby, signatureLivesMs: 60_000, requestMs: 700 },
  },
})

const open = (machine: string, needsStandby: boolean, standStillMs?: number): Promise<Journal> =>
  openAt(address.port, machine, needsStandby, standStillMs)

/** Time within which a slow machine has a standby promoted, ms: nobody can have taken the right meanwhile. */
const LONG_MS = 60_000

/** Opens the journal at a port, which may be that of a server and not the address. */
async function openAt(
  port: number,
  machine: string,
  needsStandby = false,
  standStillMs = times.standStillMs,
): Promise<Journal> {
  const found = await openPostgresStore({
    ...placeOf(machine, needsStandby, port),
    times: { ...times, standStillMs },
  })
  const soon = (commit: () => void) => {
    setImmediate(commit)
  }
  const journal = createJournal({ ...found, soon })
  opened.push(journal)
  return journal
}

/** The chain at a server; a standby may not have the table yet. */
function hashes(cluster: Cluster): readonly string[] {
  if (cluster.sql("SELECT to_regclass('perpd_record')") === '') return []
  return cluster.sql('SELECT hash FROM perpd_record ORDER BY seq').split('\n').filter(Boolean)
}

/** Asks until it holds. */
async function until(name: string, holds: () => boolean): Promise<void> {
  const begunMs = performance.now()
  while (!holds()) {
    if (performance.now() - begunMs > 30_000) throw new Error(`never: ${name}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Backends that wait for the standby, by the statement that they run. */
const waiting = (statement: string): readonly number[] =>
  primary
    .sql(
      `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%${statement}%' ORDER BY pid`,
    )
    .split('\n')
    .filter(Boolean)
    .map(Number)

const append = 'UPDATE perpd_head SET seq'

/** Notes whether a promise is settled. */
function watched<T>(promise: Promise<T>): {
  readonly promise: Promise<T>
  readonly isSettled: () => boolean
} {
  let isSettled = false
  const note = () => {
    isSettled = true
  }
  promise.then(note, note)
  return { promise, isSettled: () => isSettled }
}

describe('with a synchronous standby', () => {
  beforeEach(() => begin(true), 120_000)

  test('while the standby is gone nothing is acknowledged and nobody sees it; with the standby it is there once', async () => {
    const journal = await open('one', true)
    await journal.append(storyOf(1).accepted())
    standby.stop('immediate')
    const next = watched(journal.append(storyOf(1).preparing()))
    await until('a commit that waits', () => waiting(append).length > 0)
    // Until after the timer of the request.
    await until('a second try', () => tries() > 1)
    expect([next.isSettled(), hashes(primary).length]).toEqual([false, 1])
    standby.start()
    expect((await next.promise).seq).toBe(2)
    expect((await journal.append(storyOf(1).armed())).seq).toBe(3)
    await until('the standby', () => hashes(standby).length === 3)
    expect(hashes(standby)).toEqual(hashes(primary))
  }, 120_000)

  test.for([
    ['is cancelled, so that the server answers with a success and a warning', 'pg_cancel_backend'],
    ['is ended with its connection', 'pg_terminate_backend'],
    ['ends with the server, which has it after its recovery', 'immediate'],
  ] as const)(
    'a commit whose wait %s is seen at the primary, and not known until the standby has it',
    { timeout: 120_000 },
    async ([, by]) => {
      const journal = await open('one', true)
      await journal.append(storyOf(1).accepted())
      standby.stop('immediate')
      const next = watched(journal.append(storyOf(1).preparing()))
      await until('a commit that waits', () => waiting(append).length > 0)
      if (by === 'immediate') {
        primary.stop('immediate')
        primary.start()
      } else for (const pid of waiting(append)) primary.sql(`SELECT ${by}(${pid})`)
      await until('a row that the standby lacks', () => hashes(primary).length === 2)
      // The writer finds its own hash in the head, and asks for a proof that the standby has it.
      await until('the question for a proof', () => waiting('UPDATE perpd_head SET beat').length > 0)
      expect(next.isSettled()).toBe(false)
      standby.start()
      expect((await next.promise).seq).toBe(2)
      expect(hashes(primary)).toHaveLength(2)
      await until('the standby', () => hashes(standby).length === 2)
    },
  )

  test('a start is refused, or waits, while no synchronous standby is connected; who runs reconnects and waits with its commit alone', async () => {
    primary.sql('CREATE ROLE blind LOGIN')
    const blind = () => {
      const { postgres } = placeOf('blind', true)
      return lookAtPostgres({
        ...postgres,
        url: new Secret(postgres.url.reveal().replace('perpd@', 'blind@')),
      })
    }
    const { postgres } = placeOf('doctor', true)
    expect(await lookAtPostgres(postgres)).toMatchObject({ followers: 1 })
    // A user who may not see its state is not refused.
    expect(await blind()).toMatchObject({ followers: 1 })
    const journal = await open('one', true)
    await journal.append(storyOf(1).accepted())

    // A commit that waits for two servers is not acknowledged with one.
    const names = primary.sql('SHOW synchronous_standby_names')
    const [, name = ''] = /\((.*)\)/.exec(names) ?? []
    const wait = async (value: string) => {
      primary.sql(`ALTER SYSTEM SET synchronous_standby_names = '${value}'`)
      primary.sql('SELECT pg_reload_conf()')
      await until('it is in force', () => primary.sql('SHOW synchronous_standby_names') === value)
    }
    const looked = () =>
      lookAtPostgres(postgres).then(
        () => 'enough',
        ({ code }) => code,
      )
    for (const value of [`FIRST 2 (${name}, c)`, 'any 2 (*)', `2(${name},c)`]) {
      await wait(value)
      await expect.poll(looked, { timeout: 20_000 }).toBe('JOURNAL_STANDBY_MISSING')
    }
    for (const value of [`FIRST 1 (${name}, c)`, `${name}, c`, names]) {
      await wait(value)
      await expect.poll(looked, { timeout: 20_000 }).toBe('enough')
    }

    standby.stop('immediate')
    await until('it is gone', () => primary.sql('SELECT count(*) FROM pg_stat_replication') === '0')
    const missing = { code: 'JOURNAL_STANDBY_MISSING', details: expect.stringContaining('primary_conninfo') }
    await expect(lookAtPostgres(postgres)).rejects.toMatchObject(missing)
    await expect(blind()).rejects.toMatchObject(missing)
    await expect(openPostgresStore(placeOf('two', true))).rejects.toMatchObject(missing)
    expect(await lookAtPostgres({ ...postgres, needsStandby: false })).toMatchObject({ followers: 0 })

    const told: Awaited[] = []
    const leaving = new AbortController()
    const waits = openPostgresStore({
      ...placeOf('three', true),
      ...{ times, waiting: (fault) => void told.push(awaitedOf(fault)), signal: leaving.signal },
    })
    const left = expect(waits).rejects.toThrow()
    await until('it says for what it waits', () => told.length > 0)
    expect(told[0]).toMatchObject({
      code: 'JOURNAL_STANDBY_MISSING',
      reason: expect.stringMatching(/^standby: waits\. The server .* synchronous standby server .*[^.]$/),
    })
    const next = watched(journal.append(storyOf(2).accepted()))
    // A beat or the record: whichever comes first has the head, and the other one waits for it.
    const ofHead = () => waiting('UPDATE perpd_head')
    await until('it waits for the standby', () => ofHead().length > 0)
    const before = ofHead()
    primary.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'perpd'")
    await until('it waits on a new connection', () => ofHead().some((pid) => !before.includes(pid)))
    expect(next.isSettled()).toBe(false)
    standby.start()
    await next.promise
    // The holder lives, and the one that waited is told so.
    await until('it waits for the holder', () => told.at(-1)?.code === 'JOURNAL_LOCKED')
    leaving.abort()
    await left
    expect((await journal.append(storyOf(3).accepted())).seq).toBe(3)
  }, 120_000)

  test('a primary that dies loses nothing that was acknowledged: the standby that took over has it, and the writer goes on there', async () => {
    const journal = await open('one', true)
    for (const record of wholeStory(1)) await journal.append(record)
    primary.stop('immediate')
    const next = journal.append(storyOf(2).accepted())
    standby.sql("ALTER SYSTEM SET synchronous_standby_names = ''")
    standby.promote()
    // Demands hold on the new primary too: without a standby of its own it is refused, and nothing is written.
    address.moveTo(standby.port)
    await expect(next).rejects.toMatchObject({ code: 'JOURNAL_NOT_DURABLE' })
    expect(hashes(standby)).toHaveLength(7)
    await journal.close()
    // Each commit had reached this server: nothing can be missing.
    const { journal: again } = await openByRules(placeOf('other', false), {})
    opened.push(again)
    expect(again.account().loss).toBeUndefined()
    expect((await again.append(storyOf(2).accepted())).seq).toBe(8)
    expect(await verifyJournal(placeOf('other', false))).toMatchObject({
      ...{ records: 8, headSeq: 8, problems: [] },
    })
  }, 120_000)
})

/** Backends that try to move the head, or wait for one that does. */
function tries(): number {
  return Number(
    primary.sql(`SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%${append}%'
      AND pid <> pg_backend_pid()`),
  )
}

describe('without one', () => {
  beforeEach(() => begin(false), 120_000)

  /** Acknowledges three records that the standby does not get, and has it take over. */
  async function loseThree(journal: Journal): Promise<void> {
    for (const record of wholeStory(1)) await journal.append(record)
    await until('the standby', () => hashes(standby).length === 7)
    standby.stop('fast')
    for (const record of [storyOf(2).accepted(), storyOf(2).preparing(), storyOf(2).armed()])
      await journal.append(record)
    primary.stop('immediate')
    standby.start()
    standby.promote()
    expect(hashes(standby)).toHaveLength(7)
  }

  test('a standby that lagged and took over lacks acknowledged records: the writer that lives puts them back, with the same hashes', async () => {
    const journal = await open('one', false, LONG_MS)
    await loseThree(journal)
    primary.start()
    const lost = hashes(primary)
    primary.stop('fast')
    address.moveTo(standby.port)
    expect((await journal.append(storyOf(2).sent())).seq).toBe(11)
    expect(hashes(standby).slice(0, 10)).toEqual(lost)
    expect(await verifyJournal(placeOf('one', false))).toMatchObject({
      records: 11,
      headSeq: 11,
      problems: [],
    })
  }, 120_000)

  test('a writer that was away while the server was replaced does not go on: what another signed meanwhile may be lost', async () => {
    const journal = await open('one', false)
    for (const record of [storyOf(1).accepted(), storyOf(1).preparing()]) await journal.append(record)
    await until('the standby', () => hashes(standby).length === 2)
    standby.stop('fast')
    address.part()
    const other = await openAt(primary.port, 'two')
    await other.append(storyOf(1).armed())
    primary.stop('immediate')
    standby.start()
    standby.promote()
    address.moveTo(standby.port)
    await expect(journal.append(storyOf(1).armed())).rejects.toMatchObject({
      code: 'JOURNAL_SERVER_REPLACED',
    })
    expect(hashes(standby)).toHaveLength(2)
    // Its next start knows that something may be lost, and signs the order never again.
    const { journal: again } = await openByRules(placeOf('three', false), {})
    opened.push(again)
    expect(again.openIntents()).toEqual([])
    expect(again.account().loss).toMatchObject({ quietUntilMs: 1_800_000_060_000 })
  }, 120_000)

  test('where the writer died too, this machine refuses what is left, and goes on by name alone', async () => {
    const journal = await open('one', false)
    await loseThree(journal)
    await die(journal)
    await expect(open('one', false)).rejects.toMatchObject({
      code: 'JOURNAL_ROLLED_BACK',
      facts: { lastRecordWritten: 10, lastRecordFound: 7 },
    })
    const accepted = await acceptLoss(placeOf('one', false), {
      ...{ by: 'Ada', nowMs: 1_800_000_000_000, liveMs: 60_000 },
    })
    expect(accepted).toMatchObject({ lastWritten: 10, lastFound: 7 })
  }, 120_000)

  test('another machine that takes over there signs nothing again that a lost record may have signed, even if the first that tries dies', async () => {
    const journal = await open('one', false)
    for (const record of wholeStory(1)) await journal.append(record)
    for (const record of [storyOf(2).accepted(), storyOf(2).preparing()]) await journal.append(record)
    await until('the standby', () => hashes(standby).length === 9)
    standby.stop('fast')
    await journal.append(storyOf(2).armed())
    primary.stop('immediate')
    standby.start()
    standby.promote()
    await die(journal)
    // It took the right, and noted nothing.
    const dying = await openPostgresStore({ ...placeOf('two', false, standby.port), times })
    expect(dying.mayMissRecords).toBe(true)
    await dying.store.close()
    const { journal: other } = await openByRules(placeOf('three', false, standby.port), {})
    expect(other.openIntents()).toEqual([])
    expect(other.account().loss).toEqual({
      atMs: 1_800_000_000_000,
      quietUntilMs: 1_800_000_060_000,
    })
    expect(other.summary().records).toBe(11)
    await other.close()
    const { journal: later } = await openByRules(placeOf('two', false, standby.port), {})
    expect(later.summary().records).toBe(11)
    await later.close()
  }, 120_000)

  test('where another machine took over there first, the writer that comes back is fenced', async () => {
    const journal = await open('one', false)
    await loseThree(journal)
    address.part()
    const other = await openAt(standby.port, 'two')
    expect(other.summary().records).toBe(7)
    address.moveTo(standby.port)
    await expect(journal.append(storyOf(3).accepted())).rejects.toMatchObject({ code: 'JOURNAL_FENCED' })
    expect((await other.append(storyOf(3).accepted())).seq).toBe(8)
    expect(hashes(standby)).toHaveLength(8)
  }, 120_000)

  test('an old primary that comes back takes nothing of a writer that has seen the new one, and fails the mark of one that has not', async () => {
    const journal = await open('one', false, LONG_MS)
    await journal.append(storyOf(1).accepted())
    await until('the standby', () => hashes(standby).length === 1)
    primary.stop('immediate')
    standby.promote()
    address.moveTo(standby.port)
    await journal.append(storyOf(1).preparing())
    primary.start()
    // It accepts writes, as if nothing had happened.
    primary.sql('CREATE TABLE accepted (n integer)')
    address.moveTo(primary.port)
    const next = watched(journal.append(storyOf(1).armed()))
    await until('a refused connection', () => primary.sql(connections) !== '0')
    expect(next.isSettled()).toBe(false)
    address.moveTo(standby.port)
    expect((await next.promise).seq).toBe(3)
    expect([hashes(primary).length, hashes(standby).length]).toEqual([1, 3])
    await journal.close()
    // Another process of this machine knows no timeline, and has the mark.
    address.moveTo(primary.port)
    await expect(open('one', false)).rejects.toMatchObject({ code: 'JOURNAL_ROLLED_BACK' })
  }, 120_000)

  test('a writer that is parted from the server signs nothing once its beat is old, and is fenced when it comes back after another', async () => {
    const journal = await open('one', false)
    await journal.append(storyOf(1).accepted())
    expect(journal.lease.lost()).toBeUndefined()
    address.part()
    await until('a stale right', () => journal.lease.lost()?.code === 'JOURNAL_LEASE_STALE')
    const next = watched(journal.append(storyOf(1).preparing()))
    const other = await openAt(primary.port, 'two')
    expect((await other.append(storyOf(1).preparing())).seq).toBe(2)
    expect(next.isSettled()).toBe(false)
    address.moveTo(primary.port)
    await expect(next.promise).rejects.toMatchObject({ code: 'JOURNAL_FENCED' })
  }, 120_000)
})

/** Sessions of perpd, which say their name. */
const connections = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'perpd'"

/** Ends a writer as a death does: its beats stop, its lock is free, and it gives nothing back. */
async function die(journal: Journal): Promise<void> {
  address.part()
  await journal.close()
  address.moveTo(standby.port)
}
