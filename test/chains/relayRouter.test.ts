import fc from 'fast-check'
import {
  type Address,
  encodeAbiParameters,
  type Hex,
  hashTypedData,
  keccak256,
  parseAbiParameters,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { chains } from '../../src/chains/index.ts'
import {
  type Batch,
  batchTypes,
  type CreateOrderParams,
  digestOf,
  domainSeparator,
  encodeRelayParams,
  hashBatch,
  hashCreateOrderParams,
  hashRelayParams,
  orderKeyOf,
  positionKeyOf,
  type RelayParams,
  relayRouterDomain,
} from '../../src/chains/relayRouter.ts'

const zeroAddress: Address = '0x0000000000000000000000000000000000000000'
const zeroHash: Hex = `0x${'00'.repeat(32)}`
const account: Address = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'
const usdc: Address = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'
const weth: Address = '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1'
const market: Address = '0x70d95587d40A2caf56bd97485aB3Eec10Bee6336'
const router = chains.arbitrum.contracts.gelatoRelayRouter

const relayParams: RelayParams = {
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

const order: CreateOrderParams = {
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

const batch: Batch = {
  account: zeroAddress,
  createOrderParamsList: [order],
  updateOrderParamsList: [],
  cancelOrderKeys: [],
  relayParams: hashRelayParams(relayParams),
  subaccountApproval: zeroHash,
}

const separator = domainSeparator(42161, router)

test('domain separators are the contracts own, on every chain', () => {
  const of = (name: 'arbitrum' | 'avalanche' | 'megaeth') => [
    domainSeparator(chains[name].chainId, chains[name].contracts.gelatoRelayRouter),
    domainSeparator(chains[name].chainId, chains[name].contracts.subaccountGelatoRelayRouter),
  ]
  expect(of('arbitrum')).toEqual([
    '0x367926a6d2d2986fdb290ba98be3ff0a5def501b7d9144dd77b30efdbc4edcbc',
    '0x75d39aab233bc06a7b45da6385bc547c6d87d1c48a74afc28875237098f14fd9',
  ])
  expect(of('avalanche')).toEqual([
    '0x44966a0d3691592db11fe5346a806e68fd0be318d798eace402502bc1a8859c4',
    '0xf4aa215e1e30637b60c54e4b6524a30b7d854f857465911df45f5b1c2f7cb020',
  ])
  expect(of('megaeth')).toEqual([
    '0x550e51db0e2a72bd54c01437bbc0cf9f6f25db9d1fe64f91377a29f039d93ee7',
    '0x957293782f6e0aa8ba395a7d2fe89db0ae36a223b038663630c74c9b7045a02b',
  ])
})

test('the published vectors hash to the published values', () => {
  const encoded = encodeRelayParams(relayParams)
  expect((encoded.length - 2) / 2).toBe(1248)
  expect(encoded.slice(2, 66)).toBe('e0'.padStart(64, '0'))
  expect(hashRelayParams(relayParams)).toBe(
    '0x61c579b64f4edc76985dd8b679096aa00da506416b3005db359d6b65ace130d4',
  )
  expect(hashCreateOrderParams(order)).toBe(
    '0x465708252dc07bffe624e1d0f6b381d828e2492a5bf7601d2430a86af4860d52',
  )
  expect(hashBatch(batch)).toBe('0x0b98c4262f40fbb7d759419d603c920a7eaa683c546a5088bef5cfc4f7860bd7')
  expect(digestOf(separator, batch)).toBe(
    '0x0b3e949ed2b86ef6c9e650faa8d536d7853caf9aea0a5dcc83355cc990afca8d',
  )
})

test('cancel-only and update-only batches hash to the published digests', () => {
  const key: Hex = `0x${'ab'.repeat(32)}`
  expect(digestOf(separator, { ...batch, createOrderParamsList: [], cancelOrderKeys: [key] })).toBe(
    '0x669e1b60a89905986f29621af6280c7d5c20e64296883d7eeb53cefda70c1701',
  )
  const update = {
    key,
    sizeDeltaUsd: 10n ** 31n,
    acceptablePrice: 2020000000000n,
    triggerPrice: 2000000000000n,
    minOutputAmount: 0n,
    validFromTime: 0n,
    autoCancel: false,
    executionFeeIncrease: 0n,
  }
  expect(digestOf(separator, { ...batch, createOrderParamsList: [], updateOrderParamsList: [update] })).toBe(
    '0x96670e2d4de7e6dd90a159ac382754649f0f83c68203a6d94a7da25a4c747c4b',
  )
})

test('signing the published batch gives the published signature', async () => {
  const signer = privateKeyToAccount(`0x${'11'.repeat(32)}`)
  expect(signer.address).toBe(account)
  expect(await signer.sign({ hash: digestOf(separator, batch) })).toBe(
    '0x039bd55c95e6a7d570b326f59b75701456acec11fcca9987ec9dee1f3a17d2f228440cdaf72118a3b7300f1776c97502c3e2e04478bd0501d7c469cb0b2e59ab1b',
  )
})

test('position and order keys are the published ones', () => {
  expect(positionKeyOf(account, market, usdc, true)).toBe(
    '0x0163945d3be518c2a1c6247a3277f919294fde34d27bbd9c6f51515b4ce9c6b5',
  )
  expect(orderKeyOf(chains.arbitrum.contracts.dataStore, 1n)).toBe(
    '0x0fa8adca6752282021b0be97849ea0b3e9e9b81c341c50ae21516285a570b2f4',
  )
})

const hexBytes = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
const anyAddress = hexBytes(20)
const anyHash = hexBytes(32)
const anyUint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const anyBytes = fc
  .uint8Array({ maxLength: 70 })
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
const few = <T>(value: fc.Arbitrary<T>) => fc.array(value, { maxLength: 3 })

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

const anyBatch: fc.Arbitrary<Batch> = fc.record({
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

const anyRelayParams: fc.Arbitrary<RelayParams> = fc.record({
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

test('any batch hashes as viem hashes it', () => {
  fc.assert(
    fc.property(anyBatch, (value) => {
      const expected = hashTypedData({
        domain: relayRouterDomain(42161, router),
        types: batchTypes,
        primaryType: 'Batch',
        message: value,
      })
      expect(digestOf(separator, value)).toBe(expected)
    }),
    { numRuns: 100, seed: 1 },
  )
})

const relayParamsAbi = parseAbiParameters([
  'OracleParams oracleParams, ExternalCalls externalCalls, TokenPermit[] tokenPermits, Fee fee, uint256 userNonce, uint256 deadline, uint256 desChainId',
  'struct OracleParams { address[] tokens; address[] providers; bytes[] data; }',
  'struct ExternalCalls { address[] sendTokens; uint256[] sendAmounts; address[] externalCallTargets; bytes[] externalCallDataList; address[] refundTokens; address[] refundReceivers; }',
  'struct TokenPermit { address owner; address spender; uint256 value; uint256 deadline; uint8 v; bytes32 r; bytes32 s; address token; }',
  'struct Fee { address feeToken; uint256 feeAmount; address[] feeSwapPath; }',
])

test('any relay parameters encode and hash as viem encodes them', () => {
  fc.assert(
    fc.property(anyRelayParams, (value) => {
      const expected = encodeAbiParameters(relayParamsAbi, [
        value.oracleParams,
        value.externalCalls,
        value.tokenPermits,
        value.fee,
        value.userNonce,
        value.deadline,
        value.desChainId,
      ])
      expect(encodeRelayParams(value)).toBe(expected)
      expect(hashRelayParams(value)).toBe(keccak256(expected))
    }),
    { numRuns: 100, seed: 1 },
  )
})
