/** Finds the fault of a resting order, whoever placed it: the first cause that a file asks about. Pure. */
import { defined } from '../../../base/defined.ts'
import type { UntidyCause } from '../../../domain/order/decision.ts'
import { isFresh, marketOf, type Snapshot, triggerPriceOf } from '../../../domain/snapshot.ts'
import { sameHex } from '../../../protocol/address.ts'
import { lacksMarket } from '../../../protocol/missing.ts'
import {
  isBehindLiquidation,
  isIncreaseOrder,
  type Order,
  type Position,
} from '../../../protocol/position.ts'
import { formatPrice } from '../../../protocol/priceText.ts'
import { absOf, bps, formatDollars, type Usd } from '../../../protocol/units.ts'

/** Causes that are searched for. */
export type FoundCause = Exclude<UntidyCause, 'other'>

/** An order that something is wrong with. */
export interface Untidy {
  readonly order: Order
  readonly cause: FoundCause
  /** One clause. */
  readonly why: string
  /** Present price of its index token, USD per whole token; absent where no fresh price is known. */
  readonly price?: Usd
  /** Position on its side of the market, USD. */
  readonly heldUsd: Usd
  /** Liquidation price of the position that it exits, USD per whole index token. */
  readonly liquidationPrice?: Usd
}

/** From when on something is wrong. */
export interface UntidyRules {
  /** Since its newest change, ms; undefined: never. */
  readonly staleAfterMs: number | undefined
  /** Way between price and trigger, bps of the price; undefined: never. */
  readonly unreachableBps: number | undefined
  readonly isAsked: (cause: FoundCause) => boolean
  /** Time for which an order is left alone after its newest change, ms. */
  readonly graceMs: number
}

/** Longest age of readings that show an end, ms. */
export const MOST_AGE_MS = 30_000
/** Tolerated excess of an exit over its side, bps of the side. */
const TOLERANCE_BPS = 200
/** Limit increases, stop entries, take-profits and stop-losses (contract `Order`, `OrderType`). */
const restingTypes: ReadonlySet<number> = new Set([3, 5, 6, 8])
const STOP_LOSS = 6
/** From here on a size stands for all of the position: clients write the largest uint256. */
const WHOLE = 1n << 255n

/** Returns the fault of an order; undefined: none. Parts of a twap wait for their time at any price, and have none. */
export function untidyOf(order: Order, snapshot: Snapshot, rules: UntidyRules): Untidy | undefined {
  if (!restingTypes.has(order.orderType) || order.validFromSeconds !== 0) return undefined
  const ageMs = snapshot.atMs - order.updatedAtSeconds * 1_000
  if (ageMs < rules.graceMs || lacksMarket(snapshot.positions.missing, order.marketToken)) return undefined
  const positions = snapshot.positions.value.filter((row) => isBeside(order, row) && row.sizeInUsd > 0n)
  const oracle = marketOf(snapshot, order.marketToken)?.oraclePrice
  const price =
    oracle !== undefined && isFresh(snapshot, oracle, MOST_AGE_MS) ? oracle.value.medianPrice : undefined
  const heldUsd = positions.reduce((sum, { sizeInUsd }) => sum + sizeInUsd, 0n)
  const found = { order, heldUsd, ...defined({ price }) }
  return isIncreaseOrder(order)
    ? untidyEntry(found, ageMs, snapshot, rules)
    : untidyExit(found, positions, snapshot, rules)
}

type Found = Pick<Untidy, 'order' | 'heldUsd' | 'price'>

function untidyEntry(
  found: Found,
  ageMs: number,
  snapshot: Snapshot,
  { staleAfterMs, unreachableBps, isAsked }: UntidyRules,
): Untidy | undefined {
  const { order, price } = found
  if (staleAfterMs !== undefined && ageMs >= staleAfterMs && isAsked('stale')) {
    const why = `an entry has not changed for ${Math.floor(ageMs / 3_600_000)} h`
    return { ...found, cause: 'stale', why }
  }
  const trigger = triggerPriceOf(order, snapshot)
  if (unreachableBps === undefined || price === undefined || trigger === undefined) return undefined
  if (!isAsked('unreachable') || absOf(trigger - price) <= bps(price, unreachableBps)) return undefined
  const why = `an entry rests more than ${unreachableBps} bps from the price`
  return { ...found, cause: 'unreachable', why }
}

function untidyExit(
  found: Found,
  positions: readonly Position[],
  snapshot: Snapshot,
  { isAsked }: UntidyRules,
): Untidy | undefined {
  const { order, heldUsd } = found
  const { sizeDeltaUsd, orderType, initialCollateralToken } = order
  const hasEntry = snapshot.orders.value.some((row) => isBeside(order, row) && isIncreaseOrder(row))
  if (heldUsd === 0n) {
    return hasEntry || !isAsked('orphaned')
      ? undefined
      : { ...found, cause: 'orphaned', why: 'an exit has no position left' }
  }
  const own = positions.find(({ collateralToken }) => sameHex(collateralToken, initialCollateralToken))
  const { liquidationPrice = 0n } = own ?? {}
  const trigger = triggerPriceOf(order, snapshot)
  const isLate = orderType === STOP_LOSS && own !== undefined && isBehindLiquidation(own, trigger)
  if (isLate && trigger !== undefined && isAsked('behind-liquidation')) {
    const why = `a stop-loss at ${formatPrice(trigger)} lies behind the liquidation at ${formatPrice(liquidationPrice)}`
    return { ...found, cause: 'behind-liquidation', why, liquidationPrice }
  }
  // A resting order that opens may be the reason for the exit's size.
  const isTooLarge = sizeDeltaUsd < WHOLE && sizeDeltaUsd > heldUsd + bps(heldUsd, TOLERANCE_BPS)
  if (!isTooLarge || hasEntry || !isAsked('oversized')) return undefined
  const why = `an exit of ${formatDollars(sizeDeltaUsd)} is larger than the position of ${formatDollars(heldUsd)}`
  return { ...found, cause: 'oversized', why }
}

function isBeside(order: Order, row: { readonly marketToken: string; readonly direction: string }): boolean {
  return row.direction === order.direction && sameHex(row.marketToken, order.marketToken)
}
