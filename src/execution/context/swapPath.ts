/**
 * Paths of swaps, walked from the input token: each market takes one of its two tokens and gives the other (SwapUtils.swap). A list of known markets
 * therefore proves nothing until it is followed to its end.
 */
import { type Address, hexKey, sameHex } from '../../protocol/address.ts'
import type { Differences } from './differences.ts'

/** The tokens of a market: its pool's two, and the one that it is named after. */
export interface PoolTokens {
  readonly indexToken: Address
  readonly longToken: Address
  readonly shortToken: Address
}

/** Markets that a swap may go through, by lower-cased market token. */
export type SwapMarkets = ReadonlyMap<string, PoolTokens>

/** Most markets of one path (the contracts' MAX_SWAP_PATH_LENGTH). */
const MAX_SWAP_PATH_LENGTH = 3

/** The markets of a list, as paths are walked through them. */
export function swapMarketsOf(
  markets: Iterable<PoolTokens & { readonly marketToken: Address }>,
): SwapMarkets {
  const found = new Map<string, PoolTokens>()
  for (const { marketToken, indexToken, longToken, shortToken } of markets)
    found.set(hexKey(marketToken), { indexToken, longToken, shortToken })
  return found
}

/** Returns the token to which a path leads from a token. Undefined when one of its markets is unknown or does not accept the incoming token. */
function pathEnd(from: Address, path: readonly Address[], markets: SwapMarkets): Address | undefined {
  let token: Address | undefined = from
  for (const market of path) {
    const pool = markets.get(hexKey(market))
    if (pool === undefined || token === undefined) return undefined
    const { longToken, shortToken } = pool
    token = sameHex(token, longToken) ? shortToken : sameHex(token, shortToken) ? longToken : undefined
  }
  return token
}

/** Ends of a path, and the markets that it may use. */
export interface PathTerms {
  readonly from: Address
  readonly to: Address
  readonly markets: SwapMarkets
}

/** One to three listed markets, each once, that lead from `from` to `to`; every difference is added. */
export function checkPath(
  differences: Differences,
  field: string,
  path: readonly Address[],
  { from, to, markets }: PathTerms,
): void {
  differences.compared += 1
  if (path.length < 1 || path.length > MAX_SWAP_PATH_LENGTH)
    differences.add(field, `1 to ${MAX_SWAP_PATH_LENGTH} markets`, `${path.length}`)
  path.forEach((market, index) => {
    const isFirst = path.findIndex((each) => sameHex(each, market)) === index
    if (!markets.has(hexKey(market)) || !isFirst)
      differences.add(`${field}[${index}]`, 'a listed market, once', market)
  })
  const end = pathEnd(from, path, markets)
  if (end === undefined || !sameHex(end, to))
    differences.add(
      field,
      `a path from ${from} to ${to}`,
      end === undefined ? 'leads nowhere' : `ends in ${end}`,
    )
}
