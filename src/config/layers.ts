/** The layers a configuration is made of: flags, environment, files. Each reads to values with their origin. */
import { resolve } from 'node:path'
import { fileBounds } from '../base/boundedJson.ts'
import { reasonOf } from '../base/errors.ts'
import { isObject } from '../base/isObject.ts'
import { jsonProblem, parseStrict } from '../base/strictJson.ts'
import { readTextFile } from '../base/textFile.ts'
import { untrustedPart, untrustedText } from '../keys/trustedPath.ts'
import { redactUrl } from '../monitor/log/redact.ts'
import type { Value } from '../protocol/settings/setting.ts'
import { accountKeyOf, accountKeyProblem } from './accountNames.ts'
import { type NamedSetting, settingNamed, settings, variableOf } from './configSchema.ts'
import { didYouMean, nearest } from './suggest.ts'

/** Values of one layer by dotted key, each with where it was written. */
export type Layer = ReadonlyMap<string, { readonly value: Value; readonly origin: string }>

/** Collects what is wrong, so that everything can be said at once. */
export type Report = (problem: string) => void

type MutableLayer = Map<string, { value: Value; origin: string }>

const keys = settings.map((entry) => entry.key)

/** Short names of flags. `--json` writes the log as JSON lines. */
const aliases: Readonly<Record<string, { readonly key: string; readonly value?: string }>> = {
  port: { key: 'control.port' },
  json: { key: 'log.format', value: 'json' },
}

const flagNames: readonly string[] = ['config', ...Object.keys(aliases), ...keys].map((key) => `--${key}`)

/** Tells whether a flag is followed by its value; a flag of a true-or-false setting may stand alone. */
export function takesValue(name: string): boolean {
  const alias = Object.hasOwn(aliases, name) ? aliases[name] : undefined
  return alias?.value === undefined
}

/** Flags after the command's name: `--section.key value`, `--section.key=value`; a list repeats its flag. */
export function readFlags(
  argv: readonly string[],
  report: Report,
): {
  readonly layer: Layer
  readonly configFile: string | undefined
  /** Settings that are given twice, a sentence each. */
  readonly repeated: readonly string[]
} {
  const layer: MutableLayer = new Map()
  const repeated: string[] = []
  let configFile: string | undefined
  for (let at = 0; at < argv.length; at++) {
    const argument = argv[at] ?? ''
    if (!argument.startsWith('--')) {
      report(`${argument}: unexpected argument; write a setting as --section.key value.`)
      continue
    }
    const equals = argument.indexOf('=')
    const name = argument.slice(2, equals < 0 ? undefined : equals)
    const alias = Object.hasOwn(aliases, name) ? aliases[name] : undefined
    const entry = settingNamed(alias?.key ?? name)
    if (entry === undefined && name !== 'config') {
      const own = accountKeyOf(name)
      const problem = own === undefined ? undefined : accountKeyProblem(own)
      report(
        problem === undefined
          ? `--${name}: no such flag.${didYouMean(`--${name}`, flagNames)}`
          : `--${name}: ${problem}`,
      )
      const next = argv[at + 1]
      if (equals < 0 && next !== undefined && !next.startsWith('--')) at++
      continue
    }
    let text = alias?.value ?? (equals < 0 ? undefined : argument.slice(equals + 1))
    if (text === undefined) {
      const next = argv[at + 1]
      if (next === undefined || next.startsWith('--')) {
        if (entry?.reads.expected === 'true or false') {
          text = 'true'
        } else {
          report(`--${name}: its value is missing; expected ${entry?.reads.expected ?? 'a path'}.`)
          continue
        }
      } else {
        text = next
        at++
      }
    }
    if (entry === undefined) {
      if (text.trim() === '') report(`--${name}: its value is empty; expected a path.`)
      else {
        if (configFile !== undefined && configFile !== text)
          repeated.push(`--${name} is given twice, as ${configFile} and as ${text}: the last one applies.`)
        configFile = text
      }
      continue
    }
    const origin = `flag --${name}`
    const value = entry.reads.readText(text)
    if (value === undefined) {
      report(misfit(origin, entry, text))
      continue
    }
    const earlier = layer.get(entry.key)?.value
    const isList = Array.isArray(earlier) && Array.isArray(value)
    // A wrapper may set what is set behind it anew; whoever did not mean that reads of it.
    if (earlier !== undefined && !isList && earlier !== value) {
      repeated.push(
        `--${name} is given twice, as ${shownOf(entry, earlier)} and as ${shownOf(entry, value)}: the last one applies.`,
      )
    }
    const joined = isList ? [...earlier, ...value] : value
    layer.set(entry.key, { value: joined, origin })
  }
  return { layer, configFile, repeated }
}

const spelling = (word: string): string => word.replaceAll('_', '').toLowerCase()
const byVariable = new Map(settings.map((entry) => [spelling(variableOf(entry.key)), entry]))
const configVariable = 'PERPD__CONFIG'

