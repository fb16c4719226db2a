/** Index assets: what candles are of. Markets of one asset have the same prices, whatever their pools are. */
import { hexKey } from '../protocol/address.ts'
import type { TokenFacts } from '../protocol/catalogue.ts'
import { chains } from '../protocol/chains/index.ts'
import { marketsNamed, nearestAsset } from '../protocol/marketName.ts'

/** The asset that an index token follows, as the store names it: `ETH`, `PEPE` of kPEPE/USD. */
export function assetOfToken({ symbol, baseSymbol, oracleSymbol }: TokenFacts): string {
  return (baseSymbol ?? oracleSymbol ?? symbol).replace(/\..*$/, '').toUpperCase()
}

interface KnownMarket {
  readonly symbol: string
  readonly marketToken: string
  readonly asset: string
}

let markets: readonly KnownMarket[] | undefined

/** Markets that are shipped with the chains, with the asset of each; a pool that only swaps has none. */
function knownMarkets(): readonly KnownMarket[] {
  markets ??= Object.values(chains).flatMap(({ facts }) =>
    [...facts.markets.values()].flatMap(({ symbol, marketToken, indexToken }) => {
      const index = facts.tokens.get(hexKey(indexToken))
      return index === undefined ? [] : [{ symbol, marketToken, asset: assetOfToken(index) }]
    }),
  )
  return markets
}

/** The assets of all markets that are shipped with the chains. */
export function knownAssets(): ReadonlySet<string> {
  return new Set(knownMarkets().map(({ asset }) => asset))
}

/** The index asset of a market that is named by its symbol, pair, token or asset: `ETH` of `ETH/USD [WETH-USDC]`. One that is not known is the first word of its name. */
export function assetOfMarket(market: string): string {
  const word = (market.trim().split(/[\s/]/)[0] ?? '').toUpperCase()
  if (knownAssets().has(word)) return word
  return marketsNamed(knownMarkets(), market)[0]?.asset ?? word
}

/** The known asset that a name holds, `ETH` of ETHUSDT; undefined where none is near. */
export function nearKnownAsset(name: string): string | undefined {
  return nearestAsset(name, [...knownAssets()])
}
