/**
 * Every setting there is, section by section, and what is derived from one: its names as a flag and as an environment variable,
 * and the convict schema in which the layers are put over each other.
 */
import convict from 'convict'
import { type Setting, setting, type Typed, type TypeOf, type Value } from '../protocol/settings/setting.ts'
import { accountKeyOf, accountKeyProblem } from './accountNames.ts'
import { account } from './sections/accountSection.ts'
import { cluster } from './sections/clusterSection.ts'
import { control, journal, log, strategies } from './sections/daemonSection.ts'
import { paper } from './sections/embeddedVenueSection.ts'
import * as as from './sections/formats.ts'
import { history } from './sections/historySection.ts'
import { notify } from './sections/notifySection.ts'
import { execution, signing } from './sections/ordersSection.ts'
import { breakers, desk, risk } from './sections/riskSection.ts'
import { otel } from './sections/traceSection.ts'
import { api, evidence, rpc, venue } from './sections/venueSection.ts'

/** The schema. `{profile}` in a path stands for the profile's name. */
export const schema = {
  profile: setting(
    as.name,
    'paper',
    'Profile file to start from. `paper` trades play money on a venue inside the daemon; the others trade real money.',
  ),
  venue,
  rpc,
  account,
  journal,
  cluster,
  strategies,
  risk,
  desk,
  breakers,
  execution,
  signing,
  evidence,
  api,
  paper,
  control,
  notify,
  log,
  otel,
  history,
}

type Schema = typeof schema

/** All values in their normal form, nested as the schema is. */
export type RawConfig = {
  readonly [K in keyof Schema]: Schema[K] extends Setting ? Value : { readonly [P in keyof Schema[K]]: Value }
}

/** Values of each section as the code reads them, derived from the settings. */
export type TypedSections = {
  readonly [K in Exclude<keyof Schema, 'profile'>]: Typed<Schema[K]>
} & { readonly profile: TypeOf<Schema['profile']> }

/** One setting with its dotted name. */
export interface NamedSetting extends Setting {
  /** `risk.maxOrderSizeUsd`. */
  readonly key: string
}

/** All settings in the schema's order. */
export const settings: readonly NamedSetting[] = Object.entries(schema).flatMap(([section, entry]) =>
  isSetting(entry)
    ? [{ key: section, ...entry }]
    : Object.entries<Setting>(entry).map(([key, leaf]) => ({ key: `${section}.${key}`, ...leaf })),
)

function isSetting(entry: object): entry is Setting {
  return 'reads' in entry
}

const byKey: ReadonlyMap<string, NamedSetting> = new Map(settings.map((entry) => [entry.key, entry]))

/** The setting of that dotted name, or undefined; one of an account, as `accounts.alpha.risk.maxOrderSizeUsd`, has its whole name. */
export function settingNamed(key: string): NamedSetting | undefined {
  const own = accountKeyOf(key)
  if (own === undefined) return byKey.get(key)
  const entry = accountKeyProblem(own) === undefined ? byKey.get(own.key) : undefined
  return entry === undefined ? undefined : { ...entry, key }
}

/** The environment variable of a setting: `risk.maxOrderSizeUsd` is `PERPD__RISK__MAX_ORDER_SIZE_USD`. */
export function variableOf(key: string): string {
  const words = key.split('.').map((part) => part.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase())
  return ['PERPD', ...words].join('__')
}

/** A convict over the schema that reads neither the process's environment nor its arguments. */
export function emptyConfig(): convict.Config<RawConfig> {
  const leafOf = ({ doc, default: initial, reads }: Setting) => ({
    doc,
    default: initial,
    format: (value: unknown): void => {
      if (reads.read(value) === undefined) throw new Error(`expected ${reads.expected}`)
    },
  })
  const tree = Object.entries(schema).map(([section, entry]) => [
    section,
    isSetting(entry)
      ? leafOf(entry)
      : Object.fromEntries(Object.entries<Setting>(entry).map(([key, leaf]) => [key, leafOf(leaf)])),
  ])
  const leaves = Object.fromEntries(tree) as convict.Schema<RawConfig>
  return convict<RawConfig>(leaves, { env: {}, args: [] })
}
