/** Intent to Prepared: ask one host to build the message. Moves nothing; may be repeated. */

import type { Prepared } from '../../api/orders/expressOrders.ts'
import type { CancelRequest, CollateralRequest, EditRequest } from '../../api/orders/orderChangeRequest.ts'
import type { PrepareRequest } from '../../api/orders/prepareRequest.ts'
import { RefusedError } from '../../api/transport/apiErrors.ts'
import type { Read } from '../../api/transport/route.ts'
import { defined, ifDefined } from '../../base/defined.ts'
import type { Intent } from '../../domain/order/intent.ts'
import type { TermsToken } from '../../domain/order/orderTerms.ts'
import { type Hex, sameHex } from '../../protocol/address.ts'
import { positionKeyOf } from '../../protocol/signing/relayRouter.ts'
import type { SubaccountApproval } from '../../protocol/signing/subaccountApproval.ts'
import { priceOfContractPrice } from '../../protocol/units.ts'
import type { HasApi, HasChain } from '../context/executionParts.ts'

/** Prepare request, with one of the four prepare routes. */
export type AskedRequest =
  | { readonly route: 'order'; readonly request: PrepareRequest }
  | { readonly route: 'edit'; readonly request: EditRequest }
  | { readonly route: 'cancel'; readonly request: CancelRequest }
  | { readonly route: 'collateral'; readonly request: CollateralRequest }

/** Context of a request: the chain, and the approval that goes with it when a subaccount signs. */
export interface PrepareContext extends HasChain {
  readonly subaccountApproval?: SubaccountApproval | undefined
  /** The owner's; absent: none. */
  readonly referralCode?: Hex | undefined
}

/**
 * Returns the fields of every request that name the account. The relay is paid in the chain's fee token, the venue's default: the routes that change
 * orders do not list a field for it, and a strict server refuses unlisted fields.
 */
function askerOf({ subaccountApproval }: PrepareContext, { account }: Intent) {
  return {
    from: account,
    ...defined({ subaccountAddress: subaccountApproval?.subaccount, subaccountApproval }),
  }
}

/**
 * The request that an intent makes. Every listed field that has a default at the venue is sent, so that none is guessed. Throws
 * TypeError for a batch, which no host builds, and for terms that cannot be: admission makes none.
 */
export function requestOf(context: PrepareContext, intent: Intent): AskedRequest {
  switch (intent.kind) {
    case 'increase':
    case 'decrease':
    case 'close':
    case 'swap':
      return { route: 'order', request: orderRequest(context, intent) }
    case 'edit':
      return { route: 'edit', request: editRequest(context, intent) }
    case 'cancel':
      return { route: 'cancel', request: cancelRequest(context, intent) }
    case 'collateral-in':
    case 'collateral-out':
      return { route: 'collateral', request: collateralRequest(context, intent) }
    case 'batch':
      throw new TypeError('requestOf: a batch is built here, not by a host')
  }
}

/** A token as a request names it: two tokens of Arbitrum have the symbol BTC. */
function nameOf({ symbol, wireName }: TermsToken): string {
  return wireName ?? symbol
}

function orderRequest(asking: PrepareContext, intent: Intent): PrepareRequest {
  const { kind, terms } = intent
  const { orderType, triggerPrice, twap, tpsl, swap, acceptablePriceImpactBps } = terms
  const base = {
    ...askerOf(asking, intent),
    gasPaymentToken: asking.chain.feeToken.address,
    ...defined({ referralCode: asking.referralCode }),
    ...defined({ acceptablePriceImpactBps: ifDefined(acceptablePriceImpactBps, BigInt) }),
    orderType,
    symbol: terms.symbol,
    slippageBps: terms.slippageBps,
    ...defined({ triggerPrice, twapConfig: twap }),
  } as const
  const collateralToken = nameOf(terms.collateralToken)
  const collateralToPay = { amount: terms.collateralDelta, token: collateralToken }
  if (swap !== undefined) {
    return {
      ...base,
      kind: 'swap',
      collateralToPay,
      receiveToken: nameOf(swap.receiveToken),
      manualSwapPath: [terms.marketToken],
    }
  }
  const position = {
    ...base,
    direction: terms.direction,
    sizeDeltaUsd: terms.sizeDeltaUsd,
    collateralToken,
  }
  if (kind === 'increase') {
    return { ...position, kind: 'increase', collateralToPay, ...defined({ tpsl }) }
  }
  return {
    ...position,
    kind: 'decrease',
    receiveToken: collateralToken,
    // The venue's builder lets exits end with their position by itself; prepare lists no field for it.
    keepLeverage: terms.keepLeverage,
  }
}

