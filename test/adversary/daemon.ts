/** The real daemon on a simulated clock, with the settings of a live profile. */
import type { Fetch } from '../../src/api/transport/route.ts'
import type { Clock } from '../../src/base/clock.ts'
import { connectChain } from '../../src/chain/connectEndpoints.ts'
import { readMarket } from '../../src/chain/marketProof.ts'
import { createHttpTransport } from '../../src/chain/rpc/httpTransport.ts'
import { createRpcClient } from '../../src/chain/rpc/jsonRpc.ts'
import type { Config } from '../../src/config/configTypes.ts'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { limitsOf, traderSettingsOf } from '../../src/daemon/runSettings.ts'
import { createTrader } from '../../src/daemon/trader.ts'
import { createVenueClient } from '../../src/daemon/venueClient.ts'
import type { Event } from '../../src/domain/event.ts'
import type { OpenGuardTable } from '../../src/domain/guardTable.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { createLocalSigner } from '../../src/keys/local.ts'
import { guardedSigner, openGuard } from '../../src/keys/signingGuard.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'

const signer = createLocalSigner(`0x${'11'.repeat(32)}`)

/** The account that is traded, and whose key signs. */
export const account = signer.address

/** What a daemon is made of here. */
export interface DaemonParts {
  readonly config: Config
  readonly clock: Clock
  readonly random: () => number
  readonly fetch: Fetch
  readonly apiHosts: readonly string[]
  readonly oracleHosts: readonly string[]
  /** Endpoints of the chain; none: the APIs alone close orders. */
  readonly endpoints: readonly string[]
  readonly strategies: readonly LoadedStrategy[]
  readonly emit: (event: Event) => void
  readonly fatal: (error: unknown) => void
  /** Where its journal and the table of its guard are; absent: in memory. */
  readonly files?: { readonly journal: Journal; readonly openTable: OpenGuardTable }
}

/** A daemon. */
export interface RunningDaemon {
  readonly engine: Engine
  readonly journal: Journal
  close(): void
}

const configs = new Map<string, Config>()

/** The settings of the shipped profile of Arbitrum, with these flags on top. */
export function liveConfig(flags: readonly string[] = []): Config {
  const key = flags.join(' ')
  const known = configs.get(key)
  if (known !== undefined) return known
  // No folder: nothing of this machine is read.
  const { config } = loadConfig({ argv: ['--profile', 'arbitrum', ...flags], env: {}, cwd: '/nonexistent' })
  configs.set(key, config)
  return config
}

/** Makes a daemon; `engine.start()` is the caller's. */
export function createDaemon(parts: DaemonParts): RunningDaemon {
  const { config, clock, fetch, emit, fatal, strategies } = parts
  const { chain } = config.venue
  const journal = parts.files?.journal ?? createMemoryJournal()
  const api = createVenueClient({
    chain,
    hosts: { ...chain.hosts, api: parts.apiHosts, oracle: parts.oracleHosts },
    fetch,
    clock,
    random: parts.random,
    limits: { ...config.api, requestsPerSecondPerHost: Number.POSITIVE_INFINITY },
    emit,
  })
  const reader =
    parts.endpoints.length === 0
      ? undefined
      : connectChain({
          http: parts.endpoints,
          ws: [],
          chainId: chain.chainId,
          eventEmitter: chain.contracts.eventEmitter,
          wrappedNative: chain.contracts.wrappedNative,
          markets: chain.facts.markets,
          multicall: chain.contracts.multicall,
          finality: 'safe',
          timeoutMs: config.rpc.timeoutMs,
          maxLogSpan: config.rpc.maxLogBlocks,
          clock,
          emit,
          fetch,
        })
  const clients = parts.endpoints.map((url, index) =>
    createRpcClient(`rpc/${index}`, createHttpTransport(url, fetch), clock, {
      timeoutMs: config.rpc.timeoutMs,
      batchSize: 1,
    }),
  )
  const guard = openGuard({
    horizonSeconds: config.signing.maxDeadlineSeconds + 600,
    marginSeconds: 600,
    exposure: {
      capUsd: config.signing.exposureCapUsd,
      windowSeconds: config.signing.exposureWindowSeconds,
    },
    now: clock.now,
    ...(parts.files === undefined
      ? {}
      : {
          openTable: parts.files.openTable,
          neverLeft: ({ intentId, digest }) => !journal.hasArmed(intentId, digest),
        }),
  })
  const trader = createTrader({
    chain,
    api,
    clock,
    journal,
    signer: guardedSigner(signer, guard),
    ...(reader === undefined ? {} : { chainReader: reader }),
    ...(clients.length === 0
      ? {}
      : {
          proveMarket: (marketToken) => readMarket(clients, chain, marketToken, new AbortController().signal),
        }),
    strategies,
    limits: limitsOf(config, strategies),
    settings: traderSettingsOf(config, reader === undefined ? 'api' : 'chain'),
    labels: {
      version: 'adversary',
      profile: config.profile,
      journalPath: 'memory:',
      evidence: 'as the world has it',
    },
    emit,
    fatal,
  })
  return {
    engine: trader,
    journal,
    close() {
      trader.abort()
      reader?.close()
    },
  }
}

/** The chain that is traded on. */
export const chain = arbitrum
