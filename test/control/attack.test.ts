/** The control port under attack, over real sockets: nothing happens but a clear refusal. */

import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ControlServer, createControlServer } from '../../src/control/server.ts'
import { createMetrics } from '../../src/monitor/metrics/metrics.ts'
import type { OperatorCommand } from '../../src/operator/commands/index.ts'
import { access, asOperator, asReader, engine, operateToken, readToken } from './door.ts'

const metrics = createMetrics({ version: '0.1.0', profile: 'paper', chain: 'arbitrum' })
const health = { live: () => ({ ok: true, reasons: [] }), ready: () => ({ ok: true, reasons: [] }) }
const requestsPerSecond = 1_000
const requestTimeoutMs = 300
let commands: { readonly command: OperatorCommand; readonly by: string; readonly via: string }[]
let server: ControlServer

async function open(changes: Partial<typeof access> = {}, timeoutMs = requestTimeoutMs): Promise<void> {
  server = await createControlServer({
    host: '127.0.0.1',
    port: 0,
    engine: {
      ...engine,
      operate: (command, { by, via }) => {
        commands.push({ command, by, via })
        return Promise.resolve(
          command.type === 'discrepancy'
            ? { ok: false, code: 'DISCREPANCY_UNKNOWN', reason: 'there is none' }
            : { ok: true, statement: 'done' },
        )
      },
    },
    metrics,
    health,
    ...access,
    requestsPerSecond,
    requestTimeoutMs: timeoutMs,
    ...changes,
  })
}

beforeEach(async () => {
  commands = []
  await open()
})
afterEach(() => server.close())

interface Answer {
  readonly status: number
  readonly error: string | undefined
  readonly headers: Readonly<Record<string, unknown>>
}

/** One request with headers and body of one's own; fetch does not let a Host header through. */
function ask(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: server.port, method, path, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () => {
        const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : {}
        const { error } = parsed as { error?: string }
        resolve({ status: response.statusCode ?? 0, error, headers: response.headers })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const json = { 'content-type': 'application/json' }
const halt = JSON.stringify({ state: 'halted', by: 'mallory' })
const post = (headers: Record<string, string>, body = halt, path = '/api/trading') =>
  ask('POST', path, { ...json, ...headers }, body)
const shown = async (asked: Promise<Answer>) => {
  const { status, error } = await asked
  return [status, error]
}

/** Writes raw bytes and gives everything that came back until the server ended the connection. */
function raw(text: string, more?: { readonly everyMs: number; readonly part: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write(text))
    let heard = ''
    const timer =
      more === undefined
        ? undefined
        : setInterval(() => socket.writable && socket.write(more.part), more.everyMs)
    socket.setEncoding('utf8').on('data', (part: string) => {
      heard += part
    })
    // A cut in the middle of our own writing is what is hoped for.
    socket.on('error', (error: NodeJS.ErrnoException) =>
      ['ECONNRESET', 'EPIPE'].includes(error.code ?? '') ? undefined : reject(error),
    )
    socket.on('close', () => {
      clearInterval(timer)
      resolve(heard)
    })
  })
}

test('without a token, or with a wrong one, nothing of the account is shown and nothing is done', async () => {
  const wrong = [
    {},
    { authorization: '' },
    { authorization: 'Bearer ' },
    { authorization: `Bearer ${'x'.repeat(43)}` },
    { authorization: `Bearer ${operateToken.slice(1)}` },
    { authorization: `Bearer ${operateToken}x` },
    { authorization: `Bearer ${operateToken} ${operateToken}` },
    { authorization: `Basic ${operateToken}` },
    { authorization: operateToken },
    { authorization: `Bearer ${'y'.repeat(4_000)}` },
  ]
  for (const headers of wrong) {
    for (const path of ['/api/status', '/api/orders', '/api/orders/x', '/', '/nothing'])
      expect([path, ...(await shown(ask('GET', path, headers)))]).toEqual([path, 401, 'UNAUTHORIZED'])
    expect(await shown(post(headers))).toEqual([401, 'UNAUTHORIZED'])
  }
  const { headers } = await ask('GET', '/api/status')
  expect(headers['www-authenticate']).toBe('Bearer')
  expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  expect(commands).toEqual([])
})

