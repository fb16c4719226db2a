/** Gives prices of a table their places: the same in all columns for each market, which may be at $98,000 or at $0.00001. */
import { exactPlacesOf, formatPrice, placesOf } from '../../protocol/priceText.ts'

/** A price of a row as text of its market's places; empty for none. */
export type PriceText<T> = (row: T, price: string | null | undefined) => string
type PricesOf<T> = (row: T) => readonly (string | null | undefined)[]

/** Over all rows of a table: by the largest price of each market. */
export function pricesIn<T>(
  rows: readonly T[],
  marketOf: (row: T) => string,
  pricesOf: PricesOf<T>,
): PriceText<T> {
  return inPlaces(rows, marketOf, pricesOf, placesOf)
}

/** The same for triggers, which lose no digit that an order holds. */
export function triggersIn<T>(
  rows: readonly T[],
  marketOf: (row: T) => string,
  triggersOf: PricesOf<T>,
): PriceText<T> {
  return inPlaces(rows, marketOf, triggersOf, exactPlacesOf)
}

function inPlaces<T>(
  rows: readonly T[],
  marketOf: (row: T) => string,
  pricesOf: PricesOf<T>,
  placesFor: (prices: readonly bigint[]) => number,
): PriceText<T> {
  const prices = new Map<string, bigint[]>()
  for (const row of rows) {
    const known = pricesOf(row).flatMap((price) => (typeof price === 'string' ? [BigInt(price)] : []))
    prices.set(marketOf(row), [...(prices.get(marketOf(row)) ?? []), ...known])
  }
  const places = new Map([...prices].map(([market, all]) => [market, placesFor(all)]))
  return (row, price) =>
    typeof price === 'string' ? formatPrice(BigInt(price), places.get(marketOf(row))) : ''
}
