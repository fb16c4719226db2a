/**
 * Every message that the venue's routers take, against an independent implementation and the contract's own type strings,
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
  type TypedData,
  toFunctionSelector,
} from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { expect, test } from 'vitest'
import { subaccountRouterAbi } from '../../src/paper/keeper/relayCall.ts'
import { ZERO_HASH } from '../../src/protocol/address.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { recoverSigner, signDigest } from '../../src/protocol/crypto/secp256k1.ts'
import { emptySubaccountApproval, SUBACCOUNT_ORDER_ACTION } from '../../src/protocol/signing/approvalTypes.ts'
import {
  type Message,
  messageDigestOf,
  messageTypeHashes,
  minifiedDigestOf,
} from '../../src/protocol/signing/messages.ts'
import {
  fieldsOfStruct,
  type MessageField,
  type PrimaryType,
  primaryTypes,
  typesOfMessage,
} from '../../src/protocol/signing/messageTypes.ts'
import {
  encodeBatchCall,
  encodeRemovalCall,
  removeSubaccountSelector,
  subaccountBatchSelector,
} from '../../src/protocol/signing/relayCalldata.ts'
import {
  type Batch,
  digestOf,
  domainSeparator,
  hashRelayParams,
  relayRouterDomain,
  typeHashes,
} from '../../src/protocol/signing/relayRouter.ts'
import {
  approvalDigestOf,
  hashSubaccountApproval,
  type SubaccountApproval,
} from '../../src/protocol/signing/subaccountApproval.ts'
import {
  account,
  anyAddress,
  anyBatch,
  anyBytes,
  anyHash,
  anyRelayParams,
  anyUint,
  batch,
  relayParams,
  usdc,
} from './batches.ts'

const key = `0x${'11'.repeat(32)}` as const
const signerAddress = privateKeyToAddress(key)
const subaccountKey = `0x${'22'.repeat(32)}` as const
const routers = Object.values(chains).flatMap(({ chainId, contracts }) =>
  [
    contracts.gelatoRelayRouter,
    contracts.subaccountGelatoRelayRouter,
    contracts.multichainTransferRouter,
  ].map((router) => ({
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
const declared = (name: string, fields: readonly MessageField[]) =>
  `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(',')})`

/** encodeType: the type itself, then those it is made of by name. */
function encodeType(name: PrimaryType): string {
  const { [name]: own, ...others } = typesOfMessage(name)
  const rest = Object.entries(others).sort(([one], [other]) => (one < other ? -1 : 1))
  return [[name, own ?? []] as const, ...rest].map(([each, fields]) => declared(each, fields)).join('')
}

// As the contracts have them (contract `RelayUtils`).
const create =
  'CreateOrderAddresses addresses,CreateOrderNumbers numbers,uint256 orderType,uint256 decreasePositionSwapType,bool isLong,bool shouldUnwrapNativeToken,bool autoCancel,bytes32 referralCode,bytes32[] dataList'
const addresses =
  'CreateOrderAddresses(address receiver,address cancellationReceiver,address callbackContract,address uiFeeReceiver,address market,address initialCollateralToken,address[] swapPath)'
const numbers =
  'CreateOrderNumbers(uint256 sizeDeltaUsd,uint256 initialCollateralDeltaAmount,uint256 triggerPrice,uint256 acceptablePrice,uint256 executionFee,uint256 callbackGasLimit,uint256 minOutputAmount,uint256 validFromTime)'
const update =
  'UpdateOrderParams(bytes32 key,uint256 sizeDeltaUsd,uint256 acceptablePrice,uint256 triggerPrice,uint256 minOutputAmount,uint256 validFromTime,bool autoCancel,uint256 executionFeeIncrease)'
const strings: Record<PrimaryType, string> = {
  Batch: `Batch(address account,CreateOrderParams[] createOrderParamsList,UpdateOrderParams[] updateOrderParamsList,bytes32[] cancelOrderKeys,bytes32 relayParams,bytes32 subaccountApproval)${addresses}${numbers}CreateOrderParams(${create})${update}`,
  CreateOrder: `CreateOrder(address account,${create},bytes32 relayParams,bytes32 subaccountApproval)${addresses}${numbers}`,
  UpdateOrder: `UpdateOrder(address account,UpdateOrderParams params,bytes32 relayParams,bytes32 subaccountApproval)${update}`,
  CancelOrder: 'CancelOrder(address account,bytes32 key,bytes32 relayParams,bytes32 subaccountApproval)',
  SubaccountApproval:
    'SubaccountApproval(address subaccount,bool shouldAdd,uint256 expiresAt,uint256 maxAllowedCount,bytes32 actionType,uint256 nonce,uint256 desChainId,uint256 deadline,bytes32 integrationId)',
  RemoveSubaccount: 'RemoveSubaccount(address subaccount,bytes32 relayParams)',
  BridgeOut:
    'BridgeOut(address token,uint256 amount,uint256 minAmountOut,address provider,bytes data,bytes32 relayParams)',
  SetTraderReferralCode: 'SetTraderReferralCode(bytes32 referralCode,bytes32 relayParams)',
  RegisterCode: 'RegisterCode(bytes32 referralCode,bytes32 relayParams)',
  Minified: 'Minified(bytes32 digest)',
}

