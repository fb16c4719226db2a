/** Defines the options of one chain endpoint, and its responses. */
import type { AttemptQuery, PositionChange, PositionChangeQuery } from '../domain/machine/chainReader.ts'
import type { EndpointView } from '../domain/machine/chainView.ts'
import type { BlockRef } from '../domain/order/intent.ts'
import type { Address } from '../protocol/address.ts'
import type { GasPrice } from '../protocol/gasPrice.ts'
import type { FundingTokens } from './logs/executionLogs.ts'
import type { ReadRecentEvents } from './logs/recentEvents.ts'
import type { Heads } from './node/node.ts'

/** Expected identity of an endpoint, and the widest request to it. */
export interface EndpointOptions {
  readonly chainId: number
  readonly eventEmitter: Address
  /** Tokens of the chain's markets: what of funding received is worth. */
  readonly markets: FundingTokens
  /** Its price values what keepers give back. */
  readonly wrappedNative: Address
  /** Widest range of one `eth_getLogs`, blocks. */
  readonly maxLogSpan: number
}

/** Result of a look at an endpoint. */
export interface EndpointPoll {
  readonly heads: Heads
  /** One view for each query, in their order; undefined for those of an account whose past is still being read, or whose reading failed. */
  readonly views: readonly (EndpointView | undefined)[]
  /** Something that was not found out and keeps an order open; the views hold without it. */
  readonly trouble?: string
}

/** An endpoint of the chain. */
export interface Endpoint {
  readonly name: string
  requests(): number
  /** Throws BaseError RPC_WRONG_CHAIN when the endpoint serves another chain; asked once, before anything is believed. */
  check(signal: AbortSignal): Promise<void>
  latest(signal: AbortSignal): Promise<BlockRef>
  gasPrice(signal: AbortSignal): Promise<GasPrice>
  /** Balance of the native coin, wei. */
  nativeBalance(account: Address, signal: AbortSignal): Promise<bigint>
  /** Looks for events of accounts in the newest minutes. */
  readonly recentEvents: ReadRecentEvents
  /** Returns the change that an order made to a position, by the receipt of its transaction; undefined while that is not in a final block. */
  positionChange(
    query: PositionChangeQuery,
    signal: AbortSignal,
  ): Promise<PositionChange | 'none' | undefined>
  /** Rejects with a BaseError when the endpoint did not answer whole: then it showed nothing. */
  poll(queries: readonly AttemptQuery[], signal: AbortSignal): Promise<EndpointPoll>
  close(): void
}
