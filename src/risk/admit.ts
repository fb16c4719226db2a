/** The gate: a decision becomes an intent, whole, or a denial that says why. Pure: ids and times are on the desk. */
import type { Decision } from '../domain/decision.ts'
import { addsRisk } from '../domain/decision.ts'
import type { Denial, Intent, TermsToken } from '../domain/intent.ts'
import type { Token } from '../domain/market.ts'
import { sideOf } from './book.ts'
import {
  checkDataAge,
  checkListed,
  checkMarketOpen,
  checkOrdersPerHour,
  checkPriceDivergence,
  checkReduceInFlight,
  checkSlippage,
  checkSlot,
  checkTradingState,
} from './checks.ts'
import { type Desk, deskMarket, isDenial, marketUnknown } from './desk.ts'
import { sizeIncrease, sizeReduction } from './sizing.ts'

/** What became of a decision. */
export type Admission =
  | { readonly kind: 'intent'; readonly intent: Intent }
  | { readonly kind: 'denial'; readonly denial: Denial }

/** Judges one decision: every check in order, then the size. The first refusal is the answer. */
export function admit(decision: Decision, desk: Desk): Admission {
  const { limits, snapshot, nowMs } = desk
  const stateDenial = checkTradingState(decision, desk.tradingState)
  if (stateDenial) return denied(stateDenial)
  const view = deskMarket(desk, decision)
  const listedDenial = checkListed(decision, view)
  if (listedDenial || view === undefined) return denied(listedDenial ?? marketUnknown(decision.marketToken))

  const side = sideOf(desk.book, decision.marketToken, decision.direction)
  const denial =
    checkMarketOpen(decision, view) ??
    checkSlippage(desk.slippageBps, limits) ??
    checkSlot(decision, side) ??
    checkReduceInFlight(decision, side, limits, nowMs) ??
    checkOrdersPerHour(decision, desk.acceptedLastHour, limits, desk.accountLimits) ??
    checkDataAge(decision, snapshot, view, limits) ??
    checkPriceDivergence(decision, view, limits)
  if (denial) return denied(denial)

  const sized = decision.kind === 'increase' ? sizeIncrease(decision, desk) : sizeReduction(decision, desk)
  if (isDenial(sized)) return denied(sized)
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
      terms: {
        orderType: 'market',
        symbol: view.market.symbol,
        marketToken: view.market.marketToken,
        indexToken: termsToken(view.indexToken),
        direction: decision.direction,
        collateralToken: termsToken(sized.collateralToken),
        sizeDeltaUsd: sized.sizeDeltaUsd,
        collateralDelta: sized.collateralDelta,
        keepLeverage: sized.keepLeverage,
        slippageBps: desk.slippageBps,
        referencePrice: sized.referencePrice,
      },
      sizing: sized.sizing,
      reservationUsd: addsRisk(decision) ? sized.sizeDeltaUsd : 0n,
      expiresAtMs: desk.expiresAtMs,
      acceptedAtMs: nowMs,
    },
  }
}

function denied(denial: Denial): Admission {
  return { kind: 'denial', denial }
}

function termsToken(token: Token): TermsToken {
  return { symbol: token.symbol, address: token.address, decimals: token.decimals }
}
