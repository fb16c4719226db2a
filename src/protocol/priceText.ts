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

/** A price, rounded half up: `$1,739.51`, `$7.67000`, `$0.0000123456`. It has the places of its own size, zeros too, or those of its table. */
export function formatPrice(price: Usd, places = placesOf([price])): string {
  const unit = 10n ** BigInt(USD_DECIMALS - places)
  const rounded = (absOf(price) + unit / 2n) / unit
  const [whole = '0', fraction = ''] = formatUnits(rounded, places).split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',')
  return `${price < 0n ? '-' : ''}$${grouped}.${fraction.padEnd(places, '0')}`
}

/** Most digits of a price that people are shown: more are of no use to anybody who reads. */
const MOST_DIGITS = 13

/**
 * Decimal places in which triggers of one market lose no digit that their orders hold, and those of `placesOf` at least. One of more than
 * thirteen digits, which nobody wrote, asks for no place more.
 */
export function exactPlacesOf(prices: readonly Usd[]): number {
  return prices.reduce((most, price) => {
    const [whole = '', fraction = ''] = formatUnits(absOf(price), USD_DECIMALS).split('.')
    const digits = `${whole}${fraction}`.replace(/^0+/, '').length
    return digits > MOST_DIGITS ? most : Math.max(most, fraction.length)
  }, placesOf(prices))
}

/** A trigger to its last digit, as its order holds it. */
export function formatExactPrice(price: Usd): string {
  return formatPrice(price, exactPlacesOf([price]))
}
