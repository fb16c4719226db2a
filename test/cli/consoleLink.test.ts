/** `perpd console` beside a control port: a link of the role that was asked for, alone on its line, that a browser enters by. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fitted } from '../../src/cli/output/screen.ts'
import { exitCodes } from '../../src/config/exit.ts'
import { loadConfig } from '../../src/config/loadConfig.ts'
import type { ControlServer } from '../../src/control/server.ts'
import { writeAddress } from '../../src/daemon/controlAddress.ts'
import { openTokens } from '../../src/daemon/ownFiles/controlTokens.ts'
import { ask, begin, browserOf, handClock, openConsole } from '../control/browser.ts'
import { perpd } from './run.ts'

let cwd: string
let server: ControlServer | undefined
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-console-'))
})
afterEach(async () => {
  await server?.close()
  server = undefined
  rmSync(cwd, { recursive: true })
})

async function serve(isServed: boolean): Promise<ControlServer> {
  const { config } = loadConfig({ argv: [], env: {}, cwd })
  const opened = await openConsole(isServed ? { clock: handClock() } : undefined, {
    tokens: openTokens(config),
  })
  server = opened
  writeAddress(config, opened.localUrl)
  return opened
}

test('the link begins a session of the role that was asked for', async () => {
  const opened = await serve(true)
  for (const [flags, role] of [
    [[], 'operate'],
    [['--read'], 'read'],
  ] as const) {
    const { code, out } = await perpd(cwd, ['console', ...flags])
    const [url = '', text] = out.split('\n')
    expect([code, text]).toEqual([0, expect.stringMatching(/^It works once, within ten minutes, /)])
    const key = url.split('#key=')[1] ?? ''
    const { reading } = browserOf(opened, await begin(opened, '/console/enter', { key }))
    expect(JSON.parse((await ask(opened, 'GET', '/console/session', reading)).text)).toMatchObject({ role })
  }
  const { out } = await perpd(cwd, ['console', '--json'])
  expect(JSON.parse(out)).toEqual({
    url: expect.stringMatching(/\/console\/#key=[\w-]{43}$/),
    role: 'operate',
    expiresAtMs: expect.any(Number),
  })
})

test('a link that is longer than the screen is whole, on the first line', () => {
  const url = `http://127.0.0.1:46119/console/#key=${'k'.repeat(43)}`
  expect(fitted(url, 80)).toBe(url)
})

test('without a console, or without a daemon, it says so', async () => {
  expect(await perpd(cwd, ['console'])).toMatchObject({ code: exitCodes.notRunning })
  await serve(false)
  for (const flags of [[], ['--read']]) {
    const { code, err } = await perpd(cwd, ['console', ...flags])
    expect([code, err]).toEqual([exitCodes.error, expect.stringContaining('serves no console')])
  }
})
