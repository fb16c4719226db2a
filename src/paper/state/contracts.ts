/** Which addresses of the paper chain are contracts. */
import { hexKey } from '../../protocol/address.ts'
import type { CatalogToken } from '../catalog/catalog.ts'
import type { VenueState } from './venueState.ts'

/** Multicall3 at the address it has on every chain, lower case. */
export const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11'

/** The ERC-20 token of the catalogue at an address, in any case; undefined for the native coin and for synthetics. */
export function tokenAt(venueState: VenueState, address: string): CatalogToken | undefined {
  const token = venueState.catalog.tokenByAddress.get(hexKey(address))
  return token === undefined || token.isNative || token.isSynthetic ? undefined : token
}

/** Tells whether there is a contract at an address: the protocol's, tokens, markets, Multicall3. */
export function isContract(venueState: VenueState, address: string): boolean {
  const key = hexKey(address)
  if (key === MULTICALL3 || tokenAt(venueState, key) !== undefined || venueState.marketByKey.has(key))
    return true
  return Object.values(venueState.chain.contracts).some((contract) => hexKey(contract) === key)
}
