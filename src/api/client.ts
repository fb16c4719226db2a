/** Both APIs over one fetch: the functions of the route files as methods. A new route file is one line here. */
import type { Chain } from '../protocol/chains/chain.ts'
import * as account from './accounts/accountReads.ts'
import * as accountTransfers from './accounts/accountTransfers.ts'
import * as subaccounts from './accounts/subaccounts.ts'
import * as wallet from './accounts/wallet.ts'
import * as ohlcv from './feeds/ohlcv.ts'
import * as oracle from './feeds/oracle.ts'
import * as oracleMarkets from './feeds/oracleMarkets.ts'
import * as pairFeeds from './feeds/pairFeeds.ts'
import * as history from './markets/history.ts'
import * as jit from './markets/jitLiquidity.ts'
import * as marketInfo from './markets/marketInfo.ts'
import * as markets from './markets/marketReads.ts'
import * as pools from './markets/poolYields.ts'
import * as stats from './markets/stats.ts'
import * as tokens from './markets/tokens.ts'
import * as classicOrders from './orders/classicOrders.ts'
import * as orders from './orders/expressOrders.ts'
import * as orderChanges from './orders/orderChanges.ts'
import * as relay from './orders/relayRequests.ts'
import type { HostLists } from './transport/hosts.ts'
import { createTransport } from './transport/transport.ts'
import type { Transport, TransportOptions } from './transport/transportTypes.ts'

/** The route files; each exported function is a method of the clients. */
export const routeFiles = [
  oracle,
  oracleMarkets,
  markets,
  marketInfo,
  ohlcv,
  tokens,
  pairFeeds,
  account,
  orders,
  orderChanges,
  classicOrders,
  relay,
  subaccounts,
  accountTransfers,
  wallet,
  jit,
  history,
  pools,
  stats,
] as const

/** The functions of a route file without their first argument, the transport. */
type Bound<Module> = {
  readonly [Name in keyof Module as Module[Name] extends (
    transport: Transport,
    ...rest: never[]
  ) => Promise<unknown>
    ? Name
    : never]: Module[Name] extends (transport: Transport, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never
}

type BoundEach<Module> = Module extends unknown ? Bound<Module> : never

/** One type with the members of all. */
type Merged<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never

/** Knowledge of the hosts. */
export interface ApiHosts extends Omit<Transport, 'call'> {
  /** The chain whose hosts these are. */
  readonly chain: Chain
}

/** Every route of both APIs as a method; each gives a `Read` or throws RefusedError, UnreachableError or DecodeError. */
export type Api = ApiHosts & Merged<BoundEach<(typeof routeFiles)[number]>>

/** Options of the clients. */
export interface ApiOptions extends Omit<TransportOptions, 'hosts'> {
  readonly chain: Chain
  /**
   * Base addresses; the application API's with the version segment. Default: the chain's own. The address of the Solana feed
   * is not public (gaps: "Solana feed host"), so it has no default.
   * Given hosts are all there are: a service that they leave out is not asked.
   */
  readonly hosts?: HostLists
  /** Stands around the transport; absent: the transport as it is. */
  readonly around?: (transport: Transport) => Transport
}

type AnyRoute = (transport: Transport, ...rest: unknown[]) => unknown

/** Makes the typed clients of both APIs. Opens nothing by itself. */
export function createApi(options: ApiOptions): Api {
  const { around = (plain: Transport) => plain } = options
  const transport = around(createTransport({ ...options, hosts: options.hosts ?? options.chain.hosts }))
  const base: ApiHosts = {
    chain: options.chain,
    hosts: transport.hosts,
    limits: transport.limits,
    coolDown: transport.coolDown,
    isCoolingDown: transport.isCoolingDown,
    clockSkewMs: transport.clockSkewMs,
  }
  const api: Record<string, unknown> = { ...base }
  for (const file of routeFiles) {
    for (const [name, route] of Object.entries<unknown>(file)) {
      if (typeof route !== 'function') continue
      if (name in api) throw new Error(`two routes are called ${name}`)
      api[name] = (...rest: unknown[]) => (route as AnyRoute)(transport, ...rest)
    }
  }
  return api as unknown as Api
}
