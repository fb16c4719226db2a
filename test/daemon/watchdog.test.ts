/** The watchdog over a real datagram socket, by systemd's own program where it is installed. */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keepWatchdog, type Watchdog } from '../../src/daemon/watchdog.ts'

let folder = ''
let watchdog: Watchdog | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-watchdog-'))
})
afterEach(() => {
  watchdog?.stop()
  rmSync(folder, { recursive: true })
})

/** A program that writes down what it was called with, in the place of systemd's. */
function recorder(): { readonly program: string; readonly told: () => readonly string[] } {
  const program = join(folder, 'notify')
  writeFileSync(program, `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> ${folder}/told\n`)
  chmodSync(program, 0o755)
  const told = (): readonly string[] =>
    existsSync(`${folder}/told`) ? readFileSync(`${folder}/told`, 'utf8').trim().split('\n') : []
  return { program, told }
}

const unit = { NOTIFY_SOCKET: '/run/systemd/notify', WATCHDOG_USEC: '200000' }

test('it tells for as long as perpd is alive, and no longer', async () => {
  const { program, told } = recorder()
  let isAlive = true
  watchdog = keepWatchdog(unit, () => isAlive, { program })
  await expect.poll(() => told().length, { timeout: 20_000 }).toBeGreaterThan(1)
  expect(told()[0]).toBe(`/run/systemd/notify --pid=${process.pid} WATCHDOG=1`)
  isAlive = false
  let before = -1
  // What is on its way when it dies still arrives; then nothing does.
  await expect
    .poll(
      () => {
        const isSame = before === told().length
        before = told().length
        return isSame
      },
      { timeout: 20_000, interval: 1_000 },
    )
    .toBe(true)
})

test('without a unit that asks for it, or for another process, nothing is told; a missing program is said', () => {
  const { program, told } = recorder()
  keepWatchdog({}, () => true, { program }).stop()
  keepWatchdog({ ...unit, WATCHDOG_PID: '1' }, () => true, { program }).stop()
  keepWatchdog({ NOTIFY_SOCKET: '/x' }, () => true, { program }).stop()
  expect(told()).toEqual([])
  expect(keepWatchdog(unit, () => true, { program: undefined }).problem).toContain('Remove WatchdogSec')
})

test.runIf(existsSync('/usr/bin/systemd-notify'))('systemd’s own program tells a real socket', async () => {
  const socket = join(folder, 'socket')
  const reader = spawn('python3', [
    '-c',
    `import socket\ns = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\ns.bind(${JSON.stringify(socket)})\nprint(s.recv(4096).decode(), flush=True)`,
  ])
  let said = ''
  reader.stdout.on('data', (bytes) => {
    said += String(bytes)
  })
  await expect.poll(() => existsSync(socket), { timeout: 20_000 }).toBe(true)
  watchdog = keepWatchdog({ NOTIFY_SOCKET: socket, WATCHDOG_USEC: '1000000' }, () => true)
  await expect.poll(() => said, { timeout: 20_000 }).toContain('WATCHDOG=1')
  reader.kill()
})
