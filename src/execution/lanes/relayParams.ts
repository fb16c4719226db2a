/** Relay parameters that perpd chooses, and messages in them: nonce, deadline and fee are ours; there are no permits or external calls. */
import type { Intent } from '../../domain/order/intent.ts'
import type { Hex } from '../../protocol/address.ts'
import type { BatchTerms, CreateOrderParams } from '../../protocol/batch.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import { keccakOfBytes } from '../../protocol/crypto/keccak.ts'
import { type Batch, hashRelayParams, type RelayParams } from '../../protocol/signing/relayRouter.ts'
import type { TokenAmount } from '../../protocol/units.ts'
import { type SigningPolicy, signingDomainOf } from '../context/policy.ts'
import type { Proposal } from '../verify/verify.ts'

/** The parts of the relay parameters that cost money; the rest is nonce, deadline and empty fields. */
export type RelayFee = Pick<RelayParams, 'fee' | 'oracleParams'>

/**
 * The nonce of an attempt: uint256 of keccak256 of `intentId#attempt` in UTF-8. Two attempts never share a digest, whatever
 * else they share, and one attempt always has the same nonce.
 */
export function relayNonceOf(intentId: string, attempt: number): bigint {
  return BigInt(keccakOfBytes(Buffer.from(`${intentId}#${attempt}`, 'utf8')))
}

/**
 * The fee of a message that no host prepared: `perOrder` for each order that it creates, at least once, swapped into the
 * native token through the chain's own market for that. What the relay does not use comes back to the account.
 */
export function ownRelayFee(
  chain: Chain,
  batch: { readonly createOrderParamsList: readonly CreateOrderParams[] },
  perOrder: TokenAmount,
): RelayFee {
  const { contracts, feeToken, feeSwapPath } = chain
  const orders = Math.max(1, batch.createOrderParamsList.length)
  const priced = [feeToken.address, contracts.wrappedNative]
  return {
    fee: { feeToken: feeToken.address, feeAmount: perOrder * BigInt(orders), feeSwapPath },
    oracleParams: {
      tokens: priced,
      providers: priced.map(() => contracts.chainlinkPriceFeedProvider),
      data: priced.map((): Hex => '0x'),
    },
  }
}

/**
 * Returns relay parameters that perpd chooses: no permits and no external calls, for this chain alone.
 *
 * @param deadline Unix seconds of block time
 */
export function ownRelayParams(
  chain: Chain,
  { fee, oracleParams }: RelayFee,
  userNonce: bigint,
  deadline: bigint,
): RelayParams {
  return {
    oracleParams,
    externalCalls: {
      sendTokens: [],
      sendAmounts: [],
      externalCallTargets: [],
      externalCallDataList: [],
      refundTokens: [],
      refundReceivers: [],
    },
    tokenPermits: [],
    fee,
    userNonce,
    deadline,
    desChainId: BigInt(chain.chainId),
  }
}

/** Content of a message in relay parameters that perpd chooses. */
export interface RelayMessage {
  readonly intent: Intent
  readonly attempt: number
  /** Creates, updates and cancels: a verified prepare's, or the caller's own. */
  readonly actions: BatchTerms
  readonly fee: RelayFee
  /** The chain's time as far as anybody knows, Unix seconds. */
  readonly nowSeconds: number
  /** Distance of the deadline after it, seconds. */
  readonly validForSeconds: number
}

/** Returns the message in relay parameters that perpd chooses: no permits, no external calls, our nonce and deadline. Not verified yet. */
export function relayProposal(chain: Chain, policy: SigningPolicy, message: RelayMessage): Proposal {
  const { intent, attempt, actions, fee, nowSeconds, validForSeconds } = message
  const deadline = BigInt(Math.floor(nowSeconds) + validForSeconds)
  const relayParams = ownRelayParams(chain, fee, relayNonceOf(intent.intentId, attempt), deadline)
  const { account, subaccountApproval } = signingDomainOf(chain, intent.account, policy)
  const batch: Batch = {
    account,
    createOrderParamsList: actions.createOrderParamsList,
    updateOrderParamsList: actions.updateOrderParamsList,
    cancelOrderKeys: actions.cancelOrderKeys,
    relayParams: hashRelayParams(relayParams),
    subaccountApproval,
  }
  return { batch, relayParams }
}
