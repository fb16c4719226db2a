/** Bounds of every signature, besides the intent's own, and the mode of signing. */
import type { Intent, IntentRisk } from '../../domain/order/intent.ts'
import { isAdding } from '../../domain/order/warning.ts'
import { type Address, type Hex, ZERO_ADDRESS, ZERO_HASH } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import { hashSubaccountApproval, type SubaccountApproval } from '../../protocol/signing/subaccountApproval.ts'
import { maxOf, minOf, type Usd } from '../../protocol/units.ts'
import type { SwapMarkets } from './swapPath.ts'
import type { PriceWidth } from './verifyPrice.ts'

/**
 * Signer of the messages. `own`: the account itself; the message names no account. `subaccount`: a delegated key; the message names the main account
 * and carries the hash of its approval (contract `RelayUtils`).
 */
export type SigningMode =
  | { readonly kind: 'own' }
  | { readonly kind: 'subaccount'; readonly approval: SubaccountApproval }

/** Largest cost of one order of a message, and largest distance of its price from ours. */
export interface OrderBounds {
  /** Highest execution fee of one order, in the native token's base units. */
  readonly maxExecutionFee: bigint
  /**
   * Highest `feeAmount` of the relay parameters for each order of a message, in base units of the chain's fee token. It pays
   * the execution fees of the message's orders and the relay's own gas.
   */
  readonly maxRelayFee: bigint
  /** Distance beyond the slippage that a bounded acceptable price may have from its reference, bps: for price drift, and for impact without data. */
  readonly priceToleranceBps: number
  /**
   * Part of our own estimate of an order's price impact that widens the bound, bps. The estimate is made from a host's statements, so this is the
   * most that a lying host wins. Absent: none.
   */
  readonly maxPriceImpactBps?: number
}

/** Bounds of every signature. Its own bounds are those of orders that add risk. */
export interface SigningPolicy extends OrderBounds {
  /** Nearest and furthest deadline from now, seconds. */
  readonly minDeadlineSeconds: number
  readonly maxDeadlineSeconds: number
  /** Uncertainty of the given time, seconds: it may be later by this much, and windows of times reach further by it. Absent: 0. */
  readonly unsureSeconds?: number
  /** Longest time since the message may have been requested, seconds: times in it that passed since then are no fault. Absent: 0. */
  readonly askedAgoSeconds?: number
  /** Bounds of orders that reduce risk, which are wider: a refused close is worse than a dear one. Absent: the same. */
  readonly reducing?: OrderBounds
  /**
   * Largest cost that prices of a day (UTC) may have beyond slippage and tolerance by estimated impacts, for all strategies' orders together, USD. An
   * operator's reductions are outside of it. Absent: no such limit.
   */
  readonly priceImpactPerDayUsd?: Usd
  /** Markets that a relay fee or a swap may go through. */
  readonly swapMarkets: SwapMarkets
  /** The owner's referral code: it costs nothing and gives discounts. Absent: none is requested, and none is signed. */
  readonly referralCode?: Hex
  /** Our own estimate of the fees; absent: only the highest fees bound them. */
  readonly feeEstimate?: FeeEstimate
  /** Absent: the account signs for itself. */
  readonly mode?: SigningMode
}

/** Our own estimate of a message's fees. */
export interface FeeEstimate {
  /** `chain`: the formula at the chain's gas price; `landed`: earlier landings; `usual`: as configured. */
  readonly source: 'chain' | 'landed' | 'usual'
  /** Execution fee of the dearest order of the message; native token, base units. */
  readonly executionFee: bigint
  /** `feeAmount` for each order of the message, execution fees included; base units of the chain's fee token. */
  readonly relayFee: bigint
  /** Multiple of the estimate that may be signed for orders that add risk. */
  readonly factor: bigint
  /**
   * The most that the gas prices of the last minutes explain, for each order as above: a fee beyond it is no spike. Absent
   * where no endpoint tells gas prices.
   */
  readonly explained?: { readonly executionFee: bigint; readonly relayFee: bigint }
  /** Fees of the whole message: all execution fees together, and the `feeAmount`. */
  readonly whole: { readonly executionFee: bigint; readonly relayFee: bigint }
}

