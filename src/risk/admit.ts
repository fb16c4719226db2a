/** The gate: a decision becomes an intent, whole, or a denial that says why. Pure: ids and times are on the desk. */
import { addsRisk, type Decision } from '../domain/decision.ts'
import type { Denial, Intent } from '../domain/intent.ts'
import type { MarketView } from '../domain/snapshot.ts'
import { planBatch } from './batch.ts'
import { sideOf } from './book.ts'
import { planCancel, planEdit } from './changes.ts'
import {
  checkLimits,
  checkListed,
  checkMarketOpen,
  checkOrdersPerHour,
  checkReduceInFlight,
  checkSlippage,
  checkSlot,
  checkTradingState,
  type Wish,
} from './checks.ts'
import { planCollateral } from './collateral.ts'
import { type Desk, deskMarket, isDenial, marketUnknown } from './desk.ts'
import { checkPriceDoubts } from './doubts.ts'
import { checkGaps } from './gaps.ts'
import { withPriceImpact } from './impact.ts'
import { type Plan, plainTerms, termsToken } from './plan.ts'
import { type Sized, sizeIncrease, sizeReduction } from './sizing.ts'
import { planSwap } from './swap.ts'
import { checkTrusted } from './trusted.ts'
import { checkWish } from './wish.ts'

/** What became of a decision. */
export type Admission =
  | { readonly kind: 'intent'; readonly intent: Intent }
  | { readonly kind: 'denial'; readonly denial: Denial }

/** Judges one decision: every check in order, then its plan. The first refusal is the answer. */
export function admit(decision: Decision, desk: Desk): Admission {
  const { limits, snapshot, nowMs } = desk
  const wish: Wish = { decision, adds: addsRisk(decision, snapshot.orders.value) }
  const stateDenial = checkTradingState(wish, desk.tradingState, desk.tradingReason)
  if (stateDenial) return denied(stateDenial)
  const view = deskMarket(desk, decision)
  const listedDenial = checkListed(wish, view)
  if (listedDenial || view === undefined) return denied(listedDenial ?? marketUnknown(decision.marketToken))

  const side = sideOf(desk.book, decision.marketToken, decision.direction)
  const denial =
    checkTrusted(wish, view) ??
    checkMarketOpen(wish, view) ??
    checkSlippage(desk.slippageBps, limits) ??
    checkSlot(wish, side) ??
    checkReduceInFlight(wish, side, limits, nowMs) ??
    checkOrdersPerHour(wish, desk.acceptedLastHour, limits, desk.accountLimits, desk.marketLimits) ??
    checkPriceDoubts(wish, view) ??
    checkGaps(wish, view, snapshot, limits) ??
    checkLimits(wish, view, desk) ??
    checkWish(decision, wish.adds, desk, limits)
  if (denial) return denied(denial)

  const plan = planOf(wish, view, desk)
  if (isDenial(plan)) return denied(plan)
  return {
    kind: 'intent',
    intent: {
      intentId: desk.intentId,
      decisionKey: desk.decisionKey,
      strategy: desk.strategy,
      account: desk.account,
      chain: desk.chain,
      lane: desk.lane,
      kind: decision.kind,
      decision,
      ...plan,
      sizing: { ...plan.sizing, ...(view.priceSource && { priceSource: view.priceSource }) },
      expiresAtMs: desk.expiresAtMs,
      acceptedAtMs: nowMs,
    },
  }
}

function planOf(wish: Wish, view: MarketView, desk: Desk): Plan | Denial {
  const { decision } = wish
  switch (decision.kind) {
    case 'increase':
      return positionPlan(sizeIncrease(decision, desk), wish, view, desk)
    case 'decrease':
    case 'close':
      return positionPlan(sizeReduction(decision, desk), wish, view, desk)
    case 'swap':
      return planSwap(decision, wish, view, desk)
    case 'edit':
      return planEdit(decision, wish, view, desk)
    case 'cancel':
      return planCancel(decision, wish, view, desk)
    case 'collateral-in':
    case 'collateral-out':
      return planCollateral(decision, wish, view, desk)
    case 'batch':
      return planBatch(decision, wish, view, desk)
  }
}

function positionPlan(sized: Sized | Denial, wish: Wish, view: MarketView, desk: Desk): Plan | Denial {
  if (isDenial(sized)) return sized
  const { sizing, collateralToken, ...sizedTerms } = sized
  const terms = {
    ...plainTerms(wish, view, desk),
    ...sizedTerms,
    collateralToken: termsToken(collateralToken),
  }
  return {
    terms: withPriceImpact(terms, wish.adds ? 'increase' : 'decrease', view, desk),
    sizing,
    reservationUsd: wish.adds ? sized.sizeDeltaUsd : 0n,
  }
}

function denied(denial: Denial): Admission {
  return { kind: 'denial', denial }
}
