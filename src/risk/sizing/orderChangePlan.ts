/**
 * Edits and cancels of resting orders. Only orders that an open intent of the same strategy explains may be changed, except by a keeper that tidies
 * (`risk/exposure/tidying.ts`). One order has one change at a time: the fate of the first decides what a second would change (docs/orders.md, "The
 * promises").
 */
import { defined, ifDefined } from '../../base/defined.ts'
import type { CancelDecision, EditDecision } from '../../domain/order/decision.ts'
import type { Denial, SignedOrder } from '../../domain/order/intent.ts'
import type { EditTerms, OrderKind } from '../../domain/order/orderTerms.ts'
import { rowDifference } from '../../domain/order/signedOrder.ts'
import { ageOf, type MarketView } from '../../domain/snapshot.ts'
import { type Hex, hexKey, sameHex } from '../../protocol/address.ts'
import { executionSidePrice } from '../../protocol/market.ts'
import { isIncreaseOrder, isOnMarket, type Order } from '../../protocol/position.ts'
import {
  BPS_ONE,
  contractPriceOf,
  formatDollars,
  MAX_UINT256,
  maxOf,
  minOf,
  mulDivUp,
  priceOfContractPrice,
  type TokenAmount,
  type Usd,
  usdOfAmount,
} from '../../protocol/units.ts'
import type { ClassifiedDecision } from '../checks/checks.ts'
import { askedImpactBps, impactBpsOf, impactWithin, reducedBy } from '../checks/impactCheck.ts'
import { sideOf } from '../exposure/accountExposure.ts'
import { type AdmissionContext, isDenial } from '../exposure/admissionContext.ts'
import { availableCapacityOf } from '../exposure/availableCapacity.ts'
import { tidyingDenial, tidyingEditDenial } from '../exposure/tidying.ts'
import { type Plan, plainSizing, plainTerms, termsToken } from './plan.ts'
import { type Fitted, fitWithin, sizeLimitsOf, tooSmall } from './sizeLimits.ts'
import { triggerOf } from './triggerOrders.ts'

/** On-chain types of orders that rest and can be edited (contract `Order`, `OrderType`). */
const editableTypes: Readonly<Record<number, OrderKind>> = {
  3: 'limit',
  5: 'take-profit',
  6: 'stop-loss',
  8: 'stop-market',
}
const marketTypes: ReadonlySet<number> = new Set([0, 2, 4])

/**
 * The order of a key when the strategy may change it now; `isCancel`: by a cancel. Refuses with ORDER_UNKNOWN, ORDER_NOT_OWN, ORDER_CHANGING,
 * and of a keeper that tidies the codes of `tidyingDenial`. What such a keeper may make of an order by an edit, the plan of the edit judges.
 */
export function changeable(orderKey: Hex, context: AdmissionContext, isCancel = false): Order | Denial {
  const order = context.snapshot.orders.value.find((row) => sameHex(row.orderKey, orderKey))
  if (order === undefined) {
    return {
      code: 'ORDER_UNKNOWN',
      reason: `The account has no resting order ${orderKey}: it has ended, or the list does not show it yet.`,
    }
  }
  const own = context.exposure.ownOrders.get(hexKey(orderKey))
  const { maker } = context
  if (maker.isOperator !== true && own?.strategy !== maker.strategy) {
    const tidies = maker.tidiesOrders === true && (isCancel || own !== undefined)
    const denial = tidies && isCancel ? tidyingDenial(order, context) : undefined
    if (denial !== undefined) return denial
    if (!tidies)
      return {
        code: 'ORDER_NOT_OWN',
        reason:
          own === undefined
            ? `No open intent explains the order ${orderKey}; only an operator may change it.`
            : `The order ${orderKey} belongs to ${own.strategy}; a strategy may change its own orders only.`,
      }
  }
  if (own?.changedBy !== undefined) {
    return {
      code: 'ORDER_CHANGING',
      reason: `Intent ${own.changedBy} is changing the order ${orderKey}; a second change waits for its end.`,
    }
  }
  return order
}

/** The facts of an order that a cancel needs. */
type NamedOrder = Pick<Order, 'orderKey' | 'orderType' | 'marketToken' | 'direction' | 'sizeDeltaUsd'>

/**
 * Returns the order of a key as `changeable` does; an operator's cancel, a kill's too, also reaches orders that rest by the journal and are in no
 * list.
 */
