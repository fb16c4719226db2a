/** The control port of a process with several accounts. */
import { type AddressInfo, createServer } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { RunDesk, RunJob, RunOrder } from '../../src/control/console/runDesk.ts'
import type { DeskAccount, MountAccount } from '../../src/control/deskRoutes.ts'
import { type ControlServer, createDeskServer, type DeskOptions } from '../../src/control/server.ts'
import type { StandbyStatus } from '../../src/control/standbyRoutes.ts'
import type { Verdict } from '../../src/monitor/health.ts'
import { createMetrics } from '../../src/monitor/metrics/metrics.ts'
import { allRows } from '../../src/operator/commands/index.ts'
import { handClock } from './browser.ts'
import { access, asOperator, asReader, engine } from './door.ts'

const options = { version: '0.1.0', profile: 'paper', chain: 'arbitrum' }
let server: ControlServer
afterEach(() => server.close())

const damaged: DeskAccount = {
  name: 'gamma',
  serve: () => undefined,
  fault: () => 'its journal is damaged',
}

/** Two accounts that run, and others: one that could not be opened. Returns the commands that each got. */
async function open(
  verdicts: Readonly<Record<string, Verdict>> = {},
  more: readonly DeskAccount[] = [damaged],
  desk: Partial<DeskOptions> = {},
): Promise<Record<string, string[]>> {
  const got: Record<string, string[]> = { alpha: [], beta: [] }
  const { tokens, isMetricsOpen, isHealthOpen, requestsPerSecond, ...own } = access
  const served = (name: string) => ({
    ...own,
    engine: {
      ...engine,
      fileOf: (strategy: string) =>
        strategy === 'eth-trend' ? { path: `/${name}/eth-trend.yaml`, fields: [] } : undefined,
      operate: (command: { readonly type: string }) => {
        got[name]?.push(command.type)
        return Promise.resolve({ ok: true, statement: `${name} did it` } as const)
      },
    },
    metrics: createMetrics({ ...options, isOfAccount: true }),
    health: {
      live: () => verdicts[name] ?? { ok: true, reasons: [] },
      ready: () => verdicts[name] ?? { ok: true, reasons: [] },
    },
  })
  server = await createDeskServer({
    ...{ host: '127.0.0.1', port: 0, tokens, isMetricsOpen, isHealthOpen, requestsPerSecond },
    metrics: createMetrics(options),
    accounts: [
      { name: 'alpha', serve: (mount) => mount(served('alpha')), fault: () => undefined },
      { name: 'beta', serve: (mount) => mount(served('beta')), fault: () => undefined },
      ...more,
    ],
    ...desk,
  })
  return got
}

