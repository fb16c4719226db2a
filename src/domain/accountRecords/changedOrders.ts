/**
 * Orders of ours that rest with other fields than we signed: another client with the account's key changed them, or a host is
 * wrong. Pure; the rules are in docs/reference/evidence.md, "What another client changes".
 */
import { defined } from '../../base/defined.ts'
import { sameHex } from '../../protocol/address.ts'
import { lacksOrder, type MissingRow } from '../../protocol/missing.ts'
import { type Order, orderName } from '../../protocol/position.ts'
import { formatExactPrice } from '../../protocol/priceText.ts'
import { formatSize, MAX_UINT256, priceOfContractPrice, type Usd } from '../../protocol/units.ts'
import type { SignedOrder } from '../order/intent.ts'
import { type ListedOrder, type RowDifference, rowDifferences } from '../order/signedOrder.ts'
import type { Discrepancies, Discrepancy } from './accountRecord.ts'
import { shortDiscrepancyId } from './discrepancyId.ts'

/** An order of ours by our own messages. */
export interface OwnOrder {
  readonly signed: SignedOrder
  /** Decimals of the index token, which turn contract prices into prices of a whole token. */
  readonly indexDecimals: number
}

/** Types that wait for a price: limit increase, take-profit, stop-loss, stop increase. Others do not rest to be changed. */
const restingTypes: ReadonlySet<number> = new Set([3, 5, 6, 8])

/**
 * Returns a discrepancy for each listed order of ours that differs from its signed form. Its id is made from the order and its new form, so that a
 * further change is another discrepancy.
 *
 * @param own by lower-case key; an order that is not in it is not judged
 * @param symbols names of markets, by lower-case token
 */
export function changedOrders(
  orders: readonly Order[],
  own: ReadonlyMap<string, OwnOrder> = new Map(),
  symbols: Readonly<Record<string, string>>,
): readonly Discrepancy[] {
  return orders.flatMap((order): Discrepancy[] => {
    const ours = own.get(order.orderKey.toLowerCase())
    const { kept, orderType = order.orderType } = ours?.signed ?? {}
    if (ours === undefined || kept === undefined || !restingTypes.has(orderType)) return []
    const differences = rowDifferences(order, ours.signed)
    if (differences.length === 0) return []
    const became = differences.map(({ field, listed }) => `${field}=${listed}`).join()
    const market = symbols[kept.marketToken.toLowerCase()] ?? kept.marketToken
    const what = differences.map((each) => differenceText(each, ours.indexDecimals)).join('; ')
    return [
      {
        discrepancyId: `changed:${order.orderKey.toLowerCase()}:${shortDiscrepancyId(became)}`,
        kind: 'changed-order',
        marketToken: kept.marketToken,
        direction: kept.direction,
        collateralToken: kept.collateralToken,
        statement: `another client changed the ${orderName(orderType)} order on ${market} ${kept.direction}: ${what}`,
        sizeDeltaUsd: 0n,
        orderKey: order.orderKey,
        listed: listedOf(order, ours.indexDecimals),
        atSeconds: order.updatedAtSeconds,
      },
    ]
  })
}

/**
 * Returns the ids of changed orders that are no longer so: the order is as it was signed again, was changed again, or no longer rests. Discrepancies
 * that an operator settled are among them, because they also show which order is in force.
 *
 * @param changed the result of `changedOrders` for the same lists
 */
export function changedOrdersGone(
  { discrepancies }: Discrepancies,
  changed: readonly Discrepancy[],
  view: {
    readonly orders: readonly Order[]
    readonly own?: ReadonlyMap<string, OwnOrder>
    readonly missing?: { readonly orders: readonly MissingRow[] }
  },
): readonly string[] {
  return [...discrepancies.values()].flatMap(({ discrepancy: { discrepancyId, kind, orderKey }, end }) => {
    if (kind !== 'changed-order' || end === 'gone' || orderKey === undefined) return []
    if (changed.some((each) => each.discrepancyId === discrepancyId)) return []
    const isListed = view.orders.some((order) => sameHex(order.orderKey, orderKey))
    // A row that is not judged says neither.
    const isOver = isListed
      ? view.own?.has(orderKey.toLowerCase()) === true
      : !lacksOrder(view.missing?.orders, orderKey)
    return isOver ? [discrepancyId] : []
  })
}

/** An order as another client left it at the venue, by lower-case key, as far as discrepancies tell. */
export function listedOrders({ discrepancies }: Discrepancies): ReadonlyMap<string, ListedOrder> {
  const listed = new Map<string, ListedOrder>()
  for (const { discrepancy, end } of discrepancies.values()) {
    if (end === 'gone' || discrepancy.listed === undefined || discrepancy.orderKey === undefined) continue
    listed.set(discrepancy.orderKey.toLowerCase(), discrepancy.listed)
  }
  return listed
}

function listedOf(order: Order, indexDecimals: number): ListedOrder {
  const triggerPrice = triggerOf(order.triggerContractPrice, indexDecimals)
  return { sizeDeltaUsd: order.sizeDeltaUsd, ...defined({ triggerPrice }) }
}

/** 0 and the largest number stand for any price. */
function triggerOf(contractPrice: bigint, indexDecimals: number): Usd | undefined {
  return contractPrice > 0n && contractPrice < MAX_UINT256
    ? priceOfContractPrice(contractPrice, indexDecimals)
    : undefined
}

const fieldWords: Readonly<Record<string, string>> = {
  triggerPrice: 'its trigger',
  acceptablePrice: 'its acceptable price',
  sizeDeltaUsd: 'its size',
  minOutputAmount: 'its least output',
  autoCancel: 'autoCancel',
}

function differenceText({ field, signed, listed }: RowDifference, indexDecimals: number): string {
  const text = (value: string) => {
    if (field === 'sizeDeltaUsd') return formatSize(BigInt(value))
    if (field !== 'triggerPrice' && field !== 'acceptablePrice') return value
    const price = triggerOf(BigInt(value), indexDecimals)
    return price === undefined ? 'any price' : formatExactPrice(price)
  }
  return `${fieldWords[field] ?? field} is ${text(listed)}, perpd signed ${text(signed)}`
}
