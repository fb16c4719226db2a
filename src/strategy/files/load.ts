/**
 * Strategy files to running instances: reads YAML files or folders of them, loads kinds of the user's own, and reports
 * everything wrong at once, each with file, line and column. Nothing is guessed: a field that is not known is an error.
 */
import { readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { defined, ifDefined } from '../../base/defined.ts'
import { reasonOf } from '../../base/errors.ts'
import { readTextFile, TextFileError } from '../../base/textFile.ts'
import type { OnRemove } from '../../domain/accountRecords/strategyEntry.ts'
import type { Limits } from '../../domain/limits/limits.ts'
import type { Protections } from '../../domain/limits/protection.ts'
import type { ExitSettings } from '../../domain/order/exitSettings.ts'
import type { WarningPolicy } from '../../domain/order/warning.ts'
import { formatUsd } from '../../protocol/units.ts'
import { didYouMean } from '../didYouMean.ts'
import { withExitNeeds } from '../fileExits.ts'
import { type Needs, type Strategy, type StrategyInstance, z } from '../strategy.ts'
import { deadFieldsOf } from './deadFields.ts'
import { exitSettingsOf } from './exitBlock.ts'
import { type WrittenFields, writtenFields } from './fileLife.ts'
import { fileSchema, limitsOf, orderSizeOf, type StrategyFile, warningsOf } from './fileSchema.ts'
import { type HostedKind, KindFault } from './hosted.ts'
import { kindOf, kindProblem, type LoadOptions } from './loadKind.ts'
import { needsProblem } from './needsProblem.ts'
import { distrustProblem, type Place, StrategyFileError } from './problem.ts'
import { protectionsOf } from './protectBlock.ts'
import { issuesOf, type SchemaIssue, schemaProblems } from './schemaProblems.ts'
import { parseYaml, type YamlFile } from './yamlFile.ts'

/** Time between two ticks of an instance whose file names none, ms. */
const DEFAULT_CADENCE_MS = 10_000

/** One running instance. */
export interface LoadedStrategy {
  /** File name without its extension. */
  readonly name: string
  readonly path: string
  /** The strategy; for a hosted kind only its name and description, because it runs in its thread. */
  readonly strategy: Strategy
  /** The thread of a kind of the user's own; absent for kinds that are shipped with perpd, which run at once. */
  readonly hosted?: HostedKind
  /** Checked by the kind's schema; those of a hosted kind stay in its thread. */
  readonly params: unknown
  readonly instance: StrategyInstance
  readonly needs: Needs
  readonly symbols: readonly string[]
  readonly cadenceMs: number
  /** The file's own limits; the account's tighten them. */
  readonly limits: Limits
  /** Effect of the venue's warnings on its orders, where that is stricter than the account's policy. */
  readonly warnings?: WarningPolicy
  readonly slippageBps?: number
  readonly orderExpiryMs?: number
  /** Exits that every increase of it brings with it. */
  readonly exits?: ExitSettings
  /** Rules that keep it from adding exposure for a while. */
  readonly protect?: Protections
  /** Treatment of its orders and position when its file is removed. */
  readonly onRemove: OnRemove
  /** The file as it is written, for showing changes. */
  readonly written: WrittenFields
  /** Place of each of `symbols` in the file. */
  readonly symbolPlaces: readonly Place[]
}

/** Result of loading. With problems, the caller decides whether the rest may run. */
export interface LoadResult {
  readonly strategies: readonly LoadedStrategy[]
  /** Names of files with `enabled: false`; they were checked like the others. */
  readonly disabled: readonly string[]
  /** Their files, by name. */
  readonly disabledFiles?: ReadonlyMap<string, string>
  readonly problems: readonly StrategyFileError[]
  /** One text for what all files were when they were read, with what kinds import; absent: not known, or they changed meanwhile. */
  readonly print?: string
}

/** Loads files and folders. Never throws because of a file's content; every problem is in the result. */
export async function loadStrategies(
  paths: readonly string[],
  options: LoadOptions = {},
): Promise<LoadResult> {
  const problems: StrategyFileError[] = []
  const strategies: LoadedStrategy[] = []
  const disabled = new Map<string, string>()
  const seen = new Map<string, string>()
  const files: (readonly [file: string, name: string])[] = []
  for (const file of strategyFiles(paths, problems)) {
    const name = basename(file, extname(file))
    const earlier = seen.get(name)
    if (earlier !== undefined) {
      problems.push(
        new StrategyFileError({
          file,
          what: `has the same name as ${earlier}`,
          fix: 'rename one of them: the file name is the name of the instance and identifies its orders',
        }),
      )
      continue
    }
    seen.set(name, file)
    files.push([options.inPlaceOf?.(file) ?? file, name])
  }
  // Together: each kind of the user's own starts a thread.
  const all = await Promise.all(files.map(([file, name]) => loadFile(file, name, options)))
  for (const [index, loaded] of all.entries()) {
    const [file = '', name = ''] = files[index] ?? []
    if (Array.isArray(loaded)) problems.push(...loaded)
    else if (loaded === 'disabled') disabled.set(name, file)
    else strategies.push(loaded as LoadedStrategy)
  }
  return { strategies, disabled: [...disabled.keys()], disabledFiles: disabled, problems }
}

/** Ends the threads of loaded strategies. */
export async function closeStrategies(strategies: readonly LoadedStrategy[]): Promise<void> {
  await Promise.all(strategies.map(({ hosted }) => hosted?.close()))
}

/** Problems with market symbols that the venue does not list; each with the nearest listed one. */
export function checkMarkets(
  strategies: readonly LoadedStrategy[],
  symbols: readonly string[],
): readonly StrategyFileError[] {
  const listed = new Set(symbols)
  return strategies.flatMap((strategy) =>
    strategy.symbols.flatMap((symbol, index) => {
      if (listed.has(symbol)) return []
      const near = didYouMean(symbol, symbols)
      return new StrategyFileError({
        file: strategy.path,
        place: strategy.symbolPlaces[index],
        field: 'market',
        what: 'is not a market of the venue',
        value: symbol,
        expected: `the full symbol of one of ${symbols.length} markets, like "ETH/USD [WETH-USDC]"`,
        fix:
          near === undefined
            ? 'use a symbol from `GET /markets` of the venue'
            : `did you mean ${JSON.stringify(near)}?`,
      })
    }),
  )
}

function strategyFiles(paths: readonly string[], problems: StrategyFileError[]): readonly string[] {
  const files = new Map<string, string>()
  const add = (file: string): void => {
    const real = realpathSync(file)
    if (!files.has(real)) files.set(real, file)
  }
  for (const path of paths) {
    try {
      if (!statSync(path).isDirectory()) {
        if (isYaml(path)) add(path)
        else {
          problems.push(
            new StrategyFileError({
              file: path,
              what: 'is not a strategy file',
              expected: 'a .yaml file or a folder of them',
              fix: 'give the YAML file; it names a kind of your own by `kind: ./mine.ts`',
            }),
          )
        }
        continue
      }
      const found = readdirSync(path).filter(isStrategyName).sort()
      if (found.length === 0) {
        problems.push(
          new StrategyFileError({
            file: path,
            what: 'has no strategy file',
            expected: 'at least one .yaml file',
            fix: 'copy strategies/eth-trend.yaml of the project into it, or name another folder',
          }),
        )
      }
      for (const file of found) add(join(path, file))
    } catch (cause) {
      const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT'
      problems.push(
        new StrategyFileError({
          file: path,
          ...(isMissing
            ? { what: 'does not exist', fix: 'create it with perpd init, or set strategies.paths' }
            : { what: `cannot be read: ${reasonOf(cause)}`, fix: 'check its permissions' }),
          cause,
        }),
      )
    }
  }
  return [...files.values()]
}

function isYaml(path: string): boolean {
  return ['.yaml', '.yml'].includes(extname(path))
}

/** Judges whether a name in a folder is that of a strategy: editors and systems leave hidden files and links to nowhere there. */
function isStrategyName(name: string): boolean {
  return isYaml(name) && !name.startsWith('.')
}

async function loadFile(
  file: string,
  name: string,
  options: LoadOptions,
): Promise<LoadedStrategy | 'disabled' | readonly StrategyFileError[]> {
  if (!/^[a-z0-9][a-z0-9-]*$/.test(name)) {
    return [
      new StrategyFileError({
        file,
        what: 'has a name that cannot name an instance',
        value: name,
        expected: 'small letters, digits and dashes, beginning with a letter or digit',
        fix: 'rename the file, for example to eth-trend.yaml',
      }),
    ]
  }
  let text: string
  try {
    const distrust = options.untrusted?.(file)
    if (distrust !== undefined) return [distrustProblem(file, distrust)]
    text = options.texts?.get(file) ?? readTextFile(file)
  } catch (cause) {
    return [
      new StrategyFileError({
        file,
        what: `cannot be read: ${reasonOf(cause)}`,
        fix:
          cause instanceof TextFileError
            ? 'replace it by a text file in UTF-8'
            : 'check that it is a file, and its permissions',
        cause,
      }),
    ]
  }
  const yaml = parseYaml(file, text)
  if (!('placeOf' in yaml)) return yaml
  const parsed = fileSchema.safeParse(yaml.value)
  const problems = parsed.success ? [] : [...schemaProblems(yaml, [], issuesOf(fileSchema, parsed.error))]
  // The params are looked at even when the rest is wrong, so that one start shows every mistake.
  const kind = yaml.valueAt(['kind'])
  const found = typeof kind === 'string' && kind !== '' ? await kindOf(yaml, kind, options) : undefined
  if (found instanceof StrategyFileError) return [...problems, found]
  const hosted = found !== undefined && 'takeParams' in found ? found : undefined
  const loaded = await withKind(yaml, name, parsed.data, problems, found, options.takesDisabled === true)
  if (Array.isArray(loaded) || loaded === 'disabled') await hosted?.close()
  return loaded
}

/** The rest of a file, with the kind that it names; `problems` of the file are there already. */
async function withKind(
  yaml: YamlFile,
  name: string,
  fields: StrategyFile | undefined,
  problems: StrategyFileError[],
  found: Strategy | HostedKind | undefined,
  takesDisabled: boolean,
): Promise<LoadedStrategy | 'disabled' | readonly StrategyFileError[]> {
  const { file } = yaml
  const hosted = found !== undefined && 'takeParams' in found ? found : undefined
  const strategy = hosted === undefined ? (found as Strategy | undefined) : standIn(hosted)
  const raw = yaml.valueAt(['params']) ?? {}
  let params: unknown
  let issues: readonly SchemaIssue[] = []
  try {
    if (hosted !== undefined) issues = await hosted.takeParams(raw)
    else if (strategy !== undefined) {
      const checked = strategy.params.safeParse(raw)
      if (checked.success) params = checked.data
      else issues = issuesOf(strategy.params, checked.error)
    }
  } catch (cause) {
    if (!(cause instanceof KindFault)) throw cause
    return [kindProblem(yaml, hosted?.path ?? '', `fails when it checks params: ${reasonOf(cause)}`, cause)]
  }
  problems.push(...schemaProblems(yaml, ['params'], issues))
  if (fields !== undefined && strategy) problems.push(...fileProblems(yaml, fields, strategy))
  if (problems.length > 0 || fields === undefined || !strategy) return problems
  if (!fields.enabled && !takesDisabled) return 'disabled'

  const { symbols, places } = marketsOf(yaml, fields)
  const instance = {
    name,
    symbols,
    ...defined({ size: ifDefined(fields.size, orderSizeOf) }),
  }
  let needs: Needs
  try {
    needs = hosted === undefined ? strategy.needs(params, symbols) : await hosted.takeInstance(instance)
  } catch (cause) {
    return [kindProblem(yaml, fields.kind, `fails when asked what it needs: ${reasonOf(cause)}`, cause)]
  }
  const wrong = needsProblem(needs)
  if (wrong !== undefined) return [kindProblem(yaml, fields.kind, `returns invalid needs: ${wrong}`)]
  const exits = fields.exit === undefined ? undefined : exitSettingsOf(fields.exit)
  return {
    name,
    path: file,
    strategy,
    ...defined({ hosted }),
    params,
    instance,
    needs: withExitNeeds(needs, exits, symbols),
    symbols,
    cadenceMs: fields.cadenceSeconds ?? DEFAULT_CADENCE_MS,
    limits: limitsOf(fields.limits),
    ...defined({
      warnings: ifDefined(fields.warnings, warningsOf),
      slippageBps: fields.slippageBps,
      orderExpiryMs: fields.orderExpirySeconds,
      exits,
      protect: ifDefined(fields.protect, protectionsOf),
    }),
    onRemove: fields.onRemove,
    written: writtenFields(yaml.value),
    symbolPlaces: places,
  }
}

/** Returns the part of a hosted kind that the rest of perpd reads. */
function standIn({ kind, description, opensPositions, takesSignals, path }: HostedKind): Strategy {
  const elsewhere = (): never => {
    throw new TypeError(`the kind ${path} runs only in its thread`)
  }
  const told = { kind, description, opensPositions, takesSignals }
  return { ...told, params: z.unknown(), needs: elsewhere, decide: elsewhere }
}

function marketsOf(
  yaml: YamlFile,
  fields: StrategyFile,
): { readonly symbols: readonly string[]; readonly places: readonly Place[] } {
  const rows = [
    ...(fields.market === undefined ? [] : [{ symbol: fields.market, place: yaml.placeOf(['market']) }]),
    ...(fields.markets ?? []).map((symbol, index) => ({ symbol, place: yaml.placeOf(['markets', index]) })),
  ]
  return { symbols: rows.map((row) => row.symbol), places: rows.map((row) => row.place) }
}

/** Returns the problems that concern several fields together. */
function fileProblems(yaml: YamlFile, fields: StrategyFile, strategy: Strategy): StrategyFileError[] {
  const problems: StrategyFileError[] = []
  const add = (field: 'market' | 'markets' | 'size', what: string, fix: string, expected?: string): void => {
    problems.push(
      new StrategyFileError({ file: yaml.file, place: yaml.placeOf([field]), field, what, fix, expected }),
    )
  }
  if (fields.market !== undefined && fields.markets !== undefined) {
    add('markets', 'is set together with market', 'keep one: market for one market, markets for a list')
  }
  const { symbols } = marketsOf(yaml, fields)
  const twice = symbols.find((symbol, index) => symbols.indexOf(symbol) !== index)
  if (twice !== undefined) add('markets', `names ${JSON.stringify(twice)} twice`, 'name each market once')
  if (strategy.opensPositions && symbols.length === 0) {
    add(
      'market',
      `is missing; the kind ${strategy.kind} opens positions`,
      'add a line like: market: "ETH/USD [WETH-USDC]"',
      'the full symbol of a market',
    )
  }
  if (strategy.opensPositions && fields.size === undefined) {
    add(
      'size',
      `is missing; the kind ${strategy.kind} opens positions`,
      'add a line like: size: { usd: 250, leverage: 3, collateral: short }',
      'usd, leverage and collateral',
    )
  }
  const leastUsd = limitsOf(fields.limits).minOrderSizeUsd
  if (fields.size !== undefined && leastUsd !== undefined && fields.size.usd < leastUsd) {
    add(
      'size',
      `asks for ${formatUsd(fields.size.usd)} an order, below limits.minOrderSizeUsd (${formatUsd(leastUsd)}), so perpd could never send an order`,
      'raise size.usd or lower limits.minOrderSizeUsd',
    )
  }
  const isWritten = (path: readonly string[]): boolean => yaml.valueAt(path) !== undefined
  for (const { path, what, fix } of deadFieldsOf(fields, symbols, isWritten)) {
    const [file, place, field] = [yaml.file, yaml.placeOf(path), path.join('.')]
    problems.push(new StrategyFileError({ file, place, field, what, fix }))
  }
  return problems
}
