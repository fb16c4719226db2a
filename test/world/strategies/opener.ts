/** For tests: opens one long, and decides nothing more once it held it, whatever becomes of the position. */
import { collateralTokenOf, defineStrategy, z } from '#strategy'

export default defineStrategy({
  kind: 'opener',
  description: 'Opens one position once.',
  params: z.strictObject({}),
  memory: { version: 1, schema: z.strictObject({ opened: z.boolean() }), first: { opened: false } },
  needs: (_params, symbols) => ({ symbols }),
  decide(view, { opened }) {
    const { size, symbols } = view.instance
    const market = view.market(symbols[0] ?? '')
    const isHeld = view.positions().length > 0
    if (opened || isHeld || view.openIntents.length > 0 || size === undefined || market === undefined)
      return { decisions: [], memory: { opened: opened || isHeld } }
    const decision = {
      kind: 'increase' as const,
      marketToken: market.market.marketToken,
      direction: 'long' as const,
      sizeDeltaUsd: size.usd,
      leverageBps: size.leverageBps,
      collateralToken: collateralTokenOf(market, size.collateral),
      reason: 'the test wants one position',
    }
    return { decisions: [decision], memory: { opened } }
  },
})