/** Environment variables `PERPD__SECTION__KEY`; letter case and single underscores inside a word do not matter. */
export function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  report: Report,
): { readonly layer: Layer; readonly configFile: string | undefined } {
  const layer: MutableLayer = new Map()
  let configFile: string | undefined
  for (const variable of Object.keys(env).sort()) {
    const text = env[variable]
    if (text === undefined || !/^PERPD__/i.test(variable)) continue
    if (!variable.startsWith('PERPD__')) {
      const meant = byVariable.get(spelling(variable))
      const name = meant === undefined ? 'PERPD__SECTION__KEY' : variableOf(meant.key)
      report(`env ${variable}: write PERPD in capitals: ${name}.`)
      continue
    }
    if (variable === configVariable) {
      if (text.trim() === '') report(`env ${variable}: its value is empty; expected a path.`)
      else configFile = text
      continue
    }
    const entry = byVariable.get(spelling(variable))
    const origin = `env ${variable}`
    if (entry === undefined || variable.split('__').length !== variableOf(entry.key).split('__').length) {
      const dotted = variable
        .slice('PERPD__'.length)
        .replaceAll('__', '.')
        .replace(/_(?=[^.])/g, '')
      const meant = nearest(dotted, keys)
      report(`${origin}: no such setting.${meant === undefined ? '' : ` Did you mean ${variableOf(meant)}?`}`)
      continue
    }
    const twin = layer.get(entry.key)
    if (twin !== undefined) {
      report(`${origin}: ${entry.key} is also set by ${twin.origin}; keep only one.`)
      continue
    }
    const value = entry.reads.readText(text)
    if (value === undefined) report(misfit(origin, entry, text))
    else layer.set(entry.key, { value, origin })
  }
  return { layer, configFile }
}

/** The text without comments, as editors of settings write them: blanks in their place, so that all else stays where it is. */
function withoutComments(text: string): string {
  return text.replaceAll(/"(?:[^"\\\n]|\\.)*"|\/\/.*|\/\*[\s\S]*?\*\//g, (part) =>
    part.startsWith('"') ? part : part.replaceAll(/[^\r\n]/g, ' '),
  )
}

/**
 * A JSON file of settings, nested as the schema is; `$schema` at its top is allowed, and so are comments, as an editor of settings writes them. One that cannot be read is a problem,
 * and so is one that somebody else of this machine can change: nothing of it is looked at then.
 */
export function readFile(
  options: { readonly cwd: string; readonly file: string; readonly kind: 'file' | 'profile' },
  report: Report,
): Layer {
  const { cwd, file, kind } = options
  const layer: MutableLayer = new Map()
  const full = resolve(cwd, file)
  let parsed: unknown
  try {
    const untrusted = untrustedPart(full)
    if (untrusted !== undefined) {
      const { what, fix } = untrustedText(untrusted)
      report(`${file}: not read: ${what}. ${fix}`)
      return layer
    }
    parsed = parseStrict(withoutComments(readTextFile(full)), fileBounds, true)
  } catch (error) {
    report(
      error instanceof SyntaxError
        ? `${file}: ${jsonProblem(error)}.`
        : `${file}: cannot be read: ${reasonOf(error)}`,
    )
    return layer
  }
  if (!isObject(parsed)) {
    report(`${file}: expected a JSON object of settings.`)
    return layer
  }
  const origin = kind === 'profile' ? `profile ${file}` : `file ${file}`
  for (const [section, inner] of Object.entries(parsed)) {
    if (section === '$schema') continue
    const entry = settingNamed(section)
    if (entry !== undefined) put(layer, entry, inner, origin, file, report)
    else if (section === 'accounts') readAccounts(layer, { section, inner, origin, file }, report)
    else if (isSection(section)) readSection(layer, { section, inner, origin, file }, report)
    else report(`${file}: ${section}: no such section.${didYouMean(section, sections)}`)
  }
  return layer
}

const sections: readonly string[] = [...new Set(keys.map((key) => key.split('.')[0] ?? key)), 'accounts']

function isSection(word: string): boolean {
  return keys.some((key) => key.startsWith(`${word}.`))
}

/** A part of a file: `section` is its dotted name. */
interface FilePart {
  readonly section: string
  readonly inner: unknown
  readonly origin: string
  readonly file: string
}

/** Reads `accounts`: an object of accounts, each with its sections. An account without a setting is one too. */
function readAccounts(layer: MutableLayer, from: FilePart, report: Report): void {
  const { inner, origin, file } = from
  if (!isObject(inner)) {
    report(`${file}: accounts is ${kindOf(inner)}; expected an object, a name and its settings each.`)
    return
  }
  if (Object.keys(inner).length === 0) {
    report(
      `${file}: accounts is empty; give at least one account, or remove it: account is the only one then.`,
    )
  }
  for (const [account, own] of Object.entries(inner)) {
    const section = `accounts.${account}`
    const problem = accountKeyProblem({ account, key: '' })
    if (problem !== undefined) report(`${file}: ${problem}`)
    else if (!isObject(own)) report(`${file}: ${section} is ${kindOf(own)}; expected an object of sections.`)
    else {
      layer.set(section, { value: true, origin })
      for (const [key, values] of Object.entries(own)) {
        const misplaced = accountKeyProblem({ account, key })
        if (misplaced !== undefined) report(`${file}: ${misplaced}`)
        else readSection(layer, { section: `${section}.${key}`, inner: values, origin, file }, report)
      }
    }
  }
}

