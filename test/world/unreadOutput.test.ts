/** Output that nobody takes: a terminal that was stopped, a pipe that is full, a reader that went away. The daemon waits for none of them. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bareEnv } from '../support/bareEnv.ts'
import { scratch, until } from './processes.ts'

const main = resolve(import.meta.dirname, '..', 'support', 'guardedMain.ts')
const strategies = resolve(import.meta.dirname, '..', '..', 'strategies')
const hasPty = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0

let folder: ReturnType<typeof scratch>
beforeEach(() => {
  folder = scratch()
})
afterEach(() => folder.remove())

const run = [main, 'run', '--control.port=0', '--log.level=debug', `--strategies.paths=${strategies}`]

/** Where it serves and which process it is, once it does. */
async function daemonOf(): Promise<{ readonly address: string; readonly pid: number }> {
  const path = join(folder.path, 'var', 'paper', 'control.token.address')
  return await until('it serves', () => {
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as { readonly address: string; readonly pid: number }
    } catch {
      return undefined
    }
  })
}

/** Turns that its strategies had, each of which is a line of the log. */
async function turns(address: string): Promise<number> {
  const answer = await fetch(`${address}/livez`, { signal: AbortSignal.timeout(5_000) })
  expect(answer.status).toBe(200)
  const text = await (await fetch(`${address}/metrics`, { signal: AbortSignal.timeout(5_000) })).text()
  return [...text.matchAll(/^perpd_ticks_total\S* (\d+)/gm)].reduce((sum, [, n]) => sum + Number(n), 0)
}

/** That it lives through many turns, each of which writes a line. */
async function livesOn(address: string): Promise<void> {
  const before = await turns(address)
  await until('its strategies have turns', async () => ((await turns(address)) > before ? true : undefined), {
    timeoutMs: 60_000,
  })
}

/** Stops a terminal that shows the daemon with Ctrl-S, lets it go with Ctrl-Q, and ends both; gives all that it showed. */
async function shownByStopped(by: readonly string[]): Promise<string> {
  const command = [...by, process.execPath, ...run].map((each) => `'${each}'`).join(' ')
  const terminal = spawn('script', ['-qefc', `exec ${command}`, '/dev/null'], {
    cwd: folder.path,
    env: bareEnv(),
  })
  let shown = ''
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text
  })
  const { address } = await daemonOf()
  await until('it is ready', () => shown.includes('ready: strategies are running') || undefined)
  terminal.stdin.write('\u0013')
  await livesOn(address)
  const stopped = shown.length
  await livesOn(address)
  expect(shown.length).toBe(stopped)
  terminal.stdin.write('\u0011')
  await until('it writes again', () => shown.length > stopped || undefined)
  terminal.stdin.write('\u0003')
  await once(terminal, 'close')
  return shown
}

test.runIf(hasPty)(
  'a terminal that was stopped with Ctrl-S keeps the daemon from nothing, and takes its lines after Ctrl-Q',
  { timeout: 180_000 },
  async () => {
    expect(await shownByStopped([])).toMatch(/stopped after [\d.]+ s with/)
  },
)

test.runIf(hasPty)(
  'Ctrl-C, which ends the reader of a pipe too, shows the last lines at the terminal',
  { timeout: 180_000 },
  async () => {
    const command = [process.execPath, ...run].map((each) => `'${each}'`).join(' ')
    const terminal = spawn('script', ['-qefc', `${command} | cat`, '/dev/null'], {
      cwd: folder.path,
      env: bareEnv(),
    })
    let shown = ''
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text
    })
    await daemonOf()
    await until('it is ready', () => shown.includes('ready: strategies are running') || undefined)
    terminal.stdin.write('\u0003')
    await once(terminal, 'close')
    expect(shown).toMatch(/stopped after [\d.]+ m?s/)
  },
)

/** `perpd run` as another user than the terminal's, where this one may become another. */
const asAnother = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
const mayBecomeAnother =
  spawnSync(asAnother[0] ?? '', [...asAnother.slice(1), process.execPath, main, 'version']).status === 0

test.runIf(hasPty && mayBecomeAnother)(
  "another user's terminal that was stopped keeps the daemon from nothing, and takes its lines after Ctrl-Q, the last ones too",
  { timeout: 180_000 },
  async () => {
    chmodSync(folder.path, 0o777)
    expect(await shownByStopped(asAnother)).toMatch(/stopped after [\d.]+ s with/)
  },
)

/** A pipe whose reader takes nothing, full to the last byte. */
function fullPipe(): number {
  const path = join(folder.path, 'pipe')
  expect(spawnSync('mkfifo', [path]).status).toBe(0)
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  for (const size of [4_096, 1]) {
    try {
      for (;;) writeSync(fd, 'x'.repeat(size))
    } catch {
      // Full.
    }
  }
  return fd
}

test('a pipe that is full keeps a daemon neither from its work nor from its end', {
  timeout: 180_000,
}, async () => {
  const full = fullPipe()
  const child = spawn(process.execPath, run, {
    cwd: folder.path,
    env: bareEnv(),
    stdio: ['ignore', full, 'ignore'],
  })
  const { address } = await daemonOf()
  await livesOn(address)
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
  closeSync(full)
})

test('a reader that goes away ends no daemon, which says so in its metrics', {
  timeout: 180_000,
}, async () => {
  const child = spawn(process.execPath, run, {
    cwd: folder.path,
    env: bareEnv(),
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const { address } = await daemonOf()
  child.stdout.destroy()
  await until('it says that nobody reads', async () => {
    const text = await (await fetch(`${address}/metrics`)).text()
    return text.includes('perpd_log_output_open 0') || undefined
  })
  await livesOn(address)
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
})
