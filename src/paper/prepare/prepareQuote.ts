/** From a prepare request to orders: quotes by kind, and the one of a swap (test/paper/behaviours-prepare.test.ts, D). */
import { hexKey, ZERO_ADDRESS } from '../../protocol/address.ts'
import type { CreateOrderParams } from '../../protocol/signing/relayRouter.ts'
import { refused } from '../http/http.ts'
import type { PrepareRequest } from '../http/prepareShape.ts'
import { executionFeesOf, withExecutionFees } from '../keeper/gasFees.ts'
import { swapAlong } from '../pools/swaps.ts'
import type { VenueState } from '../state/venueState.ts'
import { moveAgainst } from './quote.ts'
import { addressesOf, commonOf, erc20Of, orderTypeOf, pathOf, type Quote, tokenNamed } from './quoteCommon.ts'
import { quoteDecrease } from './quoteDecrease.ts'
import { quoteIncrease } from './quoteIncrease.ts'

/**
 * Quotes a prepare request.
 *
 * @throws HttpFailure 400 with the documented codes
 */
export function quoteOrder(venueState: VenueState, request: PrepareRequest, nowMs: number): Quote {
  if (request.kind === 'increase') return quoteIncrease(venueState, request, nowMs)
  return request.kind === 'decrease'
    ? quoteDecrease(venueState, request, nowMs)
    : quoteSwap(venueState, request, nowMs)
}

function quoteSwap(venueState: VenueState, request: PrepareRequest, nowMs: number): Quote {
  const common = commonOf(venueState, request, nowMs)
  const pay = request.collateralToPay ?? { amount: 0n, token: '' }
  const named = tokenNamed(venueState, pay.token)
  const receiveNamed = tokenNamed(venueState, request.receiveToken ?? '')
  if (named.isNative && request.mode === 'express') {
    throw refused(
      'INVALID_PARAMS',
      `${named.symbol} cannot be paid in express mode; pay ${erc20Of(venueState, named).symbol} instead`,
    )
  }
  const payToken = erc20Of(venueState, named)
  const receiveToken = erc20Of(venueState, receiveNamed)
  if (hexKey(payToken.address) === hexKey(receiveToken.address)) {
    throw refused('INVALID_PARAMS', 'The pay token and the receive token of a swap are the same')
  }
  if (request.orderType === 'twap') {
    throw refused(
      'NO_SWAP_PATH',
      `No swap path found from ${payToken.symbol} to ${receiveToken.symbol} for a twap`,
    )
  }
  const swapPath = pathOf(venueState, request, payToken, receiveToken, common.seconds)
  const out = swapAlong(venueState, new Map(), payToken.address, pay.amount, swapPath, common.seconds)
  const order: CreateOrderParams = {
    ...common.base,
    addresses: addressesOf(request, common, ZERO_ADDRESS, payToken.address, swapPath),
    numbers: {
      sizeDeltaUsd: 0n,
      initialCollateralDeltaAmount: pay.amount,
      triggerPrice: request.triggerPrice,
      acceptablePrice: 0n,
      executionFee: 0n,
      callbackGasLimit: 0n,
      minOutputAmount: moveAgainst(out.amount, common.slippageBps, false),
      validFromTime: 0n,
    },
    orderType: BigInt(orderTypeOf('swap', request.orderType)),
    decreasePositionSwapType: 0n,
    isLong: false,
    shouldUnwrapNativeToken: receiveNamed.isNative,
  }
  const orders = withExecutionFees(venueState, [order], {
    bufferBps: request.executionFeeBufferBps,
    mode: request.mode,
    nowMs,
  })
  return {
    orders,
    details: [
      {
        sizeDeltaInTokens: 0n,
        acceptablePrice: 0n,
        collateralDeltaAmount: 0n,
        minOutput: out.amount,
        slippageBps: common.slippageBps,
        collateralToken: payToken.address,
        receiveToken: receiveNamed.address,
      },
    ],
    warnings: [],
    feeToken: common.feeToken,
    estimates: {
      positionPriceImpactDeltaUsd: '0',
      swapPriceImpactDeltaUsd: out.impactUsd.toString(),
      executionFeeAmount: executionFeesOf(orders).toString(),
      acceptablePrice: '0',
      sizeDeltaUsd: '0',
      positionFeeUsd: '0',
      borrowingFeeUsd: '0',
      fundingFeeUsd: '0',
    },
  }
}