/** Facts that select the bounds of a message; for an edit also its order's type. */
export type Bounded = IntentRisk & {
  readonly terms?: Intent['terms']
}

/** The bounds that an intent's message is held to: the wider ones when all it does is take risk away. */
function boundsFor(policy: SigningPolicy, intent: Bounded): OrderBounds {
  return isBoundAsAdding(intent) ? policy : (policy.reducing ?? policy)
}

/**
 * Tells whether an intent has the bounds of an increase. An edit has those of its order, whether it grows or not: an edit of an entry may cost as
 * much as an entry, and no more.
 */
function isBoundAsAdding(intent: Bounded): boolean {
  const orderType = intent.terms?.orderType
  const opens = orderType === 'limit' || orderType === 'stop-market'
  return isAdding(intent) || (intent.kind === 'edit' && opens)
}

/** Returns the part of an estimated price impact that a price may contain under the policy, bps, by an order's effect on risk. */
export function maxPriceImpactsOf({ maxPriceImpactBps: adding = 0, reducing }: SigningPolicy): {
  readonly adding: number
  readonly reducing: number
} {
  return { adding, reducing: reducing === undefined ? adding : (reducing.maxPriceImpactBps ?? 0) }
}

/** Returns the largest distance of the acceptable prices of the intent's message from their references under the policy. */
export function widthFor(policy: SigningPolicy, intent: Intent): PriceWidth {
  const { priceToleranceBps, maxPriceImpactBps } = boundsFor(policy, intent)
  return {
    slippageBps: intent.terms.slippageBps,
    toleranceBps: priceToleranceBps,
    maxImpactBps: maxPriceImpactBps,
  }
}

/** Highest execution fee of one order of the intent under the policy, native token, base units. */
export function executionFeeLimit(policy: SigningPolicy, intent: Bounded): bigint {
  const { maxExecutionFee } = boundsFor(policy, intent)
  return limitOf(policy, intent, maxExecutionFee, policy.feeEstimate?.executionFee)
}

/** Highest relay fee for each order of the intent's message under the policy, base units of the chain's fee token. */
export function relayFeeLimit(policy: SigningPolicy, intent: Bounded): bigint {
  const { maxRelayFee } = boundsFor(policy, intent)
  return limitOf(policy, intent, maxRelayFee, policy.feeEstimate?.relayFee)
}

/** Returns the limit of a fee. A gas spike must hold no close back: only the highest fee bounds orders that reduce risk. */
function limitOf(
  { feeEstimate }: SigningPolicy,
  intent: Bounded,
  highest: bigint,
  estimate: bigint | undefined,
): bigint {
  return feeEstimate === undefined || estimate === undefined || !isBoundAsAdding(intent)
    ? highest
    : minOf(highest, feeEstimate.factor * estimate)
}

/** Multiple of its limit that a fee may reach in a gas spike, where no gas price is known. */
const SPIKE = 10n

/**
 * Returns the highest execution fee of the intent's message that still counts as a gas spike. That is the fee that gas prices explain, or without
 * known prices ten times its limit, and the fee that would be signed for a reduction. Native token, base units.
 */
export function executionFeeSpike(policy: SigningPolicy, intent: Bounded): bigint {
  const { maxExecutionFee } = policy.reducing ?? policy
  const unknown = maxOf(maxExecutionFee, SPIKE * executionFeeLimit(policy, intent))
  return policy.feeEstimate?.explained?.executionFee ?? unknown
}

/** The same of the relay fee for each order, base units of the chain's fee token. */
export function relayFeeSpike(policy: SigningPolicy, intent: Bounded): bigint {
  const { maxRelayFee } = policy.reducing ?? policy
  const unknown = maxOf(maxRelayFee, SPIKE * relayFeeLimit(policy, intent))
  return policy.feeEstimate?.explained?.relayFee ?? unknown
}

/** Names that the message must contain because of its signer. */
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
