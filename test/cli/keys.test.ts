/** `perpd keys`: as commands in this process, and as a process at a real terminal. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { privateKeyToAddress } from 'viem/accounts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { encryptKey } from '../../src/keys/keystore.ts'
import { bareEnv } from '../support/bareEnv.ts'
import { perpd } from './run.ts'

const main = resolve(import.meta.dirname, '../support/guardedMain.ts')
const key = '0x4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318'
const address = privateKeyToAddress(key)
const password = 'canary horse battery'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-keys-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const file = (name: string): string => join(cwd, name)
let files = 0

/** An open descriptor that gives a text; commands close it. */
function fd(text: string): string {
  const path = file(`given-${files++}`)
  writeFileSync(path, `${text}\n`, { mode: 0o600 })
  return String(openSync(path, 'r'))
}

/** A keystore that opens quickly; what new ones cost is held in test/keys. */
async function cheapKeystore(name: string): Promise<void> {
  const text = await encryptKey(new Secret(key), new Secret(password), { n: 2 ** 12, r: 8, p: 1 })
  writeFileSync(file(name), text.reveal(), { mode: 0o600 })
}

const keys = (word: string, ...argv: string[]) => perpd(cwd, ['keys', word, ...argv])

test('new makes an encrypted file for its owner alone, and prints the address it holds', async () => {
  const made = await keys('new', '--file', file('mine.json'), '--password-fd', fd(password))
  expect(made.code).toBe(0)
  expect(made.out).toMatch(/^0x[0-9a-fA-F]{40}$/)
  expect(made.err).toContain('--account.keystore CWD/mine.json')
  expect(statSync(file('mine.json')).mode & 0o777).toBe(0o600)
  const told = await keys('address', '--file', file('mine.json'))
  const verified = await keys(
    'address',
    '--file',
    file('mine.json'),
    '--verify',
    '--password-fd',
    fd(password),
  )
  expect([told.out, verified.out]).toEqual([made.out, made.out])
  const again = await keys('new', '--file', file('mine.json'), '--password-fd', fd(password))
  expect([again.code, again.err.split('\n')[0]]).toEqual([
    4,
    'A file of that name exists already; perpd never replaces keys.',
  ])
})

test('import takes a key from a file, and keeps it encrypted', async () => {
  writeFileSync(file('raw'), `${key}\n`, { mode: 0o600 })
  const given = ['--from', file('raw'), '--password-fd', fd(password)]
  const { code, out, err } = await keys('import', '--file', file('one.json'), ...given)
  expect([code, out]).toEqual([0, address])
  expect(readFileSync(file('one.json'), 'utf8') + err).not.toMatch(/4c0883a6|canary/)
})

test('export gives the key back only when asked to', async () => {
  await cheapKeystore('one.json')
  const exported = ['--file', file('one.json'), '--password-fd']
  // The tests' own standard output is no terminal.
  const refused = await keys('export', ...exported, fd(password))
  expect([refused.code, refused.out]).toEqual([1, ''])
  expect(refused.err).toMatch(/^Standard output is not a terminal/)
  expect((await keys('export', ...exported, fd(password), '--unsafe-stdout')).out).toBe(key)
  const wrong = await keys('export', ...exported, fd('wrong'), '--unsafe-stdout')
  expect([wrong.code, wrong.out, wrong.err.split('\n')[0]]).toEqual([
    4,
    '',
    'The password does not open the keystore.',
  ])
  for (const { out, err } of [refused, wrong]) expect(out + err).not.toMatch(/canary|4c0883a6/)
})

test('a command that lacks something says what, and makes nothing', async () => {
  const said = async (word: string, ...argv: string[]) => {
    const { code, err } = await keys(word, ...argv)
    return `${code} ${err.split('\n')[0]}`
  }
  expect(await said('new')).toBe('4 Which keystore? Name it with --file FILE, or configure account.keystore.')
  expect(await said('new', '--file', 'x')).toBe('4 The password of the keystore is missing.')
  expect(await said('import', '--file', 'x')).toMatch(/^4 Which key\? /)
  expect(await said('import', '--file', 'x', '--key-fd', fd('hello'))).toBe(
    '1 This is not a private key; expected 0x and 64 hex digits.',
  )
  expect(await said('new', '--file', 'x', '--password-fd', 'three')).toBe(
    '1 --password-fd is three; expected a whole number, that of an open file descriptor, from 0 to 9999.',
  )
  expect(await said('new', '--password', 'secret')).toMatch(/^4 --password: keys new has no such flag\./)
  expect(await said('address', '--file', file('none'))).toBe('4 The key file cannot be opened.')
  writeFileSync(file('raw'), key, { mode: 0o600 })
  expect(await said('address', '--file', file('raw'))).toBe('4 The file is no keystore that perpd reads.')
  expect(readdirSync(cwd)).not.toContain('x')
})

