/** Strategy files as the commands read them: nothing of another user's, and kinds of the user's own each in their thread. */
import type { BaseError } from '../base/errors.ts'
import type { Config } from '../config/configTypes.ts'
import { CommandError, exitCodes } from '../config/exit.ts'
import { hostKind } from '../strategy/files/hostKind.ts'
import { type LoadResult, loadStrategies } from '../strategy/files/load.ts'
import { untrusted } from './trustedKinds.ts'

const program = new URL(
  import.meta.url.endsWith('.ts') ? './kindThread.ts' : './kindThread.js',
  import.meta.url,
)

/**
 * Reads all that the configuration names. Whoever reads closes the threads (`closeStrategies`). `takesDisabled`: also files that are off; `texts`: in the place of
 * files, by path.
 */
export async function readStrategyFiles(
  { strategies }: Pick<Config, 'strategies'>,
  takesDisabled = false,
  texts?: ReadonlyMap<string, string>,
): Promise<LoadResult> {
  const { paths, decideTimeoutMs, memoryMiB } = strategies
  return await loadStrategies(paths, {
    untrusted,
    takesDisabled,
    ...(texts === undefined ? {} : { texts }),
    hostKind: (path) => hostKind(path, { program, decideTimeoutMs, memoryMiB }),
  })
}

/** What is wrong with strategy files, as the end of a command: a line each. */
export function strategyProblems(problems: readonly BaseError[]): CommandError {
  return new CommandError(problems.map((problem) => problem.message).join('\n'), exitCodes.configuration)
}
