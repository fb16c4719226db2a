/** The kind whose exits tests of exits look after. */
import { usd } from '../../src/protocol/units.ts'
import { collateralTokenOf, defineStrategy, z } from '../../src/strategy/strategy.ts'
import { ethSymbol } from './kinds.ts'

/** Opens one long of $200, and decides nothing more. */
export const opener = defineStrategy({
  kind: 'opener',
  description: 'Opens once.',
  params: z.strictObject({}),
  memory: { version: 1, schema: z.strictObject({ opened: z.boolean() }), first: { opened: false } },
  needs: (_params, symbols) => ({ symbols }),
  decide(view, { opened }) {
    const market = view.market(ethSymbol)
    // What was denied is asked again; what was opened once is not opened again.
    const isHeld = view.positions().length > 0 || view.openIntents.length > 0
    if (opened || isHeld || market === undefined)
      return { decisions: [], memory: { opened: opened || isHeld } }
    const decision = {
      kind: 'increase' as const,
      marketToken: market.market.marketToken,
      direction: 'long' as const,
      sizeDeltaUsd: usd(200),
      leverageBps: 20_000,
      collateralToken: collateralTokenOf(market, 'short'),
      reason: 'once',
    }
    return { decisions: [decision], memory: { opened } }
  },
})
