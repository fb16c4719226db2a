/** Reductions of positions without a readable row. */
import { defined } from '../../base/defined.ts'
import type { CloseDecision, DecreaseDecision } from '../../domain/order/decision.ts'
import type { Denial } from '../../domain/order/intent.ts'
import { positionsOn, unlistedOn } from '../../domain/snapshot.ts'
import { sameHex } from '../../protocol/address.ts'
import { formatDollars, MAX_UINT256, minOf } from '../../protocol/units.ts'
import { type AdmissionContext, marketViewOf } from '../exposure/admissionContext.ts'
import { collateralUnknown, oldestAgeMs, oracleUnknown, referencePriceOf, type Sized } from './sizing.ts'
import { triggerOf } from './triggerOrders.ts'

/**
 * Sizes a reduction of a position with an unreadable row: by the side and size that the journal or the rest of the row know. A part leaves the
 * collateral; for a whole one the contract decides the payout. Undefined where there is a row, or nothing is known.
 */
export function sizeUnlisted(
  decision: DecreaseDecision | CloseDecision,
  context: AdmissionContext,
): Sized | Denial | undefined {
  const { snapshot } = context
  const view = marketViewOf(context, decision)
  const rows = positionsOn(snapshot, decision.marketToken, decision.direction)
  const hasRow = rows.some(
    (row) => row.sizeInUsd > 0n && sameHex(row.collateralToken, decision.collateralToken),
  )
  const known = unlistedOn(snapshot, decision)
  if (view === undefined || hasRow || known === undefined) return undefined
  const { sizeUsd } = known
  const collateralToken = [view.longToken, view.shortToken].find((token) =>
    sameHex(token.address, decision.collateralToken),
  )
  if (collateralToken === undefined) return collateralUnknown(view, decision.collateralToken)
  const referencePrice = referencePriceOf(view, decision.direction, 'decrease')
  if (referencePrice === undefined) return oracleUnknown(view)
  const wantedUsd = decision.kind === 'close' ? sizeUsd : decision.sizeDeltaUsd
  if (wantedUsd <= 0n) {
    return {
      code: 'SIZE_NOT_POSITIVE',
      reason: 'A decrease needs a size above zero.',
      wanted: formatDollars(wantedUsd),
    }
  }
  const orderType = decision.kind === 'decrease' ? (decision.orderType ?? 'market') : 'market'
  const triggerPrice =
    decision.kind === 'decrease' ? triggerOf(orderType, decision, referencePrice, view) : undefined
  if (typeof triggerPrice === 'object') return triggerPrice
  const twap = decision.kind === 'decrease' ? decision.twap : undefined
  const sizeDeltaUsd = minOf(wantedUsd, sizeUsd)
  const isWhole = sizeDeltaUsd === sizeUsd
  return {
    orderType,
    ...defined({ triggerPrice, twap }),
    sizeDeltaUsd,
    // Whatever collateral a whole close names, the contract pays all of it out and no more.
    ...defined({ held: isWhole ? { sizeInUsd: sizeUsd, collateralAmount: MAX_UINT256 } : undefined }),
    collateralDelta: 0n,
    collateralToken,
    keepLeverage: false,
    referencePrice,
    sizing: {
      wantedUsd,
      sizeDeltaUsd,
      cuts: isWhole && wantedUsd > sizeUsd ? [{ by: 'sizeInUsd', toUsd: sizeUsd }] : [],
      dataAgeMs: oldestAgeMs(snapshot, view),
    },
  }
}
