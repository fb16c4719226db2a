/**
 * The product's chain reader against a real virtual machine: digests, events and calldata as a Solidity compiler and the machine
 * make them, at blocks that come, become final, and are taken back.
 */
import { encodeFunctionData, zeroAddress, zeroHash } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/base/systemClock.ts'
import { connectChain } from '../../src/chain/connectEndpoints.ts'
import type { EndpointsReader } from '../../src/chain/endpointsReader.ts'
import type { AttemptQuery } from '../../src/domain/machine/chainReader.ts'
import type { Hex } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { signDigest } from '../../src/protocol/crypto/secp256k1.ts'
import { encodeBatchCall } from '../../src/protocol/signing/relayCalldata.ts'
import {
  type Batch,
  digestOf,
  domainSeparator,
  hashRelayParams,
} from '../../src/protocol/signing/relayRouter.ts'
import { market, order, relayParams } from '../protocol/batches.ts'
import { createLocalChain, type LocalChain } from './localChain.ts'

const { gelatoRelayRouter, eventEmitter, multicall } = arbitrum.contracts
const separator = domainSeparator(arbitrum.chainId, gelatoRelayRouter)
const ownerKey: Hex = `0x${'11'.repeat(32)}`
const strangerKey: Hex = `0x${'33'.repeat(32)}`
const owner = privateKeyToAddress(ownerKey)
const now = 1_800_000_000
const params = { ...relayParams, deadline: BigInt(now + 60) }

const batch: Batch = {
  account: zeroAddress,
  createOrderParamsList: [
    { ...order, addresses: { ...order.addresses, receiver: owner, swapPath: [market] } },
  ],
  updateOrderParamsList: [],
  cancelOrderKeys: [],
  relayParams: hashRelayParams(params),
  subaccountApproval: zeroHash,
}
const digest = digestOf(separator, batch)
const signature = signDigest(ownerKey, digest)
const ours = {
  to: gelatoRelayRouter,
  data: encodeBatchCall({ account: owner, relayParams: params, signature, batch }),
}
const theirs = {
  to: gelatoRelayRouter,
  data: encodeBatchCall({
    account: privateKeyToAddress(strangerKey),
    relayParams: params,
    signature: signDigest(strangerKey, digest),
    batch,
  }),
}
const query: AttemptQuery = {
  account: owner,
  router: gelatoRelayRouter,
  digest,
  signature,
  fromBlock: 101n,
  deadlineSeconds: now + 60,
  orderKeys: [],
  transactionHashes: [],
  marketToken: market,
  indexTokenDecimals: 18,
}

let chain: LocalChain
let reader: EndpointsReader
beforeEach(async () => {
  chain = await createLocalChain(now)
  reader = connectChain({
    http: ['http://chain.test'],
    ws: [],
    chainId: arbitrum.chainId,
    eventEmitter,
    wrappedNative: arbitrum.contracts.wrappedNative,
    markets: new Map(),
    multicall,
    finality: 'safe',
    timeoutMs: 20_000,
    maxLogSpan: 1_000,
    clock: systemClock,
    emit: () => undefined,
    fetch: async (_url, { body }) => {
      const text = await chain.rpc(body)
      return { status: 200, text: async () => text }
    },
  })
}, 60_000)
afterEach(() => reader.close())

const look = async () => (await reader.poll([query]))[0]?.endpoints[0]

test('a landing is shown with the order that it created, first in the newest block and then final', async () => {
  expect(await look()).toMatchObject({ isDigestUsedAtLatest: false, isDigestUsedAtFinal: false, logs: [] })
  const [landed] = await chain.mine(now + 1, [ours])
  const fresh = await look()
  expect(fresh).toMatchObject({
    isDigestUsedAtLatest: true,
    isDigestUsedAtFinal: false,
    consumer: { transactionHash: landed?.hash, carriesOurSignature: true, block: { number: 101n } },
  })
  expect(fresh?.logs).toMatchObject([
    {
      event: 'OrderCreated',
      transactionHash: landed?.hash,
      created: {
        orderType: 2,
        marketToken: market.toLowerCase(),
        direction: 'long',
        sizeDeltaUsd: 10n ** 31n,
      },
    },
  ])
  await chain.mine(now + 2)
  await chain.mine(now + 3)
  expect(await look()).toMatchObject({ isDigestUsedAtFinal: true, final: { number: 101n } })
})

test('the end of an order is shown with the protocol’s reason, decoded from what the contract emits', async () => {
  const [landed] = await chain.mine(now + 1, [ours])
  if (landed?.ok !== true) throw new Error('it did not land')
  const key: Hex = `0x${landed.returned.slice(2 + 128, 2 + 192)}`
  const abi = chain.contracts.Venue?.abi ?? []
  // OrderNotFulfillableAtAcceptablePrice(1740, 1700)
  const reasonBytes: Hex = `0xe09ad0e9${1740n.toString(16).padStart(64, '0')}${1700n.toString(16).padStart(64, '0')}`
  const data = encodeFunctionData({ abi, functionName: 'failOrder', args: [key, false, reasonBytes] })
  await chain.mine(now + 2, [{ to: eventEmitter, data }])
  expect((await look())?.logs).toMatchObject([
    { event: 'OrderCreated', orderKey: key },
    {
      event: 'OrderCancelled',
      orderKey: key,
      reason: expect.stringContaining('OrderNotFulfillableAtAcceptablePrice'),
    },
  ])
})

test('a reverted message is unused, past its deadline too, and the block that proves it is named', async () => {
  const spoilt = { ...ours, data: ours.data.replace(signature.slice(2, 20), 'ff'.repeat(9)) as Hex }
  expect(await chain.mine(now + 1, [spoilt])).toMatchObject([{ ok: false, revert: 'InvalidRecoveredSigner' }])
  expect(await look()).toMatchObject({ isDigestUsedAtLatest: false, logs: [] })
  expect(await chain.mine(now + 61, [ours])).toMatchObject([{ ok: false, revert: 'DeadlinePassed' }])
  await chain.mine(now + 62)
  await chain.mine(now + 63)
  expect(await look()).toMatchObject({
    isDigestUsedAtFinal: false,
    final: { number: 102n, timestampSeconds: now + 61 },
    logs: [],
  })
})

test('a stranger who signs the same parameters uses the digest up, and nothing of it is ours', async () => {
  const [used] = await chain.mine(now + 1, [theirs])
  expect(used?.ok).toBe(true)
  expect(await chain.mine(now + 2, [ours])).toMatchObject([{ ok: false, revert: 'InvalidUserDigest' }])
  // No signature of ours leads to it: it is searched for when its use is final.
  await chain.mine(now + 3)
  expect(await look()).toMatchObject({
    isDigestUsedAtLatest: true,
    consumer: { transactionHash: used?.hash, carriesOurSignature: false },
    logs: [],
  })
})

test('what a reorganisation takes back is gone, and what lands again is found in its new block', async () => {
  await chain.mine(now + 1, [ours])
  const before = await look()
  await chain.takeBack(1)
  await chain.mine(now + 1)
  expect(await look()).toMatchObject({ isDigestUsedAtLatest: false, logs: [] })
  const [again] = await chain.mine(now + 2, [ours])
  const after = await look()
  expect(after?.consumer).toMatchObject({ transactionHash: again?.hash, block: { number: 102n } })
  expect(after?.logs).toHaveLength(1)
  expect(after?.consumer?.block.hash).not.toBe(before?.consumer?.block.hash)
})
