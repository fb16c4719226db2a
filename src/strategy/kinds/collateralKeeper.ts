/**
 * Collateral keeper: keeps the leverage of positions between two bounds with the idle wallet. Above the upper bound it pays collateral in, below the
 * lower one it takes some out. Both ways end at the same leverage between them, so that a price at a bound does not make it pay fees to and fro. It
 * changes no size: a shortfall of the wallet is left to a guard.
 *
 * Leverage is the size over the net value. Withdrawals are computed without gains, which the venue would not pay out either. The position with the
 * highest leverage is served first.
 */
import type { CollateralDecision } from '../../domain/order/decision.ts'
import { sameHex } from '../../protocol/address.ts'
import type { Position } from '../../protocol/position.ts'
import {
  amountOfUsd,
  BPS_ONE,
  formatUsd,
  maxOf,
  minOf,
  mulDivUp,
  type Usd,
  usd,
} from '../../protocol/units.ts'
import { leverageField, usdField } from '../fields.ts'
import { defineStrategy, type StrategyView, z } from '../strategy.ts'
import { collateralOf, type IdleWallet, idleWalletOf, leverageText } from './shared/idleWallet.ts'

const schema = z
  .strictObject({
    maxLeverage: leverageField().default(100_000).describe('leverage above which it adds collateral (10)'),
    targetLeverage: leverageField()
      .default(70_000)
      .describe('leverage that it restores from either side (7); between the two bounds'),
    minLeverage: leverageField()
      .optional()
      .describe('leverage below which it withdraws collateral; it never does when left out'),
    minStepUsd: usdField({ minUsd: 1 })
      .default(usd(25))
      .describe('smallest change, US dollars (25); also when the wallet covers only a part'),
    keepWalletUsd: usdField({ minUsd: 0 })
      .default(usd(100))
      .describe('reserve of each token in the wallet for fees, US dollars (100)'),
    maxCollateralUsd: usdField()
      .optional()
      .describe('most collateral of a position, US dollars; no bound when left out'),
  })
  .refine((params) => params.targetLeverage < params.maxLeverage, {
    path: ['targetLeverage'],
    message: 'a leverage below maxLeverage',
  })
  .refine((params) => params.minLeverage === undefined || params.minLeverage < params.targetLeverage, {
    path: ['minLeverage'],
    message: 'a leverage below targetLeverage',
  })

type View = StrategyView<z.output<typeof schema>>

/** The kind `collateral-keeper`. */
export const collateralKeeper = defineStrategy({
  kind: 'collateral-keeper',
  description: 'Keeps the leverage of positions between bounds, with idle tokens of the wallet.',
  opensPositions: false,
  params: schema,
  needs: (_params, symbols) => ({ symbols, allPositionMarkets: symbols.length === 0, balances: true }),
  decide: (view) => {
    const { symbols } = view.instance
    const watched =
      symbols.length === 0 ? view.positions() : symbols.flatMap((symbol) => view.positions(symbol))
    const wallet = idleWalletOf(view.snapshot, view.params.keepWalletUsd)
    return watched
      .filter((position) => position.sizeInUsd > 0n && !isChanging(view, position))
      .sort(byLeverage)
      .flatMap((position) => payIn(view, position, wallet) ?? takeOut(view, position) ?? [])
  },
  status: (view) => {
    const { symbols } = view.instance
    const all = symbols.length === 0 ? view.positions() : symbols.flatMap((symbol) => view.positions(symbol))
    const [highest, ...others] = all.filter(({ sizeInUsd }) => sizeInUsd > 0n).toSorted(byLeverage)
    if (highest === undefined) return { text: 'no position to keep', facts: { positions: 0 } }
    const now =
      highest.netValueUsd <= 0n
        ? 'a position has no net value left'
        : `highest leverage ${leverageOf(highest)}`
    const text = `${now}, adds collateral above ${leverageText(BigInt(view.params.maxLeverage))}`
    return { text, facts: { positions: 1 + others.length } }
  },
})

/** Tells whether collateral of this side is in flight already; it does not show for which of two positions there. */
function isChanging({ openIntents }: View, { marketToken, direction }: Position): boolean {
  return openIntents.some(
    (open) =>
      (open.kind === 'collateral-in' || open.kind === 'collateral-out') &&
      open.direction === direction &&
      sameHex(open.marketToken, marketToken),
  )
}

