/** For tests: opens one long and then holds it. Decides again only when nothing is held and nothing is in flight. */
import { collateralTokenOf, defineStrategy, z } from '#strategy'

export default defineStrategy({
  kind: 'once',
  description: 'Opens one position and holds it.',
  params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }),
  decide(view) {
    const { size, symbols } = view.instance
    if (size === undefined || view.openIntents.length > 0) return []
    return symbols.flatMap((symbol) => {
      const market = view.market(symbol)
      if (market === undefined || view.positions(symbol).length > 0) return []
      return {
        kind: 'increase',
        marketToken: market.market.marketToken,
        direction: 'long',
        sizeDeltaUsd: size.usd,
        leverageBps: size.leverageBps,
        collateralToken: collateralTokenOf(market, size.collateral),
        reason: 'the test wants one position',
      }
    })
  },
})
