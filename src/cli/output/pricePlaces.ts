/** How many places prices of a table have: the same in all columns for each market, which may be at $98,000 or at $0.00001. */
import { formatPrice, placesOf } from '../../protocol/priceText.ts'

/** A price of a row as text of its market's places; empty for none. */
export type PriceText<T> = (row: T, price: string | null | undefined) => string

/** Over all rows of a table: by the largest price of each market. */
export function pricesIn<T>(
  rows: readonly T[],
  marketOf: (row: T) => string,
  pricesOf: (row: T) => readonly (string | null | undefined)[],
): PriceText<T> {
  const prices = new Map<string, bigint[]>()
  for (const row of rows) {
    const known = pricesOf(row).flatMap((price) => (typeof price === 'string' ? [BigInt(price)] : []))
    prices.set(marketOf(row), [...(prices.get(marketOf(row)) ?? []), ...known])
  }
  const places = new Map([...prices].map(([market, all]) => [market, placesOf(all)]))
  return (row, price) =>
    typeof price === 'string' ? formatPrice(BigInt(price), places.get(marketOf(row))) : ''
}
