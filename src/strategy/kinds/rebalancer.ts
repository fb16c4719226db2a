/**
 * Rebalancer: holds several markets at fixed weights of one sum, long and short, and trades only positions that have drifted out of a band.
 *
 * The sum is an amount of US dollars, or a multiple of the account's equity: the net value of all its positions, and its wallet's balances of these
 * markets' pool tokens at their lower prices. Excess is reduced before anything is added, so that collateral and limits are free for it; a side
 * without a weight is closed. One order moves at most `size.usd`, so that a wrong figure moves little. It has no stop: `exit` in its file adds one.
 * It trades by its own part of positions.
 */
import type { Decision } from '../../domain/order/decision.ts'
import type { Direction } from '../../protocol/market.ts'
import { absOf, BPS_ONE, bps, formatUsd, maxOf, minOf, mulDiv, type Usd } from '../../protocol/units.ts'
import { bpsField, leverageField, usdField, weightsField } from '../fields.ts'
import { defineStrategy, type StatusLine, type StrategyView, z } from '../strategy.ts'
import { accountWorth } from './shared/accountWorth.ts'
import { closeOf, entryOf, type MarketScene, sceneOf } from './shared/marketScene.ts'

const schema = z
  .strictObject({
    weights: weightsField().describe(
      'share of the total for each market, by its full symbol, below 0 for a short; a market without a share has 0',
    ),
    totalUsd: usdField().optional().describe('the total, US dollars; this or totalLeverage'),
    totalLeverage: leverageField().optional().describe('the total, times the equity; this or totalUsd'),
    bandBps: bpsField({ min: 10, max: 5000 })
      .default(500)
      .describe('drift at which it trades a market, basis points of the total'),
    minOrderUsd: usdField()
      .default(20n * 10n ** 30n)
      .describe('smallest order, US dollars'),
  })
  .refine(
    ({ totalUsd, totalLeverage }) => (totalUsd === undefined) !== (totalLeverage === undefined),
    'exactly one of totalUsd and totalLeverage',
  )
  .refine(
    ({ weights }) => Object.values(weights).reduce((sum, weight) => sum + Math.abs(weight), 0) <= BPS_ONE,
    `weights whose sizes add up to at most ${BPS_ONE} basis points`,
  )

type Params = z.output<typeof schema>

/** The kind `rebalancer`. */
export const rebalancer = defineStrategy({
  kind: 'rebalancer',
  description:
    'Holds several markets at their weights, and trades only a market that drifted out of its band.',
  params: schema,
  needs: (params, symbols) => ({
    symbols: marketsOf(params, symbols),
    allPositionMarkets: true,
    balances: true,
  }),
  decide(view) {
    const symbols = marketsOf(view.params, view.instance.symbols)
    const scenes = symbols.flatMap((symbol) => sceneOf(view, symbol) ?? [])
    // One market that cannot be read would make the others look too large.
    if (scenes.length < symbols.length) return []
    const total = totalOf(view, scenes)
    if (total === undefined || total <= 0n) return []
    const decisions = scenes.flatMap((scene) => towards(scene, total, view.params))
    const reductions = decisions.filter(({ kind }) => kind !== 'increase')
    return reductions.length > 0 ? reductions : decisions
  },
  status: statusOf,
})

/** The file's markets, and those that have a weight: none is left out because it stands in one place alone. */
function marketsOf({ weights }: Params, symbols: readonly string[]): readonly string[] {
  return [...new Set([...symbols, ...Object.keys(weights)])]
}

/** One line on the market that is furthest from its weight, and the drift from which it trades. */
function statusOf(view: StrategyView<Params>): StatusLine {
  const symbols = marketsOf(view.params, view.instance.symbols)
  const scenes = symbols.flatMap((symbol) => sceneOf(view, symbol) ?? [])
  if (scenes.length < symbols.length) return { text: 'waits for a price of each of its markets' }
  const total = totalOf(view, scenes)
  if (total === undefined || total <= 0n) return { text: "waits for the account's equity" }
  const drifts = scenes.map(({ symbol, held }) => {
    const heldUsd = held.reduce(
      (sum, { direction, sizeInUsd }) => sum + (direction === 'long' ? sizeInUsd : -sizeInUsd),
      0n,
    )
    const weight = view.params.weights[symbol] ?? 0
    const targetUsd = bps(total, Math.abs(weight))
    const gapUsd = heldUsd - (weight < 0 ? -targetUsd : targetUsd)
    return { symbol, driftBps: Number(mulDiv(absOf(gapUsd), BigInt(BPS_ONE), total)) }
  })
  const [furthest] = drifts.toSorted((one, other) => other.driftBps - one.driftBps)
  if (furthest === undefined) return { text: 'has no market' }
  const { symbol, driftBps } = furthest
  const [asset = symbol] = symbol.split('/')
  const edge = view.params.bandBps / 100
  const text = `${asset} is ${(driftBps / 100).toFixed(1)} % of the total from its weight, trades above ${edge} %`
  return { text, facts: { market: asset, driftBps, totalUsd: formatUsd(total) } }
}

/** Returns the target sum; undefined when the account's equity is unknown. */
function totalOf(
  { params, snapshot }: StrategyView<Params>,
  scenes: readonly MarketScene[],
): Usd | undefined {
  if (params.totalUsd !== undefined) return params.totalUsd
  const worth = accountWorth(
    snapshot,
    scenes.map(({ market }) => market),
  )
  return worth === undefined ? undefined : bps(worth, params.totalLeverage ?? 0)
}

/** Returns the decisions that bring one market nearer to its weight. */
function towards(scene: MarketScene, total: Usd, params: Params): readonly Decision[] {
  const { market, symbol, collateralToken, size, held, isBusy } = scene
  if (isBusy || market.status === 'closed') return []
  const weight = params.weights[symbol] ?? 0
  const direction: Direction = weight < 0 ? 'short' : 'long'
  const other = held.find((position) => weight === 0 || position.direction !== direction)
  if (other !== undefined) {
    return [
      closeOf(scene, other.direction, `${symbol} ${other.direction} has no weight.`, { weightBps: weight }),
    ]
  }
  const targetUsd = bps(total, Math.abs(weight))
  const heldUsd = held.reduce((sum, { sizeInUsd }) => sum + sizeInUsd, 0n)
  const gap = targetUsd - heldUsd
  const distance = gap < 0n ? -gap : gap
  if (distance <= bps(total, params.bandBps)) return []
  const sizeDeltaUsd = minOf(distance, size.usd)
  if (sizeDeltaUsd < params.minOrderUsd) return []
  const reason = `${symbol} ${direction} is ${formatUsd(heldUsd)}; its weight requires ${formatUsd(targetUsd)}.`
  const facts = { heldUsd: formatUsd(heldUsd), targetUsd: formatUsd(targetUsd), weightBps: weight }
  if (gap > 0n) return [{ ...entryOf(scene, direction, reason, facts), sizeDeltaUsd }]
  return [
    {
      kind: 'decrease',
      marketToken: market.market.marketToken,
      direction,
      collateralToken,
      sizeDeltaUsd: maxOf(sizeDeltaUsd, 1n),
      keepLeverage: true,
      reason,
      facts,
    },
  ]
}
