/** What holds of every command: its examples, its exit codes, and the hint for whoever misspells it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseArguments } from '../../src/cli/call/command.ts'
import { commands } from '../../src/cli/commandTable.ts'
import { settingNamed } from '../../src/config/configSchema.ts'
import { exitCodes, exitMeanings } from '../../src/config/exit.ts'
import { perpd } from './run.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-every-'))
})
afterEach(() => rmSync(cwd, { recursive: true }))

/** The words of a command line as a shell hands them on, without the program and what is redirected. */
function wordsOf(line: string): readonly string[] {
  const [, ...words] = [...line.replace(/ (?:\d?[<>]) .*$/, '').matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, bare]) => quoted ?? bare ?? '',
  )
  return words
}

/** The arguments of the first example, behind the command's name. */
function argumentsOf({ name, examples }: (typeof commands)[number]): readonly string[] {
  return wordsOf(examples[0]).slice(name.split(' ').length)
}

describe.each(commands.map((command) => [command.name, command] as const))('perpd %s', (name, command) => {
  test('has examples that it understands, and its help shows them', async () => {
    for (const line of command.examples) {
      expect(line.startsWith(`perpd ${name}`), line).toBe(true)
      const { settings } = parseArguments(command, wordsOf(line).slice(name.split(' ').length))
      const named = settings
        .filter((each) => each.startsWith('--'))
        .map((each) => each.slice(2).split('=')[0])
      for (const each of named) {
        expect(['config', 'profile'].includes(each ?? '') || settingNamed(each ?? ''), line).toBeTruthy()
      }
    }
    const { code, out } = await perpd(cwd, [...name.split(' '), '--help'])
    expect(code).toBe(exitCodes.ok)
    for (const line of command.examples) expect(out).toContain(line)
  })

  test.skipIf(command.isForRunning !== true)('ends with 3 when no daemon runs', async () => {
    const { code, out, err } = await perpd(cwd, [...name.split(' '), ...argumentsOf(command)])
    expect([code, out]).toEqual([exitCodes.notRunning, ''])
    expect(err).toContain('No perpd runs here')
  })

  test.skipIf(command.isBare)('ends with 4 when its configuration cannot be used', async () => {
    const argv = [...name.split(' '), ...argumentsOf(command), '--venue.stray', '1']
    const { code, err } = await perpd(cwd, argv)
    expect(code).toBe(exitCodes.configuration)
    expect(err).toContain('--venue.stray: no such flag.')
  })

  test('is named to whoever misspells it or a flag of it', async () => {
    const last = name.at(-1) ?? ''
    const misspelt = `${name.slice(0, -1)}${last === 'x' ? 'y' : 'x'}`
    // Two letters that differ of three are another word; so is what is another command.
    if (name.length > 3) {
      const { code, err } = await perpd(cwd, misspelt.split(' '))
      expect(code).toBe(exitCodes.configuration)
      expect(err.replaceAll('\u00a0', ' ')).toMatch(/Did you mean |needs /)
    }
    const [flag] = command.flags
    if (flag === undefined) return
    const { code, err } = await perpd(cwd, [...name.split(' '), ...argumentsOf(command), `--${flag.name}x`])
    expect(code).toBe(exitCodes.configuration)
    expect(err).toContain(`Did you mean --${flag.name}?`)
  })
})

test.each([
  ['explain', 'f00d'],
  ['orders', 'resolve', 'f00d', '--as', 'dead', '--by', 'ann'],
  ['orders', 'unwind', 'f00d', '--by', 'ann'],
  ['discrepancies', 'adopt', 'f00d', '--by', 'ann'],
  ['orders'],
  ['trades'],
  ['journal', 'verify'],
  ['journal', 'export'],
  ['strategies', 'describe', 'martingale'],
  ['strategies', 'new', 'martingale'],
  ['task', 'start', 'iceberg', 'ETH', 'long'],
  ['notify', 'test', 'pigeon'],
  ['message', 'nowhere.json'],
  ['config', '--search', 'zzz'],
])('%s %s ends with 2: it is not there', async (...argv) => {
  const { code } = await perpd(cwd, argv)
  expect(code).toBe(exitCodes.notFound)
})

test('the table of exit codes has each code once, and the help names them', async () => {
  expect(exitMeanings.map(({ code }) => code)).toEqual(Object.values(exitCodes))
  const { out } = await perpd(cwd, ['--help'])
  expect(out).toContain('0 ok, 1 error, 2 not found, 3 not running, 4 configuration, 5 timeout')
})

test('help of what is no command names the nearest, and ends with 4', async () => {
  expect(await perpd(cwd, ['help', 'ordres'])).toMatchObject({
    code: exitCodes.configuration,
    err: expect.stringContaining('Did you mean orders?'),
  })
  expect(await perpd(cwd, ['--verison'])).toMatchObject({
    code: exitCodes.configuration,
    err: expect.stringContaining('Did you mean --version?'),
  })
})

test('version tells what it runs on, whatever the configuration says', async () => {
  const { code, out } = await perpd(cwd, ['version', '--json'], { PERPD__LOG__LEVEL: 'loud' })
  expect([code, JSON.parse(out)]).toEqual([
    exitCodes.ok,
    {
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      node: process.versions.node,
      platform: `${process.platform}-${process.arch}`,
      journalSchema: expect.any(Number),
      commit: expect.toSatisfy((commit) => commit === null || /^[0-9a-f]{40}$/.test(commit)),
    },
  ])
})
