/** `perpd report` as a user types it: pages, tables and JSON of run folders and of a journal, and what is refused. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import {
  type EquityPoint,
  RUN_FORMAT,
  type RunFill,
  type RunManifest,
  type RunResult,
  runFileNames,
  runJson,
  runTables,
  sha256Of,
} from '../../src/backtest/runFiles.ts'
import { modelOf, usualModel } from '../../src/backtest/runModel.ts'
import { statisticsOf } from '../../src/report/figures/statistics.ts'
import { chartSvgs } from '../../src/report/html/chartSvg.ts'
import { perpd } from '../cli/run.ts'
import { DAY, start, subject, usd, worth } from './subjects.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-report-'))
  return () => rmSync(cwd, { recursive: true, force: true })
})

const market = 'ETH/USD [WETH-USDC]'

function fill(second: number, more: Partial<RunFill>): RunFill {
  return {
    ...{ second, market, side: 'long', action: 'increase', sizeDeltaUsd: usd(1000), price: usd(2000) },
    ...{ impactUsd: 0n, positionFeeUsd: usd('0.4'), borrowingFeeUsd: 0n, fundingFeeUsd: 0n },
    ...{ liquidationFeeUsd: 0n, swapFeeUsd: 0n, sendingFeeUsd: usd('0.1'), collateral: 'USDC' },
    ...{ collateralDelta: 0n, pnlUsd: 0n, isAmbiguous: false, strategy: 'eth-trend', intentId: 'abc' },
    ...more,
  }
}

/** Writes the folder of a run as `perpd backtest` leaves it, without its journal. */
function writeRun(name: string, seed: number): void {
  const folder = join(cwd, name)
  mkdirSync(folder)
  const fills = [
    fill(start + 60, {}),
    fill(start + 3_660, {
      action: 'decrease',
      sizeDeltaUsd: usd(-1000),
      price: usd(2020),
      pnlUsd: usd(10),
      impactUsd: usd(-1),
    }),
  ]
  const equity: EquityPoint[] = [0, 1, 2].map((day) => ({
    ...{ second: start + day * DAY, equityUsd: usd(10_000 + day * 4), holdUsd: usd(10_000) },
    ...{ longUsd: 0n, shortUsd: 0n },
  }))
  const text = <T>(table: { head: string; line(row: T): string }, rows: readonly T[]) =>
    [table.head, ...rows.map(table.line), ''].join('\n')
  const [fillsText, equityText] = [text(runTables.fills, fills), text(runTables.equity, equity)]
  const manifest: RunManifest = {
    ...{
      format: RUN_FORMAT,
      mode: seed === 1 ? 'exact' : 'fast',
      perpd: '0.1.0',
      node: 'v24.0.0',
      chain: 'arbitrum',
    },
    ...{ account: '0x1', fromSeconds: start, toSeconds: start + 2 * DAY, seed, segmentSeconds: 604_800 },
    balances: { USDC: '10000' },
    strategies: [
      {
        ...{ name: 'eth-trend', kind: 'trend', path: 'eth-trend.yaml', sha256: '00', markets: [market] },
        ...{ text: `kind: trend\nparams:\n  fastCandles: ${seed}\n`, turnSeconds: 60 },
      },
    ],
    settings: {},
    inputs: [],
    model: modelOf(usualModel, [{ name: 'eth-trend', seconds: 60 }], 'exact', { fromSeconds: 0, inputs: [] }),
  }
  const result: RunResult = {
    ...{ isResult: true, startUsd: usd(10_000), endUsd: usd(10_008), madeUsd: usd(8), holdMadeUsd: 0n },
    ...{ maxDrawdownUsd: 0n, maxDrawdownBps: 0, atCosts: [], breakEvenMultiple: null, fills: 2, trades: 1 },
    costs: {
      ...{ positionFeesUsd: usd('0.8'), borrowingUsd: 0n, fundingUsd: 0n, impactUsd: usd(1) },
      ...{ liquidationUsd: 0n, swapUsd: 0n, sendingUsd: usd('0.2') },
    },
    ...{
      wins: 1,
      ambiguousFills: 0,
      heldBps: 200,
      turns: 2880,
      decisions: 2,
      denied: { MAX_POSITION: 3 },
      unexecuted: {},
      balances: {},
    },
    fillsSha256: sha256Of(fillsText),
    equitySha256: sha256Of(equityText),
  }
  writeFileSync(join(folder, runFileNames.manifest), runJson(manifest))
  writeFileSync(join(folder, runFileNames.fills), fillsText)
  writeFileSync(join(folder, runFileNames.equity), equityText)
  writeFileSync(join(folder, runFileNames.candles), text(runTables.candles, []))
  writeFileSync(join(folder, runFileNames.result), runJson(result))
}

const run = async (...words: readonly string[]) => await perpd(cwd, ['report', ...words])

test('a run gives a page beside its files, with the sentence and the figures at the terminal', async () => {
  writeRun('one', 1)
  const { code, out } = await run('one')
  expect([code, out]).toEqual([0, expect.stringContaining('It made $8.00 after all costs (+0.08 %)')])
  expect(out).toContain('Sharpe')
  expect(out.split('\n').filter((line) => line.length > 80)).toEqual([])
  const page = readFileSync(join(cwd, 'one', 'report.html'), 'utf8')
  expect(page).toContain('reasons of orders are missing')
  expect(page).toContain('Decisions that were refused: MAX_POSITION 3.')
  // A second time it is written over the first.
  expect((await run('one')).code).toBe(0)
})

