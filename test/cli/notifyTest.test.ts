/** `perpd notify test`, and sinks as they stand in a file of settings. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { exitCodes } from '../../src/config/exit.ts'
import { perpd } from './run.ts'

let cwd: string
let server: Server
let url: string
let paths: string[]
const secret = 'hush-hush-'.repeat(5)

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-notify-'))
  writeFileSync(join(cwd, 'hook.secret'), `${secret}\n`, { mode: 0o600 })
  paths = []
  server = createServer((request, response) => {
    paths.push(request.url ?? '')
    response.writeHead(request.url === '/gone' ? 410 : 204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => {
  server.close()
  rmSync(cwd, { recursive: true })
})

const sink = (name: string, path: string) => ({
  type: 'webhook',
  name,
  url: `${url}${path}`,
  secretFile: './hook.secret',
})
const write = (...sinks: unknown[]) =>
  writeFileSync(join(cwd, 'perpd.json'), JSON.stringify({ notify: { sinks } }))

test('each sink is sent a test message, and what became of it is told', async () => {
  write(sink('good', '/good'), sink('gone', '/gone'))
  const all = await perpd(cwd, ['notify', 'test'])
  expect([all.code, all.out]).toEqual([
    exitCodes.error,
    expect.stringMatching(/good +webhook +sent[\s\S]*gone +webhook +refused +it responded 410/),
  ])
  expect(paths.sort()).toEqual(['/gone', '/good'])
  const one = await perpd(cwd, ['notify', 'test', 'good', '--json'])
  expect([one.code, JSON.parse(one.out)]).toEqual([
    exitCodes.ok,
    [{ sink: 'good', type: 'webhook', result: 'sent' }],
  ])
})

test('a sink that is not there, and none at all, are told', async () => {
  const none = await perpd(cwd, ['notify', 'test'])
  expect([none.code, none.err]).toEqual([
    exitCodes.notFound,
    expect.stringContaining('notify.sinks is empty'),
  ])
  write(sink('good', '/good'))
  const other = await perpd(cwd, ['notify', 'test', 'goood'])
  expect([other.code, other.err]).toEqual([exitCodes.notFound, expect.stringContaining('configured: good')])
})

test('a file that others can read, or that holds something else, is refused without what it holds', async () => {
  write(sink('good', '/good'))
  chmodSync(join(cwd, 'hook.secret'), 0o644)
  const open = await perpd(cwd, ['notify', 'test'])
  expect([open.code, open.err]).toEqual([exitCodes.configuration, expect.stringContaining('hook.secret')])
  writeFileSync(join(cwd, 'hook.secret'), 'hush hush')
  chmodSync(join(cwd, 'hook.secret'), 0o600)
  const short = await perpd(cwd, ['notify', 'test'])
  expect([short.code, short.err]).toEqual([
    exitCodes.configuration,
    expect.stringContaining('does not hold a secret'),
  ])
  expect(`${open.out}${open.err}${short.out}${short.err}`).not.toContain('hush')
  expect(paths).toEqual([])
})

test.each([
  ['a secret in the place of its file', { token: secret }],
  ['an event that there is not', { events: { 'order-exploded': 'on' } }],
  ['a placeholder that there is not', { template: '{secret}' }],
  ['an address that is not safe', { url: 'http://hooks.example/perpd' }],
])('%s is an error of the configuration that shows nothing of the sink', async (_, wrong) => {
  write({ ...sink('good', '/good'), ...wrong })
  const { code, err, out } = await perpd(cwd, ['notify', 'test'])
  expect([code, err]).toEqual([
    exitCodes.configuration,
    expect.stringContaining('notify.sinks is none that can be used'),
  ])
  expect(`${out}${err}`).not.toContain('hush')
})

test('the configuration is shown with its sinks, and without what their files hold', async () => {
  write(sink('good', '/good'))
  const { out } = await perpd(cwd, ['config', '--search', 'notify.sinks'])
  expect(out).toContain('"name":"good"')
  expect(out).not.toContain('hush')
})
