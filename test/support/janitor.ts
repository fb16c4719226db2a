/** An order janitor of a test, and what rests at the venue beside it. */
import { priceOfContractPrice, usd } from '../../src/protocol/units.ts'
import { orderJanitor } from '../../src/strategy/kinds/orderJanitor.ts'
import type { Strategy } from '../../src/strategy/strategy.ts'
import { ethSymbol, type KindsBench, signer } from './kinds.ts'
import { loadedOf } from './loaded.ts'

/** The operator of these tests. */
export const ann = { by: 'ann', via: 'control' } as const
/** What an operator opens in them. */
export const opening = {
  type: 'open',
  market: ethSymbol,
  size: '500',
  leverage: '5',
  collateral: 'short',
  isPreview: false,
} as const

/** An instance that looks at every market. */
export function janitorWith(settings: Record<string, unknown>) {
  const params = orderJanitor.params.parse({ graceSeconds: 60, ...settings })
  return {
    ...loadedOf(orderJanitor as Strategy, 'janitor', []),
    params,
    needs: orderJanitor.needs(params, []),
  }
}

/** What rests: side, type, trigger and size of each, in dollars. */
export async function restingAt({ api }: Pick<KindsBench, 'api'>): Promise<readonly string[]> {
  const { value } = await api.getOrders({ account: signer.address }, { isFresh: true })
  return value
    .map(({ direction, orderType, triggerContractPrice, sizeDeltaUsd }) => {
      const cents = priceOfContractPrice(triggerContractPrice, 18) / usd('0.01')
      return `${direction} ${orderType} ${Number(cents) / 100} ${sizeDeltaUsd / usd(1)}`
    })
    .toSorted()
}
