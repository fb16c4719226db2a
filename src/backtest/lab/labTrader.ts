/**
 * A trader on a lab's time with all that a run of the daemon puts around it: the guard of its key, its client of both APIs and its reader of the
 * chain, over whatever journal, road and key it is handed.
 */

import type { Api } from '../../api/client.ts'
import type { Transport } from '../../api/transport/transportTypes.ts'
import type { Clock } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import { connectChain } from '../../chain/connectEndpoints.ts'
import type { EndpointsReader } from '../../chain/endpointsReader.ts'
import { readMarket } from '../../chain/marketProof.ts'
import type { ChainNode } from '../../chain/node/node.ts'
import { createHttpTransport } from '../../chain/wire/httpTransport.ts'
import { createRpcClient, type RpcClient } from '../../chain/wire/jsonRpc.ts'
import type { Config } from '../../config/configTypes.ts'
import { apiLimitsOf, limitsOf, traderSettingsOf } from '../../daemon/runSettings.ts'
import { createTrader, type Trader, type TraderParts } from '../../daemon/trader.ts'
import { createVenueClient } from '../../daemon/venueClient.ts'
import type { Emit } from '../../domain/event.ts'
import type { GuardTable } from '../../domain/guardTable.ts'
import type { Signer } from '../../domain/signer.ts'
import type { Journal } from '../../journal/journal.ts'
import { guardedSigner, openGuard } from '../../keys/signingGuard.ts'
import { createMarketData } from '../../market/marketData.ts'
import type { Address } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import type { LoadedStrategy } from '../../strategy/files/load.ts'
import { FINALITY } from './directNode.ts'
import { directReads } from './directReads.ts'
import type { LabFetch } from './labFetch.ts'

/** Digests live this long beyond their deadline for the guard, seconds. */
const GUARD_MARGIN_SECONDS = 600

/** Whole addresses of the hosts that are asked; without endpoints of the chain the APIs alone close orders. */
export interface LabHosts {
  readonly api: readonly string[]
  readonly oracle: readonly string[]
  readonly rpc: readonly string[]
}

/** Clients around the trader once it is connected. */
export interface LabAround {
  readonly api: Api
  /** Clients of the endpoints, for single requests. */
  readonly clients: readonly RpcClient[]
}

/** Options of a lab's trader. */
export interface LabTraderOptions {
  readonly chain: Chain
  readonly config: Config
  readonly clock: Clock
  readonly hosts: LabHosts
  readonly fetch: LabFetch
  /** Even numbers in [0, 1). */
  readonly random: () => number
  readonly journal: Journal
  readonly signer: Signer
  /** Where the guard writes what was signed; absent: in memory. */
  readonly table?: GuardTable
  readonly strategies: readonly LoadedStrategy[]
  /** True when both APIs are called as the paper venue's, without a limit of requests. */
  readonly isPaper: boolean
  /** True when reads go to the venue without what a client needs for hosts that fail. */
  readonly readsDirectly?: boolean
  /** Replaces the questions to each endpoint of the chain; absent: they take the client's whole way. */
  readonly aroundNode?: (node: ChainNode) => ChainNode
  readonly emit: Emit
  readonly fatal: (error: unknown) => void
  /** Parts of the trader that this lab replaces. */
  readonly own?: (around: LabAround) => Partial<TraderParts>
}

/** A trader and what is around it; `close` ends it. */
export interface LabTrader extends LabAround {
  readonly trader: Trader
  close(): void
}

/** Makes one; `trader.start()` is the caller's. */
export function createLabTrader(options: LabTraderOptions): LabTrader {
  const { chain, config, clock, hosts, fetch, journal, strategies, emit, fatal, table } = options
  const around = (transport: Transport) => directReads(transport, { fetch, clock })
  const api = createVenueClient({
    chain,
    hosts: { ...chain.hosts, api: hosts.api, oracle: hosts.oracle },
    fetch,
    clock,
    random: options.random,
    limits: apiLimitsOf(config, options.isPaper),
    ...defined({ around: options.readsDirectly === true ? around : undefined }),
    emit,
  })
  const rpcFetch: Parameters<typeof createHttpTransport>[1] = (url, init) =>
    fetch(url, { ...init, headers: { ...init.headers } })
  const { timeoutMs } = config.rpc
  const reader: EndpointsReader | undefined =
    hosts.rpc.length === 0
      ? undefined
      : connectChain({
          http: hosts.rpc,
          ws: [],
          finality: FINALITY,
          chainId: chain.chainId,
          eventEmitter: chain.contracts.eventEmitter,
          wrappedNative: chain.contracts.wrappedNative,
          markets: chain.facts.markets,
          multicall: chain.contracts.multicall,
          timeoutMs,
          maxLogSpan: config.rpc.maxLogBlocks,
          clock,
          emit,
          fetch: rpcFetch,
          ...defined({ around: options.aroundNode }),
        })
  const clients = hosts.rpc.map((url) =>
    createRpcClient(url, createHttpTransport(url, rpcFetch), clock, { timeoutMs, batchSize: 1 }),
  )
  const guard = openGuard({
    horizonSeconds: config.signing.maxDeadlineSeconds + GUARD_MARGIN_SECONDS,
    marginSeconds: GUARD_MARGIN_SECONDS,
    exposure: { capUsd: config.signing.exposureCapUsd, windowSeconds: config.signing.exposureWindowSeconds },
    now: clock.now,
    ...(table && { table, neverLeft: ({ intentId, digest }) => !journal.hasArmed(intentId, digest) }),
  })
  const proveMarket = (marketToken: Address) =>
    readMarket(clients, chain, marketToken, new AbortController().signal)
  const trader = createTrader({
    market: createMarketData({
      ...{ chain, api, clock, journal, emit, fatal },
      ...defined({ prove: clients.length === 0 ? undefined : proveMarket }),
    }),
    clock,
    journal,
    ...defined({ chainReader: reader }),
    strategies,
    limits: limitsOf(config, strategies),
    settings: traderSettingsOf(config, reader === undefined ? 'api' : 'chain'),
    labels: {
      version: 'lab',
      profile: config.profile,
      journalPath: journal.path,
      evidence: 'as the lab has it',
    },
    emit,
    fatal,
    ...options.own?.({ api, clients }),
    signer: guardedSigner(options.signer, guard),
  })
  return {
    api,
    clients,
    trader,
    close() {
      trader.abort()
      reader?.close()
      guard.close()
    },
  }
}
