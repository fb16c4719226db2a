/**
 * The paper venue: one world, several hosts. `fetch` answers as all of them, told apart by a path prefix:
 * `/oracle/0` (primary), `/oracle/1`, `/oracle/2` (fallbacks), `/api/0/v1`, `/api/1/v1` (equal peers), and `/__control`,
 * which is no part of the wire. `/rpc` is the chain's JSON-RPC endpoint, `/ws` the same over WebSocket.
 */
import { type Context, Hono } from 'hono'
import type { Chain } from '../chains/chain.ts'
import type { Clock } from '../domain/clock.ts'
import { advanceWorld } from './advance.ts'
import { orderByKey, orders, positionByKey, positions, tickers, tradingCapacityRoute } from './appRoutes.ts'
import { prepareCancel, prepareCollateral, prepareEdit } from './changes.ts'
import { prepareDeposit } from './deposits.ts'
import { mountFaultRoutes } from './faultRoutes.ts'
import { applyFaults, type Faults, noFaults } from './faults.ts'
import { closedMarkets, readSchedule } from './hours.ts'
import { bodyOf, HttpFailure, type Json, notFound, requiredAddress, stringify } from './http.ts'
import { ledgerOf } from './ledger.ts'
import { catalogRow, configRow, createListCache, valuesRow } from './marketRows.ts'
import {
  oracleCandles,
  oracleMarketInfo,
  oracleMarketState,
  oracleMarkets,
  oracleTickers,
  oracleTokenList,
} from './oracleRoutes.ts'
import { createPeer, type Peer } from './orderChain.ts'
import {
  changeRoute,
  neverAnswer,
  prepareRoute,
  relayStatusRoute,
  relaySubmitRoute,
  statusRoute,
  submitRoute,
} from './orderRoutes.ts'
import { createQuickReads, type QuickReads } from './quickReads.ts'
import { addReadRoutes, listingChains, type Neighbour, STATS_CHAIN } from './readRoutes.ts'
import { type SettledEntry, type SubmitEntry, settledRecord } from './record.ts'
import { mountRpc, reorganiseByControl } from './rpcRoutes.ts'
import { createScenario, type ScenarioStep } from './scenario.ts'
import { defaultVenueSettings, type VenueSettings } from './settings.ts'
import { loadState, saveState } from './stateFile.ts'
import { createStateLog, readStateLog, replayStateLog, type StateLog } from './stateLog.ts'
import { prepareApproval, subaccountStatus } from './subaccounts.ts'
import { allowanceRows, balanceRows, tokenInfoRow, tokenRow } from './tokenRows.ts'
import { tradePage, tradesQuery, tradesSearch } from './tradeRoutes.ts'
import { startTraders } from './traders.ts'
import { changeAccount } from './wallet.ts'
import { createWireFaults, type WireFaults } from './wireFaults.ts'
import { prepareWithdrawal, submitWithdrawal, withdrawalStatus } from './withdrawals.ts'
import { createWorld, type World } from './world.ts'

/** Default seed: its first minutes trend in the big markets. */
export const DEFAULT_SEED = 911

/** Everything the routes share. */
export interface VenueState {
  readonly world: World
  readonly peers: readonly Peer[]
  readonly faults: Faults
  /** Submits as they arrived, oldest first. */
  readonly record: SubmitEntry[]
  /** Keeps what must survive a kill; absent without a state file. */
  readonly log: StateLog | undefined
}

/** How a venue is made. */
export interface VenueOptions {
  readonly clock: Clock
  readonly chain: Chain
  /** Repeats the same prices, delays and ids. Default 911. A saved world keeps its own. */
  readonly seed?: number
  readonly settings?: Partial<VenueSettings>
  readonly faults?: Partial<Faults>
  /** Faults at given times after the start. Default none. */
  readonly scenario?: readonly ScenarioStep[]
  /** Where the world is kept between runs; absent: in memory only. */
  readonly stateFile?: string
  /** Unix seconds at which the prices begin; chains in step share it. Default now. A saved world keeps its own. */
  readonly epochSeconds?: number
  /** Put before every path, as `/avalanche`, where several venues share a port. Default none. */
  readonly prefix?: string
  /** All venues of this process, once they are made: stats count their worlds, and other chains' stats come from one. */
  readonly neighbours?: () => readonly Neighbour[]
}

