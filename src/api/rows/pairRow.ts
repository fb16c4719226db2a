/** Decodes a row of the pair feeds: `/pairs`, the Solana feed and the summaries for listings have one format. */
import { float, object, optional, present, unixSeconds, word } from '../decode/decode.ts'

/** One perpetual in the feed for listings; plain floats, for people, never to trade on. */
export interface Pair {
  /** The market's symbol. */
  readonly tickerId: string
  readonly baseCurrency: string
  readonly targetCurrency: string
  readonly productType: string
  readonly lastPrice: number
  readonly baseVolume: number
  readonly targetVolume: number
  /** Market token; absent on Solana. */
  readonly poolId?: string
  readonly openInterest?: number
  readonly longOpenInterest?: number
  readonly shortOpenInterest?: number
  readonly high?: number
  readonly low?: number
  readonly fundingRate?: number
  readonly nextFundingRate?: number
  readonly nextFundingRateAtSeconds?: number
  readonly volumeUsd?: number
  readonly liquidityUsd?: number
}

/** Meaning of a 503 of the Solana pairs (docs/reference/api-coverage.md A26 to A33). */
export const SOLANA_UNSERVED =
  'this deployment does not compute Solana pairs, or its snapshot is being built or is older than 15 minutes'

/** One pair; figures are floats on the wire. Throws `Malformed`. */
export function pair(value: unknown): Pair {
  const row = object(value)
  const maybe = (name: string) => optional(row[name], name, float)
  return {
    tickerId: word(row.ticker_id, 'ticker_id'),
    baseCurrency: word(row.base_currency, 'base_currency'),
    targetCurrency: word(row.target_currency, 'target_currency'),
    productType: word(row.product_type, 'product_type'),
    lastPrice: float(row.last_price, 'last_price'),
    baseVolume: float(row.base_volume, 'base_volume'),
    targetVolume: float(row.target_volume, 'target_volume'),
    ...present({
      poolId: optional(row.pool_id, 'pool_id', word),
      openInterest: maybe('open_interest'),
      longOpenInterest: maybe('long_open_interest'),
      shortOpenInterest: maybe('short_open_interest'),
      high: maybe('high'),
      low: maybe('low'),
      fundingRate: maybe('funding_rate'),
      nextFundingRate: maybe('next_funding_rate'),
      nextFundingRateAtSeconds: optional(
        row.next_funding_rate_timestamp,
        'next_funding_rate_timestamp',
        unixSeconds,
      ),
      volumeUsd: maybe('volume_usd'),
      liquidityUsd: maybe('liquidity_in_usd'),
    }),
  }
}
