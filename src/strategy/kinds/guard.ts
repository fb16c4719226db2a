/**
 * Position guard: watches how far each position is from its liquidation price, and its leverage, and reduces or closes
 * before the venue would. It opens nothing and acts only on what it sees: a position without a liquidation price is judged
 * by its leverage, one whose collateral is used up is closed. It asks for as long as it sees the danger, also while an
 * earlier reduction of its own is unresolved: when that may be followed by another is risk's to say
 * (`reduceAgainAfterSeconds`).
 */
import type { Decision, DecisionFacts } from '../../domain/order/decision.ts'
import { liquidationDistanceBps, type Position } from '../../protocol/position.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import { BPS_ONE, bps, formatUsd, maxOf, mulDivUp } from '../../protocol/units.ts'
import { bpsField, leverageField } from '../fields.ts'
import { defineStrategy, z } from '../strategy.ts'

const schema = z
  .strictObject({
    minDistanceBps: bpsField({ min: 1, max: 9000 })
      .default(800)
      .describe('share of the mark price; nearer to its liquidation, a position is reduced'),
    closeDistanceBps: bpsField({ min: 0, max: 9000 }).default(300).describe('nearer than this it is closed'),
    reduceShareBps: bpsField({ min: 100, max: 10_000 })
      .default(5000)
      .describe('share of the position taken off each time; its collateral stays'),
    maxLeverage: leverageField()
      .optional()
      .describe('a position above it is reduced to 95 % of it; off when left out'),
  })
  .refine((params) => params.closeDistanceBps < params.minDistanceBps, {
    path: ['closeDistanceBps'],
    message: 'fewer basis points than minDistanceBps',
  })

/** The settings of a guard's file, with what it leaves out. */
export type GuardParams = z.output<typeof schema>

/** The kind `guard`. */
export const guard = defineStrategy({
  kind: 'guard',
  description: 'Reduces or closes positions that come too near to their liquidation price.',
  opensPositions: false,
  params: schema,
  needs: (_params, symbols) => ({ symbols, allPositionMarkets: symbols.length === 0 }),
  decide: (view) => {
    const { symbols } = view.instance
    const watched =
      symbols.length === 0 ? view.positions() : symbols.flatMap((symbol) => view.positions(symbol))
    return watched.flatMap((position) => {
      const decision = position.sizeInUsd > 0n && judge(position, view.params)
      return decision ? [decision] : []
    })
  },
})

/**
 * What a guard does with a position of these figures.
 *
 * @param distanceBps way to its liquidation, bps of the mark price; undefined without a liquidation price
 * @param leverageBps 10000 = 1x
 */
export function guardAct(
  distanceBps: number | undefined,
  leverageBps: bigint,
  { closeDistanceBps, minDistanceBps, maxLeverage }: GuardParams,
): 'close' | 'reduce' | undefined {
  if (distanceBps !== undefined && distanceBps <= closeDistanceBps) return 'close'
  const isNear = distanceBps !== undefined && distanceBps < minDistanceBps
  return isNear || (maxLeverage !== undefined && leverageBps > BigInt(maxLeverage)) ? 'reduce' : undefined
}

function judge(position: Position, params: GuardParams): Decision | undefined {
  const distanceBps = liquidationDistanceBps(position)
  const { marketToken, direction, collateralToken } = position
  const facts: DecisionFacts = {
    markPrice: formatPrice(position.markPrice),
    sizeUsd: formatUsd(position.sizeInUsd),
    remainingCollateralUsd: formatUsd(position.remainingCollateralUsd),
    ...(position.liquidationPrice === undefined
      ? {}
      : { liquidationPrice: formatPrice(position.liquidationPrice) }),
    ...(distanceBps === undefined ? {} : { distanceBps }),
    ...(position.leverageBps === undefined ? {} : { leverageBps: Number(position.leverageBps) }),
  }
  const base = { marketToken, direction, collateralToken, facts } as const

  if (position.leverageBps === undefined) {
    const reason = `The ${direction} position has no collateral left after losses and fees.`
    return { kind: 'close', ...base, reason }
  }
  const act = guardAct(distanceBps, position.leverageBps, params)
  if (act === 'close') {
    const reason = `The ${direction} position is ${distanceBps} bps from its liquidation price; at ${params.closeDistanceBps} bps it is closed.`
    return { kind: 'close', ...base, reason }
  }
  if (act === undefined) return undefined
  const near = distanceBps !== undefined && distanceBps < params.minDistanceBps
  const over = params.maxLeverage !== undefined && position.leverageBps > BigInt(params.maxLeverage)
  const share = near ? bps(position.sizeInUsd, params.reduceShareBps) : 0n
  const excess = over ? excessUsd(position, params.maxLeverage ?? 0) : 0n
  return {
    kind: 'decrease',
    ...base,
    sizeDeltaUsd: maxOf(1n, share, excess),
    // Collateral stays, so that leverage falls and the liquidation price moves away.
    keepLeverage: false,
    reason: near
      ? `The ${direction} position is ${distanceBps} bps from its liquidation price; it is kept ${params.minDistanceBps} bps away.`
      : `The ${direction} position has ${leverageText(position.leverageBps)} leverage; at most ${leverageText(BigInt(params.maxLeverage ?? 0))} is kept.`,
  }
}

/**
 * How far below the leverage allowed a position is brought, basis points of it: at the very edge the fees of the reduction and
 * the next small move of the price would ask for another one, and another.
 */
const LEVERAGE_MARGIN_BPS = 500

/** Size above what the position's net value carries at 95 % of the leverage allowed, USD, rounded up. */
function excessUsd(position: Position, maxLeverageBps: number): bigint {
  const keptUsd = bps(maxOf(0n, position.netValueUsd), maxLeverageBps)
  const allowedUsd = bps(keptUsd, BPS_ONE - LEVERAGE_MARGIN_BPS)
  return maxOf(mulDivUp(position.sizeInUsd, 100n, BigInt(BPS_ONE)), position.sizeInUsd - allowedUsd)
}

function leverageText(leverageBps: bigint): string {
  return `${(Number(leverageBps) / BPS_ONE).toFixed(2)}x`
}
