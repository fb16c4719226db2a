/**
 * Decodes tickers (docs/reference/api-coverage.md GET /markets/tickers), written out as marketInfoRow.ts is and for the same reason.
 */
import type { Ticker } from '../../protocol/market.ts'
import { type Fields, Malformed, word } from '../decode/decode.ts'
import { keptCapacityIf } from './capacityRow.ts'
import { keptAddress, keptIntIf, keptUint, keptUintIf } from './rowMemo.ts'

/**
 * One row of `/markets/tickers`; fields are kept from `had` where the raw value did not change. The legacy available
 * liquidity is not read; a mark price that is absent is the middle. Throws `Malformed`, also when the least price is above the
 * most.
 */
export function ticker(row: Fields, was: Fields, had: Partial<Ticker>): Ticker {
  const minPrice = keptUint(row.minPrice, was.minPrice, had.minPrice, 'minPrice')
  const maxPrice = keptUint(row.maxPrice, was.maxPrice, had.maxPrice, 'maxPrice')
  const hasMark = row.markPrice !== undefined && row.markPrice !== null
  // biome-ignore format: one field a line, to be read as a table.
  const decoded: Ticker = {
    symbol: row.symbol === was.symbol && had.symbol !== undefined ? had.symbol : word(row.symbol, 'symbol'),
    marketToken: keptAddress(row.marketTokenAddress, was.marketTokenAddress, had.marketToken, 'marketTokenAddress'),
    minPrice,
    maxPrice,
    markPrice: hasMark ? keptUint(row.markPrice, was.markPrice, had.markPrice, 'markPrice') : (minPrice + maxPrice) / 2n,
    longInterestUsd: keptUintIf(row.longInterestUsd, was.longInterestUsd, had.longInterestUsd, 'longInterestUsd'),
    shortInterestUsd: keptUintIf(row.shortInterestUsd, was.shortInterestUsd, had.shortInterestUsd, 'shortInterestUsd'),
    longInterestUsdMark: keptUintIf(row.longInterestUsdMark, was.longInterestUsdMark, had.longInterestUsdMark, 'longInterestUsdMark'),
    shortInterestUsdMark: keptUintIf(row.shortInterestUsdMark, was.shortInterestUsdMark, had.shortInterestUsdMark, 'shortInterestUsdMark'),
    longInterestInTokens: keptUintIf(row.longInterestInTokens, was.longInterestInTokens, had.longInterestInTokens, 'longInterestInTokens'),
    shortInterestInTokens: keptUintIf(row.shortInterestInTokens, was.shortInterestInTokens, had.shortInterestInTokens, 'shortInterestInTokens'),
    fundingRateLong: keptIntIf(row.fundingRateLong, was.fundingRateLong, had.fundingRateLong, 'fundingRateLong'),
    fundingRateShort: keptIntIf(row.fundingRateShort, was.fundingRateShort, had.fundingRateShort, 'fundingRateShort'),
    borrowingRateLong: keptIntIf(row.borrowingRateLong, was.borrowingRateLong, had.borrowingRateLong, 'borrowingRateLong'),
    borrowingRateShort: keptIntIf(row.borrowingRateShort, was.borrowingRateShort, had.borrowingRateShort, 'borrowingRateShort'),
    netRateLong: keptIntIf(row.netRateLong, was.netRateLong, had.netRateLong, 'netRateLong'),
    netRateShort: keptIntIf(row.netRateShort, was.netRateShort, had.netRateShort, 'netRateShort'),
    high24h: keptUintIf(row.high24h, was.high24h, had.high24h, 'high24h'),
    low24h: keptUintIf(row.low24h, was.low24h, had.low24h, 'low24h'),
    open24h: keptUintIf(row.open24h, was.open24h, had.open24h, 'open24h'),
    close24h: keptUintIf(row.close24h, was.close24h, had.close24h, 'close24h'),
    priceChange24h: keptIntIf(row.priceChange24h, was.priceChange24h, had.priceChange24h, 'priceChange24h'),
    priceChange24hBps: keptIntIf(row.priceChangePercent24hBps, was.priceChangePercent24hBps, had.priceChange24hBps, 'priceChangePercent24hBps'),
    poolAmountLongUsd: keptUintIf(row.poolAmountLongUsd, was.poolAmountLongUsd, had.poolAmountLongUsd, 'poolAmountLongUsd'),
    poolAmountShortUsd: keptUintIf(row.poolAmountShortUsd, was.poolAmountShortUsd, had.poolAmountShortUsd, 'poolAmountShortUsd'),
    // Absent on old deployments of the venue (docs/reference/api-coverage.md GET /markets/tickers).
    capacityLong: keptCapacityIf(row.capacityLong, was.capacityLong, had.capacityLong, 'capacityLong'),
    capacityShort: keptCapacityIf(row.capacityShort, was.capacityShort, had.capacityShort, 'capacityShort'),
  }
  if (decoded.minPrice > decoded.maxPrice) throw new Malformed('minPrice', 'is above maxPrice', row.minPrice)
  return decoded
}

/** A copy of a ticker that shares nothing a caller could change. */
export function copyTicker(one: Ticker): Ticker {
  const { capacityLong, capacityShort } = one
  return {
    ...one,
    capacityLong: capacityLong && { ...capacityLong },
    capacityShort: capacityShort && { ...capacityShort },
  }
}
