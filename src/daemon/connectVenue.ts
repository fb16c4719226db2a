/** The connections of a run to the venue and to the chain. All accounts of a process share them, so that what several ask at once is one request. */
import type { Api } from '../api/client.ts'
import type { NodeFetch } from '../api/transport/nodeFetch.ts'
import type { Clock } from '../base/clock.ts'
import { systemClock } from '../base/systemClock.ts'
import type { RpcClient } from '../chain/wire/jsonRpc.ts'
import type { Config } from '../config/configTypes.ts'
import type { Emit } from '../domain/event.ts'
import type { ChainReader } from '../domain/machine/chainReader.ts'
import { hostsSkewMs } from '../execution/clock/hostsClock.ts'
import type { StartedVenue } from './embeddedVenue.ts'
import { connect } from './evidence/connectChain.ts'
import { chooseEvidence, type EvidenceChoice } from './evidence/evidenceSource.ts'
import { rpcClients } from './evidence/rpcClients.ts'
import { apiLimitsOf } from './runSettings.ts'
import { createVenueClient } from './venueClient.ts'

/** Hosts that are asked. */
export interface VenueHosts {
  readonly api: readonly string[]
  readonly oracle: readonly string[]
}

/** Connections to the venue and to the chain. */
export interface VenueConnection {
  readonly hosts: VenueHosts
  readonly fetch: NodeFetch['fetch']
  readonly api: Api
  readonly evidence: EvidenceChoice
  /** Absent: the APIs alone close orders. */
  readonly chainReader: ChainReader | undefined
  /** One client an HTTP endpoint, for single questions. */
  readonly clients: readonly RpcClient[]
  /** Returns the lead of the hosts' clocks over `clock`, ms; undefined before any was heard. */
  readonly hostsSkewMs: () => number | undefined
}

/** Parts over which a run connects. */
export interface VenueConnectionParts {
  readonly hosts: VenueHosts
  readonly fetch: NodeFetch['fetch']
  /** The venue inside this process; undefined: it is elsewhere. */
  readonly venue: StartedVenue | undefined
  readonly clock: Clock
  readonly emit: Emit
  /** Closers to call at the end, the last first. */
  readonly closers: (() => Promise<void> | void)[]
}

/** Returns the hosts of the embedded venue, or the configured ones. */
export function hostsOf(
  { venue: { apiHosts, oracleHosts } }: Config,
  venue: StartedVenue | undefined,
): VenueHosts {
  return { api: venue?.hosts.api ?? apiHosts, oracle: venue?.hosts.oracle ?? oracleHosts }
}

/**
 * Connects to the venue and to the chain; no order is made.
 *
 * @throws CommandError when an endpoint serves another chain
 */
export async function connectVenue(
  config: Config,
  { hosts, fetch, venue, clock, emit, closers }: VenueConnectionParts,
): Promise<VenueConnection> {
  const { chain } = config.venue
  const api = createVenueClient({
    chain,
    hosts,
    fetch,
    clock,
    random: Math.random,
    limits: apiLimitsOf(config, venue !== undefined),
    emit,
  })
  const evidence = chooseEvidence(config, venue?.chains[chain.name])
  const chainReader = await connect(config, evidence, { clock, emit, fetch }, closers)
  const clients = rpcClients(evidence, config.rpc.timeoutMs, fetch)
  return {
    ...{ hosts, fetch, api, evidence, chainReader, clients },
    hostsSkewMs: () => hostsSkewMs(api),
  }
}

/** Returns how far the hosts' clocks are ahead of this machine's, ms; undefined before any was heard. */
export function hostsAheadMs({ hostsSkewMs }: VenueConnection, clock: Clock): number | undefined {
  const skewMs = hostsSkewMs()
  return skewMs === undefined ? undefined : skewMs + clock.now() - systemClock.now()
}
