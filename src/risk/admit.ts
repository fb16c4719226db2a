/**
 * The gate: a decision becomes an intent, whole, or a denial that says why. Pure: ids and times are on the admission
 * context.
 */
import { defined } from '../base/defined.ts'
import { addsRisk, type Decision } from '../domain/order/decision.ts'
import type { Denial, Intent } from '../domain/order/intent.ts'
import type { MarketView } from '../domain/snapshot.ts'
import {
  type ClassifiedDecision,
  checkLimits,
  checkListed,
  checkMarketOpen,
  checkOrdersPerHour,
  checkSlippage,
  checkTradingState,
} from './checks/checks.ts'
import { checkGaps } from './checks/dataGaps.ts'
import { checkDecisionSize } from './checks/decisionSize.ts'
import { withPriceImpact } from './checks/impactCheck.ts'
import { checkReduceInFlight, checkSlot, closeLaneOf, withheldBy } from './checks/inFlight.ts'
import { checkPrices } from './checks/priceChecks.ts'
import { checkProtection } from './checks/protectCheck.ts'
import { checkTrusted } from './checks/trustedMarkets.ts'
import { checkBalance } from './checks/walletCheck.ts'
import { sideOf } from './exposure/accountExposure.ts'
import { type AdmissionContext, isDenial, marketUnknown, marketViewOf } from './exposure/admissionContext.ts'
import { planBatch } from './sizing/batchPlan.ts'
import { planCollateral } from './sizing/collateral.ts'
import { planCancel, planEdit } from './sizing/orderChangePlan.ts'
import { type Plan, plainTerms, termsToken } from './sizing/plan.ts'
import { type Sized, sizeIncrease, sizeReduction } from './sizing/sizing.ts'
import { planSwap } from './sizing/swapPlan.ts'
import { sizeUnlisted } from './sizing/unlisted.ts'

/** Outcome of a decision. */
export type Admission =
  | { readonly kind: 'intent'; readonly intent: Intent }
  | { readonly kind: 'denial'; readonly denial: Denial }

/** Judges one decision: every check in order, then its plan. The first refusal is the answer. */
export function admit(decision: Decision, context: AdmissionContext): Admission {
  const { intent, limits, maker, snapshot, nowMs, usage, venue } = context
  const classified: ClassifiedDecision = { decision, adds: addsRisk(decision, snapshot.orders.value) }
  const stateDenial = checkTradingState(classified, context.trading.state, context.trading.reason)
  if (stateDenial) return denied(stateDenial)
  const view = marketViewOf(context, decision)
  const listedDenial = checkListed(classified, view)
  if (listedDenial || view === undefined) return denied(listedDenial ?? marketUnknown(decision.marketToken))

  const side = sideOf(context.exposure, decision.marketToken, decision.direction)
  const denial =
    checkTrusted(classified, view) ??
    checkMarketOpen(classified, view) ??
    checkProtection(classified, context) ??
    checkSlippage(context.slippageBps, limits) ??
    checkSlot(classified, side) ??
    checkReduceInFlight(classified, side, limits, nowMs, venue.withheldMs) ??
    checkOrdersPerHour(classified, usage.acceptedLastHour, limits, usage.accountLimits, usage.marketLimits) ??
    checkPrices(classified, view) ??
    checkGaps(classified, view, snapshot, limits) ??
    checkLimits(classified, view, context) ??
    checkDecisionSize(decision, classified.adds, context, limits)
  if (denial) return denied(denial)

  const plan = planOf(classified, view, context)
  if (isDenial(plan)) return denied(plan)
  const unpaid = checkBalance(decision, plan.terms, snapshot.balances?.value)
  if (unpaid) return denied(unpaid)
  const withheld = withheldBy(decision, side, nowMs, venue.withheldMs)
  const closeLane = decision.kind === 'close' ? closeLaneOf(intent.closeLanes ?? [], withheld) : undefined
  return {
    kind: 'intent',
    intent: {
      intentId: intent.intentId,
      decisionKey: intent.decisionKey,
      strategy: maker.strategy,
      account: intent.account,
      chain: intent.chain,
      lane: closeLane ?? intent.lane,
      kind: decision.kind,
      decision,
      ...plan,
      sizing: {
        ...plan.sizing,
        ...defined({ priceSource: view.priceSource, contested: view.contested }),
      },
      expiresAtMs: intent.expiresAtMs,
      acceptedAtMs: nowMs,
      ...defined({ goesOnFor: withheld.length === 0 ? undefined : withheld.map(({ intentId }) => intentId) }),
    },
  }
}

function planOf(classified: ClassifiedDecision, view: MarketView, context: AdmissionContext): Plan | Denial {
  const { decision } = classified
  switch (decision.kind) {
    case 'increase':
      return positionPlan(sizeIncrease(decision, context), classified, view, context)
    case 'decrease':
    case 'close':
      return positionPlan(
        sizeUnlisted(decision, context) ?? sizeReduction(decision, context),
        classified,
        view,
        context,
      )
    case 'swap':
      return planSwap(decision, classified, view, context)
    case 'edit':
      return planEdit(decision, classified, view, context)
    case 'cancel':
      return planCancel(decision, classified, view, context)
    case 'collateral-in':
    case 'collateral-out':
      return planCollateral(decision, classified, view, context)
    case 'batch':
      return planBatch(decision, classified, view, context)
  }
}

function positionPlan(
  sized: Sized | Denial,
  classified: ClassifiedDecision,
  view: MarketView,
  context: AdmissionContext,
): Plan | Denial {
  if (isDenial(sized)) return sized
  const { sizing, collateralToken, ...sizedTerms } = sized
  const terms = {
    ...plainTerms(classified, view, context),
    ...sizedTerms,
    collateralToken: termsToken(collateralToken),
  }
  return {
    terms: withPriceImpact(terms, classified.adds ? 'increase' : 'decrease', view, context),
    sizing,
    reservationUsd: classified.adds ? sized.sizeDeltaUsd : 0n,
  }
}

function denied(denial: Denial): Admission {
  return { kind: 'denial', denial }
}
