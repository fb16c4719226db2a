/** Our hashes, signatures and calldata against what a Solidity compiler makes of the documented structs, in a real virtual machine. */
import fc from 'fast-check'
import { encodeFunctionData, toEventSelector, toFunctionSelector } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { beforeAll, expect, test } from 'vitest'
import type { Address, Hex } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { signDigest } from '../../src/protocol/crypto/secp256k1.ts'
import { messageDigestOf, minifiedDigestOf } from '../../src/protocol/signing/messages.ts'
import {
  batchSelector,
  encodeBatchCall,
  subaccountBatchSelector,
} from '../../src/protocol/signing/relayCalldata.ts'
import {
  type Batch,
  digestOf,
  domainSeparator,
  hashRelayParams,
} from '../../src/protocol/signing/relayRouter.ts'
import {
  approvalDigestOf,
  hashSubaccountApproval,
  type SubaccountApproval,
} from '../../src/protocol/signing/subaccountApproval.ts'
import { anyAddress, anyBatch, anyHash, anyRelayParams, anyUint } from '../protocol/batches.ts'
import { createLocalChain, type LocalChain } from './localChain.ts'

const { gelatoRelayRouter, subaccountGelatoRelayRouter } = arbitrum.contracts
const ownSeparator = domainSeparator(arbitrum.chainId, gelatoRelayRouter)
const subaccountSeparator = domainSeparator(arbitrum.chainId, subaccountGelatoRelayRouter)
const zeroAddress: Address = `0x${'00'.repeat(20)}`
const zeroHash: Hex = `0x${'00'.repeat(32)}`
const ownerKey: Hex = `0x${'11'.repeat(32)}`
const sessionKey: Hex = `0x${'22'.repeat(32)}`
const owner = privateKeyToAddress(ownerKey)
const session = privateKeyToAddress(sessionKey)
const now = 1_800_000_000

let chain: LocalChain
beforeAll(async () => {
  chain = await createLocalChain(now)
}, 60_000)

/** Enums are one byte in calldata, and an order's receiver may not be nobody. */
const executable = (value: Batch): Batch => ({
  ...value,
  createOrderParamsList: value.createOrderParamsList.map((order) => ({
    ...order,
    orderType: order.orderType % 256n,
    decreasePositionSwapType: order.decreasePositionSwapType % 256n,
  })),
})

const anyLivingParams = anyRelayParams.map((params) => ({
  ...params,
  deadline: BigInt(now) + (params.deadline % 100_000n) + 50_000n,
  desChainId: BigInt(arbitrum.chainId),
}))

const anyApproval: fc.Arbitrary<Omit<SubaccountApproval, 'signature'>> = fc.record({
  subaccount: fc.constant(session as Address),
  shouldAdd: fc.constant(true),
  expiresAt: anyUint,
  maxAllowedCount: anyUint,
  actionType: anyHash,
  nonce: fc.constant(0n),
  desChainId: anyUint,
  deadline: anyUint,
  integrationId: anyHash,
})

/** After the signature was accepted, a random message may still name orders that are not there. */
const passing = new Set(['EmptyOrder', 'RelayEmptyBatch', 'EmptyReceiver'])

async function isUsed(router: Address, digest: Hex): Promise<boolean> {
  return BigInt(await chain.read({ to: router, data: `0x01ac4293${digest.slice(2)}` })) === 1n
}

test('the compiled functions have the selectors that we pin, and the event its topic', () => {
  const items = (contract: string) => chain.contracts[contract]?.abi ?? []
  const selectors = ['OwnRouter', 'SubaccountRouter'].flatMap((contract) =>
    items(contract).flatMap((item) =>
      item.type === 'function' && item.name === 'batch' ? [toFunctionSelector(item)] : [],
    ),
  )
  const topics = items('Venue').flatMap((item) => (item.type === 'event' ? [toEventSelector(item)] : []))
  expect(selectors).toEqual([batchSelector, subaccountBatchSelector])
  expect(topics).toEqual(['0x468a25a7ba624ceea6e540ad6f49171b52495b648417ae91bca21676d8a24dc5'])
})