test('the read token reads and commands nothing; the operate token does both, and the command says who', async () => {
  expect((await ask('GET', '/api/status', asReader)).status).toBe(200)
  for (const path of [
    '/api/trading',
    '/api/kill',
    '/api/limits',
    '/api/discrepancies/f',
    '/api/markets/m/trust',
    '/api/orders/o/resolve',
  ])
    expect(await shown(post(asReader, halt, path))).toEqual([403, 'FORBIDDEN'])
  expect(commands).toEqual([])
  expect((await ask('GET', '/api/status', asOperator)).status).toBe(200)
  const asked = [
    ['/api/trading', { scope: 'eth-trend', state: 'reducing', reason: 'news', by: 'ann' }],
    ['/api/kill', { close: true, by: 'ann' }],
    ['/api/limits', { by: 'ann' }],
    ['/api/orders/f00d/resolve', { as: 'dead', by: 'ann' }],
  ] as const
  for (const [path, body] of asked)
    expect((await post(asOperator, JSON.stringify(body), path)).status).toBe(200)
  const discrepancy = JSON.stringify({ as: 'adopted', by: 'ann' })
  expect(await shown(post(asOperator, discrepancy, '/api/discrepancies/abc'))).toEqual([
    409,
    'DISCREPANCY_UNKNOWN',
  ])
  expect(commands).toEqual([
    {
      command: { type: 'trading', scope: 'strategy:eth-trend', state: 'reducing', reason: 'news' },
      by: 'ann',
      via: 'control',
    },
    { command: { type: 'kill', close: true }, by: 'ann', via: 'control' },
    { command: { type: 'limits', isConfirmed: false }, by: 'ann', via: 'control' },
    { command: { type: 'resolve', intentId: 'f00d', as: 'dead' }, by: 'ann', via: 'control' },
    { command: { type: 'discrepancy', discrepancyId: 'abc', as: 'adopted' }, by: 'ann', via: 'control' },
  ])
})

test('a foreign Host header and a page of any origin get nothing, token or not', async () => {
  for (const host of [
    'evil.example',
    'evil.example:9464',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
  ]) {
    for (const headers of [{}, asOperator]) {
      expect(await shown(ask('GET', '/api/status', { ...headers, host }))).toEqual([421, 'HOST_NOT_ALLOWED'])
      expect(await shown(ask('GET', '/livez', { ...headers, host }))).toEqual([421, 'HOST_NOT_ALLOWED'])
      expect(await shown(post({ ...headers, host }))).toEqual([421, 'HOST_NOT_ALLOWED'])
    }
  }
  for (const origin of [
    'http://evil.example',
    'null',
    'http://127.0.0.1:1',
    `http://localhost:${server.port}`,
  ]) {
    for (const headers of [{}, asOperator]) {
      expect(await shown(ask('GET', '/metrics', { ...headers, origin }))).toEqual([403, 'ORIGIN_NOT_ALLOWED'])
      expect(await shown(post({ ...headers, origin }))).toEqual([403, 'ORIGIN_NOT_ALLOWED'])
      expect(await shown(ask('OPTIONS', '/api/kill', { ...headers, origin }))).toEqual([
        403,
        'ORIGIN_NOT_ALLOWED',
      ])
    }
  }
  expect(commands).toEqual([])
})

test('a body that is too large is refused, announced or in pieces', async () => {
  const large = JSON.stringify({ state: 'halted', by: 'ann', reason: 'x'.repeat(5_000) })
  expect(await shown(post(asOperator, large))).toEqual([413, 'BODY_TOO_LARGE'])
  const chunked = { ...asOperator, 'transfer-encoding': 'chunked' }
  expect(await shown(post(chunked, large))).toEqual([413, 'BODY_TOO_LARGE'])
  const announced = await raw(
    `POST /api/kill HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${operateToken}\r\nContent-Type: application/json\r\nContent-Length: 999999999\r\n\r\n{`,
  )
  expect(announced).toMatch(/^HTTP\/1\.1 413 /)
  const headers = await raw(`GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`)
  expect(headers).toMatch(/^HTTP\/1\.1 431 /)
  expect(commands).toEqual([])
})

test('a body that is no command is refused with its mistakes', async () => {
  const bad: readonly (readonly [string, number])[] = [
    ['', 400],
    ['{', 400],
    ['null', 400],
    ['[]', 400],
    ['"halted"', 400],
    ['{}', 400],
    ['{"state":"halted"}', 400],
    ['{"state":"HALTED","by":"ann"}', 400],
    ['{"state":"halted","by":""}', 400],
    ['{"state":"halted","by":"a\\nb"}', 400],
    [`{"state":"halted","by":"${'n'.repeat(81)}"}`, 400],
    ['{"state":"halted","by":"ann","force":true}', 400],
    ['{"state":"halted","by":"ann","__proto__":{"close":true}}', 400],
    ['{"state":["halted"],"by":"ann"}', 400],
    ['{"state":"halted","by":{"toString":1}}', 400],
  ]
  for (const [body, status] of bad)
    expect([body, (await post(asOperator, body)).status]).toEqual([body, status])
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
    expect(await shown(post({ ...asOperator, 'content-type': type }))).toEqual([415, 'BODY_NOT_JSON'])
  for (const method of ['PUT', 'DELETE', 'PATCH', 'GET'])
    expect([method, (await ask(method, '/api/kill', asOperator)).status]).toEqual([method, 404])
  expect(commands).toEqual([])
})

