/**
 * Defines the requests to prepare, in the protocol's words, and their form on the wire (docs/reference/api-coverage.md POST /orders/txns/prepare).
 */

import type { Address, Hex } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import type { SubaccountApproval } from '../../protocol/signing/subaccountApproval.ts'
import type { TokenAmount, Usd } from '../../protocol/units.ts'
import { approvalBody } from './approvalBody.ts'

/** Order types of the wire. */
export type WireOrderType = 'market' | 'limit' | 'stop-market' | 'take-profit' | 'stop-loss' | 'twap'

/** An amount of a token that is named by its symbol. */
export interface TokenAmountOf {
  /** In the token's smallest unit. */
  readonly amount: TokenAmount
  readonly token: string
}

interface PrepareBase {
  /** The account; the main one in subaccount mode too. */
  readonly from: Address
  readonly orderType: WireOrderType
  /** Full market symbol, `ETH/USD [WETH-USDC]`. */
  readonly symbol: string
  /** Whole basis points, 0 to 10000; always sent, the venue's default is not documented. */
  readonly slippageBps: number
  /** USD with 30 decimals per whole index token; needed by limit, stop-market, take-profit, stop-loss. */
  readonly triggerPrice?: Usd
  /** Market tokens, at most three. */
  readonly manualSwapPath?: readonly Address[]
  /** Limit and take-profit orders. */
  readonly acceptablePriceImpactBps?: bigint
  /** Raises the execution fee that is paid up front. */
  readonly executionFeeBufferBps?: number
  /** Needed by twap: seconds from the first part to the last, and 2 to 30 parts. */
  readonly twapConfig?: { readonly durationSeconds: number; readonly parts: number }
  /** ERC-20 that pays the relay. */
  readonly gasPaymentToken?: Address
  /** 32 bytes. */
  readonly referralCode?: Hex
  readonly uiFeeReceiver?: Address
  readonly autoCancel?: boolean
  readonly subaccountAddress?: Address
  /** With `subaccountAddress`: the signed approval until it landed, then `emptySubaccountApproval`. */
  readonly subaccountApproval?: SubaccountApproval
}

/** Opens or adds to a position. */
export interface PrepareIncrease extends PrepareBase {
  readonly kind: 'increase'
  readonly direction: Direction
  readonly sizeDeltaUsd: Usd
  /** Symbol of the position's collateral token. */
  readonly collateralToken: string
  /** Payment; another token than the collateral means an unprotected swap. */
  readonly collateralToPay: TokenAmountOf
  /** Take-profit and stop-loss orders that come with it. */
  readonly tpsl?: readonly {
    readonly type: 'take-profit' | 'stop-loss'
    readonly triggerPrice: Usd
    readonly sizeDeltaUsd?: Usd
  }[]
}

/** Reduces or, with the whole size, closes a position. */
export interface PrepareDecrease extends PrepareBase {
  readonly kind: 'decrease'
  readonly direction: Direction
  readonly sizeDeltaUsd: Usd
  /** Symbol of the position's collateral token: one market side can have two positions. */
  readonly collateralToken: string
  /** Withdraws collateral pro rata. */
  readonly keepLeverage: boolean
  /** Symbol of the token to receive; the collateral token avoids a swap. */
  readonly receiveToken?: string
}

/** Swaps tokens. */
export interface PrepareSwap extends PrepareBase {
  readonly kind: 'swap'
  readonly collateralToPay: TokenAmountOf
  readonly receiveToken: string
}

/** An order to prepare. A close is a decrease of the whole size. */
export type PrepareRequest = PrepareIncrease | PrepareDecrease | PrepareSwap

function paid({ amount, token }: TokenAmountOf): unknown {
  return { amount: amount.toString(), token }
}

function kindFields(request: PrepareRequest): Readonly<Record<string, unknown>> {
  switch (request.kind) {
    case 'increase':
      return {
        direction: request.direction,
        size: request.sizeDeltaUsd.toString(),
        collateralToken: request.collateralToken,
        collateralToPay: paid(request.collateralToPay),
        tpsl: request.tpsl?.map(({ type, triggerPrice, sizeDeltaUsd }) => ({
          type,
          triggerPrice: triggerPrice.toString(),
          size: sizeDeltaUsd?.toString(),
        })),
      }
    case 'decrease':
      return {
        direction: request.direction,
        size: request.sizeDeltaUsd.toString(),
        collateralToken: request.collateralToken,
        keepLeverage: request.keepLeverage,
        receiveToken: request.receiveToken,
      }
    case 'swap':
      return {
        // The wire wants the pay amount once more as the size.
        size: request.collateralToPay.amount.toString(),
        collateralToPay: paid(request.collateralToPay),
        receiveToken: request.receiveToken,
      }
  }
}

/** Way of sending an order: signed and relayed, or as a transaction of the account's own. */
export type PrepareMode = 'express' | 'classic'

/** The JSON body of a prepare request; fields that are undefined are not sent, bigints travel as decimal texts. */
export function prepareBody(
  request: PrepareRequest,
  mode: PrepareMode = 'express',
): Readonly<Record<string, unknown>> {
  const { twapConfig } = request
  return {
    kind: request.kind,
    orderType: request.orderType,
    mode,
    from: request.from,
    symbol: request.symbol,
    ...kindFields(request),
    slippage: request.slippageBps,
    triggerPrice: request.triggerPrice?.toString(),
    manualSwapPath: request.manualSwapPath,
    acceptablePriceImpactBps: request.acceptablePriceImpactBps?.toString(),
    executionFeeBufferBps: request.executionFeeBufferBps,
    twapConfig: twapConfig && { duration: twapConfig.durationSeconds, parts: twapConfig.parts },
    gasPaymentToken: request.gasPaymentToken,
    referralCode: request.referralCode,
    uiFeeReceiver: request.uiFeeReceiver,
    autoCancel: request.autoCancel,
    subaccountAddress: request.subaccountAddress,
    subaccountApproval: request.subaccountApproval && approvalBody(request.subaccountApproval),
  }
}
