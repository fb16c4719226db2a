/** `perpd init`: what it asks, writes and leaves alone; at a terminal too. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bareEnv } from '../support/bareEnv.ts'
import { perpd } from './run.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-init-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const text = (name: string) => readFileSync(join(cwd, name), 'utf8')

test('without a terminal it asks nothing, begins on paper, and what it wrote would start', async () => {
  const { code, out } = await perpd(cwd, ['init'])
  expect([code, out.split('\n').at(-1)]).toEqual([0, 'Next: perpd run'])
  expect(text('perpd.json')).toMatch(/^ {2}\/\/ .*\n.*\n {2}"profile": "paper"/m)
  expect(statSync(join(cwd, 'perpd.json')).mode & 0o077).toBe(0)
  const check = await perpd(cwd, ['check', '--json'])
  expect(JSON.parse(check.out)).toMatchObject({ ok: true, profile: 'paper' })
  const { out: shown } = await perpd(cwd, ['config', '--search', 'maxDailyLossUsd'])
  expect(shown).toMatch(/1000 +file perpd\.json/)
})

test('no file of it that Git keeps names a place of this machine, and the folder starts after it moved', async () => {
  const [first, moved] = [join(cwd, 'first'), join(cwd, 'moved')]
  mkdirSync(first)
  expect((await perpd(first, ['init', '--yes'])).code).toBe(0)
  const git = (...argv: string[]) => spawnSync('git', argv, { cwd: first, encoding: 'utf8', env: bareEnv() })
  git('init', '-q')
  // What a run leaves there is none of it.
  mkdirSync(join(first, 'var/paper'), { recursive: true })
  writeFileSync(join(first, 'var/paper/journal.db'), '')
  const kept = git('ls-files', '--others', '--exclude-standard').stdout.split('\n').filter(Boolean)
  expect(kept).toEqual(
    expect.arrayContaining(['perpd.json', 'strategies/tsconfig.json', 'strategies/package.json']),
  )
  const root = resolve(import.meta.dirname, '../..')
  expect(kept.filter((name) => /^(?:var|\.perpd)\//.test(name))).toEqual([])
  for (const name of kept) {
    const written = readFileSync(join(first, name), 'utf8')
    expect([name, written.includes(root) || written.includes(cwd)]).toEqual([name, false])
    expect([name, /"(?:\/|(?:\.\.\/){2})/.test(written)]).toEqual([name, false])
  }
  renameSync(first, moved)
  const { extends: paths } = JSON.parse(readFileSync(join(moved, 'strategies/tsconfig.json'), 'utf8'))
  const [, schema = ''] = /"\$schema": "(.*)"/.exec(readFileSync(join(moved, 'perpd.json'), 'utf8')) ?? []
  expect([existsSync(join(moved, 'strategies', paths)), existsSync(join(moved, schema))]).toEqual([
    true,
    true,
  ])
  expect(JSON.parse((await perpd(moved, ['check', '--json'])).out)).toMatchObject({ ok: true })
})

test('after a clone a second start writes the places of this machine again, and nothing else', async () => {
  await perpd(cwd, ['init', '--yes'])
  rmSync(join(cwd, '.perpd'), { recursive: true })
  const settings = text('perpd.json')
  const { out } = await perpd(cwd, ['init', '--yes'])
  const wrote = out.split('\n').filter((line) => line.startsWith('wrote '))
  expect(wrote.every((line) => line.startsWith('wrote .perpd/'))).toBe(true)
  expect([wrote.length, text('perpd.json')]).toEqual([3, settings])
})

test('what is there stays, and --force replaces it', async () => {
  writeFileSync(join(cwd, 'perpd.json'), '{ "log": { "level": "warn" } }', { mode: 0o600 })
  const kept = await perpd(cwd, ['init', '--yes'])
  expect([kept.code, kept.out]).toEqual([0, expect.stringContaining('perpd.json is there already')])
  expect(text('perpd.json')).toContain('warn')
  await perpd(cwd, ['init', '--yes', '--force'])
  expect(text('perpd.json')).toContain('"profile": "paper"')
})

test('another kind on another market runs in the place of the usual instance', async () => {
  const { code } = await perpd(cwd, [
    'init',
    '--yes',
    '--kind',
    'grid',
    '--market',
    'BTC/USD [BTC-USDC]',
    '--size',
    '250',
  ])
  expect(code).toBe(0)
  const { strategies, disabled } = JSON.parse((await perpd(cwd, ['check', '--json'])).out)
  expect(strategies.map(({ name }: { name: string }) => name)).toEqual(['btc-grid', 'guard'])
  expect(disabled).toContain('eth-trend')
  expect(text('strategies/btc-grid.yaml')).toMatch(/usd: 250 .*\n(?:.*\n)*.*maxPositionSizeUsd: 750 /)
})

test('live names where the key is, and no secret stands in any file', async () => {
  const secret = 'https://rpc.example/v2/0123456789abcdef0123456789abcdef'
  const { code, out } = await perpd(cwd, [
    'init',
    '--yes',
    '--profile',
    'avalanche',
    '--key',
    'keys/a.json',
    '--rpc',
    secret,
  ])
  expect(code).toBe(0)
  expect(out).toContain('perpd keys new --file keys/a.json')
  expect(out).toContain('PERPD__RPC__HTTP')
  const { settings } = JSON.parse((await perpd(cwd, ['config', '--json'])).out)
  expect(settings['account.keystore']).toMatchObject({ origin: 'file perpd.json' })
  expect(settings.profile.value).toBe('avalanche')
  expect(text('strategies/eth-trend.yaml')).toContain('ETH/USD [ETH-USDC]')
  const written = readdirSync(cwd, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  for (const entry of written)
    expect(readFileSync(join(entry.parentPath, entry.name), 'utf8')).not.toContain('0123456789abcdef')
})

test('of endpoints only a host of words alone is written; what may be a key goes into the variable', async () => {
  const init = (rpc: string) =>
    perpd(cwd, ['init', '--yes', '--force', '--profile', 'arbitrum', '--rpc', rpc])
  const short = await init('https://rpc.ankr.com/arbitrum/abcDEF12345')
  expect([short.code, short.out]).toEqual([0, expect.stringContaining('PERPD__RPC__HTTP')])
  expect(text('perpd.json')).not.toMatch(/abcDEF|ankr/)
  const plain = await init('https://arb1.example.org')
  expect(plain.out).not.toContain('PERPD__RPC__HTTP')
  expect(text('perpd.json')).toContain('"http": ["https://arb1.example.org"]')
})

test.each([
  [['--key', `0x${'ab'.repeat(32)}`], 'That is a key, not', 1],
  [['--key', 'a b c d e f g h i j k l'], 'That is a key, not', 1],
  [['--rpc', 'ftp://x'], 'An endpoint is an https:// address', 1],
  [['--size', '-5'], '-5 is no amount', 1],
  [['--max-loss', '0'], '0 is no amount', 1],
  [['--kind', 'trned'], 'Did you mean trend?', 2],
  [['--market', 'DOGEE'], 'is not a market of arbitrum', 2],
  [['--profile', 'arbitrumm'], 'Did you mean arbitrum?', 1],
])('%j is refused, nothing is written, and no key is shown', async (flags, says, exitCode) => {
  const given = flags[0] === '--profile' ? flags : ['--profile', 'arbitrum', ...flags]
  const { code, err, out } = await perpd(cwd, ['init', '--yes', ...given])
  expect([code, err]).toEqual([exitCode, expect.stringContaining(says)])
  expect(err + out).not.toContain('abab')
  expect(existsSync(join(cwd, 'perpd.json'))).toBe(false)
})

test.each([
  ['--control.port', '9999'],
  ['--config', 'own.json'],
  ['--port', '9999'],
])('%s is refused, since init would not write it: nothing is written', async (...setting) => {
  const { code, err } = await perpd(cwd, ['init', '--yes', ...setting])
  expect([code, err]).toEqual([4, expect.stringContaining(`${setting[0]}: init takes only its own flags`)])
  expect(readdirSync(cwd)).toEqual([])
})

test('the help of init names no settings', async () => {
  const { out } = await perpd(cwd, ['init', '--help'])
  expect(out).not.toMatch(/--section\.key|--config/)
  expect((await perpd(cwd, ['doctor', '--help'])).out).toMatch(/--config FILE[\s\S]*--section\.key value/)
})

const hasPty = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0

test.skipIf(!hasPty)(
  'at a terminal it asks at most seven questions, again for what does not fit, and takes Enter for the usual',
  async () => {
    const main = resolve(import.meta.dirname, '../support/guardedMain.ts')
    const command = `'${process.execPath}' '${main}' init`
    const child = spawn('script', ['-qec', command, '/dev/null'], { cwd, env: bareEnv() })
    let said = ''
    const answers: Readonly<Record<string, string[]>> = {
      'What does it trade with': ['arbitrum'],
      'Which strategy': ['trned', ''],
      'Size of one order': ['75'],
    }
    let asked = 0
    let answered = 0
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      said += piece
      // A prompt comes in any pieces, and with moves of the cursor in it or after it.
      const plain = stripVTControlCharacters(said)
      const [question] = /[A-Z][^\r\n]*\]: $/.exec(plain.slice(answered)) ?? []
      if (question === undefined) return
      answered = plain.length
      asked += 1
      const answer =
        Object.entries(answers)
          .find(([start]) => question.includes(start))?.[1]
          .shift() ?? ''
      child.stdin.write(`${answer}\r`)
    })
    await once(child, 'close')
    // One of them twice.
    expect(asked, said).toBe(8)
    expect(said).toContain('Did you mean trend?')
    expect(text('perpd.json')).toContain('"profile": "arbitrum"')
    expect(text('strategies/eth-trend.yaml')).toContain('usd: 75')
  },
)

test.skipIf(!hasPty)('a question that is broken off writes nothing', async () => {
  const main = resolve(import.meta.dirname, '../support/guardedMain.ts')
  const child = spawn('script', ['-qec', `'${process.execPath}' '${main}' init`, '/dev/null'], {
    cwd,
    env: bareEnv(),
  })
  let said = ''
  const steps: [string, string][] = [
    ['What does it trade', '\r'],
    ['Which strategy', '\u0003'],
  ]
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    said += piece
    const [question, key] = steps[0] ?? []
    if (question === undefined || key === undefined || !said.includes(question)) return
    steps.shift()
    child.stdin.write(key)
  })
  const [code] = await once(child, 'close')
  expect(code).toBe(1)
  expect(readdirSync(cwd)).toEqual([])
})
