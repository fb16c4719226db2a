/** Defines a command, and separates its arguments from settings. */

import { settings } from '../../config/configSchema.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { takesValue } from '../../config/layers.ts'
import type { LoadedConfig } from '../../config/loadConfig.ts'
import { didYouMean } from '../../config/suggest.ts'
import type { KeySources } from '../../daemon/signers/keySources.ts'
import type { CommandLine, OwnFlag } from '../../operator/commandLine.ts'
import { EXAMPLES, JOINED } from '../output/screen.ts'
import { columns } from '../output/table.ts'
import { type AccountMode, accountFlag } from './accountModes.ts'

/** Inputs of a command that runs whatever the configuration says. */
export interface BareCall {
  /** Reads the configuration, from the same flags, variables and files. Rejects with ConfigError. */
  readonly readSettings: () => Promise<LoadedConfig>
  /** Own flags as given; `true` for one without value. */
  readonly flags: ReadonlyMap<string, string | true>
  readonly positionals: readonly string[]
  /** Folder that the command was given in. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Options of Node that this process was started with. */
  readonly execArgv: readonly string[]
  /** Keys and passwords from outside the configuration. */
  readonly keys: KeySources
  /** Columns of the screen; Infinity when what is written is read by no eye. */
  readonly width: number
  /** Writes to standard output, or to standard error. A line break is added. */
  readonly out: (text: string) => void
  readonly err: (text: string) => void
}

/** Inputs of every other command. */
export interface Call extends BareCall {
  readonly loaded: LoadedConfig
  /** Reads the configuration anew, from the same flags, variables and files. Throws ConfigError. */
  readonly reload: () => LoadedConfig
  /** Flags of settings, as they were typed. */
  readonly settings: readonly string[]
}

/** A command: what its help and its flags are, and its code, which is loaded only when it runs. */
export type Command = CommandLine &
  (
    | {
        readonly isBare?: never
        /** Resolves with the exit code. Throws CommandError or BaseError. */
        readonly run: (call: Call) => Promise<number>
        /** Choice among several accounts; absent: it is about the process. */
        readonly accounts?: AccountMode
        /** Runs it for several accounts together; undefined, or absent: it is run for one after the other. */
        readonly together?: (calls: readonly Call[]) => Promise<number> | undefined
      }
    | {
        /** It is run before the configuration is read, which it may do itself. */
        readonly isBare: true
        /** Resolves with the exit code. Throws CommandError or BaseError. */
        readonly run: (call: BareCall) => Promise<number>
        readonly accounts?: never
        readonly together?: never
      }
  )

/** A command that is run over a configuration. */
export type AccountCommand = Exclude<Command, { readonly isBare: true }>

/** A command's description, with its choice among accounts. */
type AccountLine = CommandLine & { readonly accounts?: AccountMode }

/** The flags of a command: its own, and the one that names accounts. */
function flagsOf({ flags, accounts }: AccountLine): readonly OwnFlag[] {
  return accounts === undefined ? flags : [...flags, accountFlag]
}

/** Arguments of a command, taken apart. */
export interface Arguments {
  readonly flags: ReadonlyMap<string, string | true>
  readonly positionals: readonly string[]
  /** Arguments that remain for `loadConfig`. */
  readonly settings: readonly string[]
  readonly wantsHelp: boolean
}

/** Commands that go on and write a log: `--json` is the form of its lines. All others have it as a flag of their own, or not at all. */
const servers: readonly string[] = ['run', 'standby', 'paper']
const shortNames: readonly string[] = ['config', 'profile', 'port']

/**
 * Parses the arguments of a command.
 *
 * @throws CommandError when a flag or an argument does not belong to the command, or a value is missing.
 */