function cancellable(orderKey: Hex, context: AdmissionContext): NamedOrder | Denial {
  const listed = changeable(orderKey, context, true)
  const own = context.exposure.ownOrders.get(hexKey(orderKey))
  const isHidden = isDenial(listed) && listed.code === 'ORDER_UNKNOWN'
  if (!isHidden || context.maker.isOperator !== true || own === undefined || own.changedBy !== undefined)
    return listed
  const { orderType, sizeDeltaUsd, kept } = context.signedOrder?.(orderKey) ?? {}
  if (orderType === undefined || sizeDeltaUsd === undefined || kept === undefined) return listed
  return { orderKey, orderType, sizeDeltaUsd, marketToken: kept.marketToken, direction: kept.direction }
}

/**
 * Plans a cancel: it moves nothing and adds nothing. Refuses with NO_ORDERS, ORDER_NOT_CANCELLABLE (a market order, which
 * decides itself within seconds), and the codes of `changeable`.
 */
export function planCancel(
  decision: CancelDecision,
  classified: ClassifiedDecision,
  view: MarketView,
  context: AdmissionContext,
): Plan | Denial {
  const orderKeys = [...new Map(decision.orderKeys.map((key) => [hexKey(key), key])).values()]
  if (orderKeys.length === 0) return { code: 'NO_ORDERS', reason: 'A cancel names at least one order.' }
  let worthUsd = 0n
  for (const orderKey of orderKeys) {
    const order = cancellable(orderKey, context)
    if (isDenial(order)) return order
    const denial = marketTypes.has(order.orderType)
      ? {
          code: 'ORDER_NOT_CANCELLABLE',
          reason: `The order ${orderKey} is a market order; the venue allows cancelling it only after minutes.`,
        }
      : otherSide(decision, order)
    if (denial !== undefined) return denial
    worthUsd += isIncreaseOrder(order)
      ? order.sizeDeltaUsd
      : // The largest uint256 means the whole position, and nothing reduces more than there is.
        minOf(order.sizeDeltaUsd, sideOf(context.exposure, order.marketToken, order.direction).heldUsd)
  }
  return {
    terms: { ...plainTerms(classified, view, context), cancelOrderKeys: orderKeys },
    sizing: plainSizing(worthUsd, ageOf(context.snapshot, context.snapshot.orders)),
    reservationUsd: 0n,
  }
}

/**
 * Plans an edit. Its addition to the size of an opening order is sized like an increase of that much, and may be cut; its collateral stays, so the
 * leverage is checked too. The acceptable price of a limit or take-profit order moves with its trigger. It is absolute, and an order whose trigger
 * moved alone may never fill (docs/reference/api-coverage.md POST /orders/txns/edit/prepare).
 *
 * Refuses with ORDER_NOT_KNOWN, ORDER_DIFFERS, ORDER_NOT_EDITABLE, EDIT_CHANGES_NOTHING, SIZE_NOT_POSITIVE, ORACLE_PRICE_UNKNOWN, MAX_LEVERAGE, the
 * codes of `changeable`, `triggerOf`, `tidyingEditDenial` and `roomOf`, and the code of the cut that left nothing.
 */