function readSection(layer: MutableLayer, from: FilePart, report: Report): void {
  const { section, inner, origin, file } = from
  if (!isObject(inner)) {
    report(`${file}: ${section} is ${kindOf(inner)}; expected an object of settings.`)
    return
  }
  for (const [key, value] of Object.entries(inner)) {
    const entry = settingNamed(`${section}.${key}`)
    if (entry !== undefined) put(layer, entry, value, origin, file, report)
    else report(`${file}: ${section}.${key}: no such setting.${didYouMean(`${section}.${key}`, keys)}`)
  }
}

function put(
  layer: MutableLayer,
  entry: NamedSetting,
  written: unknown,
  origin: string,
  file: string,
  report: Report,
): void {
  const value = entry.reads.read(written)
  if (value === undefined) report(misfit(file, entry, written))
  else layer.set(entry.key, { value, origin })
}

function misfit(origin: string, entry: NamedSetting, written: unknown): string {
  const value = entry.reads.isSecret
    ? `${redactedText(written)}${placeOf(entry, written)}`
    : entry.reads.hasFields || holdsObjects(written)
      ? `none that can be used${placeOf(entry, written)}`
      : shown(written)
  return `${origin}: ${entry.key} is ${value}; expected ${entry.reads.expected}.`
}

/**
 * Which entry of a list does not fit, and which of its fields; nothing where that is not known. Values are not repeated.
 */
function placeOf({ key, reads }: NamedSetting, written: unknown): string {
  const { error } = (typeof written === 'string' ? reads.text : reads.written).safeParse(written)
  const [issue] = error?.issues ?? []
  const [index, ...path] = issue?.path ?? []
  if (issue === undefined || typeof index !== 'number') return ''
  const place = `: ${key}, entry ${index + 1}`
  const at = entryOf(written, index)
  if (!isObject(at))
    return `${place} ${reads.hasFields ? `is ${kindOf(at)}, not an object with fields` : 'does not fit'}`
  const name = typeof at.name === 'string' && /^[\w-]{1,40}$/.test(at.name) ? ` (${at.name})` : ''
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys : []
  const field = [...path, ...unknown.slice(0, 1)]
    .map((part) => (/^[\w-]{1,40}$/.test(String(part)) ? String(part) : HIDDEN))
    .join('.')
  const value = path.reduce<unknown>((inner, part) => (isObject(inner) ? inner[String(part)] : undefined), at)
  const what =
    unknown.length > 0 ? 'is not a field of its type' : value === undefined ? 'is missing' : 'does not fit'
  return `${place}${name}${field === '' ? ' does not fit' : `: ${field} ${what}`}`
}

/** An entry of a list that is written as one, as JSON (alone or as a list), or with commas between entries. */
function entryOf(written: unknown, index: number): unknown {
  if (Array.isArray(written)) return written[index]
  if (!holdsObjects(written)) return undefined
  const all: unknown = JSON.parse(String(written))
  return Array.isArray(all) ? all[index] : all
}

/** Tells whether a value has fields, or is text that stands for them: somebody may have put a secret in the place of its file. */
function holdsObjects(written: unknown): boolean {
  if (typeof written === 'string') return /^\s*[[{]/.test(written)
  return Array.isArray(written) && written.some((item) => typeof item === 'object')
}

/** A value of a setting, as far as it may be shown. */
function shownOf({ reads }: NamedSetting, value: unknown): string {
  return reads.isSecret || reads.hasFields ? HIDDEN : shown(value)
}

const HIDDEN = '[hidden]'

function redactedText(written: unknown): string {
  const items = Array.isArray(written) ? written : [written]
  return items.map((item: unknown) => (typeof item === 'string' ? redactUrl(item) : HIDDEN)).join(', ')
}

/** A value that is no secret, as JSON; addresses in it without what may be one: credentials and a query. */
function shown(value: unknown): string {
  const written = JSON.stringify(value) ?? String(value)
  const text = written
    .replaceAll(/:\/\/[^\s"]*@/g, `://${HIDDEN}@`)
    .replaceAll(/(:\/\/[^\s"?]*)\?[^\s"]*/g, `$1?${HIDDEN}`)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}

/** The JSON type of a value. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  return (
    { string: 'a text', number: 'a number', boolean: 'true or false' }[typeof value as string] ?? 'an object'
  )
}