export function parseArguments(command: AccountLine, argv: readonly string[]): Arguments {
  const flags = new Map<string, string | true>()
  const positionals: string[] = []
  const rest: string[] = []
  let wantsHelp = false
  for (let at = 0; at < argv.length; at++) {
    const argument = argv[at] ?? ''
    if (argument === '--help' || argument === '-h') {
      wantsHelp = true
      continue
    }
    if (argument === '--') {
      positionals.push(...argv.slice(at + 1))
      break
    }
    // A negative number is an argument.
    if (!argument.startsWith('-') || argument === '-' || /^-[\d.]/.test(argument)) {
      if (/^[\u2010-\u2015\u2212]/.test(argument)) {
        const meant = argument.replace(/^[\u2010-\u2015\u2212]+/, '--')
        throw misuse(command, `${argument} begins with a typographic dash. Did you mean ${meant}?`)
      }
      positionals.push(argument)
      continue
    }
    const [name = '', ...after] = argument.replace(/^--/, '').split('=')
    const inline = after.length === 0 ? undefined : after.join('=')
    const own = flagsOf(command).find((flag) => flag.name === name)
    const next = argv[at + 1]
    if (own !== undefined) {
      if (own.value === undefined) {
        if (inline !== undefined) throw misuse(command, `--${name} takes no value.`)
        flags.set(name, true)
        continue
      }
      if (own.isValueOptional === true && inline === undefined && !/^\d/.test(next ?? '')) {
        flags.set(name, true)
        continue
      }
      const value = inline ?? (next?.startsWith('--') === true ? undefined : next)
      if (value === undefined) throw misuse(command, `--${name} needs a value: ${own.value}.`)
      if (inline === undefined) at++
      const before = flags.get(name)
      if (before !== undefined && before !== value)
        throw misuse(command, `--${name} is given twice, as ${before} and as ${value}: keep one.`)
      if (own.setting === undefined) flags.set(name, value)
      else rest.push(`--${own.setting}=${value}`)
      continue
    }
    if (command.elsewhere?.flags.includes(name) === true) {
      const meant = ['perpd', command.elsewhere.command, ...argv].join(' ')
      throw misuse(
        command,
        `--${name}: ${command.name} has no such flag. Nothing was done; did you mean: ${meant}`,
      )
    }
    if (command.takesNoSettings === true && isSetting(name) && name !== 'json') {
      throw misuse(
        command,
        `--${name}: ${command.name} takes only its own flags, no settings. Nothing was done; write the setting into the file afterwards.`,
      )
    }
    if (!isSetting(name) || (name === 'json' && !servers.includes(command.name))) {
      const known = [
        ...command.flags.map((flag) => flag.name),
        ...shortNames,
        ...settings.map(({ key }) => key),
      ]
      const hint = didYouMean(
        `--${name.replace(/^-/, '')}`,
        known.map((each) => `--${each}`),
      )
      throw misuse(command, `${argument.split('=')[0]}: ${command.name} has no such flag.${hint}`)
    }
    rest.push(argument)
    if (inline === undefined && next !== undefined && !next.startsWith('--') && takesValue(name)) {
      rest.push(next)
      at++
    }
  }
  if (!wantsHelp) checkPositionals(command, { flags, positionals, settings: rest, wantsHelp })
  if (!wantsHelp && flags.has('json') && flags.has('csv'))
    throw misuse(command, '--json and --csv exclude each other: give one.')
  return { flags, positionals, settings: rest, wantsHelp }
}

/** Throws CommandError where arguments are too many, too few or empty. */
function checkPositionals(command: CommandLine, { flags, positionals, settings }: Arguments): void {
  const { positional, more = [] } = command
  const expected: readonly { readonly doc: string; readonly isOptional?: boolean }[] =
    positional === undefined ? [] : [positional, ...more]
  const most = positional?.isMany === true ? Number.POSITIVE_INFINITY : expected.length
  if (positionals.length > most) {
    const meant = meantBy(command, positionals, flags, settings)
    throw misuse(command, `${positionals[most]}: ${command.name} takes no such argument.${meant}`)
  }
  // A script whose variable is empty: an id that is none would be the beginning of every one.
  const empty =
    expected[
      Math.min(
        positionals.findIndex((word) => word.trim() === ''),
        expected.length - 1,
      )
    ]
  if (empty !== undefined) throw misuse(command, `An argument is empty: ${empty.doc}.`)
  const missing = expected[positionals.length]
  if (missing !== undefined && positional?.isOptional !== true && missing.isOptional !== true) {
    throw misuse(command, `${command.name} needs ${missing.doc}.`)
  }
}

