/** For tests: opens and closes one position again and again, as often as it is asked and allowed. */
import { collateralTokenOf, defineStrategy, z } from '#strategy'

export default defineStrategy({
  kind: 'churn',
  description: 'Opens one position, closes it, and opens it again.',
  params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }),
  decide(view) {
    const { size, symbols } = view.instance
    if (size === undefined || view.openIntents.length > 0) return []
    return symbols.flatMap((symbol) => {
      const market = view.market(symbol)
      if (market === undefined) return []
      const { marketToken } = market.market
      const [held] = view.positions(symbol)
      if (held !== undefined) {
        return {
          kind: 'close',
          marketToken,
          direction: held.direction,
          collateralToken: held.collateralToken,
          reason: 'the test wants it gone',
        }
      }
      return {
        kind: 'increase',
        marketToken,
        direction: 'long',
        sizeDeltaUsd: size.usd,
        leverageBps: size.leverageBps,
        collateralToken: collateralTokenOf(market, size.collateral),
        reason: 'the test wants one position',
      }
    })
  },
})
