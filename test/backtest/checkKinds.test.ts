/** `perpd backtest --check`: planted look-ahead and short windows are found, with the first decision that differs; honest kinds are not accused. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { CheckedKind } from '../../src/backtest/check/checkKinds.ts'
import { differencesOf } from '../../src/backtest/check/difference.ts'
import { perpd } from '../cli/run.ts'
import { startSeconds, writeMinutes } from './runKit.ts'

const folder = mkdtempSync(join(tmpdir(), 'perpd-check-'))
afterAll(() => rmSync(folder, { recursive: true }))
const root = resolve(import.meta.dirname, '../..')
const data = writeMinutes(folder, 300, (minute) => {
  const at = (of: number): number =>
    2000 + Math.round(6000 * Math.sin(of / 9) + 2500 * Math.sin(of / 3.7)) / 100
  const [open, close] = [at(minute), at(minute + 1)]
  return [open, Math.max(open, close) + 0.3, Math.min(open, close) - 0.3, close]
})

const file = `market: "ETH/USD [WETH-USDC]"
size: { usd: 500, leverage: 2, collateral: short }
limits: { maxPositionSizeUsd: 1000, maxOrdersPerHour: 200 }
`

/** Writes a kind that is long while `isUp` is true, with whatever stands outside of it. */
function plant(name: string, isUp: string, outside = '', need = 'limit: 20'): void {
  writeFileSync(join(folder, 'kinds', `${name}.yaml`), `kind: ./${name}.ts\n${file}`)
  writeFileSync(
    join(folder, 'kinds', `${name}.ts`),
    `import { readFileSync } from 'node:fs'
import { defineStrategy, z } from ${JSON.stringify(join(root, 'src/strategy/strategy.ts'))}
${outside}
export default defineStrategy({
  kind: '${name}', description: 'Is long while it holds.', params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols, candles: symbols.map((symbol) => ({ symbol, period: '1m', ${need} })) }),
  decide(view) {
    const [symbol = ''] = view.instance.symbols
    const row = view.market(symbol)
    const candles = view.candles(symbol)?.value ?? []
    const closed = candles.filter(({ timestampSeconds }) => (timestampSeconds + 60) * 1000 <= view.snapshot.atMs)
    const [last, before] = [closed.at(-1), closed.at(-5)]
    if (row === undefined || last === undefined || before === undefined || view.isBusy()) return []
    const isUp = ${isUp}
    const { marketToken, shortToken } = row.market
    const base = { marketToken, direction: 'long', reason: 'as the test says', collateralToken: shortToken }
    if (view.ownPositions(symbol).length > 0) return isUp ? [] : [{ kind: 'close', ...base }]
    return isUp ? [{ kind: 'increase', ...base, sizeDeltaUsd: view.instance.size.usd, leverageBps: 20000 }] : []
  },
})
`,
  )
}

async function check(name: string, paths: readonly string[], minutes: number) {
  const iso = (minute: number) => new Date((startSeconds + minute * 60) * 1000).toISOString().slice(0, 16)
  const span = ['--from', iso(60), '--to', iso(60 + minutes), '--turn-seconds', '60']
  const { code, out, err } = await perpd(folder, [
    ...['backtest', ...paths, '--data', data, ...span, '--check', name, '--json'],
  ])
  if (out === '') throw new Error(err)
  const { checked } = JSON.parse(out) as { readonly checked: readonly CheckedKind[] }
  return { code, byName: new Map(checked.map((each) => [each.strategy, each])) }
}

