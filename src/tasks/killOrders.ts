/** Orders and sides that a kill knows from the journal alone, and the messages that cancel orders. Pure. */

import { defined } from '../base/defined.ts'
import { type MarketSide, sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import type { HeldSide, HeldSides } from '../domain/accountRecords/held.ts'
import type { Decision } from '../domain/order/decision.ts'
import { hasEnded, type Intent, type IntentState, labelOf } from '../domain/order/intent.ts'
import { legsOf } from '../domain/order/orderLegs.ts'
import { orderTypeName } from '../domain/order/orderTerms.ts'
import { type Address, hexKey } from '../protocol/address.ts'
import { isOnMarket, type Order, orderName, type Position } from '../protocol/position.ts'
import type { Usd } from '../protocol/units.ts'

/** An order as a cancel needs to know it. */
type NamedOrder = Pick<Order, 'orderKey' | 'marketToken' | 'direction'>

/** An order of ours that rests by the journal and that no list shows. */
export interface HiddenOrder extends NamedOrder {
  /** True if it is an exit of an open position, which stays; with closing, until the position that it protects is closed. */
  readonly isKept: boolean
  /** Resting orders, by the message that made them. */
  readonly rests: { readonly name: string; readonly sizeUsd?: Usd; readonly triggerPrice?: Usd }
}

/** Most orders that one message cancels. */
const cancelMost = 20

/** Orders of ours that rest by the journal and are not in the list. */
export function ordersNotListed(
  open: readonly IntentState[],
  listed: readonly Order[],
): readonly Omit<HiddenOrder, 'isKept'>[] {
  const keys = new Set(listed.map(({ orderKey }) => hexKey(orderKey)))
  return open
    .filter((state) => labelOf(state) === 'resting')
    .flatMap((state) =>
      legsOf(state)
        .filter((leg) => !hasEnded(leg) && !keys.has(hexKey(leg.orderKey)))
        .map(({ orderKey, index, role, sizeDeltaUsd, triggerPrice }) => ({
          orderKey,
          ...sideOfOrder(state.intent, index),
          rests: {
            name: role === 'take-profit' || role === 'stop-loss' ? role : nameOf(state.intent, index),
            ...defined({ sizeUsd: sizeDeltaUsd, triggerPrice }),
          },
        })),
    )
}

/** The name of an order that a message created, as the venue's page calls it where the message says its type. */
function nameOf({ terms }: Intent, index: number): string {
  const written = terms.batch?.createOrderParamsList[index]
  return written === undefined ? orderTypeName(terms.orderType) : orderName(Number(written.orderType))
}

/** The market and side of one of the orders that a message created. */
function sideOfOrder({ terms }: Intent, index: number): MarketSide {
  const written = terms.batch?.createOrderParamsList[index]
  if (written === undefined) return { marketToken: terms.marketToken, direction: terms.direction }
  return { marketToken: written.addresses.market, direction: written.isLong ? 'long' : 'short' }
}

/** Sides that are held by the journal and of which no row shows anything. */
export function sidesNotShown(journal: HeldSides, rows: readonly Position[]): readonly HeldSide[] {
  const shown = new Set(rows.map(sideKeyOf))
  return [...journal].filter(([key, { sizeUsd }]) => sizeUsd > 0n && !shown.has(key)).map(([, side]) => side)
}

/** Orders that may be cancelled in one message: those of one side of one market. `anyMarket` stands for those that are on none. */
export function cancelsOf(
  orders: readonly NamedOrder[],
  anyMarket: Address | undefined,
): readonly Decision[] {
  const sides = new Map<string, NamedOrder[]>()
  for (const order of orders) {
    const key = `${hexKey(order.marketToken)}:${order.direction}`
    sides.set(key, [...(sides.get(key) ?? []), order])
  }
  return [...sides.values()].flatMap((side): Decision[] => {
    const [first] = side
    if (first === undefined) return []
    return Array.from({ length: Math.ceil(side.length / cancelMost) }, (_, page) => ({
      kind: 'cancel',
      marketToken: isOnMarket(first) ? first.marketToken : (anyMarket ?? first.marketToken),
      direction: first.direction,
      orderKeys: side.slice(page * cancelMost, (page + 1) * cancelMost).map(({ orderKey }) => orderKey),
      reason: 'an operator cancels every resting order that adds risk',
    }))
  })
}
