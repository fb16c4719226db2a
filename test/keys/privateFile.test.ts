import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { createPrivateFile, KeyFileError, readPrivateFile } from '../../src/keys/privateFile.ts'

const live = { setting: 'account.keystore', checksFolder: true }
let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perpd-private-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

function faultOf(work: () => unknown): KeyFileError {
  try {
    work()
  } catch (error) {
    if (error instanceof KeyFileError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

test('a file that is made is for its owner alone, whatever the mask, and reads back whole', () => {
  const path = join(directory, 'new', 'key')
  const mask = process.umask(0)
  try {
    createPrivateFile(path, new Secret('päss\n'), '--file')
  } finally {
    process.umask(mask)
  }
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(join(directory, 'new')).mode & 0o777).toBe(0o700)
  expect(readPrivateFile(path, live).reveal()).toBe('päss\n')
})

test('a file, a link or a folder that has the name is never replaced', () => {
  const path = join(directory, 'key')
  writeFileSync(path, 'mine')
  symlinkSync(join(directory, 'elsewhere'), join(directory, 'link'))
  mkdirSync(join(directory, 'folder'))
  for (const name of ['key', 'link', 'folder']) {
    expect(faultOf(() => createPrivateFile(join(directory, name), new Secret('x'), '--file')).code).toBe(
      'KEY_FILE_EXISTS',
    )
  }
  expect(readFileSync(path, 'utf8')).toBe('mine')
  expect(readdirSync(directory).sort()).toEqual(['folder', 'key', 'link'])
})

test('a file that cannot be made is one clear fault that repeats nothing of it', () => {
  writeFileSync(join(directory, 'file'), '')
  const fault = faultOf(() =>
    createPrivateFile(join(directory, 'file', 'key'), new Secret('horse'), '--file'),
  )
  expect(fault.code).toBe('KEY_FILE_NOT_MADE')
  expect(fault.message).not.toContain('horse')
})

test('a key in a folder that others may write is refused, because they could swap it', () => {
  const folder = join(directory, 'open')
  mkdirSync(folder)
  const path = join(folder, 'key')
  writeFileSync(path, 'x', { mode: 0o600 })
  for (const mode of [0o777, 0o770, 0o702]) {
    chmodSync(folder, mode)
    const fault = faultOf(() => readPrivateFile(path, live))
    expect([fault.code, fault.facts.mode]).toEqual(['KEY_FILE_FOLDER', mode.toString(8)])
  }
  // As /tmp: in a sticky folder nobody may touch what is another's.
  for (const mode of [0o1777, 0o755, 0o700]) {
    chmodSync(folder, mode)
    expect(readPrivateFile(path, live).reveal()).toBe('x')
  }
})

test('a key below a folder that everybody may write is refused, however deep it lies', () => {
  const deep = join(directory, 'open', 'mine', 'keys')
  mkdirSync(deep, { recursive: true, mode: 0o700 })
  const path = join(deep, 'key')
  writeFileSync(path, 'x', { mode: 0o600 })
  chmodSync(join(directory, 'open'), 0o777)
  const fault = faultOf(() => readPrivateFile(path, live))
  expect([fault.code, fault.facts.folder]).toEqual(['KEY_FILE_FOLDER', join(directory, 'open')])
  // A link on the way does not hide it.
  symlinkSync(join(directory, 'open', 'mine'), join(directory, 'way'))
  expect(faultOf(() => readPrivateFile(join(directory, 'way', 'keys', 'key'), live)).code).toBe(
    'KEY_FILE_FOLDER',
  )
  // A group of one's own, as many systems give it, is nobody else.
  chmodSync(join(directory, 'open'), 0o775)
  expect(readPrivateFile(path, live).reveal()).toBe('x')
})

// Nobody but root can give a folder away; test/keys/trustedPath.test.ts holds the rule for everybody.
test.runIf(process.geteuid?.() === 0)(
  'a key below a folder of another user is refused, though the folder around it is ours alone',
  () => {
    const deep = join(directory, 'his', 'mine')
    mkdirSync(deep, { recursive: true, mode: 0o700 })
    const path = join(deep, 'key')
    writeFileSync(path, 'x', { mode: 0o600 })
    expect(readPrivateFile(path, live).reveal()).toBe('x')
    chownSync(join(directory, 'his'), 54_321, 54_321)
    const fault = faultOf(() => readPrivateFile(path, live))
    expect([fault.code, fault.facts.folder, fault.facts.owner]).toEqual([
      'KEY_FILE_FOLDER',
      join(directory, 'his'),
      54_321,
    ])
  },
)

test('play money needs no safe folder', () => {
  chmodSync(directory, 0o777)
  const path = join(directory, 'key')
  writeFileSync(path, 'x', { mode: 0o600 })
  expect(readPrivateFile(path, { setting: 'paper.keyFile', checksFolder: false }).reveal()).toBe('x')
})

test('a credential of systemd may have a right of the group, and none to write it or of all; elsewhere it may not', () => {
  const path = join(directory, 'mail-password')
  writeFileSync(path, 'x', { mode: 0o440 })
  chmodSync(path, 0o440)
  const rules = { ...live, checksFolder: false, credentialsDirectory: directory }
  expect(readPrivateFile(path, rules).reveal()).toBe('x')
  const elsewhere = { ...rules, credentialsDirectory: join(directory, 'other') }
  expect(faultOf(() => readPrivateFile(path, elsewhere)).code).toBe('KEY_FILE_PERMISSIONS')
  for (const mode of [0o460, 0o444]) {
    chmodSync(path, mode)
    expect(faultOf(() => readPrivateFile(path, rules)).code).toBe('KEY_FILE_PERMISSIONS')
  }
})

test('a file that is far larger than any key is refused', () => {
  const path = join(directory, 'key')
  writeFileSync(path, 'x'.repeat(65_537), { mode: 0o600 })
  expect(faultOf(() => readPrivateFile(path, live)).facts.reason).toBe('it is larger than 65536 bytes')
})

test('a command says that nothing was done, a daemon that it did not start', () => {
  const missing = join(directory, 'none')
  const said = (setting: string) =>
    faultOf(() => readPrivateFile(missing, { setting, checksFolder: true })).details
  expect(said('--file')).toBe(
    'Nothing was done. Name an existing regular file in --file (links are refused).',
  )
  expect(said('account.keystore')).toMatch(/^perpd did not start\./)
})
