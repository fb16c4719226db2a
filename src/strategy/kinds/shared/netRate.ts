/** Net rate earned by holding a side of a market. Pure. */
import { type Direction, netRateOf, type Ticker } from '../../../protocol/market.ts'
import { BPS_ONE, ONE_USD } from '../../../protocol/units.ts'

/**
 * Funding less borrowing of a side, thousandths of a basis point of its size a day, rounded toward zero; undefined where the
 * venue does not send them.
 */
export function milliBpsPerDay(ticker: Ticker, direction: Direction): bigint | undefined {
  const rate = netRateOf(ticker, direction)
  return rate === undefined ? undefined : (rate * 24n * BigInt(BPS_ONE) * 1000n) / ONE_USD
}

/** Such a rate in basis points, `15.25`. */
export function rateText(milliBps: bigint): string {
  return (Number(milliBps) / 1000).toFixed(2)
}
