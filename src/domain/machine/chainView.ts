/** Facts that the chain endpoints showed of one attempt: input of `chainEvidence.ts`, read by the order manager at the edge. */
import type { Hex } from '../../protocol/address.ts'
import type { Usd } from '../../protocol/units.ts'
import type { BlockRef, Settlement } from '../order/intent.ts'
import type { CreatedOrder } from './expected.ts'

/** Events of orders that the machine reads (contract `EventEmitter`, `EventLogData`). */
export type OrderEventName =
  | 'OrderCreated'
  | 'OrderExecuted'
  | 'OrderCancelled'
  | 'OrderFrozen'
  | 'OrderUpdated'

/** One event of an order of our account, from the protocol's EventEmitter. */
export interface OrderLog {
  readonly event: OrderEventName
  readonly orderKey: Hex
  readonly transactionHash: Hex
  readonly block: BlockRef
  readonly logIndex: number
  /** OrderCreated only. */
  readonly created?: CreatedOrder
  /** OrderCancelled and OrderFrozen: the protocol's words, or the decoded custom error. */
  readonly reason?: string
  /** OrderExecuted: from the position event of the same transaction. OrderCancelled: the returned part of its execution fee alone. */
  readonly settlement?: Settlement
}

/** The transaction that used up the digest. */
export interface Consumer {
  readonly transactionHash: Hex
  readonly block: BlockRef
  /** True if the transaction's input holds our signature: then it executed our signed message, whoever sent it. */
  readonly carriesOurSignature: boolean
  /**
   * The part of the message's fee that the relay gave back to the account, USD at the oracle's price in this transaction; absent where the
   * transaction shows no such transfer, or no price.
   */
  readonly feeReturnedUsd?: Usd
}

/** Facts from one endpoint, all read against its own `latest` and `final` blocks. */
export interface EndpointView {
  readonly endpoint: string
  readonly latest: BlockRef
  /** The newest block at the chain's required finality. */
  readonly final: BlockRef
  readonly isDigestUsedAtLatest: boolean
  /** By `eth_call` pinned to the hash of `final` (EIP-1898, `requireCanonical`). */
  readonly isDigestUsedAtFinal: boolean
  /** Absent while the digest is unused, or the transaction was not found. */
  readonly consumer?: Consumer
  /** Events of our account since arming: those in the consumer, and those of the attempt's orders. In chain order. */
  readonly logs: readonly OrderLog[]
}

/** One look at all configured endpoints. */
export interface ChainView {
  /** Number of configured endpoints; evidence at finality needs every one of them. */
  readonly configured: number
  /** Those that answered whole. */
  readonly endpoints: readonly EndpointView[]
}
