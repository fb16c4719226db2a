/** Names to markets and tokens, as every request may write them (test/paper/conformance-behaviours.test.ts, B.5). */
import { hexKey } from '../domain/address.ts'
import type { CatalogToken } from './catalog.ts'
import type { WorldMarket } from './seedMarkets.ts'
import { tokenPrice, type World } from './world.ts'

interface Index {
  readonly bySymbol: ReadonlyMap<string, WorldMarket>
  readonly byAlias: ReadonlyMap<string, WorldMarket>
}

const indexes = new WeakMap<World, Index>()

function indexOf(world: World): Index {
  const known = indexes.get(world)
  if (known !== undefined) return known
  const bySymbol = new Map(world.markets.map((market) => [market.catalog.symbol, market]))
  const byAlias = new Map<string, WorldMarket>()
  const depth = (market: WorldMarket): bigint =>
    market.state.pool[0] * tokenPrice(world, market.longToken, world.epochSeconds).min +
    market.state.pool[1] * tokenPrice(world, market.shortToken, world.epochSeconds).min
  for (const market of world.markets) {
    if (market.settings.isSpotOnly) continue
    const alias = indexNameOf(market)
    const best = byAlias.get(alias)
    if (best === undefined || depth(market) > depth(best)) byAlias.set(alias, market)
  }
  const index = { bySymbol, byAlias }
  indexes.set(world, index)
  return index
}

/** `ETH/USD` of `ETH/USD [WETH-USDC]`. */
export function indexNameOf(market: WorldMarket): string {
  return market.catalog.symbol.replace(/ \[.*$/, '')
}

/** `WETH-USDC` of `ETH/USD [WETH-USDC]`. */
export function poolNameOf(market: WorldMarket): string {
  return market.catalog.symbol.replace(/^.*\[|\]$/g, '')
}

/** A market by full symbol, market token address in any case, or alias (the deepest pool of that index). */
export function findMarket(world: World, name: string): WorldMarket | undefined {
  const index = indexOf(world)
  return index.bySymbol.get(name) ?? world.marketByKey.get(hexKey(name)) ?? index.byAlias.get(name)
}

/** A token by symbol, by address in any case, or by the symbol of the asset that it is (`WBTC`, whose symbol is `BTC`). */
export function findToken(world: World, name: string): CatalogToken | undefined {
  return (
    world.catalog.tokenBySymbol.get(name) ??
    world.catalog.tokenByAddress.get(hexKey(name)) ??
    world.catalog.catalog.tokens.find(({ assetSymbol }) => assetSymbol === name)
  )
}
