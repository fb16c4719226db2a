/**
 * The paper venue: one venue, several hosts. `fetch` answers as all of them, told apart by a path prefix:
 * `/oracle/0` (primary), `/oracle/1`, `/oracle/2` (fallbacks), `/api/0/v1`, `/api/1/v1` (equal peers), and `/__control`,
 * which is no part of the wire. `/rpc` is the chain's JSON-RPC endpoint, `/ws` the same over WebSocket.
 */
import type { Clock } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import { createOnwardClock } from '../../base/onwardClock.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import { changesAnswers } from '../http/answerShape.ts'
import { createResponseCache } from '../http/responseCache.ts'
import { createWireFaults, type WireFaults } from '../http/wireFaults.ts'
import { startTraders } from '../keeper/traders.ts'
import { ledgerOf } from '../pools/ledger.ts'
import { holdFailingValues } from '../pools/marketValues.ts'
import { nextPoolLook } from '../pools/swaps.ts'
import { listingChains, STATS_CHAIN } from '../reads/readRoutes.ts'
import type { Neighbour } from '../reads/routeKit.ts'
import { readSchedule } from '../state/hours.ts'
import { RPC_ENDPOINTS, rpcPathOf } from '../state/rpcEndpoints.ts'
import { defaultVenueSettings, type VenueSettings } from '../state/settings.ts'
import { type SettledEntry, settledRecord } from '../state/submitRecord.ts'
import { createVenueState, type VenueState } from '../state/venueState.ts'
import { advanceVenue } from '../transactions/advance.ts'
import { onSent } from '../transactions/transactionPool.ts'
import { createPeer, type Peer } from '../venue/peer.ts'
import { loadState, saveState, saveStateInSlices } from '../venue/stateFile.ts'
import { createStateLog, readStateLog, replayStateLog } from '../venue/stateLog.ts'
import { type Faults, noFaults } from '../venue/venueFaults.ts'
import { ConnectionCut, type VenueParts } from '../venue/venueParts.ts'
import { createApp, type Direct, ORACLE_HOSTS, type Posted } from './app.ts'
import { reorganiseNow } from './reorgControl.ts'
import { createScenario, type ScenarioStep } from './scenario.ts'

/** Default seed: its first minutes trend in the big markets. */
export const DEFAULT_SEED = 911

/** Options of a venue. */
export interface VenueOptions {
  readonly clock: Clock
  readonly chain: Chain
  /** Repeats the same prices, delays and ids. Default 911. A saved venue keeps its own. */
  readonly seed?: number
  readonly settings?: Partial<VenueSettings>
  readonly faults?: Partial<Faults>
  /** Faults at given times after the start. Default none. */
  readonly scenario?: readonly ScenarioStep[]
  /** Where the venue is kept between runs; absent: in memory only. */
  readonly stateFile?: string
  /** False: nothing is written between two saves, so that what happened after the last one is lost with the process. Default true. */
  readonly isLogged?: boolean
  /** Unix seconds at which the prices begin; chains in step share it. Default now. A saved venue keeps its own. */
  readonly epochSeconds?: number
  /** Put before every path, as `/avalanche`, where several venues share a port. Default none. */
  readonly prefix?: string
  /** All venues of this process, once they are made: stats count their venues, and other chains' stats come from one. */
  readonly neighbours?: () => readonly Neighbour[]
}

/** A paper venue. */
export interface Venue {
  /** Answers a request to any host, by path prefix. */
  fetch(request: Request): Promise<Response>
  /** Bytes of a hot read by path that are still valid, when nothing is wrong on purpose; undefined: ask `fetch`. */
  quick(path: string): Buffer | undefined
  /** Answers bodies posted to a path as `fetch` does, while the road does nothing to requests; undefined: ask `fetch`. */
  posted(path: string): Posted | undefined
  /** Answers a read or a posted body as `fetch` does, for who is in this process, while the road does nothing to requests; undefined: ask `fetch`. */
  direct(method: string, path: string): Direct | undefined
  /** Does all work that is due at the clock's time. */
  advance(): void
  /** Every submit received, with what became of it. */
  record(): SettledEntry[]
  /** Writes the state file, when there is one and something happened. A save in slices that is under way ends without effect. */
  save(): void
  /** As `save`, of this moment, in slices between which the process serves others. At most one at a time. */
  saveInSlices(): Promise<void>
  /** True while the log since the last save is so long that the next save must not wait. */
  needsSave(): boolean
  readonly faults: Faults
  /** Faults that affect requests and responses on the way. */
  readonly wire: WireFaults
  readonly venueState: VenueState
  /** Requests that each host of the application API prepared. */
  readonly peers: readonly Peer[]
  /** Path prefixes of the hosts: oracle primary first; application peers with their version segment. */
  readonly paths: {
    readonly oracle: readonly string[]
    readonly api: readonly string[]
    /** Hosts of the pair summaries for listings, and of the Solana feed; empty where the chain has none. */
    readonly pairs: readonly string[]
    readonly solana: readonly string[]
    /** JSON-RPC over HTTP, and over WebSocket. */
    readonly rpc: readonly string[]
    readonly ws: readonly string[]
    /** Prefix of all paths of this venue; empty for a venue that has the port to itself. */
    readonly prefix: string
  }
}

const API_PEERS = 2

/** From how many characters on the log is to become part of the state file at once: half of the longest text that can be read. */
const MOST_LOGGED = 268_435_456