test('a client that sends its headers or its body slowly is cut off', async () => {
  const drip = { everyMs: 50, part: ' ' }
  const body = await raw(
    `POST /api/kill HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${operateToken}\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n{`,
    drip,
  )
  expect(body === '' || /^HTTP\/1\.1 (408|400) /.test(body), body).toBe(true)
  const headers = await raw('GET /api/status HTTP/1.1\r\nHost: localhost\r\nX-Slow: ', {
    everyMs: 50,
    part: 'x',
  })
  expect(headers).toMatch(/^HTTP\/1\.1 408 |^$/)
  expect(commands).toEqual([])
  expect((await ask('GET', '/livez')).status).toBe(200)
})

test('10,000 requests with wrong tokens change nothing, are refused clearly, and keep nobody else out', async () => {
  await server.close()
  await open({ requestsPerSecond: 100 }, 30_000)
  const head = (method: string, path: string, n: number) =>
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${String(n).padStart(43, 'z')}\r\n`
  const counts = new Map<string, number>()
  const count = (heard: string): void => {
    for (const [, answer = ''] of heard.matchAll(/HTTP\/1\.1 (\d+) /g)) {
      counts.set(answer, (counts.get(answer) ?? 0) + 1)
    }
  }
  // Ten rounds of 910 reads in pipelines of ten connections and 90 commands; in between, those who may ask.
  for (let round = 0; round < 10; round += 1) {
    const pipelines = Array.from({ length: 10 }, (_, connection) => {
      const n = round * 1_000 + connection * 100
      const reads = Array.from({ length: 90 }, (__, at) => `${head('GET', '/api/status', n + at)}\r\n`)
      return raw(`${reads.join('')}${head('GET', '/api/orders', n + 99)}Connection: close\r\n\r\n`)
    })
    const body = '{"close":true,"by":"mallory"}'
    const commandsSent = Array.from({ length: 90 }, (_, at) =>
      raw(
        `${head('POST', '/api/kill', round * 1_000 + at)}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      ),
    )
    for (const heard of await Promise.all([...pipelines, ...commandsSent])) count(heard)
    expect((await ask('GET', '/livez')).status).toBe(200)
    expect((await ask('GET', '/api/status', asReader)).status).toBe(200)
  }
  expect([...counts.keys()].sort()).toEqual(['401', '429'])
  expect([...counts.values()].reduce((sum, each) => sum + each, 0)).toBe(10_000)
  expect(counts.get('429')).toBeGreaterThan(5_000)
  expect(commands).toEqual([])
})

test('a flood of foreign names and origins is refused as such, and takes nothing from probes, readers or operators', async () => {
  await server.close()
  await open({ requestsPerSecond: 3 })
  for (const headers of [{ host: 'evil.example' }, { origin: 'http://evil.example' }])
    for (const path of ['/livez', '/metrics', '/api/status'])
      for (let at = 0; at < 10; at += 1)
        expect([path, (await ask('GET', path, { ...headers, ...asOperator })).status]).toEqual([
          path,
          'host' in headers ? 421 : 403,
        ])
  for (const path of ['/livez', '/metrics']) expect((await ask('GET', path)).status).toBe(200)
  expect((await ask('GET', '/api/status', asOperator)).status).toBe(200)
})

test('probes are answered however often they are asked, and whatever else floods', async () => {
  await server.close()
  await open({ requestsPerSecond: 3 })
  for (let at = 0; at < 20; at += 1) {
    for (const path of ['/livez', '/readyz', '/healthz']) expect((await ask('GET', path)).status).toBe(200)
    await ask('GET', '/metrics')
    await ask('GET', '/api/status')
  }
  expect((await ask('GET', '/metrics')).status).toBe(429)
  expect((await ask('GET', '/api/status')).status).toBe(429)
  await server.close()
  await open({ requestsPerSecond: 3, isHealthOpen: false })
  for (let at = 0; at < 20; at += 1) expect((await ask('GET', '/livez', asReader)).status).toBe(200)
})

test('what is open is configurable: metrics and health ask for a token when they shall', async () => {
  for (const path of ['/metrics', '/livez', '/readyz']) expect((await ask('GET', path)).status).toBe(200)
  await server.close()
  await open({ isMetricsOpen: false, isHealthOpen: false })
  for (const path of ['/metrics', '/livez', '/readyz']) {
    expect((await ask('GET', path)).status).toBe(401)
    expect((await ask('GET', path, asReader)).status).toBe(200)
  }
  expect(readToken).not.toBe(operateToken)
})

test('of 320 sockets that are held, the oldest are cut, and an operator gets his answer', async () => {
  await server.close()
  await open({}, 60_000)
  const cut = new Set<number>()
  const sockets: Socket[] = []
  for (let index = 0; index < 320; index += 1) {
    const socket = connect(server.port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.on('close', () => cut.add(index))
    sockets.push(socket)
    await new Promise((resolve) => socket.once('connect', resolve))
  }
  await expect.poll(() => cut.size).toBe(64)
  expect(Math.max(...cut)).toBe(63)
  expect((await ask('GET', '/api/status', asReader)).status).toBe(200)
  for (const socket of sockets) socket.destroy()
})
