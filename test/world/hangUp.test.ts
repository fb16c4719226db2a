/** SIGHUP at a real terminal: it reads limits anew while the terminal is there, and ends the daemon when the terminal is gone. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
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

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test.runIf(hasPty)(
  'SIGHUP tightens limits under a terminal that is there, and drains when the terminal goes away',
  { timeout: 180_000 },
  async () => {
    const command = [process.execPath, main, 'run', '--control.port=0', `--strategies.paths=${strategies}`]
    const terminal = spawn(
      'script',
      ['-qefc', `exec ${command.map((each) => `'${each}'`).join(' ')}`, 'typed'],
      {
        cwd: folder.path,
        env: bareEnv(),
      },
    )
    let shown = ''
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text
    })
    const address = join(folder.path, 'var', 'paper', 'control.token.address')
    const seen = { seen: () => shown }
    await until('it is ready', () => shown.includes('ready: strategies are running') || undefined, seen)
    const { pid } = JSON.parse(readFileSync(address, 'utf8')) as { readonly pid: number }
    process.kill(pid, 'SIGHUP')
    await until(
      'limits are read anew',
      () => shown.includes('SIGHUP: the limits in force are the configured ones') || undefined,
      seen,
    )
    expect(isAlive(pid)).toBe(true)
    expect(shown).not.toContain('no new orders')
    terminal.kill('SIGKILL')
    await until('it ends by itself', () => (isAlive(pid) ? undefined : true), { timeoutMs: 60_000 })
    // Ended in good order, not by the signal: it took back where it serves.
    expect(existsSync(address)).toBe(false)
  },
)