/** A paper venue. */
export interface Venue {
  /** Answers a request to any host, by path prefix. */
  fetch(request: Request): Promise<Response>
  /** Bytes of a hot read by path that are still valid, when nothing is wrong on purpose; undefined: ask `fetch`. */
  quick(path: string): Buffer | undefined
  /** Does all work that is due at the clock's time. */
  advance(): void
  /** Every submit received, with what became of it. */
  record(): SettledEntry[]
  /** Writes the state file, when there is one. */
  save(): void
  readonly faults: Faults
  /** What the road does to requests and answers. */
  readonly wire: WireFaults
  readonly world: World
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
    /** What all paths of this venue begin with; empty for a venue that has the port to itself. */
    readonly prefix: string
  }
}

/** Thrown into the server when the connection is to be cut without an answer. */
export class ConnectionCut extends Error {
  constructor() {
    super('connection cut by a fault')
    this.name = 'ConnectionCut'
  }
}

const ORACLE_HOSTS = 3
const FOR_EVER = Number.MAX_SAFE_INTEGER
const API_PEERS = 2

/**
 * Makes a venue, or goes on with the one in the state file.
 *
 * @throws BaseError PAPER_CATALOG_MISSING, PAPER_STATE_UNREADABLE
 */
export function createVenue(options: VenueOptions): Venue {
  const saved = options.stateFile === undefined ? undefined : loadState(options.stateFile, options.chain)
  const epochSeconds = saved?.epochSeconds ?? options.epochSeconds
  const prefix = options.prefix ?? ''
  const faults: Faults = { ...noFaults(), ...options.faults }
  const world = createWorld({
    dataFaults: faults,
    chain: options.chain,
    clock: options.clock,
    seed: saved?.seed ?? options.seed ?? DEFAULT_SEED,
    settings: { ...defaultVenueSettings, ...options.settings },
    ...(epochSeconds === undefined ? {} : { epochSeconds }),
  })
  readSchedule(world)
  ledgerOf(world)
  const state: VenueState = {
    world,
    peers: Array.from({ length: API_PEERS }, (_unused, i) => createPeer(`api/${i}`)),
    faults,
    record: [],
    log: options.stateFile === undefined ? undefined : createStateLog(options.stateFile),
  }
  saved?.restore(state)
  if (options.stateFile !== undefined) {
    replayStateLog(readStateLog(options.stateFile), state)
    // The world's beginning is on disk before anything is logged against it.
    saveState(options.stateFile, state)
    state.log?.clear()
  }
  startTraders(world, world.clock.now())
  let savedMoment = momentOf(world)
  const wire = createWireFaults({
    seed: world.seed,
    clock: options.clock,
    cut: () => {
      throw new ConnectionCut()
    },
  })
  const play = createScenario(options.scenario ?? [], options.clock.now(), { faults, wire })
  play(options.clock.now())
  const quick = createQuickReads()
  const app = createApp(state, prefix, wire, quick, options.neighbours ?? (() => []))
  return {
    fetch: async (request) => {
      play(options.clock.now())
      return wire.around(request, prefix, async (one) => app.fetch(one))
    },
    quick: (path) => {
      const nowMs = options.clock.now()
      play(nowMs)
      if (wire.rules.length > 0 || faults.latencyMs > 0 || faults.down.length > 0) return undefined
      return quick.at(path, nowMs)
    },
    advance: () => {
      play(options.clock.now())
      advanceWorld(world)
    },
    record: () => settledRecord(world, state.record),
    save: () => {
      const moment = momentOf(world)
      if (options.stateFile === undefined || moment === savedMoment) return
      saveState(options.stateFile, state)
      state.log?.clear()
      savedMoment = moment
    },
    faults: state.faults,
    wire,
    world,
    paths: {
      prefix,
      oracle: Array.from({ length: ORACLE_HOSTS }, (_unused, i) => `${prefix}/oracle/${i}`),
      api: state.peers.map((peer) => `${prefix}/${peer.host}/v1`),
      pairs: listingChains.includes(world.chain.name) ? [`${prefix}/pairs`] : [],
      solana: world.chain.name === STATS_CHAIN ? [`${prefix}/solana`] : [],
      rpc: [`${prefix}/rpc`],
      ws: [`${prefix}/ws`],
    },
  }
}

