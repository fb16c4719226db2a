/**
 * The effective configuration: flags over environment over a file over a profile over defaults. Nothing is ignored: an
 * unknown name anywhere is a problem with a hint, and all problems are told at once. The one reader of the environment.
 */
import { lstatSync, readdirSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BaseError, reasonOf } from '../base/errors.ts'
import { Secret } from '../base/secret.ts'
import { mayHoldKey } from '../monitor/log/redact.ts'
import { emptyConfig, type RawConfig, settings, variableOf } from './configSchema.ts'
import type { Config } from './configTypes.ts'
import { judge } from './judge.ts'
import { type Layer, readEnvironment, readFile, readFlags } from './layers.ts'
import { didYouMean } from './suggest.ts'
import { typedConfig } from './typedConfig.ts'

/** Sources of a configuration. Nothing else is read. */
export interface ConfigSource {
  /** Flags, without the command's name and its own flags. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Relative paths start here. */
  readonly cwd: string
}

/** A configuration that may be used. */
export interface LoadedConfig {
  readonly config: Config
  /** The same values in their normal form, by dotted key, for showing. What may carry a secret is a Secret, or a list of them. */
  readonly values: Readonly<Record<string, unknown>>
  /** Where each value came from, by dotted key: `default`, `profile F`, `file F`, `env NAME`, `flag --x`. */
  readonly origins: Readonly<Record<string, string>>
  /** Settings that are allowed but deserve attention, one sentence each. */
  readonly warnings: readonly string[]
}

/** The configuration cannot be used. Exit code 4. */
export class ConfigError extends BaseError {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
    super([`The configuration has ${count}.`, ...problems.map((each) => `  ${each}`)].join('\n'), {
      code: 'CONFIG_INVALID',
      details:
        'Nothing was started. Settings: docs/reference/configuration.md; values in force: perpd config',
    })
    this.problems = problems
  }
}

/** Where the package keeps its own profiles. */
const packageProfiles = fileURLToPath(new URL('../../config/', import.meta.url))

/**
 * Problems of settings that a running daemon alone reads. With any other, as those of its control port, its journal and its profile,
 * it is open which daemon is meant, or whose file it is.
 */
const ofDaemonAlone =
  /^[^:]+: (?:(?:risk|breakers|signing|execution|strategies|account|rpc|evidence|api|paper|notify|log|otel|history)(?:\.\w+)?|venue\.(?:api|oracle)Hosts)[ :]/

/**
 * Reads and checks the whole configuration. `forRunning`: for a command that only asks a running daemon, which goes on with what it
 * was started with. A setting that cannot be used is left out then, and told as a warning, so that no slip in a file shuts the ways out.
 *
 * @throws ConfigError with every problem found; for a running daemon only when one of them may hide which is meant.
 */
export function loadConfig(source: ConfigSource, forRunning = false): LoadedConfig {
  const problems: string[] = []
  const report = (problem: string): void => void problems.push(problem)
  const flags = readFlags(source.argv, report)
  const environment = readEnvironment(source.env, report)
  const unseen: string[] = []
  const isThere: IsThere = (path) => isNamed(path, forRunning ? unseen : undefined)
  const file = configFile(source, flags.configFile ?? environment.configFile, isThere)
  const fileLayer: Layer =
    file === undefined ? new Map() : readFile({ cwd: source.cwd, file, kind: 'file' }, report)
  const chosen = [flags.layer, environment.layer, fileLayer]
    .map((layer) => layer.get('profile'))
    .find((entry) => entry !== undefined)
  const profile = chosen?.value ?? 'paper'
  const profileLayer = readProfile(source, String(profile), chosen?.origin ?? 'default', report, isThere)

  const convict = emptyConfig()
  const origins: Record<string, string> = Object.fromEntries(settings.map(({ key }) => [key, 'default']))
  for (const layer of [profileLayer, fileLayer, environment.layer, flags.layer]) {
    for (const [key, { value, origin }] of layer) {
      convict.set(key, value)
      origins[key] = origin
    }
  }
  convict.validate({ allowed: 'strict' })
  const raw: RawConfig = convict.getProperties()
  const config = typedConfig(raw, source.cwd)
  const judged = judge(config, origins, problems.length === 0)
  problems.push(...judged.problems)
  const isFatal = !forRunning || problems.some((each) => !ofDaemonAlone.test(each))
  if (problems.length > 0 && isFatal) throw new ConfigError(problems)
  return {
    config,
    values: Object.fromEntries(
      settings.map(({ key, reads }) => {
        const value: unknown = convict.get(key as never)
        return [key, reads.isSecret ? concealed(value) : value]
      }),
    ),
    origins,
    warnings: [
      ...problems,
      ...unseen,
      ...judged.warnings,
      ...flags.repeated,
      ...keysInFlags(flags.layer),
      ...strayVariables(source.env),
    ],
  }
}

