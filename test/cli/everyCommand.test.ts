/** What holds of every command: its examples, its exit codes, and the hint for whoever misspells it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseArguments } from '../../src/cli/call/command.ts'
import { commands } from '../../src/cli/commandTable.ts'
import { settingNamed } from '../../src/config/configSchema.ts'
import { exitCodes, exitMeanings } from '../../src/config/exit.ts'
import { chainNamed } from '../../src/protocol/chains/index.ts'
import { marketsNamed } from '../../src/protocol/marketName.ts'
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

/** The markets that an example names: an argument or a flag of that name, or the weights of a rebalance. */
function marketsOf(
  { name, positional, more = [] }: (typeof commands)[number],
  line: string,
): readonly string[] {
  const words = wordsOf(line).slice(name.split(' ').length)
  const flagged = words.flatMap((word, place) => (word === '--market' ? [words[place + 1] ?? ''] : []))
  const given = words.slice(0, words.findIndex((word) => word.startsWith('-')) >>> 0)
  const argumentsHere = [...(positional === undefined ? [] : [positional]), ...more]
  const named = argumentsHere.flatMap((each, place) =>
    each.name === 'market' && given[place] !== undefined ? [given[place]] : [],
  )
  const each = named.flatMap((word) =>
    word.includes('=') ? word.split(',').map((part) => part.split('=')[0] ?? '') : [word],
  )
  return [...flagged, ...each].filter((word) => word !== 'MARKET')
}

test('every market in an example is one market of the paper venue on arbitrum, as it stands', () => {
  const all = [...(chainNamed('arbitrum')?.facts.markets.values() ?? [])]
  const named = commands.flatMap((command) =>
    command.examples.flatMap((line) => marketsOf(command, line).map((market) => ({ line, market }))),
  )
  expect(named.length).toBeGreaterThanOrEqual(10)
  for (const { line, market } of named) expect(marketsNamed(all, market), line).toHaveLength(1)
})

test('rows as JSON and for a spreadsheet are not asked together', async () => {
  for (const command of commands) {
    const csv = command.flags.find(({ name }) => name === 'csv')
    if (csv === undefined) continue
    const folder = csv.value === undefined ? [] : ['tables']
    const { code, err } = await perpd(cwd, [...command.name.split(' '), '--json', '--csv', ...folder])
    expect([code, err]).toEqual([exitCodes.configuration, expect.stringContaining('give one')])
  }
})

test('positions, pnl and trades each print for a spreadsheet', () => {
  const withCsv = commands
    .filter(({ flags }) => flags.some(({ name }) => name === 'csv'))
    .map(({ name }) => name)
  expect(withCsv).toEqual(expect.arrayContaining(['positions', 'pnl', 'trades']))
})

test('perpd strategies list is perpd strategies', async () => {
  const [plain, list] = [await perpd(cwd, ['strategies']), await perpd(cwd, ['strategies', 'list'])]
  expect([list.code, list.out, list.err]).toEqual([plain.code, plain.out, plain.err])
})

test('a whole number of a task that is out of its range is refused by its flag, with least, most and unit', async () => {
  const line = ['task', 'start', 'ladder', 'ETH/USD [WETH-USDC]', 'long', '--size', '500', '--leverage', '2']
  const every = await perpd(cwd, [...line, '--rungs', '5', '--every', '5', '--yes'])
  expect(every.err).toContain('--every is 5; expected a whole number of seconds from 10 to 86400.')
  const rungs = await perpd(cwd, [...line, '--rungs', '1', '--every', '60', '--yes'])
  expect(rungs.err).toContain('--rungs is 1; expected a whole number from 2 to 50.')
})

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
    expect(err).toContain('No perpd is running here')
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
  ['config', 'zzz'],
])('%s %s ends with 2: it is not there', async (...argv) => {
  const { code } = await perpd(cwd, argv)
  expect(code).toBe(exitCodes.notFound)
})

const [eth, direction] = ['ETH/USD [WETH-USDC]', 'long'] as const

test.each([
  [],
  ['open', eth, direction],
  ['open', eth, direction, '--size', '100'],
  ['open', eth, direction, '--size', '100', '--leverage', '2', '--limit', '1', '--stop-entry', '2'],
  ['close'],
  ['close', eth],
  ['close', eth, direction, '--all'],
  ['task', 'start', 'twap'],
  ['task', 'start', 'twap', eth, direction, '--size', '100'],
  ['task', 'start', 'twap', eth, direction, '--size', '100', '--parts', '2', '--minutes', '2'],
  ['task', 'start', 'twap', eth, direction, '--rungs', '2'],
  ['task', 'start', 'ladder', eth, direction, '--size', '100', '--rungs', '3', '--leverage', '2'],
  ['task', 'start', 'rebalance', 'ETH=50%'],
  ['orders', 'resolve', 'f00d'],
  ['orders', 'resolve', 'f00d', '--as', 'dead'],
  ['orders', 'unwind', 'f00d'],
  ['discrepancies', 'adopt', 'f00d'],
  ['discrepancies', 'adopt', '--by', 'ann'],
  ['discrepancies', 'adopt', 'f00d', '--before', 'START', '--by', 'ann'],
  ['markets', 'trust', eth],
  ['strategies', 'reload', '--dry-run', '--confirm'],
  ['keys', 'new'],
  ['keys', 'import', '--file', 'x'],
])('%j ends with 4: a flag or an argument is missing, or one is there that must not be', async (...argv) => {
  const { code, err } = await perpd(cwd, argv)
  expect(code, err).toBe(exitCodes.configuration)
})

test.each([
  ['close', eth, direction, '--share', '0'],
  ['open', eth, 'up', '--size', '100', '--leverage', '2'],
  ['open', eth, direction, '--size', 'much', '--leverage', '2'],
  [
    'task',
    'start',
    'twap',
    eth,
    direction,
    '--size',
    '100',
    '--parts',
    '1',
    '--minutes',
    '2',
    '--leverage',
    '2',
  ],
  ['orders', 'resolve', 'f00d', '--as', 'lost', '--by', 'ann'],
  ['logs', '--level', 'loud'],
])('%j ends with 1: a value does not fit', async (...argv) => {
  const { code, err } = await perpd(cwd, argv)
  expect(code, err).toBe(exitCodes.error)
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
