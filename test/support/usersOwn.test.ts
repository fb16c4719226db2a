/** No test reaches a daemon, the state or the settings of whoever runs the suite: each way there ends the test that takes it. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { schema } from '../../src/config/configSchema.ts'
import { usersPorts } from './usersOwn.ts'

const root = resolve(import.meta.dirname, '..', '..')
const main = join(import.meta.dirname, 'guardedMain.ts')
const guard = join(import.meta.dirname, 'usersOwn.ts')

function inProcess(work: string): string {
  const code = `import { guardUsersOwn } from ${JSON.stringify(guard)}
guardUsersOwn((what) => console.log(what))
const fs = await import('node:fs')
try { ${work} } catch {}`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: root,
    encoding: 'utf8',
  })
  return `${stdout}${stderr}`.replaceAll(root, 'ROOT').trim()
}

test('the port that is kept from tests is the one that a daemon takes by itself', () => {
  expect(usersPorts).toEqual([schema.control.port.default])
})

test('a test that asks the default port or opens the state of the checkout fails, even when what it tests makes nothing of it', () => {
  expect(inProcess("await fetch('http://127.0.0.1:9464/livez')")).toBe('connects to port 9464')
  expect(inProcess("(await import('node:net')).connect({ host: '::1', port: 9464 })")).toBe(
    'connects to port 9464',
  )
  expect(inProcess("(await import('node:http')).createServer().listen(9464)")).toBe('listens on port 9464')
  expect(inProcess("fs.existsSync('var/paper/control.token.address')")).toBe(
    'calls existsSync on ROOT/var/paper/control.token.address',
  )
  expect(inProcess("fs.readFileSync('perpd.json')")).toBe('calls readFileSync on ROOT/perpd.json')
  expect(inProcess("fs.readFileSync('package.json'); fs.existsSync('variety')")).toBe('')
})

test('a daemon or a command that a test starts ends at once when it reaches there', () => {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-guard-'))
  const start = (cwd: string, ...argv: string[]) => {
    const { status, stderr } = spawnSync(process.execPath, [main, ...argv], { cwd, encoding: 'utf8' })
    return [status, stderr.replaceAll(root, 'ROOT').trim()]
  }
  try {
    expect(start(root, 'status')).toEqual([99, "a test's perpd calls lstatSync on ROOT/perpd.json"])
    const beside = [
      `--journal.path=${join(folder, 'journal.db')}`,
      `--strategies.paths=${join(root, 'strategies', 'guard.yaml')}`,
    ]
    expect(start(folder, 'run', ...beside)).toEqual([99, "a test's perpd listens on port 9464"])
    expect(start(folder, 'status')).toEqual([3, expect.stringContaining('No perpd is running here')])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
