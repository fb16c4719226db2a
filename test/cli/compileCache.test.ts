/** The cache of compiled code: made where nobody else can change it, and nowhere else. Real processes. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { scratch } from '../world/processes.ts'

const bin = resolve(import.meta.dirname, '../../src/cli/bin.ts')
const start = resolve(import.meta.dirname, '../../src/cli/start.js')
let folder: ReturnType<typeof scratch>
beforeEach(() => {
  folder = scratch()
})
afterEach(() => folder.remove())

function version(env: Readonly<Record<string, string>>): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, 'version'], {
    cwd: folder.path,
    env: { PATH: process.env.PATH, ...env },
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^\d+\.\d+\.\d+/)
}

test('a command keeps its compiled code in a folder of the user alone, below HOME or where XDG_CACHE_HOME says', () => {
  const home = join(folder.path, 'home')
  mkdirSync(home, { mode: 0o700 })
  version({ HOME: home })
  const compiled = join(home, '.cache/perpd/compiled')
  expect(readdirSync(compiled, { recursive: true }).length).toBeGreaterThan(50)
  expect(statSync(compiled).mode & 0o777).toBe(0o700)
  const other = join(folder.path, 'other')
  version({ HOME: home, XDG_CACHE_HOME: other })
  expect(existsSync(join(other, 'perpd/compiled'))).toBe(true)
})

test('nothing is made where another user may write, without a home, or where it is switched off', () => {
  const open = join(folder.path, 'open')
  mkdirSync(open)
  chmodSync(open, 0o777)
  version({ HOME: open })
  expect(readdirSync(open)).toEqual([])
  const home = join(folder.path, 'home')
  mkdirSync(home, { mode: 0o700 })
  version({ HOME: home, NODE_DISABLE_COMPILE_CACHE: '1' })
  expect(existsSync(join(home, '.cache/perpd/compiled'))).toBe(false)
  version({ XDG_CACHE_HOME: 'not/absolute' })
  expect(readdirSync(folder.path).sort()).toEqual(['home', 'open'])
})

/** Starts `perpd version` as npm does; tells whether Node loaded what takes the types out of TypeScript. */
function takesTypesOut(env: Readonly<Record<string, string>>): boolean {
  const tells = "process.on('exit', () => console.error(String(process.moduleLoadList).includes('amaro')))"
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(tells)}`, start, 'version'],
    { cwd: folder.path, env: { PATH: process.env.PATH, ...env }, encoding: 'utf8' },
  )
  expect([status, stdout.trim()]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+/)])
  return stderr.trim() === 'true'
}

test('started as npm starts it, a command whose code is in the cache takes no types out of any file, unless others may write the folder', () => {
  const home = join(folder.path, 'home')
  mkdirSync(home, { mode: 0o700 })
  const env = { HOME: home }
  // The first run makes the folder, the second fills in what is loaded before that.
  expect([takesTypesOut(env), takesTypesOut(env), takesTypesOut(env)]).toEqual([true, true, false])
  for (const each of [home, join(home, '.cache/perpd/compiled')]) {
    chmodSync(each, 0o777)
    expect(takesTypesOut(env)).toBe(true)
    chmodSync(each, 0o700)
  }
  expect(takesTypesOut({ ...env, NODE_DISABLE_COMPILE_CACHE: '1' })).toBe(true)
  expect(takesTypesOut(env)).toBe(false)
})
