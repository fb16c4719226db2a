/** What is asked of a journal's server, and what is said of one that is not fit or does not answer; servers that no package here can be are described. */
import { expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import { createSteady } from '../../src/journal/fenced/steady.ts'
import { createPostgresClient } from '../../src/journal/postgres/postgresClient.ts'
import {
  refusalOf,
  type ServerDemands,
  type ServerFacts,
} from '../../src/journal/postgres/postgresDemands.ts'
import { freePort } from '../support/postgres.ts'

const good: ServerFacts = {
  ...{ version: 150_018, isStandby: false, isReadOnly: false, fsync: 'on', fullPageWrites: 'on' },
  ...{ synchronousCommit: 'on', synchronousStandbys: 'ANY 1 (two)', followers: 1, encoding: 'UTF8' },
  ...{ isEncrypted: true, mark: 'mine', timeline: 3 },
}
const all: ServerDemands = { needsStandby: true, needsFollower: true, mark: 'mine', timeline: 3 }

test.each<readonly [Partial<ServerFacts>, string, RegExp]>([
  [{ version: 130_020 }, 'JOURNAL_SERVER_UNFIT', /14 or later/],
  [{ isStandby: true, timeline: undefined }, 'JOURNAL_SERVER_STANDS_BY', /pg_promote/],
  [{ isReadOnly: true }, 'JOURNAL_SERVER_STANDS_BY', /default_transaction_read_only/],
  [{ timeline: 2 }, 'JOURNAL_SERVER_STANDS_BY', /pg_rewind/],
  [{ fsync: 'off' }, 'JOURNAL_NOT_DURABLE', /SET fsync = on/],
  [{ fullPageWrites: 'off' }, 'JOURNAL_NOT_DURABLE', /SET full_page_writes = on/],
  [{ mark: 'of another session' }, 'JOURNAL_SERVER_UNFIT', /pool_mode = session/],
  [{ synchronousCommit: 'off' }, 'JOURNAL_NOT_DURABLE', /synchronous_commit/],
  [{ synchronousCommit: 'local' }, 'JOURNAL_NOT_DURABLE', /synchronous_commit/],
  [{ synchronousCommit: 'remote_write' }, 'JOURNAL_NOT_DURABLE', /synchronous_commit/],
  [{ synchronousStandbys: ' ' }, 'JOURNAL_NOT_DURABLE', /synchronous_standby_names/],
  [{ followers: 0 }, 'JOURNAL_STANDBY_MISSING', /application_name/],
  [{ synchronousStandbys: 'FIRST 2 (two, three)' }, 'JOURNAL_STANDBY_MISSING', /application_name/],
  [{ encoding: 'LATIN1' }, 'JOURNAL_SERVER_UNFIT', /ENCODING 'UTF8'/],
])('a server with %o is refused with %s and a remedy', (fact, code, remedy) => {
  expect(refusalOf('postgres://db/perpd#desk', good, all)).toBeUndefined()
  const fault = refusalOf('postgres://db/perpd#desk', { ...good, ...fact }, all)
  expect(fault).toMatchObject({ code, facts: { path: 'postgres://db/perpd#desk' } })
  expect(fault?.details).toMatch(/^Nothing was written\. /)
  expect(fault?.details).toMatch(remedy)
})

test('a standby is demanded where it is set, and a connected one of whoever begins alone', () => {
  const alone = { ...good, synchronousStandbys: '', followers: 0 }
  expect(refusalOf('db', alone, { ...all, needsStandby: false })).toBeUndefined()
  expect(refusalOf('db', { ...good, followers: 0 }, { ...all, needsFollower: false })).toBeUndefined()
})

test('a server that does not answer is given up with what kept it from answering, and with no secret', async () => {
  const port = await freePort()
  const client = createPostgresClient({
    url: new Secret(`postgres://ann:correct-horse@127.0.0.1:${port}/perpd`),
    ...{ name: 'postgres://127.0.0.1/perpd#desk', needsStandby: false, requestMs: 3_000 },
    seen: { timeline: 0 },
  })
  const error = await createSteady(
    'the journal',
    systemClock,
    0,
  )(() => client.facts()).catch((fault: unknown) => fault)
  expect(error).toMatchObject({
    code: 'JOURNAL_UNREACHABLE',
    facts: { reason: expect.stringContaining(`ECONNREFUSED 127.0.0.1:${port}`) },
  })
  expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain('correct-horse')
})