/** Sorts by leverage, the highest first; positions without net value come before all. */
function byLeverage(one: Position, other: Position): number {
  if (one.netValueUsd <= 0n || other.netValueUsd <= 0n) return one.netValueUsd < other.netValueUsd ? -1 : 1
  const difference = other.sizeInUsd * one.netValueUsd - one.sizeInUsd * other.netValueUsd
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

function payIn({ params }: View, position: Position, wallet: IdleWallet): CollateralDecision | undefined {
  const { sizeInUsd, netValueUsd, collateralUsd } = position
  const isAbove = netValueUsd <= 0n || isOver(sizeInUsd, netValueUsd, params.maxLeverage)
  if (!isAbove) return undefined
  const lackingUsd = carrying(sizeInUsd, params.targetLeverage) - netValueUsd
  const mostUsd =
    params.maxCollateralUsd === undefined
      ? lackingUsd
      : minOf(lackingUsd, maxOf(0n, params.maxCollateralUsd - collateralUsd))
  const share = wallet.offer(position, mostUsd)
  if (share === undefined || share.amount <= 0n || share.worthUsd < params.minStepUsd) return undefined
  wallet.take(position, share)
  const { marketToken, direction, collateralToken } = position
  const now = netValueUsd <= 0n ? 'no net value left' : `${leverageOf(position)} leverage`
  return {
    kind: 'collateral-in',
    marketToken,
    direction,
    collateralToken,
    amount: share.amount,
    reason: `The ${direction} position has ${now}; above ${leverageText(BigInt(params.maxLeverage))} it adds ${formatUsd(share.worthUsd)} of collateral.`,
    facts: factsOf(position, lackingUsd),
  }
}

function takeOut({ params, snapshot }: View, position: Position): CollateralDecision | undefined {
  const { sizeInUsd, netValueUsd, remainingCollateralUsd, collateralAmount } = position
  if (params.minLeverage === undefined) return undefined
  const heldUsd = minOf(remainingCollateralUsd, netValueUsd)
  if (heldUsd <= 0n || sizeInUsd * BigInt(BPS_ONE) >= heldUsd * BigInt(params.minLeverage)) return undefined
  const token = collateralOf(snapshot, position)
  const price = token?.maxPrice
  if (token === undefined || price === undefined || price <= 0n) return undefined
  const sparedUsd = heldUsd - carrying(sizeInUsd, params.targetLeverage)
  // Counted dear, so that no more leaves than is spared.
  const amount = minOf(amountOfUsd(sparedUsd, price, token.decimals), collateralAmount)
  if (amount <= 0n || sparedUsd < params.minStepUsd) return undefined
  const { marketToken, direction, collateralToken } = position
  return {
    kind: 'collateral-out',
    marketToken,
    direction,
    collateralToken,
    amount,
    reason: `The ${direction} position has ${leverageOf(position)} leverage; below ${leverageText(BigInt(params.minLeverage))} it withdraws ${formatUsd(sparedUsd)}.`,
    facts: factsOf(position, -sparedUsd),
  }
}

/** Tells whether a size is more than a value carries at a leverage. */
function isOver(sizeUsd: Usd, valueUsd: Usd, leverageBps: number): boolean {
  return sizeUsd * BigInt(BPS_ONE) > valueUsd * BigInt(leverageBps)
}

/** The value that carries a size at a leverage, USD, rounded up. */
function carrying(sizeUsd: Usd, leverageBps: number): Usd {
  return mulDivUp(sizeUsd, BigInt(BPS_ONE), BigInt(leverageBps))
}

function leverageOf({ sizeInUsd, netValueUsd }: Position): string {
  return leverageText((sizeInUsd * BigInt(BPS_ONE)) / netValueUsd)
}

function factsOf(position: Position, changeUsd: Usd) {
  return {
    sizeUsd: formatUsd(position.sizeInUsd),
    netValueUsd: formatUsd(position.netValueUsd),
    collateralUsd: formatUsd(position.collateralUsd),
    wantedChangeUsd: formatUsd(changeUsd),
  }
}
