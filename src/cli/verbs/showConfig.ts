/** `perpd config`: the effective configuration, each value with its origin. Secrets are never shown. */
import { exitCodes } from '../../config/exit.ts'
import { shownSettings } from '../../config/shownSettings.ts'
import type { Call } from '../call/command.ts'
import { columns } from '../output/table.ts'

/** Prints the effective configuration, as text or with `--json`. */
export async function showConfig({ loaded, flags, width, out, err }: Call): Promise<number> {
  const search = flags.get('search')
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

function textOf(value: unknown): string {
  if (Array.isArray(value))
    return value.length === 0
      ? '(none)'
      : value.map((item) => (typeof item === 'string' ? item : JSON.stringify(item))).join(', ')
  return value === '' ? '(none)' : String(value)
}
