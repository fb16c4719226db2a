import assert from 'node:assert'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ControlPortError, type ControlServer, createControlServer } from '../../src/control/server.ts'
import type { Verdict } from '../../src/monitor/health.ts'
import { createMetrics } from '../../src/monitor/metrics/metrics.ts'
import { allRows } from '../../src/operator/commands/index.ts'
import { intent } from '../monitor/events.ts'
import { access, asReader, engine } from './door.ts'

const metrics = createMetrics({ version: '0.1.0', profile: 'paper', chain: 'arbitrum' })
let verdict: Verdict = { ok: true, reasons: [] }
const health = { live: () => verdict, ready: () => verdict }
let server: ControlServer

beforeEach(async () => {
  verdict = { ok: true, reasons: [] }
  server = await createControlServer({
    host: '127.0.0.1',
    port: 0,
    engine,
    metrics,
    health,
    hostNames: ['perpd'],
    ...access,
  })
})
afterEach(() => server.close())

const get = (path: string) => fetch(`${server.url}${path}`, { headers: asReader })

/** A GET with headers of one's own; fetch does not let a Host header through. */
function getAs(
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; body: string; headers: object }> {
  return new Promise((resolve, reject) => {
    request(
      { host: '127.0.0.1', port: server.port, path, headers: { ...asReader, ...headers } },
      (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (part: string) => {
          body += part
        })
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body, headers: response.headers }),
        )
      },
    )
      .on('error', reject)
      .end()
  })
}

test('candles are asked for by market, period, count and the moment before which they begin', async () => {
  const asked: unknown[] = []
  await server.close()
  server = await createControlServer({
    ...{ host: '127.0.0.1', port: 0, metrics, health, hostNames: ['perpd'], ...access },
    engine: {
      ...engine,
      candles: (...query) => {
        asked.push(query)
        return Promise.resolve(undefined)
      },
    },
  })
  const path = '/api/candles?market=ETH'
  expect((await get(`${path}&period=1h&limit=9999&before=1800000000`)).status).toBe(404)
  expect((await get(path)).status).toBe(404)
  expect(asked).toEqual([
    ['ETH', '1h', { limit: 5_000, beforeSeconds: 1_800_000_000 }],
    ['ETH', '5m', { limit: 200 }],
  ])
  for (const wrong of ['&limit=0', '&limit=1e3', '&before=-1', '&before=soon', '&period=2m'])
    expect([wrong, (await get(`${path}${wrong}`)).status]).toEqual([wrong, 400])
})

