/** Warnings about guards that would act at once on the outcome of an order by hand, shown before it is confirmed. Pure. */
import type { IncreaseDecision } from '../domain/order/decision.ts'
import type { MarketView } from '../domain/snapshot.ts'
import { sameHex } from '../protocol/address.ts'
import { managersOf } from '../protocol/marketName.ts'
import type { Position } from '../protocol/position.ts'
import { BPS_ONE, mulDiv, type Usd } from '../protocol/units.ts'
import { distanceAfterBps } from '../risk/sizing/liquidation.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'
import { type GuardParams, guard, guardAct } from '../strategy/kinds/guard.ts'

/** Allowance for the spread and the impact of the fill in the distance to the liquidation, bps of the price. */
const PRICE_MARGIN_BPS = 20

/** Outcome of an increase. */
export interface Opened {
  readonly decision: IncreaseDecision
  readonly view: MarketView
  readonly positions: readonly Position[]
  /** The venue's fee at most, USD: margin no more. */
  readonly venueFeesUsd: Usd
}

/**
 * A sentence for each guard that would act on the result: the way to its liquidation and the leverage are estimates that err towards
 * near.
 */
export function guardWarnings(strategies: readonly LoadedStrategy[], opened: Opened): readonly string[] {
  const { decision, view } = opened
  const { sizeDeltaUsd, leverageBps } = decision
  const { position, addedMarginUsd, wayBps } = outcomeOf(opened)
  const distanceBps = Number(wayBps) - PRICE_MARGIN_BPS
  const marginUsd = (position?.netValueUsd ?? 0n) + addedMarginUsd
  const sizeUsd = (position?.sizeInUsd ?? 0n) + sizeDeltaUsd
  const resultBps = marginUsd > 0n ? mulDiv(sizeUsd, BigInt(BPS_ONE), marginUsd) : BigInt(leverageBps)
  const watching = managersOf(strategies, view.market.symbol)
  return strategies.flatMap(({ name, strategy, params }) => {
    if (strategy.kind !== guard.kind || !watching.includes(name)) return []
    const settings = params as GuardParams
    const act = guardAct(distanceBps, resultBps, settings)
    if (act === undefined) return []
    const { minDistanceBps, maxLeverage } = settings
    const kept =
      distanceBps < minDistanceBps
        ? `its liquidation would be about ${distanceBps / 100}% away, but ${name} keeps it ${minDistanceBps / 100}% away`
        : `its leverage would be about ${(Number(resultBps) / BPS_ONE).toFixed(1)}x, but ${name} keeps it at ${(maxLeverage ?? 0) / BPS_ONE}x`
    return [`${name} would ${act} it at once: ${kept}; take less leverage`]
  })
}

/** The position before, and the way from the price to the liquidation after, bps; the estimate errs towards near. */
function outcomeOf({ decision, view, positions, venueFeesUsd }: Opened) {
  const { sizeDeltaUsd, leverageBps, direction, collateralToken, marketToken } = decision
  const position = positions.find(
    (each) =>
      sameHex(each.marketToken, marketToken) &&
      sameHex(each.collateralToken, collateralToken) &&
      each.direction === direction,
  )
  const collateralUsd = mulDiv(sizeDeltaUsd, BigInt(BPS_ONE), BigInt(leverageBps))
  const addedMarginUsd = collateralUsd - venueFeesUsd
  const token = [view.longToken, view.shortToken].find(({ address }) => sameHex(address, collateralToken))
  // A coin that falls with the price lies nearer.
  const isStable = token?.isStable === true
  const change = { position, direction, addedUsd: sizeDeltaUsd, addedMarginUsd, isStable }
  // The venue subtracts the cost of closing from the margin, too.
  const closingBps = mulDiv(venueFeesUsd, BigInt(BPS_ONE), sizeDeltaUsd)
  return { position, addedMarginUsd, wayBps: distanceAfterBps(change, view) - closingBps }
}
