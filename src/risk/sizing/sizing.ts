/**
 * From a decision to a size. Increases take their size from the venue's capacity (docs/reference/api-coverage.md A3): `availableLiquidity` when JIT
 * data is available, else `baseAvailableLiquidity`, nothing while market data is not fresh. Headroom and orders in flight on that side are
 * subtracted. Then every limit may cut, and each cut is recorded. Reductions are bounded by the position alone.
 */

import { defined } from '../../base/defined.ts'
import type {
  CloseDecision,
  DecreaseDecision,
  IncreaseDecision,
  TwapTerms,
} from '../../domain/order/decision.ts'
import type { Denial } from '../../domain/order/intent.ts'
import {
  type ExitTerms,
  type HeldPosition,
  keptShare,
  type OrderKind,
  type Sizing,
} from '../../domain/order/orderTerms.ts'
import { ageOf, capacityReading, type MarketView, positionsOn, type Snapshot } from '../../domain/snapshot.ts'
import { sameHex } from '../../protocol/address.ts'
import { executionSidePrice, type Token } from '../../protocol/market.ts'
import type { Position } from '../../protocol/position.ts'
import {
  BPS_ONE,
  bps,
  formatDollars,
  maxOf,
  minOf,
  mulDiv,
  mulDivUp,
  type TokenAmount,
  type Usd,
} from '../../protocol/units.ts'
import { type AdmissionContext, isDenial, marketUnknown, marketViewOf } from '../exposure/admissionContext.ts'
import { availableCapacityOf } from '../exposure/availableCapacity.ts'
import { becomesWhole } from './becomesWhole.ts'
import { entryExits } from './entryExits.ts'
import { checkIncrease } from './liquidation.ts'
import { fitWithin, increaseLimitsOf, tooSmall } from './sizeLimits.ts'
import { triggerOf } from './triggerOrders.ts'

/** Part of the admission context that sizing needs. */
export type SizingContext = Pick<
  AdmissionContext,
  'snapshot' | 'exposure' | 'limits' | 'own' | 'equity' | 'exits'
>

/** A decision with its size. */
export interface Sized {
  /** USD, positive. */
  readonly sizeDeltaUsd: Usd
  /** Token units: the payment of an increase; the most that a partial reduction at constant leverage may take out; else 0. */
  readonly collateralDelta: TokenAmount
  readonly collateralToken: Token
  readonly keepLeverage: boolean
  /** Oracle price of the index token on the side that executes, USD per whole token. */
  readonly referencePrice: Usd
  readonly orderType: OrderKind
  /** Trigger of limit, stop-market, take-profit and stop-loss orders. */
  readonly triggerPrice?: Usd
  readonly twap?: TwapTerms
  readonly tpsl?: readonly ExitTerms[]
  readonly held?: HeldPosition
  readonly otherSizeDeltaUsd?: Usd
  readonly sizing: Sizing
}

/**
 * Part of an order's size, bps, that must be left of its collateral above the venue's minimum: the position fee is at
 * most 7 bps on the venue's markets, and price impact and execution fee come on top.
 */
export const FEE_MARGIN_BPS = 20

/**
 * Sizes an increase. The result is never above any limit nor above the capacity less headroom, and never grows when capacity shrinks. Collateral =
 * size / leverage at the collateral token's min price, rounded up.
 *
 * Refuses with MARKET_UNKNOWN, SIZE_NOT_POSITIVE, LEVERAGE_NOT_POSITIVE, COLLATERAL_TOKEN_UNKNOWN, COLLATERAL_PRICE_UNKNOWN, ORACLE_PRICE_UNKNOWN,
 * COLLATERAL_BELOW_MINIMUM, ORDER_TOO_SMALL, the codes of `roomOf`, `triggerOf` and `entryExits`, LIQUIDATION_TOO_NEAR, and the code of the cut that
 * left too little. A waiting order is sized like a market order; every part of a twap must meet the minimums.
 */
