/** A position with its pending costs, as the official client's functions take it. */
import { hexKey } from '../../protocol/address.ts'
import type { ShownPosition } from '../math/client/positionInfo.ts'
import { type MarketPrices, type MarketState, slotPrice } from '../math/marketState.ts'
import { positionFees } from '../math/positionFees.ts'
import { positionPriceImpact } from '../math/positionImpact.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import type { PositionRecord } from '../state/venueRecords.ts'

/** A position with what it owes at the prices of a moment; `draft` is its market with accrual up to then. */
export function shownPositionOf(
  record: PositionRecord,
  market: VenueMarket,
  draft: MarketState,
  prices: MarketPrices,
): { readonly shown: ShownPosition; readonly positionFeeAmount: bigint } {
  const position = record.state
  const { sizeInUsd, sizeInTokens, side, slot } = position
  const { settings } = market
  const fees = positionFees(settings, draft, position, slotPrice(prices, slot), {
    sizeDeltaUsd: sizeInUsd,
    balanceWasImproved: positionPriceImpact(settings, draft, side, -sizeInUsd, -sizeInTokens, prices)
      .balanceWasImproved,
  })
  return {
    shown: {
      ...position,
      pendingBorrowingFeesUsd: fees.borrowingFeeUsd,
      fundingFeeAmount: fees.fundingFeeAmount,
      claimableLongTokenAmount: fees.claimableLongTokenAmount,
      claimableShortTokenAmount: fees.claimableShortTokenAmount,
      collateralIsIndexToken: hexKey(record.collateralToken.address) === hexKey(market.indexToken.address),
    },
    positionFeeAmount: fees.positionFeeAmount,
  }
}
