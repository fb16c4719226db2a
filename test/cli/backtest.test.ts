/** `perpd backtest` as a user types it: the assumptions first, then what it made, and a folder that is the same run again. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parseManifest, parseResult, runTables, sha256Of } from '../../src/backtest/runFiles.ts'
import { exitCodes } from '../../src/config/exit.ts'
import { perpd } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'perpd-backtest-'))
afterAll(() => rmSync(folder, { recursive: true }))
const shipped = resolve(import.meta.dirname, '../../strategies/eth-trend.yaml')

/** Five minutes, two days of them: a price that falls, rises and falls. */
const data = join(folder, 'eth-usd-5m.csv')
const lines = Array.from({ length: 576 }, (_unused, at) => {
  const price = (of: number): number => 2000 + Math.round(10_000 * Math.sin(of / 40)) / 100
  const [open, close] = [price(at), price(at + 1)]
  return [
    1_704_067_200 + at * 300,
    open,
    Math.max(open, close) + 0.5,
    Math.min(open, close) - 0.5,
    close,
  ].join(',')
})
writeFileSync(data, `timestamp,open,high,low,close\n${lines.join('\n')}\n`)
const out = join(folder, 'run')
const words = [
  'backtest',
  shipped,
  '--data',
  data,
  '--from',
  '2024-01-02T20:00',
  '--to',
  '2024-01-02T21:00',
  '--out',
  out,
]

test('a run says its assumptions before its figures, fits 80 columns, and leaves files that agree with it', {
  timeout: 60_000,
}, async () => {
  const { code, out: text } = await perpd(folder, words)
  expect(code).toBe(exitCodes.ok)
  const [assumptions, made] = [text.indexOf('From a signed order'), text.search(/It (made|lost) \$/)]
  expect(assumptions).toBeGreaterThan(0)
  expect(made).toBeGreaterThan(assumptions)
  const file = (name: string) => readFileSync(join(out, name), 'utf8')
  const manifest = parseManifest(file('manifest.json'))
  const result = parseResult(file('result.json'))
  expect(manifest.inputs[0]?.sha256).toEqual([sha256Of(readFileSync(data))])
  expect(manifest.strategies[0]?.text).toBe(readFileSync(shipped, 'utf8'))
  expect(manifest.settings['limits.maxSlippageBps'] ?? manifest.settings['risk.maxSlippageBps']).toBeDefined()
  expect(result.fillsSha256).toBe(sha256Of(file('fills.csv')))
  const fills = runTables.fills.parse(file('fills.csv'))
  expect(fills.length).toBeGreaterThan(0)
  expect(fills.every(({ strategy, intentId }) => strategy === 'eth-trend' && intentId !== '')).toBe(true)
  expect(runTables.candles.parse(file('candles.csv'))).toHaveLength(12)
  // The journal is one that every command reads.
  const { out: orders } = await perpd(folder, ['orders', '--json', '--journal.path', join(out, 'journal.db')])
  expect(JSON.stringify(JSON.parse(orders))).toContain(fills[0]?.intentId ?? '')
})

test('a run that is over is shown again, and a folder of another run is refused', {
  timeout: 60_000,
}, async () => {
  const before = readdirSync(out).map((name) => readFileSync(join(out, name)))
  const again = await perpd(folder, [...words, '--json'])
  expect(JSON.parse(again.out)).toEqual(JSON.parse(readFileSync(join(out, 'result.json'), 'utf8')))
  const other = await perpd(folder, [...words, '--balance', '5000'])
  expect(other.code).toBe(exitCodes.configuration)
  expect(other.err).toContain('--out')
  expect(readdirSync(out).map((name) => readFileSync(join(out, name)))).toEqual(before)
})