test('a cache, a file of later prices, the running candle and a long memory are found, and the honest kind beside them is not', {
  timeout: 400_000,
}, async () => {
  mkdirSync(join(folder, 'kinds'), { recursive: true })
  plant('honest', 'last.close > before.close')
  plant('declared', '(candles.at(-1)?.open ?? 0) > before.close', '', 'limit: 20, readsRunning: true')
  plant('running', '(candles.at(-1)?.open ?? 0) > before.close')
  const keep = 'for (const { timestampSeconds, close } of closed) seen.set(timestampSeconds, close)'
  plant(
    'cache',
    `(() => { ${keep}; return last.close > Math.max(...seen.values()) - 40 })()`,
    'const seen = new Map()',
  )
  const rows = `readFileSync(${JSON.stringify(data)}, 'utf8').split('\\n').slice(1).map((line) => line.split(',').map(Number))`
  plant(
    'file',
    '(later.get(last.timestampSeconds + 300) ?? 0) > last.close',
    `const later = new Map(${rows}.map((row) => [row[0], row[4]]))`,
  )
  const { code, byName } = await check('lookahead', [join(folder, 'kinds')], 60)
  expect(code).toBe(1)
  const by = (name: string) => byName.get(name)?.finding?.by
  expect([by('honest'), by('declared')]).toEqual([undefined, undefined])
  expect(byName.get('honest')?.decided).toBeGreaterThan(2)
  expect(by('running')).toContain('noise in the place of a candle that was not over')
  expect(byName.get('running')?.finding?.views[0]?.path).toMatch(
    /candles\.2024-01-02T\d\d:\d\d\.(open|close|high|low)$/,
  )
  expect(by('cache')).toContain('a fresh thread')
  expect(by('file')).toContain('moved by 28 years')
  expect(byName.get('file')?.finding?.answers.length).toBeGreaterThan(0)
})

test('twelve shipped files decide by nothing but what was over, several of them with a memory', {
  timeout: 400_000,
}, async () => {
  const shipped = join(folder, 'shipped')
  mkdirSync(shipped, { recursive: true })
  const names = ['eth-trend', 'eth-grid', 'guard', 'examples/eth-breakout', 'examples/eth-carry']
  const more = ['eth-impact-capture', 'eth-ladder', 'eth-mean-reversion', 'eth-target-exposure', 'protector']
  const keepers = ['collateral-keeper', 'order-janitor']
  for (const name of [...names, ...[...more, ...keepers].map((each) => `examples/${each}`)]) {
    const text = readFileSync(join(root, 'strategies', `${name}.yaml`), 'utf8')
    // Shorter candles, so that it decides within the run.
    const quick = text
      .replace(/^ {2}period: \w+/m, '  period: 1m')
      .replace(/(slow|slowest)Candles: \d+/, '$1Candles: 24')
    writeFileSync(
      join(shipped, `${name.replace('examples/', '')}.yaml`),
      quick.replace(/^enabled: false.*$/m, 'enabled: true'),
    )
  }
  const { code, byName } = await check('lookahead', [shipped], 40)
  expect([...byName.values()].flatMap(({ finding }) => finding ?? [])).toEqual([])
  expect([code, byName.size]).toEqual([0, 12])
  expect([...byName.values()].filter(({ decided }) => decided > 0).length).toBeGreaterThanOrEqual(4)
})

test('a window that is too short for what a kind computes is found, one that is long enough is not', {
  timeout: 400_000,
}, async () => {
  const whole = join(folder, 'kinds')
  const mean =
    '(() => { let mean = closed[0].close; for (const { close } of closed) mean += (close - mean) / 30; return last.close > mean })()'
  plant('slow', mean, '', 'limit: 12')
  plant('long', mean, '', 'limit: 60')
  const { code, byName } = await check(
    'warmup',
    ['slow', 'long'].map((name) => join(whole, `${name}.yaml`)),
    60,
  )
  expect([code, byName.get('long')?.finding]).toEqual([1, undefined])
  expect(byName.get('slow')?.finding?.by).toContain('twice as many candles')
})

test('a check that there is not is refused before anything is run', async () => {
  const { code, err } = await perpd(folder, ['backtest', '--check', 'luck'])
  expect([code, err]).toEqual([4, expect.stringContaining('lookahead, warmup, recorded')])
})

test('two values differ by the path of each place, and windows of candles are compared by time', () => {
  const at = (minute: number, close: number) => ({ timestampSeconds: startSeconds + minute * 60, close })
  expect(differencesOf({ a: [1n, 2], b: [at(0, 5), at(1, 6)] }, { a: [1n, 3], b: [at(1, 7)] }, 9)).toEqual([
    { path: 'a.1', one: '2', other: '3' },
    { path: 'b.2024-01-02T00:00', one: expect.stringContaining('"close":5'), other: 'nothing' },
    { path: 'b.2024-01-02T00:01.close', one: '6', other: '7' },
  ])
})
