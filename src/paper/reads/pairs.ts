/**
 * Pair feeds for listings: this chain's perpetuals and the Solana feed (docs/reference/api-coverage.md A16 and GET /prices/ohlcv).
 */
import { HttpFailure, type Json } from '../http/http.ts'
import { interestInTokens, mid, slotValue } from '../math/marketState.ts'
import { bell, hashText, unit } from '../math/random.ts'
import { dayOf } from '../pools/dayFigures.ts'
import { dollarsOf } from '../pools/flow.ts'
import { flowBetween, ledgerOf } from '../pools/ledger.ts'
import { hourlyRates, scaleOf } from '../pools/marketRows.ts'
import { marketPrices, type VenueState } from '../state/venueState.ts'

const HOUR = 3600

/** `/pairs`: one row a perpetual; plain floats. Volumes are those of the last 24 hours. */
export function pairRows(venueState: VenueState, nowMs: number): Json[] {
  const seconds = Math.floor(nowMs / 1000)
  const hour = Math.floor(seconds / HOUR)
  const { byMarket } = ledgerOf(venueState)
  const rows: Json[] = []
  for (const market of venueState.markets) {
    const books = byMarket.get(market.key)
    if (market.settings.isSpotOnly || books === undefined) continue
    const prices = marketPrices(venueState, market, seconds)
    const scale = scaleOf(market.indexToken)
    const last = dollarsOf(mid(prices.index) * scale)
    const day = dayOf(venueState, market, seconds)
    const rates = hourlyRates(market, prices)
    const volumeUsd = dollarsOf(flowBetween(venueState, books, hour - 23, hour + 1).volumePerpsUsd)
    const openUsd = (side: 'long' | 'short'): number =>
      dollarsOf(interestInTokens(market.settings, market.state, side) * mid(prices.index))
    const fundingRate = Number(rates.funding.long) / 1e30
    rows.push({
      ticker_id: market.catalog.symbol,
      base_currency: market.indexToken.symbol,
      target_currency: 'USD',
      product_type: 'Perpetual',
      base_volume: last === 0 ? 0 : volumeUsd / last,
      target_volume: volumeUsd,
      last_price: last,
      open_interest: openUsd('long') + openUsd('short'),
      long_open_interest: openUsd('long'),
      short_open_interest: openUsd('short'),
      high: dollarsOf(day.high * scale),
      low: dollarsOf(day.low * scale),
      funding_rate: fundingRate,
      next_funding_rate: fundingRate,
      next_funding_rate_timestamp: (hour + 1) * HOUR,
      volume_usd: volumeUsd,
      pool_id: market.catalog.marketToken,
      liquidity_in_usd: dollarsOf(
        slotValue(market.settings, market.state.pool, 0) * mid(prices.long) +
          slotValue(market.settings, market.state.pool, 1) * mid(prices.short),
      ),
    })
  }
  return rows
}

/** Solana perpetuals by asset, with their daily volume in USD when nothing swings. */
const solanaAssets: readonly (readonly [string, number])[] = [
  ['SOL', 9_000_000],
  ['BTC', 6_000_000],
  ['ETH', 4_000_000],
  ['XRP', 900_000],
  ['DOGE', 600_000],
  ['BONK', 350_000],
  ['WIF', 300_000],
  ['JUP', 200_000],
]

/** The Solana perpetuals at a moment: prices as on this chain, volumes of a seeded book. */
function solanaRows(venueState: VenueState, nowMs: number): Json[] {
  const seconds = Math.floor(nowMs / 1000)
  const hour = Math.floor(seconds / HOUR)
  return solanaAssets.flatMap(([asset, dailyUsd]): Json[] => {
    const token = venueState.catalog.catalog.tokens.find(
      (one) => (one.oracleSymbol ?? one.symbol) === asset || one.symbol === asset,
    )
    if (token === undefined) return []
    const price = venueState.prices.at(venueState.catalog.priceKeyOf(token), seconds)
    if (price === undefined) return []
    const last = dollarsOf(mid(price) * scaleOf(token))
    const stream = hashText(`${venueState.seed}:solana:${asset}`)
    const hourly = (at: number): number => (dailyUsd / 24) * Math.exp(bell(stream, at))
    let volumeUsd = hourly(hour) * ((seconds % HOUR) / HOUR)
    for (let back = 1; back <= 23; back += 1) volumeUsd += hourly(hour - back)
    const open = dailyUsd * 0.4 * (1 + 0.1 * bell(stream ^ 0x31, Math.floor(seconds / 60)))
    const longPart = 0.5 + 0.1 * bell(stream ^ 0x32, hour)
    const fundingRate = 1e-5 * bell(stream ^ 0x33, hour)
    return [
      {
        ticker_id: `${asset}/USD`,
        base_currency: asset,
        target_currency: 'USD',
        product_type: 'Perpetual',
        base_volume: volumeUsd / last,
        target_volume: volumeUsd,
        last_price: last,
        open_interest: open,
        long_open_interest: open * longPart,
        short_open_interest: open * (1 - longPart),
        high: last * (1 + 0.02 * unit(stream, hour)),
        low: last * (1 - 0.02 * unit(stream ^ 0x34, hour)),
        funding_rate: fundingRate,
        next_funding_rate: fundingRate,
        next_funding_rate_timestamp: (hour + 1) * HOUR,
        volume_usd: volumeUsd,
        liquidity_in_usd: open * 2,
      },
    ]
  })
}

const REBUILD_MS = 60_000
const MAX_AGE_MS = 15 * 60_000

const snapshots = new WeakMap<VenueState, { readonly atMs: number; readonly rows: readonly Json[] }>()

/**
 * The Solana feed: a snapshot rebuilt every minute. Throws HttpFailure 503 where it is not computed, while there is none yet,
 * instead of an empty list, and when it is older than 15 minutes.
 */
export function solanaPairs(venueState: VenueState, nowMs: number, isComputed: boolean): readonly Json[] {
  const unserved = new HttpFailure(503, { message: 'Internal Server Error' })
  if (!isComputed) throw unserved
  const { solanaPairs: fault } = venueState.dataFaults
  let snapshot = snapshots.get(venueState)
  if (
    fault !== 'frozen' &&
    (snapshot === undefined || nowMs - snapshot.atMs >= REBUILD_MS || fault === 'empty')
  ) {
    snapshot = { atMs: nowMs, rows: fault === 'empty' ? [] : solanaRows(venueState, nowMs) }
    snapshots.set(venueState, snapshot)
  }
  if (snapshot === undefined || snapshot.rows.length === 0 || nowMs - snapshot.atMs > MAX_AGE_MS)
    throw unserved
  return snapshot.rows
}
