/** For tests: holds one long and rests one limit order far below the price. */
import { collateralTokenOf, defineStrategy, z } from '#strategy'

export default defineStrategy({
  kind: 'rest',
  description: 'Holds one position and rests one order.',
  params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }),
  decide(view) {
    const { size, symbols } = view.instance
    if (size === undefined) return []
    return symbols.flatMap((symbol) => {
      const market = view.market(symbol)
      const price = market?.oraclePrice?.value.medianPrice
      if (market === undefined || price === undefined) return []
      const base = {
        kind: 'increase',
        marketToken: market.market.marketToken,
        direction: 'long',
        sizeDeltaUsd: size.usd,
        leverageBps: size.leverageBps,
        collateralToken: collateralTokenOf(market, size.collateral),
        reason: 'the test wants it',
      } as const
      const isOpening = view.openIntents.some(({ orderType }) => orderType === 'market')
      const isResting = view.openIntents.some(({ orderType }) => orderType === 'limit')
      if (view.positions(symbol).length === 0) return isOpening ? [] : [base]
      return isResting || isOpening
        ? []
        : [{ ...base, orderType: 'limit' as const, triggerPrice: (price * 8n) / 10n }]
    })
  },
})
