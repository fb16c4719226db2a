/** The control address is for programs of this machine: no web page can change the venue through it, or read what it tells. */
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startVenue } from './support.ts'

type Paper = Awaited<ReturnType<typeof startVenue>>
let paper: Paper
beforeAll(async () => {
  paper = await startVenue()
})
afterAll(() => paper.close())

interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
}

/** As `fetch`, with headers that browsers set and programs may not. */
function ask(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): Promise<Answered> {
  const url = new URL(paper.control + path)
  return new Promise((resolve, reject) => {
    const asked = httpRequest(
      { host: url.hostname, port: url.port, path: url.pathname, method, headers },
      (response) => {
        let text = ''
        response.on('data', (chunk) => {
          text += String(chunk)
        })
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        )
      },
    )
    asked.on('error', reject)
    asked.end(body)
  })
}

const json = { 'content-type': 'application/json' }
const reads = ['/record', '/faults', '/wire', '/fault-log', '/staleness', '/liquidity-providers'] as const
const changes = [
  ['/faults', '{"latencyMs":7000}'],
  ['/wire', '{"kind":"html","status":502}'],
  ['/accounts', '{"address":"0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A","balances":{"USDC":"1"}}'],
  ['/reorg', '{"blocks":3}'],
] as const

test.each(changes)('a simple POST to %s from any web page changes nothing', async (path, body) => {
  for (const headers of [
    { 'content-type': 'text/plain', origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { 'content-type': 'text/plain' },
    {},
    { 'content-type': 'application/x-www-form-urlencoded' },
    { ...json, origin: 'https://evil.example' },
    { ...json, origin: 'null' },
    { ...json, origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' },
    { ...json, 'sec-fetch-site': 'cross-site' },
    { ...json, host: 'rebound.example' },
    { ...json, host: `rebound.example:${paper.served.port}` },
  ]) {
    const { status } = await ask('POST', path, headers, body)
    expect([headers, status]).toEqual([headers, expect.toBeOneOf([403, 415, 421])])
  }
  const { text } = await ask('GET', '/faults')
  expect(JSON.parse(text)).toMatchObject({ latencyMs: 0 })
  expect(JSON.parse((await ask('GET', '/wire')).text)).toEqual([])
  expect(JSON.parse((await ask('GET', '/fault-log')).text)).toEqual([])
})

test.each(reads)('%s is read by programs, and by no page of any origin', async (path) => {
  const own = await ask('GET', path)
  expect(own.status).toBe(200)
  for (const headers of [{}, { origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
    const answer = await ask('GET', path, headers)
    expect(answer.headers['access-control-allow-origin']).toBeUndefined()
    expect(answer.headers['cross-origin-resource-policy']).toBe('same-origin')
    expect(answer.headers['x-content-type-options']).toBe('nosniff')
    if (Object.keys(headers).length > 0) {
      expect(answer.status).toBe(403)
      expect(answer.text).not.toContain('signature')
    }
  }
  expect((await ask('GET', path, { host: 'rebound.example' })).status).toBe(421)
})

test('a preflight is allowed nothing, and so is what no route answers', async () => {
  const asked = { origin: 'https://evil.example', 'access-control-request-method': 'DELETE' }
  for (const [method, path] of [
    ['OPTIONS', '/wire'],
    ['DELETE', '/wire'],
    ['OPTIONS', ''],
    ['GET', '/nothing'],
    ['OPTIONS', '/nothing'],
  ] as const) {
    const answer = await ask(method, path, asked)
    expect(answer.status).toBe(403)
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  }
  expect((await ask('OPTIONS', '/wire')).status).toBe(405)
})

test('a path in other words leads past no check', async () => {
  const origin = 'https://evil.example'
  for (const path of [
    '/%5F_control/record',
    '/__control/%72ecord',
    '//__control/record',
    '/x/../__control/record',
  ]) {
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(paper.served.port, '127.0.0.1', () => {
        socket.write(
          `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: ${origin}\r\nConnection: close\r\n\r\n`,
        )
      })
      let said = ''
      socket.on('data', (chunk) => {
        said += String(chunk)
      })
      socket.on('close', () => resolve(said))
      socket.on('error', reject)
    })
    expect(text).toMatch(/^HTTP\/1\.1 40[34] /)
  }
})

test('programs change the venue by any name of this machine', async () => {
  for (const host of ['localhost', '127.0.0.1', '[::1]', 'LOCALHOST:80', '192.168.7.1']) {
    const answer = await ask('POST', '/faults', { ...json, host }, '{"latencyMs":0}')
    expect([host, answer.status]).toEqual([host, 200])
  }
})

test('a change that nests 5,000 deep, or is larger than a megabyte, is refused', async () => {
  const deep = `{"down":${'['.repeat(5_000)}${']'.repeat(5_000)}}`
  expect((await ask('POST', '/faults', json, deep)).status).toBe(400)
  expect((await ask('POST', '/wire', json, `{"kind":"${'x'.repeat(2_000_000)}"}`)).status).toBe(400)
  expect((await ask('GET', '/fault-log')).status).toBe(200)
})
