/**
 * Defines the requests to the prepare routes that change orders and collateral, and their form on the wire (docs/reference/api-coverage.md POST
 * /orders/txns/edit/prepare).
 */

import type { Address, Hex } from '../../protocol/address.ts'
import type { SubaccountApproval } from '../../protocol/signing/subaccountApproval.ts'
import type { TokenAmount, Usd } from '../../protocol/units.ts'
import { approvalBody } from './approvalBody.ts'
import type { PrepareMode } from './prepareRequest.ts'

/** Account of a change, and the payment to the relay. */
interface ChangeBase {
  /** The account; the main one in subaccount mode too. */
  readonly from: Address
  /** ERC-20 that pays the relay. */
  readonly gasPaymentToken?: Address
  readonly subaccountAddress?: Address
  /** With `subaccountAddress`: the signed approval until it landed, then `emptySubaccountApproval`. */
  readonly subaccountApproval?: SubaccountApproval
}

interface EditFields {
  /** New size, USD with 30 decimals. */
  readonly newSizeUsd?: Usd
  /** USD with 30 decimals per whole index token, while `/orders` shows contract prices. */
  readonly newTriggerPrice?: Usd
  /**
   * USD with 30 decimals. Absolute: a limit or take-profit order whose trigger moves alone keeps its old one and may never
   * fill, so send both. A stop keeps its "any".
   */
  readonly newAcceptablePrice?: Usd
  readonly newAutoCancel?: boolean
  /** Native token, wei. */
  readonly executionFeeTopUp?: TokenAmount
}

type AtLeastOne<Fields> = {
  [Name in keyof Fields]-?: Required<Pick<Fields, Name>> & Omit<Fields, Name>
}[keyof Fields]

/**
 * New terms of resting orders; at least one. The chain rewrites all fields at once: the venue fills those left out from the
 * stored order, but sets `validFromTime` to 0, so an edit releases a TWAP part that waits.
 */
export type EditRequest = ChangeBase & {
  /** Keys of the orders; market orders cannot be edited. */
  readonly orderKeys: readonly [Hex, ...Hex[]]
} & AtLeastOne<EditFields>

/** Which orders to cancel: those named, or all that rest. A market order only after the chain's request expiration. */
export type CancelRequest = ChangeBase &
  ({ readonly orderKeys: readonly [Hex, ...Hex[]] } | { readonly all: true })

/** Collateral into or out of a position; on chain a market increase or decrease of size 0. */
export interface CollateralRequest extends ChangeBase {
  readonly operation: 'deposit' | 'withdraw'
  /** The position's key as the venue shows it. */
  readonly positionKey: string
  /** In the collateral token's smallest unit. */
  readonly amount: TokenAmount
  /** Whole basis points, 0 to 10000. */
  readonly slippageBps?: number
  readonly executionFeeBufferBps?: number
  readonly uiFeeReceiver?: Address
}

type Body = Readonly<Record<string, unknown>>

function baseBody(request: ChangeBase, mode: PrepareMode): Body {
  const { from, gasPaymentToken, subaccountAddress, subaccountApproval } = request
  return {
    mode,
    from,
    gasPaymentToken,
    subaccountAddress,
    subaccountApproval: subaccountApproval && approvalBody(subaccountApproval),
  }
}

/** The JSON body of an edit. */
export function editBody(request: EditRequest, mode: PrepareMode): Body {
  const fields: EditFields = request
  return {
    ...baseBody(request, mode),
    orderIds: request.orderKeys,
    newSize: fields.newSizeUsd?.toString(),
    newTriggerPrice: fields.newTriggerPrice?.toString(),
    newAcceptablePrice: fields.newAcceptablePrice?.toString(),
    newAutoCancel: fields.newAutoCancel,
    executionFeeTopUp: fields.executionFeeTopUp?.toString(),
  }
}

/** The JSON body of a cancel. */
export function cancelBody(request: CancelRequest, mode: PrepareMode): Body {
  const which = 'all' in request ? { all: true } : { orderIds: request.orderKeys }
  return { ...baseBody(request, mode), ...which }
}

/** The JSON body of a change of collateral. */
export function collateralBody(request: CollateralRequest, mode: PrepareMode): Body {
  return {
    ...baseBody(request, mode),
    operation: request.operation,
    positionKey: request.positionKey,
    amount: request.amount.toString(),
    slippage: request.slippageBps,
    executionFeeBufferBps: request.executionFeeBufferBps,
    uiFeeReceiver: request.uiFeeReceiver,
  }
}