function editRequest(asking: PrepareContext, intent: Intent): EditRequest {
  const { terms } = intent
  const { edit, indexToken } = terms
  if (edit === undefined) throw new TypeError('requestOf: an edit without its terms')
  const named = new Set(edit.changed)
  const price = (contractPrice: bigint) => priceOfContractPrice(contractPrice, indexToken.decimals)
  const acceptable = price(edit.acceptableContractPrice)
  return {
    ...askerOf(asking, intent),
    orderKeys: [edit.orderKey],
    newSizeUsd: edit.sizeDeltaUsd,
    ...defined({
      newTriggerPrice: named.has('trigger') ? price(edit.triggerContractPrice) : undefined,
      newAcceptablePrice: named.has('acceptable') ? acceptable : undefined,
      newAutoCancel: named.has('auto-cancel') ? edit.autoCancel : undefined,
      executionFeeTopUp: named.has('execution-fee') ? edit.executionFeeIncrease : undefined,
    }),
  }
}

function cancelRequest(asking: PrepareContext, intent: Intent): CancelRequest {
  const [first, ...others]: readonly Hex[] = intent.terms.cancelOrderKeys ?? []
  if (first === undefined) throw new TypeError('requestOf: a cancel of nothing')
  return { ...askerOf(asking, intent), orderKeys: [first, ...others] }
}

function collateralRequest(asking: PrepareContext, intent: Intent): CollateralRequest {
  const { kind, terms } = intent
  if (terms.positionKey === undefined) throw new TypeError('requestOf: collateral without a position')
  return {
    ...askerOf(asking, intent),
    operation: kind === 'collateral-in' ? 'deposit' : 'withdraw',
    positionKey: terms.positionKey,
    amount: terms.collateralDelta,
    slippageBps: terms.slippageBps,
  }
}

/** Attempts at one host; after them the next prepare asks another. */
const attemptsPerHost = 2

/** Asks a host to prepare the intent. Throws RefusedError, UnreachableError or DecodeError. */
export async function prepare(
  context: HasApi & HasChain,
  intent: Intent,
  host: string,
  signing: Omit<PrepareContext, 'chain'> = {},
): Promise<Prepared> {
  const asked = requestOf({ ...context, ...signing }, intent)
  const options = { host, attempts: attemptsPerHost }
  try {
    return (await requestPrepare(context, asked, options)).value
  } catch (error) {
    const again = withContractKey(asked, intent, error)
    if (again === undefined) throw error
    return (await requestPrepare(context, again, options)).value
  }
}

/**
 * The same change of collateral with the contract's key of the position, after one whose row key the venue does not know:
 * which of the two names a position there is not documented. Undefined for any other refusal.
 */
function withContractKey(
  asked: AskedRequest,
  { account, terms }: Intent,
  error: unknown,
): AskedRequest | undefined {
  if (asked.route !== 'collateral' || !(error instanceof RefusedError)) return undefined
  if (error.serverCode !== 'POSITION_NOT_FOUND') return undefined
  const { marketToken, collateralToken, direction } = terms
  const positionKey = positionKeyOf(account, marketToken, collateralToken.address, direction === 'long')
  if (sameHex(positionKey, asked.request.positionKey)) return undefined
  return { route: 'collateral', request: { ...asked.request, positionKey } }
}

function requestPrepare(
  { api }: HasApi,
  asked: AskedRequest,
  options: { readonly host: string; readonly attempts: number },
): Promise<Read<Prepared>> {
  switch (asked.route) {
    case 'order':
      return api.prepareOrder(asked.request, options)
    case 'edit':
      return api.prepareEdit(asked.request, options)
    case 'cancel':
      return api.prepareCancel(asked.request, options)
    case 'collateral':
      return api.prepareCollateral(asked.request, options)
  }
}