test('a router takes any batch that we encode and sign, and marks the digest that we computed', async () => {
  let landed = 0
  await fc.assert(
    fc.asyncProperty(
      anyBatch.map(executable),
      anyLivingParams,
      fc.boolean(),
      async (value, params, isMinified) => {
        const relayParams = hashRelayParams(params)
        const batch: Batch = { ...value, account: zeroAddress, relayParams, subaccountApproval: zeroHash }
        const digest = digestOf(ownSeparator, batch)
        const signed = isMinified ? minifiedDigestOf(ownSeparator, digest) : digest
        const signature = signDigest(ownerKey, signed)
        const data = encodeBatchCall({ account: owner, relayParams: params, signature, batch })
        const [result] = await chain.mine(now, [{ to: gelatoRelayRouter, data }])
        if (result?.ok === false) expect(passing).toContain(result.revert)
        else landed += 1
        expect(await isUsed(gelatoRelayRouter, digest)).toBe(result?.ok)
      },
    ),
    { numRuns: 120, seed: 5 },
  )
  expect(landed).toBeGreaterThan(5)
}, 60_000)

test('any other signature over the same calldata is refused, and uses nothing up', async () => {
  await fc.assert(
    fc.asyncProperty(anyBatch.map(executable), anyLivingParams, anyHash, async (value, params, other) => {
      const relayParams = hashRelayParams(params)
      const batch: Batch = { ...value, account: zeroAddress, relayParams, subaccountApproval: zeroHash }
      const signature = signDigest(ownerKey, other)
      const data = encodeBatchCall({ account: owner, relayParams: params, signature, batch })
      const results = await chain.mine(now, [{ to: gelatoRelayRouter, data }])
      expect(results).toMatchObject([{ ok: false, revert: 'InvalidRecoveredSigner' }])
    }),
    { numRuns: 50, seed: 6 },
  )
}, 60_000)

test('the subaccount router takes any approval and batch that we hash: the owner’s signature, then the session key’s', async () => {
  let landed = 0
  await fc.assert(
    fc.asyncProperty(
      anyBatch.map(executable),
      anyLivingParams,
      anyApproval,
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      async (value, params, message, keyBytes) => {
        // An owner of its own: each owner's first approval has nonce 0.
        const key: Hex = `0x01${Buffer.from(keyBytes).toString('hex').slice(2)}`
        const account = privateKeyToAddress(key)
        const signature = signDigest(key, approvalDigestOf(subaccountSeparator, message))
        const approval: SubaccountApproval = { ...message, signature }
        const batch: Batch = {
          ...value,
          account,
          createOrderParamsList: value.createOrderParamsList.map((order) => ({
            ...order,
            addresses: { ...order.addresses, receiver: account },
          })),
          relayParams: hashRelayParams(params),
          subaccountApproval: hashSubaccountApproval(approval),
        }
        const digest = digestOf(subaccountSeparator, batch)
        const data = encodeBatchCall({
          account,
          subaccountApproval: approval,
          relayParams: params,
          signature: signDigest(sessionKey, digest),
          batch,
        })
        const [result] = await chain.mine(now, [{ to: subaccountGelatoRelayRouter, data }])
        if (result?.ok === false) expect(passing).toContain(result.revert)
        else landed += 1
        expect(await isUsed(subaccountGelatoRelayRouter, digest)).toBe(result?.ok)
      },
    ),
    { numRuns: 80, seed: 7 },
  )
  expect(landed).toBeGreaterThan(5)
}, 60_000)

test('the owner’s word against a session key hashes as the router hashes it, and ends what it may do', async () => {
  await fc.assert(
    fc.asyncProperty(anyLivingParams, anyAddress, async (params, subaccount) => {
      const relayParams = hashRelayParams(params)
      const digest = messageDigestOf(subaccountSeparator, 'RemoveSubaccount', { subaccount, relayParams })
      const data = encodeFunctionData({
        abi: chain.contracts.SubaccountRouter?.abi ?? [],
        functionName: 'removeSubaccount',
        args: [{ ...params, signature: signDigest(ownerKey, digest) }, owner, subaccount],
      })
      expect(await chain.mine(now, [{ to: subaccountGelatoRelayRouter, data }])).toMatchObject([{ ok: true }])
      expect(await isUsed(subaccountGelatoRelayRouter, digest)).toBe(true)
    }),
    { numRuns: 50, seed: 8 },
  )
}, 60_000)
