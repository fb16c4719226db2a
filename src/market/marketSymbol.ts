/** Name of a market for people. */
import { marketOf, type Snapshot } from '../domain/snapshot.ts'
import { hexKey } from '../protocol/address.ts'
import type { Catalogue } from './marketCatalogue.ts'

/** The symbol of a market: as it was read, else as our own facts have it; its address where nothing names it. */
export function marketSymbol(catalogue: Catalogue, snapshot: Snapshot, marketToken: string): string {
  return (
    marketOf(snapshot, marketToken)?.market.symbol ??
    catalogue.facts().markets.get(hexKey(marketToken))?.symbol ??
    marketToken
  )
}
