/** The table of a fleet in a real PostgreSQL, and nodes that follow it: who is steered, and who is left where it is. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import { main } from '../../src/cli/main.ts'
import { type FleetAccount, runFleetNode } from '../../src/daemon/fleet/fleetNode.ts'
import type { NodeReport } from '../../src/domain/summaries/fleetReport.ts'
import { type FleetTable, openFleetTable } from '../../src/journal/postgres/fleetTable.ts'
import { type Cluster, startCluster } from '../support/postgres.ts'
import { until } from '../support/until.ts'

let cluster: Cluster
let schemas = 0
let url: string
let tables: FleetTable[]
beforeAll(async () => {
  cluster = await startCluster()
}, 60_000)
afterAll(() => cluster.remove())
beforeEach(() => {
  schemas += 1
  url = cluster.url(`fleet${schemas}`)
  tables = []
})
afterEach(async () => {
  for (const table of tables) await table.close()
})

/** Opens the fleet `desk` of accounts whose rows begin with this. */
function open(rows = 'paper'): FleetTable {
  const table = openFleetTable({ url: new Secret(url), needsStandby: false, cluster: 'desk', rows })
  tables.push(table)
  return table
}

const report = (node: string, own: Partial<NodeReport> = {}): NodeReport => ({
  ...{ node, process: `${node}/1`, can: ['a', 'b'], holds: [], waits: [] },
  ...own,
})

test('nodes show their reports, wishes and drains to each other, and to no other fleet of the database', async () => {
  const table = open()
  await table.prepare()
  await table.enter(report('one'))
  await table.enter(report('two', { can: ['a'], holds: [{ account: 'a', epoch: 3 }] }))
  await table.wish('a', 'one')
  await table.wish('b', 'two')
  await table.wish('b', undefined)
  expect(await table.drain('two', true)).toBe(true)
  expect(await table.drain('three', true)).toBe(false)
  const { nodes, wishes } = await table.read()
  expect(nodes).toMatchObject([
    { node: 'one', process: 'one/1', isDraining: false, holds: [] },
    { node: 'two', can: ['a'], isDraining: true, holds: [{ account: 'a', epoch: 3 }] },
  ])
  expect(wishes).toEqual(new Map([['a', 'one']]))
  expect((await open('other').read()).nodes).toEqual([])

  // A new process of a node is not drained, and the old one has no name any more.
  await table.enter(report('two', { process: 'two/2' }))
  expect((await table.read()).nodes[1]).toMatchObject({ process: 'two/2', isDraining: false })
  expect(await table.report(report('two'))).toBe(false)
  await table.leave(report('two'))
  expect((await table.read()).nodes).toHaveLength(2)
  await table.leave(report('two', { process: 'two/2' }))
  expect((await table.read()).nodes).toHaveLength(1)
})

test('a beat grows with each report, and heads of journals are shown with their holders', async () => {
  const table = open()
  await table.prepare()
  await table.enter(report('one'))
  const beats = async () => (await table.read()).nodes[0]?.beat ?? 0
  const before = await beats()
  await table.report(report('one'))
  expect(await beats()).toBe(before + 1)
  cluster.sql(
    `INSERT INTO fleet${schemas}.perpd_head (account, version, epoch, holder, beat, seq, hash)
     VALUES ('paper.a', 1, 4, 'one/1 secret', 0, 9, ''), ('papers.b', 1, 1, 'x', 0, 0, '')`,
  )
  expect((await table.read()).heads).toEqual([{ account: 'a', epoch: 4, holder: 'one/1', records: 9 }])
})

/** What `perpd fleet` prints of the fleet `desk`, and its exit code. */
async function shown() {
  const [out, err]: [string[], string[]] = [[], []]
  const flags = [`--journal.url=${url}`, '--journal.standby', '--cluster.name=desk']
  const code = await main(['fleet', ...flags, '--accounts.a.account.lane=relay'], {
    ...{ env: {}, cwd: '/', out: (text) => void out.push(text), err: (text) => void err.push(text) },
  })
  return { code, out: out.join('\n').replaceAll(/ +/g, ' '), err: err.join('\n') }
}

test('the command ends with 1 and the reason when no node lives, and when nobody or a silent node holds an account', async () => {
  const table = open()
  await table.prepare()
  expect(await shown()).toMatchObject({ code: 1, err: 'No node lives.' })
  const heads = (holder: string) =>
    cluster.sql(
      `INSERT INTO fleet${schemas}.perpd_head (account, version, epoch, holder, beat, seq, hash)
       VALUES ('paper.a', 1, 4, '${holder}', 0, 9, '') ON CONFLICT (account) DO UPDATE SET holder = EXCLUDED.holder`,
    )
  await table.enter(report('one', { holds: [{ account: 'a', epoch: 4 }] }))
  await table.enter(report('two', { can: ['a'] }))
  heads('one/1 secret')
  expect(await shown()).toMatchObject({ code: 1, err: 'Held by nobody: b.' })
  await table.report(report('one', { can: ['a'], holds: [{ account: 'a', epoch: 4 }] }))
  const well = await shown()
  expect(well).toMatchObject({ code: 0, err: '' })
  expect(well.out).toMatch(/one one\/1 lives, heard .* ago holds a\n/)
  expect(well.out).toContain('a held by one epoch 4')

  const silence = (node: string) =>
    cluster.sql(
      `UPDATE fleet${schemas}.perpd_fleet_node SET at = at - interval '1 minute' WHERE node = '${node}'`,
    )
  silence('one')
  const silent = await shown()
  expect(silent).toMatchObject({ code: 1, err: 'Held by a node that is silent: a.' })
  expect(silent.out).toMatch(/one one\/1 silent for .* held then a\n/)
  expect(silent.out).toMatch(/a one is silent for .* epoch 4/)
  silence('two')
  expect(await shown()).toMatchObject({ code: 1, err: 'No node lives.\nHeld by a node that is silent: a.' })
  heads('')
  expect(await shown()).toMatchObject({ code: 1, err: 'No node lives.\nHeld by nobody: a.' })
})

