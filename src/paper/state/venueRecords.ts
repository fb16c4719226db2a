/** Records of the venue: accounts, positions, orders, operations, trades, and due work. */
import type { Address, Hex } from '../../protocol/address.ts'
import type { Batch, CreateOrderParams, RelayParams } from '../../protocol/signing/relayRouter.ts'
import type { SignedTransaction } from '../blocks/blockChain.ts'
import type { CatalogToken } from '../catalog/catalog.ts'
import type { SubaccountApproval } from '../http/approval.ts'
import type { PositionState } from '../math/positionState.ts'

/** An address with its paper money. Token keys are lower-case addresses. */
export interface Account {
  readonly address: Address
  readonly balances: Map<string, bigint>
  /**
   * Allowance of the router, by token key; absent: that of a new account (`startAllowance`). Allowances of other spenders are under the key of
   * `allowanceKey` (wallets.ts).
   */
  readonly allowances: Map<string, bigint>
  /** Transactions that the account sent itself and that were mined; absent: none. */
  nonce?: number
  /** Funding that positions earned, claimable by `claimableKeyOf` (accounts.ts); in state files of before, by token key alone. */
  readonly claimableFunding: Map<string, bigint>
  /** Excess negative price impact, released later, by token key. */
  readonly claimableCollateral: Map<string, bigint>
}

/** A transaction that an account sent and that waits for a block. */
export interface PooledTransaction {
  readonly hash: Hex
  readonly to: Address
  readonly nonce: number
  readonly input: Hex
  readonly signed: SignedTransaction
  /** When it came, Unix ms. */
  readonly seenAtMs: number
}

/** An open position and whose it is. */
export interface PositionRecord {
  /** Protocol key, lower case. */
  readonly contractKey: Hex
  readonly account: Address
  readonly marketKey: string
  readonly collateralToken: CatalogToken
  state: PositionState
}

/** An order in the order store. */
export interface OrderRecord {
  readonly key: Hex
  readonly account: Address
  params: CreateOrderParams
  isFrozen: boolean
  updatedAtSeconds: number
  readonly requestId: string | null
}

/** State or end of an order; kept after the order left the store. */
export interface OrderOutcome {
  status: 'created' | 'executed' | 'cancelled'
  executionTxnHash?: Hex
  /** Custom error text, or the protocol's reason word. */
  reason?: string
  updatedAtMs: number
}

/** A batch with what its router needs to run it. */
export interface SignedBatch {
  readonly account: Address
  /** Request at the order chain that it came from; null from the generic relay. */
  readonly requestId: string | null
  readonly batch: Batch
  readonly relayParams: RelayParams
  /** The session key that signed, with its approval; absent when the account signed. */
  readonly subaccount?: SubaccountUse
  /** The session key that the account takes its right from; the batch is empty then, and names the account. */
  readonly removes?: Address
  readonly digest: Hex
  /** The signature, when the calldata is made by the relay. */
  readonly signature?: Hex
  /** Calldata as it was handed in. */
  readonly calldata?: Hex
}

/** A signed batch on its way to the chain, from either lane. */
export interface Operation extends SignedBatch {
  readonly taskId: Hex
  readonly acceptedAtMs: number
  /** When the transaction is mined. */
  readonly landsAtMs: number
  status: 'pending' | 'executed' | 'reverted' | 'failed'
  txHash?: Hex
  error?: { readonly code: string; readonly message: string; readonly data: Hex }
  orderKeys: readonly Hex[]
  updatedAtMs: number
  /** The fault that hit it, for the venue's own record. */
  fault?: string
  /** Result on the chain after the relay's final status; no route of the application reports it. */
  afterwards?: { readonly txHash: Hex; readonly orderKeys: readonly Hex[] }
}

/** One row of the trade history, already in wire names; amounts are bigints until they are sent. */
export interface TradeRow {
  readonly id: string
  readonly account: Address
  readonly orderKey: Hex
  readonly eventName: 'OrderCreated' | 'OrderExecuted' | 'OrderCancelled' | 'OrderUpdated' | 'OrderFrozen'
  readonly orderType: number
  readonly timestamp: number
  readonly fields: Readonly<
    Record<string, string | number | boolean | bigint | readonly string[] | undefined>
  >
}

/** Work that happens at a time: a transaction is mined, the keeper executes an order, or another trader has its turn. */
export type DueWork =
  | { readonly atMs: number; readonly kind: 'land'; readonly taskId: Hex }
  | { readonly atMs: number; readonly kind: 'give-up'; readonly taskId: Hex }
  | { readonly atMs: number; readonly kind: 'send-again'; readonly taskId: Hex }
  /** Somebody else sends the calldata of a reverted operation. */
  | { readonly atMs: number; readonly kind: 'replay'; readonly taskId: Hex }
  /** A block begins that takes what waits in the mempool. */
  | { readonly atMs: number; readonly kind: 'mine' }
  | { readonly atMs: number; readonly kind: 'execute'; readonly orderKey: Hex }
  | { readonly atMs: number; readonly kind: 'withdraw'; readonly key: string }
  | { readonly atMs: number; readonly kind: 'turn'; readonly trader: number; readonly turn: number }

/** An account's approval of a session key. */
export interface SubaccountState {
  isActive: boolean
  maxAllowedCount: bigint
  currentActionsCount: bigint
  /** Unix seconds. */
  expiresAt: bigint
}

/** A session key with the approval it brings. */
export interface SubaccountUse {
  readonly address: Address
  readonly approval: SubaccountApproval
  /** True when the approval's signature is the account's, checked when it was submitted. */
  readonly isApproved: boolean
}

/** Withdrawal from the account. */
export interface BridgeOut {
  readonly token: Address
  readonly amount: bigint
  readonly minAmountOut: bigint
  readonly provider: Address
  /** abi.encode(uint32 endpoint of the target chain). */
  readonly data: Hex
}

/** A prepared withdrawal at a peer. */
export interface Withdrawal {
  readonly requestId: string
  readonly account: Address
  readonly srcChainId: number
  readonly bridgeOut: BridgeOut
  readonly relayParams: RelayParams
  readonly digest: Hex
  readonly createdAtMs: number
  readonly expiresAtSeconds: number
  taskId: Hex | undefined
  submittedAtMs: number
  /** The account's; present once it is submitted. */
  signature?: Hex
  status: 'prepared' | 'submitted' | 'executed' | 'relay_reverted'
  updatedAtMs: number
  txHash?: Hex
  error?: { readonly code: string; readonly message: string }
}