const ask = async (path: string, init: RequestInit = { headers: asReader }) => {
  const answer = await fetch(`${server.url}${path}`, init)
  return { status: answer.status, body: await answer.json() }
}
const post = (path: string, body: object) =>
  ask(path, {
    method: 'POST',
    headers: { ...asOperator, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

test('where its port is taken it serves at another one, and asks for each account once', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as AddressInfo
  const mounts: MountAccount[] = []
  const moves: unknown[] = []
  const late: DeskAccount = {
    name: 'delta',
    serve: (mount) => void mounts.push(mount),
    fault: () => undefined,
  }
  await open({}, [late], { port, moved: ({ url }, { reason }) => void moves.push([url, reason]) })
  other.close()
  expect(moves).toEqual([[server.url, 'EADDRINUSE']])
  expect(server.port).not.toBe(port)
  // One that is taken later would be mounted by whoever asked: twice, and it kept two curves in one file.
  expect(mounts).toHaveLength(1)
})

test('each account has its routes below its name, and a command reaches that account alone', async () => {
  const got = await open()
  expect((await ask('/accounts/alpha/api/status')).body).toMatchObject({ state: 'running' })
  expect((await ask('/accounts/beta/api/orders')).status).toBe(200)
  expect(await post('/accounts/beta/api/trading', { state: 'halted', by: 'ann' })).toMatchObject({
    status: 200,
    body: { statement: 'beta did it' },
  })
  expect(got).toEqual({ alpha: [], beta: ['trading'] })
})

test('a path without a name is refused with the names, whatever it asks, and nothing is done', async () => {
  const got = await open()
  const paths = ['/api/status', '/api/orders', '/api/log/levels', '/api/equity', '/api/stream']
  for (const path of paths)
    expect(await ask(path), path).toMatchObject({
      status: 409,
      body: { error: 'ACCOUNT_REQUIRED', accounts: ['alpha', 'beta', 'gamma'] },
    })
  for (const { route } of allRows)
    expect((await post(route.replace(/:\w+/, 'x'), {})).body, route).toMatchObject({
      error: 'ACCOUNT_REQUIRED',
    })
  expect(got).toEqual({ alpha: [], beta: [] })
})

test('an account that is not there, and one that did not open, are told apart', async () => {
  await open()
  expect(await ask('/accounts/delta/api/status')).toMatchObject({
    status: 404,
    body: { error: 'ACCOUNT_UNKNOWN' },
  })
  expect(await ask('/accounts/gamma/api/status')).toMatchObject({
    status: 503,
    body: { error: 'ACCOUNT_FAILED' },
  })
  expect((await ask('/accounts/alpha/api/nothing')).body).toMatchObject({ error: 'NOT_FOUND' })
  expect((await ask('/api/accounts')).body).toEqual([
    { name: 'alpha', isRunning: true },
    { name: 'beta', isRunning: true },
    { name: 'gamma', isRunning: false, fault: 'its journal is damaged' },
  ])
})

test('the process is ready when all accounts are, and alive while each that runs is', async () => {
  await open()
  expect(await ask('/livez', {})).toEqual({ status: 200, body: { ok: true, reasons: [] } })
  expect(await ask('/readyz', {})).toEqual({
    status: 503,
    body: { ok: false, reasons: ['gamma: its journal is damaged'] },
  })
  await server.close()
  await open({ beta: { ok: false, reasons: ['stuck'] } })
  expect((await ask('/livez', {})).body).toEqual({ ok: false, reasons: ['beta: stuck'] })
})

test('an account that waits for its journal is served from the time on at which its trader comes, and waits again when it goes', async () => {
  let mount: MountAccount | undefined
  let isWaiting = true
  const reason = 'standby: waits; held by two/7, epoch 4'
  const status: StandbyStatus = {
    ...{ version: '0.1.0', profile: 'paper', chain: 'arbitrum', state: 'waiting' },
    ...{ nowMs: 2_000, startedAtMs: 1_000, code: 'JOURNAL_LOCKED', reason },
    journal: { path: 'postgres://db/perpd#paper.delta', epoch: 4, holder: 'two/7' },
  }
  const metrics = createMetrics({ ...options, isOfAccount: true, journalAccount: 'paper.delta' })
  const delta: DeskAccount = {
    name: 'delta',
    serve: (given) => {
      mount = given
    },
    fault: () => undefined,
    waiting: () => (isWaiting ? { status, metrics } : undefined),
  }
  await open({}, [delta])
  const waits = { status: 503, body: { error: 'JOURNAL_WAITING', message: reason } }
  expect(await ask('/accounts/delta/api/status')).toMatchObject({
    ...waits,
    body: { standby: { state: 'waiting', journal: { epoch: 4 } } },
  })
  expect(await post('/accounts/delta/api/trading', { state: 'halted', by: 'ann' })).toMatchObject(waits)
  expect((await ask('/api/accounts')).body).toContainEqual({
    ...{ name: 'delta', isRunning: false, waits: reason, holder: 'two/7', epoch: 4 },
  })
  // Another perpd has it: this one is ready for those that it has.
  expect(await ask('/readyz', {})).toMatchObject({ status: 200 })
  const series = await (await fetch(`${server.url}/metrics`, { headers: asReader })).text()
  expect(series).toContain(`perpd_journal_held{account="delta"} 0\n`)
  expect(series).toContain(`perpd_ready{account="alpha"} 1\n`)
  expect(series).not.toContain(`perpd_ready{account="delta"}`)

  isWaiting = false
  const { tokens, isMetricsOpen, isHealthOpen, requestsPerSecond, ...own } = access
  const verdict = { ok: true, reasons: [] }
  const end = mount?.({
    ...{ ...own, engine, metrics },
    health: { live: () => verdict, ready: () => verdict },
  })
  expect(await ask('/accounts/delta/api/status')).toMatchObject({ status: 200, body: { state: 'running' } })
  expect((await ask('/accounts/delta/api/nothing')).body).toMatchObject({ error: 'NOT_FOUND' })
  const asked = await fetch(`${server.url}/accounts/delta/api/trading`, {
    ...{ method: 'POST', headers: { ...asReader, 'content-type': 'application/json' }, body: '{}' },
  })
  expect(asked.status).toBe(403)
  isWaiting = true
  await end?.()
  expect(await ask('/accounts/delta/api/status')).toMatchObject(waits)
})

test('a process whose accounts all wait is alive and not ready', async () => {
  const { tokens, isMetricsOpen, isHealthOpen, requestsPerSecond } = access
  const reason = 'standby: waits; held by two/7, epoch 4'
  const status: StandbyStatus = {
    ...{ version: '0.1.0', profile: 'paper', chain: 'arbitrum', state: 'waiting' },
    ...{ nowMs: 2_000, startedAtMs: 1_000, code: 'JOURNAL_LOCKED', reason },
    journal: { path: 'postgres://db/perpd#paper.delta', epoch: 4, holder: 'two/7' },
  }
  const metrics = createMetrics(options)
  const account = { name: 'delta', serve: () => undefined, fault: () => undefined }
  server = await createDeskServer({
    ...{ host: '127.0.0.1', port: 0, tokens, isMetricsOpen, isHealthOpen, requestsPerSecond, metrics },
    accounts: [{ ...account, waiting: () => ({ status, metrics }) }],
  })
  expect((await ask('/livez', {})).status).toBe(200)
  expect(await ask('/readyz', {})).toEqual({
    status: 503,
    body: { ok: false, reasons: [`delta: ${reason}`] },
  })
})

test('without a token nothing of an account is shown, and a reader commands none', async () => {
  const got = await open()
  expect((await ask('/accounts/alpha/api/status', {})).status).toBe(401)
  expect((await ask('/api/accounts', {})).status).toBe(401)
  const answer = await ask('/accounts/alpha/api/kill', {
    method: 'POST',
    headers: { ...asReader, 'content-type': 'application/json' },
    body: '{}',
  })
  expect(answer.status).toBe(403)
  expect(got.alpha).toEqual([])
})

test('a backtest takes the file and the settings of the account that it names, and none without a name', async () => {
  const orders: RunOrder[] = []
  const begun: RunJob = { name: 'made', strategy: '', startedAtMs: 0, state: 'running', percent: 0 }
  const runDesk: RunDesk = {
    list: () => Promise.resolve({ runs: [], more: 0 }),
    start(order) {
      orders.push(order)
      return begun
    },
    resume: (_name, account) => Promise.resolve(account === 'beta' ? begun : 'none'),
    cancel: () => false,
    page: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  }
  await open({}, [damaged], { console: { clock: handClock() }, runDesk })
  const wanted = { strategy: 'eth-trend', mode: 'fast' } as const
  const start = async (more: object) => (await post('/api/runs', { ...wanted, ...more })).status
  expect([await start({}), await start({ account: 'gamma' }), await start({ account: 'delta' })]).toEqual([
    404, 404, 404,
  ])
  expect([await start({ account: 'beta' }), await start({ account: 'alpha' })]).toEqual([200, 200])
  expect(orders).toEqual(
    ['beta', 'alpha'].map((account) => ({ ...wanted, account, path: `/${account}/eth-trend.yaml` })),
  )
  expect((await post('/api/runs/resume', { name: 'made', account: 'beta' })).status).toBe(200)
})
