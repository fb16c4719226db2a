/**
 * The worth of an account at any moment, quickly: without what closing would cost, which moves slowly. It tells where to look, and judges nothing.
 */
import type { CatalogToken } from '../../paper/catalog/catalog.ts'
import { positionsOfAccount } from '../../paper/state/accounts.ts'
import { tokenPrice, type VenueState } from '../../paper/state/venueState.ts'
import type { Address } from '../../protocol/address.ts'
import type { Usd } from '../../protocol/units.ts'
import { amountsOf } from '../lab/labWorth.ts'

/** The worth of an account without what closing would cost; `moved` says that its amounts changed. */
export interface QuickWorth {
  at(second: number): Usd
  moved(): void
}

/** Makes it; amounts are added up once, and valued at each call. */
export function createQuickWorth(venueState: VenueState, account: Address): QuickWorth {
  let amounts: readonly (readonly [token: CatalogToken, amount: bigint])[] | undefined

  function amountsNow(): NonNullable<typeof amounts> {
    return [...amountsOf(venueState, account)].flatMap(([key, amount]) => {
      const token = venueState.catalog.tokenByAddress.get(key)
      return token === undefined || amount === 0n ? [] : [[token, amount] as const]
    })
  }

  return {
    at(second) {
      amounts ??= amountsNow()
      let worthUsd = 0n
      for (const [token, amount] of amounts) worthUsd += amount * tokenPrice(venueState, token, second).min
      for (const { marketKey, collateralToken, state } of positionsOfAccount(venueState, account)) {
        const market = venueState.marketByKey.get(marketKey)
        if (market === undefined) continue
        const { min, max } = tokenPrice(venueState, market.indexToken, second)
        const { side, sizeInTokens, sizeInUsd, collateralAmount } = state
        worthUsd += collateralAmount * tokenPrice(venueState, collateralToken, second).min
        worthUsd += side === 'long' ? sizeInTokens * min - sizeInUsd : sizeInUsd - sizeInTokens * max
      }
      return worthUsd
    },
    moved() {
      amounts = undefined
    },
  }
}