export function sizeIncrease(decision: IncreaseDecision, context: SizingContext): Sized | Denial {
  const asked = askedIncrease(decision, context)
  if (isDenial(asked)) return asked
  const { view, orderType, triggerPrice, referencePrice, collateralToken } = asked
  const available = availableCapacityOf(decision.marketToken, decision.direction, context)
  if (isDenial(available)) return available

  const { limits } = context
  const wantedUsd = decision.sizeDeltaUsd
  const leverageBps = Math.min(
    decision.leverageBps,
    limits.maxLeverageBps ?? decision.leverageBps,
    view.market.maxLeverageBps ?? decision.leverageBps,
  )
  const fitted = fitWithin(wantedUsd, [
    // The requested collateral stays and the size is reduced: a cap must not stake more money than requested.
    {
      by: 'maxLeverageBps',
      limitUsd:
        leverageBps === decision.leverageBps
          ? undefined
          : mulDiv(wantedUsd, BigInt(leverageBps), BigInt(decision.leverageBps)),
    },
    ...increaseLimitsOf(decision, available, context),
  ])
  const { sizeDeltaUsd, cuts } = fitted

  const position = positionsOn(context.snapshot, decision.marketToken, decision.direction).find((held) =>
    sameHex(held.collateralToken, decision.collateralToken),
  )
  const parts = BigInt(decision.twap?.parts ?? 1)
  const leastUsd = maxOf(
    parts,
    limits.minOrderSizeUsd ?? 0n,
    parts * (view.market.minPositionSizeUsd - (position?.sizeInUsd ?? 0n)),
  )
  if (sizeDeltaUsd < leastUsd) return tooSmall(wantedUsd, fitted, leastUsd)

  const paid = paidIn(asked, { sizeDeltaUsd, leverageBps, parts, position })
  if (isDenial(paid)) return paid
  const { direction } = decision
  const { isStable } = collateralToken
  const near = checkIncrease(
    { position, direction, wantedUsd, leverageBps, feeBps: FEE_MARGIN_BPS, isStable },
    view,
    limits,
  )
  if (near !== undefined) return near
  const entryPrice = triggerPrice ?? referencePrice
  if (context.exits === 'unknown') return exitsUnknown(view)
  const entry = { sizeDeltaUsd, entryPrice, view, isHeld: position !== undefined, exits: context.exits }
  const tpsl = entryExits(decision, triggerPrice === undefined ? entry : { ...entry, price: referencePrice })
  if (tpsl !== undefined && isDenial(tpsl)) return tpsl
  return {
    orderType,
    ...defined({
      triggerPrice,
      twap: decision.twap,
      tpsl,
      held: tpsl === undefined || position === undefined ? undefined : heldOf(position),
    }),
    sizeDeltaUsd,
    collateralDelta: paid.collateralDelta,
    collateralToken,
    keepLeverage: false,
    referencePrice,
    sizing: {
      wantedUsd,
      sizeDeltaUsd,
      basis: available.basis,
      capacityUsd: available.capacityUsd,
      roomUsd: available.availableUsd,
      cuts,
      dataAgeMs: oldestAgeMs(context.snapshot, view, decision.direction),
    },
  }
}

function exitsUnknown({ market: { symbol } }: MarketView): Denial {
  return {
    code: 'EXITS_UNKNOWN',
    reason: `The exits of the file use the average true range of ${symbol}, and too few candles are known to compute it.`,
  }
}

/** A requested increase, with the prices by which it is sized. */
interface AskedIncrease {
  readonly view: MarketView
  readonly orderType: OrderKind
  readonly collateralToken: Token
  /** Its min price, USD per whole token. */
  readonly collateralPrice: Usd
  readonly referencePrice: Usd
  readonly triggerPrice: Usd | undefined
}

/** Returns the requested increase, or the reason why it cannot be sized whatever the limits are. */
function askedIncrease(decision: IncreaseDecision, context: SizingContext): AskedIncrease | Denial {
  const view = marketViewOf(context, decision)
  if (view === undefined) return marketUnknown(decision.marketToken)
  const wantedUsd = decision.sizeDeltaUsd
  if (wantedUsd <= 0n) {
    return {
      code: 'SIZE_NOT_POSITIVE',
      reason: 'An increase needs a size above zero.',
      wanted: formatDollars(wantedUsd),
    }
  }
  if (!Number.isSafeInteger(decision.leverageBps) || decision.leverageBps <= 0) {
    return {
      code: 'LEVERAGE_NOT_POSITIVE',
      reason: 'An increase needs a leverage in whole basis points above zero (10000 = 1x).',
      wanted: `${decision.leverageBps} bps`,
    }
  }
  const collateralToken = [view.longToken, view.shortToken].find((token) =>
    sameHex(token.address, decision.collateralToken),
  )
  if (collateralToken === undefined) return collateralUnknown(view, decision.collateralToken)
  const orderType = decision.orderType ?? 'market'
  const collateralPrice = collateralToken.minPrice
  if (collateralPrice === undefined || collateralPrice <= 0n) {
    return {
      code: 'COLLATERAL_PRICE_UNKNOWN',
      reason: `The venue gives no price for ${collateralToken.symbol}, so the collateral has no known value.`,
    }
  }
  const referencePrice = referencePriceOf(view, decision.direction, 'increase')
  if (referencePrice === undefined) return oracleUnknown(view)
  const triggerPrice = triggerOf(orderType, decision, referencePrice, view)
  if (typeof triggerPrice === 'object') return triggerPrice
  return { view, orderType, collateralToken, collateralPrice, referencePrice, triggerPrice }
}

