/** An order of a caller's own message, as the contracts take it. */
import type { CreateOrderParams } from '../../src/protocol/batch.ts'
import { contractPriceOf, type Usd, usd } from '../../src/protocol/units.ts'
import { ethMarket, usdc } from './intents.ts'
import { testSigner } from './trader.ts'

const zeroAddress = `0x${'00'.repeat(20)}` as const

/** Prices in USD of 10^-30 for a whole token; without a trigger: 0. The receiver is the account of tests unless it is named. */
export interface OrderParts {
  /** On-chain order type. */
  readonly type: number
  readonly sizeUsd: number
  /** Base units of USDC. Default 0. */
  readonly collateral?: bigint
  readonly triggerUsd?: Usd
  readonly acceptableUsd: Usd
  readonly receiver?: CreateOrderParams['addresses']['receiver']
}

/** A long of ETH on USDC. */
export function createdOrder(parts: OrderParts): CreateOrderParams {
  return {
    addresses: {
      receiver: parts.receiver ?? testSigner.address,
      cancellationReceiver: zeroAddress,
      callbackContract: zeroAddress,
      uiFeeReceiver: zeroAddress,
      market: ethMarket,
      initialCollateralToken: usdc,
      swapPath: [],
    },
    numbers: {
      sizeDeltaUsd: usd(parts.sizeUsd),
      initialCollateralDeltaAmount: parts.collateral ?? 0n,
      triggerPrice: contractPriceOf(parts.triggerUsd ?? 0n, 18),
      acceptablePrice: contractPriceOf(parts.acceptableUsd, 18),
      executionFee: 2n * 10n ** 14n,
      callbackGasLimit: 0n,
      minOutputAmount: 0n,
      validFromTime: 0n,
    },
    orderType: BigInt(parts.type),
    decreasePositionSwapType: 0n,
    isLong: true,
    shouldUnwrapNativeToken: false,
    autoCancel: false,
    referralCode: `0x${'00'.repeat(32)}`,
    dataList: [],
  }
}

/** A limit order to buy that rests: its price is far below the market. */
export const restingOrder = (triggerUsd: Usd, receiver = testSigner.address): CreateOrderParams =>
  createdOrder({
    type: 3,
    sizeUsd: 100,
    collateral: 50_000_000n,
    triggerUsd,
    acceptableUsd: triggerUsd,
    receiver,
  })
