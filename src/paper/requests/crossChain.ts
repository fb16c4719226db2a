/** Common parts of deposits and withdrawals across chains: the pairs of chains that settle, and the fields that both routes read. */
import { defined } from '../../base/defined.ts'
import { type Address, ZERO_ADDRESS } from '../../protocol/address.ts'
import type { ChainName } from '../../protocol/chains/chain.ts'
import type { CatalogToken } from '../catalog/catalog.ts'
import { type FieldError, parseAddress, refused } from '../http/http.ts'
import { uintOf } from '../http/prepareShape.ts'
import { findToken } from '../state/lookup.ts'
import type { VenueState } from '../state/venueState.ts'

type Body = Readonly<Record<string, unknown>>

/**
 * Settlement of a chain: its source chains, its own endpoint, and the contract that takes deposits in (contract `MultichainTransferRouter`,
 * `bridgeOut`).
 */
const settlements: Readonly<
  Partial<
    Record<
      ChainName,
      { readonly sources: readonly number[]; readonly endpoint: number; readonly provider: Address }
    >
  >
> = {
  arbitrum: {
    sources: [8453, 1, 56],
    endpoint: 30110,
    provider: '0x0B33EBA531e5a5A331a3Ff9F418B8205F01C2869',
  },
  avalanche: {
    sources: [8453, 56],
    endpoint: 30106,
    provider: '0x74eECe8cC29b3d549db97F566a4445F48ed62a0d',
  },
}

/** Notes a refused field. */
export type Refuse = (field: string, value: unknown, message?: string) => void

/** A place for refused fields; a missing value and a malformed one are told apart. */
export function collect(errors: Record<string, FieldError>): Refuse {
  return (field, value, message) => {
    errors[field] = {
      message: message ?? (value === undefined ? `'${field}' is required` : `'${field}' is malformed`),
      ...defined({ value: typeof value === 'string' || typeof value === 'number' ? value : undefined }),
    }
  }
}

/** The account of a request; the zero address when it is refused. */
export function accountOf(body: Body, refuse: Refuse): Address {
  const account = parseAddress(body.account)
  if (account === undefined) refuse('account', body.account)
  return account ?? ZERO_ADDRESS
}

/** The source chain of a request; 0 when it is refused. */
export function chainIdOf(body: Body, refuse: Refuse): number {
  const id = uintOf(body.srcChainId)
  if (id === undefined || id === 0n) refuse('srcChainId', body.srcChainId)
  return Number(id ?? 0n)
}

/** Returns the settlement between the chain and a source chain. Throws HttpFailure 400 INVALID_PARAMS. */
export function settlementOf(venueState: VenueState, srcChainId: number) {
  const settlement = settlements[venueState.chain.name]
  if (settlement === undefined || !settlement.sources.includes(srcChainId)) {
    throw refused('INVALID_PARAMS', `${venueState.chain.name} does not settle from chain ${srcChainId}`)
  }
  return settlement
}

/** A token that can be bridged. Throws HttpFailure 400 TOKEN_NOT_FOUND. */
export function bridgedToken(venueState: VenueState, name: string): CatalogToken {
  const token = findToken(venueState, name)
  if (token === undefined || token.isSynthetic) throw refused('TOKEN_NOT_FOUND', `Token not found: ${name}`)
  return token
}
