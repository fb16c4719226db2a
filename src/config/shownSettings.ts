/** The effective configuration as people are shown it: each value with its origin and meaning, secrets never. */
import { defined } from '../base/defined.ts'
import { Secret } from '../base/secret.ts'
import { redactUrl } from '../monitor/log/redact.ts'
import type { Unit } from '../protocol/settings/setting.ts'
import { settings, variableOf } from './configSchema.ts'
import type { LoadedConfig } from './loadConfig.ts'

/** One setting as it is shown. */
export interface ShownSetting {
  readonly key: string
  readonly value: unknown
  readonly origin: string
  /** Value where nothing sets it. */
  readonly default: unknown
  /** Absent: it has none. */
  readonly unit?: Unit
  /** Form and range of a good value. */
  readonly expected: string
  /** Its sentence in the schema. */
  readonly meaning: string
  /** Environment variable that sets it. */
  readonly variable: string
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
  return settings.map(({ key, reads, doc, default: initial }) => {
    const value = loaded.values[key]
    const { unit, expected, isSecret } = reads
    return {
      key,
      value: isSecret ? hidden(value) : named(value, loaded.config.profile),
      origin: loaded.origins[key] ?? '',
      default: named(initial, loaded.config.profile),
      ...defined({ unit }),
      expected,
      meaning: doc,
      variable: variableOf(key),
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