test('HEAD is answered as GET, without a body: open paths to everybody, the others to who may read', async () => {
  const head = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}${path}`, { method: 'HEAD', headers })
  const open = await head('/metrics')
  expect([open.status, await open.text()]).toEqual([200, ''])
  expect(open.headers.get('content-type')).toContain('text/plain')
  expect((await head('/readyz')).status).toBe((await get('/readyz')).status)
  expect((await head('/api/status')).status).toBe(401)
  expect((await head('/api/status', asReader)).status).toBe(200)
})

test('metrics are served in the text format', async () => {
  const response = await get('/metrics')
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(await response.text()).toContain('perpd_orders{state="pending"} 1\n')
})

test('health and readiness answer 200, or 503 with the reasons', async () => {
  for (const path of ['/livez', '/healthz', '/readyz']) {
    verdict = { ok: true, reasons: [] }
    expect((await get(path)).status).toBe(200)
    verdict = { ok: false, reasons: ['recovering'] }
    const bad = await get(path)
    expect([bad.status, await bad.json()]).toEqual([503, { ok: false, reasons: ['recovering'] }])
  }
})

test('the status carries amounts as exact text and open orders as rows', async () => {
  const body = (await (await get('/api/status')).json()) as Record<string, unknown>
  expect(body.exposureUsd).toBe('1000000000000000000000000000000000')
  expect(body.openIntents).toMatchInlineSnapshot(`
    [
      {
        "acceptedAt": "2027-01-15T08:00:00.000Z",
        "armedAt": "2027-01-15T08:00:00.020Z",
        "closedAt": null,
        "deadlineAt": "2027-01-15T08:05:00.000Z",
        "decisionReason": "the fast average is above the slow one",
        "digest": "0xd1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1",
        "direction": "long",
        "host": "https://arbitrum.gmxapi.io/v1",
        "intentId": "f00d00000000000000000001",
        "kind": "increase",
        "legs": [],
        "market": "ETH/USD [WETH-USDC]",
        "observedStatus": "relay_accepted",
        "orderType": "market",
        "outcome": null,
        "presumedDeadForSeconds": null,
        "reason": null,
        "requestId": "req-1",
        "sentAt": "2027-01-15T08:00:00.030Z",
        "sizeDeltaUsd": "500000000000000000000000000000000",
        "standing": "pending",
        "status": "pending",
        "strategy": "eth-trend",
        "taskId": "task-1",
        "triggerPrice": null,
        "unwantedBy": null,
        "warnings": [],
      },
    ]
  `)
})

test('orders are listed with filters', async () => {
  const count = async (query: string) =>
    ((await (await get(`/api/orders${query}`)).json()) as unknown[]).length
  expect(await count('')).toBe(2)
  expect(await count('?open=true')).toBe(1)
  expect(await count('?limit=1')).toBe(1)
  expect(await count('?strategy=other')).toBe(0)
  const bad = await get('/api/orders?limit=-1')
  expect([bad.status, await bad.json()]).toEqual([
    400,
    { error: 'BAD_LIMIT', message: 'limit is -1; expected a whole number from 1.' },
  ])
})

test('one order is told whole, without its signature', async () => {
  const response = await get(`/api/orders/${intent.intentId}`)
  const text = await response.text()
  expect(JSON.parse(text)).toMatchObject({
    order: { status: 'executed', outcome: 'EXECUTED' },
    steps: [{ seq: 1, kind: 'intent.accepted', sinceAcceptedMs: 0 }],
  })
  expect(text).not.toContain('51'.repeat(65))
  const absent = await get('/api/orders/nothing')
  expect([absent.status, await absent.json()]).toEqual([
    404,
    { error: 'NOT_FOUND', message: 'There is no order nothing.' },
  ])
})

test('an unknown path names every route, those of all commands too', async () => {
  const response = await get('/status')
  const { error, message } = (await response.json()) as { readonly error: string; readonly message: string }
  expect([response.status, error]).toEqual([404, 'NOT_FOUND'])
  const named = message.split(/[ ,;.]+/)
  for (const route of [...allRows.map((row) => row.route), '/metrics', '/livez', '/api/status', '/api/logs'])
    expect(named).toContain(route)
  expect(message).not.toContain('/console/')
})

test('a name that is not this machine is refused, so that no web page can rebind one to it', async () => {
  for (const host of ['evil.example', 'evil.example:9464', '127.0.0.1.evil.example']) {
    expect([host, (await getAs('/api/status', { host })).status]).toEqual([host, 421])
  }
  for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1', '[::1]:9464', '10.0.0.7:9464', 'perpd:9464']) {
    expect([host, (await getAs('/healthz', { host })).status]).toEqual([host, 200])
  }
})

test('an answer that cannot be made is one clear 500', async () => {
  const broken = { ...engine, status: () => assert.fail('no status') }
  const other = await createControlServer({
    host: '127.0.0.1',
    port: 0,
    engine: broken,
    metrics,
    health,
    ...access,
  })
  const response = await fetch(`${other.url}/api/status`, { headers: asReader })
  expect([response.status, await response.json()]).toEqual([
    500,
    { error: 'INTERNAL', message: 'This answer could not be made: no status' },
  ])
  await other.close()
})

test('a port in use is one clear error that says how to go on', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as AddressInfo
  const error = await createControlServer({
    host: '127.0.0.1',
    port,
    engine,
    metrics,
    health,
    ...access,
  }).catch((thrown: unknown) => thrown)
  other.close()
  expect(error).toBeInstanceOf(ControlPortError)
  expect((error as Error).message.replaceAll(String(port), 'PORT').replaceAll(String(port + 1), 'NEXT')).toBe(
    [
      'The control port is in use.',
      '  address: 127.0.0.1:PORT',
      '  reason: EADDRINUSE',
      '  perpd did not start. Another program, perhaps another perpd, listens there: stop it, or choose another port with --control.port NEXT',
    ].join('\n'),
  )
})

test('closing ends open connections and frees the port', async () => {
  await get('/healthz')
  await server.close()
  await expect(get('/healthz')).rejects.toThrow('fetch failed')
  server = await createControlServer({
    host: '127.0.0.1',
    port: server.port,
    engine,
    metrics,
    health,
    ...access,
  })
})
