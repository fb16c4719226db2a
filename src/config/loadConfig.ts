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
import { accountKeyOf, withOwnFiles } from './accountNames.ts'
import { emptyConfig, type RawConfig, settings, variableOf } from './configSchema.ts'
import type { Config } from './configTypes.ts'
import { judge } from './judge.ts'
import { judgeAccounts } from './judgeAccounts.ts'
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

/** The values of a configuration, or of one account of it. */
export interface LoadedValues {
  readonly config: Config
  /** The same values in their normal form, by dotted key, for showing. What may carry a secret is a Secret, or a list of them. */
  readonly values: Readonly<Record<string, unknown>>
  /** Where each value came from, by dotted key: `default`, `profile F`, `file F`, `env NAME`, `flag --x`. */
  readonly origins: Readonly<Record<string, string>>
}

/** One of several accounts, with the process's settings and its own over them. */
export interface LoadedAccount extends LoadedValues {
  readonly name: string
}

/** A configuration that may be used. */
export interface LoadedConfig extends LoadedValues {
  /** The accounts of a process that has several, in their order; empty: it has one without a name, and these are its values. */
  readonly accounts: readonly LoadedAccount[]
  /** Settings that are allowed but deserve attention, one sentence each. */
  readonly warnings: readonly string[]
}

/**
 * Returns the configuration of one account as if it were alone; without a name, the whole.
 *
 * @throws ConfigError when it has no account of that name.
 */
export function accountIn(loaded: LoadedConfig, name: string | undefined): LoadedConfig {
  if (name === undefined) return loaded
  const account = loaded.accounts.find((each) => each.name === name)
  if (account !== undefined) return { ...account, accounts: [], warnings: loaded.warnings }
  const names = loaded.accounts.map((each) => each.name)
  throw new ConfigError([
    names.length === 0
      ? `there is no account ${name}: the configuration has one account, without a name. Set accounts, or leave out the name.`
      : `there is no account ${name}; there are ${names.join(', ')}.${didYouMean(name, names)}`,
  ])
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
  /^[^:]+: (?:(?:risk|desk|breakers|signing|execution|strategies|accounts?|rpc|evidence|api|paper|notify|log|otel|history)(?:\.[\w.-]+)?|venue\.(?:api|oracle)Hosts)[ :]/

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

  const layers = [profileLayer, fileLayer, environment.layer, flags.layer]
  const shared = valuesOf(layers, source.cwd)
  const accounts = accountNames(layers).map((name) => accountOf(layers, source.cwd, name))
  const judged = [shared, ...accounts].map(({ config, origins }) =>
    judge(config, origins, problems.length === 0),
  )
  problems.push(
    ...new Set([
      ...judged.flatMap((each) => each.problems),
      ...judgeAccounts(accounts, shared.config, shared.origins),
    ]),
  )
  const isFatal = !forRunning || problems.some((each) => !ofDaemonAlone.test(each))
  if (problems.length > 0 && isFatal) throw new ConfigError(problems)
  return {
    ...shared,
    accounts,
    warnings: [
      ...problems,
      ...unseen,
      ...new Set(judged.flatMap((each) => each.warnings)),
      ...flags.repeated,
      ...keysInFlags(flags.layer),
      ...strayVariables(source.env),
    ],
  }
}

/** Names of the accounts that the layers name, in their order. */
function accountNames(layers: readonly Layer[]): readonly string[] {
  const named = layers.flatMap((layer) =>
    [...layer.keys()].flatMap((key) => accountKeyOf(key)?.account ?? []),
  )
  return [...new Set(named)]
}

/** The values of layers, the later over the earlier, without those of single accounts. */
function valuesOf(
  layers: readonly Layer[],
  cwd: string,
  of?: { readonly account: string; readonly own: readonly Layer[] },
): LoadedValues {
  const convict = emptyConfig()
  const origins: Record<string, string> = Object.fromEntries(settings.map(({ key }) => [key, 'default']))
  for (const layer of [...layers, ...(of?.own ?? [])]) {
    for (const [key, { value, origin }] of layer) {
      if (accountKeyOf(key) !== undefined) continue
      convict.set(key, value)
      origins[key] = origin
    }
  }
  convict.validate({ allowed: 'strict' })
  const written: RawConfig = convict.getProperties()
  const isOwn = (key: string): boolean => of?.own.some((layer) => layer.has(key)) === true
  const raw = of === undefined ? written : withOwnFiles(written, of.account, isOwn)
  return {
    config: typedConfig(raw, cwd, of?.account),
    values: Object.fromEntries(
      settings.map(({ key, reads }) => {
        const value = valueAt(raw, key)
        return [key, reads.isSecret ? concealed(value) : value]
      }),
    ),
    origins,
  }
}

/** One account: its own values, by whichever layer, over those of all. */
function accountOf(layers: readonly Layer[], cwd: string, name: string): LoadedAccount {
  const own = layers.map(
    (layer): Layer =>
      new Map(
        [...layer].flatMap(([dotted, { value, origin }]) => {
          const { account, key = '' } = accountKeyOf(dotted) ?? {}
          return account === name && key !== ''
            ? [[key, { value, origin: `${origin}, account ${name}` }] as const]
            : []
        }),
      ),
  )
  return { name, ...valuesOf(layers, cwd, { account: name, own }) }
}

/** The value of a dotted name. */
function valueAt(raw: RawConfig, key: string): unknown {
  return key
    .split('.')
    .reduce<unknown>((inner, part) => (inner as Readonly<Record<string, unknown>>)[part], raw)
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
