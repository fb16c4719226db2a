/**
 * Impact capture: trades the side that the venue pays a positive price impact for, because it balances longs and shorts.
 *
 * It opens when perpd's own estimate of the impact is large enough: less the venue's fees and the sending cost of both ways, at least `minImpactBps`
 * of the size. It closes in one of three cases: closing would bring `takeBps` after its own fee, sending and the price's move; `maxHoldSeconds` are
 * over; or the stop is reached. The danger: closing unbalances the market again. The payment for balancing is charged for unbalancing, unless others
 * moved the balance meanwhile; the venue nets both where it settles impact at the close. So it earns where the balance returns by itself, and loses
 * fees where it does not. Small sizes, short times and a stop bound that. It trades by its own part of positions.
 */
import { defined } from '../../base/defined.ts'
import type { Decision } from '../../domain/order/decision.ts'
import { isFresh } from '../../domain/snapshot.ts'
import type { Direction } from '../../protocol/market.ts'
import { priceImpactBps } from '../../protocol/priceImpact.ts'
import { amountOfUsd, BPS_ONE, mulDivUp, ONE_USD, type Usd } from '../../protocol/units.ts'
import { bpsField, secondsField } from '../fields.ts'
import { defineStrategy, type OwnPosition, type StrategyView, z } from '../strategy.ts'
import {
  closeOf,
  entryOf,
  isPastStop,
  type MarketScene,
  sceneOf,
  sidesField,
  stopPriceOf,
} from './shared/marketScene.ts'
import { type MarketLine, statusOfMarkets } from './shared/marketStatus.ts'

const schema = z.strictObject({
  minImpactBps: bpsField({ min: 1, max: 500 })
    .default(10)
    .describe(
      'least estimated impact that opens, after fees and sending both ways, basis points of the size',
    ),
  takeBps: bpsField({ min: 0, max: 1000 })
    .default(5)
    .describe('least profit of closing now, after its fee, impact and sending, basis points of the size'),
  sendingBps: bpsField({ max: 1000 })
    .default(6)
    .describe('cost of sending both ways, basis points of the size: about 1 US dollar, 6 of 2000, 21 of 500'),
  maxHoldSeconds: secondsField({ min: 30, max: 604_800 })
    .default(172_800_000)
    .describe(
      'longest holding time, seconds; it then closes at any result (172800: two days, in which a balance may return)',
    ),
  stopBps: bpsField({ min: 10, max: 9000 }).default(150).describe('stop, basis points from the entry'),
  maxDataAgeSeconds: secondsField({ min: 1, max: 600 })
    .default(30_000)
    .describe('greatest age of the balance figures that it uses, seconds (30)'),
  sides: sidesField.default('both').describe('sides it may open'),
})

/** Times from which a position is held, Unix ms, by market token. */
const memorySchema = z.strictObject({ sinceMs: z.record(z.string(), z.number()) })

type View = StrategyView<z.output<typeof schema>>

/** The venue's highest fee of a change of a position, bps: where a market's own is not known. */
const HIGHEST_FEE_BPS = 10

/** The kind `impact-capture`. */
export const impactCapture = defineStrategy({
  kind: 'impact-capture',
  description: 'Opens the side that earns a positive price impact, within strict bounds.',
  params: schema,
  memory: { version: 1, schema: memorySchema, first: { sinceMs: {} } },
  needs: (_params, symbols) => ({ symbols }),
  decide(view, memory: z.output<typeof memorySchema>) {
    const sinceMs: Record<string, number> = {}
    const decisions = view.instance.symbols.flatMap((symbol): readonly Decision[] => {
      const scene = sceneOf(view, symbol)
      if (scene === undefined) return []
      const key = scene.market.market.marketToken
      const { atMs } = view.snapshot
      // A clock that was set back begins the time anew, and holds it for no longer.
      if (scene.held.length > 0) sinceMs[key] = Math.min(memory.sinceMs[key] ?? atMs, atMs)
      if (scene.isBusy) return []
      const held = scene.held.flatMap((position) => leaving(view, scene, position, sinceMs[key]) ?? [])
      return scene.held.length > 0 ? held : entering(view, scene)
    })
    return { decisions, memory: { sinceMs } }
  },
  status: (view) => statusOfMarkets(view, (symbol) => statusOf(view, symbol)),
})

/** One line on a market: what its impact pays for the better side and the edge that opens, or what closing would bring. */
function statusOf(view: View, symbol: string): MarketLine | undefined {
  const scene = sceneOf(view, symbol)
  if (scene === undefined) return { text: 'waits for a price' }
  const { params, snapshot } = view
  const { market, held, price } = scene
  if (!isFresh(snapshot, market.impact, params.maxDataAgeSeconds))
    return { text: 'waits for fresh pool figures' }
  const [position] = held
  const brings = position === undefined ? undefined : bringsOf(params, scene, position)
  if (position !== undefined) {
    const text = `holds ${position.direction}, closing brings ${brings ?? 'an unknown number of'} bps, closes from ${params.takeBps}`
    return { text, facts: { ...defined({ brings }), movedBps: movedBps(position, price) } }
  }
  const best = bestSide(params, scene)
  if (best === undefined) return { text: 'waits for figures of its impact' }
  const text = `the impact of a ${best.direction} pays ${best.net} bps after costs, opens from ${params.minImpactBps}`
  return { text, facts: { impactBps: best.net } }
}