/** The size that was found, and the present position there. */
interface SizedIncrease {
  readonly sizeDeltaUsd: Usd
  readonly leverageBps: number
  /** Parts of a twap; else 1. */
  readonly parts: bigint
  readonly position: Position | undefined
}

/** The collateral that an increase pays in, rounded up; COLLATERAL_BELOW_MINIMUM when the venue would want more of each part. */
function paidIn(
  { view, collateralToken, collateralPrice }: AskedIncrease,
  { sizeDeltaUsd, leverageBps, parts, position }: SizedIncrease,
): { readonly collateralDelta: TokenAmount } | Denial {
  const collateralUsd = mulDivUp(sizeDeltaUsd, BigInt(BPS_ONE), BigInt(leverageBps))
  const collateralDelta = mulDivUp(collateralUsd, 10n ** BigInt(collateralToken.decimals), collateralPrice)
  const heldCollateralUsd = maxOf(0n, position?.remainingCollateralUsd ?? 0n)
  const neededUsd = view.market.minCollateralUsd + bps(sizeDeltaUsd / parts, FEE_MARGIN_BPS)
  if (collateralUsd / parts + heldCollateralUsd >= neededUsd) return { collateralDelta }
  return {
    code: 'COLLATERAL_BELOW_MINIMUM',
    reason: "The remaining collateral after fees would be below the venue's minimum.",
    wanted: `${formatDollars(collateralUsd)} collateral for ${formatDollars(sizeDeltaUsd)}`,
    allowed: `at least ${formatDollars(parts * maxOf(0n, neededUsd - heldCollateralUsd))} collateral`,
  }
}

/**
 * Sizes a decrease or a close. A close takes the whole position, exactly. A decrease larger than the position is cut to
 * it; one that would leave too little takes the whole position: by the rule of `becomesWhole`, as the contract does, or where
 * kept leverage would leave less than the smallest collateral.
 * No limit cuts a reduction: less risk is never too much.
 *
 * Refuses with MARKET_UNKNOWN, NO_POSITION, SIZE_NOT_POSITIVE, COLLATERAL_TOKEN_UNKNOWN, ORACLE_PRICE_UNKNOWN, and the
 * codes of `triggerOf`.
 */
export function sizeReduction(
  decision: DecreaseDecision | CloseDecision,
  context: AdmissionContext,
): Sized | Denial {
  const view = marketViewOf(context, decision)
  if (view === undefined) return marketUnknown(decision.marketToken)
  const position = positionsOn(context.snapshot, decision.marketToken, decision.direction).find((held) =>
    sameHex(held.collateralToken, decision.collateralToken),
  )
  if (position === undefined || position.sizeInUsd <= 0n) {
    return {
      code: 'NO_POSITION',
      reason: `There is no ${decision.direction} position in ${view.market.symbol} with that collateral to reduce.`,
    }
  }
  const collateralToken = [view.longToken, view.shortToken].find((token) =>
    sameHex(token.address, decision.collateralToken),
  )
  if (collateralToken === undefined) return collateralUnknown(view, decision.collateralToken)
  const wantedUsd = decision.kind === 'close' ? position.sizeInUsd : decision.sizeDeltaUsd
  if (wantedUsd <= 0n) {
    return {
      code: 'SIZE_NOT_POSITIVE',
      reason: 'A decrease needs a size above zero.',
      wanted: formatDollars(wantedUsd),
    }
  }
  const referencePrice = referencePriceOf(view, decision.direction, 'decrease')
  if (referencePrice === undefined) return oracleUnknown(view)
  const orderType = decision.kind === 'decrease' ? (decision.orderType ?? 'market') : 'market'
  const triggerPrice =
    decision.kind === 'decrease' ? triggerOf(orderType, decision, referencePrice, view) : undefined
  if (typeof triggerPrice === 'object') return triggerPrice
  const twap = decision.kind === 'decrease' ? decision.twap : undefined

  const whole = position.sizeInUsd
  const keepLeverage = decision.kind === 'decrease' && decision.keepLeverage
  const cuts: { readonly by: string; readonly toUsd: Usd }[] = []
  const askedUsd = minOf(wantedUsd, whole)
  if (askedUsd < wantedUsd) cuts.push({ by: 'sizeInUsd', toUsd: askedUsd })
  const judged = { sizeDeltaUsd: askedUsd, keepLeverage, adverseBps: 0 }
  // A part of a twap is judged when its time comes: the first ones leave enough.
  const isWhole =
    askedUsd === whole ||
    (twap === undefined &&
      (becomesWhole(position, judged, view) || (keepLeverage && keepsTooLittle(position, askedUsd, view))))
  const mayBeWhole =
    twap === undefined && becomesWhole(position, { ...judged, adverseBps: context.slippageBps }, view)
  const sizeDeltaUsd = isWhole ? whole : askedUsd
  if (sizeDeltaUsd > askedUsd) {
    const by = whole - askedUsd < view.market.minPositionSizeUsd ? 'minPositionSizeUsd' : 'minCollateralUsd'
    cuts.push({ by, toUsd: whole })
  }
  const otherUsd = isWhole ? askedUsd : mayBeWhole ? whole : sizeDeltaUsd
  return {
    orderType,
    ...defined({ triggerPrice, twap }),
    sizeDeltaUsd,
    ...defined({ otherSizeDeltaUsd: otherUsd === sizeDeltaUsd ? undefined : otherUsd }),
    held: heldOf(position),
    collateralDelta: keepLeverage && askedUsd < whole ? takenWith(position, askedUsd) : 0n,
    collateralToken,
    keepLeverage,
    referencePrice,
    sizing: { wantedUsd, sizeDeltaUsd, cuts, dataAgeMs: oldestAgeMs(context.snapshot, view) },
  }
}