test('the types, and their hashes, are those of the declarations that the contracts have', () => {
  for (const name of primaryTypes) {
    expect(encodeType(name), name).toBe(strings[name])
    expect(messageTypeHashes[name], name).toBe(keccak256(stringToBytes(strings[name])))
  }
  const inner = {
    Domain: 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
    CreateOrderParams: `CreateOrderParams(${create})${addresses}${numbers}`,
    CreateOrderAddresses: addresses,
    CreateOrderNumbers: numbers,
    UpdateOrderParams: update,
  }
  for (const [name, text] of Object.entries(inner))
    expect(keccak256(stringToBytes(text)), name).toBe(typeHashes[name as keyof typeof inner])
  expect(Object.keys(messageTypeHashes).sort()).toEqual([...primaryTypes, ...Object.keys(inner)].sort())
})

/** Any value of a type of the table; `most` items in a list. */
function anyOf(type: string, most: number): fc.Arbitrary<unknown> {
  if (type.endsWith('[]')) return fc.array(anyOf(type.slice(0, -2), most), { maxLength: most })
  switch (type) {
    case 'address':
      return anyAddress
    case 'bytes32':
      return anyHash
    case 'bytes':
      return anyBytes
    case 'bool':
      return fc.boolean()
    case 'uint256':
      return anyUint
    default:
      return fc.record(
        Object.fromEntries(
          (fieldsOfStruct(type) ?? []).map((field) => [field.name, anyOf(field.type, most)]),
        ),
      )
  }
}

/** Holds our digest of a message at one of the routers against viem's, and its signature against the key. */
function holds(primaryType: PrimaryType, message: Message, at: number): Hex {
  const { domain, separator } = routers[at % routers.length] ?? { domain: {}, separator: '0x' as const }
  const types = typesOfMessage(primaryType) as TypedData
  const digest = messageDigestOf(separator, primaryType, message)
  expect(digest).toBe(hashTypedData({ domain, types, primaryType, message }))
  expect(recoverSigner(digest, signDigest(key, digest))).toBe(signerAddress)
  return digest
}

const counts: Record<PrimaryType, number> = {
  Batch: 2_500,
  SubaccountApproval: 1_500,
  CreateOrder: 1_000,
  UpdateOrder: 750,
  CancelOrder: 750,
  RemoveSubaccount: 1_000,
  BridgeOut: 1_000,
  SetTraderReferralCode: 500,
  RegisterCode: 500,
  Minified: 500,
}

test('10,000 messages of every type at the routers of every chain hash as viem hashes them, and their signatures recover', () => {
  let count = 0
  for (const [seed, primaryType] of primaryTypes.entries()) {
    const any = primaryType === 'Batch' ? anyBatch : (anyOf(primaryType, 3) as fc.Arbitrary<Message>)
    fc.assert(
      fc.property(any, fc.nat(routers.length - 1), (given, at) => {
        const message: Message = { ...given }
        const digest = holds(primaryType, message, at)
        const separator = routers[at]?.separator ?? '0x'
        // The roads that are signed on day by day.
        if (primaryType === 'Batch') expect(digestOf(separator, given as Batch)).toBe(digest)
        if (primaryType === 'SubaccountApproval')
          expect(approvalDigestOf(separator, given as unknown as SubaccountApproval)).toBe(digest)
        if (primaryType === 'Minified')
          expect(minifiedDigestOf(separator, message.digest as Hex)).toBe(digest)
        count += 1
      }),
      { numRuns: counts[primaryType], seed },
    )
  }
  expect(count).toBe(10_000)
}, 60_000)

/** A message of a type with one value everywhere. */
function filled(type: string, of: { readonly bits: '00' | 'ff'; readonly items: number }): unknown {
  const { bits, items } = of
  if (type.endsWith('[]')) return Array.from({ length: items }, () => filled(type.slice(0, -2), of))
  switch (type) {
    case 'address':
      return `0x${bits.repeat(20)}`
    case 'bytes32':
      return `0x${bits.repeat(32)}`
    case 'bytes':
      return `0x${bits.repeat(items * 33)}`
    case 'bool':
      return bits === 'ff'
    case 'uint256':
      return bits === 'ff' ? 2n ** 256n - 1n : 0n
    default:
      return Object.fromEntries(
        (fieldsOfStruct(type) ?? []).map((field) => [field.name, filled(field.type, of)]),
      )
  }
}

