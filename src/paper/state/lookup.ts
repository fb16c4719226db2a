/** Names to markets and tokens, as every request may write them (test/paper/conformance-behaviours.test.ts, B.5). */
import { hexKey } from '../../protocol/address.ts'
import type { CatalogToken } from '../catalog/catalog.ts'
import type { VenueMarket } from './seedMarkets.ts'
import { tokenPrice, type VenueState } from './venueState.ts'

interface Index {
  readonly bySymbol: ReadonlyMap<string, VenueMarket>
  readonly byAlias: ReadonlyMap<string, VenueMarket>
}

const indexes = new WeakMap<VenueState, Index>()

function indexOf(venueState: VenueState): Index {
  const known = indexes.get(venueState)
  if (known !== undefined) return known
  const bySymbol = new Map(venueState.markets.map((market) => [market.catalog.symbol, market]))
  const byAlias = new Map<string, VenueMarket>()
  const depth = (market: VenueMarket): bigint =>
    market.state.pool[0] * tokenPrice(venueState, market.longToken, venueState.epochSeconds).min +
    market.state.pool[1] * tokenPrice(venueState, market.shortToken, venueState.epochSeconds).min
  for (const market of venueState.markets) {
    if (market.settings.isSpotOnly) continue
    const alias = indexNameOf(market)
    const best = byAlias.get(alias)
    if (best === undefined || depth(market) > depth(best)) byAlias.set(alias, market)
  }
  const index = { bySymbol, byAlias }
  indexes.set(venueState, index)
  return index
}

/** `ETH/USD` of `ETH/USD [WETH-USDC]`. */
export function indexNameOf(market: VenueMarket): string {
  return market.catalog.symbol.replace(/ \[.*$/, '')
}

/** `WETH-USDC` of `ETH/USD [WETH-USDC]`. */
export function poolNameOf(market: VenueMarket): string {
  return market.catalog.symbol.replace(/^.*\[|\]$/g, '')
}

/** A market by full symbol, market token address in any case, or alias (the deepest pool of that index). */
export function findMarket(venueState: VenueState, name: string): VenueMarket | undefined {
  const index = indexOf(venueState)
  return index.bySymbol.get(name) ?? venueState.marketByKey.get(hexKey(name)) ?? index.byAlias.get(name)
}

/** A token by symbol, by address in any case, or by the symbol of the asset that it is (`WBTC`, whose symbol is `BTC`). */
export function findToken(venueState: VenueState, name: string): CatalogToken | undefined {
  return (
    venueState.catalog.tokenBySymbol.get(name) ??
    venueState.catalog.tokenByAddress.get(hexKey(name)) ??
    venueState.catalog.catalog.tokens.find(({ assetSymbol }) => assetSymbol === name)
  )
}
