/** `perpd backtest`: runs strategy files over history, with the daemon's own engine, and leaves a folder that a report reads. */
import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { liveExactRun } from '../../backtest/exactRun.ts'
import {
  holdRunFolder,
  planRun,
  type RunFolder,
  type RunPlan,
  type RunWish,
  takeRunFolder,
} from '../../backtest/planRun.ts'
import { delaysOf, distributionOf, LEAST_EXECUTIONS } from '../../backtest/recordedDelays.ts'
import {
  candlePaths,
  type ImpactLevel,
  impactLevels,
  parseResult,
  type RunManifest,
  type RunResult,
  runFileNames,
  runJson,
} from '../../backtest/runFiles.ts'
import { LEAST_DELAY_MS, type ModelChoice, usualModel } from '../../backtest/runModel.ts'
import { writeRun } from '../../backtest/runResult.ts'
import { type RunPlace, stoppedManifest, wishOfManifest } from '../../backtest/stoppedRun.ts'
import { defined } from '../../base/defined.ts'
import { BaseError } from '../../base/errors.ts'
import { shellWord } from '../../base/shownText.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { readStrategyFiles, strategyProblems } from '../../daemon/readStrategies.ts'
import { type CandlePeriod, periodSeconds } from '../../protocol/market.ts'
import { checkMarkets, closeStrategies, type LoadedStrategy } from '../../strategy/files/load.ts'
import type { Call } from '../call/command.ts'
import { wrapped } from '../output/screen.ts'
import { sentenceOfRun } from '../reporting/runSubject.ts'
import { type BandRun, bandText, modelText, resultText } from './backtestText.ts'
import { checkFlag, checkRun } from './checkCommand.ts'
import { exportParams } from './exportParams.ts'
import { runsFolder } from './localRuns.ts'

/** Least time and least progress between two lines of progress: ms, and percent of the run. */
const [PROGRESS_MS, PROGRESS_PERCENT] = [2_000, 5]

/** Runs the files. Exit code 4 for what cannot be run as it is asked for. */
export async function backtest(call: Call): Promise<number> {
  const { loaded, positionals, cwd } = call
  const { config } = loaded
  const exported = call.flags.get('export-params')
  if (typeof exported === 'string') return await exportParams(call, exported)
  const check = checkFlag(call.flags)
  if (check !== undefined && call.flags.has('fast'))
    throw misuse('--check looks at every turn of a run: leave out --fast.')
  const stopped = stoppedOf(call)
  const named = stopped?.strategies.map(({ path }) => path) ?? positionals.map((path) => resolve(cwd, path))
  const paths = named.length === 0 ? config.strategies.paths : named
  const found = await readStrategyFiles({ strategies: { ...config.strategies, paths } }, true)
  try {
    // A file that is named is run although it is off; of a folder only what would run.
    const strategies = found.strategies.filter(
      ({ path, written }) => written.enabled !== 'false' || named.some((each) => isSamePath(each, path)),
    )
    if (found.problems.length > 0) throw strategyProblems(found.problems)
    if (strategies.length === 0) throw misuse('No strategy file to run: name one, or enable one.')
    const listed = [...config.venue.chain.facts.markets.values()].map(({ symbol }) => symbol)
    const unlisted = checkMarkets(strategies, listed)
    if (unlisted.length > 0) throw strategyProblems(unlisted)
    const wish =
      stopped === undefined
        ? await withRecordedDelays(call, wishOf(call, strategies))
        : wishOfManifest(stopped, placeOf(call, strategies))
    if (check !== undefined) return await checkRun(check, call, strategies, wish, planned)
    return await (call.flags.has('band') ? runBand : runOnce)(call, strategies, wish)
  } finally {
    await closeStrategies(found.strategies)
  }
}

/** The manifest of the run that is to be resumed: its flags are in it. */
function stoppedOf({ flags, positionals, cwd }: Call): RunManifest | undefined {
  const folder = flags.get('resume')
  if (typeof folder !== 'string') return undefined
  const others = [...flags.keys()].filter((name) => !['resume', 'data', 'json'].includes(name))
  if (positionals.length > 0 || others.length > 0)
    throw misuse(
      `--resume has the files and flags of the run itself: leave out ${[...positionals, ...others.map((name) => `--${name}`)].join(', ')}.`,
    )
  try {
    return stoppedManifest(resolve(cwd, folder))
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    throw new CommandError(error.message, exitCodes.configuration)
  }
}

