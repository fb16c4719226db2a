/**
 * Everything that perpd hashes to be signed, against an independent implementation and the contract's own type strings,
 * over 10,000 random messages; and the signature over each recovers to the key.
 */
import fc from 'fast-check'
import {
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  hashTypedData,
  keccak256,
  parseAbiParameters,
  stringToBytes,
  toFunctionSelector,
} from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { expect, test } from 'vitest'
import {
  approvalTypes,
  emptySubaccountApproval,
  SUBACCOUNT_ORDER_ACTION,
} from '../../src/chains/approvalTypes.ts'
import { batchTypes } from '../../src/chains/batchTypes.ts'
import { chains } from '../../src/chains/index.ts'
import { encodeBatchCall, subaccountBatchSelector } from '../../src/chains/relayCalldata.ts'
import { digestOf, domainSeparator, relayRouterDomain, typeHashes } from '../../src/chains/relayRouter.ts'
import { recoverSigner, signDigest } from '../../src/chains/secp256k1.ts'
import {
  approvalDigestOf,
  approvalTypeHash,
  hashSubaccountApproval,
  type SubaccountApproval,
} from '../../src/chains/subaccountApproval.ts'
import { ZERO_HASH } from '../../src/domain/address.ts'
import { subaccountRouterAbi } from '../../src/paper/relayCall.ts'
import {
  account,
  anyAddress,
  anyBatch,
  anyBytes,
  anyHash,
  anyRelayParams,
  anyUint,
  batch,
} from './batches.ts'

const key = `0x${'11'.repeat(32)}` as const
const subaccountKey = `0x${'22'.repeat(32)}` as const
const routers = Object.values(chains).flatMap(({ chainId, contracts }) =>
  [contracts.gelatoRelayRouter, contracts.subaccountGelatoRelayRouter].map((router) => ({
    domain: relayRouterDomain(chainId, router),
    separator: domainSeparator(chainId, router),
  })),
)
const subaccountRouter = chains.arbitrum.contracts.subaccountGelatoRelayRouter
const subaccountSeparator = domainSeparator(42_161, subaccountRouter)

const anyApproval: fc.Arbitrary<SubaccountApproval> = fc.record({
  subaccount: anyAddress,
  shouldAdd: fc.boolean(),
  expiresAt: anyUint,
  maxAllowedCount: anyUint,
  actionType: anyHash,
  nonce: anyUint,
  desChainId: anyUint,
  deadline: anyUint,
  integrationId: anyHash,
  signature: anyBytes,
})

/** `Name(type name,...)` of a list of fields. */
const declared = (name: string, fields: readonly { readonly name: string; readonly type: string }[]) =>
  `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(',')})`

test('type hashes are those of the declarations that the contracts have, referenced types appended by name', () => {
  const { Batch, CreateOrderAddresses, CreateOrderNumbers, CreateOrderParams, UpdateOrderParams } = batchTypes
  const addresses = declared('CreateOrderAddresses', CreateOrderAddresses)
  const numbers = declared('CreateOrderNumbers', CreateOrderNumbers)
  const create = declared('CreateOrderParams', CreateOrderParams)
  const update = declared('UpdateOrderParams', UpdateOrderParams)
  const strings = {
    Domain: 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
    Batch: `${declared('Batch', Batch)}${addresses}${numbers}${create}${update}`,
    CreateOrderParams: `${create}${addresses}${numbers}`,
    CreateOrderAddresses: addresses,
    CreateOrderNumbers: numbers,
    UpdateOrderParams: update,
  }
  for (const [name, text] of Object.entries(strings))
    expect(keccak256(stringToBytes(text)), name).toBe(typeHashes[name as keyof typeof typeHashes])
  const approval = declared('SubaccountApproval', approvalTypes.SubaccountApproval)
  expect(approval).toBe(
    'SubaccountApproval(address subaccount,bool shouldAdd,uint256 expiresAt,uint256 maxAllowedCount,bytes32 actionType,uint256 nonce,uint256 desChainId,uint256 deadline,bytes32 integrationId)',
  )
  expect(keccak256(stringToBytes(approval))).toBe(approvalTypeHash)
})

test('8,000 batches at the six routers hash as viem hashes them, and their signatures recover', () => {
  const address = privateKeyToAddress(key)
  let count = 0
  fc.assert(
    fc.property(anyBatch, fc.nat(routers.length - 1), (message, at) => {
      const { domain, separator } = routers[at] ?? { domain: relayRouterDomain(0, account), separator: '0x' }
      const digest = digestOf(separator as Hex, message)
      expect(digest).toBe(hashTypedData({ domain, types: batchTypes, primaryType: 'Batch', message }))
      expect(recoverSigner(digest, signDigest(key, digest))).toBe(address)
      count += 1
    }),
    { numRuns: 8_000, seed: 2 },
  )
  expect(count).toBe(8_000)
}, 60_000)

