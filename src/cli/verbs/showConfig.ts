/** `perpd config`: the effective configuration, each value with its origin; named settings with all that is known of them. Secrets are never shown. */
import { CommandError, exitCodes } from '../../config/exit.ts'
import { type ShownSetting, shownSettings } from '../../config/shownSettings.ts'
import { didYouMean } from '../../config/suggest.ts'
import type { Call } from '../call/command.ts'
import { columns } from '../output/table.ts'

/** Prints the effective configuration, as text or with `--json`; with a name only that setting or section. */
export async function showConfig(call: Call): Promise<number> {
  const { loaded, flags, positionals, width, out, err } = call
  const search = flags.get('search')
  const [name] = positionals
  if (name !== undefined) {
    if (search !== undefined)
      throw new CommandError('Give a name or --search, not both.', exitCodes.configuration)
    return showNamed(call, name)
  }
  const wanted = typeof search === 'string' ? search.trim().toLowerCase() : ''
  const shown = shownSettings(loaded).filter(({ key }) => key.toLowerCase().includes(wanted))
  if (shown.length === 0) {
    out(`No setting has ${wanted} in its name.`)
    return exitCodes.notFound
  }
  if (flags.has('json')) {
    const body = Object.fromEntries(shown.map(({ key, value, origin }) => [key, { value, origin }]))
    out(JSON.stringify({ settings: body, warnings: loaded.warnings }, undefined, 2))
    return exitCodes.ok
  }
  const rows = shown.map(({ key, value, origin }) => [key, textOf(value), origin])
  const whole = columns(rows)
  if (whole.split('\n').every((line) => line.length <= width)) out(whole)
  else {
    // On a narrow screen only what is not a default says where it comes from.
    out('Each setting with its value, and its source when it is not the default.\n')
    out(
      columns(
        rows.map(([key = '', value = '', origin]) => [
          key,
          origin === 'default' ? value : `${value} (${origin})`,
        ]),
      ),
    )
  }
  for (const warning of loaded.warnings) err(`warning: ${warning}`)
  return exitCodes.ok
}

/** Prints one setting, or each one of a section. Throws CommandError where nothing has that name. */
function showNamed({ loaded, flags, out, err }: Call, name: string): number {
  const all = shownSettings(loaded)
  const wanted = name.trim().toLowerCase()
  const found = all.filter(
    ({ key }) => key.toLowerCase() === wanted || sectionOf(key).toLowerCase() === wanted,
  )
  if (found.length === 0) {
    const known = [...all.map(({ key }) => key), ...new Set(all.map(({ key }) => sectionOf(key)))]
    throw new CommandError(
      `perpd has no setting and no section ${name}.${didYouMean(name, known)} All: perpd config`,
      exitCodes.notFound,
    )
  }
  if (flags.has('json')) {
    const body = Object.fromEntries(found.map(({ key, unit = null, ...facts }) => [key, { ...facts, unit }]))
    out(JSON.stringify({ settings: body, warnings: loaded.warnings }, undefined, 2))
    return exitCodes.ok
  }
  out(found.map(factsOf).join('\n\n'))
  for (const warning of loaded.warnings) err(`warning: ${warning}`)
  return exitCodes.ok
}

/** The name before the dot; the whole name of a setting without a section. */
function sectionOf(key: string): string {
  return key.split('.')[0] ?? key
}

function factsOf(setting: ShownSetting): string {
  const { key, meaning, unit = '(none)', expected, value, origin, variable } = setting
  const rows = [
    ['meaning', meaning],
    ['unit', unit],
    ['range', expected],
    ['value', textOf(value)],
    ['origin', origin],
    ['default', textOf(setting.default)],
    ['variable', variable],
  ]
  return `${key}\n${columns(rows, '  ')}`
}

function textOf(value: unknown): string {
  if (Array.isArray(value))
    return value.length === 0
      ? '(none)'
      : value.map((item) => (typeof item === 'string' ? item : JSON.stringify(item))).join(', ')
  return value === '' ? '(none)' : String(value)
}
