import fc from 'fast-check'
import { encodeAbiParameters, type Hex, hashTypedData, keccak256, parseAbiParameters } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { chains } from '../../src/protocol/chains/index.ts'
import { batchTypes } from '../../src/protocol/signing/batchTypes.ts'
import {
  digestOf,
  domainSeparator,
  encodeRelayParams,
  hashBatch,
  hashCreateOrderParams,
  hashRelayParams,
  orderKeyOf,
  positionKeyOf,
  relayRouterDomain,
} from '../../src/protocol/signing/relayRouter.ts'
import {
  account,
  anyBatch,
  anyRelayParams,
  batch,
  market,
  order,
  relayParams,
  router,
  usdc,
} from './batches.ts'

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
