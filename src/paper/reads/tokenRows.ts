/** Token rows and wallet reads (docs/reference/api-coverage.md GET /tokens). */
import { type Address, hexKey } from '../../protocol/address.ts'
import type { CatalogToken } from '../catalog/catalog.ts'
import { type Json, requiredAddress } from '../http/http.ts'
import { scaleOf } from '../pools/marketRows.ts'
import { startBalances } from '../state/accounts.ts'
import type { VenueState } from '../state/venueState.ts'
import { allowanceOf } from '../state/wallets.ts'

/** `/tokens` row. */
export function tokenRow(token: CatalogToken): Record<string, Json> {
  const { oracleSymbol: _oracleSymbol, ...shown } = token
  const row: Record<string, Json> = {}
  for (const [name, value] of Object.entries(shown)) {
    if (name !== 'contractPriceDecimals' && value !== undefined) row[name] = value as Json
  }
  return row
}

/** `/tokens/info` row: with prices when the oracle has them. */
export function tokenInfoRow(
  venueState: VenueState,
  token: CatalogToken,
  nowMs: number,
): Record<string, Json> {
  const price = venueState.prices.at(venueState.catalog.priceKeyOf(token), Math.floor(nowMs / 1000))
  const row = tokenRow(token)
  if (price === undefined) return row
  const scale = scaleOf(token)
  row.prices = { minPrice: (price.min * scale).toString(), maxPrice: (price.max * scale).toString() }
  row.hasPriceFeedProvider = true
  return row
}

function erc20Tokens(venueState: VenueState): CatalogToken[] {
  return venueState.catalog.catalog.tokens.filter((token) => !token.isNative && !token.isSynthetic)
}

/** `/balances/wallet`: every ERC-20 token; the native coin is not included, as on the live hosts. */
export function balanceRows(venueState: VenueState, address: Address): Json {
  // A read makes no account: whoever asks for many addresses must not fill the memory.
  const balances = venueState.accounts.get(hexKey(address))?.balances ?? startBalances(venueState)
  return erc20Tokens(venueState).map((token) => ({
    symbol: token.symbol,
    address: token.address,
    decimals: token.decimals,
    balance: (balances.get(hexKey(token.address)) ?? 0n).toString(),
  }))
}

/**
 * `/allowances` of a spender: `router`, or any address.
 *
 * @throws HttpFailure 400 for a missing spender, or one that is neither
 */
export function allowanceRows(venueState: VenueState, query: URLSearchParams): Json {
  const address = requiredAddress(query, 'address')
  const isNamed = query.get('spender') === 'router'
  const spender = isNamed ? venueState.chain.contracts.router : requiredAddress(query, 'spender')
  return erc20Tokens(venueState).map((token) => ({
    symbol: token.symbol,
    address: token.address,
    decimals: token.decimals,
    allowance: allowanceOf(venueState, address, token.address, spender).toString(),
  }))
}
