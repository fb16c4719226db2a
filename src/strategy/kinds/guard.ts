/**
 * Position guard: watches the distance of each position from its liquidation price, and its leverage, and reduces or closes before the venue would.
 * It opens nothing and acts only on present data. A position without a liquidation price is judged by its leverage, and one whose collateral is used
 * up is closed. It requests reductions while it sees the danger, even if an earlier one is unresolved. Risk decides when another may follow
 * (`reduceAgainAfterSeconds`).
 *
 * With `addCollateralFirst` it pays collateral in instead of reducing, where the idle wallet carries the whole need. It waits a minute for that to
 * show; then, and always where it would close, it reduces anyway.
 */
import { defined, ifDefined } from '../../base/defined.ts'
import type { CollateralDecision, Decision, DecisionFacts } from '../../domain/order/decision.ts'
import { sameHex } from '../../protocol/address.ts'
import { liquidationDistanceBps, type Position } from '../../protocol/position.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import { BPS_ONE, bps, formatUsd, maxOf, mulDivUp, type Usd, usd } from '../../protocol/units.ts'
import { bpsField, leverageField, usdField } from '../fields.ts'
import { defineStrategy, type StrategyView, z } from '../strategy.ts'
import { type IdleWallet, idleWalletOf, leverageText } from './shared/idleWallet.ts'

const schema = z
  .strictObject({
    minDistanceBps: bpsField({ min: 1, max: 9000 })
      .default(800)
      .describe('distance from liquidation below which it reduces a position, share of the mark price'),
    closeDistanceBps: bpsField({ min: 0, max: 9000 })
      .default(300)
      .describe('distance below which it closes the position'),
    reduceShareBps: bpsField({ min: 100, max: 10_000 })
      .default(5000)
      .describe('share of the position that each reduction closes; the collateral stays'),
    maxLeverage: leverageField()
      .optional()
      .describe('leverage above which it reduces a position to 95 % of it; off when left out'),
    addCollateralFirst: z
      .boolean()
      .default(false)
      .describe('add collateral instead of reducing, when the wallet has enough'),
    keepWalletUsd: usdField({ minUsd: 0 })
      .default(usd(100))
      .describe('reserve of each token that addCollateralFirst leaves in the wallet, US dollars (100)'),
  })
  .refine((params) => params.closeDistanceBps < params.minDistanceBps, {
    path: ['closeDistanceBps'],
    message: 'fewer basis points than minDistanceBps',
  })

/** The settings of a guard's file, with defaults. */
export type GuardParams = z.output<typeof schema>

/** The kind `guard`. */
export const guard = defineStrategy({
  kind: 'guard',
  description: 'Reduces or closes positions that come too near to their liquidation price.',
  opensPositions: false,
  params: schema,
  needs: (params, symbols) => ({
    symbols,
    allPositionMarkets: symbols.length === 0,
    ...defined({ balances: params.addCollateralFirst ? true : undefined }),
  }),
  decide: (view) => {
    const { symbols } = view.instance
    const { addCollateralFirst, keepWalletUsd } = view.params
    const watched =
      symbols.length === 0 ? view.positions() : symbols.flatMap((symbol) => view.positions(symbol))
    const wallet = addCollateralFirst ? idleWalletOf(view.snapshot, keepWalletUsd) : undefined
    return watched.flatMap((position) => {
      const decision = position.sizeInUsd > 0n && judge(position, view.params)
      if (!decision) return []
      if (wallet === undefined || decision.kind !== 'decrease') return [decision]
      const paid = paidIn(view, position, wallet)
      return paid === 'waits' ? [] : [paid ?? decision]
    })
  },
  status: (view) => {
    const { symbols } = view.instance
    const all = symbols.length === 0 ? view.positions() : symbols.flatMap((symbol) => view.positions(symbol))
    const watched = all.filter(({ sizeInUsd }) => sizeInUsd > 0n)
    const distances = watched.flatMap((position) => liquidationDistanceBps(position) ?? [])
    const facts = { positions: watched.length }
    const { minDistanceBps } = view.params
    if (watched.length === 0) return { text: 'no position to watch', facts }
    const edge = `acts below ${minDistanceBps / 100} %`
    if (distances.length === 0) return { text: `no position has a liquidation price, ${edge}`, facts }
    const nearestBps = Math.min(...distances)
    const text = `nearest liquidation ${(nearestBps / 100).toFixed(1)} % away, ${edge}`
    return { text, facts: { ...facts, nearestBps } }
  },
})

