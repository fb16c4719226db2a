/** What may be signed at all, besides what an intent says, and for whom. */
import type { Chain } from '../chains/chain.ts'
import { hashSubaccountApproval, type SubaccountApproval } from '../chains/subaccountApproval.ts'
import { type Address, type Hex, ZERO_ADDRESS, ZERO_HASH } from '../domain/address.ts'
import type { Intent } from '../domain/intent.ts'
import { minOf } from '../domain/units.ts'
import { isAdding } from '../domain/warning.ts'
import type { SwapMarkets } from './swapPath.ts'

/**
 * Who signs. `own`: the account itself; the message names no account. `subaccount`: a delegated key; the message names the
 * main account and carries the hash of the approval that goes with it (wire: eip712-and-chain, 3).
 */
export type SigningMode =
  | { readonly kind: 'own' }
  | { readonly kind: 'subaccount'; readonly approval: SubaccountApproval }

/** What one order of a message may cost, and how far its price may lie from ours. */
export interface OrderBounds {
  /** Highest execution fee of one order, in the native token's base units. */
  readonly maxExecutionFee: bigint
  /**
   * Highest `feeAmount` of the relay parameters for each order of a message, in base units of the chain's fee token. It pays
   * the execution fees of the message's orders and the relay's own gas.
   */
  readonly maxRelayFee: bigint
  /** How far beyond the slippage a bounded acceptable price may lie from its reference, bps: price drift and impact. */
  readonly priceToleranceBps: number
}

/** Bounds of every signature. Its own bounds are those of what adds risk. */
export interface SigningPolicy extends OrderBounds {
  /** Nearest and furthest deadline from now, seconds. */
  readonly minDeadlineSeconds: number
  readonly maxDeadlineSeconds: number
  /** Bounds of what takes risk away, which are wider: a refused close is worse than a dear one. Absent: the same. */
  readonly reducing?: OrderBounds
  /** Markets that a relay fee or a swap may go through. */
  readonly swapMarkets: SwapMarkets
  /** The owner's referral code: it costs nothing and gives discounts. Absent: none is asked for, and none is signed. */
  readonly referralCode?: Hex
  /** What fees are by our own estimate; absent: only the highest ones bound them. */
  readonly feeEstimate?: FeeEstimate
  /** Absent: the account signs for itself. */
  readonly mode?: SigningMode
}

/** What an order's fees are by our own estimate. */
export interface FeeEstimate {
  /** Of one order, native token, base units. */
  readonly executionFee: bigint
  /** For each order of a message, base units of the chain's fee token. */
  readonly relayFee: bigint
  /** How many times the estimate may be signed. */
  readonly factor: bigint
}

/** What tells which bounds hold for a message. */
export type Bounded = Pick<Intent, 'kind' | 'reservationUsd'>

/** The bounds that an intent's message is held to: the wider ones when all it does is take risk away. */
export function boundsFor(policy: SigningPolicy, intent: Bounded): OrderBounds {
  return isAdding(intent) ? policy : (policy.reducing ?? policy)
}

/** Highest execution fee of one order of the intent under the policy, native token, base units. */
export function executionFeeLimit(policy: SigningPolicy, intent: Bounded): bigint {
  const { maxExecutionFee } = boundsFor(policy, intent)
  const { feeEstimate } = policy
  return feeEstimate === undefined
    ? maxExecutionFee
    : minOf(maxExecutionFee, feeEstimate.factor * feeEstimate.executionFee)
}

/** Highest relay fee for each order of the intent's message under the policy, base units of the chain's fee token. */
export function relayFeeLimit(policy: SigningPolicy, intent: Bounded): bigint {
  const { maxRelayFee } = boundsFor(policy, intent)
  const { feeEstimate } = policy
  return feeEstimate === undefined
    ? maxRelayFee
    : minOf(maxRelayFee, feeEstimate.factor * feeEstimate.relayFee)
}

/** What the message must name because of who signs it. */
export interface SigningDomain {
  readonly router: Address
  readonly account: Address
  readonly subaccountApproval: Hex
}

/** Router, account and approval hash that a message of `account` must carry under the policy. */
export function signingDomainOf(chain: Chain, account: Address, policy: SigningPolicy): SigningDomain {
  const { contracts } = chain
  if (policy.mode?.kind === 'subaccount') {
    return {
      router: contracts.subaccountGelatoRelayRouter,
      account,
      subaccountApproval: hashSubaccountApproval(policy.mode.approval),
    }
  }
  return { router: contracts.gelatoRelayRouter, account: ZERO_ADDRESS, subaccountApproval: ZERO_HASH }
}
