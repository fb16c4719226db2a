/** The paper venue with its JSON-RPC on real sockets, a chain reader over them, and a shell that closes by the chain alone. */
import { createNodeFetch } from '../../src/api/transport/nodeFetch.ts'
import { connectChain } from '../../src/chain/connectEndpoints.ts'
import type { EndpointsReader } from '../../src/chain/endpointsReader.ts'
import type { Event } from '../../src/domain/event.ts'
import type { ChainReader } from '../../src/domain/machine/chainReader.ts'
import type { Intent, IntentState } from '../../src/domain/order/intent.ts'
import type { ExecutionContext } from '../../src/execution/context/executionContext.ts'
import type { Lanes } from '../../src/execution/lanes/lane.ts'
import { createOrderManager, type OrderManager } from '../../src/execution/orderManager.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { createLocalSigner } from '../../src/keys/local.ts'
import { type ServedVenue, serveVenue } from '../../src/paper/server/serve.ts'
import type { VenueSettings } from '../../src/paper/state/settings.ts'
import { applyFaults, type Faults } from '../../src/paper/venue/venueFaults.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import type { Finality } from '../../src/protocol/chains/finality.ts'
import { usd } from '../../src/protocol/units.ts'
import { ethMarket, intentOf } from './intents.ts'
import { signingPolicy, testExecution } from './trader.ts'
import { type Between, settle, type VenueBench, venueBench } from './venue.ts'

export const signer = createLocalSigner(`0x${'11'.repeat(32)}`)

/** A venue, its chain, and what follows orders on it. */
export interface ChainBench extends VenueBench {
  readonly served: ServedVenue
  readonly reader: EndpointsReader
  readonly journal: Journal
  readonly orderManager: OrderManager
  readonly events: Event[]
  /** HTTP requests to the chain so far. */
  requests(): number
  set(faults: Partial<Faults>): void
  reorganise(blocks: number, more?: Readonly<Record<string, unknown>>): Promise<void>
  /** A shell of a new process over the same journal, with these lanes or those of the bench. */
  restart(lanes?: Lanes): OrderManager
  /** The story of an intent as it is now. */
  story(intentId: string): IntentState
  close(): Promise<void>
}

/** How a bench is made. */
export interface ChainBenchOptions {
  readonly settings?: Partial<VenueSettings>
  /** Endpoints of the venue to read: 1 or 2. */
  readonly endpoints?: number
  /** Further or other addresses of endpoints. */
  readonly http?: readonly string[]
  readonly finality?: Finality
  readonly between?: Between
  readonly context?: Partial<ExecutionContext>
  readonly reader?: (reader: ChainReader) => ChainReader
  /** Those that perpd ships when absent. */
  readonly lanes?: Lanes
}

/** Makes a bench; to be closed. Blocks come every 250 ms of the venue's clock, `safe` is a second behind. */
export async function chainBench(options: ChainBenchOptions = {}): Promise<ChainBench> {
  let inFlight = 0
  let requests = 0
  const settled = async (): Promise<void> => {
    await settle()
    while (inFlight > 0) {
      await new Promise((resolve) => setTimeout(resolve, 0))
      if (inFlight === 0) await settle()
    }
  }
  const bench = venueBench({
    settings: { orderDeadlineSeconds: 60, keeperJitterMs: 0, safeLagBlocks: 4, ...options.settings },
    settled,
    ...(options.between === undefined ? {} : { between: options.between }),
  })
  const { venue, clock } = bench
  const served = await serveVenue(venue, { hostname: '127.0.0.1', port: 0 })
  const node = createNodeFetch()
  const events: Event[] = []
  const emit = (event: Event): void => void events.push(event)
  const reader = connectChain({
    http: options.http ?? served.rpc.slice(0, options.endpoints ?? 1),
    ws: [],
    chainId: arbitrum.chainId,
    eventEmitter: arbitrum.contracts.eventEmitter,
    wrappedNative: arbitrum.contracts.wrappedNative,
    markets: arbitrum.facts.markets,
    multicall: arbitrum.contracts.multicall,
    finality: options.finality ?? 'safe',
    timeoutMs: 5_000,
    maxLogSpan: 10_000,
    clock,
    emit,
    fetch: async (url, init) => {
      inFlight += 1
      requests += 1
      try {
        return await node.fetch(url, init)
      } finally {
        inFlight -= 1
      }
    },
  })
  const journal = createMemoryJournal()
  const context = testExecution({
    api: bench.api,
    journal,
    signer,
    chainReader: options.reader?.(reader) ?? reader,
    clock,
    emit,
    rules: { source: 'chain', trustVenue: false, deadlineMarginMs: 5_000 },
    signingPolicy: () => ({
      ...signingPolicy,
      maxExecutionFee: 10n ** 17n,
      maxRelayFee: 50_000_000n,
      priceToleranceBps: 100,
    }),
    ...options.context,
  })
  return {
    ...bench,
    served,
    reader,
    journal,
    orderManager: createOrderManager(context, options.lanes),
    events,
    requests: () => requests,
    set(faults) {
      const wrong = applyFaults(venue.faults, faults)
      if (wrong !== undefined) throw new Error(wrong)
    },
    async reorganise(blocks, more = {}) {
      const body = JSON.stringify({ blocks, ...more })
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`${served.control}/reorg`, { method: 'POST', headers, body })
      if (!answer.ok) throw new Error(await answer.text())
    },
    restart: (lanes = options.lanes) => createOrderManager(context, lanes),
    story(intentId) {
      const state = journal.recentIntent(intentId)
      if (state === undefined) throw new Error(`no intent ${intentId}`)
      return state
    },
    async close() {
      reader.close()
      node.close()
      await served.close()
    },
  }
}

/** An increase of the bench's account at the newest price, still to be accepted. */
export async function increaseIn(
  { api, clock }: Pick<ChainBench, 'api' | 'clock'>,
  parts: Partial<Intent> = {},
): Promise<Intent> {
  const ticker = (await api.getMarketTickers({ addresses: [ethMarket] })).value[0]
  return intentOf({
    account: signer.address,
    acceptedAtMs: clock.now(),
    expiresAtMs: clock.now() + 30_000,
    ...parts,
    terms: { ...intentOf().terms, referencePrice: ticker?.maxPrice ?? usd(0), ...parts.terms },
  })
}

/** The labels that orders moved to, in their order. */
export const labels = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'order.moved' ? [event.to] : []))
