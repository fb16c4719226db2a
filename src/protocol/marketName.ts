/** The market that a person names: by its symbol, its token's address, or the part of its symbol that tells it. Pure. */

/** Names of a market. */
export interface NamedMarket {
  /** `ETH/USD [WETH-USDC]`. */
  readonly symbol: string
  readonly marketToken: string
}

/**
 * The markets that a name means, in any case of letters: the one of that symbol or address; else all whose pair (`ETH/USD`)
 * or whose index token (`ETH`) it is.
 */
export function marketsNamed<T extends NamedMarket>(all: readonly T[], name: string): readonly T[] {
  const wanted = name.trim().toLowerCase()
  const exact = all.filter(
    ({ symbol, marketToken }) => symbol.toLowerCase() === wanted || marketToken.toLowerCase() === wanted,
  )
  if (exact.length > 0) return exact
  return all.filter(({ symbol }) => {
    const [pair = ''] = symbol.toLowerCase().split(' ')
    return pair === wanted || pair.split('/')[0] === wanted
  })
}

/** Facts by which a position's managers are found. */
export interface Manager {
  readonly name: string
  /** Markets that it trades; none: every market with a position. */
  readonly symbols: readonly string[]
}

/** Names of the strategies that look at positions of a market: each of them may add to one or close it. */
export function managersOf(strategies: readonly Manager[], symbol: string): readonly string[] {
  return strategies
    .filter(({ symbols }) => symbols.length === 0 || symbols.includes(symbol))
    .map(({ name }) => name)
}

/** Names the managers of a market's position, for people. */
export function managersText(names: readonly string[]): string {
  return names.length === 0 ? 'unmanaged' : `managed by ${names.join(', ')}`
}

/** The longest of some assets that a name holds, best at its beginning: ETHUSDT and WETH are ETH. Undefined where it holds none. */
export function nearestAsset(name: string, assets: readonly string[]): string | undefined {
  const longestFirst = assets.filter((asset) => asset.length >= 2).toSorted((a, b) => b.length - a.length)
  return (
    longestFirst.find((asset) => name.startsWith(asset)) ?? longestFirst.find((asset) => name.includes(asset))
  )
}
