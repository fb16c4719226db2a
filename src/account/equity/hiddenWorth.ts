/**
 * Worth of positions that the journal knows and a host's list does not show: a list that hides a position shows no loss of it. The books give its
 * collateral and the cost of its tokens. The price on which most hosts agreed gives their present worth, so that a hidden loss counts.
 */
import { sideKeyOf, sideOfIntent } from '../../domain/accountRecords/accountRecord.ts'
import { type HeldSides, hiddenIn } from '../../domain/accountRecords/held.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { type Address, hexKey } from '../../protocol/address.ts'
import type { Facts } from '../../protocol/catalogue.ts'
import { maxOf, mulDiv, type TokenAmount, type Usd, usdOfAmount } from '../../protocol/units.ts'
import type { HoldingsContext } from '../holdings/holdings.ts'
import type { Books } from './readingsAddUp.ts'

/** The worth that the lists of a reading hide, USD. `moving`: orders whose payment the reading counts elsewhere. */
export type HiddenWorth = (lists: Books, moving: readonly IntentState[]) => Usd

/** Makes it; `held`: sizes by the journal, signed. */
export function createHiddenWorth(
  { catalogue, journal, prices, trading }: HoldingsContext & { readonly catalogue: { facts(): Facts } },
  held: () => HeldSides,
): HiddenWorth {
  /** Index tokens at the last good price, USD; undefined where none is known. */
  function worthOfTokens(marketToken: Address, sizeInTokens: TokenAmount): Usd | undefined {
    const { markets, tokens } = catalogue.facts()
    const index = tokens.get(hexKey(markets.get(hexKey(marketToken))?.indexToken ?? ''))
    const last = prices.lastOf(marketToken)
    if (index === undefined || last === undefined) return undefined
    return usdOfAmount(sizeInTokens, last.price, index.decimals)
  }

  return ({ positions, worth }, moving) => {
    const opening = new Set(
      moving.flatMap(({ intent }) => (intent.kind === 'increase' ? [sideKeyOf(sideOfIntent(intent))] : [])),
    )
    const hidden = hiddenIn({ value: positions }, held(), trading.accountJournal.state())
    const counted = hidden.filter((side) => !opening.has(sideKeyOf(side)))
    if (counted.length === 0) return 0n
    const books = Map.groupBy(journal.books().all(), sideKeyOf)
    return counted.reduce((sum, side) => {
      const parts = books.get(sideKeyOf(side)) ?? []
      const collateral = parts.reduce((all, part) => all + part.collateral, 0n)
      const sizeInTokens = parts.reduce((all, part) => all + part.sizeInTokens, 0n)
      const costUsd = parts.reduce((all, part) => all + part.costUsd, 0n)
      const beyondUsd = (worthOfTokens(side.marketToken, sizeInTokens) ?? costUsd) - costUsd
      const wholeUsd =
        worth(side.collateralToken, collateral) + (side.direction === 'long' ? beyondUsd : -beyondUsd)
      return sum + mulDiv(maxOf(0n, wholeUsd), side.knownUsd - side.shownUsd, side.knownUsd)
    }, 0n)
  }
}