/** Compares two paths of files that are there, over links. */
function isSamePath(one: string, other: string): boolean {
  return realpathSync(one) === realpathSync(other)
}

/** Plans the run; a run that cannot start is reported as a mistake of the command line or of the data. */
async function planned(wish: RunWish): Promise<RunPlan> {
  try {
    return await planRun(wish)
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    throw new CommandError(error.message, exitCodes.configuration)
  }
}

/** Runs once, and shows the run. */
async function runOnce(call: Call, strategies: readonly LoadedStrategy[], wish: RunWish): Promise<number> {
  const { flags, out, width } = call
  const plan = await planned(wish)
  const taken = takenFor(call, plan)
  const { folder, state } = taken
  if (!flags.has('json')) out(modelText(plan.manifest))
  const result = await resultIn(taken, call, strategies, plan)
  if (flags.has('json')) out(runJson(result).trimEnd())
  else {
    const sentence = wrapped('', await sentenceOfRun(folder), Math.min(width, 80)).join('\n')
    const place = `${state === 'over' ? 'This run was made before' : 'The run'} is in ${folder}`
    out(
      `\n${sentence}\n\n${resultText(result)}\n\n${place}\nFor a report page: perpd report ${shellWord(folder)}`,
    )
  }
  return exitCodes.ok
}

/** Runs three times, with the skew turned around, without it, and as it is given, and shows the three as a band. */
async function runBand(call: Call, strategies: readonly LoadedStrategy[], wish: RunWish): Promise<number> {
  const { flags, out } = call
  const { skewBps } = wish.model
  if (skewBps === 0) throw misuse('--band runs with a skew and with its opposite: give one, as --skew 10.')
  const results: BandRun[] = []
  for (const each of [-skewBps, 0, skewBps]) {
    const plan = await planned({ ...wish, model: { ...wish.model, skewBps: each } })
    const taken = takenFor(call, plan, `skew${each}`)
    const { folder } = taken
    if (results.length === 0 && !flags.has('json')) out(modelText(plan.manifest))
    const result = await resultIn(taken, call, strategies, plan)
    results.push({ skewBps: each, folder, result })
  }
  if (flags.has('json')) {
    const plain = results.map((each) => ({ ...each, result: JSON.parse(runJson(each.result)) as unknown }))
    out(JSON.stringify(plain, undefined, 2))
  } else out(`\n${bandText(results)}`)
  return exitCodes.ok
}

/** A run's folder and its state; `release` gives the folder back, where this process makes the run. */
interface TakenFolder {
  readonly folder: string
  readonly state: RunFolder
  readonly release: () => void
}

/** The folder of a run: taken for it, or refused. `--again` makes a run that is over fresh. */
function takenFor(
  { flags, cwd, loaded: { config } }: Call,
  { manifest, id }: RunPlan,
  below = '',
): TakenFolder {
  const given = flags.get('resume') ?? flags.get('out')
  const names = manifest.strategies.map(({ name }) => name).join('+')
  const own = join(runsFolder(config), `${names.slice(0, 60)}-${id}`)
  const folder = typeof given === 'string' ? resolve(cwd, given, below) : own
  try {
    const state = takeRunFolder(folder, manifest)
    if (state === 'over' && !flags.has('again')) return { folder, state, release: () => {} }
    const release = holdRunFolder(folder)
    if (!flags.has('again')) return { folder, state, release }
    rmSync(join(folder, runFileNames.result), { force: true })
    rmSync(join(folder, 'state'), { recursive: true, force: true })
    return { folder, state: 'fresh', release }
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    throw new CommandError(error.message, exitCodes.configuration)
  }
}