/** Returns the side whose impact pays more, whole bps before and after fees and sending of both ways; undefined: no impact is known. */
function bestSide(params: View['params'], scene: MarketScene) {
  const sides = params.sides === 'both' ? (['long', 'short'] as const) : [params.sides]
  return sides
    .map((direction) => ({ direction, gross: impactOf(scene, direction, 'increase', scene.size.usd) }))
    .flatMap(({ direction, gross }) =>
      gross === undefined ? [] : [{ direction, gross, net: gross - bothFees(scene) - params.sendingBps }],
    )
    .toSorted((one, other) => other.net - one.net)[0]
}

/** Returns what closing a position would bring after its fee, impact and sending, whole bps; undefined: its impact is unknown. */
function bringsOf(params: View['params'], scene: MarketScene, position: OwnPosition): number | undefined {
  const impact = impactOf(scene, position.direction, 'decrease', position.sizeInUsd)
  if (impact === undefined) return undefined
  const sending = Math.ceil(params.sendingBps / 2)
  return movedBps(position, scene.price) + impact - feesOf(scene).unbalancing - sending
}

/** The side whose impact pays enough; not in a closed market or by old figures. */
function entering({ params, snapshot }: View, scene: MarketScene): readonly Decision[] {
  const { market, price } = scene
  if (market.status === 'closed' || !isFresh(snapshot, market.impact, params.maxDataAgeSeconds)) return []
  const best = bestSide(params, scene)
  if (best === undefined || best.net < params.minImpactBps) return []
  const { direction, gross, net } = best
  const why = `A ${direction} balances ${scene.symbol}: its impact pays ${net} bps after fees and sending of both ways.`
  const stop = stopPriceOf(price, direction, params.stopBps)
  // The costs are subtracted already, and protect.minEdgeBps compares with them once more: state the edge before them.
  return [entryOf(scene, direction, why, { impactBps: net }, stop, gross)]
}

/** Returns the close of a position, with its reason; undefined: it stays open. */
function leaving(
  { params, snapshot }: View,
  scene: MarketScene,
  position: OwnPosition,
  sinceMs: number | undefined,
): Decision | undefined {
  const { direction } = position
  if (isPastStop(position, scene.price, params.stopBps))
    return closeOf(
      scene,
      direction,
      `The price is ${params.stopBps} bps or more against the ${direction}.`,
      {},
    )
  if (sinceMs !== undefined && snapshot.atMs - sinceMs >= params.maxHoldSeconds)
    return closeOf(
      scene,
      direction,
      `The position has been open for ${params.maxHoldSeconds / 1_000} s or more.`,
      {},
    )
  if (!isFresh(snapshot, scene.market.impact, params.maxDataAgeSeconds)) return undefined
  const brings = bringsOf(params, scene, position)
  if (brings === undefined || brings < params.takeBps) return undefined
  return closeOf(scene, direction, `Closing earns ${brings} bps after its fee, impact and sending.`, {
    brings,
  })
}

/** perpd's own estimate, bps of the size, at our cost below 0. */
function impactOf(
  { market, price }: MarketScene,
  direction: Direction,
  action: 'increase' | 'decrease',
  sizeDeltaUsd: Usd,
): number | undefined {
  const { impact, oraclePrice, indexToken } = market
  if (impact === undefined || oraclePrice === undefined) return undefined
  const { decimals } = indexToken
  const sizeDeltaInTokens = amountOfUsd(sizeDeltaUsd, price, decimals)
  const { minPrice, maxPrice } = oraclePrice.value
  const trade = { direction, action, sizeDeltaUsd, sizeDeltaInTokens }
  return priceImpactBps(impact.value, trade, { decimals, minPrice, maxPrice })
}

/** Fees of a change of a position, whole bps, rounded up. */
function feesOf({ market }: MarketScene): { readonly balancing: number; readonly unbalancing: number } {
  const factors = market.impact?.value.positionFeeFactors
  const bpsOf = (factor: bigint) => Number(mulDivUp(factor, BigInt(BPS_ONE), ONE_USD))
  return factors === undefined
    ? { balancing: HIGHEST_FEE_BPS, unbalancing: HIGHEST_FEE_BPS }
    : { balancing: bpsOf(factors.balancing), unbalancing: bpsOf(factors.unbalancing) }
}

function bothFees(scene: MarketScene): number {
  const { balancing, unbalancing } = feesOf(scene)
  return balancing + unbalancing
}

/** Returns the move of the price in favour of a position since its entry, whole bps; 0 where the entry is unknown. */
function movedBps({ entryPrice, direction }: OwnPosition, price: Usd): number {
  if (entryPrice === undefined || entryPrice <= 0n) return 0
  const moved = Number(((price - entryPrice) * BigInt(BPS_ONE)) / entryPrice)
  return direction === 'long' ? moved : -moved
}
