/** Admission's plan for a decision: the terms that may be signed, their sizing, and their reservation. */
import { defined } from '../../base/defined.ts'
import type { OrderTerms, Sizing, TermsToken } from '../../domain/order/orderTerms.ts'
import type { MarketView } from '../../domain/snapshot.ts'
import { executionSidePrice, type Token } from '../../protocol/market.ts'
import type { Usd } from '../../protocol/units.ts'
import type { ClassifiedDecision } from '../checks/checks.ts'
import type { AdmissionContext } from '../exposure/admissionContext.ts'

/** A decision, sized. */
export interface Plan {
  readonly terms: OrderTerms
  readonly sizing: Sizing
  /** Worst-case exposure that it adds, USD. */
  readonly reservationUsd: Usd
}

/** A token as terms name it. */
export function termsToken({ symbol, address, decimals, wireName }: Token): TermsToken {
  return { symbol, address, decimals, ...defined({ wireName }) }
}

/** Terms that every kind shares: a market order that changes nothing, for the kinds to fill. */
export function plainTerms(
  { decision, adds }: ClassifiedDecision,
  view: MarketView,
  context: AdmissionContext,
): OrderTerms {
  const { direction } = decision
  const price = view.oraclePrice?.value
  return {
    orderType: 'market',
    symbol: view.market.symbol,
    marketToken: view.market.marketToken,
    indexToken: termsToken(view.indexToken),
    direction,
    collateralToken: termsToken(view.shortToken),
    sizeDeltaUsd: 0n,
    collateralDelta: 0n,
    keepLeverage: false,
    slippageBps: context.slippageBps,
    referencePrice:
      price === undefined ? 0n : executionSidePrice(price, direction, adds ? 'increase' : 'decrease'),
  }
}

/** Returns the sizing of a decision that moves no exposure: its worth, and the age of the data. */
export function plainSizing(worthUsd: Usd, dataAgeMs: number): Sizing {
  return { wantedUsd: worthUsd, sizeDeltaUsd: worthUsd, cuts: [], dataAgeMs }
}