async function resultIn(
  { folder, state, release }: TakenFolder,
  { err, loaded: { config } }: Call,
  strategies: readonly LoadedStrategy[],
  { manifest, candles, followed }: RunPlan,
): Promise<RunResult> {
  if (state === 'over') return parseResult(readFileSync(join(folder, runFileNames.result), 'utf8'))
  if (state === 'begun') err('Resuming an interrupted run.')
  const { fromSeconds, toSeconds } = manifest
  let said = { atMs: performance.now(), percent: 0 }
  try {
    const tally = await liveExactRun({
      ...{ folder, manifest, config, strategies },
      ...{ histories: candles.histories, followed },
      told(doneSeconds) {
        const percent = Math.floor(((doneSeconds - fromSeconds) * 100) / (toSeconds - fromSeconds))
        const atMs = performance.now()
        if (atMs - said.atMs < PROGRESS_MS || percent - said.percent < PROGRESS_PERCENT) return
        said = { atMs, percent }
        err(`${new Date(doneSeconds * 1000).toISOString().slice(0, 10)}: ${percent} %`)
      },
    })
    const result = writeRun(folder, manifest, tally, candles)
    writeFileSync(join(folder, runFileNames.sentence), `${await sentenceOfRun(folder)}\n`)
    return result
  } finally {
    release()
  }
}

function misuse(text: string): CommandError {
  return new CommandError(`${text}\n  Nothing was run.`, exitCodes.configuration)
}

function wishOf(call: Call, strategies: readonly LoadedStrategy[]): RunWish {
  const { flags, loaded } = call
  const { config } = loaded
  const text = (name: string): string | undefined => {
    const value = flags.get(name)
    return typeof value === 'string' ? value : undefined
  }
  const period = text('period')
  if (period !== undefined && !(period in periodSeconds))
    throw misuse(`--period is ${period}; expected one of ${Object.keys(periodSeconds).join(', ')}.`)
  const [from, to, source] = [text('from'), text('to'), text('source')]
  const turnSeconds = wholeOf('turn-seconds', text('turn-seconds'), 60, 86_400)
  return {
    ...placeOf(call, strategies),
    ...defined({
      fromSeconds: from === undefined ? undefined : timeOf('from', from),
      toSeconds: to === undefined ? undefined : timeOf('to', to),
      source,
    }),
    ...defined({ period: period === undefined ? undefined : (period as CandlePeriod) }),
    balances: balancesOf(text('balance') ?? '10000', config.venue.chain.feeToken.symbol),
    seed: wholeOf('seed', text('seed'), 0, 2 ** 32 - 1) ?? 1,
    ...defined({ turnSeconds }),
    mode: flags.has('fast') ? 'fast' : 'exact',
    model: { ...modelChoice(text), ...(flags.has('ignore-listing') ? { ignoresListing: true } : {}) },
  }
}

/** The part of a wish that is of this machine: files, settings, and where candles lie. */
function placeOf({ loaded, flags, cwd }: Call, strategies: readonly LoadedStrategy[]): RunPlace {
  const { config, values } = loaded
  const file = flags.get('data')
  return {
    chain: config.venue.chain.name,
    strategies,
    settings: values,
    storeFolder: config.history.folder,
    marketHours: config.paper.marketHours,
    ...defined({ file: typeof file === 'string' ? resolve(cwd, file) : undefined }),
  }
}

/** The wish with the delays of a recorded session, where one is named. */
async function withRecordedDelays({ flags, cwd }: Call, wish: RunWish): Promise<RunWish> {
  const path = flags.get('delay-from')
  if (typeof path !== 'string') return wish
  if (flags.has('delay')) throw misuse('--delay and --delay-from exclude each other: give one.')
  const { openJournalReader } = await import('../../journal/service/open.ts')
  if (!existsSync(resolve(cwd, path))) throw misuse(`--delay-from ${path}: no journal found there.`)
  const journal = await openJournalReader(resolve(cwd, path))
  try {
    const delays = delaysOf(await journal.intents())
    const delaysMs = distributionOf(delays)
    if (delaysMs === undefined)
      throw misuse(
        `--delay-from ${path}: the journal has ${delays.length} executions; a distribution needs ${LEAST_EXECUTIONS}.`,
      )
    const delayMs = { least: delaysMs[0] ?? 0, most: delaysMs.at(-1) ?? 0 }
    return { ...wish, model: { ...wish.model, delayMs, delaysMs } }
  } finally {
    await journal.close()
  }
}

/** A UTC date or time, as Unix seconds. */
function timeOf(flag: string, text: string): number {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text)
  const isMoment = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?Z?$/.test(text)
  const atMs =
    isDay || isMoment ? Date.parse(isDay ? text : `${text.replace(' ', 'T').replace(/Z$/, '')}Z`) : Number.NaN
  if (Number.isNaN(atMs))
    throw misuse(`--${flag} is ${text}; expected a UTC time, as 2026-01-31 or 2026-01-31T12:00.`)
  return Math.floor(atMs / 60_000) * 60
}

