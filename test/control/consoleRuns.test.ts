/** Backtests on the console's port: who may list, start and open them, and that a report's page is nobody's origin. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RunDesk, RunJob, RunOrder } from '../../src/control/console/runDesk.ts'
import type { ControlServer } from '../../src/control/server.ts'
import { ask, type Browser, handClock, logIn, openConsole } from './browser.ts'
import { asOperator, asReader, engine, operateToken, readToken } from './door.ts'

const run = {
  name: 'eth-trend-1a2b3c4d',
  strategies: ['eth-trend'],
  fromSeconds: 1_704_067_200,
  toSeconds: 1_704_153_600,
  figures: { isResult: true, madeUsd: '1', holdMadeUsd: '2', maxDrawdownBps: 3, trades: 4, wins: 5 },
}
const { figures: _, ...stopped } = { ...run, name: 'eth-trend-stopped' }
let orders: RunOrder[]
let job: RunJob | undefined
let server: ControlServer

/** One run at a time, which never ends by itself. */
const desk: RunDesk = {
  list: () => Promise.resolve({ runs: [run, stopped], more: 0, ...(job === undefined ? {} : { job }) }),
  start(order) {
    if (job !== undefined) return undefined
    orders.push(order)
    job = { name: 'made', strategy: order.strategy, startedAtMs: 0, state: 'running', percent: 0 }
    return job
  },
  resume(name) {
    if (name !== stopped.name) return Promise.resolve('none')
    if (job !== undefined) return Promise.resolve('running')
    job = { name, strategy: 'eth-trend', startedAtMs: 0, state: 'running', percent: 0 }
    return Promise.resolve(job)
  },
  cancel() {
    const had = job !== undefined
    job = undefined
    return had
  },
  page: (name) => Promise.resolve(name === run.name ? '<!doctype html><title>a report</title>' : undefined),
  close: () => Promise.resolve(),
}

beforeEach(async () => {
  orders = []
  job = undefined
  const fileOf = (name: string) =>
    name === 'eth-trend' ? { path: '/files/eth-trend.yaml', fields: [] } : undefined
  server = await openConsole({ clock: handClock() }, { runDesk: desk, engine: { ...engine, fileOf } })
})
afterEach(() => server.close())

const start = async (headers: Readonly<Record<string, string>>, body: object) => {
  const { status, error } = await ask(
    server,
    'POST',
    '/api/runs',
    { ...headers, 'content-type': 'application/json' },
    JSON.stringify(body),
  )
  return error === undefined ? [status] : [status, error]
}
const asked = { strategy: 'eth-trend', mode: 'fast' }
const pagesOf = async (browser: Browser) => {
  const { text } = await ask(server, 'GET', '/api/runs', browser.reading)
  const { runs } = JSON.parse(text) as { readonly runs: readonly { readonly page?: string }[] }
  return runs.map(({ page }) => page)
}
const cookieAlone = ({ reading }: Browser) => ({ cookie: reading.cookie ?? '' })

test('a reader lists runs and starts none; an operator starts one, a second not before its end, and cancels it', async () => {
  const reader = await logIn(server, readToken)
  const operator = await logIn(server, operateToken)
  expect((await ask(server, 'GET', '/api/runs')).status).toBe(401)
  expect(await pagesOf(reader)).toEqual([
    expect.stringMatching(/^\/console\/runs\/eth-trend-1a2b3c4d\//),
    undefined,
  ])
  expect(await start(reader.writing, asked)).toEqual([403, 'FORBIDDEN'])
  expect(await start(asReader, asked)).toEqual([403, 'FORBIDDEN'])
  expect(orders).toEqual([])
  expect(await start(operator.writing, { ...asked, from: '2024-01-01', balance: '5000' })).toEqual([200])
  expect(orders).toEqual([{ ...asked, from: '2024-01-01', balance: '5000', path: '/files/eth-trend.yaml' }])
  expect(await start(asOperator, asked)).toEqual([409, 'BACKTEST_RUNNING'])
  const cancel = async () => (await ask(server, 'POST', '/api/runs/cancel', operator.writing, '{}')).status
  expect([await cancel(), await cancel()]).toEqual([200, 409])
})

test('an operator resumes a run that was stopped, one at a time, and no other run', async () => {
  const reader = await logIn(server, readToken)
  const operator = await logIn(server, operateToken)
  const resume = async (headers: Readonly<Record<string, string>>, body: object) => {
    const { status, error } = await ask(server, 'POST', '/api/runs/resume', headers, JSON.stringify(body))
    return error === undefined ? status : error
  }
  expect(await resume(reader.writing, { name: stopped.name })).toBe('FORBIDDEN')
  expect(await resume(operator.writing, { name: stopped.name, path: '/etc' })).toBe('BAD_RUN')
  expect(await resume(operator.writing, { name: run.name })).toBe('NOT_FOUND')
  expect(await resume(operator.writing, { name: stopped.name })).toBe(200)
  expect(await resume(operator.writing, { name: stopped.name })).toBe('BACKTEST_RUNNING')
})

test('nothing but the name of a running strategy, days and amounts goes to the program', async () => {
  const bad = [
    { mode: 'fast' },
    { ...asked, path: '/etc/passwd' },
    { ...asked, mode: '--out' },
    { ...asked, from: '--out=x' },
    { ...asked, account: '--out=x' },
    { ...asked, from: '2024-01-01 --out' },
    { ...asked, balance: '1e9' },
    { ...asked, source: '--out' },
    { ...asked, source: '../oracle' },
  ]
  for (const body of bad)
    expect(await start(asOperator, body), JSON.stringify(body)).toEqual([400, 'BAD_RUN'])
  expect(await start(asOperator, { ...asked, strategy: '../eth' })).toEqual([404, 'NOT_FOUND'])
  expect(orders).toEqual([])
})

test('a report opens in a tab of the session that listed it and for nobody else, in a sandbox that loads nothing', async () => {
  const reader = await logIn(server, readToken)
  const other = await logIn(server, operateToken)
  const [page = ''] = await pagesOf(reader)
  const answer = await ask(server, 'GET', page, cookieAlone(reader))
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  const policy = String(answer.headers['content-security-policy'])
  expect(policy).toMatch(/^sandbox allow-scripts; default-src 'none';/)
  expect(policy).not.toMatch(/allow-same-origin|connect-src|'self'/)
  expect(answer.headers['x-frame-options']).toBe('DENY')
  expect(answer.headers['cache-control']).toBe('no-store')
  // The rest of the console has its own policy as before.
  expect(String((await ask(server, 'GET', '/console/')).headers['content-security-policy'])).toContain(
    "connect-src 'self'",
  )
  const refused = async (path: string, headers: Readonly<Record<string, string>>) =>
    (await ask(server, 'GET', path, headers)).error
  expect(await refused(page, {})).toBe('SESSION_NEEDED')
  expect(await refused(page, cookieAlone(other))).toBe('SESSION_NEEDED')
  expect(await refused(page.slice(0, -1), cookieAlone(reader))).toBe('SESSION_NEEDED')
  expect(await refused(page.replace(run.name, stopped.name), cookieAlone(reader))).toBe('SESSION_NEEDED')
  expect(await refused(page, { ...cookieAlone(reader), 'sec-fetch-dest': 'iframe' })).toBe('FRAME_REFUSED')
  await ask(server, 'DELETE', '/console/session', reader.writing)
  expect(await refused(page, cookieAlone(reader))).toBe('SESSION_NEEDED')
})