/** Changes whenever something happened that a save would keep. */
function momentOf(world: World): string {
  return `${Object.values(world.counters).join(':')}:${world.accounts.size}:${world.due.length}:${ledgerOf(world).runningHour}:${world.blockChain.reorgs.length}`
}

type Handler = (input: {
  readonly request: Request
  readonly query: URLSearchParams
  readonly nowMs: number
  readonly peer: Peer
  readonly param: (name: string) => string
}) => Answered | Promise<Answered>

type Answered = Json | typeof neverAnswer | PreparedText | Response

/** JSON text made before. */
class PreparedText {
  readonly text: string
  /** Until when it is the same for everybody; 0 = not known. */
  readonly untilMs: number

  constructor(text: string, untilMs = 0) {
    this.text = text
    this.untilMs = untilMs
  }
}

function createApp(
  state: VenueState,
  prefix: string,
  wire: WireFaults,
  quick: QuickReads,
  neighbours: () => readonly Neighbour[],
): Hono {
  const { world, faults } = state
  const app = prefix === '' ? new Hono() : new Hono().basePath(prefix)
  let cached = createListCache()
  let traces = 0

  const answer = (status: number, text: string): Response => {
    const headers: Record<string, string> = {
      'Content-Type': 'application/json',
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Expose-Headers': 'X-Trace-Id',
      Date: new Date(world.clock.now()).toUTCString(),
    }
    if (status >= 400) {
      traces += 1
      headers['X-Trace-Id'] = `paper-${world.chain.name}-${world.clock.now().toString(36)}-${traces}`
    }
    return new Response(text, { status, headers })
  }
  const failure = (error: unknown): Response => {
    if (error instanceof HttpFailure) return answer(error.status, stringify(error.body))
    throw error
  }
  const respond = async (context: Context, host: string, handler: Handler): Promise<Response> => {
    if (faults.down.includes(host)) throw new ConnectionCut()
    if (faults.latencyMs > 0) await world.clock.sleep(faults.latencyMs)
    try {
      advanceWorld(world)
      const peer = state.peers.find((one) => one.host === host) ?? state.peers[0]
      if (peer === undefined) throw notFound('Not Found')
      const url = context.req.url
      const queryAt = url.indexOf('?')
      const result = await handler({
        request: context.req.raw,
        query: new URLSearchParams(queryAt === -1 ? '' : url.slice(queryAt + 1)),
        nowMs: world.clock.now(),
        peer,
        param: (name) => context.req.param(name) ?? '',
      })
      if (result === neverAnswer) return await new Promise<Response>(() => undefined)
      if (result instanceof Response) return result
      if (result instanceof PreparedText && result.untilMs > 0 && context.req.method === 'GET') {
        quick.keep(url.slice(url.indexOf('/', 8)), result.text, result.untilMs)
      }
      return answer(200, result instanceof PreparedText ? result.text : stringify(result))
    } catch (error) {
      return failure(error)
    }
  }

  const api = (method: 'GET' | 'POST', path: string, handler: Handler): void => {
    app.on(method, `/api/:host{[0-9]+}/v1${path}`, (context) => {
      const host = `api/${context.req.param('host')}`
      const known = state.peers.some((peer) => peer.host === host)
      return respond(context, host, known ? handler : unknownRoute)
    })
  }
  const oracle = (path: string, handler: Handler): void => {
    app.get(`/oracle/:host{[0-${ORACLE_HOSTS - 1}]}${path}`, (context) =>
      respond(context, `oracle/${context.req.param('host')}`, handler),
    )
  }
  const second = (nowMs: number): number => Math.floor(nowMs / 1000)
  const changing = (name: string, moment: number, make: () => Json): PreparedText =>
    new PreparedText(cached(name, moment, make), moment === 0 ? FOR_EVER : (moment + 1) * 1000)

  oracle('/ping', () => {
    if (faults.oracleDatabase === 'unavailable') throw new HttpFailure(500, { errors: ['db is unavailable'] })
    return { ok: true }
  })
  oracle('/prices/tickers', ({ nowMs }) =>
    changing('oracle tickers', second(nowMs), () => oracleTickers(world, nowMs)),
  )
  oracle('/prices/candles', ({ query, nowMs }) => oracleCandles(world, query, nowMs))
  oracle('/tokens', () => changing('oracle tokens', 0, () => oracleTokenList(world)))
  oracle('/tokens/info', ({ nowMs }) =>
    changing('oracle tokens info', second(nowMs), () => ({
      tokens: world.catalog.catalog.tokens.map((token) => tokenInfoRow(world, token, nowMs)),
    })),
  )
  oracle('/markets', () => changing('oracle markets', 0, () => oracleMarkets(world)))
  oracle('/markets/info', ({ nowMs }) =>
    changing('oracle markets info', second(nowMs), () => oracleMarketInfo(world, nowMs)),
  )
  oracle('/markets/state', ({ nowMs }) =>
    oracleMarketState(world, {
      closed: new Set([
        ...closedMarkets(world, second(nowMs)),
        ...faults.closedMarkets.map((market) => market.toLowerCase()),
      ]),
      unknown: new Set(faults.unknownMarkets.map((market) => market.toLowerCase())),
    }),
  )

  const markets = world.markets
  api('GET', '/markets', () => changing('markets', 0, () => markets.map(catalogRow)))
  api('GET', '/markets/config', ({ nowMs }) =>
    changing('config', second(nowMs), () => markets.map((market) => configRow(world, market))),
  )
  api('GET', '/markets/values', ({ nowMs }) =>
    changing('values', second(nowMs), () => markets.map((market) => valuesRow(world, market, nowMs))),
  )
  api('GET', '/markets/info', ({ nowMs }) =>
    changing('info', second(nowMs), () =>
      markets.map((market) => ({ ...configRow(world, market), ...valuesRow(world, market, nowMs) })),
    ),
  )
  api('GET', '/markets/tickers', ({ query, nowMs }) =>
    query.size === 0
      ? changing('tickers', second(nowMs), () => tickers(world, query, nowMs))
      : tickers(world, query, nowMs),
  )
  api('GET', '/markets/trading-capacity', ({ query }) => tradingCapacityRoute(world, query))
  api('GET', '/risk-oracle/markets', () =>
    markets.map(({ catalog }) => ({ symbol: catalog.symbol, marketTokenAddress: catalog.marketToken })),
  )
  api('GET', '/tokens', () => changing('tokens', 0, () => world.catalog.catalog.tokens.map(tokenRow)))
  api('GET', '/tokens/info', ({ nowMs }) =>
    changing('tokens info', second(nowMs), () =>
      world.catalog.catalog.tokens.map((token) => tokenInfoRow(world, token, nowMs)),
    ),
  )
  api('GET', '/balances/wallet', ({ query }) => balanceRows(world, requiredAddress(query, 'address')))
  api('GET', '/allowances', ({ query }) => allowanceRows(world, query))
  api('GET', '/positions', ({ query, nowMs }) => positions(world, query, nowMs))
  api('GET', '/positions/:key', ({ query, nowMs, param }) => positionByKey(world, param('key'), query, nowMs))
  api('GET', '/orders', ({ query }) => orders(world, query))
  api('GET', '/orders/:key', ({ param }) => orderByKey(world, param('key')))
  api('GET', '/trades', ({ query }) => tradePage(world, tradesQuery(world, query)))
  api('GET', '/trades/search', ({ query }) =>
    tradePage(world, tradesSearch(Object.fromEntries(query.entries()))),
  )
  api('POST', '/trades/search', async ({ request }) => tradePage(world, tradesSearch(await bodyOf(request))))
  api('POST', '/orders/txns/prepare', ({ peer, request }) => prepareRoute(state, peer, request))
  api('POST', '/orders/txns/edit/prepare', ({ peer, request }) =>
    changeRoute(state, peer, request, prepareEdit),
  )
  api('POST', '/orders/txns/cancel/prepare', ({ peer, request }) =>
    changeRoute(state, peer, request, prepareCancel),
  )
  api('POST', '/orders/txns/collateral/prepare', ({ peer, request }) =>
    changeRoute(state, peer, request, prepareCollateral),
  )
  api('POST', '/orders/txns/submit', ({ peer, request }) => submitRoute(state, peer, request))
  api('POST', '/orders/txns/status', ({ peer, request }) => statusRoute(state, peer, request))
  api('POST', '/subaccounts/status', async ({ request }) => subaccountStatus(world, await bodyOf(request)))
  api('POST', '/subaccounts/approval/prepare', async ({ request }) =>
    prepareApproval(world, await bodyOf(request)),
  )
  api('POST', '/gmx-account/deposit/cross-chain/prepare', async ({ request }) =>
    prepareDeposit(world, await bodyOf(request)),
  )
  api('POST', '/gmx-account/withdraw/cross-chain/prepare', async ({ peer, request }) =>
    prepareWithdrawal(world, peer, await bodyOf(request)),
  )
  api('POST', '/gmx-account/withdraw/cross-chain/submit', async ({ peer, request }) =>
    submitWithdrawal(world, peer, await bodyOf(request)),
  )
  api('POST', '/gmx-account/withdraw/cross-chain/status', async ({ peer, request }) =>
    withdrawalStatus(world, peer, await bodyOf(request)),
  )
  api('POST', '/relay/submit', ({ peer, request }) => relaySubmitRoute(state, peer, request))
  api('POST', '/relay/status', ({ request }) => relayStatusRoute(state, request))

  const familyOf = (host: string): number => state.peers.findIndex((peer) => peer.host === host)
  addReadRoutes<PreparedText>(world, {
    neighbours,
    text: (text) => new PreparedText(text),
    api: (path, handler) =>
      api('GET', path, (input) => handler({ ...input, family: familyOf(input.peer.host) })),
    oracle: (path, handler) => oracle(path, (input) => handler({ ...input, family: 0 })),
    at: (path, host, handler) => {
      app.get(path, (context) =>
        respond(context, host.replace(':host', context.req.param('host') ?? ''), (input) =>
          handler({ ...input, family: 0 }),
        ),
      )
    },
  })

  app.post('/__control/faults', async (context) => {
    const change: unknown = await context.req.json().catch(() => undefined)
    const wrong = applyFaults(faults, change)
    quick.forget()
    cached = createListCache()
    return wrong === undefined ? answer(200, stringify(faults)) : answer(400, stringify({ message: wrong }))
  })
  mountFaultRoutes(app, wire, answer)
  app.get('/__control/faults', () => answer(200, stringify(faults)))
  app.post('/__control/accounts', async (context) => {
    const changed = changeAccount(world, await context.req.json().catch(() => undefined))
    return typeof changed === 'string'
      ? answer(400, stringify({ message: changed }))
      : answer(200, stringify(changed))
  })
  app.post('/__control/reorg', async (context) => {
    const report = reorganiseByControl(world, await context.req.json().catch(() => undefined))
    return typeof report === 'string'
      ? answer(400, stringify({ message: report }))
      : answer(200, stringify(report))
  })
  mountRpc(app, {
    world,
    faults,
    cut: () => {
      throw new ConnectionCut()
    },
    answer,
  })
  app.get('/__control/record', () => {
    advanceWorld(world)
    return answer(200, stringify(settledRecord(world, state.record)))
  })
  app.options('*', () => {
    const allowed = answer(200, '{}')
    allowed.headers.set('Access-Control-Allow-Methods', 'GET, POST, OPTIONS')
    allowed.headers.set('Access-Control-Allow-Headers', 'Content-Type')
    return allowed
  })
  app.notFound(() => answer(404, '{"message":"Not Found"}'))
  app.onError((error) => {
    throw error
  })
  return app
}

const unknownRoute: Handler = () => {
  throw notFound('Not Found')
}
