/**
 * The suite beside the daemon of whoever runs it: a checkout in which `npm start` runs with nothing set, on its own port and
 * paths, gets not one connection from tests that are run in it.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { schema } from '../../src/config/configSchema.ts'
import { until } from './processes.ts'

const root = resolve(import.meta.dirname, '..', '..')
const port = Number(schema.control.port.default)

/** Tests that asked whatever listened there once, and others that run commands. */
const files = ['test/cli/journal.test.ts', 'test/cli/journalCommands.test.ts', 'test/cli/control.test.ts']

const isFree =
  spawnSync(process.execPath, [
    '-e',
    `require('net').createServer().once('error', () => process.exit(1)).listen(${port}, '127.0.0.1', () => process.exit(0))`,
  ]).status === 0

test.runIf(isFree)(
  'tests that run in a checkout whose daemon runs send it nothing, and pass',
  async () => {
    const checkout = mkdtempSync(join(tmpdir(), 'perpd-beside-'))
    for (const name of [
      'src',
      'test',
      'config',
      'strategies',
      'docs',
      'package.json',
      'vitest.config.ts',
      'CHANGELOG.md',
    ]) {
      cpSync(join(root, name), join(checkout, name), { recursive: true })
    }
    symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
    const heard = join(checkout, 'heard')
    writeFileSync(heard, '')
    const main = join(checkout, 'src', 'cli', 'main.ts')
    const daemon = spawn(
      process.execPath,
      [
        ...['--disable-sigusr1', '--import', join(checkout, 'test', 'support', 'countRequests.ts')],
        ...[main, 'run', '--log.format=json'],
      ],
      {
        cwd: checkout,
        env: { PATH: process.env.PATH, HOME: checkout, COUNT_TO: heard, COUNT_PORT: String(port) },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    const ended = once(daemon, 'close')
    let said = ''
    for (const stream of [daemon.stdout, daemon.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text
      })
    }
    try {
      await until('it is ready', () => (said.includes('"event":"daemon.ready"') ? true : undefined), {
        seen: () => said,
      })
      expect(existsSync(join(checkout, 'var', 'paper', 'control.token.address'))).toBe(true)
      const vitest = join(checkout, 'node_modules', 'vitest', 'vitest.mjs')
      const { VITEST: _, VITEST_WORKER_ID: __, VITEST_POOL_ID: ___, TEST_PROGRAM: ____, ...env } = process.env
      const run = spawn(process.execPath, [vitest, 'run', '--root', checkout, ...files], {
        cwd: checkout,
        env,
      })
      let told = ''
      for (const stream of [run.stdout, run.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          told += text
        })
      }
      const [code] = await once(run, 'close')
      expect([code, code === 0 ? '' : told]).toEqual([0, ''])
      expect(readFileSync(heard, 'utf8')).toBe('')
      // The count counts: a command of the user is heard.
      const asked = spawnSync(process.execPath, ['--disable-sigusr1', main, 'status'], {
        cwd: checkout,
        encoding: 'utf8',
      })
      expect([asked.status, asked.stderr]).toEqual([0, ''])
      expect(readFileSync(heard, 'utf8')).toContain('GET /api/status')
    } finally {
      daemon.kill('SIGKILL')
      await ended
      rmSync(checkout, { recursive: true, force: true })
    }
  },
  300_000,
)
