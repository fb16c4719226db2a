/** What a service manager is told, over a real datagram socket of the file system, and by a program in the place of systemd's. */
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import { listenForSignals } from '../../src/daemon/signals.ts'
import { createServiceManager, type ServiceManager } from '../../src/daemon/systemd.ts'
import type { Log } from '../../src/monitor/log/log.ts'

let folder = ''
let manager: ServiceManager | undefined
let reader: ChildProcess | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-systemd-'))
})
afterEach(() => {
  manager?.close()
  reader?.kill()
  rmSync(folder, { recursive: true })
})

/** A program that writes down what it was called with, the earlier calls slower than the later ones. */
function recorder(): { readonly program: string; readonly told: () => readonly string[] } {
  const program = join(folder, 'notify')
  const slow = `if [ ! -e ${folder}/told ]; then sleep 0.2; fi`
  writeFileSync(program, `#!/bin/sh\n${slow}\nshift\necho "$*" >> ${folder}/told\n`)
  chmodSync(program, 0o755)
  const told = (): readonly string[] =>
    existsSync(`${folder}/told`) ? readFileSync(`${folder}/told`, 'utf8').trim().split('\n') : []
  return { program, told }
}
const env = { NOTIFY_SOCKET: '/run/systemd/notify' }

test('ready, a change of the status, reading anew and stopping are told in their order, and a status that stays is not', async () => {
  const { program, told } = recorder()
  let status = 'recovering'
  manager = createServiceManager(env, () => status, { program, lookMs: 20 })
  manager.ready()
  await expect.poll(() => told(), { timeout: 20_000 }).toEqual(['READY=1 STATUS=recovering'])
  status = 'running, trading active'
  await expect.poll(() => told().length, { timeout: 20_000 }).toBe(2)
  manager.reloading()
  manager.ready()
  manager.stopping()
  await expect.poll(() => told().length, { timeout: 20_000 }).toBe(5)
  expect(told().map((line) => line.replace(/\d{6,}/, 'N'))).toEqual([
    'READY=1 STATUS=recovering',
    'STATUS=running, trading active',
    'RELOADING=1 MONOTONIC_USEC=N',
    'READY=1',
    'STOPPING=1 STATUS=stopping',
  ])
})

test('a hang-up is told as reading anew and its end, the first signal to stop as stopping', async () => {
  const told: string[] = []
  const asked: string[] = []
  const engine = {
    operate: async ({ type }: { readonly type: string }) => {
      asked.push(type)
      told.push(type)
      return { ok: true, statement: type }
    },
    stop: async () => undefined,
  } as unknown as Engine
  const ended = Promise.withResolvers<number>()
  const quiet = listenForSignals(
    engine,
    { note: () => undefined } as unknown as Log,
    ended.reject,
    ended.resolve,
    () => undefined,
    {
      ready: () => told.push('ready'),
      reloading: () => told.push('reloading'),
      stopping: () => told.push('stopping'),
    },
  )
  process.emit('SIGHUP', 'SIGHUP')
  await expect.poll(() => told.length).toBe(4)
  process.emit('SIGTERM', 'SIGTERM')
  await ended.promise
  quiet()
  expect(told).toEqual(['reloading', 'limits', 'reload', 'ready', 'stopping'])
})

test('without a socket nobody is told; without systemd’s program it is said what to write in the unit', () => {
  const { program, told } = recorder()
  const none = createServiceManager({}, () => 'x', { program })
  none.ready()
  none.stopping()
  expect([told(), none.problem]).toEqual([[], undefined])
  expect(createServiceManager(env, () => 'x', { program: undefined }).problem).toContain('Type=exec')
})

test.runIf(existsSync('/usr/bin/systemd-notify'))('systemd’s own program tells a real socket', async () => {
  const socket = join(folder, 'socket')
  const lines = [
    'import socket, sys',
    's = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)',
    `s.bind(${JSON.stringify(socket)})`,
    'while True: print(s.recv(4096).decode(), flush=True)',
  ]
  reader = spawn('python3', ['-c', lines.join('\n')])
  let said = ''
  reader.stdout?.on('data', (bytes) => {
    said += String(bytes)
  })
  await expect.poll(() => existsSync(socket), { timeout: 20_000 }).toBe(true)
  manager = createServiceManager({ NOTIFY_SOCKET: socket }, () => 'running: 1 positions')
  manager.ready()
  await expect.poll(() => said, { timeout: 20_000 }).toMatch(/READY=1\nSTATUS=running: 1 positions/)
})