const approvalAbi = parseAbiParameters([
  'Approval approval',
  'struct Approval { address subaccount; bool shouldAdd; uint256 expiresAt; uint256 maxAllowedCount; bytes32 actionType; uint256 nonce; uint256 desChainId; uint256 deadline; bytes32 integrationId; bytes signature; }',
])

test('2,000 approvals hash as viem hashes them, both what is signed and what a batch carries', () => {
  const address = privateKeyToAddress(key)
  const domain = relayRouterDomain(42_161, subaccountRouter)
  fc.assert(
    fc.property(anyApproval, (approval) => {
      const { signature: _signature, ...message } = approval
      const digest = approvalDigestOf(subaccountSeparator, message)
      const primaryType = 'SubaccountApproval'
      expect(digest).toBe(hashTypedData({ domain, types: approvalTypes, primaryType, message }))
      expect(recoverSigner(digest, signDigest(key, digest))).toBe(address)
      expect(hashSubaccountApproval(approval)).toBe(keccak256(encodeAbiParameters(approvalAbi, [approval])))
    }),
    { numRuns: 2_000, seed: 3 },
  )
}, 60_000)

test('the published approval, its hashes and the batch of a subaccount are the published ones', () => {
  const subaccount = privateKeyToAddress(subaccountKey)
  const message = {
    subaccount,
    shouldAdd: true,
    expiresAt: 1_800_604_800n,
    maxAllowedCount: 90n,
    actionType: SUBACCOUNT_ORDER_ACTION,
    nonce: 0n,
    desChainId: 42_161n,
    deadline: 1_800_604_800n,
    integrationId: ZERO_HASH,
  }
  const digest = approvalDigestOf(subaccountSeparator, message)
  expect(digest).toBe('0x8329bdfd04be8972f4acacb035002563f97c7405610815b35fd36cbd872534ad')
  const signature = signDigest(key, digest)
  expect(signature).toBe(
    '0x4f2b2698d5d2d7b76a2e350acc9f41c5a9e8739078ed355b9d8fd96772b0cb0b55157f0e745e8092015c9b6bf8d2d4a445a5928828c83965b220b25de8b4bf7d1b',
  )
  const subaccountApproval = hashSubaccountApproval({ ...message, signature })
  expect(subaccountApproval).toBe('0x892d73720764c5ff10e56b51fa67dcbdd13d519aa2c6c8a26b47dc94530b3882')
  expect(hashSubaccountApproval(emptySubaccountApproval(subaccount, 42_161))).toBe(
    '0x626bced854cc08f05b4fcd5874e31e62f9514cb71c29de1f8075c5cb3da6ac59',
  )
  const batchDigest = digestOf(subaccountSeparator, { ...batch, account, subaccountApproval })
  expect(batchDigest).toBe('0xdb59ecb2aa7ea8d49a983b5fb423add70d1f1482d21dc084131c4c2def156d60')
  expect(signDigest(subaccountKey, batchDigest)).toBe(
    '0x9acc02ae47b20b4dcb859ad524394de24927f82a70695831c643d1d9d3b90357468467e0c48af96aab8d05dd1b9332eb90dfaa97838837557a39c004f13d9f661b',
  )
})

test('calldata of the subaccount router is what viem makes of it', () => {
  expect(toFunctionSelector(subaccountRouterAbi[0])).toBe(subaccountBatchSelector)
  const { createOrderParamsList, ...changes } = batch
  const actions = {
    createOrderParamsList: createOrderParamsList.map((order) => ({
      ...order,
      orderType: Number(order.orderType),
      decreasePositionSwapType: Number(order.decreasePositionSwapType),
    })),
    updateOrderParamsList: changes.updateOrderParamsList,
    cancelOrderKeys: changes.cancelOrderKeys,
  }
  fc.assert(
    fc.property(anyApproval, anyRelayParams, anyAddress, anyBytes, (approval, params, owner, signature) => {
      const args = [{ ...params, signature }, approval, owner, approval.subaccount, actions] as const
      expect(
        encodeBatchCall({
          account: owner,
          subaccountApproval: approval,
          relayParams: params,
          signature,
          batch,
        }),
      ).toBe(encodeFunctionData({ abi: subaccountRouterAbi, functionName: 'batch', args }))
    }),
    { numRuns: 100, seed: 4 },
  )
})