test('a run of an earlier version, without counts of what was not executed, is read, and one that is named twice is one', async () => {
  writeRun('one', 1)
  const path = join(cwd, 'one', runFileNames.result)
  const { unexecuted: _, ...earlier } = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, JSON.stringify(earlier))
  const once = await run('one')
  expect(once).toMatchObject({ code: 0, err: '' })
  expect(await run('one', './one/')).toEqual(once)
})

test('charts become images where the optional renderer is there, and the command says so where it is not', async () => {
  writeRun('one', 1)
  writeRun('two', 2)
  const isInstalled = existsSync(join(import.meta.dirname, '../../node_modules/@resvg/resvg-js'))
  const { code, err } = await run('one', '--png', 'images')
  if (!isInstalled) {
    expect([code, err]).toEqual([4, expect.stringContaining('@resvg/resvg-js')])
    expect(existsSync(join(cwd, 'images'))).toBe(false)
    return
  }
  expect([code, readdirSync(join(cwd, 'images')).toSorted()]).toEqual([
    0,
    ['costs.png', 'drawdown.png', 'equity.png', 'months.png'],
  ])
  const image = readFileSync(join(cwd, 'images', 'equity.png'))
  expect([image.subarray(1, 4).toString(), image.readUInt32BE(16), image.readUInt32BE(20)]).toEqual([
    'PNG',
    1200,
    480,
  ])
  await run('one', 'two', '--png', 'both')
  expect(readdirSync(join(cwd, 'both'))).toHaveLength(8)
})

test('a chart of SVG has a line of each curve, its names as text alone, and none without a curve', () => {
  const moments = [worth(0, 1000, 1000), worth(1, 1100, 990), worth(2, 1050, 1010)]
  const svgsOf = (own: ReturnType<typeof subject>) => chartSvgs(own, statisticsOf(own))
  const svgs = svgsOf(subject({ title: 'a <b> & c', equity: moments }))
  expect([...svgs.keys()]).toEqual(['equity', 'drawdown', 'months', 'costs'])
  expect(svgs.get('equity')?.match(/<path /g)).toHaveLength(2)
  expect(svgs.get('equity')).toContain('a &lt;b&gt; &amp; c')
  expect(svgs.get('drawdown')?.match(/<path /g)).toHaveLength(1)
  // One month of 5 percent; of eight kinds of costs the fee is a dollar, and impact was a gain of half of one.
  expect(svgs.get('months')).toMatch(/>5\.00<.*>2024-01</)
  expect(svgs.get('costs')).toMatch(/>1\.00<.*>Position fee<.*>-0\.50<.*>Price impact</)
  expect(svgsOf(subject({ equity: [] })).size).toBe(0)
})

test('JSON has exact amounts, and a trade after all of its costs', async () => {
  writeRun('one', 1)
  const { statistics } = JSON.parse((await run('one', '--json')).out)
  expect(statistics.trades).toMatchObject([
    {
      resultUsd: String(usd(8)),
      costsUsd: String(usd(2)),
      entryPrice: String(usd(2000)),
      intentIds: ['abc'],
    },
  ])
  expect(statistics).toMatchObject({
    madeUsd: String(usd(8)),
    madeRatio: '0.0008',
    turnoverUsd: String(usd(2000)),
  })
})

test('tables hold the same for a spreadsheet', async () => {
  writeRun('one', 1)
  expect((await run('one', '--csv', 'tables')).code).toBe(0)
  const table = (name: string) =>
    readFileSync(join(cwd, 'tables', name), 'utf8')
      .trimEnd()
      .split('\n')
  expect(table('trades.csv')[1]).toBe(
    '2024-01-02T00:01:00.000Z,2024-01-02T01:01:00.000Z,ETH/USD [WETH-USDC],long,eth-trend,1000,2000,2020,2,8,,,abc',
  )
  expect(table('days.csv')).toHaveLength(3)
  expect(readdirSync(join(cwd, 'one'))).not.toContain('report.html')
})

test('two runs stand side by side under the names of their folders, with what differs between them', async () => {
  writeRun('one', 1)
  writeRun('<b>two', 2)
  const { out } = await run('one', '<b>two', '--out', 'both.html')
  expect(out).toContain('one: It made')
  const page = readFileSync(join(cwd, 'both.html'), 'utf8')
  expect(page).toContain('strategies.1.file.params.fastCandles')
  expect(page).toContain('&lt;b&gt;two')
  expect(page).not.toContain('<b>two')
  const { differences } = JSON.parse((await run('one', '<b>two', '--json')).out)
  expect(differences).toEqual([
    { name: 'mode', values: ['exact', 'fast'] },
    { name: 'seed', values: ['1', '2'] },
    { name: 'strategies.1.file.params.fastCandles', values: ['1', '2'] },
  ])
})

test('a folder without a run, a stopped run, a changed file and a foreign page are refused', async () => {
  writeRun('one', 1)
  mkdirSync(join(cwd, 'empty'))
  expect(await run('empty')).toMatchObject({ code: 2, err: expect.stringContaining('no run') })
  writeFileSync(join(cwd, 'mine.html'), 'my own page')
  expect(await run('one', '--out', 'mine.html')).toMatchObject({ code: 4 })
  expect(readFileSync(join(cwd, 'mine.html'), 'utf8')).toBe('my own page')
  const fills = join(cwd, 'one', runFileNames.fills)
  writeFileSync(fills, readFileSync(fills, 'utf8').replace(String(usd(10)), String(usd(99))))
  expect(await run('one')).toMatchObject({ code: 2, err: expect.stringContaining('fills.csv was changed') })
  rmSync(join(cwd, 'one', runFileNames.result))
  expect(await run('one')).toMatchObject({ code: 2, err: expect.stringContaining('was stopped') })
})

test('without a journal there is nothing to report of', async () => {
  expect(await run()).toMatchObject({ code: 2, err: expect.stringContaining('There is no journal') })
})
