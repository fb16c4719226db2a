/** Strategy files as the commands read them: nothing of another user's, and kinds of the user's own each in their thread. */
import { defined } from '../base/defined.ts'
import type { BaseError } from '../base/errors.ts'
import { systemClock } from '../base/systemClock.ts'
import type { Config } from '../config/configTypes.ts'
import { CommandError, exitCodes } from '../config/exit.ts'
import type { Log } from '../monitor/log/log.ts'
import { hostKind } from '../strategy/files/hostKind.ts'
import { closeStrategies, type LoadResult, loadStrategies } from '../strategy/files/load.ts'
import { StrategyFileError } from '../strategy/files/problem.ts'
import type { Needs } from '../strategy/strategy.ts'
import { ownCopies } from './ownFiles/ownCopies.ts'
import { untrusted } from './trustedKinds.ts'
import { printOf, settledPrintOf } from './watchStrategies.ts'

/** A file system's clock stands behind by up to a tick of the kernel; ten of them, ms. */
const CLOCK_STEPS_MS = 100

const program = new URL(
  import.meta.url.endsWith('.ts') ? './kindThread.ts' : './kindThread.js',
  import.meta.url,
)

/**
 * Reads all that the configuration names. Whoever reads closes the threads (`closeStrategies`). `takesDisabled`: also files that are off; `texts`: in the place of
 * files, by path. Without the places of journal and control no copy is read in the place of a file that ships with perpd.
 */
export async function readStrategyFiles(
  {
    strategies,
    paper,
    embedsVenue,
    journal,
    control,
  }: Pick<Config, 'strategies'> & Partial<Pick<Config, 'paper' | 'embedsVenue' | 'journal' | 'control'>>,
  takesDisabled = false,
  texts?: ReadonlyMap<string, string>,
): Promise<LoadResult> {
  const { paths, decideTimeoutMs, memoryMiB } = strategies
  const found = await loadStrategies(paths, {
    untrusted,
    takesDisabled,
    ...defined({ texts }),
    ...defined({
      inPlaceOf:
        journal === undefined || control === undefined
          ? undefined
          : ownCopies({ journal, control }).inPlaceOf,
    }),
    hostKind: (path) => hostKind(path, { program, decideTimeoutMs, memoryMiB }),
  })
  if (embedsVenue !== true || paper === undefined) return found
  return { ...found, problems: [...found.problems, ...fastReplayProblems(found.strategies, paper)] }
}

/**
 * Strategies that read candles beside a replay that is faster than the clock: `paper.speed` moves prices alone, so that a candle of a minute
 * would hold as many minutes of the file, and what is tried is another market than the file's.
 */
export function fastReplayProblems(
  strategies: readonly { readonly path: string; readonly needs: Needs }[],
  { replayFile, speed }: Pick<Config['paper'], 'replayFile' | 'speed'>,
): readonly StrategyFileError[] {
  if (replayFile === undefined || speed === 1) return []
  return strategies
    .filter(({ needs }) => (needs.candles ?? []).length > 0)
    .map(
      ({ path }) =>
        new StrategyFileError({
          file: path,
          what: `reads candles, but paper.speed is ${speed}: a candle would span ${speed} times its length of ${replayFile}`,
          fix: 'set paper.speed to 1, disable this strategy (enabled: false), or test it on simulated time: perpd strategies test',
        }),
    )
}

/** Ends a command with the faults of strategy files, a line each. */
export function strategyProblems(problems: readonly BaseError[]): CommandError {
  return new CommandError(problems.map((problem) => problem.message).join('\n'), exitCodes.configuration)
}

/** Reads all that a run needs. Throws CommandError when one of the files is refused. */
export async function readStrategies(config: Config): Promise<LoadResult> {
  const beganMs = systemClock.now()
  const before = await printOf(placesOf(config))
  const found = await readStrategyFiles(config)
  const { strategies, problems } = found
  if (problems.length === 0) {
    const print = await settledPrint(config, strategies, beganMs - CLOCK_STEPS_MS)
    // A file that changed meanwhile may have been read before or after.
    return print?.startsWith(`${before}\n`) === true ? { ...found, print } : found
  }
  await closeStrategies(strategies)
  throw strategyProblems(problems)
}

/** Places of strategy files, with the copies that perpd wrote. */
function placesOf(config: Config): readonly string[] {
  return [...config.strategies.paths, ownCopies(config).folder]
}

/** Returns one text for what all files are that these strategies were read from; undefined where a kind's module was changed after `beforeMs`. */
async function settledPrint(
  config: Config,
  strategies: LoadResult['strategies'],
  beforeMs: number,
): Promise<string | undefined> {
  const modules = strategies.flatMap(({ hosted }) => hosted?.modules ?? [])
  const ofModules = await settledPrintOf([...new Set(modules)].sort(), beforeMs)
  return ofModules === undefined ? undefined : `${await printOf(placesOf(config))}\n${ofModules}`
}

/**
 * Reads them again after a wait, which may have taken days; those that were read before it stand where the new ones are refused, and where no file changed:
 * reading kinds of the user's own takes most of a takeover.
 */
export async function readAgain(config: Config, before: LoadResult, note: Log['note']): Promise<LoadResult> {
  const { print, strategies } = before
  if (print !== undefined && print === (await settledPrint(config, strategies, Number.POSITIVE_INFINITY)))
    return before
  try {
    const files = await readStrategies(config)
    await closeStrategies(before.strategies)
    return files
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    const reason = `the strategy files changed while perpd waited and are refused; it runs those that it read before: ${error.message}`
    note('strategy.warned', 'warn', reason)
    return before
  }
}
