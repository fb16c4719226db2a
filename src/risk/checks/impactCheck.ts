/** Price impact in the terms of an order: our own estimate, and the part of it that an acceptable price may contain. */
import { defined } from '../../base/defined.ts'
import { type ExitTerms, type OrderTerms, TRIGGER_BUFFER_BPS } from '../../domain/order/orderTerms.ts'
import { type MarketView, positionsOn } from '../../domain/snapshot.ts'
import { type Address, sameHex } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import type { Position } from '../../protocol/position.ts'
import {
  type ImpactData,
  type ImpactIndex,
  type ImpactTrade,
  priceImpactBps,
  priceImpactUsd,
} from '../../protocol/priceImpact.ts'
import {
  amountOfUsd,
  BPS_ONE,
  bps,
  maxOf,
  minOf,
  mulDiv,
  type TokenAmount,
  type Usd,
} from '../../protocol/units.ts'
import type { AdmissionContext, ImpactAllowance } from '../exposure/admissionContext.ts'

/** An order whose impact is estimated. */
export interface ImpactOrder {
  readonly direction: Direction
  readonly action: 'increase' | 'decrease'
  /** USD. */
  readonly sizeDeltaUsd: Usd
  /** The price it is thought to execute at, USD per whole index token. */
  readonly price: Usd
  /** The position that a decrease is of: a size above it counts as all of it. Absent: none yet. */
  readonly held?: Position | undefined
}

/**
 * Our own estimate of an order's price impact on the market as it is now, bps of its size, negative at our cost. Undefined
 * without the market's data or a price.
 */
export function impactBpsOf(order: ImpactOrder, view: MarketView): number | undefined {
  return estimated(order, view, priceImpactBps)
}

/** The same in USD, signed, to the cent and below; undefined where that is. */
export function impactUsdOf(order: ImpactOrder, view: MarketView): Usd | undefined {
  return estimated(order, view, priceImpactUsd)
}

function estimated<T>(
  order: ImpactOrder,
  view: MarketView,
  estimate: (data: ImpactData, trade: ImpactTrade, index: ImpactIndex) => T | undefined,
): T | undefined {
  const { impact, oraclePrice, indexToken } = view
  const { direction, action, price, held } = order
  if (impact === undefined || oraclePrice === undefined || price <= 0n) return undefined
  const sizeDeltaUsd = held === undefined ? order.sizeDeltaUsd : minOf(order.sizeDeltaUsd, held.sizeInUsd)
  const sizeDeltaInTokens: TokenAmount =
    held === undefined || held.sizeInUsd <= 0n
      ? amountOfUsd(sizeDeltaUsd, price, indexToken.decimals)
      : mulDiv(held.sizeInTokens, sizeDeltaUsd, held.sizeInUsd)
  const trade: ImpactTrade = { direction, action, sizeDeltaUsd, sizeDeltaInTokens }
  const { minPrice, maxPrice } = oraclePrice.value
  return estimate(impact.value, trade, { decimals: indexToken.decimals, minPrice, maxPrice })
}

/**
 * Returns the impact that an order beyond a trigger requests, bps: the estimated cost, at most the admission context's allowance, and the buffer on
 * top.
 */
export function askedImpactBps(
  estimateBps: number | undefined,
  adds: boolean,
  { maxPriceImpactBps }: ImpactAllowance,
): number {
  const most = (adds ? maxPriceImpactBps?.adding : maxPriceImpactBps?.reducing) ?? 0
  return TRIGGER_BUFFER_BPS + Math.min(Math.max(0, -(estimateBps ?? 0)), most)
}

/** The position that a decrease of this side and collateral is of; undefined of an increase. */
export function reducedBy(
  action: ImpactOrder['action'],
  { marketToken, direction }: { readonly marketToken: Address; readonly direction: Direction },
  token: Address,
  { snapshot }: AdmissionContext,
): Position | undefined {
  if (action === 'increase') return undefined
  return positionsOn(snapshot, marketToken, direction).find(({ collateralToken }) =>
    sameHex(collateralToken, token),
  )
}

/** Returns an estimate at our cost, cut to the day's remaining allowance for the size; bps, rounded in our favour. */
export function impactWithin(
  estimateBps: number | undefined,
  sizeDeltaUsd: Usd,
  leftUsd: Usd | undefined,
): number | undefined {
  if (estimateBps === undefined || leftUsd === undefined || estimateBps >= 0 || sizeDeltaUsd <= 0n)
    return estimateBps
  const most = (leftUsd * BigInt(BPS_ONE)) / sizeDeltaUsd
  return most >= BigInt(-estimateBps) ? estimateBps : -Number(most) || 0
}

/** Returns the cost beyond slippage and tolerance that an estimate permits in a price, at most `mostBps` of the size; USD. */
export function impactCostUsd(estimateBps: number | undefined, sizeDeltaUsd: Usd, mostBps: number): Usd {
  return bps(sizeDeltaUsd, Math.min(Math.max(0, -(estimateBps ?? 0)), mostBps))
}

/** The terms of a sized increase or reduction with the estimates of the order and of its exits. */
export function withPriceImpact(
  terms: OrderTerms,
  action: ImpactOrder['action'],
  view: MarketView,
  context: AdmissionContext,
): OrderTerms {
  const { direction, orderType, sizeDeltaUsd, tpsl } = terms
  // Parts of a twap take any price.
  if (orderType === 'twap') return terms
  const price = terms.triggerPrice ?? terms.referencePrice
  const held = reducedBy(action, terms, terms.collateralToken.address, context)
  let leftUsd = context.impact.priceImpactLeftUsd
  const take = (estimate: number | undefined, sizeUsd: Usd, mostBps: number): number | undefined => {
    const taken = impactWithin(estimate, sizeUsd, leftUsd)
    if (leftUsd !== undefined) leftUsd = maxOf(0n, leftUsd - impactCostUsd(taken, sizeUsd, mostBps))
    return taken
  }
  const { adding = 0, reducing = 0 } = context.impact.maxPriceImpactBps ?? {}
  const sizeUsd = held === undefined ? sizeDeltaUsd : minOf(sizeDeltaUsd, held.sizeInUsd)
  const estimateBps = take(
    impactBpsOf({ direction, action, sizeDeltaUsd, price, held }, view),
    sizeUsd,
    action === 'increase' ? adding : reducing,
  )
  const asks = orderType === 'limit' || orderType === 'take-profit'
  const exits = tpsl?.map((exit): ExitTerms => {
    const { sizeDeltaUsd: closedUsd, triggerPrice: at } = exit
    const exitBps = take(
      impactBpsOf({ direction, action: 'decrease', sizeDeltaUsd: closedUsd, price: at }, view),
      closedUsd,
      adding,
    )
    return exitBps === undefined ? exit : { ...exit, priceImpactBps: exitBps }
  })
  return {
    ...terms,
    ...defined({ priceImpactBps: estimateBps }),
    ...defined({
      acceptablePriceImpactBps: asks
        ? askedImpactBps(estimateBps, action === 'increase', context.impact)
        : undefined,
    }),
    ...defined({ tpsl: exits }),
  }
}