/** ` Did you mean: perpd logs --level error`, where arguments stand for flags; else nothing. */
function meantBy(
  { name, positional, more = [], flags: known, stray = [] }: CommandLine,
  positionals: readonly string[],
  given: ReadonlyMap<string, string | true>,
  rest: readonly string[],
): string {
  // A direction is known by its word, wherever it stands.
  const at = more.some((each) => each.name === 'direction')
    ? positionals.findIndex((word) => word === 'long' || word === 'short')
    : -1
  const words = at < 0 ? positionals : positionals.toSpliced(at, 1).toSpliced(1, 0, positionals[at] ?? '')
  const second = words.findIndex((word) => /^\[.*\]$/.test(word))
  if (second > 0) {
    const market = words.slice(0, second + 1).filter((word) => word !== positionals[at])
    return ` Quote a symbol with spaces: ${JSON.stringify(market.join(' '))}.`
  }
  const own = words.slice(0, positional === undefined ? 0 : 1 + more.length)
  const extra = words.slice(own.length)
  const all = new Map<string, string | true>(given)
  // A flag without its dashes.
  for (const word of [...extra]) {
    const [, flag = '', value = ''] = /^([a-z-]+)=(.+)$/.exec(word) ?? []
    if (!known.some((each) => each.name === flag && each.value !== undefined)) continue
    all.set(flag, value)
    extra.splice(extra.indexOf(word), 1)
  }
  for (const { flag, initial } of stray) {
    const value = all.has(flag) ? undefined : (extra.shift() ?? initial)
    if (value !== undefined) all.set(flag, value.replace(/^(\d+)%$/, '$1'))
  }
  for (const word of extra) {
    if (!known.some((flag) => flag.name === word && flag.value === undefined)) return ''
    all.set(word, true)
  }
  const quoted = (text: string): string => (/^[\w./:@%+-]+$/.test(text) ? text : JSON.stringify(text))
  const flags = [...all].map(([flag, value]) => `--${flag}${value === true ? '' : ` ${quoted(value)}`}`)
  return `\nDid you mean: ${['perpd', name, ...own.map(quoted), ...flags, ...rest].join(' ')}`
}

/** A name with a dot is a setting, known or not: the configuration says what is wrong with it. */
function isSetting(name: string): boolean {
  return name.includes('.') || shortNames.includes(name) || name === 'json'
}

function misuse(command: CommandLine, what: string): CommandError {
  return new CommandError(`${what}\n${usageOf(command)}`, exitCodes.configuration)
}

/** `--open`, `--limit N`, `--watch [SECONDS]`: a flag as help shows it. */
export function flagText({ name, value, isValueOptional }: OwnFlag): string {
  if (value === undefined) return `--${name}`
  return `--${name} ${isValueOptional === true ? `[${value}]` : value}`
}

/** `usage: perpd orders [--open] ...`. */
export function usageOf(command: CommandLine): string {
  const own = command.flags.map((flag) => (flag.isNeeded ? flagText(flag) : `[${flagText(flag)}]`))
  const { name = '', isOptional = false, isMany } = command.positional ?? {}
  const word = isMany === true ? `${name}...` : name
  const positional = command.positional === undefined ? [] : [isOptional ? `[${word}]` : `<${word}>`]
  const others = (command.more ?? []).map((each) =>
    each.isOptional === true ? `[${each.name}]` : `<${each.name}>`,
  )
  const settingsText = command.takesNoSettings === true ? [] : ['[--section.key value ...]']
  return ['usage: perpd', command.name, ...positional, ...others, ...own, ...settingsText]
    .map((word, at) => (at === 0 ? word : word.replaceAll(' ', JOINED)))
    .join(' ')
}

/** The whole help of a command; where its first argument has a help of its own, that alone. */
export function helpOf(named: AccountLine, [word = '']: readonly string[] = []): string {
  const { helpOfWord = {} } = named
  const command = (Object.hasOwn(helpOfWord, word) ? helpOfWord[word] : undefined) ?? named
  const shared: readonly (readonly [string, string])[] = [
    ...(named.accounts === undefined ? [] : [[flagText(accountFlag), accountFlag.doc] as const]),
    ['--profile NAME', 'profile to start from; paper is the default and trades play money'],
    ['--config FILE', 'file of settings over the profile; ./perpd.json is read when it exists'],
    ['--section.key value', 'any setting; `perpd config` lists them all with their values'],
  ]
  const own = command.flags.map((flag) => [flagText(flag), flag.doc] as const)
  // A shared flag that the command describes itself is not listed twice.
  const rows = [
    ...own,
    ...shared.filter(
      ([flag]) =>
        command.takesNoSettings !== true && !own.some(([each]) => each.split(' ')[0] === flag.split(' ')[0]),
    ),
  ]
  // Its lines end where the source's do; on a screen a paragraph runs on.
  const details = command.details === undefined ? '' : `\n${command.details.replace(/([^.])\n/g, '$1 ')}\n`
  const examples = command.examples.map((each) => `  ${each}`).join('\n')
  return `${command.summary}\n\n${usageOf(command)}\n${details}\n${columns(rows, '  ')}\n\n${EXAMPLES}\n${examples}`
}
