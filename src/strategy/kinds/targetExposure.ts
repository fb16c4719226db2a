/**
 * Target exposure: holds one side of a market at a notional, or at a multiple of the account's equity, within a band.
 *
 * The equity here: the net value of all the account's positions, and its wallet's balances of the market's two pool tokens at their lower prices.
 * Outside of the band it returns to the target itself, at most one `size.usd` a time, so that a wrong figure moves little. It has no stop: `exit` in
 * its file adds one. It trades by its own part of the position.
 */
import type { Decision } from '../../domain/order/decision.ts'
import { bps, formatUsd, minOf, type Usd } from '../../protocol/units.ts'
import { bpsField, leverageField, usdField } from '../fields.ts'
import { defineStrategy, type StrategyView, z } from '../strategy.ts'
import { accountWorth } from './shared/accountWorth.ts'
import { entryOf, type MarketScene, sceneOf } from './shared/marketScene.ts'
import { type MarketLine, statusOfMarkets } from './shared/marketStatus.ts'

const schema = z
  .strictObject({
    direction: z.enum(['long', 'short']).default('long').describe('side that it holds'),
    targetUsd: usdField().optional().describe('size to hold, US dollars'),
    targetLeverage: leverageField().optional().describe('size to hold, times the equity'),
    targetEquityBps: bpsField({ min: 1 }).optional().describe('size to hold, basis points of equity'),
    bandBps: bpsField({ min: 10, max: 9000 })
      .default(1000)
      .describe('distance from the target at which it acts, basis points of the target'),
  })
  .refine(
    ({ targetUsd, targetLeverage, targetEquityBps }) =>
      [targetUsd, targetLeverage, targetEquityBps].filter((target) => target !== undefined).length === 1,
    { message: 'exactly one of targetUsd, targetLeverage and targetEquityBps' },
  )

type TargetParams = z.output<typeof schema>

/** The kind `target-exposure`. */
export const targetExposure = defineStrategy({
  kind: 'target-exposure',
  description: 'Holds a notional, a leverage or a share of equity on one side of a market, within a band.',
  params: schema,
  needs: (_params, symbols) => ({ symbols, allPositionMarkets: true, balances: true }),
  decide: (view) =>
    view.instance.symbols.flatMap((symbol) => {
      const decision = decideMarket(view, symbol)
      return decision ? [decision] : []
    }),
  status: (view) => statusOfMarkets(view, (symbol) => statusOf(view, symbol)),
})

/** One line on a market: what it holds, the target, and the gap that makes an order. */
function statusOf(view: StrategyView<TargetParams>, symbol: string): MarketLine | undefined {
  const { direction, bandBps } = view.params
  const scene = sceneOf(view, symbol)
  const target = scene && targetOf(view, scene)
  if (scene === undefined || target === undefined)
    return { text: "waits for a price and the account's equity" }
  const heldUsd = scene.held
    .filter((position) => position.direction === direction)
    .reduce((sum, { sizeInUsd }) => sum + sizeInUsd, 0n)
  const facts = { heldUsd: formatUsd(heldUsd), targetUsd: formatUsd(target) }
  const next = scene.isBusy
    ? 'an order is in flight'
    : `waits for a gap over ${formatUsd(bps(target, bandBps))}`
  return { text: `holds ${formatUsd(heldUsd)} of ${formatUsd(target)} ${direction}, ${next}`, facts }
}

function decideMarket(view: StrategyView<TargetParams>, symbol: string): Decision | undefined {
  const { params } = view
  const { direction } = params
  const scene = sceneOf(view, symbol)
  if (scene === undefined || scene.isBusy || scene.market.status === 'closed') return undefined
  const target = targetOf(view, scene)
  if (target === undefined || target <= 0n) return undefined
  const heldUsd = scene.held
    .filter((position) => position.direction === direction)
    .reduce((sum, { sizeInUsd }) => sum + sizeInUsd, 0n)
  const gap = target - heldUsd
  const distance = gap < 0n ? -gap : gap
  if (distance <= bps(target, params.bandBps)) return undefined
  const sizeDeltaUsd = minOf(distance, scene.size.usd)
  const reason = `${symbol} ${direction} is ${formatUsd(heldUsd)}; the target is ${formatUsd(target)}.`
  const facts = { heldUsd: formatUsd(heldUsd), targetUsd: formatUsd(target) }
  if (gap > 0n) return { ...entryOf(scene, direction, reason, facts), sizeDeltaUsd }
  return {
    kind: 'decrease',
    marketToken: scene.market.market.marketToken,
    direction,
    collateralToken: scene.collateralToken,
    sizeDeltaUsd,
    keepLeverage: true,
    reason,
    facts,
  }
}

/** Returns the target; undefined when the account's equity is unknown. */
function targetOf(view: StrategyView<TargetParams>, { market }: MarketScene): Usd | undefined {
  const { params, snapshot } = view
  if (params.targetUsd !== undefined) return params.targetUsd
  const worth = accountWorth(snapshot, [market])
  return worth === undefined ? undefined : bps(worth, params.targetLeverage ?? params.targetEquityBps ?? 0)
}
