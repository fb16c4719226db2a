/** From what is asked for to the manifest of a run and the candles that it needs; and whether a folder may take it. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defined } from '../base/defined.ts'
import { BaseError } from '../base/errors.ts'
import { takeProcessFile } from '../base/processFile.ts'
import { Secret } from '../base/secret.ts'
import { version } from '../config/version.ts'
import { loadCatalog } from '../paper/catalog/catalog.ts'
import type { FollowedMarkets } from '../paper/state/followedMarkets.ts'
import { hexKey, sameHex } from '../protocol/address.ts'
import type { ChainName } from '../protocol/chains/chain.ts'
import type { CandlePeriod } from '../protocol/market.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'
import { runAccount } from './exactRun.ts'
import { readHistoricRates } from './historicRates.ts'
import { readRecordedMarkets, type WantedMarket } from './recordedMarkets.ts'
import { type RunCandles, readRunCandles } from './runCandles.ts'
import {
  RUN_FORMAT,
  type RunGap,
  type RunInput,
  type RunManifest,
  type RunMode,
  runFileNames,
  runJson,
  sha256Of,
  type TradingTimes,
} from './runFiles.ts'
import { type ModelChoice, modelOf } from './runModel.ts'
import { runStrategyOf, turnSecondsOf, warmUpOf } from './runStrategies.ts'
import { tradingTimesOf } from './tradingTimes.ts'

/** A run that cannot be made as it is asked for. */
class RunPlanError extends BaseError {}

/** Terms of the run that was requested. */
export interface RunWish {
  readonly chain: ChainName
  readonly strategies: readonly LoadedStrategy[]
  /** Every setting, by dotted key; secrets are left out of the manifest. */
  readonly settings: Readonly<Record<string, unknown>>
  /** Unix seconds; absent: as far as the candles reach. */
  readonly fromSeconds?: number
  readonly toSeconds?: number
  /** A file of candles; absent: the store. */
  readonly file?: string
  readonly storeFolder: string
  /** Absent: the finest that the store has. */
  readonly period?: CandlePeriod
  readonly source?: string
  readonly balances: Readonly<Record<string, string>>
  readonly seed: number
  /** Time between turns of every file; absent: by the candles that each reads. */
  readonly turnSeconds?: number
  readonly model: ModelChoice
  /** Markets with hours, as `XAU/USD=13:30-20:00`; absent: all are always open. */
  readonly marketHours?: readonly string[]
  /** Default: exact. */
  readonly mode?: RunMode
  /** Default: a week. */
  readonly segmentSeconds?: number
}

/** A run that may begin. */
export interface RunPlan {
  readonly manifest: RunManifest
  readonly candles: RunCandles
  /** Markets that follow a recording; none where the model has none. */
  readonly followed: FollowedMarkets
  /** First 8 digits of the manifest's hash. */
  readonly id: string
}

const WEEK_SECONDS = 604_800
/** Later than any candle, Unix seconds. */
const NO_END = 4_000_000_000

/**
 * Reads the candles and makes the manifest.
 *
 * @throws RunPlanError BACKTEST_TOO_SHORT where nothing is left between warm-up and end, BACKTEST_NOT_LISTED where that is over before any of the markets
 * was listed; what reading candles and recordings throws
 */
