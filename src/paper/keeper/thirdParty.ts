/**
 * A third party on the paper chain. An own-wallet batch carries no account, so anybody can sign the same parameters and
 * use up its digest; and the calldata of a reverted transaction is public, so anybody can send it again (contract
 * `BaseGelatoRelayRouter`, `digests`).
 */
import { sameHex, ZERO_ADDRESS } from '../../protocol/address.ts'
import { signDigest } from '../../protocol/crypto/secp256k1.ts'
import { actorsOf, thirdPartyKeyOf } from '../blocks/keeperCall.ts'
import type { SignedBatch } from '../state/venueRecords.ts'
import type { VenueState } from '../state/venueState.ts'
import { runBatch } from './relayBatch.ts'

/**
 * Lands the same parameters for the stranger's own account, signed by the third party: the digest is used up, and no log
 * is of the account that signed first. False when it cannot be done: a session key's batch names its account, and a batch
 * that touches orders of others reverts.
 */
export function useUpDigest(venueState: VenueState, signed: SignedBatch, nowMs: number): boolean {
  if (!sameHex(signed.batch.account, ZERO_ADDRESS)) return false
  const { batch, relayParams, digest } = signed
  const foreign: SignedBatch = {
    account: actorsOf(venueState.chain).stranger,
    requestId: null,
    batch,
    relayParams,
    digest,
    signature: signDigest(thirdPartyKeyOf(venueState.chain), digest),
  }
  return runBatch(venueState, foreign, { sender: 'stranger', nowMs }).revert === undefined
}