export function planEdit(
  decision: EditDecision,
  classified: ClassifiedDecision,
  view: MarketView,
  context: AdmissionContext,
): Plan | Denial {
  const order = changeable(decision.orderKey, context)
  if (isDenial(order)) return order
  const signed = context.signedOrder?.(order.orderKey)
  const isOther = otherThanSigned(order, signed, context)
  if (isOther !== undefined) return isOther
  const orderType = editableTypes[order.orderType]
  const trigger = order.triggerContractPrice
  // A part of a twap has no separate price, and any update would release it before its time.
  const isPart = trigger === 0n || trigger === MAX_UINT256 || order.validFromSeconds > 0
  if (orderType === undefined || isPart) {
    return {
      code: 'ORDER_NOT_EDITABLE',
      reason: `The order ${decision.orderKey} cannot be edited: only limit, stop entry, take-profit and stop-loss orders can.`,
    }
  }
  const side = otherSide(decision, order)
  if (side !== undefined) return side
  const { decimals } = view.indexToken
  const isIncrease = isIncreaseOrder(order)
  const prices = editPrices(decision, order, orderType, view)
  if (isDenial(prices)) return prices
  const { referencePrice, triggerPrice } = prices
  const untidy = tidyingEditDenial(order, decision, { ...prices, decimals }, context)
  if (untidy !== undefined) return untidy
  const sized = sizeEdit(decision, order, isIncrease, context, view)
  if (isDenial(sized)) return sized
  const { fitted, growthUsd, sizeDeltaUsd } = sized
  const triggerContractPrice = contractPriceOf(triggerPrice, decimals)
  const isSame = triggerContractPrice === trigger && sizeDeltaUsd === order.sizeDeltaUsd
  // The same again lifts a freeze.
  if (isSame && !order.isFrozen) {
    return {
      code: 'EDIT_CHANGES_NOTHING',
      reason: `The order ${decision.orderKey} already has the requested values.`,
    }
  }
  const isBounded = orderType === 'limit' || orderType === 'take-profit'
  const buys = (order.direction === 'long') === isIncrease
  const { direction } = order
  const action = isIncrease ? 'increase' : 'decrease'
  const held = reducedBy(action, order, order.initialCollateralToken, context)
  const priceImpactBps = impactWithin(
    impactBpsOf({ direction, action, sizeDeltaUsd, price: triggerPrice, held }, view),
    sizeDeltaUsd,
    context.impact.priceImpactLeftUsd,
  )
  const beyondBps = context.slippageBps + askedImpactBps(priceImpactBps, isIncrease, context.impact)
  const executionFeeIncrease = topUpOf(order, orderType, context)
  const edit: EditTerms = {
    orderKey: order.orderKey,
    sizeDeltaUsd,
    triggerContractPrice,
    acceptableContractPrice:
      isBounded && triggerContractPrice !== trigger
        ? contractPriceOf(beyond(triggerPrice, beyondBps, buys), decimals)
        : order.acceptableContractPrice,
    minOutputAmount: order.minOutputAmount ?? 0n,
    autoCancel: order.autoCancel ?? !isIncrease,
    executionFeeIncrease,
    ...defined({ executionFeeHeld: order.executionFee }),
    changed: [
      'size',
      'trigger',
      'auto-cancel',
      ...(isBounded ? (['acceptable'] as const) : []),
      ...(executionFeeIncrease > 0n ? (['execution-fee'] as const) : []),
    ],
  }
  const collateral = [view.longToken, view.shortToken].find(({ address }) =>
    sameHex(address, order.initialCollateralToken),
  )
  return {
    terms: {
      ...plainTerms(classified, view, context),
      orderType,
      ...defined({ collateralToken: ifDefined(collateral, termsToken) }),
      sizeDeltaUsd,
      referencePrice,
      triggerPrice,
      ...defined({ priceImpactBps }),
      edit,
    },
    sizing: {
      wantedUsd: decision.sizeDeltaUsd ?? order.sizeDeltaUsd,
      sizeDeltaUsd,
      cuts: fitted.cuts.map(({ by, toUsd }) => ({ by, toUsd: order.sizeDeltaUsd + toUsd })),
      dataAgeMs: maxAge(context, view),
    },
    reservationUsd: growthUsd,
  }
}

/** The price on the side that executes, and the trigger as it will be; or why the trigger may not be there. */
function editPrices(
  decision: EditDecision,
  order: Order,
  orderType: OrderKind,
  view: MarketView,
): { readonly referencePrice: Usd; readonly triggerPrice: Usd } | Denial {
  const price = view.oraclePrice?.value
  if (price === undefined) {
    return {
      code: 'ORACLE_PRICE_UNKNOWN',
      reason: `The oracle gives no price for ${view.indexToken.symbol}; perpd places no trigger without one.`,
    }
  }
  const action = isIncreaseOrder(order) ? 'increase' : 'decrease'
  const referencePrice = executionSidePrice(price, order.direction, action)
  const moved =
    decision.triggerPrice === undefined
      ? priceOfContractPrice(order.triggerContractPrice, view.indexToken.decimals)
      : triggerOf(orderType, decision, referencePrice, view)
  if (typeof moved === 'object') return moved
  return { referencePrice, triggerPrice: moved ?? 0n }
}

/**
 * Denies an edit of an order that is not known as it was signed, or is listed with other fields. An edit rewrites every field and copies those it
 * does not name: nothing is copied from a host's statement. An operator may edit others' orders.
 */
function otherThanSigned(
  order: Order,
  signed: SignedOrder | undefined,
  { maker }: AdmissionContext,
): Denial | undefined {
  if (signed === undefined) {
    if (maker.isOperator === true) return undefined
    return {
      code: 'ORDER_NOT_KNOWN',
      reason: `The signed terms of the order ${order.orderKey} are not fully known: it is older than this version, or one of its changes has no proven end. Cancel it and place a new one.`,
    }
  }
  const difference = rowDifference(order, signed)
  if (difference === undefined) return undefined
  const { field, signed: ours, listed } = difference
  return {
    code: 'ORDER_DIFFERS',
    reason: `The listed ${field} of the order ${order.orderKey} differs from the signed one: the list lags, a host is wrong, or another client changed the order. perpd does not edit it; you can cancel it.`,
    wanted: ours,
    allowed: listed,
  }
}

/**
 * Returns the shortfall of an order's execution fee against our own estimate. An update pays for the execution anew at the gas price of the day, and
 * reverts when the fee is less (`OrderHandler.updateOrder`). 0 where its fee or the need is unknown.
 */
