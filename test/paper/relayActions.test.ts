/**
 * The generic relay: updates and cancels, every status, errors in their real encoding (docs/reference/api-coverage.md POST
 * /relay/submit).
 */
import { decodeErrorResult, encodeFunctionData } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { customErrors } from '../../src/paper/blocks/customErrors.ts'
import { minifiedDigest } from '../../src/paper/blocks/signature.ts'
import { relayRouterAbi } from '../../src/paper/keeper/relayCall.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { digestOf, domainSeparator } from '../../src/protocol/signing/relayRouter.ts'
import { type Any, startVenue, stranger, trader, usd } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
beforeEach(async () => {
  paper = await startVenue()
})
afterEach(() => paper.close())

const router = chains.arbitrum.contracts.gelatoRelayRouter
const limit = { orderType: 'limit', triggerPrice: usd(1000) }

/** Decimal texts of the wire as bigints. */
function big(value: Any): Any {
  if (typeof value === 'string' && /^\d+$/.test(value)) return BigInt(value)
  if (Array.isArray(value)) return value.map(big)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, big(inner)]))
}

/** Signs what was prepared and sends it as calldata; the last status after it was mined. */
async function relay(prepared: Any, options: { account?: Any; waitMs?: number } = {}): Promise<Any> {
  const { typedData, relayParams } = prepared.payload
  const { createOrderParamsList, updateOrderParamsList, cancelOrderKeys } = big(typedData.message)
  const signer = options.account ?? trader
  const data = encodeFunctionData({
    abi: relayRouterAbi,
    functionName: 'batch',
    args: [
      { ...big(relayParams), signature: await signer.signTypedData(typedData) },
      signer.address,
      { createOrderParamsList, updateOrderParamsList, cancelOrderKeys },
    ],
  })
  const { body } = await paper.post('/relay/submit', { to: router, data })
  paper.clock.move(options.waitMs ?? 2500)
  return (await paper.post('/relay/status', { taskId: body.taskId })).body
}

const orders = async (): Promise<Any[]> => (await paper.get(`/orders?address=${trader.address}`)).body

async function change(step: string, fields: Record<string, unknown>): Promise<Any> {
  const { body } = await paper.post(`/orders/txns/${step}/prepare`, {
    mode: 'express',
    from: trader.address,
    ...fields,
  })
  return body
}

test('updates and cancels land through the relay', async () => {
  await paper.trade(limit)
  const [order] = await orders()
  const edited = await change('edit', { orderIds: [order.key], newSize: usd(640) })
  expect(await relay(edited)).toMatchObject({ status: 'executed', txHash: expect.stringMatching(/^0x/) })
  expect((await orders())[0].sizeDeltaUsd).toBe(usd(640))
  expect(await relay(await change('cancel', { all: true }))).toMatchObject({ status: 'executed' })
  expect(await orders()).toEqual([])
})

test("a batch of somebody else cannot touch an order, and says so in the protocol's encoding", async () => {
  await paper.trade(limit)
  const cancel = await change('cancel', { all: true })
  const status = await relay(cancel, { account: stranger })
  expect(status).toMatchObject({ status: 'reverted', reason: expect.stringContaining('Unauthorized') })
  expect(decodeErrorResult({ abi: customErrors, data: status.revertData })).toMatchObject({
    errorName: 'Unauthorized',
    args: [stranger.address, 'account'],
  })
  expect(await orders()).toHaveLength(1)
})

test('a batch that fails in one action changes nothing at all', async () => {
  await paper.trade(limit)
  const cancel = await change('cancel', { all: true })
  // The order is gone by the time the second cancel of it lands.
  const again = await change('cancel', { all: true })
  expect(await relay(cancel)).toMatchObject({ status: 'executed' })
  const before = await paper.balanceOf('USDC')
  const status = await relay(again)
  expect(status.revertData).toMatch(/^0x59485ed9/)
  expect(await paper.balanceOf('USDC')).toBe(before)
})

test('pending, executed, reverted, failed and unknown are told apart', async () => {
  const fault = (relay: string) => paper.call('POST', `${paper.control}/faults`, { relay })
  const fresh = async (): Promise<Any> => (await paper.prepare({})).body
  expect((await relay(await fresh(), { waitMs: 0 })).status).toBe('pending')
  paper.clock.move(5000)
  expect((await relay(await fresh())).status).toBe('executed')
  await fault('unknown')
  const unknown = await relay(await fresh())
  expect(unknown.status).toBe('unknown')
  await fault('none')
  expect((await paper.post('/relay/status', { taskId: unknown.taskId })).body.status).toBe('executed')
  await fault('fails')
  const failed = await relay(await fresh())
  expect(failed).toMatchObject({ status: 'failed', reason: 'The relay gave up; nothing was sent' })
  expect(failed.txHash).toBeUndefined()
  expect((await paper.trade({})).status).toBe('relay_failed')
})

test('a minified signature counts, and the stored digest stays the original one', async () => {
  const prepared = (await paper.prepare({})).body
  const { batchParams, relayParams, typedData } = prepared.payload
  const separator = domainSeparator(42161, router)
  const message = big(typedData.message)
  const digest = digestOf(separator, {
    ...message,
    createOrderParamsList: message.createOrderParamsList.map((order: Any) => ({
      ...order,
      orderType: BigInt(order.orderType),
      decreasePositionSwapType: BigInt(order.decreasePositionSwapType),
    })),
  })
  const submitted = await paper.post('/orders/txns/submit', {
    mode: 'express',
    requestId: prepared.requestId,
    from: trader.address,
    signature: await trader.sign({ hash: minifiedDigest(separator, digest) }),
    eip712Data: { batchParams, relayParams },
  })
  expect(submitted.body.status).toBe('relay_accepted')
  paper.clock.move(2500)
  expect((await paper.status(prepared.requestId)).body.status).toBe('executed')
  expect(paper.venue.venueState.usedDigests.has(digest)).toBe(true)
})
