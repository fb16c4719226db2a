/** `perpd config`: the effective configuration, each value with its origin. Secrets are never shown. */
import { Secret } from '../../base/secret.ts'
import { settings } from '../../config/configSchema.ts'
import { exitCodes } from '../../config/exit.ts'
import type { LoadedConfig } from '../../config/loadConfig.ts'
import { redactUrl } from '../../monitor/log/redact.ts'
import type { Call } from '../call/command.ts'
import { columns } from '../output/table.ts'

/** One setting as it is shown. */
export interface ShownSetting {
  readonly key: string
  readonly value: unknown
  readonly origin: string
}

/** All settings with their values, secrets hidden, in the schema's order. */
export function shownSettings(loaded: LoadedConfig): readonly ShownSetting[] {
  return settings.map(({ key, reads }) => {
    const value = loaded.values[key]
    return {
      key,
      value: reads.isSecret ? hidden(value) : named(value, loaded),
      origin: loaded.origins[key] ?? '',
    }
  })
}

function hidden(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hidden)
  return value instanceof Secret ? redactUrl(value.reveal()) : value
}

function named(value: unknown, loaded: LoadedConfig): unknown {
  return typeof value === 'string' ? value.replaceAll('{profile}', loaded.config.profile) : value
}

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
    out('Each setting, its value, and where that comes from when it is not the default.\n')
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
