/** A start of the real daemon: the link to the console is on a terminal, and in nothing that lasts. */
import { spawn, spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { begin } from '../control/browser.ts'
import { bareEnv } from '../support/bareEnv.ts'
import { folderOfEachTest } from './ownFolder.ts'
import { perpd, until } from './processes.ts'

const main = resolve(import.meta.dirname, '..', 'support', 'guardedMain.ts')
const strategies = resolve(import.meta.dirname, '..', '..', 'strategies')
const hasPty = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0
const argv = ['run', '--control.port=0', `--strategies.paths=${strategies}`]

const folder = folderOfEachTest()

/** Trades the key of a link in, as the page does. */
function entered(url: string) {
  const { port, hash } = new URL(url)
  return begin({ port: Number(port) }, '/console/enter', { key: hash.slice('#key='.length) })
}

test('what is written to a pipe names the console and no key', { timeout: 120_000 }, async () => {
  const daemon = perpd([...argv, '--log.format=pretty'], { cwd: folder.path })
  await until('it is ready', () => daemon.said().includes('ready: strategies are running') || undefined, {
    seen: daemon.said,
  })
  const [address = ''] = /http:\/\/127\.0\.0\.1:\d+\/console\//.exec(daemon.said()) ?? []
  expect((await fetch(address)).status).toBe(200)
  const { stdout } = spawnSync(process.execPath, [main, 'console'], { cwd: folder.path, encoding: 'utf8' })
  const [url = ''] = stdout.split('\n')
  expect((await entered(url)).status).toBe(200)
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended).toBe(0)
  expect(daemon.said()).not.toContain('key=')
})

test.runIf(hasPty)(
  'a terminal is told a link that works once, and the log is not',
  { timeout: 120_000 },
  async () => {
    const command = [process.execPath, main, ...argv].map((each) => `'${each}'`).join(' ')
    const terminal = spawn('script', ['-qefc', `exec ${command}`, join(folder.path, 'typed')], {
      cwd: folder.path,
      env: bareEnv(),
    })
    let shown = ''
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text
    })
    try {
      await until('it is ready', () => shown.includes('ready: strategies are running') || undefined, {
        seen: () => shown,
      })
      const [url = ''] = /http:\/\/\S+\/console\/#key=[\w-]{43}/.exec(shown) ?? []
      expect((await entered(url)).status).toBe(200)
      expect((await entered(url)).status).toBe(410)
      const { stdout } = spawnSync(process.execPath, [main, 'logs'], { cwd: folder.path, encoding: 'utf8' })
      expect(stdout).toContain('/console/')
      expect(stdout).not.toContain('key=')
    } finally {
      terminal.kill('SIGTERM')
      await until('it has ended', () => terminal.exitCode ?? terminal.signalCode ?? undefined)
    }
  },
)
