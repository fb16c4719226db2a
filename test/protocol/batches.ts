/** The published batch of the wire reference, and arbitrary ones, for tests of hashing and of calldata. */
import fc from 'fast-check'
import type { Address, Hex } from 'viem'
import { chains } from '../../src/protocol/chains/index.ts'
import {
  type Batch,
  type CreateOrderParams,
  hashRelayParams,
  type RelayParams,
} from '../../src/protocol/signing/relayRouter.ts'

const zeroAddress: Address = '0x0000000000000000000000000000000000000000'
const zeroHash: Hex = `0x${'00'.repeat(32)}`
export const account: Address = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'
export const usdc: Address = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'
const weth: Address = '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1'
export const market: Address = '0x70d95587d40A2caf56bd97485aB3Eec10Bee6336'
export const router = chains.arbitrum.contracts.gelatoRelayRouter

export const relayParams: RelayParams = {
  oracleParams: {
    tokens: [usdc, weth],
    providers: ['0x90218fbb064b1475E4382b041Cc7ccF08AF718B0', '0x90218fbb064b1475E4382b041Cc7ccF08AF718B0'],
    data: ['0x', '0x'],
  },
  externalCalls: {
    sendTokens: [],
    sendAmounts: [],
    externalCallTargets: [],
    externalCallDataList: [],
    refundTokens: [],
    refundReceivers: [],
  },
  tokenPermits: [],
  fee: { feeToken: usdc, feeAmount: 250000n, feeSwapPath: [market] },
  userNonce: 1800000000n,
  deadline: 1800003600n,
  desChainId: 42161n,
}

export const order: CreateOrderParams = {
  addresses: {
    receiver: account,
    cancellationReceiver: zeroAddress,
    callbackContract: zeroAddress,
    uiFeeReceiver: zeroAddress,
    market,
    initialCollateralToken: usdc,
    swapPath: [],
  },
  numbers: {
    sizeDeltaUsd: 10n ** 31n,
    initialCollateralDeltaAmount: 3000000n,
    triggerPrice: 0n,
    acceptablePrice: 1818000000000000n,
    executionFee: 100000000000000n,
    callbackGasLimit: 0n,
    minOutputAmount: 0n,
    validFromTime: 0n,
  },
  orderType: 2n,
  decreasePositionSwapType: 0n,
  isLong: true,
  shouldUnwrapNativeToken: false,
  autoCancel: false,
  referralCode: zeroHash,
  dataList: ['0x676d786f3a313a303a303030303a30313a303a31000000000000000000000000'],
}

export const batch: Batch = {
  account: zeroAddress,
  createOrderParamsList: [order],
  updateOrderParamsList: [],
  cancelOrderKeys: [],
  relayParams: hashRelayParams(relayParams),
  subaccountApproval: zeroHash,
}

const hexBytes = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
export const anyAddress = hexBytes(20)
export const anyHash = hexBytes(32)
export const anyUint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
export const anyBytes = fc
  .uint8Array({ maxLength: 70 })
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
/** Up to three; mostly none or one, which is what orders have. */
const few = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof(
    { arbitrary: fc.array(value, { maxLength: 1 }), weight: 5 },
    { arbitrary: fc.array(value, { minLength: 2, maxLength: 3 }), weight: 1 },
  )

const anyOrder: fc.Arbitrary<CreateOrderParams> = fc.record({
  addresses: fc.record({
    receiver: anyAddress,
    cancellationReceiver: anyAddress,
    callbackContract: anyAddress,
    uiFeeReceiver: anyAddress,
    market: anyAddress,
    initialCollateralToken: anyAddress,
    swapPath: few(anyAddress),
  }),
  numbers: fc.record({
    sizeDeltaUsd: anyUint,
    initialCollateralDeltaAmount: anyUint,
    triggerPrice: anyUint,
    acceptablePrice: anyUint,
    executionFee: anyUint,
    callbackGasLimit: anyUint,
    minOutputAmount: anyUint,
    validFromTime: anyUint,
  }),
  orderType: anyUint,
  decreasePositionSwapType: anyUint,
  isLong: fc.boolean(),
  shouldUnwrapNativeToken: fc.boolean(),
  autoCancel: fc.boolean(),
  referralCode: anyHash,
  dataList: few(anyHash),
})

export const anyBatch: fc.Arbitrary<Batch> = fc.record({
  account: anyAddress,
  createOrderParamsList: few(anyOrder),
  updateOrderParamsList: few(
    fc.record({
      key: anyHash,
      sizeDeltaUsd: anyUint,
      acceptablePrice: anyUint,
      triggerPrice: anyUint,
      minOutputAmount: anyUint,
      validFromTime: anyUint,
      autoCancel: fc.boolean(),
      executionFeeIncrease: anyUint,
    }),
  ),
  cancelOrderKeys: few(anyHash),
  relayParams: anyHash,
  subaccountApproval: anyHash,
})

export const anyRelayParams: fc.Arbitrary<RelayParams> = fc.record({
  oracleParams: fc.record({ tokens: few(anyAddress), providers: few(anyAddress), data: few(anyBytes) }),
  externalCalls: fc.record({
    sendTokens: few(anyAddress),
    sendAmounts: few(anyUint),
    externalCallTargets: few(anyAddress),
    externalCallDataList: few(anyBytes),
    refundTokens: few(anyAddress),
    refundReceivers: few(anyAddress),
  }),
  tokenPermits: few(
    fc.record({
      owner: anyAddress,
      spender: anyAddress,
      value: anyUint,
      deadline: anyUint,
      v: fc.integer({ min: 0, max: 255 }),
      r: anyHash,
      s: anyHash,
      token: anyAddress,
    }),
  ),
  fee: fc.record({ feeToken: anyAddress, feeAmount: anyUint, feeSwapPath: few(anyAddress) }),
  userNonce: anyUint,
  deadline: anyUint,
  desChainId: anyUint,
})