/**
 * Makes a venue, or goes on with the one in the state file.
 *
 * @throws BaseError PAPER_CATALOG_MISSING, PAPER_MARKET_UNKNOWN, PAPER_STATE_UNREADABLE
 */
export function createVenue(options: VenueOptions): Venue {
  const saved = options.stateFile === undefined ? undefined : loadState(options.stateFile, options.chain)
  const epochSeconds = saved?.epochSeconds ?? options.epochSeconds
  // The time of a chain is never set back, whatever happens to this machine's clock.
  const clock = createOnwardClock(options.clock, (saved?.advancedToSeconds ?? 0) * 1000)
  const prefix = options.prefix ?? ''
  const faults: Faults = { ...noFaults(), ...options.faults }
  const venueState = createVenueState({
    dataFaults: faults,
    chain: options.chain,
    clock,
    seed: saved?.seed ?? options.seed ?? DEFAULT_SEED,
    settings: {
      ...defaultVenueSettings,
      ...options.settings,
      // Its people hold positions and orders in the markets that it had.
      ...defined({ onlyMarkets: saved?.onlyMarkets }),
    },
    ...defined({ epochSeconds }),
  })
  readSchedule(venueState)
  ledgerOf(venueState)
  const loggedFile = options.isLogged === false ? undefined : options.stateFile
  const state: VenueParts = {
    venueState,
    peers: Array.from({ length: API_PEERS }, (_unused, i) => createPeer(`api/${i}`)),
    faults,
    record: [],
    log: loggedFile === undefined ? undefined : createStateLog(loggedFile),
  }
  saved?.restore(state)
  if (loggedFile !== undefined) {
    replayStateLog(readStateLog(loggedFile, saved?.logPart ?? 0), state)
    // The world's beginning is on disk before anything is logged against it.
    saveState(loggedFile, state)
  }
  const { log } = state
  if (log !== undefined) {
    onSent(venueState, (transaction) =>
      log.append({ kind: 'sent', transaction, sent: venueState.counters.sent }),
    )
  }
  startTraders(venueState, venueState.clock.now())
  const endpoints = Array.from({ length: RPC_ENDPOINTS }, (_unused, index) => index)
  // Without a log the file has nothing of this venue yet.
  let savedMoment = loggedFile === undefined ? undefined : momentOf(venueState)
  let saves = 0
  const wire = createWireFaults({
    seed: venueState.seed,
    clock,
    cut: () => {
      throw new ConnectionCut()
    },
  })
  const responseCache = createResponseCache()
  const play = createScenario(options.scenario ?? [], clock.now(), {
    faults,
    wire,
    reorganise: (order) => void reorganiseNow(venueState, order),
    forget: () => {
      holdFailingValues(venueState, clock.now())
      responseCache.forget()
    },
  })
  play(clock.now())
  const app = createApp({ state, prefix, wire, responseCache, neighbours: options.neighbours ?? (() => []) })
  return {
    fetch: async (request) => {
      play(clock.now())
      return wire.around(request, prefix, async (one) => app.fetch(one))
    },
    quick: (path) => {
      const nowMs = clock.now()
      play(nowMs)
      if (wire.rules.length > 0 || faults.latencyMs > 0 || faults.down.length > 0) return undefined
      if (changesAnswers(faults)) return undefined
      return responseCache.atPath(path, nowMs)
    },
    posted: (path) => {
      play(clock.now())
      return wire.rules.length > 0 ? undefined : app.posted(path)
    },
    direct: (method, path) => {
      play(clock.now())
      return wire.rules.length > 0 ? undefined : app.direct(method, path)
    },
    advance: () => {
      play(clock.now())
      advanceVenue(venueState)
    },
    record: () => settledRecord(venueState, state.record),
    save: () => {
      saves += 1
      const moment = momentOf(venueState)
      if (options.stateFile === undefined || moment === savedMoment) return
      saveState(options.stateFile, state)
      savedMoment = moment
    },
    saveInSlices: async () => {
      saves += 1
      const save = saves
      const moment = momentOf(venueState)
      if (options.stateFile === undefined || moment === savedMoment) return
      if (await saveStateInSlices(options.stateFile, state, () => save !== saves)) savedMoment = moment
    },
    needsSave: () => (state.log?.length() ?? 0) > MOST_LOGGED,
    faults: state.faults,
    wire,
    venueState,
    peers: state.peers,
    paths: {
      prefix,
      oracle: Array.from({ length: ORACLE_HOSTS }, (_unused, i) => `${prefix}/oracle/${i}`),
      api: state.peers.map((peer) => `${prefix}/${peer.host}/v1`),
      pairs: listingChains.includes(venueState.chain.name) ? [`${prefix}/pairs`] : [],
      solana: venueState.chain.name === STATS_CHAIN ? [`${prefix}/solana`] : [],
      rpc: endpoints.map((index) => prefix + rpcPathOf('rpc', index)),
      ws: endpoints.map((index) => prefix + rpcPathOf('ws', index)),
    },
  }
}

/** Changes whenever something happened that a save would keep. */
function momentOf(venueState: VenueState): string {
  return `${Object.values(venueState.counters).join(':')}:${venueState.accounts.size}:${venueState.due.length}:${ledgerOf(venueState).runningHour}:${nextPoolLook(venueState.advancedToSeconds)}:${venueState.blockChain.reorgs.length}`
}