function topUpOf(order: Order, orderType: OrderKind, { venue }: AdmissionContext): TokenAmount {
  const { executionFeeOf } = venue
  if (order.executionFee === undefined || executionFeeOf === undefined) return 0n
  return maxOf(0n, executionFeeOf(orderType) - order.executionFee)
}

interface SizedEdit {
  readonly fitted: Fitted
  /** Size that it adds to an order that opens, USD. */
  readonly growthUsd: Usd
  readonly sizeDeltaUsd: Usd
}

function sizeEdit(
  decision: EditDecision,
  order: Order,
  isIncrease: boolean,
  context: AdmissionContext,
  view: MarketView,
): SizedEdit | Denial {
  const wantedUsd = decision.sizeDeltaUsd ?? order.sizeDeltaUsd
  if (wantedUsd <= 0n) {
    return {
      code: 'SIZE_NOT_POSITIVE',
      reason: 'An order needs a size above zero; cancel it instead.',
      wanted: formatDollars(wantedUsd),
    }
  }
  const growthUsd = isIncrease ? maxOf(0n, wantedUsd - order.sizeDeltaUsd) : 0n
  if (growthUsd === 0n) return { fitted: fitWithin(0n, []), growthUsd: 0n, sizeDeltaUsd: wantedUsd }
  const available = availableCapacityOf(decision.marketToken, decision.direction, context)
  if (isDenial(available)) return available
  const most = context.limits.maxOrderSizeUsd
  const caps = sizeLimitsOf(decision, available, context).map((cap) =>
    cap.by === 'maxOrderSizeUsd' && most !== undefined
      ? { by: cap.by, limitUsd: maxOf(0n, most - order.sizeDeltaUsd) }
      : cap,
  )
  const fitted = fitWithin(growthUsd, caps)
  if (fitted.sizeDeltaUsd <= 0n) return tooSmall(growthUsd, fitted, 1n)
  const sizeDeltaUsd = order.sizeDeltaUsd + fitted.sizeDeltaUsd
  const denial = leverageDenial(order, sizeDeltaUsd, context, view)
  return denial ?? { fitted, growthUsd: fitted.sizeDeltaUsd, sizeDeltaUsd }
}

/** MAX_LEVERAGE: an order's collateral does not grow with its size. */
function leverageDenial(
  order: Order,
  sizeDeltaUsd: Usd,
  context: AdmissionContext,
  view: MarketView,
): Denial | undefined {
  const most = Math.min(
    context.limits.maxLeverageBps ?? Number.MAX_SAFE_INTEGER,
    view.market.maxLeverageBps ?? Number.MAX_SAFE_INTEGER,
  )
  if (most === Number.MAX_SAFE_INTEGER) return undefined
  const token = [view.longToken, view.shortToken].find(({ address }) =>
    sameHex(address, order.initialCollateralToken),
  )
  const collateralUsd = usdOfAmount(
    order.initialCollateralDeltaAmount,
    token?.minPrice ?? 0n,
    token?.decimals ?? 0,
  )
  if (collateralUsd * BigInt(most) >= sizeDeltaUsd * BigInt(BPS_ONE)) return undefined
  return {
    code: 'MAX_LEVERAGE',
    reason: "An edit cannot change the order's collateral, which is too small for the larger size.",
    wanted: `${formatDollars(sizeDeltaUsd)} on ${formatDollars(collateralUsd)}`,
    allowed: `${most / BPS_ONE}x`,
  }
}

function otherSide(
  { marketToken, direction }: EditDecision | CancelDecision,
  order: NamedOrder,
): Denial | undefined {
  // An order on no market is named by its key alone; the decision's market only selects the data to read.
  if (!isOnMarket(order)) return undefined
  if (sameHex(order.marketToken, marketToken) && order.direction === direction) return undefined
  return {
    code: 'ORDER_UNKNOWN',
    reason: `The order ${order.orderKey} is on another market or side than the decision names.`,
    wanted: `${direction} ${marketToken}`,
    allowed: `${order.direction} ${order.marketToken}`,
  }
}

/** Returns a price moved by bps towards the limit of an order's payment. */
function beyond(price: Usd, basisPoints: number, buys: boolean): Usd {
  const by = mulDivUp(price, BigInt(basisPoints), BigInt(BPS_ONE))
  return buys ? price + by : price - minOf(price, by)
}

function maxAge({ snapshot }: AdmissionContext, { oraclePrice }: MarketView): number {
  return Math.max(ageOf(snapshot, snapshot.orders), oraclePrice ? ageOf(snapshot, oraclePrice) : 0)
}