function concealed(value: unknown): Secret | readonly Secret[] {
  return Array.isArray(value) ? value.map((item) => new Secret(String(item))) : new Secret(String(value))
}

type IsThere = (path: string) => boolean

function configFile(source: ConfigSource, named: string | undefined, isThere: IsThere): string | undefined {
  if (named !== undefined) return named
  return isThere(join(source.cwd, 'perpd.json')) ? 'perpd.json' : undefined
}

/**
 * A link whose file is gone counts too, and so does what may not be looked at: left out without a word, its limits would not hold. With `unseen`
 * (a command to a running daemon, which has its limits) the latter is left out and noted there: no folder shuts the ways out.
 */
function isNamed(path: string, unseen: string[] | undefined): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    unseen?.push(
      `${path}: ignored, because this user cannot read it: ${reasonOf(error)}. Run this from the daemon's folder, or set its --control.port.`,
    )
    return unseen === undefined
  }
}

function readProfile(
  source: ConfigSource,
  profile: string,
  origin: string,
  report: (problem: string) => void,
  isThere: IsThere,
): Layer {
  const own = join('config', `${profile}.json`)
  const packaged = join(packageProfiles, `${profile}.json`)
  const file = isThere(resolve(source.cwd, own)) ? own : packaged
  if (!isThere(resolve(source.cwd, file))) {
    report(
      `${origin}: there is no profile ${profile}; looked for ${own} here and in ${dirname(packaged)}.${didYouMean(profile, packagedProfiles())}`,
    )
    return new Map()
  }
  const near = relative(source.cwd, packaged)
  const shown = file === own || near.startsWith('..') ? file : near
  const layer = readFile({ cwd: source.cwd, file: shown, kind: 'profile' }, report)
  const inside = layer.get('profile')
  if (inside !== undefined && inside.value !== profile) {
    report(`${shown}: a profile file cannot choose another profile (${String(inside.value)}).`)
  }
  return layer
}

function packagedProfiles(): string[] {
  return readdirSync(packageProfiles)
    .filter((file) => file.endsWith('.json'))
    .map((file) => basename(file, '.json'))
}

/** Flags whose addresses carry a key: arguments of a process are read by every user of the machine. */
function keysInFlags(flags: Layer): string[] {
  return settings
    .filter(({ key, reads }) => {
      const value = flags.get(key)?.value
      const texts = Array.isArray(value) ? value : [value]
      return reads.isSecret && texts.some((text) => typeof text === 'string' && mayHoldKey(text))
    })
    .map(
      ({ key }) =>
        `--${key} has an address that may contain a key, and every user of this machine can read process arguments. Put it into a file of mode 0600 (--config FILE) or into ${variableOf(key)}. If it contains a key, ask the provider for a new one.`,
    )
}

function strayVariables(env: ConfigSource['env']): string[] {
  return Object.keys(env)
    .filter((variable) => /^PERPD_(?!_)/i.test(variable))
    .sort()
    .map((variable) => `${variable} is ignored; a variable sets a setting as PERPD__SECTION__KEY.`)
}
