/** For tests: holds one long for some seconds, closes it, and asks for the next one at every tick. */
import { collateralTokenOf, defineStrategy, z } from '#strategy'

export default defineStrategy({
  kind: 'turn',
  description: 'Opens a position, closes it after some seconds, and begins anew.',
  params: z.strictObject({ holdSeconds: z.number() }),
  needs: (_params, symbols) => ({ symbols }),
  decide(view) {
    const { size, symbols } = view.instance
    if (size === undefined || view.openIntents.length > 0) return []
    return symbols.flatMap((symbol) => {
      const market = view.market(symbol)
      if (market === undefined) return []
      const base = {
        marketToken: market.market.marketToken,
        direction: 'long',
        collateralToken: collateralTokenOf(market, size.collateral),
        reason: 'the test wants it',
      } as const
      const [held] = view.positions(symbol, 'long')
      const wish = {
        kind: 'increase',
        ...base,
        sizeDeltaUsd: size.usd,
        leverageBps: size.leverageBps,
      } as const
      if (held === undefined) return [wish]
      const heldSeconds = view.snapshot.atMs / 1000 - held.increasedAtSeconds
      return heldSeconds < view.params.holdSeconds ? [] : [{ kind: 'close', ...base } as const, wish]
    })
  },
})