export async function planRun(wish: RunWish): Promise<RunPlan> {
  const { chain, strategies, mode = 'exact' } = wish
  const turns = strategies.map((loaded) => turnSecondsOf(loaded, wish.turnSeconds))
  const files = strategies.map((loaded, at) => runStrategyOf(loaded, turns[at] ?? 60))
  const markets = [...new Set(files.flatMap((each) => each.markets))]
  const warmUpSeconds = warmUpOf(strategies)
  const { file, source, storeFolder, period } = wish
  const read = await readRunCandles({
    ...{ chain, markets, storeFolder },
    ...defined({ period, file, source }),
    range: {
      fromSeconds: Math.max(0, (wish.fromSeconds ?? 0) - warmUpSeconds),
      toSeconds: wish.toSeconds ?? NO_END,
    },
  })
  const step = Math.max(60, ...turns)
  const { inputs } = read
  const first = Math.max(...inputs.map(({ fromSeconds }) => fromSeconds))
  const fromSeconds = wish.fromSeconds ?? Math.ceil((first + warmUpSeconds) / step) * step
  const last = Math.min(...inputs.map(({ toSeconds }) => toSeconds))
  const toSeconds = wish.toSeconds ?? Math.floor(last / step) * step
  if (toSeconds <= fromSeconds || last <= fromSeconds)
    throw tooShort({ fromSeconds, toSeconds, first, last, warmUpSeconds })
  const recorded =
    wish.model.impact === 'recorded'
      ? await readRecordedMarkets(storeFolder, keyedMarkets(chain, markets), { fromSeconds, toSeconds })
      : undefined
  const rates =
    wish.model.funding === 'history'
      ? await readHistoricRates(storeFolder, chain, keyedMarkets(chain, markets), { fromSeconds, toSeconds })
      : undefined
  const hours = wish.marketHours ?? []
  const timed = inputs.map((input) => ({
    ...input,
    gaps: gapsOfRun(input, { fromSeconds, toSeconds }),
    ...tradingTimesOf(chain, input.market, hours),
  }))
  const { ignoresListing = false } = wish.model
  if (!ignoresListing && timed.every(({ listedSeconds = 0 }) => listedSeconds >= toSeconds))
    throw notListed(timed, toSeconds)
  const manifest: RunManifest = {
    format: RUN_FORMAT,
    mode,
    perpd: version,
    node: process.version,
    chain,
    account: runAccount,
    fromSeconds,
    toSeconds,
    seed: wish.seed,
    segmentSeconds: wish.segmentSeconds ?? WEEK_SECONDS,
    balances: wish.balances,
    strategies: files,
    settings: Object.fromEntries(Object.entries(wish.settings).filter(([, value]) => !holdsSecret(value))),
    inputs: ignoresListing ? timed.map(({ listedSeconds: _, ...input }) => input) : timed,
    ...defined({ recorded: recorded?.inputs, rates: rates?.inputs }),
    model: modelOf(
      wish.model,
      files.map(({ name, turnSeconds }) => ({ name, seconds: turnSeconds })),
      mode,
      { fromSeconds, inputs: timed, ...defined({ recorded: recorded?.inputs, rates: rates?.inputs }) },
    ),
  }
  return {
    manifest,
    candles: read,
    followed: (recorded ?? rates)?.followed ?? new Map(),
    id: sha256Of(runJson(manifest)).slice(0, 8),
  }
}

/** The spans of a run in which an input has no candle, before its first and after its last one too. */
function gapsOfRun(input: RunInput, { fromSeconds, toSeconds }: RunGap): readonly RunGap[] {
  return [
    ...(input.fromSeconds > fromSeconds ? [{ fromSeconds, toSeconds: input.fromSeconds }] : []),
    ...input.gaps.filter((gap) => gap.toSeconds > fromSeconds && gap.fromSeconds < toSeconds),
    ...(input.toSeconds < toSeconds ? [{ fromSeconds: input.toSeconds, toSeconds }] : []),
  ]
}

/** The markets of a run with the keys by which the venue knows them. */
function keyedMarkets(chain: ChainName, symbols: readonly string[]): readonly WantedMarket[] {
  return loadCatalog(chain)
    .markets.filter(({ symbol }) => symbols.includes(symbol))
    .map(({ symbol, marketToken, longToken, shortToken }) => ({
      ...{ chain, market: symbol, key: hexKey(marketToken) },
      isSingleToken: sameHex(longToken, shortToken),
    }))
}

function holdsSecret(value: unknown): boolean {
  return value instanceof Secret || (Array.isArray(value) && value.some((each) => each instanceof Secret))
}

interface Spans {
  readonly fromSeconds: number
  readonly toSeconds: number
  readonly first: number
  readonly last: number
  readonly warmUpSeconds: number
}

