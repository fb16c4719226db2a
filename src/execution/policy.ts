/** What may be signed at all, besides what an intent says, and for whom. */
import type { Chain } from '../chains/chain.ts'
import { hashSubaccountApproval, type SubaccountApproval } from '../chains/subaccountApproval.ts'
import { type Address, type Hex, ZERO_ADDRESS, ZERO_HASH } from '../domain/address.ts'
import { minOf } from '../domain/units.ts'

/**
 * Who signs. `own`: the account itself; the message names no account. `subaccount`: a delegated key; the message names the
 * main account and carries the hash of the approval that goes with it (wire: eip712-and-chain, 3).
 */
export type SigningMode =
  | { readonly kind: 'own' }
  | { readonly kind: 'subaccount'; readonly approval: SubaccountApproval }

/** Bounds of every signature. */
export interface SigningPolicy {
  /** Nearest and furthest deadline from now, seconds. */
  readonly minDeadlineSeconds: number
  readonly maxDeadlineSeconds: number
  /** Highest execution fee of one order, in the native token's base units. */
  readonly maxExecutionFee: bigint
  /** Highest relay fee for each order of a message, in base units of the chain's fee token. */
  readonly maxRelayFee: bigint
  /** How far beyond the slippage a bounded acceptable price may lie from its reference, bps: price drift and impact. */
  readonly priceToleranceBps: number
  /** Lower-cased market tokens that a relay fee or a swap may go through. */
  readonly feeSwapMarkets: ReadonlySet<string>
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

/** Highest execution fee of one order under the policy, native token, base units. */
export function executionFeeLimit({ maxExecutionFee, feeEstimate }: SigningPolicy): bigint {
  return feeEstimate === undefined
    ? maxExecutionFee
    : minOf(maxExecutionFee, feeEstimate.factor * feeEstimate.executionFee)
}

/** Highest relay fee for each order of a message under the policy, base units of the chain's fee token. */
export function relayFeeLimit({ maxRelayFee, feeEstimate }: SigningPolicy): bigint {
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
