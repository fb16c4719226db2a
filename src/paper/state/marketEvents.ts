/** Events of a market's amounts: pools, open interest, impact pools, funding and borrowing (contract `MarketEventUtils`). */
import type { Address, Hex } from '../../protocol/address.ts'
import type { ChainLog, EventValue } from '../blocks/blockChain.ts'
import type { EventName } from '../blocks/encodeEventData.ts'
import type { MarketState, Slot } from '../math/marketState.ts'
import type { VenueMarket } from './seedMarkets.ts'

/** A market whose state was replaced. */
export interface MarketMove {
  readonly market: VenueMarket
  readonly before: MarketState
}

/** An indexed word that holds an address. */
export function addressWord(address: Address): Hex {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
}

/** One log for each amount that is another one now; a single-token market keeps its amounts under its one token. */
export function marketLogsOf({ market, before }: MarketMove): readonly ChainLog[] {
  const { state: after } = market
  const { marketToken } = market.catalog
  const topics = [addressWord(marketToken)]
  const logs: ChainLog[] = []
  const note = (
    eventName: EventName,
    [was, is]: readonly [bigint, bigint],
    items: Readonly<Record<string, EventValue>> = {},
    name = 'nextValue',
  ): void => {
    if (was === is) return
    logs.push({ eventName, topics, items: { market: marketToken, ...items, delta: is - was, [name]: is } })
  }
  const tokenOf = (slot: Slot): Address => (slot === 0 ? market.longToken : market.shortToken).address
  for (const side of ['long', 'short'] as const) {
    const [was, is] = [before[side], after[side]]
    const isLong = side === 'long'
    for (const slot of [0, 1] as const) {
      const items = { collateralToken: tokenOf(slot), isLong }
      note(
        'FundingFeeAmountPerSizeUpdated',
        [was.fundingFeePerSize[slot], is.fundingFeePerSize[slot]],
        items,
        'value',
      )
      note(
        'ClaimableFundingAmountPerSizeUpdated',
        [was.claimablePerSize[slot], is.claimablePerSize[slot]],
        items,
        'value',
      )
      note('OpenInterestUpdated', [was.interestUsd[slot], is.interestUsd[slot]], items)
      note('OpenInterestInTokensUpdated', [was.interestInTokens[slot], is.interestInTokens[slot]], items)
    }
    const factors = [was.cumulativeBorrowingFactor, is.cumulativeBorrowingFactor] as const
    note('CumulativeBorrowingFactorUpdated', factors, { isLong })
  }
  for (const slot of [0, 1] as const) {
    const token = tokenOf(slot)
    note('PoolAmountUpdated', [before.pool[slot], after.pool[slot]], { token })
    note('SwapImpactPoolAmountUpdated', [before.swapImpactPool[slot], after.swapImpactPool[slot]], { token })
  }
  note('PositionImpactPoolAmountUpdated', [before.positionImpactPoolAmount, after.positionImpactPoolAmount])
  return logs
}
