/**
 * What the trader of a case asked, as an intent: made by the product's own admission and sizing where a strategy could have
 * decided it, and by hand where the case asks for what no decision of ours says (a route through two pools, native coins).
 */

import type { Decision } from '../../src/domain/order/decision.ts'
import type { Intent } from '../../src/domain/order/intent.ts'
import type { EditTerms, ExitTerms, OrderTerms } from '../../src/domain/order/orderTerms.ts'
import type { MarketView } from '../../src/domain/snapshot.ts'
import { sameHex, ZERO_ADDRESS } from '../../src/protocol/address.ts'
import { BPS_ONE, contractPriceOf, usdOfAmount } from '../../src/protocol/units.ts'
import { admit } from '../../src/risk/admit.ts'
import { exposureOf } from '../../src/risk/exposure/accountExposure.ts'
import type { AdmissionContext } from '../../src/risk/exposure/admissionContext.ts'
import { handMade } from './handMade.ts'
import type { MessageCase, Want } from './schema.ts'
import { snapshotOf, viewOf } from './world.ts'

/** An intent, and why admission did not make it where it did not. */
export interface MadeIntent {
  readonly intent: Intent
  readonly byHand?: string
}

/** The intent of a case. Throws an Error that says what of the case cannot be read. */
export function intentOfCase(one: MessageCase): MadeIntent {
  const view = viewOf(one)
  const context = deskOf(one, view)
  const decision = decisionOf(one, view)
  const admission = decision === undefined ? undefined : admit(decision, context)
  if (admission?.kind === 'intent') return { intent: asAsked(admission.intent, one) }
  const why = admission === undefined ? 'no decision says this' : admission.denial.code
  return { intent: asAsked(handMade(one, view, context, decision), one), byHand: why }
}

function deskOf(one: MessageCase, view: MarketView): AdmissionContext {
  const { state, want } = one
  const snapshot = snapshotOf(one, view)
  return {
    snapshot,
    exposure: exposureOf(snapshot, []),
    limits: {},
    usage: { acceptedLastHour: { strategy: 0, account: 0 } },
    trading: { state: 'active' },
    impact: {},
    venue: {},
    maker: { strategy: 'messages', isOperator: true },
    intent: {
      intentId: `message-${one.id}`,
      decisionKey: one.id,
      account: state.account,
      chain: one.chain,
      lane: 'order-chain',
      expiresAtMs: snapshot.atMs + 60_000,
    },
    slippageBps: want.slippageBps ?? 100,
    nowMs: snapshot.atMs,
  }
}

const big = (text: string | undefined): bigint => BigInt(text ?? 0)

function decisionOf(one: MessageCase, view: MarketView): Decision | undefined {
  const { want, state } = one
  const { marketToken } = view.market
  const direction = want.direction ?? state.orders[0]?.direction ?? 'long'
  const base = { marketToken, direction, reason: 'A case asks for it.' }
  const collateralToken = want.collateralToken ?? ZERO_ADDRESS
  const trigger = want.triggerPrice === undefined ? {} : { triggerPrice: BigInt(want.triggerPrice) }
  const twap = want.twap === undefined ? {} : { twap: want.twap }
  const orderType = want.orderType ?? 'market'
  switch (want.kind) {
    case 'increase': {
      if (orderType === 'take-profit' || orderType === 'stop-loss') return undefined
      const sizeDeltaUsd = big(want.sizeDeltaUsd)
      const tpsl = want.tpsl?.map((exit) => ({
        type: exit.type,
        triggerPrice: BigInt(exit.triggerPrice),
        ...(exit.sizeDeltaUsd === undefined
          ? {}
          : { shareBps: Number((BigInt(exit.sizeDeltaUsd) * BigInt(BPS_ONE)) / sizeDeltaUsd) }),
      }))
      const leverageBps = leverageOf(want, one, view)
      return {
        ...base,
        kind: 'increase',
        sizeDeltaUsd,
        leverageBps,
        collateralToken,
        orderType,
        ...trigger,
        ...twap,
        ...(tpsl === undefined ? {} : { tpsl }),
      }
    }
    case 'decrease':
      if (orderType === 'limit' || orderType === 'stop-market') return undefined
      return {
        ...base,
        kind: 'decrease',
        sizeDeltaUsd: big(want.sizeDeltaUsd),
        collateralToken,
        keepLeverage: want.keepLeverage ?? false,
        orderType,
        ...trigger,
        ...twap,
      }
    case 'close':
      return { ...base, kind: 'close', collateralToken }
    case 'swap':
      return swapDecision(one, view)
    case 'edit': {
      const [orderKey] = want.orderKeys ?? []
      if (orderKey === undefined) return undefined
      return {
        ...base,
        kind: 'edit',
        orderKey,
        ...(want.newSizeDeltaUsd === undefined ? {} : { sizeDeltaUsd: BigInt(want.newSizeDeltaUsd) }),
        ...(want.newTriggerPrice === undefined ? {} : { triggerPrice: BigInt(want.newTriggerPrice) }),
      }
    }
    case 'cancel':
      return { ...base, kind: 'cancel', orderKeys: want.orderKeys ?? [] }
    case 'collateral-in':
    case 'collateral-out':
      return { ...base, kind: want.kind, collateralToken, amount: big(want.collateralAmount) }
  }
}