test('a descriptor that was not passed on is named, and none of Node itself is read or closed', async () => {
  await cheapKeystore('one.json')
  writeFileSync(file('password'), `${password}\n`, { mode: 0o600 })
  const start = (descriptor: number, redirection: string) => {
    const command = `'${process.execPath}' '${main}' keys address --verify --file one.json --password-fd ${descriptor} ${redirection}`
    const { status, stderr } = spawnSync('bash', ['-c', command], { cwd, encoding: 'utf8', timeout: 50_000 })
    return { status, stderr }
  }
  // As npm starts it: Node's own descriptors stand in the place of what the shell had opened, its pipes among them.
  for (const descriptor of [3, 5, 99]) {
    const { status, stderr } = start(descriptor, '')
    expect([descriptor, status]).toEqual([descriptor, 4])
    expect(stderr).toContain('it is not open here; npm and npx pass on only standard input (--password-fd 0')
  }
  expect(start(0, '<password').status).toBe(0)
  expect(start(8, '8< <(cat password)').status).toBe(0)
}, 120_000)

test('the systemd credential opens a keystore', async () => {
  await cheapKeystore('one.json')
  writeFileSync(file('perpd-password'), password, { mode: 0o400 })
  const { out } = await perpd(cwd, ['keys', 'address', '--file', file('one.json'), '--verify'], {
    CREDENTIALS_DIRECTORY: cwd,
  })
  expect(out).toBe(address)
})

const hasPty = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0

/** Types answers at a real terminal, each when its question shows; gives everything that the terminal showed. */
function atTerminal(
  argv: readonly string[],
  answers: readonly (readonly [question: string, answer: string])[],
): Promise<{ readonly code: number; readonly shown: string }> {
  const command = [process.execPath, main, ...argv].map((each) => `'${each}'`).join(' ')
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd, env: bareEnv() })
  let shown = ''
  let from = 0
  const waiting = [...answers]
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text
    const [next] = waiting
    const at = next === undefined ? -1 : shown.indexOf(next[0], from)
    if (next === undefined || at < 0) return
    waiting.shift()
    from = at + next[0].length
    child.stdin.write(next[1])
  })
  return new Promise((done) => child.on('close', (code) => done({ code: code ?? -1, shown })))
}

test.runIf(hasPty)('at a terminal the password is asked for twice and never shown', async () => {
  const made = await atTerminal(
    ['keys', 'import', '--file', file('one.json')],
    [
      ['Private key (0x...): ', `${key}\r`],
      ['New password: ', `typo\u0015${password}\r`],
      ['The same again: ', `${password}\r`],
    ],
  )
  expect(made.shown).toContain(address)
  expect(made.code).toBe(0)
  expect(made.shown).not.toMatch(/canary|horse|typo|4c0883a6/)
  await cheapKeystore('two.json')
  const exported = await atTerminal(
    ['keys', 'export', '--file', file('two.json')],
    [['Password: ', `${password}\r`]],
  )
  expect(exported.code).toBe(0)
  expect(exported.shown).toContain(key)
  expect(exported.shown).not.toMatch(/canary|horse/)
})

test.runIf(hasPty)('at a terminal Ctrl-C and two different passwords make nothing', async () => {
  const [broken, different] = await Promise.all([
    atTerminal(['keys', 'new', '--file', file('one.json')], [['New password: ', 'half\u0003']]),
    atTerminal(
      ['keys', 'new', '--file', file('two.json')],
      [
        ['New password: ', 'one canary\r'],
        ['The same again: ', 'other canary\r'],
      ],
    ),
  ])
  expect([broken.code, different.code]).toEqual([1, 4])
  expect(broken.shown).toContain('The prompt was cancelled.')
  expect(different.shown).toContain('The two passwords differ.')
  expect(broken.shown + different.shown).not.toMatch(/half|canary/)
  expect(readdirSync(cwd)).toEqual([])
})