/** Tells whether the share of the collateral that would stay with the rest is below the venue's least. */
function keepsTooLittle(
  { sizeInUsd, remainingCollateralUsd }: Position,
  sizeDeltaUsd: Usd,
  { market }: MarketView,
): boolean {
  const restUsd = sizeInUsd - sizeDeltaUsd
  return mulDiv(maxOf(0n, remainingCollateralUsd), restUsd, sizeInUsd) < market.minCollateralUsd
}

/**
 * The most collateral that a part of a position may take out while its leverage is kept, units of the collateral token: its
 * share and the slack, and the pending fees, which the venue's leverage counts off and the profit of the part may pay.
 */
function takenWith(position: Position, sizeDeltaUsd: Usd): TokenAmount {
  const { collateralAmount, collateralUsd, remainingCollateralUsd, sizeInUsd } = position
  const pendingUsd = maxOf(0n, collateralUsd - remainingCollateralUsd)
  const pending = collateralUsd <= 0n ? 0n : mulDivUp(collateralAmount, pendingUsd, collateralUsd)
  return minOf(collateralAmount, keptShare(collateralAmount, sizeDeltaUsd, sizeInUsd) + pending)
}

/** Returns the facts about a position that an order needs. */
export function heldOf({ sizeInUsd, collateralAmount }: Position): HeldPosition {
  return { sizeInUsd, collateralAmount }
}

/** Our own oracle price of the index token on the side that executes, USD per whole token; undefined without one. */
export function referencePriceOf(
  view: MarketView,
  direction: IncreaseDecision['direction'],
  action: 'increase' | 'decrease',
): Usd | undefined {
  if (view.oraclePrice === undefined) return undefined
  const price = executionSidePrice(view.oraclePrice.value, direction, action)
  return price > 0n ? price : undefined
}

/** Returns the age of the oldest reading behind a size, ms. */
export function oldestAgeMs(
  snapshot: Snapshot,
  view: MarketView,
  direction?: IncreaseDecision['direction'],
): number {
  const capacity = direction === undefined ? undefined : capacityReading(view, direction)
  const readings = [snapshot.positions, view.oraclePrice, capacity, direction && view.ticker]
  return Math.max(...readings.map((reading) => (reading ? ageOf(snapshot, reading) : 0)))
}

/** COLLATERAL_TOKEN_UNKNOWN: the market is backed by two other tokens. */
export function collateralUnknown(view: MarketView, wanted: string): Denial {
  return {
    code: 'COLLATERAL_TOKEN_UNKNOWN',
    reason: `${view.market.symbol} does not accept that token as collateral.`,
    wanted,
    allowed: `${view.longToken.symbol} ${view.longToken.address} or ${view.shortToken.symbol} ${view.shortToken.address}`,
  }
}

/** ORACLE_PRICE_UNKNOWN: no price of our own is available to bound a price. */
export function oracleUnknown(view: MarketView): Denial {
  return {
    code: 'ORACLE_PRICE_UNKNOWN',
    reason: `The oracle gives no price for ${view.indexToken.symbol}; perpd signs nothing without an independent price to bound it.`,
  }
}
