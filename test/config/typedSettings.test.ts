/** Settings as people write them, in files, flags and variables: no value is taken for another, and none is left out without a word. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ConfigError, loadConfig } from '../../src/config/loadConfig.ts'
import { isSafeUrl } from '../../src/config/sections/formats.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-typed-'))
})
afterEach(() => rmSync(cwd, { recursive: true }))

function problems(argv: readonly string[], env: Readonly<Record<string, string>> = {}): readonly string[] {
  try {
    loadConfig({ argv, env, cwd })
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}
const own = join('perpd.json')

describe('a file of settings that is named is read or refused', () => {
  test('a link to nothing is no missing file, whose limits would be left out', () => {
    symlinkSync(join(cwd, 'unmounted', 'perpd.json'), join(cwd, own))
    expect(problems([])).toEqual([expect.stringContaining('perpd.json: it is a link to')])
    rmSync(join(cwd, own))
    expect(problems([])).toEqual([])
    mkdirSync(join(cwd, 'config'))
    symlinkSync('gone', join(cwd, 'config', 'paper.json'))
    expect(problems([])).toEqual([expect.stringContaining('paper.json: it is a link to gone')])
  })

  test('a pipe keeps nobody waiting, and a folder is called one', () => {
    execFileSync('mkfifo', ['-m', '600', join(cwd, own)])
    expect(problems([])).toEqual([expect.stringContaining('it is a pipe or a device')])
    expect(problems(['--config', cwd])).toEqual([expect.stringContaining('it is a folder')])
    expect(problems(['--config', 'none.json'])).toEqual([expect.stringContaining('ENOENT')])
  })

  test.each(['', '  '])('an empty name is a value that is missing: %j', (name) => {
    expect(problems([`--config=${name}`])).toEqual([expect.stringContaining('its value is empty')])
    expect(problems([], { PERPD__CONFIG: name })).toEqual([expect.stringContaining('its value is empty')])
  })
})

test('comments are read over as editors write them, and what looks like one inside of a text is none', () => {
  const text = `// first
{ /* a block
  of lines */ "log": { "level": "debug" /* at the end */ }, // and here
  "control": { "consoleUrl": "https://perpd.example.org" }
}`
  writeFileSync(join(cwd, own), text, { mode: 0o600 })
  const { config } = loadConfig({ argv: [], env: {}, cwd })
  expect([config.log.level, config.control.consoleUrl]).toEqual(['debug', 'https://perpd.example.org'])
  writeFileSync(join(cwd, own), '{ /* a\n */ "risk": { "maxLeverage": 1e400 } }', { mode: 0o600 })
  expect(problems([])).toEqual([expect.stringContaining('at line 2 column 30 a smaller number is expected')])
})

test('a flag that is given twice with two values is told of, and the last one counts; lists grow', () => {
  const read = (...argv: readonly string[]) => loadConfig({ argv, env: {}, cwd })
  const twice = read('--log.level', 'debug', '--log.level=warn')
  expect([twice.config.log.level, twice.warnings]).toEqual([
    'warn',
    ['--log.level is given twice, as "debug" and as "warn": the last one applies.'],
  ])
  expect(read('--log.level', 'warn', '--log.level=warn').warnings).toEqual([])
  const lists = read('--strategies.paths', 'a', '--strategies.paths=b')
  expect([lists.config.strategies.paths.length, lists.warnings]).toEqual([2, []])
})

test.each(['~/perpd/x', '~', '$HOME/x', '$\x7bHOME}/x', 'a/$STATE/x'])(
  '%s is no path: nothing in one is replaced',
  (path) => {
    for (const name of ['journal.path', 'control.tokenFile', 'log.file', 'strategies.paths'])
      expect([name, problems([`--${name}=${path}`])]).toEqual([
        name,
        [expect.stringContaining('without ~ and $NAME')],
      ])
    expect(problems([], { PERPD__JOURNAL__PATH: `sqlite:${path}` })).toHaveLength(1)
  },
)

test.each(['./a~b/x', '/srv/my bot ü/x', 'a$b', 'x~'])('%s is a path', (path) => {
  for (const name of ['journal.path', 'control.tokenFile', 'log.file', 'strategies.paths'])
    expect([name, problems([`--${name}=${path}`])]).toEqual([name, []])
})

test.each([
  'https:/api.example.org',
  'https:api.example.org',
  'https://api.example.org;https://b.example.org',
  'https://api.example.org https://b.example.org',
  'https://\u0430pi.example.org',
  'https://api..example.org',
  'https://api.example.org:0',
  'https://api.example.org\\x',
  'https://api.example.org/a b',
  'https://api.example.org/{chain}',
  '<https://api.example.org>',
  '"https://api.example.org"',
  'https://api.example.org\u200b',
  'https://[2001:db8::1',
])('%s is no address of a host', (url) => {
  expect(isSafeUrl(url, true)).toBe(false)
})

test.each([
  'https://api.example.org',
  'HTTPS://API.EXAMPLE.ORG/',
  'https://api.example.org.:8443/v1/',
  'https://xn--pi-6kc.example.org',
  'https://my_host.internal/path-1/~x',
  'http://127.0.0.1:8545',
  'http://localhost:8080/api/0/v1',
  'http://[::1]:8545',
  'https://[2001:db8::1]/x',
  'https://user:p%40ss@rpc.example.org/key?token=a,b;c',
])('%s is one', (url) => {
  expect(isSafeUrl(url, true)).toBe(true)
})