test('a run is resumed by its folder alone, with no other flags, and by one process at a time', {
  timeout: 60_000,
}, async () => {
  const resume = ['backtest', '--resume', out, '--data', data]
  const again = await perpd(folder, [...resume, '--json'])
  expect(JSON.parse(again.out)).toEqual(JSON.parse(readFileSync(join(out, 'result.json'), 'utf8')))
  const mixed = await perpd(folder, [...resume, '--balance', '5000'])
  expect([mixed.code, mixed.err.includes('--balance')]).toEqual([exitCodes.configuration, true])
  const missing = await perpd(folder, ['backtest', '--resume', folder])
  expect(missing.code).toBe(exitCodes.configuration)
  // The process that started this one lives for as long as it does.
  const held = join(out, 'process.pid')
  writeFileSync(held, String(process.ppid))
  const beside = await perpd(folder, [...words, '--again'])
  expect([beside.code, beside.err.includes(`pid: ${process.ppid}`)]).toEqual([exitCodes.configuration, true])
  expect(readFileSync(held, 'utf8')).toBe(String(process.ppid))
  rmSync(held)
})

test('its sentence is that of its report, and a file that is off runs where it is named, not where its folder is', {
  timeout: 60_000,
}, async () => {
  const again = await perpd(folder, words)
  const { sentence } = JSON.parse((await perpd(folder, ['report', out, '--json'])).out)
  expect(again.out.replaceAll(/\s+/g, ' ')).toContain(sentence)
  expect(readFileSync(join(out, 'sentence.txt'), 'utf8')).toBe(`${sentence}\n`)
  expect(again.out.split('\n').filter((line) => line.length > 80 && !line.startsWith('- '))).toEqual([])
  const mine = join(folder, 'mine')
  mkdirSync(mine)
  const text = readFileSync(shipped, 'utf8')
  writeFileSync(join(mine, 'off.yaml'), `${text.replace(/^enabled:.*\n/m, '')}\nenabled: false\n`)
  writeFileSync(join(mine, 'on.yaml'), text)
  const names = async (...paths: readonly string[]) => {
    const at = join(folder, 'names')
    rmSync(at, { recursive: true, force: true })
    await perpd(folder, [
      'backtest',
      ...paths,
      ...words.slice(2, 5),
      '2024-01-02T20:55',
      ...words.slice(6, 8),
      '--out',
      at,
    ])
    const { strategies } = parseManifest(readFileSync(join(at, 'manifest.json'), 'utf8'))
    return strategies.map(({ name }) => name)
  }
  expect(await names(mine, shipped)).toEqual(['on', 'eth-trend'])
  expect(await names(join(mine, 'off.yaml'), join(mine, 'off.yaml'))).toEqual(['off'])
})

test('the params of a run are written into its file, comments and all else left, and what cannot be is refused', {
  timeout: 60_000,
}, async () => {
  const file = join(folder, 'tuned.yaml')
  const text = readFileSync(shipped, 'utf8')
  const tuned = text.replace('fastCandles: 12', 'fastCandles: 10').replace(/^ {2}pyramid:.*\n/m, '')
  writeFileSync(file, text.replace('fastCandles: 12', 'fastCandles: 10'))
  const run = join(folder, 'tuned')
  await perpd(folder, [
    'backtest',
    file,
    ...words.slice(2, 5),
    '2024-01-02T20:55',
    ...words.slice(6, 8),
    '--out',
    run,
  ])
  writeFileSync(file, tuned.replace('fastCandles: 10', 'fastCandles: 20').replace('usd: 500', 'usd: 200'))
  const again = ['backtest', '--export-params', run]
  const asked = await perpd(folder, again)
  expect([asked.code, asked.err]).toEqual([4, expect.stringContaining('--yes')])
  expect(readFileSync(file, 'utf8')).toContain('fastCandles: 20')
  const done = await perpd(folder, [...again, '--yes'])
  expect([done.code, done.out]).toEqual([0, expect.stringContaining('params.fastCandles: 20 -> 10')])
  const after = readFileSync(file, 'utf8')
  expect(after).toContain('fastCandles: 10                # candles in the fast average'.slice(0, 18))
  expect(after).toContain('usd: 200')
  expect(after.match(/^ *pyramid: 1$/gm)).toHaveLength(1)
  expect((await perpd(folder, [...again, '--yes'])).out).toContain('nothing was changed')
  writeFileSync(file, `${after.trimEnd()}\n  takeAtr: 20\n`)
  expect((await perpd(folder, [...again, '--yes'])).code).toBe(4)
  rmSync(file)
  expect((await perpd(folder, [...again, '--yes'])).err).toContain('is gone')
})

