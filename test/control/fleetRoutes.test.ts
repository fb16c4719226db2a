/** Routes of a fleet on a node's port, over rows in memory: what is shown, previewed, changed and refused. */
import { afterEach, expect, test } from 'vitest'
import { type ControlServer, createDeskServer } from '../../src/control/server.ts'
import { type FleetRows, fleetReport, type NodeRow } from '../../src/domain/summaries/fleetReport.ts'
import { createMetrics } from '../../src/monitor/metrics/metrics.ts'
import { runFleetRow } from '../../src/operator/commands/ofFleet/fleetContext.ts'
import { access, asOperator, asReader } from './door.ts'

let server: ControlServer
afterEach(() => server.close())

const node = (name: string, own: Partial<NodeRow> = {}): NodeRow => ({
  ...{ node: name, process: `${name}/1`, sinceMs: 1_000, can: ['alpha', 'beta'], holds: [], waits: [] },
  ...{ beat: 3, ageMs: 400, isDraining: false },
  ...own,
})
const rows: FleetRows = {
  nodes: [
    node('one', { holds: [{ account: 'alpha', epoch: 4 }], waits: ['beta'] }),
    node('two', { holds: [{ account: 'beta', epoch: 7 }], can: ['beta'] }),
    node('three', { ageMs: 60_000 }),
  ],
  wishes: new Map([['beta', 'two']]),
  heads: [
    { account: 'alpha', epoch: 4, holder: 'one/1', sinceMs: 2_000, records: 9 },
    { account: 'beta', epoch: 7, holder: 'two/1', records: 1 },
  ],
}

/** Opens the port of a node; `isNone`: of a process in no fleet. Returns what was changed. */
async function open(isNone = false): Promise<unknown[]> {
  const changes: unknown[] = []
  const context = {
    read: async () => rows,
    wish: async (...wish: readonly unknown[]) => void changes.push(wish),
    drain: async (...drain: readonly unknown[]) => changes.push(drain) > 0,
  }
  const { tokens, isMetricsOpen, isHealthOpen, requestsPerSecond } = access
  server = await createDeskServer({
    ...{ host: '127.0.0.1', port: 0, tokens, isMetricsOpen, isHealthOpen, requestsPerSecond },
    metrics: createMetrics({ version: '0.1.0', profile: 'paper', chain: 'arbitrum' }),
    accounts: [{ name: 'alpha', serve: () => undefined, fault: () => undefined }],
    ...(!isNone && {
      fleet: {
        report: async () => fleetReport(rows, { standbys: 1, lagBytes: 12 }),
        operate: (row, command, commander) => runFleetRow(row, context, command, commander),
      },
    }),
  })
  return changes
}

const post = async (path: string, body: object, headers: Record<string, string> = asOperator) => {
  const init = {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
  const answer = await fetch(`${server.url}${path}`, init)
  return { status: answer.status, body: await answer.json() }
}

test('a node shows the fleet to whoever may read: nodes with their silence, accounts with holder, heirs and wish', async () => {
  await open()
  const answer = await fetch(`${server.url}/api/fleet`, { headers: asReader })
  const { nodes, accounts, servers } = (await answer.json()) as Record<string, readonly object[]>
  expect(nodes).toMatchObject([
    { node: 'one', isSilent: false, sinceMs: 1_000 },
    { node: 'two', isSilent: false },
    { node: 'three', isSilent: true },
  ])
  expect(accounts).toEqual([
    {
      ...{ name: 'alpha', node: 'one', holder: 'one/1', epoch: 4, sinceMs: 2_000, records: 9 },
      ...{ nodes: ['one'], waiting: [], isListed: true },
    },
    {
      ...{ name: 'beta', node: 'two', holder: 'two/1', epoch: 7, records: 1, wish: 'two' },
      ...{ nodes: ['one', 'two'], waiting: ['one'], isListed: true },
    },
  ])
  expect(servers).toEqual({ standbys: 1, lagBytes: 12 })
  expect((await fetch(`${server.url}/api/fleet`)).status).toBe(401)
})

test('a preview changes nothing, and the command changes what it named', async () => {
  const changes = await open()
  const drain = { node: 'two', by: 'ann' }
  const seen = await post('/api/fleet/drain', { ...drain, preview: true })
  expect(seen).toMatchObject({ status: 200, body: { ok: true, statement: expect.stringContaining('beta') } })
  const move = { account: 'beta', node: 'one', by: 'ann' }
  expect((await post('/api/fleet/move', { ...move, preview: true })).status).toBe(200)
  expect(changes).toEqual([])
  expect((await post('/api/fleet/drain', drain)).body).toEqual(seen.body)
  await post('/api/fleet/drain', { ...drain, end: true })
  await post('/api/fleet/move', move)
  await post('/api/fleet/move', { ...move, node: 'any' })
  expect(changes).toEqual([
    ['two', true],
    ['two', false],
    ['beta', 'one'],
    ['beta', undefined],
  ])
})

test('a command for a node that is silent says so and what will happen, and one account that only its node can hold stays there', async () => {
  await open()
  const preview = async (path: string, body: object) =>
    ((await post(path, { ...body, by: 'ann', preview: true })).body as { statement: string }).statement
  expect(await preview('/api/fleet/move', { account: 'beta', node: 'three' })).toMatch(
    /three has been silent for 60 s: .*nothing moves/,
  )
  expect(await preview('/api/fleet/drain', { node: 'three' })).toMatch(
    /^three has been silent for 60 s: other/,
  )
  expect(await preview('/api/fleet/drain', { node: 'one' })).toMatch(
    /^one gives no account away, and takes none.* alpha stays there: .* can hold it$/,
  )
  const { body } = await post('/api/fleet/move', { account: 'alpha', node: 'two', by: 'ann' })
  expect(body).toMatchObject({ message: expect.stringMatching(/could not open its key.*; one can/) })
})

test.each([
  ['/api/fleet/move', { account: 'gamma', node: 'one' }, 409, 'FLEET_ACCOUNT_UNKNOWN'],
  ['/api/fleet/move', { account: 'alpha', node: 'four' }, 409, 'FLEET_NODE_UNKNOWN'],
  ['/api/fleet/move', { account: 'alpha', node: 'two' }, 409, 'FLEET_NODE_UNABLE'],
  ['/api/fleet/drain', { node: 'four' }, 409, 'FLEET_NODE_UNKNOWN'],
  ['/api/fleet/drain', { node: 'two', more: 1 }, 400, 'BAD_COMMAND'],
] as const)('%s of %o is refused with %i %s, and nothing changes', async (path, body, status, error) => {
  const changes = await open()
  for (const preview of [true, false])
    expect(await post(path, { ...body, preview, by: 'ann' })).toMatchObject({ status, body: { error } })
  expect(await post(path, { ...body, by: 'ann' }, asReader)).toMatchObject({ status: 403 })
  expect(changes).toEqual([])
})

test('a process in no fleet answers its page with null, and has no command of a fleet', async () => {
  await open(true)
  const answer = await fetch(`${server.url}/api/fleet`, { headers: asReader })
  expect([answer.status, await answer.json()]).toEqual([200, null])
  expect(await post('/api/fleet/drain', { node: 'one', by: 'ann' })).toMatchObject({
    body: { error: 'ACCOUNT_REQUIRED' },
  })
})
