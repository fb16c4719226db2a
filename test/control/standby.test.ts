/** The port of a perpd that waits for its journal. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ControlServer, createStandbyServer } from '../../src/control/server.ts'
import type { StandbyStatus } from '../../src/control/standbyRoutes.ts'
import { createMetrics } from '../../src/monitor/metrics/metrics.ts'
import { access, asOperator, asReader } from './door.ts'

const reason = 'standby: waits; held by one/7 since 2027-01-15T08:00:00.000Z, epoch 4'
let server: ControlServer
let journal: StandbyStatus['journal']

beforeEach(async () => {
  journal = { path: 'postgres://db/perpd#desk', epoch: 4, holder: 'one/7' }
  server = await createStandbyServer({
    host: '127.0.0.1',
    port: 0,
    ...{ tokens: access.tokens, isMetricsOpen: true, isHealthOpen: true, requestsPerSecond: 100 },
    metrics: createMetrics({ version: '', profile: '', chain: '', journalAccount: 'desk' }),
    standby: () => ({
      ...{ version: '0.1.0', profile: 'paper', chain: 'arbitrum', state: 'waiting' },
      ...{ nowMs: 2_000, startedAtMs: 1_000, code: 'JOURNAL_LOCKED', reason },
      journal,
    }),
  })
})
afterEach(() => server.close())

async function ask(path: string, init: RequestInit = {}): Promise<readonly [number, unknown]> {
  const response = await fetch(`${server.url}${path}`, init)
  return [response.status, await response.json()]
}

test('a perpd that waits is alive, and not ready with the reason', async () => {
  expect(await ask('/livez')).toEqual([200, { ok: true, reasons: [] }])
  expect(await ask('/readyz')).toEqual([503, { ok: false, reasons: [reason] }])
})

test('its status says for whom it waits, to those alone who hold a token', async () => {
  expect(await ask('/api/status', { headers: asReader })).toMatchObject([
    503,
    { error: 'JOURNAL_WAITING', message: reason, standby: { state: 'waiting', journal: { epoch: 4 } } },
  ])
  expect((await ask('/api/status'))[0]).toBe(401)
})

test('it carries out no command', async () => {
  const init = { method: 'POST', headers: asOperator, body: '{}' }
  expect(await ask('/api/kill', init)).toMatchObject([503, { error: 'JOURNAL_WAITING' }])
})

test('its series name the account and nothing of the holder', async () => {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  expect(text).toContain('perpd_journal_held{account="desk"} 0\n')
  expect(text).toContain('perpd_journal_epoch{account="desk"} 4\n')
  expect(text).not.toContain('perpd_journal_standbys{')
  expect(text).not.toContain('one/7')
  // It is no perpd that should make orders and does not.
  expect(text).not.toMatch(/^perpd_ready/m)
})

test('while the server does not answer its series still say that it does not hold the journal, so that an alert sees that nobody does', async () => {
  journal = { path: 'postgres://db/perpd#desk' }
  const text = await (await fetch(`${server.url}/metrics`)).text()
  expect(text).toContain('perpd_journal_held{account="desk"} 0\n')
  expect(text).not.toContain('perpd_journal_epoch{')
})
