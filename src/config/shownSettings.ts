/** The effective configuration as people are shown it: each value with its origin, secrets never. */
import { Secret } from '../base/secret.ts'
import { redactUrl } from '../monitor/log/redact.ts'
import { settings } from './configSchema.ts'
import type { LoadedConfig } from './loadConfig.ts'

/** One setting as it is shown. */
export interface ShownSetting {
  readonly key: string
  readonly value: unknown
  readonly origin: string
}

/** All settings with their values, secrets hidden, in the schema's order. */
export function shownSettings(
  loaded: {
    readonly values: Readonly<Record<string, unknown>>
    readonly origins: Readonly<Record<string, string>>
  } & {
    readonly config: Pick<LoadedConfig['config'], 'profile'>
  },
): readonly ShownSetting[] {
  return settings.map(({ key, reads }) => {
    const value = loaded.values[key]
    return {
      key,
      value: reads.isSecret ? hidden(value) : named(value, loaded.config.profile),
      origin: loaded.origins[key] ?? '',
    }
  })
}

function hidden(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hidden)
  if (!(value instanceof Secret)) return value
  const text = value.reveal()
  return text === '' ? '' : redactUrl(text)
}

function named(value: unknown, profile: string): unknown {
  return typeof value === 'string' ? value.replaceAll('{profile}', profile) : value
}
