/** What orders of the modelled venue wait for: the price that their contract type names. */
import type { Hex } from '../../src/protocol/address.ts'
import type { Usd } from '../../src/protocol/units.ts'
import type { ModelChain, ModelOrder } from './chainModel.ts'
import type { PriceWalk } from './priceWalk.ts'

/** Orders that are executed once the price is so high, or so low, by their contract type: of longs, the other way of shorts. */
const reachedFrom: Readonly<Record<number, 'above' | 'below'>> = {
  3: 'below',
  5: 'above',
  6: 'below',
  8: 'above',
}

/** What an order waits for, USD per whole index token; undefined: for its time alone, or for nothing. */
export function triggerOf({ spec }: ModelOrder, walk: PriceWalk): Usd | undefined {
  const { orderType, role, kept, marketToken } = spec
  if (reachedFrom[orderType] === undefined || role === 'part' || kept === undefined) return undefined
  return walk.ofContract(marketToken, kept.triggerPrice)
}

/** Whether a price is at the trigger or past it. */
export function isReached({ spec: { orderType, direction } }: ModelOrder, trigger: Usd, price: Usd): boolean {
  const isAbove = (reachedFrom[orderType] === 'above') === (direction === 'long')
  return isAbove ? price >= trigger : price <= trigger
}

/** Triggers of a market's open orders that the keeper has no plan for, USD per whole index token. */
export function triggersOn(
  chain: ModelChain,
  walk: PriceWalk,
  marketToken: string,
  planned: ReadonlySet<Hex>,
): readonly Usd[] {
  return [...chain.canonical.orders.values()].flatMap((order) => {
    const isHere = order.spec.marketToken.toLowerCase() === marketToken
    const isOpen = order.state === 'open' || order.state === 'frozen'
    return isHere && isOpen && !planned.has(order.orderKey) ? (triggerOf(order, walk) ?? []) : []
  })
}