test('a database that does not answer is named with the reason, without a secret, and with what may have been changed', async () => {
  const flags = ['--journal.standby', '--cluster.name=desk', '--accounts.a.account.lane=relay']
  const asked = async (...words: readonly string[]) => {
    const err: string[] = []
    const at = `--journal.url=postgres://perpd:correct-horse@127.0.0.1:1/perpd`
    const world = { env: {}, cwd: '/', out: () => {}, err: (text: string) => void err.push(text) }
    return { code: await main(['fleet', ...words, at, ...flags], world), err: err.join('\n') }
  }
  const shown = await asked()
  expect(shown).toMatchObject({ code: 1, err: expect.stringContaining('ECONNREFUSED 127.0.0.1:1') })
  expect(shown.err).toMatch(/postgres:\/\/127\.0\.0\.1:1\/perpd.*Nothing was changed.*Check journal\.url/s)
  const moved = await asked('move', 'a', 'two')
  expect(moved.err).toMatch(/Perhaps the command was carried out: see perpd fleet/)
  expect(`${shown.err}${moved.err}`).not.toContain('correct-horse')
})

test('an account with a journal that no node lists is shown so and is no fault; listed by a node, or by nobody who says so, it is one', async () => {
  const table = open()
  await table.prepare()
  for (const [name, holder] of [
    ['a', 'one/1 secret'],
    ['old', ''],
  ])
    cluster.sql(
      `INSERT INTO fleet${schemas}.perpd_head (account, version, epoch, holder, beat, seq, hash)
       VALUES ('paper.${name}', 1, 4, '${holder}', 0, 9, '')`,
    )
  const one = { can: ['a'], holds: [{ account: 'a', epoch: 4 }] }
  await table.enter(report('one', { ...one, lists: ['a'] }))
  const retired = await shown()
  expect(retired).toMatchObject({ code: 0, err: '' })
  expect(retired.out).toContain('old not listed by any node epoch 4')

  await table.enter(report('two', { can: [], lists: ['a', 'old'] }))
  expect(await shown()).toMatchObject({ code: 1, err: 'Held by nobody: old.' })
  await table.leave(report('two'))
  await table.wish('old', 'two')
  expect(await shown()).toMatchObject({ code: 1, err: 'Held by nobody: old.' })
  await table.wish('old', undefined)
  expect(await shown()).toMatchObject({ code: 0 })
  // A report of an older version does not say what its node lists.
  await table.report(report('one', one))
  expect(await shown()).toMatchObject({ code: 1, err: 'Held by nobody: old.' })
})

/** An account whose aim is kept, and which holds what it is to hold at once. */
function account(name: string) {
  const aims: boolean[] = []
  const own: FleetAccount = {
    name,
    can: () => true,
    epoch: () => (aims.at(-1) === true ? 1 : undefined),
    isNext: () => false,
    want: (aim) => void aims.push(aim === true),
  }
  return { own, aims }
}

/** Runs a node; the returned function ends it. */
function node(name: string, process: string, accounts: readonly FleetAccount[], notes: string[] = []) {
  const ending = new AbortController()
  const over = runFleetNode(
    {
      ...{ table: open(), name, process, accounts, clock: systemClock },
      note: (_name, _level, text) => void notes.push(text),
    },
    ending.signal,
  )
  return async () => {
    ending.abort()
    await over
  }
}

test('a second process with the name of a node takes it, and the first one keeps what it has and is steered no more', {
  timeout: 30_000,
}, async () => {
  const [a, b] = [account('a'), account('b')]
  const notes: string[] = []
  const endFirst = node('one', 'host/1', [a.own], notes)
  await until('it holds its account', () => a.aims.at(-1) === true || undefined)
  const endSecond = node('one', 'host/2', [b.own])
  await until('the first one notices', () => notes.length > 0 || undefined)
  const count = a.aims.length
  await until('the second one is steered', () => b.aims.at(-1) === true || undefined)
  expect(a.aims).toHaveLength(count)
  await endFirst()
  expect((await open().read()).nodes).toMatchObject([{ process: 'host/2' }])
  await endSecond()
  expect((await open().read()).nodes).toEqual([])
})

test('without an answer of the database each account stays where it is, and is steered again when it is back', {
  timeout: 60_000,
}, async () => {
  const a = account('a')
  const notes: string[] = []
  const end = node('one', 'host/1', [a.own], notes)
  await until('it holds its account', () => a.aims.at(-1) === true || undefined)
  cluster.stop('fast')
  await until('it is told', () => notes.length > 0 || undefined)
  expect(a.aims.every((aim) => aim)).toBe(true)
  const count = a.aims.length
  cluster.start()
  await until('it is steered again', () => a.aims.length > count || undefined)
  expect(notes).toHaveLength(1)
  await end()
})

test('a node whose beat stands still is dead for the others, and its wishes hold no account back', {
  timeout: 60_000,
}, async () => {
  const table = open()
  await table.prepare()
  await table.enter(report('two', { can: ['a'] }))
  await table.wish('a', 'two')
  const a = account('a')
  const end = node('one', 'host/1', [a.own])
  await until('it is left to the other one', () => a.aims.at(-1) === false || undefined)
  await until('the other one is dead', () => a.aims.at(-1) === true || undefined)
  await end()
})
