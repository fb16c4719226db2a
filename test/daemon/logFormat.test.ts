/** Text or JSON of the log, by who runs perpd and what takes its lines. */
import { closeSync, fstatSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { logFormatOf } from '../../src/daemon/logging/logFormat.ts'

let folder: string
let fd: number
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-form-'))
  fd = openSync(join(folder, 'out'), 'w')
})
afterEach(() => {
  closeSync(fd)
  rmSync(folder, { recursive: true })
})

const form = (env: Record<string, string>, { isTTY = false, pid = 4_711, out = fd } = {}) =>
  logFormatOf('auto', { env, pid, stream: { isTTY, fd: out } })

test('a pipe or a file gets text, as a terminal does', () => {
  expect([form({}), form({}, { isTTY: true })]).toEqual(['pretty', 'pretty'])
})

test('systemd, Kubernetes and a container get JSON, but for a terminal in them', () => {
  const { dev, ino } = fstatSync(fd, { bigint: true })
  const places = [
    { env: { JOURNAL_STREAM: `${dev}:${ino}`, INVOCATION_ID: 'a' } },
    { env: { SYSTEMD_EXEC_PID: '4711' } },
    { env: { KUBERNETES_SERVICE_HOST: '10.0.0.1' } },
    { env: {}, pid: 1 },
  ]
  for (const { env, pid } of places) {
    const of = (isTTY: boolean) => form(env as Record<string, string>, { isTTY, pid: pid ?? 4_711 })
    expect([env, of(false), of(true)]).toEqual([env, 'json', 'pretty'])
  }
})

test('variables that a shell of the desktop inherited from systemd mean other streams and processes: text', () => {
  const env = { JOURNAL_STREAM: '8:12345', INVOCATION_ID: 'a', SYSTEMD_EXEC_PID: '1200' }
  expect([form(env), form(env, { out: 9_999 })]).toEqual(['pretty', 'pretty'])
})

test('a form that the settings name holds everywhere', () => {
  const place = { env: {}, pid: 1, stream: { isTTY: true, fd } }
  expect([logFormatOf('json', place), logFormatOf('pretty', { ...place, stream: { fd } })]).toEqual([
    'json',
    'pretty',
  ])
})
