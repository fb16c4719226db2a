/**
 * The way out for reductions when no host of the oracle has a fresh price: the venue's own mark, from the market's ticker or
 * the position's row, or the freshest price that any host of the oracle had. A reduction cannot add risk, and the protocol
 * executes it at its own price; without this a position could not be left while the price service stands still.
 */
import { ageOf, type MarketView, positionsOn, type Snapshot } from '../../domain/snapshot.ts'
import { hexKey, sameHex } from '../../protocol/address.ts'
import type { OraclePrice, PriceSource } from '../../protocol/market.ts'
import type { Reading } from '../../protocol/reading.ts'
import { type AgeLimits, type ClassifiedDecision, REDUCTION_AGE_FACTOR } from './checks.ts'

/**
 * The snapshot that a decision is judged on: where it cannot add risk and the oracle's price of its market is missing or
 * older than a reduction may stand on, with the price that stands in, and where that is from.
 */
export function withFallbackPrice(
  snapshot: Snapshot,
  { decision, adds }: ClassifiedDecision,
  limits: AgeLimits,
): Snapshot {
  if (adds || decision.kind === 'cancel') return snapshot
  const key = hexKey(decision.marketToken)
  const view = snapshot.markets.get(key)
  // A doubted price is left out on purpose, and says so by itself.
  if (
    view === undefined ||
    view.priceDoubts?.some(({ tokenAddress }) => sameHex(tokenAddress, view.market.indexToken))
  ) {
    return snapshot
  }
  const { maxDataAgeMs = Number.POSITIVE_INFINITY, maxOracleAgeMs, maxTickerAgeMs } = limits
  const isWithin = (reading: Reading<unknown> | undefined, ownMs = Number.POSITIVE_INFINITY): boolean =>
    reading !== undefined && ageOf(snapshot, reading) <= Math.min(maxDataAgeMs, ownMs) * REDUCTION_AGE_FACTOR
  if (isWithin(view.oraclePrice, maxOracleAgeMs)) return snapshot
  const found =
    (isWithin(view.ticker, maxTickerAgeMs) ? ofTicker(view) : undefined) ??
    ofPosition(snapshot, view, decision) ??
    (view.oraclePrice && { price: view.oraclePrice, source: 'old-oracle' as const })
  if (found === undefined) return snapshot
  const standing: MarketView = { ...view, oraclePrice: found.price, priceSource: found.source }
  return { ...snapshot, markets: new Map(snapshot.markets).set(key, standing) }
}

interface FallbackPrice {
  readonly price: Reading<OraclePrice>
  readonly source: PriceSource
}

function ofTicker({ ticker, indexToken }: MarketView): FallbackPrice | undefined {
  if (ticker === undefined || ticker.value.minPrice <= 0n) return undefined
  const { minPrice, maxPrice, markPrice } = ticker.value
  const value = {
    ...named(indexToken),
    minPrice,
    maxPrice,
    medianPrice: markPrice,
    updatedAtSeconds: Math.floor(ticker.atMs / 1000),
  }
  return { price: { value, atMs: ticker.atMs }, source: 'ticker' }
}

function ofPosition(
  snapshot: Snapshot,
  { indexToken }: MarketView,
  { marketToken, direction }: ClassifiedDecision['decision'],
): FallbackPrice | undefined {
  const { atMs } = snapshot.positions
  const price = positionsOn(snapshot, marketToken, direction)[0]?.markPrice ?? 0n
  if (price <= 0n) return undefined
  const value = {
    ...named(indexToken),
    minPrice: price,
    maxPrice: price,
    medianPrice: price,
    updatedAtSeconds: Math.floor(atMs / 1000),
  }
  return { price: { value, atMs }, source: 'position' }
}

function named({
  symbol,
  address,
}: MarketView['indexToken']): Pick<OraclePrice, 'tokenSymbol' | 'tokenAddress'> {
  return { tokenSymbol: symbol, tokenAddress: address }
}
