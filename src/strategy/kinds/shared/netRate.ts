/** What holding a side of a market earns. Pure. */
import type { Direction, Ticker } from '../../../protocol/market.ts'
import { BPS_ONE, ONE_USD } from '../../../protocol/units.ts'

/** Funding less borrowing of a side, thousandths of a basis point of its size a day, rounded toward zero. */
export function milliBpsPerDay(ticker: Ticker, direction: Direction): bigint {
  const rate =
    direction === 'long'
      ? (ticker.netRateLong ?? ticker.fundingRateLong - ticker.borrowingRateLong)
      : (ticker.netRateShort ?? ticker.fundingRateShort - ticker.borrowingRateShort)
  return (rate * 24n * BigInt(BPS_ONE) * 1000n) / ONE_USD
}

/** Such a rate in basis points, `15.25`. */
export function rateText(milliBps: bigint): string {
  return (Number(milliBps) / 1000).toFixed(2)
}
