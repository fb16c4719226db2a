/**
 * Doubts about oracle prices, as values: the documents call prices "scaled to 30 decimals" and give a formula that divides
 * by fewer, and one sample fits neither (docs/reference/api-coverage.md O1). A wrong reading shows in a stable coin that is far from
 * one USD, or in a jump of many times.
 */
import { type Address, hexKey } from '../protocol/address.ts'
import type { OraclePrice, PriceDoubt } from '../protocol/market.ts'
import { ONE_USD, type Usd } from '../protocol/units.ts'

/** Reference values for checking prices. */
export interface PriceSanityOptions {
  /** Tokens of the chain; those with `isStable` must be near one USD. */
  readonly tokens: readonly { readonly address: Address; readonly isStable: boolean }[]
  /** Medians accepted before, by lower-cased address. */
  readonly lastAccepted?: ReadonlyMap<string, Usd>
  /** Whole factor, at least 2; default 100. */
  readonly maxMoveFactor?: bigint
}

const LEAST_STABLE = ONE_USD / 2n
const MOST_STABLE = 2n * ONE_USD
const DEFAULT_MAX_MOVE_FACTOR = 100n

/** Every doubt about a set of prices; an empty list is no proof that they are right. Pure. */
export function doubtsOf(prices: readonly OraclePrice[], options: PriceSanityOptions): readonly PriceDoubt[] {
  const stable = new Set(
    options.tokens.filter(({ isStable }) => isStable).map((token) => hexKey(token.address)),
  )
  const factor = options.maxMoveFactor ?? DEFAULT_MAX_MOVE_FACTOR
  return prices.flatMap((price) => {
    const { tokenSymbol, tokenAddress, medianPrice } = price
    const key = hexKey(tokenAddress)
    const doubts: PriceDoubt[] = []
    if (stable.has(key)) {
      const bounds = { least: LEAST_STABLE, most: MOST_STABLE }
      const outside = [price.minPrice, price.maxPrice].find(
        (each) => each < LEAST_STABLE || each > MOST_STABLE,
      )
      if (outside !== undefined) {
        doubts.push({ code: 'STABLE_OUT_OF_RANGE', tokenSymbol, tokenAddress, price: outside, ...bounds })
      }
    }
    const last = options.lastAccepted?.get(key)
    if (last !== undefined) {
      const bounds = { least: last / factor, most: last * factor }
      if (medianPrice < bounds.least || medianPrice > bounds.most) {
        doubts.push({ code: 'MOVED_TOO_FAR', tokenSymbol, tokenAddress, price: medianPrice, ...bounds })
      }
    }
    return doubts
  })
}
