/** For tests: opens one long and takes 200 USD off it, whatever is still waiting for its proof. */
import { collateralTokenOf, defineStrategy, z } from '#strategy'
import type { Decision } from '../../../src/domain/order/decision.ts'

const STEP_USD = 200n * 10n ** 30n

export default defineStrategy({
  kind: 'shrink',
  description: 'Opens one position and reduces it once.',
  params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }),
  decide(view) {
    const { size, symbols } = view.instance
    if (size === undefined) return []
    return symbols.flatMap((symbol): Decision[] => {
      const market = view.market(symbol)
      if (market === undefined) return []
      const base = {
        marketToken: market.market.marketToken,
        direction: 'long',
        collateralToken: collateralTokenOf(market, size.collateral),
        reason: 'the test wants it',
      } as const
      const [held] = view.positions(symbol)
      const isOpen = (kind: string): boolean => view.openIntents.some((each) => each.kind === kind)
      if (held === undefined) {
        const opens = {
          kind: 'increase',
          ...base,
          sizeDeltaUsd: size.usd,
          leverageBps: size.leverageBps,
        } as const
        return isOpen('increase') ? [] : [opens]
      }
      if (held.sizeInUsd < size.usd || isOpen('decrease')) return []
      return [{ kind: 'decrease', ...base, sizeDeltaUsd: STEP_USD, keepLeverage: false } as const]
    })
  },
})
