/**
 * Turns a message into a Verified: it says what the intent says, field by field, or nothing is signed.
 *
 * The venue proposes a message, or we build one from a verified proposal; this file decides. Types and primary type are our own, and the domain is
 * pinned to the chain's router of the mode in use. `relayParams` is hashed again from the payload, and every order, update and cancel is compared
 * with the terms. All differences are reported at once, because the list distinguishes an attack from a bug (docs/security.md).
 */

import type { Prepared } from '../../api/orders/expressOrders.ts'
import { defined } from '../../base/defined.ts'
import type { Intent } from '../../domain/order/intent.ts'
import type { Difference } from '../../domain/orderEvent.ts'
import type { Address, Hex } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import {
  type Batch,
  digestOf,
  domainSeparator,
  hashRelayParams,
  type RelayParams,
} from '../../protocol/signing/relayRouter.ts'
import type { SubaccountApproval } from '../../protocol/signing/subaccountApproval.ts'
import { type BenignCode, Differences } from '../context/differences.ts'
import { type SigningPolicy, signingDomainOf } from '../context/policy.ts'
import { checkChanges } from './verifyChanges.ts'
import { checkCopies } from './verifyCopies.ts'
import { checkEnvelope } from './verifyEnvelope.ts'
import { checkOrders } from './verifyOrder.ts'
import { checkRelayParams } from './verifyRelayParams.ts'

declare const verifiedBrand: unique symbol

/** A message with the relay parameters behind its hash: all that a signature covers. */
export interface Proposal {
  readonly batch: Batch
  readonly relayParams: RelayParams
}

/** A message that says the same as the intent. Made by `verify` and `verifyBatch` alone; `sign` takes nothing else. */
export interface Verified extends Proposal {
  readonly [verifiedBrand]: true
  readonly intent: Intent
  /** The host's answer with the message; absent for a message that perpd built. */
  readonly prepared?: Prepared
  /** The approval that goes with it when a subaccount signs. */
  readonly subaccountApproval?: SubaccountApproval
  readonly router: Address
  readonly chainId: number
  /** Computed here, from our own types and the pinned domain. */
  readonly digest: Hex
  readonly deadlineSeconds: number
  /** Number of fields compared one to one with the intended values. */
  readonly comparedFields: number
}

/** Reasons why a message is not signed. */
export interface Rejection {
  readonly kind: 'rejected'
  /**
   * Code of the rejection. Values that change by themselves have separate codes: the price (`PRICE_OUT_OF_BOUNDS`; for a reduction where hosts differ
   * on it, `PRICE_CONTESTED`), a fee in a gas spike (`FEE_ABOVE_LIMIT`), the position under a reduction (`POSITION_MOVED`), and the host's offer
   * (`OFFER_EXPIRED`). Anything else is `TYPED_DATA_MISMATCH`. docs/orders.md has the rule of each field.
   */
  readonly code: BenignCode | 'TYPED_DATA_MISMATCH'
  readonly differences: readonly Difference[]
}

const separators = new Map<string, Hex>()

function separatorOf(chainId: number, router: Address): Hex {
  const key = `${chainId}:${router}`
  const known = separators.get(key)
  if (known !== undefined) return known
  const separator = domainSeparator(chainId, router)
  separators.set(key, separator)
  return separator
}

/**
 * Compares a host's prepared payload, envelope and all, with its intent. `nowSeconds` is the chain's or the host's time as well as we know it.
 * Returns the signable message, or every difference.
 */
export function verify(
  chain: Chain,
  intent: Intent,
  prepared: Prepared,
  policy: SigningPolicy,
  nowSeconds: number,
): Verified | Rejection {
  const differences = new Differences()
  const { router } = signingDomainOf(chain, intent.account, policy)
  checkEnvelope(differences, chain, router, prepared, policy, nowSeconds)
  checkCopies(differences, chain, intent, prepared.typedData.batch, prepared.copy)
  const proposal = { batch: prepared.typedData.batch, relayParams: prepared.relayParams }
  return judged(differences, chain, intent, proposal, policy, nowSeconds, prepared)
}

/** The same for a message without a host's envelope, as the relay lane builds its own. */
export function verifyBatch(
  chain: Chain,
  intent: Intent,
  proposal: Proposal,
  policy: SigningPolicy,
  nowSeconds: number,
): Verified | Rejection {
  return judged(new Differences(), chain, intent, proposal, policy, nowSeconds, undefined)
}

function judged(
  differences: Differences,
  chain: Chain,
  intent: Intent,
  { batch, relayParams }: Proposal,
  policy: SigningPolicy,
  nowSeconds: number,
  prepared: Prepared | undefined,
): Verified | Rejection {
  const { router, account, subaccountApproval } = signingDomainOf(chain, intent.account, policy)
  checkRelayParams(
    differences,
    chain,
    relayParams,
    intent,
    policy,
    batch.createOrderParamsList.length,
    nowSeconds,
  )
  differences.hex('message.relayParams', hashRelayParams(relayParams), batch.relayParams)
  differences.hex('message.account', account, batch.account)
  differences.hex('message.subaccountApproval', subaccountApproval, batch.subaccountApproval)
  checkOrders(differences, intent, batch.createOrderParamsList, policy, nowSeconds)
  checkChanges(differences, intent, batch, policy)
  if (differences.list.length > 0) {
    return { kind: 'rejected', code: differences.code, differences: differences.list }
  }
  const verified: Omit<Verified, typeof verifiedBrand> = {
    intent,
    batch,
    relayParams,
    router,
    chainId: chain.chainId,
    digest: digestOf(separatorOf(chain.chainId, router), batch),
    deadlineSeconds: Number(relayParams.deadline),
    comparedFields: differences.compared,
    ...defined({ prepared }),
    ...defined({ subaccountApproval: policy.mode?.kind === 'subaccount' ? policy.mode.approval : undefined }),
  }
  return verified as Verified
}
