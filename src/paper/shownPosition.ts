/** A position with its pending costs, as the official client's functions take it. */
import { hexKey } from '../domain/address.ts'
import type { ShownPosition } from './model/client/positionInfo.ts'
import { positionFees } from './model/fees.ts'
import { positionPriceImpact } from './model/impact.ts'
import { type MarketPrices, type MarketState, slotPrice } from './model/market.ts'
import type { VenueMarket } from './seedMarkets.ts'
import type { PositionRecord } from './worldRecords.ts'

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