function wholeOf(flag: string, text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= least && value <= most))
    throw misuse(`--${flag} is ${text}; expected a whole number from ${least} to ${most}.`)
  return value
}

/** `10000`, or `USDC=10000,ETH=0.5`. */
function balancesOf(text: string, stable: string): Readonly<Record<string, string>> {
  const parts = text.split(',').map((part) => {
    const [, symbol = stable, amount] =
      /^(?:([A-Za-z0-9.]+)=)?(\d{1,15}(?:\.\d{1,6})?)$/.exec(part.trim()) ?? []
    if (amount === undefined)
      throw misuse(
        `--balance is ${text}; expected an amount of ${stable}, as 10000, or several, as ${stable}=10000,ETH=0.5.`,
      )
    return [symbol, amount] as const
  })
  return Object.fromEntries(parts)
}

function modelChoice(text: (name: string) => string | undefined): ModelChoice {
  const level = text('impact') ?? usualModel.impact
  const impact = impactLevels.find((each) => each === level)
  if (impact === undefined) throw misuse(`--impact is ${level}; expected ${impactLevels.join(', ')}.`)
  const skew = text('skew')
  if (impact === 'recorded' && skew !== undefined)
    throw misuse('--impact recorded has the skew of the recording: leave out --skew.')
  if (skew !== undefined && !(/^-?\d{1,2}(\.\d{1,2})?$/.test(skew) && Math.abs(Number(skew)) <= 90))
    throw misuse(`--skew is ${skew}; expected percent of the open interest, from -90 to 90.`)
  const gas = text('gas-gwei')
  const [, p50 = '', p90] = /^(\d{1,6}(?:\.\d{1,9})?)(?:-(\d{1,6}(?:\.\d{1,9})?))?$/.exec(gas ?? '0') ?? []
  if (p50 === '' || (p90 !== undefined && !(Number(p90) >= Number(p50) && Number(p50) > 0)))
    throw misuse(
      `--gas-gwei is ${gas}; expected gwei, as 0.02, or median and ninetieth percentile, as 0.02-0.05.`,
    )
  return {
    delayMs: delayOf(text('delay')),
    path: pathOf(text('inside')),
    impact,
    skewBps: skewOf(impact, skew),
    ...defined({ funding: ratesOf(impact, text('rates')) }),
    gasPriceGwei: gas === undefined ? usualModel.gasPriceGwei : p50,
    ...defined({ gasPriceP90Gwei: p90 }),
  }
}

/** Initial skew, bps of the open interest; none where the recording has one. */
function skewOf(impact: ImpactLevel, text: string | undefined): number {
  if (impact === 'recorded') return 0
  return text === undefined ? usualModel.skewBps : Math.round(Number(text) * 100)
}

/** `formula` or `history`. */
function ratesOf(impact: ImpactLevel, text: string | undefined): 'history' | undefined {
  if (text === undefined || text === 'formula') return undefined
  if (text !== 'history') throw misuse(`--rates is ${text}; expected formula or history.`)
  if (impact === 'recorded') throw misuse('--impact recorded has the recorded rates: leave out --rates.')
  return 'history'
}

/** `stop-first` or `nearer-first`. */
function pathOf(text: string | undefined): ModelChoice['path'] {
  if (text === undefined) return usualModel.path
  const path = candlePaths.find((each) => each.replace(' ', '-') === text)
  if (path !== undefined) return path
  throw misuse(`--inside ${text}: ${candlePaths.map((each) => each.replace(' ', '-')).join(' or ')}.`)
}

/** `2-5` or `3`: seconds. Nothing executes at once. */
function delayOf(text: string | undefined): ModelChoice['delayMs'] {
  if (text === undefined) return usualModel.delayMs
  const [, first, second = first] = /^(\d{1,3}(?:\.\d)?)(?:-(\d{1,3}(?:\.\d)?))?$/.exec(text) ?? []
  const [least, most] = [Number(first) * 1000, Number(second) * 1000]
  if (!(least >= LEAST_DELAY_MS && most >= least))
    throw misuse(
      `--delay is ${text}; expected seconds from least to most, as 2-5; at least ${LEAST_DELAY_MS / 1000}.`,
    )
  return { least, most }
}
