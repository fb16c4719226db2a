/** Between the numbers of candles and indicators, and the exact prices that decisions have. */
import { fromDecimal, USD_DECIMALS, type Usd, WideDecimal } from '../protocol/units.ts'

/**
 * Returns a level of candles or of an indicator as a price: USD per whole token with 30 decimals, as triggers are. It is exactly the number as it is
 * printed.
 *
 * @throws RangeError unless it is a finite number above 0.
 */
export function priceOfLevel(level: number): Usd {
  if (Number.isFinite(level) && level > 0) return fromDecimal(new WideDecimal(level), USD_DECIMALS)
  throw new RangeError(`priceOfLevel(${level}): a level is a finite number above 0`)
}

/** A price as a number, to be compared with candles and indicators; never to be made an amount of again. */
export function levelOfPrice(price: Usd): number {
  return Number(`${price}e-${USD_DECIMALS}`)
}

/** Prices that may be drawn lie below it: 10^18 dollars. */
const PRICE_BOUND = 10n ** 48n

/** Tells whether an amount may stand among the prices of a status: above 0, and below 10^18 dollars. */
export function isShownPrice(price: Usd): boolean {
  return price > 0n && price < PRICE_BOUND
}
