import fc from 'fast-check'
import { decodeFunctionData, encodeFunctionData, keccak256, toFunctionSelector } from 'viem'
import { expect, test } from 'vitest'
import { relayRouterAbi, subaccountRouterAbi } from '../../src/paper/keeper/relayCall.ts'
import {
  batchSelector,
  encodeBatchCall,
  removeSubaccountSelector,
  subaccountBatchSelector,
} from '../../src/protocol/signing/relayCalldata.ts'
import type { Batch } from '../../src/protocol/signing/relayRouter.ts'
import { account, anyAddress, anyBatch, anyBytes, anyRelayParams, batch, relayParams } from './batches.ts'

const signature =
  '0x039bd55c95e6a7d570b326f59b75701456acec11fcca9987ec9dee1f3a17d2f228440cdaf72118a3b7300f1776c97502c3e2e04478bd0501d7c469cb0b2e59ab1b'

test('the published batch encodes to the published calldata', () => {
  const data = encodeBatchCall({ account, relayParams, signature, batch })
  expect((data.length - 2) / 2).toBe(2564)
  expect(keccak256(data)).toBe('0x29f20ea04e42bef0a527ebc2b212f0f634e908886c757c18dab200f13191f634')
})

test('the selectors are those of the routers’ functions', () => {
  const [batchFunction] = relayRouterAbi
  const [subaccountBatch, remove] = subaccountRouterAbi
  expect([batchFunction, subaccountBatch, remove].map((one) => toFunctionSelector(one))).toEqual([
    batchSelector,
    subaccountBatchSelector,
    removeSubaccountSelector,
  ])
  // What the owner's own wallet sends to the other subaccount router.
  expect(toFunctionSelector('function removeSubaccount(address)')).toBe('0x712182eb')
})

const enumOf = (value: bigint) => value % 256n
const withEnums = (value: Batch): Batch => ({
  ...value,
  createOrderParamsList: value.createOrderParamsList.map((order) => ({
    ...order,
    orderType: enumOf(order.orderType),
    decreasePositionSwapType: enumOf(order.decreasePositionSwapType),
  })),
})

test('any batch encodes as viem encodes it, and the venue reads back what was meant', () => {
  fc.assert(
    fc.property(
      anyBatch.map(withEnums),
      anyRelayParams,
      anyBytes,
      anyAddress,
      (value, params, bytes, owner) => {
        const data = encodeBatchCall({ account: owner, relayParams: params, signature: bytes, batch: value })
        const actions = {
          createOrderParamsList: value.createOrderParamsList.map((order) => ({
            ...order,
            orderType: Number(order.orderType),
            decreasePositionSwapType: Number(order.decreasePositionSwapType),
          })),
          updateOrderParamsList: value.updateOrderParamsList,
          cancelOrderKeys: value.cancelOrderKeys,
        }
        const args = [{ ...params, signature: bytes }, owner, actions] as const
        expect(data).toBe(encodeFunctionData({ abi: relayRouterAbi, functionName: 'batch', args }))
        const [relay, , read] = decodeFunctionData({ abi: relayRouterAbi, data }).args
        expect([relay.userNonce, relay.deadline, relay.desChainId]).toEqual([
          params.userNonce,
          params.deadline,
          params.desChainId,
        ])
        expect(read.cancelOrderKeys).toEqual(value.cancelOrderKeys)
      },
    ),
    { numRuns: 100, seed: 1 },
  )
})

test('an order type that is no uint8 is refused, not cut', () => {
  const [order] = batch.createOrderParamsList
  if (order === undefined) throw new Error('no order')
  const wrong = { ...batch, createOrderParamsList: [{ ...order, orderType: 256n }] }
  expect(() => encodeBatchCall({ account, relayParams, signature, batch: wrong })).toThrow('not a uint8: 256')
})
