/** A configuration that was read anew, beside what runs: what of it waits for a restart, and what a start would take. */
import { Secret } from '../base/secret.ts'
import { settingNamed } from '../config/configSchema.ts'
import type { Config } from '../config/configTypes.ts'
import { ConfigError, type LoadedConfig } from '../config/loadConfig.ts'
import { type ShownSetting, shownSettings } from '../config/shownSettings.ts'
import type { StartReport, StartSetting } from '../control/console/startReport.ts'

/** Names of the settings of `next` that are not what runs. No value is shown. */
export function waitingSettings(
  running: LoadedConfig['values'],
  next: LoadedConfig['values'],
): readonly string[] {
  return differingSettings(running, next).filter((key) => settingNamed(key)?.isLimit !== true)
}

/** Names of all settings of `next` that are not what runs, limits too. */
function differingSettings(running: LoadedConfig['values'], next: LoadedConfig['values']): readonly string[] {
  return Object.keys(next).filter((key) => textOf(running[key]) !== textOf(next[key]))
}

/** A setting of the report: what it means stands in the pages of every perpd. */
function taken({ key, value, origin }: ShownSetting): StartSetting {
  return { key, value, origin }
}

/**
 * Tells what a start would take. Nothing changes.
 *
 * @param begun what this run began with
 * @param reload reads anew; a ConfigError of it is told as problems, anything else is thrown on
 */
export function nextStart(
  begun: { readonly config: Config; readonly values: LoadedConfig['values'] },
  reload: () => LoadedConfig,
): StartReport {
  const running = shownSettings({ ...begun, origins: {} }).map(taken)
  try {
    const next = reload()
    const differing = new Set(differingSettings(begun.values, next.values))
    const before = new Map(running.map(({ key, value }) => [key, value]))
    const settings = shownSettings(next).map((shown) => {
      const setting = taken(shown)
      const { key } = setting
      if (!differing.has(key)) return setting
      const by = settingNamed(key)?.isLimit === true ? ('limits' as const) : ('restart' as const)
      return { ...setting, running: { value: before.get(key), taken: by } }
    })
    return { settings, warnings: next.warnings }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { settings: running, warnings: [], problems: error.problems }
  }
}

function textOf(value: unknown): string {
  const plain = Array.isArray(value) ? value.map(revealed) : revealed(value)
  return JSON.stringify(plain, (_key, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each)) ?? ''
}

/** A secret is compared and never shown. */
function revealed(value: unknown): unknown {
  return value instanceof Secret ? value.reveal() : value
}
