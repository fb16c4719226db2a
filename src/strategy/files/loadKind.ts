/** Finds the kind that a strategy file names: a built-in one, or a file of the user's own next to it. */
import { existsSync } from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { reasonOf } from '../../base/errors.ts'
import { didYouMean } from '../didYouMean.ts'
import { builtInKind, builtInNames } from '../kinds/builtInKind.ts'
import type { Strategy } from '../strategy.ts'
import { type HostedKind, KindFault } from './hosted.ts'
import { type Distrust, distrustProblem, StrategyFileError } from './problem.ts'
import { NO_STRATEGY, strategyIn } from './strategyModule.ts'
import type { YamlFile } from './yamlFile.ts'

/** The kind, or the one problem with naming it. A relative path (`./mine.ts`) starts at the YAML file's folder. */
export async function kindOf(
  yaml: YamlFile,
  kind: string,
  options: LoadOptions = {},
): Promise<Strategy | HostedKind | StrategyFileError> {
  if (!/^\.{1,2}\//.test(kind) && !isAbsolute(kind)) {
    const builtIn = builtInKind(kind)
    if (builtIn !== undefined) return builtIn
    const near = didYouMean(kind, builtInNames)
    return new StrategyFileError({
      file: yaml.file,
      place: yaml.placeOf(['kind']),
      field: 'kind',
      what: 'is not a kind of strategy',
      value: kind,
      expected: `one of ${builtInNames.join(', ')}, or a file of your own like ./mine.ts`,
      fix: near === undefined ? 'name one of these' : `did you mean ${JSON.stringify(near)}?`,
    })
  }
  const path = resolve(dirname(yaml.file), kind)
  if (!existsSync(path)) return kindProblem(yaml, kind, 'names a file that is not there')
  try {
    const distrust = options.untrusted?.(path)
    if (distrust !== undefined) return distrustProblem(path, distrust)
    if (options.hostKind !== undefined) return await options.hostKind(path)
    const found = strategyIn(await import(pathToFileURL(path).href))
    return found ?? kindProblem(yaml, kind, NO_STRATEGY)
  } catch (cause) {
    const reason = reasonOf(cause)
    const isNone = cause instanceof KindFault && reason === NO_STRATEGY
    return kindProblem(yaml, kind, isNone ? reason : `could not be loaded: ${reason}`, cause)
  }
}

/** A problem with a kind of the user's own. */
export function kindProblem(yaml: YamlFile, kind: string, what: string, cause?: unknown): StrategyFileError {
  return new StrategyFileError({
    file: yaml.file,
    place: yaml.placeOf(['kind']),
    field: 'kind',
    what,
    value: kind,
    expected: 'a .ts file next to the YAML file with `export default defineStrategy({ ... })`',
    fix: 'see strategies/README.md, "A kind of your own"',
    cause,
  })
}

/** Options for loading files. */
export interface LoadOptions {
  /** Returns the reason why a file is not read, because others can change it; undefined when it may be. Without it every file is read. */
  readonly untrusted?: (path: string) => Distrust | undefined
  /** Starts a kind of the user's own in a separate thread. Without it the kind is imported here, as tests of kinds do. */
  readonly hostKind?: (path: string) => Promise<HostedKind>
  /** True to load a file with `enabled: false` like any other, as a trial does. */
  readonly takesDisabled?: boolean
  /** Texts that replace files, by their path: they show the effect of a change before it is written. */
  readonly texts?: ReadonlyMap<string, string>
  /** Returns the path to read instead of a found file: a copy of the user's own, or the file. */
  readonly inPlaceOf?: (path: string) => string
}