/** A swap inside the market of the case, where both tokens are its own and differ. */
function swapDecision(one: MessageCase, { market }: MarketView): Decision | undefined {
  const { payToken, receiveToken, payAmount } = one.want
  if (payToken === undefined || receiveToken === undefined) return undefined
  const { longToken, shortToken, marketToken } = market
  const buys = sameHex(payToken, shortToken) && sameHex(receiveToken, longToken)
  const sells = sameHex(payToken, longToken) && sameHex(receiveToken, shortToken)
  if (!buys && !sells) return undefined
  return {
    kind: 'swap',
    marketToken,
    direction: buys ? 'long' : 'short',
    payAmount: big(payAmount),
    reason: 'A case asks for it.',
  }
}

/** The leverage whose collateral is the payment of the case. */
function leverageOf(want: Want, { state }: MessageCase, view: MarketView): number {
  const token = [view.longToken, view.shortToken].find(({ address }) =>
    sameHex(address, want.collateralToken ?? ''),
  )
  if (token === undefined) return BPS_ONE
  const paidUsd = usdOfAmount(big(want.collateralAmount), token.minPrice ?? 0n, token.decimals)
  // An increase on the collateral that is held pays nothing; its amount is the case's in any event.
  if (paidUsd <= 0n && big(want.collateralAmount) === 0n) return BPS_ONE
  if (paidUsd <= 0n) throw new Error(`state.prices has no price for ${token.symbol} at ${state.blockTime}`)
  return Number((big(want.sizeDeltaUsd) * BigInt(BPS_ONE)) / paidUsd)
}

/** The amounts of the case itself, where a decision says them in other words: a payment by its leverage, an exit by its share. */
function asAsked(intent: Intent, one: MessageCase): Intent {
  const { want, state } = one
  const { terms } = intent
  const heldUsd = big(state.position?.sizeInUsd)
  const tpsl = terms.tpsl?.map((exit, index): ExitTerms => {
    const asked = want.tpsl?.[index]
    return {
      ...exit,
      sizeDeltaUsd:
        asked?.sizeDeltaUsd === undefined ? heldUsd + terms.sizeDeltaUsd : BigInt(asked.sizeDeltaUsd),
    }
  })
  const { acceptablePriceImpactBps: _ours, ...rest } = terms
  const asked: OrderTerms = {
    ...rest,
    ...(want.acceptablePriceImpactBps === undefined
      ? {}
      : { acceptablePriceImpactBps: want.acceptablePriceImpactBps }),
    ...(intent.kind === 'increase' ? { collateralDelta: big(want.collateralAmount) } : {}),
    ...(tpsl === undefined ? {} : { tpsl }),
    ...(terms.edit === undefined ? {} : { edit: editAsked(terms.edit, one) }),
  }
  return { ...intent, terms: asked }
}

/** An edit that names what the case names, and leaves the rest to the stored order. */
function editAsked(edit: EditTerms, { want, state }: MessageCase): EditTerms {
  const order = state.orders.find(({ key }) => sameHex(key, edit.orderKey))
  const decimals = state.market.indexToken.decimals
  const named: readonly EditTerms['changed'][number][] = [
    ...(want.newSizeDeltaUsd === undefined ? [] : (['size'] as const)),
    ...(want.newTriggerPrice === undefined ? [] : (['trigger'] as const)),
    ...(want.newAcceptablePrice === undefined ? [] : (['acceptable'] as const)),
    ...(want.newAutoCancel === undefined ? [] : (['auto-cancel'] as const)),
    ...(want.executionFeeTopUp === undefined ? [] : (['execution-fee'] as const)),
  ]
  return {
    ...edit,
    acceptableContractPrice:
      want.newAcceptablePrice === undefined
        ? big(order?.contractAcceptablePrice)
        : contractPriceOf(BigInt(want.newAcceptablePrice), decimals),
    autoCancel: want.newAutoCancel ?? edit.autoCancel,
    executionFeeIncrease:
      want.executionFeeTopUp === undefined ? edit.executionFeeIncrease : BigInt(want.executionFeeTopUp),
    changed: named,
  }
}
