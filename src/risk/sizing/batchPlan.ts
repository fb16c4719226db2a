/**
 * A message that the strategy composed: all or nothing, so that nothing in it is cut. The sum of its orders must fit every limit and the capacity as
 * one increase would; it may change only the strategy's own orders.
 */
import type { BatchDecision } from '../../domain/order/decision.ts'
import type { Denial } from '../../domain/order/intent.ts'
import { describeLane, laneNames } from '../../domain/order/laneTable.ts'
import type { MarketView } from '../../domain/snapshot.ts'
import { sameHex } from '../../protocol/address.ts'
import type { CreateOrderParams } from '../../protocol/batch.ts'
import { isIncreaseOrder, type Order } from '../../protocol/position.ts'
import { BPS_ONE, formatDollars, maxOf, type Usd, usdOfAmount } from '../../protocol/units.ts'
import type { ClassifiedDecision } from '../checks/checks.ts'
import { type AdmissionContext, isDenial } from '../exposure/admissionContext.ts'
import { availableCapacityOf } from '../exposure/availableCapacity.ts'
import { changeable } from './orderChangePlan.ts'
import { type Plan, plainTerms } from './plan.ts'
import { fitWithin, sizeLimitsOf, tooSmall } from './sizeLimits.ts'
import { collateralUnknown, oldestAgeMs, oracleUnknown } from './sizing.ts'

/** Increases and decreases, by on-chain order type; a batch swaps nothing. */
const allowedTypes: ReadonlySet<number> = new Set([2, 3, 4, 5, 6, 8])

/**
 * Plans a batch. Refuses with BATCH_NEEDS_RELAY, BATCH_EMPTY, BATCH_UNSUPPORTED, ORACLE_PRICE_UNKNOWN,
 * COLLATERAL_TOKEN_UNKNOWN, MAX_LEVERAGE, the codes of `changeable` and `roomOf`, and the code of the limit that it does not fit.
 */
export function planBatch(
  decision: BatchDecision,
  classified: ClassifiedDecision,
  view: MarketView,
  context: AdmissionContext,
): Plan | Denial {
  const { batch } = decision
  const lane = describeLane(context.intent.lane)
  if (!lane.takesOwnMessages) {
    const taking = laneNames.filter((name) => describeLane(name).takesOwnMessages)
    const labels = taking.map((name) => describeLane(name).label)
    return {
      code: 'BATCH_NEEDS_RELAY',
      reason: `The ${lane.label} builds its own messages; a batch of your own needs the ${labels.join(' or the ')}.`,
      wanted: `lane ${context.intent.lane}`,
      allowed: `lane ${taking.join(' or ')}`,
    }
  }
  const creates = batch.createOrderParamsList
  if (creates.length + batch.updateOrderParamsList.length + batch.cancelOrderKeys.length === 0)
    return { code: 'BATCH_EMPTY', reason: 'A batch creates, changes or cancels at least one order.' }
  if (view.oraclePrice === undefined) return oracleUnknown(view)
  let addedUsd = 0n
  for (const create of creates) {
    const denial = unfit(create, decision, view, context)
    if (denial !== undefined) return denial
    if (isIncreaseOrder({ orderType: Number(create.orderType) })) addedUsd += create.numbers.sizeDeltaUsd
  }
  for (const { key, sizeDeltaUsd } of batch.updateOrderParamsList) {
    const order = changeable(key, context)
    if (isDenial(order)) return order
    if (isElsewhere(order, decision)) return unsupported(`changes the order ${key} of another market or side`)
    if (isIncreaseOrder(order)) addedUsd += maxOf(0n, sizeDeltaUsd - order.sizeDeltaUsd)
  }
  for (const key of batch.cancelOrderKeys) {
    const order = changeable(key, context)
    if (isDenial(order)) return order
  }
  const denial = addedUsd === 0n ? undefined : notFitting(decision, addedUsd, context)
  if (denial !== undefined) return denial
  return {
    terms: { ...plainTerms(classified, view, context), sizeDeltaUsd: addedUsd, batch },
    sizing: {
      wantedUsd: addedUsd,
      sizeDeltaUsd: addedUsd,
      cuts: [],
      dataAgeMs: oldestAgeMs(context.snapshot, view, decision.direction),
    },
    reservationUsd: addedUsd,
  }
}

function notFitting(decision: BatchDecision, addedUsd: Usd, context: AdmissionContext): Denial | undefined {
  const available = availableCapacityOf(decision.marketToken, decision.direction, context)
  if (isDenial(available)) return available
  const fitted = fitWithin(addedUsd, sizeLimitsOf(decision, available, context))
  return fitted.sizeDeltaUsd < addedUsd ? tooSmall(addedUsd, fitted, addedUsd) : undefined
}

function unfit(
  { addresses, numbers, orderType, isLong }: CreateOrderParams,
  { marketToken, direction }: BatchDecision,
  view: MarketView,
  { limits }: AdmissionContext,
): Denial | undefined {
  if (!allowedTypes.has(Number(orderType))) return unsupported(`creates an order of type ${orderType}`)
  if (!sameHex(addresses.market, marketToken) || isLong !== (direction === 'long'))
    return unsupported('creates an order on another market or side than the decision names')
  const token = [view.longToken, view.shortToken].find(({ address }) =>
    sameHex(address, addresses.initialCollateralToken),
  )
  if (token === undefined) return collateralUnknown(view, addresses.initialCollateralToken)
  if (!isIncreaseOrder({ orderType: Number(orderType) })) return undefined
  const most = Math.min(
    limits.maxLeverageBps ?? Number.MAX_SAFE_INTEGER,
    view.market.maxLeverageBps ?? Number.MAX_SAFE_INTEGER,
  )
  const collateralUsd = usdOfAmount(
    numbers.initialCollateralDeltaAmount,
    token.minPrice ?? 0n,
    token.decimals,
  )
  if (collateralUsd * BigInt(most) >= numbers.sizeDeltaUsd * BigInt(BPS_ONE)) return undefined
  return {
    code: 'MAX_LEVERAGE',
    reason: 'An order of the batch brings too little collateral for its size.',
    wanted: `${formatDollars(numbers.sizeDeltaUsd)} on ${formatDollars(collateralUsd)}`,
    allowed: `${most / BPS_ONE}x`,
  }
}

function isElsewhere(order: Order, { marketToken, direction }: BatchDecision): boolean {
  return !sameHex(order.marketToken, marketToken) || order.direction !== direction
}

function unsupported(what: string): Denial {
  return { code: 'BATCH_UNSUPPORTED', reason: `The batch ${what}, which perpd does not admit.` }
}
