/** A strategy file that ships with perpd is never written: a copy of the user's own runs in its place. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { copyNotes, ownCopies } from '../../src/daemon/ownFiles/ownCopies.ts'
import { readStrategyFiles } from '../../src/daemon/readStrategies.ts'

const folder = mkdtempSync(join(tmpdir(), 'perpd-copies-'))
afterAll(() => rmSync(folder, { recursive: true }))
const shipped = resolve(import.meta.dirname, '..', '..', 'strategies', 'guard.yaml')
const { config } = loadConfig({ argv: ['--strategies.paths', shipped], env: {}, cwd: folder })
const copy = join(folder, 'var', 'paper', 'strategies', 'guard.yaml')

test('a copy beside the journal runs in the place of the file that ships, and nothing else does', async () => {
  const { copyOf, inPlaceOf, originOf } = ownCopies(config)
  expect([copyOf(shipped), inPlaceOf(shipped), originOf(copy)]).toEqual([copy, shipped, shipped])
  const read = async () => (await readStrategyFiles(config)).strategies.map(({ name, path }) => [name, path])
  expect(await read()).toEqual([['guard', shipped]])
  mkdirSync(dirname(copy), { recursive: true })
  copyFileSync(shipped, copy)
  // A file of the user's own there, of a name that ships not, is no strategy.
  writeFileSync(join(dirname(copy), 'mine.yaml'), 'kind: guard\n')
  expect(await read()).toEqual([['guard', copy]])
  expect(copyNotes(config, [{ name: 'guard', path: copy }])).toEqual([expect.stringContaining(shipped)])
  expect(copyNotes(config, [{ name: 'guard', path: shipped }])).toEqual([])
  // A file that is read by its name, as a trial reads it, is that file.
  const { strategies } = config
  expect((await readStrategyFiles({ strategies })).strategies.map(({ path }) => path)).toEqual([shipped])
})

test('a file of the user’s own is written where it is, also one that has the name of one that ships', () => {
  const { copyOf, inPlaceOf, originOf } = ownCopies(config)
  const own = join(folder, 'strategies', 'guard.yaml')
  expect([copyOf(own), inPlaceOf(own), originOf(own)]).toEqual([undefined, own, undefined])
  const made = join(dirname(shipped), 'made-by-its-user.yaml')
  expect([copyOf(made), inPlaceOf(made)]).toEqual([undefined, made])
})
