/**
 * What a trader on simulated time has around it in a day and in a month: its journal, the guard of its key, its client of both APIs and its
 * reader of the chain, wired as src/daemon/run.ts does it, before a venue in this process.
 */
import { join } from 'node:path'
import type { Api } from '../../src/api/client.ts'
import type { Fetch } from '../../src/api/transport/route.ts'
import type { Clock } from '../../src/base/clock.ts'
import { connectChain } from '../../src/chain/connectEndpoints.ts'
import type { EndpointsReader } from '../../src/chain/endpointsReader.ts'
import { createHttpTransport } from '../../src/chain/rpc/httpTransport.ts'
import { createRpcClient, type RpcClient } from '../../src/chain/rpc/jsonRpc.ts'
import type { Config } from '../../src/config/configTypes.ts'
import { apiLimitsOf } from '../../src/daemon/runSettings.ts'
import { createVenueClient } from '../../src/daemon/venueClient.ts'
import type { Emit } from '../../src/domain/event.ts'
import type { Signer } from '../../src/domain/signer.ts'
import { createSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { guardedSigner, openGuard } from '../../src/keys/signingGuard.ts'
import type { Venue } from '../../src/paper/server/venue.ts'
import type { Chain } from '../../src/protocol/chains/chain.ts'
import { randomOf } from '../simulation/random.ts'
import { ORIGIN } from './road.ts'
import type { DayTime } from './time.ts'

/** What it is made from. */
export interface AroundOptions {
  readonly folder: string
  readonly seed: number
  readonly time: DayTime
  readonly clock: Clock
  readonly chain: Chain
  /** The first two hosts of each API are asked. */
  readonly paths: Venue['paths']
  /** How many endpoints of the chain are asked. */
  readonly endpoints: number
  readonly fetch: Fetch
  readonly config: Config
  /** Whether both APIs are asked as the paper venue's. */
  readonly isPaper: boolean
  readonly signer: Signer
  readonly emit: Emit
}

/** All of it; `close` comes after the trader's end. */
export interface AroundTrader {
  readonly journal: ReturnType<typeof createSqliteJournal>
  readonly api: Api
  readonly reader: EndpointsReader
  /** Of the same endpoints, for single questions. */
  readonly clients: readonly RpcClient[]
  /** Signs what the guard lets through. */
  readonly guarded: (signer: Signer) => Signer
  /** Told what stops the daemon. */
  readonly fatal: (error: unknown) => void
  /** Lives on until then. Throws what stopped the daemon. */
  readonly until: (atMs: number) => Promise<void>
  readonly close: () => Promise<void>
}

/** Makes it. */
export function aroundTrader(options: AroundOptions): AroundTrader {
  const { folder, seed, time, clock, chain, paths, fetch, config, signer, emit } = options
  const died = Promise.withResolvers<never>()
  died.promise.catch(() => undefined)
  const journal = createSqliteJournal({
    path: join(folder, 'journal.db'),
    clockNow: clock.now,
    holder: signer.address,
    freeBytes: () => 2 ** 40,
  })
  const guard = openGuard({
    horizonSeconds: config.signing.maxDeadlineSeconds + 600,
    marginSeconds: 600,
    exposure: {
      capUsd: config.signing.exposureCapUsd,
      windowSeconds: config.signing.exposureWindowSeconds,
    },
    now: clock.now,
  })
  const api = createVenueClient({
    chain,
    hosts: {
      api: paths.api.slice(0, 2).map((path) => ORIGIN + path),
      oracle: paths.oracle.slice(0, 2).map((path) => ORIGIN + path),
    },
    fetch,
    clock,
    random: randomOf(seed, 'client').next,
    limits: apiLimitsOf(config, options.isPaper),
    emit,
  })
  const http = paths.rpc.slice(0, options.endpoints).map((path) => ORIGIN + path)
  const rpcFetch: Parameters<typeof createHttpTransport>[1] = (url, init) =>
    fetch(url, { ...init, headers: { ...init.headers } })
  const reader = connectChain({
    http,
    ws: [],
    finality: 'safe',
    chainId: chain.chainId,
    eventEmitter: chain.contracts.eventEmitter,
    wrappedNative: chain.contracts.wrappedNative,
    markets: chain.facts.markets,
    multicall: chain.contracts.multicall,
    timeoutMs: config.rpc.timeoutMs,
    maxLogSpan: config.rpc.maxLogBlocks,
    clock,
    emit,
    fetch: rpcFetch,
  })
  const clients = http.map((url) =>
    createRpcClient(url, createHttpTransport(url, rpcFetch), clock, {
      timeoutMs: config.rpc.timeoutMs,
      batchSize: 1,
    }),
  )
  return {
    journal,
    api,
    reader,
    clients,
    guarded: (each) => guardedSigner(each, guard),
    fatal: (error) => died.reject(error),
    until: async (atMs) => {
      await Promise.race([time.runTo(atMs), died.promise])
    },
    close: async () => {
      reader.close()
      guard.close()
      await journal.close()
    },
  }
}
