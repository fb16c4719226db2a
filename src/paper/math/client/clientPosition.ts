/** Values of a position as the official client shows them (the client's `getLiquidationPrice`). */
import { abs, fac, max, min } from '../integer.ts'
import {
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  poolUsd,
  type Side,
  slotValue,
} from '../marketState.ts'
import { BPS } from './acceptablePrice.ts'

/** Average entry in API form, or undefined without tokens. */
export function entryPrice(sizeInUsd: bigint, sizeInTokens: bigint, decimals: number): bigint | undefined {
  return sizeInTokens > 0n ? (sizeInUsd * 10n ** BigInt(decimals)) / sizeInTokens : undefined
}

/** Leverage in bps; undefined when fees eat the collateral. */
export function leverageBps(terms: {
  readonly sizeInUsd: bigint
  readonly collateralUsd: bigint
  /** Undefined: leave the PnL out. */
  readonly pnlUsd?: bigint | undefined
  readonly pendingFeesUsd: bigint
}): bigint | undefined {
  const rest = terms.collateralUsd + (terms.pnlUsd ?? 0n) - terms.pendingFeesUsd
  return rest > 0n ? (terms.sizeInUsd * BPS) / rest : undefined
}

const PNL_RATIO_SCALE = 10n ** 18n

/** PnL of a position at a contract price, cut by the side's pool as the client does: least pool PnL, 10^18 ratio. */
export function clientPnl(
  settings: MarketSettings,
  state: MarketState,
  side: Side,
  position: { readonly sizeInUsd: bigint; readonly sizeInTokens: bigint },
  markUsd: bigint,
  prices: MarketPrices,
): bigint {
  const raw = side === 'long' ? markUsd - position.sizeInUsd : position.sizeInUsd - markUsd
  if (raw <= 0n) return raw
  let poolPnl = 0n
  for (const slot of [0, 1] as const) {
    const tokens = slotValue(settings, state[side].interestInTokens, slot)
    const usd = slotValue(settings, state[side].interestUsd, slot)
    poolPnl += max(0n, side === 'long' ? tokens * prices.index.min - usd : usd - tokens * prices.index.max)
  }
  const cap = fac(poolUsd(settings, state, side, prices), settings.maxPnlFactorForTraders[side])
  const capped = min(poolPnl, cap)
  if (capped === poolPnl || capped <= 0n || poolPnl <= 0n) return raw
  const divisor = poolPnl / PNL_RATIO_SCALE
  return divisor === 0n ? raw : (raw * (capped / PNL_RATIO_SCALE)) / divisor
}

/** Net values of a position, USD. */
export function netValues(terms: {
  readonly collateralUsd: bigint
  readonly pnlUsd: bigint
  readonly pendingFeesUsd: bigint
  readonly netImpactUsd: bigint
  readonly closingFeeUsd: bigint
}): {
  readonly netValue: bigint
  readonly netValueAfterAllFees: bigint
  readonly pnlAfterFees: bigint
  readonly pnlAfterAllFees: bigint
} {
  const pnlAfterFees = terms.pnlUsd - terms.pendingFeesUsd
  const pnlAfterAllFees = pnlAfterFees + terms.netImpactUsd - terms.closingFeeUsd
  return {
    pnlAfterFees,
    pnlAfterAllFees,
    netValue: terms.collateralUsd + pnlAfterFees,
    netValueAfterAllFees: terms.collateralUsd + pnlAfterAllFees,
  }
}

const LEVERAGE_STEP_BPS = 50_000n
const DEFAULT_MAX_LEVERAGE_BPS = 1_000_000n
const WHOLE_BPS = 10n ** 34n

/** Highest leverage by the least collateral alone, bps, rounded to whole multiples of one. */
export function maxLeverageByMinCollateral(minCollateralFactor: bigint | undefined): bigint {
  if (minCollateralFactor === undefined || minCollateralFactor === 0n) return DEFAULT_MAX_LEVERAGE_BPS
  return ((WHOLE_BPS / minCollateralFactor + BPS / 2n) / BPS) * BPS
}

/** Highest leverage a market allows, bps, in steps of five; 100x when an input is missing. */
export function maxAllowedLeverage(
  minCollateralFactor: bigint | undefined,
  minCollateralFactorForLiquidation: bigint | undefined,
  positionFeeFactor: bigint | undefined,
): bigint {
  if (!minCollateralFactor || !minCollateralFactorForLiquidation || positionFeeFactor === undefined) {
    return DEFAULT_MAX_LEVERAGE_BPS
  }
  const most = min(
    WHOLE_BPS / (minCollateralFactor + 2n * positionFeeFactor),
    WHOLE_BPS / (2n * minCollateralFactorForLiquidation),
  )
  return (most / LEVERAGE_STEP_BPS) * LEVERAGE_STEP_BPS
}

/** Terms of a liquidation price; USD with 30 decimals. */
export interface LiquidationTerms {
  readonly side: Side
  readonly sizeInUsd: bigint
  readonly sizeInTokens: bigint
  readonly collateralAmount: bigint
  readonly collateralUsd: bigint
  readonly collateralIsIndexToken: boolean
  /** Pending funding and borrowing, USD. */
  readonly pendingFeesUsd: bigint
  readonly closingFeeUsd: bigint
  /** Capped impact of closing now, not positive. */
  readonly impactUsd: bigint
  readonly indexDecimals: number
}

/** Estimated liquidation price in API form; undefined when there is none. */
export function liquidationPrice(settings: MarketSettings, terms: LiquidationTerms): bigint | undefined {
  const { sizeInUsd: size, sizeInTokens: tokens, impactUsd: impact } = terms
  if (size <= 0n || tokens <= 0n) return undefined
  const fees = terms.pendingFeesUsd + terms.closingFeeUsd
  const required = max(fac(size, settings.minCollateralFactorForLiquidation), settings.minCollateralUsd)
  const isLong = terms.side === 'long'
  const scale = 10n ** BigInt(terms.indexDecimals)
  let price: bigint
  if (terms.collateralIsIndexToken) {
    const divisor = isLong ? tokens + terms.collateralAmount : tokens - terms.collateralAmount
    if (divisor === 0n) return undefined
    const usd = isLong ? size + required - impact + fees : size - required + impact - fees
    price = (usd / divisor) * scale
  } else {
    const rest = terms.collateralUsd + impact - fees
    price = (isLong ? (required - rest + size) / tokens : (required - rest - size) / -tokens) * scale
  }
  return price > 0n ? price : undefined
}

/** Impact that counts against a position in a liquidation: never positive, never below its own cap. */
export function liquidationImpact(settings: MarketSettings, sizeInUsd: bigint, impactUsd: bigint): bigint {
  if (impactUsd >= 0n) return 0n
  return max(impactUsd, -fac(abs(sizeInUsd), settings.maxPositionImpactFactorForLiquidations))
}
