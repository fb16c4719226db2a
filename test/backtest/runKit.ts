/** Short backtests on candles that a test makes: files of the runs are in a folder of their own, which the test's end takes away. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { liveExactRun, type RunTally } from '../../src/backtest/exactRun.ts'
import { planRun, type RunWish, takeRunFolder } from '../../src/backtest/planRun.ts'
import {
  type RunFill,
  type RunManifest,
  type RunResult,
  runFileNames,
  runTables,
} from '../../src/backtest/runFiles.ts'
import { usualModel } from '../../src/backtest/runModel.ts'
import { writeRun } from '../../src/backtest/runResult.ts'
import type { MadeUp } from '../../src/backtest/runTerms.ts'
import { defined } from '../../src/base/defined.ts'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { type LoadedStrategy, loadStrategies } from '../../src/strategy/files/load.ts'
import type { Strategy } from '../../src/strategy/strategy.ts'

/** The market of every run here. */
export const market = 'ETH/USD [WETH-USDC]'
/** When every run here begins: 2024-01-02 00:00 UTC, Unix seconds. */
export const startSeconds = Date.UTC(2024, 0, 2) / 1000
/** Candles before the beginning, minutes. */
const BEFORE = 120

/** A candle: its prices in USD. */
export type Bar = readonly [open: number, high: number, low: number, close: number]

/** Writes minutes from two hours before the beginning on; `bar` gives undefined where a candle is missing. Gives the file. */
export function writeMinutes(
  folder: string,
  minutes: number,
  bar: (minute: number) => Bar | number | undefined,
): string {
  const lines = ['timestamp,open,high,low,close']
  for (let minute = -BEFORE; minute < minutes; minute += 1) {
    const made = bar(minute)
    if (made === undefined) continue
    const prices = typeof made === 'number' ? [made, made, made, made] : made
    lines.push([startSeconds + minute * 60, ...prices].join(','))
  }
  const path = join(folder, 'eth-usd.csv')
  writeFileSync(path, `${lines.join('\n')}\n`)
  return path
}

/** A folder that the test's end takes away. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-backtest-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A file of the kind `trend`, whose kind decides as the test says. */
export async function strategyOf(
  folder: string,
  name: string,
  decide: (...args: Parameters<Strategy['decide']>) => readonly unknown[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<LoadedStrategy> {
  const path = join(folder, `${name}.yaml`)
  const size = { usd: 1000, leverage: 2, collateral: 'short' }
  const limits = { maxPositionSizeUsd: 5000, maxOrdersPerHour: 100 }
  writeFileSync(path, JSON.stringify({ kind: 'trend', market, cadenceSeconds: 60, size, limits, ...more }))
  const { strategies, problems } = await loadStrategies([path])
  const [loaded] = strategies
  if (loaded === undefined) throw problems[0] ?? new Error('no strategy')
  const { memory: _, ...strategy } = loaded.strategy
  const needs = { symbols: [market] }
  return { ...loaded, needs, strategy: { ...strategy, decide: decide as Strategy['decide'] } }
}

/** A run and its files. */
export interface TestRun {
  readonly manifest: RunManifest
  readonly tally: RunTally
  readonly result: RunResult
  readonly fills: readonly RunFill[]
  /** Text of a file of it. */
  readonly file: (name: keyof typeof runFileNames) => string
}

/** Runs strategies over a file of candles for some minutes. */
export async function runFor(
  folder: string,
  data: string,
  minutes: number,
  strategies: readonly LoadedStrategy[],
  wish: Partial<RunWish> & {
    readonly out?: string
    readonly told?: (second: number) => void
    readonly readsDirectly?: boolean
    readonly begin?: MadeUp['begin']
    readonly listen?: MadeUp['listen']
  } = {},
): Promise<TestRun> {
  const out = join(folder, wish.out ?? 'run')
  mkdirSync(out, { recursive: true })
  const { config, values } = loadConfig({ argv: ['--profile=paper'], env: {}, cwd: folder })
  const { manifest, candles, followed } = await planRun({
    chain: 'arbitrum',
    strategies,
    settings: values,
    fromSeconds: startSeconds,
    toSeconds: startSeconds + minutes * 60,
    file: data,
    storeFolder: folder,
    period: '1m',
    balances: { USDC: '10000' },
    seed: 1,
    model: usualModel,
    ...wish,
  })
  takeRunFolder(out, manifest)
  const { histories } = candles
  const tally = await liveExactRun({
    ...{ folder: out, manifest, config, strategies, histories, followed },
    ...(wish.told === undefined ? {} : { told: wish.told }),
    ...((wish.begin ?? wish.listen) && { madeUp: defined({ begin: wish.begin, listen: wish.listen }) }),
    ...(wish.readsDirectly === undefined ? {} : { readsDirectly: wish.readsDirectly }),
  })
  const result = writeRun(out, manifest, tally, candles)
  const file = (name: keyof typeof runFileNames) => readFileSync(join(out, runFileNames[name]), 'utf8')
  return { manifest, tally, result, fills: runTables.fills.parse(file('fills')), file }
}
