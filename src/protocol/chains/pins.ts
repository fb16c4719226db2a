/**
 * The facts of a chain's markets and tokens that are shipped with perpd: pins/*.json, printed by `npm run pins`. Nothing that
 * a host says changes them.
 */
import { hexKey } from '../address.ts'
import {
  type MarketFacts,
  marketSymbolOf,
  type ShippedFacts,
  type TokenFacts,
  tokensOfMarket,
} from '../catalogue.ts'

/** A file of pins. */
export interface PinsFile {
  /** Content of the file, and its sources. */
  readonly about: string
  readonly printedOn: string
  readonly tokens: readonly Readonly<Record<string, string | number | boolean>>[]
  readonly markets: readonly Readonly<Record<string, string>>[]
}

/** The file's facts by address. Throws TypeError for a file that contradicts itself: it is our own. */
export function shippedFacts({ printedOn, tokens: tokenRows, markets: marketRows }: PinsFile): ShippedFacts {
  const tokens = new Map(
    tokenRows.map((row) => {
      const token = { isStable: false, isNative: false, isWrapped: false, isSynthetic: false, ...row }
      const facts = token as unknown as TokenFacts
      return [hexKey(facts.address), facts]
    }),
  )
  const markets = new Map(
    marketRows.map((row) => {
      const market = row as unknown as MarketFacts
      const own = tokensOfMarket(market, tokens)
      if (own === undefined) throw new TypeError(`pins: a token of ${market.symbol} is missing`)
      if (marketSymbolOf(own) !== market.symbol) throw new TypeError(`pins: ${market.symbol} is misnamed`)
      return [hexKey(market.marketToken), market]
    }),
  )
  const named = new Set([...markets.values()].map(({ symbol }) => symbol))
  if (tokens.size !== tokenRows.length || markets.size !== marketRows.length || named.size !== markets.size)
    throw new TypeError('pins: two rows of one token, one market or one name')
  return { printedOn, tokens, markets }
}
