/** Decodes tickers (wire: reads, 2.3), written out as marketInfoRow.ts is and for the same reason. */
import type { Ticker } from '../domain/market.ts'
import { keptCapacityIf } from './capacity.ts'
import { type Fields, Malformed, word } from './decode.ts'
import { keptAddress, keptInt, keptUint } from './rowMemo.ts'

/**
 * One row of `/markets/tickers`; fields are kept from `had` where the raw value did not change. The legacy available
 * liquidity is not read. Throws `Malformed`, also when the least price is above the most.
 */
export function ticker(row: Fields, was: Fields, had: Partial<Ticker>): Ticker {
  // biome-ignore format: one field a line, to be read as a table.
  const prices = {
    symbol: word(row.symbol, 'symbol'),
    marketToken: keptAddress(row.marketTokenAddress, was.marketTokenAddress, had.marketToken, 'marketTokenAddress'),
    minPrice: keptUint(row.minPrice, was.minPrice, had.minPrice, 'minPrice'),
    maxPrice: keptUint(row.maxPrice, was.maxPrice, had.maxPrice, 'maxPrice'),
    markPrice: keptUint(row.markPrice, was.markPrice, had.markPrice, 'markPrice'),
    longInterestUsd: keptUint(row.longInterestUsd, was.longInterestUsd, had.longInterestUsd, 'longInterestUsd'),
    shortInterestUsd: keptUint(row.shortInterestUsd, was.shortInterestUsd, had.shortInterestUsd, 'shortInterestUsd'),
    fundingRateLong: keptInt(row.fundingRateLong, was.fundingRateLong, had.fundingRateLong, 'fundingRateLong'),
    fundingRateShort: keptInt(row.fundingRateShort, was.fundingRateShort, had.fundingRateShort, 'fundingRateShort'),
    borrowingRateLong: keptInt(row.borrowingRateLong, was.borrowingRateLong, had.borrowingRateLong, 'borrowingRateLong'),
    borrowingRateShort: keptInt(row.borrowingRateShort, was.borrowingRateShort, had.borrowingRateShort, 'borrowingRateShort'),
  }
  if (prices.minPrice > prices.maxPrice) throw new Malformed('minPrice', 'is above maxPrice', row.minPrice)
  const capacityLong = keptCapacityIf(row.capacityLong, was.capacityLong, had.capacityLong, 'capacityLong')
  const capacityShort = keptCapacityIf(
    row.capacityShort,
    was.capacityShort,
    had.capacityShort,
    'capacityShort',
  )
  if (capacityLong !== undefined && capacityShort !== undefined) {
    return { ...prices, capacityLong, capacityShort }
  }
  // Old deployments of the venue (wire: reads, 2.3).
  if (capacityLong !== undefined) return { ...prices, capacityLong }
  return capacityShort === undefined ? prices : { ...prices, capacityShort }
}

/** A copy of a ticker that shares nothing a caller could change. */
export function copyTicker(one: Ticker): Ticker {
  const { capacityLong, capacityShort } = one
  const copy = { ...one }
  if (capacityLong === undefined && capacityShort === undefined) return copy
  return {
    ...copy,
    ...(capacityLong === undefined ? {} : { capacityLong: { ...capacityLong } }),
    ...(capacityShort === undefined ? {} : { capacityShort: { ...capacityShort } }),
  }
}
