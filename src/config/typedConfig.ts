/** From checked values to the typed configuration: what each setting is in the code, and what stands on several of them. Frozen. */
import { resolve } from 'node:path'
import { type Section, typedSection } from '../protocol/settings/setting.ts'
import { type RawConfig, schema, type TypedSections } from './configSchema.ts'
import { accountOf } from './sections/accountSection.ts'
import { controlOf } from './sections/daemonSection.ts'
import { signingOf } from './sections/ordersSection.ts'
import { breakersOf, deskOf, riskOf } from './sections/riskSection.ts'

/** The profile that trades play money. */
const paperProfile = 'paper'

/**
 * The typed configuration of values that fit the schema. Relative paths are resolved against `cwd`. Frozen.
 *
 * @param accountName the account of several that the values are of; absent: they are the process's.
 */
export function typedConfig(raw: RawConfig, cwd: string, accountName?: string) {
  const profile = String(raw.profile)
  const read = sectionsOf(raw, (path) => resolve(cwd, path.replaceAll('{profile}', profile)))
  const { rpc, journal, cluster, strategies, execution, evidence, api, notify, log, otel, history } = read
  const { chain, apiHosts, oracleHosts } = read.venue
  const isPaper = profile === paperProfile
  const own = (given: readonly string[], chainHosts: readonly string[]): readonly string[] =>
    given.length > 0 || isPaper ? given : chainHosts
  const risk = riskOf(read.risk)
  return deepFreeze({
    profile,
    /** Name of the account where a process has several; undefined: it has one without a name, or these are the values that all share. */
    accountName,
    /** True for the paper profile: play money, a throwaway key, only hosts of this machine. */
    isPaper,
    /** True when the daemon serves its own paper venue: the paper profile without hosts of its own. */
    embedsVenue: isPaper && apiHosts.length === 0 && oracleHosts.length === 0,
    /** Hosts are empty exactly when `embedsVenue`. */
    venue: {
      chain,
      apiHosts: own(apiHosts, chain.hosts.api),
      oracleHosts: own(oracleHosts, chain.hosts.oracle),
    },
    rpc,
    account: accountOf(read.account),
    journal,
    cluster,
    strategies,
    /** Limits of the whole account; a strategy's own may only tighten them. And limits of single markets, by symbol. */
    ...risk,
    /** Limits of all accounts of the process together, those that are set. */
    desk: deskOf(read.desk),
    breakers: breakersOf(read.breakers),
    execution,
    signing: signingOf(read.signing, { chain, ...risk.limits }),
    evidence,
    api,
    /** Chains: the daemon's own first. */
    paper: { ...read.paper, chains: [...new Set([chain, ...read.paper.chains])] },
    control: controlOf(read.control),
    notify,
    log,
    otel,
    history,
  })
}

/** Returns each section as the code reads it, by its settings alone. */
function sectionsOf(raw: RawConfig, locate: (path: string) => string): TypedSections {
  const { profile: _profile, ...sections } = schema
  return Object.fromEntries(
    Object.entries<Section>(sections).map(([name, section]) => [
      name,
      typedSection(section, raw[name as keyof typeof sections], locate),
    ]),
  ) as unknown as TypedSections
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) deepFreeze(inner)
  }
  return value
}
