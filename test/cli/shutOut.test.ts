/** Another user's state, and a folder that cannot be written: what perpd says of it to who may not look or write there. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { statePlaces } from '../../src/daemon/ownFiles/statePlaces.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-shut-out-'))
  mkdirSync(join(folder, 'strategies'))
  writeFileSync(join(folder, 'strategies', 'guard.yaml'), 'kind: guard\n')
  mkdirSync(join(folder, 'var'))
})
afterEach(() => {
  chmodSync(join(folder, 'var'), 0o700)
  rmSync(folder, { recursive: true })
})

function asNobody(...argv: readonly string[]): { readonly code: number | null; readonly said: string } {
  const script = join(import.meta.dirname, 'asNobody.ts')
  const { status, stdout } = spawnSync(process.execPath, [script, folder, ...argv], { encoding: 'utf8' })
  return { code: status, said: stdout }
}

test('who may not look into the state is never told that no daemon runs there, or that there is no journal', () => {
  chmodSync(folder, 0o755)
  chmodSync(join(folder, 'var'), 0o000)
  for (const command of [['kill', '--yes'], ['orders']]) {
    const { code, said } = asNobody(...command)
    expect([command, code, said]).toEqual([command, 1, expect.stringContaining(join(folder, 'var'))])
    expect(said).not.toMatch(/No perpd is running|There is no journal|does not run/)
  }
  // A user who may look, and finds nothing, gets that answer.
  chmodSync(join(folder, 'var'), 0o755)
  expect(asNobody('status')).toEqual({ code: 3, said: expect.stringContaining('No perpd is running here') })
})

test('a start where nothing can be written names every setting that wants another place, and a key that is there needs none', () => {
  chmodSync(folder, 0o555)
  chmodSync(join(folder, 'var'), 0o555)
  const { code, said } = asNobody('run')
  // A supervisor goes on trying, which it does not for a configuration that cannot be used.
  expect(code).toBe(1)
  for (const setting of ['journal.path', 'control.tokenFile', 'paper.keyFile', 'paper.stateFile'])
    expect(said).toContain(`--${setting} FILE`)
  chmodSync(folder, 0o755)
  // A key that is there already is read alone, as a secret that is mounted read-only is.
  const { config } = loadConfig({ argv: [], env: {}, cwd: folder })
  chmodSync(join(folder, 'var'), 0o755)
  mkdirSync(join(folder, 'var', 'paper'))
  for (const path of [config.paper.keyFile, config.control.tokenFile]) writeFileSync(path, '')
  expect(statePlaces(config).flatMap(({ settings }) => settings)).toEqual(['journal.path', 'paper.stateFile'])
})

test('perpd init from a checkout writes what ships with perpd, and no strategy that a user of the checkout made', () => {
  const root = join(import.meta.dirname, '..', '..')
  const checkout = join(folder, 'checkout')
  mkdirSync(checkout)
  for (const name of ['package.json', 'strategies'])
    cpSync(join(root, name), join(checkout, name), { recursive: true })
  for (const name of ['src', 'node_modules', 'config']) symlinkSync(join(root, name), join(checkout, name))
  writeFileSync(join(checkout, 'strategies', 'examples', 'made-by-its-user.yaml'), 'kind: guard\n')
  const there = join(folder, 'there')
  mkdirSync(there)
  const links = ['--preserve-symlinks', '--preserve-symlinks-main']
  const program = join(checkout, 'src', 'cli', 'bin.ts')
  const { status, stderr } = spawnSync(process.execPath, [...links, program, 'init'], {
    cwd: there,
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
  const examples = readdirSync(join(there, 'strategies', 'examples'))
  expect(examples).toContain('gold-trend.yaml')
  expect(examples).not.toContain('made-by-its-user.yaml')
})
