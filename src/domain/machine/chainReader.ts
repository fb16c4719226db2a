/** The shape of what reads a chain: the order manager hands it in, so that simulations and tests bring their own. */
import type { Address, Hex } from '../../protocol/address.ts'
import type { GasPrice } from '../../protocol/gasPrice.ts'
import type { TokenAmount } from '../../protocol/units.ts'
import type { BlockRef } from '../order/intent.ts'
import type { ChainView } from './chainView.ts'
import type { Expected } from './expected.ts'

/** Query of a chain about one attempt. */
export interface AttemptQuery {
  readonly account: Address
  /** The relay router whose `digests` counts. */
  readonly router: Address
  readonly digest: Hex
  /** Looked for in the input of the transaction that used the digest. */
  readonly signature: Hex
  /** First block that is searched; absent when none was known at arming. */
  readonly fromBlock?: bigint
  /** Block time after which the digest cannot land, Unix seconds. */
  readonly deadlineSeconds: number
  /**
   * The signed nonce. Whoever uses the digest up has it next to the deadline in the transaction's input (`RelayParams`), because the digest contains
   * both; absent where it is unknown.
   */
  readonly userNonce?: bigint
  /** Orders that the attempt created, or that it changes. */
  readonly orderKeys: readonly Hex[]
  /** Transactions that a host named; hints only. */
  readonly transactionHashes: readonly Hex[]
  /** Market that the attempt trades, and decimals of its index token: contract prices become USD with them. */
  readonly marketToken: Address
  readonly indexTokenDecimals: number
  /** Expected effect of the message; absent where it is unknown. It selects among several transactions of one block. */
  readonly expected?: Expected
}

/** A change of a position of the account that a host reports, to be looked up in the transaction that it names. */
export interface PositionChangeQuery {
  readonly account: Address
  readonly orderKey: Hex
  readonly transactionHash: Hex
  /** Only final blocks of a later time, Unix seconds, say that the transaction is not there; absent: none say so. */
  readonly laterThanSeconds?: number
}

/** Change that an order made to a position, by the position's own event. */
export interface PositionChange {
  readonly marketToken: Address
  readonly direction: 'long' | 'short'
  readonly isIncrease: boolean
  /** USD, not signed. */
  readonly sizeDeltaUsd: bigint
  /** Realized PnL of a decrease after impact and fees, USD, signed; absent where the events do not say it. */
  readonly pnlUsd?: bigint
  /** Funding that a decrease put aside for the account, USD; absent: none, or the transaction does not show what it is worth. */
  readonly fundingReceivedUsd?: bigint
  /** The order's type, by the position's own event. */
  readonly orderType: number
  /** The protocol made the order to deleverage: `secondaryOrderType` of its `OrderExecuted` is 1 (`Order.SecondaryOrderType`). */
  readonly isDeleveraging: boolean
}

/** The newest block of an endpoint. */
export interface EndpointBlock {
  readonly endpoint: string
  readonly block: BlockRef
  /** Time of the reading, monotonic ms: its block time advances from there. */
  readonly readMs: number
}

/** Reads the configured chain endpoints. */
export interface ChainReader {
  /** Number of configured endpoints; at least one. */
  readonly configured: number
  /** The newest block by each endpoint that answers, in no order. Never rejects for what a network does. */
  latestBlocks(): Promise<readonly EndpointBlock[]>
  /** One look for each attempt, in the order asked, all read together. Never rejects for what a network does. */
  poll(queries: readonly AttemptQuery[]): Promise<readonly ChainView[]>
  /**
   * Reads the change that an order made to a position of the account, in a final block, by every configured endpoint. `none`: no endpoint's final
   * blocks hold the transaction, or it changed no position there. Undefined while one of them does not say, or they differ. Absent where nothing
   * reads it. Never rejects because of network faults.
   */
  readonly positionChange?: (query: PositionChangeQuery) => Promise<PositionChange | 'none' | undefined>
  /**
   * Gives the age of the newest look of all endpoints that saw no event of an account's orders for two minutes, ms; undefined when the newest look is none.
   * Nobody waits for a look: whoever asks begins the next when it is due. Absent where nothing looks.
   */
  readonly quietAgoMs?: (account: Address) => number | undefined
  /**
   * The gas price by each endpoint that answers, in no order. Absent where nothing reads it. Never rejects for what a network
   * does, and no answer of it makes an endpoint rest: fees are no evidence.
   */
  readonly gasPrices?: () => Promise<readonly GasPrice[]>
  /**
   * The native coin of an account by each endpoint that answers, wei, in no order; for people, and no evidence. Absent where
   * nothing reads it. Never rejects for what a network does.
   */
  readonly nativeBalances?: (account: Address) => Promise<readonly TokenAmount[]>
  /**
   * Tells of each new block as soon as an endpoint pushes one; the listener is a reason to look, and no evidence. Returns how
   * to stop. Absent where nothing pushes blocks.
   */
  readonly onHead?: (listener: (head: BlockRef) => void) => () => void
}
