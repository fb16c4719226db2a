/** What of a configuration that was read anew waits for a restart: everything but limits. */
import { Secret } from '../base/secret.ts'
import { settingNamed } from '../config/configSchema.ts'
import type { LoadedConfig } from '../config/loadConfig.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'

/** A configuration with the strategies that its files make. */
export interface WholeConfiguration {
  readonly values: LoadedConfig['values']
  readonly strategies: readonly LoadedStrategy[]
}

/** Each change of `next` against what runs, a few words each: settings by name, strategies that came, went or changed. No value is shown. */
export function waitingChanges(running: WholeConfiguration, next: WholeConfiguration): readonly string[] {
  const settings = Object.keys(next.values).filter(
    (key) => settingNamed(key)?.isLimit !== true && textOf(running.values[key]) !== textOf(next.values[key]),
  )
  const before = new Map(running.strategies.map((each) => [each.name, each]))
  const after = new Map(next.strategies.map((each) => [each.name, each]))
  return [
    ...settings,
    ...[...after.keys()].filter((name) => !before.has(name)).map((name) => `strategy ${name} is new`),
    ...[...before.keys()]
      .filter((name) => !after.has(name))
      .map((name) => `strategy ${name} is disabled or gone`),
    ...[...after].flatMap(([name, { strategy: kind, hosted, ...now }]) => {
      const was = before.get(name)
      if (was === undefined) return []
      const changed: readonly string[] = [
        ...(was.strategy.kind === kind.kind ? [] : ['kind']),
        ...(was.hosted?.sourceHash === hosted?.sourceHash ? [] : [hosted?.path ?? 'kind']),
        ...comparedFields.filter((field) => textOf(was[field]) !== textOf(now[field])),
      ]
      return changed.length === 0 ? [] : [`strategy ${name} (${changed.join(', ')})`]
    }),
  ]
}

const comparedFields = [
  'symbols',
  'params',
  'instance',
  'cadenceMs',
  'warnings',
  'slippageBps',
  'orderExpiryMs',
] as const satisfies readonly (keyof LoadedStrategy)[]

function textOf(value: unknown): string {
  const plain = Array.isArray(value) ? value.map(revealed) : revealed(value)
  return JSON.stringify(plain, (_key, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each)) ?? ''
}

/** A secret is compared and never shown. */
function revealed(value: unknown): unknown {
  return value instanceof Secret ? value.reveal() : value
}
