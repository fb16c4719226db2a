/**
 * Taking a delegated key's right away on the chain through the relay: the message that its owner signs, and whether a signed
 * one may be sent. All of it is ours: the venue proposes nothing here
 * (docs/reference/api-coverage.md POST /relay/submit; contract `RelayUtils`).
 */
import type { Difference } from '../../domain/orderEvent.ts'
import type { Address, Hex } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import { type Message, messageDigestOf } from '../../protocol/signing/messages.ts'
import { domainSeparator, hashRelayParams, type RelayParams } from '../../protocol/signing/relayRouter.ts'
import type { TokenAmount } from '../../protocol/units.ts'
import { Differences } from '../context/differences.ts'
import type { SigningPolicy } from '../context/policy.ts'
import { ownRelayFee, ownRelayParams } from '../lanes/relayParams.ts'
import { checkRelayParams } from '../verify/verifyRelayParams.ts'
import { checkOwnerSignature } from './ownerSignature.ts'

/** Taking a session key away adds no risk. */
const takesAway = { kind: 'cancel', reservationUsd: 0n } as const

/** Variable terms of a removal; everything else is fixed by the chain. */
export interface RemovalTerms {
  readonly subaccount: Address
  /** Most that the relay is paid, in the chain's fee token; the unused part is returned. */
  readonly feeAmount: TokenAmount
  readonly userNonce: bigint
  /** Unix seconds of block time. */
  readonly deadline: bigint
}

/** Signed content of a removal. */
export interface Removal {
  readonly relayParams: RelayParams
  readonly message: Message & { readonly subaccount: Address; readonly relayParams: Hex }
  /** At the chain's subaccount router. */
  readonly digest: Hex
}

function separatorOf({ chainId, contracts }: Chain): Hex {
  return domainSeparator(chainId, contracts.subaccountGelatoRelayRouter)
}

/** The message of a removal, its relay parameters and its digest. */
export function removalOf(chain: Chain, terms: RemovalTerms): Removal {
  const { subaccount, feeAmount, userNonce, deadline } = terms
  const fee = ownRelayFee(chain, { createOrderParamsList: [] }, feeAmount)
  const relayParams = ownRelayParams(chain, fee, userNonce, deadline)
  const message = { subaccount, relayParams: hashRelayParams(relayParams) }
  return {
    relayParams,
    message,
    digest: messageDigestOf(separatorOf(chain), 'RemoveSubaccount', message),
  }
}

/**
 * Every reason why a removal may not be signed, or with a signature not be sent; empty when it may. Fee and deadline are
 * bounded by `policy`, as for orders.
 */
export function removalDifferences(
  chain: Chain,
  policy: SigningPolicy,
  meant: { readonly owner: Address; readonly subaccount: Address; readonly nowSeconds: number },
  terms: RemovalTerms,
  signature?: Hex,
): readonly Difference[] {
  const differences = new Differences()
  const { relayParams, digest } = removalOf(chain, terms)
  differences.hex('message.subaccount', meant.subaccount, terms.subaccount)
  checkRelayParams(differences, chain, relayParams, takesAway, policy, 0, meant.nowSeconds)
  if (signature !== undefined) {
    checkOwnerSignature(differences, meant.owner, separatorOf(chain), digest, signature)
  }
  return differences.list
}
