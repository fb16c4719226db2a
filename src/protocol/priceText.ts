/** Prices as text for people, with the digits that tell them apart: markets trade at $98,000 and at $0.00001. Never to be parsed again. */
import { absOf, formatUnits, USD_DECIMALS, type Usd } from './units.ts'

/** Digits that tell two prices of one market apart. */
const SIGNIFICANT = 6
const LEAST_PLACES = 2

/**
 * Decimal places that prices of one market are shown with in one table, so that each column of them is of one precision: six
 * significant digits of the largest, two places at least.
 */
export function placesOf(prices: readonly Usd[]): number {
  const largest = prices.reduce((most, price) => (absOf(price) > most ? absOf(price) : most), 0n)
  if (largest === 0n) return LEAST_PLACES
  // 10^30 has 31 digits and one before the point.
  const before = largest.toString().length - USD_DECIMALS
  return Math.min(USD_DECIMALS, Math.max(LEAST_PLACES, SIGNIFICANT - before))
}

/**
 * A price: `$1,739.51`, `$7.67123`, `$0.0000123456`. With so many places rounded half up, each of them shown; without, six significant
 * digits and no zeros behind the cents.
 */
export function formatPrice(price: Usd, places?: number): string {
  const shown = places ?? placesOf([price])
  const unit = 10n ** BigInt(USD_DECIMALS - shown)
  const rounded = (absOf(price) + unit / 2n) / unit
  return written(price < 0n, formatUnits(rounded, shown), places ?? LEAST_PLACES)
}

/** Most digits of a price that people are shown: more are of no use to anybody who reads. */
const MOST_DIGITS = 13

/** A price to its last digit, as an order holds its trigger; one of more than thirteen digits, which nobody wrote, as `formatPrice` does. */
export function formatExactPrice(price: Usd): string {
  const exact = formatUnits(absOf(price), USD_DECIMALS)
  const digits = exact.replace('.', '').replace(/^0+/, '').length
  return digits > MOST_DIGITS ? formatPrice(price) : written(price < 0n, exact, LEAST_PLACES)
}

function written(isNegative: boolean, decimal: string, leastPlaces: number): string {
  const [whole = '0', fraction = ''] = decimal.split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',')
  return `${isNegative ? '-' : ''}$${grouped}.${fraction.padEnd(leastPlaces, '0')}`
}