test('a band is three runs, at the skew, at none and at its opposite', { timeout: 60_000 }, async () => {
  const band = [
    ...words.slice(0, 4),
    '--from',
    '2024-01-02T20:00',
    '--to',
    '2024-01-02T20:20',
    '--skew',
    '40',
  ]
  const { code, out: text } = await perpd(folder, [
    ...band,
    '--band',
    '--json',
    '--out',
    join(folder, 'band'),
  ])
  expect(code).toBe(exitCodes.ok)
  const runs = JSON.parse(text.replaceAll('CWD', folder)) as readonly { skewBps: number; folder: string }[]
  expect(runs.map(({ skewBps }) => skewBps)).toEqual([-4_000, 0, 4_000])
  const manifests = runs.map((run) => parseManifest(readFileSync(join(run.folder, 'manifest.json'), 'utf8')))
  expect(manifests.map(({ model }) => model.skewBps)).toEqual([-4_000, 0, 4_000])
})

test('a message that is not signed is told with its code, and fills nothing', {
  timeout: 60_000,
}, async () => {
  const short = [...words.slice(0, 4), '--from', '2024-01-02T20:00', '--to', '2024-01-02T20:20']
  const dear = ['--signing.maxExecutionFee', '0.0000001', '--out', join(folder, 'dear')]
  const { out: text } = await perpd(folder, [...short, ...dear])
  expect(text).toMatch(/not executed +FEE_ABOVE_LIMIT \d/)
  expect(parseResult(readFileSync(join(folder, 'dear', 'result.json'), 'utf8')).fills).toBe(0)
})

test.each([
  ['--delay', '0', /--delay/],
  ['--delay', '5-2', /--delay/],
  ['--from', 'yesterday', /--from/],
  ['--balance', 'USDC=ten', /--balance/],
  ['--skew', '95', /--skew/],
  ['--impact', 'little', /--impact/],
  ['--to', '2023-01-01', /no candles/i],
])('%s %s is refused before anything is run', async (flag, value, said) => {
  const elsewhere = join(folder, 'refused')
  const { code, err } = await perpd(folder, [
    'backtest',
    shipped,
    '--data',
    data,
    '--out',
    elsewhere,
    flag,
    value,
  ])
  expect(code).toBe(exitCodes.configuration)
  expect(err).toMatch(said)
  expect(readdirSync(folder)).not.toContain('refused')
})

test('--fast says so before its figures, and comes to the same fills and equity; with --check it is refused', {
  timeout: 60_000,
}, async () => {
  const fast = join(folder, 'fast')
  const { code, out: text } = await perpd(folder, [...words.slice(0, -1), fast, '--fast'])
  expect(code).toBe(exitCodes.ok)
  expect(text).toContain('- Fast: ')
  const exact = join(folder, 'exact')
  expect((await perpd(folder, [...words.slice(0, -1), exact])).out).toContain('- Exact: ')
  const resultIn = (place: string) => parseResult(readFileSync(join(place, 'result.json'), 'utf8'))
  expect(resultIn(fast)).toEqual(resultIn(exact))
  expect(parseManifest(readFileSync(join(fast, 'manifest.json'), 'utf8')).mode).toBe('fast')
  const refused = await perpd(folder, [
    ...words.slice(0, -1),
    join(folder, 'none'),
    '--fast',
    '--check',
    'lookahead',
  ])
  expect(refused.code).toBe(exitCodes.configuration)
})
