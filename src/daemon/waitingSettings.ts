/** What of a configuration that was read anew waits for a restart: every setting but limits. */
import { Secret } from '../base/secret.ts'
import { settingNamed } from '../config/configSchema.ts'
import type { LoadedConfig } from '../config/loadConfig.ts'

/** Names of the settings of `next` that are not what runs. No value is shown. */
export function waitingSettings(
  running: LoadedConfig['values'],
  next: LoadedConfig['values'],
): readonly string[] {
  return Object.keys(next).filter(
    (key) => settingNamed(key)?.isLimit !== true && textOf(running[key]) !== textOf(next[key]),
  )
}

function textOf(value: unknown): string {
  const plain = Array.isArray(value) ? value.map(revealed) : revealed(value)
  return JSON.stringify(plain, (_key, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each)) ?? ''
}

/** A secret is compared and never shown. */
function revealed(value: unknown): unknown {
  return value instanceof Secret ? value.reveal() : value
}
