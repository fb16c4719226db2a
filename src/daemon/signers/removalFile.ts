/**
 * The file of a removal that is signed elsewhere: typed data for the wallet, and beside it, under `perpd`, what its relay
 * parameters are made of, since the message carries them as a hash alone. Whatever else the file says is not believed.
 */
import type { SignRequest } from '../../domain/signer.ts'
import { type Removal, type RemovalTerms, removalOf } from '../../execution/approval/removal.ts'
import { type Address, sameHex } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import { typesOfMessage } from '../../protocol/signing/messageTypes.ts'
import { relayRouterDomain } from '../../protocol/signing/relayRouter.ts'
import { isRecord, readJson, requestText, unreadable } from './subaccountFile.ts'

/** The typed data of a removal with our own types and the pinned router. */
export function removalTypedData(chain: Chain, { message }: Removal): SignRequest['typedData'] {
  return {
    domain: relayRouterDomain(chain.chainId, chain.contracts.subaccountGelatoRelayRouter),
    types: typesOfMessage('RemoveSubaccount'),
    primaryType: 'RemoveSubaccount',
    message,
  }
}

/** The whole file. */
export function removalRequestText(chain: Chain, removal: Removal, terms: RemovalTerms): string {
  const perpd = {
    feeAmount: terms.feeAmount.toString(),
    userNonce: terms.userNonce.toString(),
    deadline: terms.deadline.toString(),
  }
  return requestText(removalTypedData(chain, removal), { perpd })
}

/**
 * Reads the removal that a file asks to be signed.
 *
 * @throws ApprovalFileError APPROVAL_FILE_UNREADABLE, also when its message is not the one that its terms make
 */
export function readRemovalRequest(chain: Chain, path: string): RemovalTerms {
  const { message, perpd } = readJson(path)
  if (!isRecord(message) || !isRecord(perpd)) {
    throw unreadable(path, 'perpd subaccount revoke --out did not write it')
  }
  const uint = (name: string): bigint => {
    const value = perpd[name]
    const digits = typeof value === 'string' && /^(?:0|[1-9]\d{0,77})$/.test(value) ? value : '-1'
    const number = BigInt(digits)
    if (number >= 0n && number < 2n ** 256n) return number
    throw unreadable(path, `${name} is no whole number`)
  }
  const { subaccount, relayParams } = message
  if (typeof subaccount !== 'string' || !/^0x[0-9a-f]{40}$/i.test(subaccount)) {
    throw unreadable(path, 'subaccount is no address')
  }
  const terms = {
    subaccount: subaccount as Address,
    feeAmount: uint('feeAmount') as RemovalTerms['feeAmount'],
    userNonce: uint('userNonce'),
    deadline: uint('deadline'),
  }
  if (sameHex(String(relayParams), removalOf(chain, terms).message.relayParams)) return terms
  throw unreadable(path, 'relayParams is not the hash of fee, nonce and deadline beside it')
}
