/** Collateral into and out of a position: its size stays, its leverage moves. */
import { defined } from '../../base/defined.ts'
import type { CollateralDecision } from '../../domain/order/decision.ts'
import type { Denial } from '../../domain/order/intent.ts'
import { type MarketView, positionsOn } from '../../domain/snapshot.ts'
import { sameHex } from '../../protocol/address.ts'
import { executionSidePrice, type Token } from '../../protocol/market.ts'
import type { Position } from '../../protocol/position.ts'
import {
  BPS_ONE,
  bps,
  formatDollars,
  formatUnits,
  minOf,
  type Usd,
  usdOfAmount,
} from '../../protocol/units.ts'
import type { ClassifiedDecision } from '../checks/checks.ts'
import type { AdmissionContext } from '../exposure/admissionContext.ts'
import { checkLiquidation } from './liquidation.ts'
import { type Plan, plainSizing, plainTerms, termsToken } from './plan.ts'
import { collateralUnknown, FEE_MARGIN_BPS, heldOf, oldestAgeMs, oracleUnknown } from './sizing.ts'

/**
 * Plans a change of collateral. Paying in adds no risk and has no upper bound but the wallet. Taking out is refused, never cut, when the collateral
 * left after fees and losses would not carry the position within every limit.
 *
 * Refuses with NO_POSITION, COLLATERAL_TOKEN_UNKNOWN, AMOUNT_NOT_POSITIVE, ORACLE_PRICE_UNKNOWN, COLLATERAL_PRICE_UNKNOWN, COLLATERAL_BELOW_MINIMUM,
 * MAX_LEVERAGE and LIQUIDATION_TOO_NEAR.
 */
export function planCollateral(
  decision: CollateralDecision,
  classified: ClassifiedDecision,
  view: MarketView,
  context: AdmissionContext,
): Plan | Denial {
  const { direction, amount, kind } = decision
  const position = positionsOn(context.snapshot, decision.marketToken, direction).find((held) =>
    sameHex(held.collateralToken, decision.collateralToken),
  )
  if (position === undefined || position.sizeInUsd <= 0n) {
    return {
      code: 'NO_POSITION',
      reason: `There is no ${direction} position in ${view.market.symbol} with that collateral.`,
    }
  }
  const token = [view.longToken, view.shortToken].find(({ address }) =>
    sameHex(address, decision.collateralToken),
  )
  if (token === undefined) return collateralUnknown(view, decision.collateralToken)
  if (amount <= 0n) {
    return {
      code: 'AMOUNT_NOT_POSITIVE',
      reason: 'A change of collateral needs an amount above zero.',
      wanted: `${formatUnits(amount, token.decimals)} ${token.symbol}`,
    }
  }
  const prices = view.oraclePrice?.value
  if (prices === undefined) return oracleUnknown(view)
  if (kind === 'collateral-out') {
    const denial =
      tooLittleLeft(position, token, amount, view, context) ??
      checkLiquidation(
        {
          position,
          direction,
          addedUsd: 0n,
          addedMarginUsd: -usdOfAmount(amount, token.maxPrice ?? 0n, token.decimals) - 1n,
          isStable: token.isStable,
        },
        view,
        context.limits,
      )
    if (denial !== undefined) return denial
  }
  const worthUsd = usdOfAmount(amount, token.minPrice ?? 0n, token.decimals)
  return {
    terms: {
      ...plainTerms(classified, view, context),
      collateralToken: termsToken(token),
      collateralDelta: amount,
      referencePrice: executionSidePrice(
        prices,
        direction,
        kind === 'collateral-in' ? 'increase' : 'decrease',
      ),
      positionKey: position.positionKey,
      held: heldOf(position),
      ...defined({
        mostOutputUsd:
          kind === 'collateral-out' ? usdOfAmount(amount, token.maxPrice ?? 0n, token.decimals) : undefined,
      }),
    },
    sizing: plainSizing(worthUsd, oldestAgeMs(context.snapshot, view)),
    reservationUsd: 0n,
  }
}

function tooLittleLeft(
  position: Position,
  token: Token,
  amount: bigint,
  view: MarketView,
  { limits }: AdmissionContext,
): Denial | undefined {
  if (token.maxPrice === undefined || token.maxPrice <= 0n) {
    return {
      code: 'COLLATERAL_PRICE_UNKNOWN',
      reason: `The venue gives no price for ${token.symbol}, so the collateral has no known value.`,
    }
  }
  // Losses count against the remaining collateral, gains do not count for it.
  const heldUsd = minOf(position.remainingCollateralUsd, position.netValueUsd)
  // The outgoing amount is valued high and rounded up.
  const leavingUsd = usdOfAmount(amount, token.maxPrice, token.decimals) + 1n
  const leftUsd: Usd = heldUsd - leavingUsd
  const neededUsd = view.market.minCollateralUsd + bps(position.sizeInUsd, FEE_MARGIN_BPS)
  if (leftUsd < neededUsd || amount > position.collateralAmount) {
    return {
      code: 'COLLATERAL_BELOW_MINIMUM',
      reason: "The remaining collateral after fees and losses would be below the venue's minimum.",
      wanted: `${formatDollars(leavingUsd)} out of ${formatDollars(heldUsd)}`,
      allowed: `at least ${formatDollars(neededUsd)} left`,
    }
  }
  const most = Math.min(
    limits.maxLeverageBps ?? Number.MAX_SAFE_INTEGER,
    view.market.maxLeverageBps ?? Number.MAX_SAFE_INTEGER,
  )
  if (leftUsd * BigInt(most) >= position.sizeInUsd * BigInt(BPS_ONE)) return undefined
  return {
    code: 'MAX_LEVERAGE',
    reason: 'After this withdrawal the position would exceed the highest leverage allowed.',
    wanted: `${formatDollars(position.sizeInUsd)} on ${formatDollars(leftUsd)}`,
    allowed: `${most / BPS_ONE}x`,
  }
}
