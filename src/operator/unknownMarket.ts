/** Message about a market that the venue does not list. */
import { marketsNamed, type NamedMarket } from '../protocol/marketName.ts'
import { didYouMean } from '../strategy/didYouMean.ts'

/** The listed market that a name is nearest to: its pair, or the whole symbol of a name with a pool; undefined when none is near. */
export function nearMarket(symbols: readonly string[], name: string): string | undefined {
  const wanted = name.trim()
  if (wanted.includes('[')) return didYouMean(wanted, symbols)
  // Every pair ends in the same token: the index token distinguishes them.
  const [index = wanted] = wanted.split('/')
  const pairOf = new Map(
    symbols.map((symbol) => {
      const [pair = symbol] = symbol.split(' ')
      return [pair.split('/')[0] ?? pair, pair]
    }),
  )
  const near = didYouMean(index, [...pairOf.keys()])
  return near === undefined ? undefined : pairOf.get(near)
}

/** `the venue lists no market ETHH/USD; did you mean ETH/USD?`; without a near one, how to look for it. */
export function unknownMarketText(symbols: readonly string[], name: string): string {
  const near = nearMarket(symbols, name)
  const hint = near === undefined ? 'search with perpd markets --search WORD' : `did you mean ${near}?`
  return `the venue lists no market ${name.trim()}; ${hint}`
}

/**
 * `OM/USD is delisted: ...`, where a name means no market that is listed and one that is known; undefined otherwise.
 *
 * @param known all markets that are known, listed or not
 * @param listed those that the venue lists
 */
export function delistedText(
  known: readonly NamedMarket[],
  listed: readonly NamedMarket[],
  name: string,
): string | undefined {
  const tokens = new Set(listed.map(({ marketToken }) => marketToken.toLowerCase()))
  const named = marketsNamed(known, name)
  const [gone] = named
  if (gone === undefined || named.some(({ marketToken }) => tokens.has(marketToken.toLowerCase())))
    return undefined
  // If a pair has several pools, all of them are gone.
  const symbol = named.length === 1 ? gone.symbol : (gone.symbol.split(' ')[0] ?? gone.symbol)
  return `${symbol} is delisted: you can close positions there, but not open any`
}
