/** Sources of the stats: which a question is about, how fresh they are (docs/reference/api-coverage.md A8 and A9). */
import { badFields, badRequest, type Json } from '../http/http.ts'
import type { VenueState } from '../state/venueState.ts'
import { type StatsSource, statsNetworks, statsVersions } from './statsSources.ts'

/** A source is pulled every minute. */
export const PULL_SECONDS = 60
/** More lag than this is stale. */
const STALE_SECONDS = 900

type Health = 'fresh' | 'stale' | 'missing'

/** A source and how it is now. */
export interface SourceState {
  readonly source: StatsSource
  readonly health: Health
  readonly lagSeconds: number | null
  readonly lastError: string | null
  /** Second up to which its figures go. */
  readonly asOfSeconds: number
}

/** Returns the state of a source at a moment: its usual lag, and the lag that faults add. */
export function stateOf(venueState: VenueState, source: StatsSource, nowSeconds: number): SourceState {
  const { missingSources, statsLagSeconds } = venueState.dataFaults
  if (missingSources.includes(`${source.network}:${source.version}`)) {
    return { source, health: 'missing', lagSeconds: null, lastError: 'source cannot be read', asOfSeconds: 0 }
  }
  const lagSeconds = (nowSeconds % PULL_SECONDS) + statsLagSeconds
  const isStale = lagSeconds > STALE_SECONDS
  return {
    source,
    health: isStale ? 'stale' : 'fresh',
    lagSeconds,
    lastError: isStale ? 'pull timed out' : null,
    asOfSeconds: nowSeconds,
  }
}

/** A source as answers show it. */
export function sourceJson({ source, health, lagSeconds, lastError }: SourceState): Json {
  const { network, version } = source
  return { name: `${network}-${version}`, network, version, health, lagSeconds, lastError }
}

/** Completeness of some sources: complete only when every one is fresh. */
export function metaOf(states: readonly SourceState[]): Json {
  return {
    completeness: states.every(({ health }) => health === 'fresh') ? 'complete' : 'partial',
    sources: states.map(sourceJson),
  }
}

/** Sources that the query's networks and versions name. Throws HttpFailure 400. */
export function inScope(
  venueState: VenueState,
  sources: readonly StatsSource[],
  query: URLSearchParams,
  nowSeconds: number,
): SourceState[] {
  const networks = listOf(query, 'networks', statsNetworks)
  const versions = listOf(query, 'versions', statsVersions)
  const found = sources.filter(
    ({ network, version }) =>
      (networks.length === 0 || networks.includes(network)) &&
      (versions.length === 0 || versions.includes(version)),
  )
  if (found.length === 0)
    throw badRequest('No configured source matches the requested networks and versions.')
  return found.map((source) => stateOf(venueState, source, nowSeconds))
}

function listOf(query: URLSearchParams, name: string, allowed: readonly string[]): readonly string[] {
  const values = query.getAll(name)
  for (const value of values) {
    if (allowed.includes(value)) continue
    const text = value.includes(',')
      ? `'${name}' is repeated once per value; a comma-separated list is not accepted`
      : `'${name}' must be one of ${allowed.join(', ')}`
    throw badFields({ [name]: { message: text, value } })
  }
  return values
}
