/** Circumstances of an order by hand at its stop and its target, from the daemon's own readings. Pure. */
import type { MarketView } from '../domain/snapshot.ts'
import type { PositionFees } from '../market/marketFees.ts'
import { highestFeeOf } from '../market/orderCost.ts'
import { type Direction, netRateOf } from '../protocol/market.ts'
import { absOf, mulDiv, type Usd } from '../protocol/units.ts'
import { impactUsdOf } from '../risk/checks/impactCheck.ts'
import { lossAtStopUsd, type RiskTerms } from '../risk/sizing/riskSize.ts'

/** Inputs of the circumstances. Prices are USD per whole index token. */
export interface RiskInputs {
  readonly direction: Direction
  readonly entryPrice: Usd
  readonly fees: PositionFees
  /** Sending and executing the entry and its exits, USD. */
  readonly sendingUsd: Usd
  /** Distance beyond its trigger at which a stop fills, bps. */
  readonly beyondBps: number
}

/** The circumstances of an increase that is closed at `exitPrice`. An impact that cannot be estimated counts as 0, as in its preview. */
export function riskTermsOf(
  { direction, entryPrice, fees, sendingUsd, beyondBps }: RiskInputs,
  exitPrice: Usd,
  view: MarketView,
): RiskTerms {
  const impact = (action: 'increase' | 'decrease', price: Usd) => (sizeDeltaUsd: Usd) =>
    impactUsdOf({ direction, action, sizeDeltaUsd, price }, view) ?? 0n
  const rate = view.ticker === undefined ? undefined : netRateOf(view.ticker.value, direction)
  return {
    entryPrice,
    stopPrice: exitPrice,
    beyondBps,
    feeBps100: highestFeeOf(fees),
    hourlyCost: rate === undefined ? 0n : -rate,
    sendingUsd,
    openImpactUsd: impact('increase', entryPrice),
    closeImpactUsd: impact('decrease', exitPrice),
  }
}

/** Returns the gain of a size at its target after all costs, USD, signed. */
export function gainAtTargetUsd(sizeUsd: Usd, terms: RiskTerms): Usd {
  const { entryPrice, stopPrice } = terms
  const wayUsd = mulDiv(sizeUsd, absOf(stopPrice - entryPrice), entryPrice)
  const costsUsd = lossAtStopUsd(sizeUsd, { ...terms, stopPrice: entryPrice, beyondBps: 0 })
  return wayUsd - costsUsd
}