test.each(primaryTypes)(
  '%s of nothing, of all ones, and with lists of 200 hashes as viem hashes it',
  (name) => {
    for (const bits of ['00', 'ff'] as const)
      for (const items of [0, 1, name === 'Batch' ? 20 : 200])
        holds(name, filled(name, { bits, items }) as Message, items)
  },
)

test('the published digests of a batch and of a bridge out are found by the table too', () => {
  const { contracts } = chains.arbitrum
  const own = domainSeparator(42_161, contracts.gelatoRelayRouter)
  expect(messageDigestOf(own, 'Batch', { ...batch })).toBe(
    '0x0b3e949ed2b86ef6c9e650faa8d536d7853caf9aea0a5dcc83355cc990afca8d',
  )
  const bridge = {
    token: usdc,
    amount: '500000',
    minAmountOut: '500000',
    provider: '0xe8CDF27AcD73a434D661C84887215F7598e7d0d3',
    data: encodeAbiParameters([{ type: 'uint32' }], [30_184]),
    relayParams: hashRelayParams(relayParams),
  }
  expect(
    messageDigestOf(domainSeparator(8_453, contracts.multichainTransferRouter), 'BridgeOut', bridge),
  ).toBe('0x38ec4bac359ce4d1c5cb0cc2cc17f89c39bcf8a639bc948f914ad02bcd655ba2')
})

test('a message that is none of its type has no digest, and the field is named', () => {
  const separator = domainSeparator(42_161, subaccountRouter)
  const good = { subaccount: account, relayParams: ZERO_HASH }
  const bad: readonly (readonly [Message, string])[] = [
    [{ ...good, more: 1 }, 'message.more: RemoveSubaccount has no such field'],
    [JSON.parse(`{"__proto__":{},"subaccount":"${account}","relayParams":"${ZERO_HASH}"}`), '__proto__'],
    [{ subaccount: account }, 'message.relayParams is no bytes32'],
    [{ ...good, subaccount: account.slice(0, -1) }, 'message.subaccount is no address'],
    [{ ...good, subaccount: `0x${'zz'.repeat(20)}` }, 'message.subaccount is no address'],
    [{ ...good, relayParams: '0x' }, 'message.relayParams is no bytes32'],
  ]
  for (const [message, says] of bad)
    expect(() => messageDigestOf(separator, 'RemoveSubaccount', message)).toThrow(says)
  const approval = filled('SubaccountApproval', { bits: '00', items: 0 }) as Message
  for (const odd of [-1n, 2n ** 256n, 1.5, 2 ** 60, '01', '1e3', '', ' 1', null, undefined, true, [1]])
    expect(() => messageDigestOf(separator, 'SubaccountApproval', { ...approval, nonce: odd })).toThrow(
      'message.nonce is no uint256',
    )
  for (const odd of [0, 'true', null])
    expect(() => messageDigestOf(separator, 'SubaccountApproval', { ...approval, shouldAdd: odd })).toThrow(
      'message.shouldAdd is no bool',
    )
  const list = (createOrderParamsList: unknown) =>
    messageDigestOf(separator, 'Batch', { ...batch, createOrderParamsList })
  expect(() => list({})).toThrow('message.createOrderParamsList is no list')
  expect(() => list([{}])).toThrow('message.createOrderParamsList[0].addresses is no CreateOrderAddresses')
})

const approvalAbi = parseAbiParameters([
  'Approval approval',
  'struct Approval { address subaccount; bool shouldAdd; uint256 expiresAt; uint256 maxAllowedCount; bytes32 actionType; uint256 nonce; uint256 desChainId; uint256 deadline; bytes32 integrationId; bytes signature; }',
])

test('500 approvals hash in a batch as viem hashes them', () => {
  fc.assert(
    fc.property(anyApproval, (approval) => {
      expect(hashSubaccountApproval(approval)).toBe(keccak256(encodeAbiParameters(approvalAbi, [approval])))
    }),
    { numRuns: 500, seed: 3 },
  )
})

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
  expect(toFunctionSelector(subaccountRouterAbi[1])).toBe(removeSubaccountSelector)
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
      const { subaccount } = approval
      expect(encodeRemovalCall({ account: owner, subaccount, relayParams: params, signature })).toBe(
        encodeFunctionData({
          abi: subaccountRouterAbi,
          functionName: 'removeSubaccount',
          args: [{ ...params, signature }, owner, subaccount],
        }),
      )
    }),
    { numRuns: 100, seed: 4 },
  )
})