function tooShort({ fromSeconds, toSeconds, first, last, warmUpSeconds }: Spans): RunPlanError {
  const iso = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 16)
  return new RunPlanError('The run has no candles between its start and its end.', {
    code: 'BACKTEST_TOO_SHORT',
    facts: {
      from: iso(fromSeconds),
      to: iso(toSeconds),
      candles: `${iso(first)} to ${iso(last)}`,
      warmUpHours: Math.ceil(warmUpSeconds / 3600),
    },
    details:
      'Nothing was run. Choose --from and --to within the candles and leave room for the lookback of the kinds, or download more candles.',
  })
}

function notListed(markets: readonly TradingTimes[], toSeconds: number): RunPlanError {
  const day = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10)
  return new RunPlanError('The run is over before its markets were listed.', {
    code: 'BACKTEST_NOT_LISTED',
    facts: {
      to: day(toSeconds),
      listed: markets.map(({ market, listedSeconds = 0 }) => `${market} ${day(listedSeconds)}`).join(', '),
    },
    details:
      'Nothing was run: no order could execute before that. Choose --from and --to after it, or trade older candles of the asset all the same: --ignore-listing, which every report of the run then says.',
  })
}

/** The state of a folder with regard to a run: fresh, begun and stopped, or over. */
export type RunFolder = 'fresh' | 'begun' | 'over'

/**
 * Takes a folder for a run: writes the manifest where none is.
 *
 * @throws RunPlanError BACKTEST_FOLDER_TAKEN where the folder holds another run or something else
 */
export function takeRunFolder(folder: string, manifest: RunManifest): RunFolder {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, runFileNames.manifest)
  const text = runJson(manifest)
  if (existsSync(path)) {
    const before = readFileSync(path, 'utf8')
    if (before !== text) throw taken(folder, 'another run', differencesOf(before, text))
    return existsSync(join(folder, runFileNames.result)) ? 'over' : 'begun'
  }
  if (readdirSync(folder).length > 0) throw taken(folder, 'something else')
  writeFileSync(path, text)
  return 'fresh'
}

/**
 * Takes a folder for the process that makes its run; the returned function gives it back.
 *
 * @throws RunPlanError BACKTEST_FOLDER_BUSY where another process makes the run; one that was killed leaves the folder to the next
 */
export function holdRunFolder(folder: string): () => void {
  const path = join(folder, runFileNames.process)
  const pid = takeProcessFile(path)
  if (pid !== undefined)
    throw new RunPlanError('Another process is making this run.', {
      code: 'BACKTEST_FOLDER_BUSY',
      facts: { pid, folder },
      details: `Nothing was run or changed. Wait until it ends and retry; if no such process of perpd runs, remove ${runFileNames.process} from the folder.`,
    })
  return () => rmSync(path, { force: true })
}

/** Names of the fields in which two manifests differ, of settings each by its key; empty where one is none. */
function differencesOf(one: string, other: string): string {
  try {
    const [before, after] = [one, other].map((text) => JSON.parse(text) as Readonly<Record<string, unknown>>)
    const flat = ({ settings, ...rest }: Readonly<Record<string, unknown>> = {}) => ({
      ...rest,
      ...(settings as Readonly<Record<string, unknown>>),
    })
    const [mine, given] = [flat(before), flat(after)]
    const names = new Set([...Object.keys(mine), ...Object.keys(given)])
    return [...names]
      .filter((name) => JSON.stringify(fieldOf(mine, name)) !== JSON.stringify(fieldOf(given, name)))
      .join(', ')
  } catch {
    return ''
  }
}

function fieldOf(fields: Readonly<Record<string, unknown>>, name: string): unknown {
  return fields[name]
}

function taken(folder: string, holds: string, differs = ''): RunPlanError {
  return new RunPlanError(`The folder of the run already contains ${holds}.`, {
    code: 'BACKTEST_FOLDER_TAKEN',
    facts: { folder, ...defined({ differs: differs === '' ? undefined : differs }) },
    details: 'Nothing was run or changed. Name another folder: --out FOLDER.',
  })
}
