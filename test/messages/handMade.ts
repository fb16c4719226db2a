/**
 * Intents of cases that no admission makes: what no decision of ours says (a route through two pools, native coins), and what a
 * trader may ask for though a strategy may not (a trigger that the price has passed, an edit of the flag alone). They stand on
 * what the case says, and on the product's own sizing where a reduction is sized.
 */

import type { Decision } from '../../src/domain/order/decision.ts'
import type { Intent } from '../../src/domain/order/intent.ts'
import type { EditTerms, OrderTerms, TermsToken } from '../../src/domain/order/orderTerms.ts'
import type { MarketView } from '../../src/domain/snapshot.ts'
import { type Address, type Hex, sameHex, ZERO_ADDRESS } from '../../src/protocol/address.ts'
import {
  amountOfUsd,
  contractPriceOf,
  maxOf,
  priceOfContractPrice,
  usdOfAmount,
} from '../../src/protocol/units.ts'
import { type AdmissionContext, isDenial } from '../../src/risk/exposure/admissionContext.ts'
import { termsToken } from '../../src/risk/sizing/plan.ts'
import { sizeReduction } from '../../src/risk/sizing/sizing.ts'
import { leastOutOf } from '../../src/risk/sizing/swapPlan.ts'
import type { MessageCase, OrderRow, TokenRow } from './schema.ts'
import { erc20Of, tokenOf } from './world.ts'

const big = (text: string | undefined): bigint => BigInt(text ?? 0)

/** The intent of a case by hand. Throws an Error that says what of the case cannot be read. */
export function handMade(
  one: MessageCase,
  view: MarketView,
  context: AdmissionContext,
  decision: Decision | undefined,
): Intent {
  const { want, state } = one
  const direction = want.direction ?? state.orders[0]?.direction ?? 'long'
  const price = view.oraclePrice?.value
  const isIncrease = want.kind === 'increase' || want.kind === 'collateral-in'
  const buys = (direction === 'long') === isIncrease
  const edited = want.kind === 'edit' ? editedOrder(one) : undefined
  const reduced = decision === undefined ? undefined : reductionOf(decision, context)
  const sizeDeltaUsd =
    edited?.edit.sizeDeltaUsd ??
    (want.kind === 'close' ? big(state.position?.sizeInUsd) : big(want.sizeDeltaUsd))
  const pay = want.kind === 'swap' ? swapTokens(one) : undefined
  const collateral =
    pay?.pay ?? termsToken(tokenNamed(one, view, want.collateralToken ?? view.shortToken.address))
  const terms: OrderTerms = {
    orderType: edited?.row.orderType ?? want.orderType ?? 'market',
    symbol: view.market.symbol,
    marketToken: view.market.marketToken,
    indexToken: termsToken(view.indexToken),
    direction,
    collateralToken: collateral,
    sizeDeltaUsd,
    collateralDelta: pay === undefined ? big(want.collateralAmount) : big(want.payAmount),
    keepLeverage: want.keepLeverage ?? false,
    slippageBps: context.slippageBps,
    referencePrice: (buys ? price?.maxPrice : price?.minPrice) ?? 0n,
    ...(want.triggerPrice === undefined ? {} : { triggerPrice: BigInt(want.triggerPrice) }),
    ...(want.twap === undefined ? {} : { twap: want.twap }),
    ...(want.tpsl === undefined
      ? {}
      : {
          tpsl: want.tpsl.map(({ type, triggerPrice }) => ({
            type,
            triggerPrice: BigInt(triggerPrice),
            sizeDeltaUsd,
          })),
        }),
    ...(state.position === null
      ? {}
      : {
          held: {
            sizeInUsd: big(state.position.sizeInUsd),
            collateralAmount: big(state.position.collateralAmount),
          },
        }),
    ...(pay === undefined ? {} : { swap: pay.swap }),
    ...(want.orderKeys === undefined || want.kind !== 'cancel' ? {} : { cancelOrderKeys: want.orderKeys }),
    ...(edited === undefined
      ? {}
      : {
          edit: edited.edit,
          triggerPrice: priceOfContractPrice(edited.edit.triggerContractPrice, view.indexToken.decimals),
        }),
    ...(want.kind === 'collateral-out' ? { mostOutputUsd: worthOf(one, view) } : {}),
    ...reduced,
  }
  return {
    intentId: context.intent.intentId,
    decisionKey: context.intent.decisionKey,
    strategy: context.maker.strategy,
    account: context.intent.account,
    chain: context.intent.chain,
    lane: context.intent.lane,
    kind: want.kind,
    decision: decision ?? {
      kind: 'cancel',
      marketToken: view.market.marketToken,
      direction,
      orderKeys: [],
      reason: 'A case asks for what no decision says.',
    },
    terms,
    sizing: { wantedUsd: sizeDeltaUsd, sizeDeltaUsd, cuts: [], dataAgeMs: 0 },
    reservationUsd: want.kind === 'increase' ? sizeDeltaUsd : (edited?.growthUsd ?? 0n),
    acceptedAtMs: context.nowMs,
    expiresAtMs: context.intent.expiresAtMs,
  }
}