/**
 * Returns the act of a guard for a position with these figures.
 *
 * @param distanceBps distance to its liquidation, bps of the mark price; undefined without a liquidation price
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
    ...defined({ liquidationPrice: ifDefined(position.liquidationPrice, formatPrice) }),
    ...defined({ distanceBps }),
    ...defined({ leverageBps: ifDefined(position.leverageBps, Number) }),
  }
  const base = { marketToken, direction, collateralToken, facts } as const

  if (position.leverageBps === undefined) {
    const reason = `The ${direction} position has no collateral left after losses and fees.`
    return { kind: 'close', ...base, reason }
  }
  const act = guardAct(distanceBps, position.leverageBps, params)
  if (act === 'close') {
    const reason = `The ${direction} position is ${distanceBps} bps from its liquidation price; the guard closes it at ${params.closeDistanceBps} bps.`
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
      ? `The ${direction} position is ${distanceBps} bps from its liquidation price; the guard keeps it ${params.minDistanceBps} bps away.`
      : `The ${direction} position has ${leverageText(position.leverageBps)} leverage; the guard keeps it at ${leverageText(BigInt(params.maxLeverage ?? 0))} or less.`,
  }
}

/**
 * Margin below the permitted leverage to which a position is brought, basis points of it. At the very edge, the fees of the reduction and the next
 * small move of the price would require another one, and another.
 */
const LEVERAGE_MARGIN_BPS = 500

/** Time for which collateral in flight delays a reduction, ms. */
const PAYING_WAIT_MS = 60_000

/**
 * Returns a payment of collateral in place of a reduction. Undefined where the wallet does not carry all of it, or the payment takes too long;
 * `waits` while it may still arrive.
 */
function paidIn(
  { params, openIntents, snapshot }: StrategyView<GuardParams>,
  position: Position,
  wallet: IdleWallet,
): CollateralDecision | 'waits' | undefined {
  const { marketToken, direction, collateralToken } = position
  const paying = openIntents.filter(
    (open) =>
      open.kind === 'collateral-in' && open.direction === direction && sameHex(open.marketToken, marketToken),
  )
  if (paying.length > 0)
    // If the clock was set back, nobody knows for how long.
    return paying.every(({ acceptedAtMs }) => Math.abs(snapshot.atMs - acceptedAtMs) < PAYING_WAIT_MS)
      ? 'waits'
      : undefined
  const lackingUsd = maxOf(lackingAtPrice(position, params), lackingAtLeverage(position, params))
  const share = wallet.offer(position, lackingUsd)
  // An amount that the token's smallest unit rounds away is not worth a payment.
  if (share === undefined || share.amount <= 0n || share.worthUsd < bps(lackingUsd, ENOUGH_BPS))
    return undefined
  wallet.take(position, share)
  return {
    kind: 'collateral-in',
    marketToken,
    direction,
    collateralToken,
    amount: share.amount,
    reason: `Adding ${formatUsd(share.worthUsd)} of collateral moves the ${direction} position away from its liquidation price without a reduction.`,
    facts: {
      lackingUsd: formatUsd(lackingUsd),
      remainingCollateralUsd: formatUsd(position.remainingCollateralUsd),
    },
  }
}

/** Share of the need that counts as all of it, basis points. */
const ENOUGH_BPS = 9990

/** Extra distance that a payment adds to the requested distance of the liquidation price, bps of the request: each payment costs a fee. */
const DISTANCE_MARGIN_BPS = 2_500

/**
 * Returns the collateral that moves the liquidation price to the requested distance, and a quarter further, USD. Collateral that falls with the price
 * is worth less there: its shortfall is added over the distance.
 */
function lackingAtPrice(position: Position, { minDistanceBps }: GuardParams): Usd {
  const distanceBps = liquidationDistanceBps(position)
  if (distanceBps === undefined || distanceBps >= minDistanceBps) return 0n
  const { direction, sizeInUsd, pnlUsd } = position
  const notionalUsd = maxOf(0n, direction === 'long' ? sizeInUsd + pnlUsd : sizeInUsd - pnlUsd)
  const wayBps = minDistanceBps + Math.ceil((minDistanceBps * DISTANCE_MARGIN_BPS) / BPS_ONE) - distanceBps
  return mulDivUp(notionalUsd, BigInt(wayBps), BigInt(BPS_ONE - minDistanceBps))
}

/** Returns the collateral that brings the leverage to 95 % of the permitted one, USD. */
function lackingAtLeverage(
  { sizeInUsd, netValueUsd, leverageBps }: Position,
  { maxLeverage }: GuardParams,
): Usd {
  if (maxLeverage === undefined || leverageBps === undefined || leverageBps <= BigInt(maxLeverage)) return 0n
  const kept = BigInt(maxLeverage) * BigInt(BPS_ONE - LEVERAGE_MARGIN_BPS)
  return maxOf(0n, mulDivUp(sizeInUsd, BigInt(BPS_ONE) * BigInt(BPS_ONE), kept) - netValueUsd)
}

/** Returns the size above the one that the position's net value carries at 95 % of the permitted leverage, USD, rounded up. */
function excessUsd(position: Position, maxLeverageBps: number): bigint {
  const keptUsd = bps(maxOf(0n, position.netValueUsd), maxLeverageBps)
  const allowedUsd = bps(keptUsd, BPS_ONE - LEVERAGE_MARGIN_BPS)
  return maxOf(mulDivUp(position.sizeInUsd, 100n, BigInt(BPS_ONE)), position.sizeInUsd - allowedUsd)
}
