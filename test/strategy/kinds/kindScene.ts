/** One market of the risk tests' world, and what a kind decides in it. */
import type { MarketView } from '../../../src/domain/snapshot.ts'
import type { Position } from '../../../src/protocol/position.ts'
import { usd } from '../../../src/protocol/units.ts'
import { type OpenIntent, type PlainStrategy, viewOf } from '../../../src/strategy/strategy.ts'
import { candles, marketView, NOW_MS, oraclePrice, SYMBOL, snapshot } from '../../risk/world.ts'

export const size = { usd: usd(500), leverageBps: 30_000, collateral: 'short' } as const

/** What the kind asks for when the candles (1m) closed at these prices, the last one running. */
export function decideOn<Params>(
  kind: PlainStrategy<Params>,
  closes: readonly number[],
  parts: {
    readonly positions?: readonly Position[]
    readonly openIntents?: readonly OpenIntent[]
    readonly view?: Partial<MarketView>
    readonly params?: Record<string, unknown>
    readonly priceUsd?: number
  } = {},
) {
  const price = usd(parts.priceUsd ?? closes.at(-1) ?? 2000)
  const view = marketView({
    candles: candles(closes),
    oraclePrice: { value: oraclePrice({ medianPrice: price }), atMs: NOW_MS },
    ...parts.view,
  })
  const world = snapshot({ view, positions: parts.positions ?? [] })
  const asked = { period: '1m', ...parts.params }
  // A kind without candles has no period.
  const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined))
  const params = kind.params.parse(given)
  const instance = { name: 'mine', symbols: [SYMBOL], size }
  return kind.decide(viewOf({ snapshot: world, params, instance, openIntents: parts.openIntents ?? [] }))
}