/** The stored order of an edit as it is to be afterwards, and by how much one that opens grows. */
function editedOrder({ want, state }: MessageCase): {
  readonly row: OrderRow
  readonly edit: EditTerms
  readonly growthUsd: bigint
} {
  const row = state.orders.find(({ key }) => sameHex(key, want.orderKeys?.[0] ?? ''))
  if (row === undefined) throw new Error(`state.orders has no ${want.orderKeys?.[0]}`)
  const sizeDeltaUsd = BigInt(want.newSizeDeltaUsd ?? row.sizeDeltaUsd)
  const opens = row.orderType === 'limit' || row.orderType === 'stop-market'
  const edit: EditTerms = {
    orderKey: row.key,
    sizeDeltaUsd,
    triggerContractPrice:
      want.newTriggerPrice === undefined
        ? BigInt(row.contractTriggerPrice)
        : contractPriceOf(BigInt(want.newTriggerPrice), state.market.indexToken.decimals),
    acceptableContractPrice: BigInt(row.contractAcceptablePrice),
    minOutputAmount: BigInt(row.minOutputAmount),
    autoCancel: row.autoCancel,
    executionFeeIncrease: 0n,
    changed: [],
  }
  return { row, edit, growthUsd: opens ? maxOf(0n, sizeDeltaUsd - BigInt(row.sizeDeltaUsd)) : 0n }
}

/** How sizing takes a reduction, as if it did not wait; undefined for anything else. */
function reductionOf(decision: Decision, context: AdmissionContext): Partial<OrderTerms> | undefined {
  if (decision.kind !== 'decrease' && decision.kind !== 'close') return undefined
  const sized = sizeReduction(
    decision.kind === 'close' ? decision : { ...decision, orderType: decision.twap ? 'twap' : 'market' },
    context,
  )
  if (isDenial(sized)) return undefined
  const { sizeDeltaUsd, otherSizeDeltaUsd, collateralDelta } = sized
  return {
    sizeDeltaUsd,
    collateralDelta,
    ...(otherSizeDeltaUsd === undefined ? {} : { otherSizeDeltaUsd }),
  }
}

/** What the collateral of a case is worth at most, USD. */
function worthOf({ want }: MessageCase, view: MarketView): bigint {
  const token = [view.longToken, view.shortToken].find(({ address }) =>
    sameHex(address, want.collateralToken ?? ''),
  )
  return usdOfAmount(big(want.collateralAmount), token?.maxPrice ?? 0n, token?.decimals ?? 0)
}

function tokenNamed(one: MessageCase, view: MarketView, address: Address) {
  return (
    [view.longToken, view.shortToken].find((token) => sameHex(token.address, address)) ??
    tokenOf(one.state, rowOf(one, address))
  )
}

function rowOf({ state }: MessageCase, address: Hex): TokenRow {
  const found = Object.entries(state.prices).find(([token]) => sameHex(token, address))
  if (found === undefined) throw new Error(`state.prices has no ${address}`)
  return { symbol: found[1].symbol, address, decimals: found[1].decimals }
}

/** What a swap pays and must give: the fair amount at the state's own prices, less slippage and what each pool may take. */
function swapTokens(one: MessageCase): {
  readonly pay: TermsToken
  readonly swap: NonNullable<OrderTerms['swap']>
} {
  const { want } = one
  const pay = tokenOf(one.state, rowOf(one, erc20Of(one, want.payToken ?? ZERO_ADDRESS)))
  const receive = tokenOf(one.state, rowOf(one, erc20Of(one, want.receiveToken ?? ZERO_ADDRESS)))
  const worthUsd = usdOfAmount(big(want.payAmount), pay.minPrice ?? 0n, pay.decimals)
  const minOutputAmount = leastOutOf(worthUsd, receive, want.slippageBps ?? 100)
  if (amountOfUsd(worthUsd, receive.maxPrice ?? 1n, receive.decimals) <= 0n)
    throw new Error('a swap of nothing')
  return {
    pay: termsToken(pay),
    swap: {
      receiveToken: termsToken(receive),
      isNativeOut: sameHex(want.receiveToken ?? '', ZERO_ADDRESS),
      minOutputAmount,
    },
  }
}
