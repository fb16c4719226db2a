/** Commands for who writes strategies, as processes: `perpd strategies describe` and `new`. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { loadStrategies } from '../../src/strategy/files/load.ts'
import { builtInKinds } from '../../src/strategy/kinds/kinds.ts'
import { bareEnv } from '../support/bareEnv.ts'
import { shippedStrategies } from '../support/shippedFiles.ts'
import { perpd } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'perpd-author-'))
afterAll(() => rmSync(folder, { recursive: true }))
const root = resolve(import.meta.dirname, '../..')
const program = join(root, 'test/support/guardedMain.ts')
const typed = (...words: readonly string[]) =>
  spawnSync(process.execPath, [program, ...words], {
    cwd: folder,
    encoding: 'utf8',
    env: bareEnv({ COLUMNS: '100' }),
  })

test('describe tells parameters with units, ranges, defaults and meaning, what is read, and an example', () => {
  const { status, stdout } = typed('strategies', 'describe', 'grid')
  expect(status).toBe(0)
  expect(stdout).toContain('It opens positions: its file names a market and a size.')
  expect(stdout).toMatch(/stepUsd +required +an amount of US dollars above 0/)
  expect(stdout).toMatch(/takeProfitBps +100 +whole basis points from 5 to 5000 \(100 = 1 %\)/)
  expect(stdout).toMatch(/stopBps +none +whole basis points from 10 to 9000/)
  expect(stdout).toMatch(/An example: .*strategies\/eth-grid\.yaml/)
})

test('describe of a kind that is none has code 2 and names the nearest', () => {
  const { status, stderr } = typed('strategies', 'describe', 'gird')
  expect([status, stderr]).toEqual([2, expect.stringContaining('Did you mean grid?')])
})

test.each(Object.keys(builtInKinds))(
  'describe tells every parameter of %s, and what it reads',
  async (kind) => {
    const { code, out } = await perpd(folder, ['strategies', 'describe', kind, '--json'])
    expect(code).toBe(0)
    const { params, needs, example } = JSON.parse(out)
    expect(
      params.filter((each: { meaning: unknown; expected: unknown }) => !each.meaning || !each.expected),
    ).toEqual([])
    expect(needs.symbols).toBeInstanceOf(Array)
    expect(readFileSync(example, 'utf8')).toContain(`kind: ${kind}`)
  },
)

test('describe tells a default in the unit of the file', async () => {
  const { out } = await perpd(folder, ['strategies', 'describe', 'carry', '--json'])
  const age = JSON.parse(out).params.find((each: { name: string }) => each.name === 'maxRateAgeSeconds')
  expect(age.default).toBe(60)
})

test('new writes a file that check takes, in strategies/ by market and kind, and replaces none without --force', () => {
  const made = typed('strategies', 'new', 'trend', '--market', 'BTC/USD [BTC-USDC]')
  expect([made.status, made.stdout]).toEqual([0, expect.stringContaining('wrote strategies/btc-trend.yaml')])
  const path = join(folder, 'strategies', 'btc-trend.yaml')
  const text = readFileSync(path, 'utf8')
  expect(text).toContain('market: "BTC/USD [BTC-USDC]"')
  const [, schema = ''] = /^# yaml-language-server: \$schema=(.+)\n/.exec(text) ?? []
  expect(resolve(path, '..', schema)).toBe(join(root, 'strategies/strategy.schema.json'))
  const check = typed('check', 'strategies/btc-trend.yaml')
  expect([check.status, check.stdout]).toEqual([0, expect.stringContaining('All checks passed.')])
  writeFileSync(path, 'mine')
  const again = typed('strategies', 'new', 'trend', '--market', 'BTC/USD [BTC-USDC]')
  expect([again.status, again.stderr]).toEqual([1, expect.stringContaining('exists already')])
  expect(readFileSync(path, 'utf8')).toBe('mine')
  const forced = typed('strategies', 'new', 'trend', '--market', 'BTC/USD [BTC-USDC]', '--force')
  expect([forced.status, readFileSync(path, 'utf8')]).toEqual([0, text])
})

test.each(Object.keys(builtInKinds))(
  'the loader takes what new writes for %s, turned on too',
  async (kind) => {
    const path = join(folder, 'new', `${kind}.yaml`)
    expect((await perpd(folder, ['strategies', 'new', kind, '--out', path])).code).toBe(0)
    const text = readFileSync(path, 'utf8')
    expect(await loadStrategies([path])).toMatchObject({ problems: [], disabled: [kind] })
    writeFileSync(path, text.replace('enabled: false', 'enabled: true'))
    expect((await loadStrategies([path])).problems).toEqual([])
  },
)

test.each(Object.values(builtInKinds).filter(({ opensPositions }) => opensPositions !== false))(
  'the shipped files of $kind and what new writes for it have a stop from the entry on',
  async ({ kind }) => {
    const path = join(folder, 'new', `stop-${kind}.yaml`)
    expect((await perpd(folder, ['strategies', 'new', kind, '--out', path])).code).toBe(0)
    const files = [path, ...shippedStrategies].map((each) => parse(readFileSync(each, 'utf8')))
    const ofKind = files.filter((each) => each.kind === kind)
    expect(ofKind.length).toBeGreaterThan(1)
    // The file's, or the kind's own.
    for (const { exit, params } of ofKind) expect(exit?.stopLoss ?? params.stopBps).toBeDefined()
  },
)

test('new names a kind of one’s own by its path from the file', async () => {
  const path = join(folder, 'new', 'own.yaml')
  expect((await perpd(folder, ['strategies', 'new', './kinds/mine.ts', '--out', path])).code).toBe(0)
  expect(readFileSync(path, 'utf8')).toContain('kind: ../kinds/mine.ts')
  expect(readFileSync(path, 'utf8')).toContain('stopLoss: { bps: 300 }')
})

test.each<[string, readonly string[], number, string]>([
  ['a kind that is none', ['trand'], 2, 'Did you mean trend?'],
  ['a market that is none', ['trend', '--market', 'NONE'], 2, 'is not a market of arbitrum'],
  ['a market that several may be', ['trend', '--market', 'ETH'], 2, 'Give the whole symbol'],
  ['a name that no instance may have', ['trend', '--out', 'My Trend.yaml'], 1, 'cannot be a strategy file'],
])('new refuses %s, and writes nothing', async (_what, words, code, said) => {
  const ran = await perpd(folder, ['strategies', 'new', ...words])
  expect([ran.code, ran.err]).toEqual([code, expect.stringContaining(said)])
})
