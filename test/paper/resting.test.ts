/** Orders that rest: triggers, attached orders, twap, edits, cancels, and collateral changes. */
import { decodeFunctionData, parseAbi } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Any, ethMarket, startVenue, stranger, trader, usd, usdc } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
beforeEach(async () => {
  paper = await startVenue()
})
afterEach(() => paper.close())

const orders = async (): Promise<Any[]> => (await paper.get(`/orders?address=${trader.address}`)).body
const mark = async (): Promise<number> =>
  Number((await paper.get(`/markets/tickers?addresses=${ethMarket}`)).body[0].markPrice) / 1e30

/** Sends a prepared change and lets it land. */
async function land(path: string, body: Record<string, unknown>): Promise<Any> {
  const prepared = await paper.post(path, { mode: 'express', from: trader.address, ...body })
  expect(prepared.status, JSON.stringify(prepared.body)).toBe(200)
  expect((await paper.submit(prepared.body)).status).toBe(200)
  paper.clock.move(2500)
  return (await paper.status(prepared.body.requestId)).body
}

test('a limit order rests with its collateral taken, and a cancel gives it back', async () => {
  const before = await paper.balanceOf('USDC')
  const resting = await paper.trade({ orderType: 'limit', triggerPrice: usd(100) })
  expect(resting.status).toBe('created')
  const [order] = await orders()
  expect(order).toMatchObject({
    key: resting.orderKeys[0],
    orderType: 3,
    triggerPrice: (100n * 10n ** 12n).toString(),
    isFrozen: false,
    sizeDeltaUsd: usd(1000),
  })
  expect(before - (await paper.balanceOf('USDC'))).toBeGreaterThanOrEqual(200_000_000n)
  expect((await land('/orders/txns/cancel/prepare', { all: true })).status).toBe('executed')
  expect(await orders()).toEqual([])
  expect((await paper.status(resting.requestId)).body).toMatchObject({
    status: 'cancelled',
    cancellationReason: 'USER_INITIATED_CANCEL',
  })
  expect(before - (await paper.balanceOf('USDC'))).toBeLessThan(2_000_000n)
})

test('an order whose trigger is already met executes within seconds, and only once', async () => {
  const price = await mark()
  await paper.trade({ orderType: 'limit', triggerPrice: usd(price * 1.05) })
  paper.clock.move(3000)
  expect(await orders()).toEqual([])
  expect((await paper.positions())[0].sizeInUsd).toBe(usd(1000))
})

test('an edit moves the trigger of the same key, and a foreign or market order cannot be touched', async () => {
  const resting = await paper.trade({ orderType: 'limit', triggerPrice: usd(100) })
  const [key] = resting.orderKeys
  await land('/orders/txns/edit/prepare', {
    orderIds: [key],
    newTriggerPrice: usd(90),
    newAcceptablePrice: usd(91),
    newSize: usd(800),
  })
  expect((await orders())[0]).toMatchObject({
    key,
    triggerPrice: (90n * 10n ** 12n).toString(),
    acceptablePrice: (91n * 10n ** 12n).toString(),
    sizeDeltaUsd: usd(800),
  })
  for (const body of [{ orderIds: [] }, { orderIds: [key] }, { orderIds: ['0x12'], newSize: '1' }]) {
    const refused = await paper.post('/orders/txns/edit/prepare', {
      mode: 'express',
      from: trader.address,
      ...body,
    })
    expect(refused.status).toBe(400)
  }
  const foreign = await paper.post('/orders/txns/cancel/prepare', {
    mode: 'express',
    from: stranger.address,
    orderId: key,
  })
  expect([foreign.status, foreign.body.code]).toEqual([400, 'INVALID_PARAMS'])
})

test('a market order cannot be cancelled at once: the batch reverts and nothing changes', async () => {
  const slow = await startVenue({ settings: { keeperDelayMs: 600_000, keeperJitterMs: 0 } })
  const prepared = (await slow.prepare({})).body
  await slow.submit(prepared)
  slow.clock.move(1000)
  const cancel = (
    await slow.post('/orders/txns/cancel/prepare', { mode: 'express', from: trader.address, all: true })
  ).body
  await slow.submit(cancel)
  slow.clock.move(1000)
  const status = (await slow.status(cancel.requestId)).body
  expect(status).toMatchObject({ status: 'relay_reverted', error: { code: 'RequestNotYetCancellable' } })
  expect((await slow.status(prepared.requestId)).body.status).toBe('created')
  // After 300 s nobody executes it any more, and its owner may take it back.
  slow.clock.move(700_000)
  expect((await slow.status(prepared.requestId)).body.status).toBe('created')
  const late = (
    await slow.post('/orders/txns/cancel/prepare', { mode: 'express', from: trader.address, all: true })
  ).body
  await slow.submit(late)
  slow.clock.move(1000)
  expect((await slow.status(late.requestId)).body.status).toBe('executed')
  expect((await slow.status(prepared.requestId)).body.status).toBe('cancelled')
  await slow.close()
})

test('attached orders rest after the parent executed and go with the position', async () => {
  const price = await mark()
  const parent = await paper.trade({
    tpsl: [
      { type: 'take-profit', triggerPrice: usd(price * 2) },
      { type: 'stop-loss', triggerPrice: usd(price / 2) },
    ],
  })
  expect(parent.status).toBe('executed')
  expect(parent.orderKeys).toHaveLength(3)
  expect((await orders()).map((order) => order.orderType)).toEqual([5, 6])
  const rows = (await paper.get(`/positions?address=${trader.address}&includeRelatedOrders=true`)).body
  expect(rows[0].relatedOrders).toHaveLength(2)
  await paper.trade({ kind: 'decrease', size: usd(1000) })
  expect(await orders()).toEqual([])
  const { trades } = (await paper.get(`/trades?address=${trader.address}&actions=OrderCancelled`)).body
  expect(trades.map((row: Any) => row.reason)).toEqual(['AUTO_CANCEL', 'AUTO_CANCEL'])
})

test('a stop-loss that is met closes the position', async () => {
  await paper.trade({})
  const price = await mark()
  await paper.trade({
    kind: 'decrease',
    orderType: 'stop-loss',
    triggerPrice: usd(price * 1.1),
    size: usd(9999),
  })
  paper.clock.move(2000)
  expect(await paper.positions()).toEqual([])
})

test('twap parts execute at their times', async () => {
  const first = await paper.trade({ orderType: 'twap', twapConfig: { duration: 600, parts: 3 } })
  expect(first.status).toBe('executed')
  expect(await orders()).toHaveLength(2)
  paper.clock.move(301_000)
  expect(await orders()).toHaveLength(1)
  paper.clock.move(300_000)
  expect(await orders()).toEqual([])
  expect(BigInt((await paper.positions())[0].sizeInUsd)).toBe((BigInt(usd(1000)) / 3n) * 3n)
})

test('collateral can be added and taken without changing the size', async () => {
  await paper.trade({})
  const [before] = await paper.positions()
  const change = { positionKey: before.key, amount: '50000000' }
  expect((await land('/orders/txns/collateral/prepare', { operation: 'deposit', ...change })).status).toBe(
    'executed',
  )
  const [more] = await paper.positions()
  expect(BigInt(more.collateralAmount) - BigInt(before.collateralAmount)).toBeGreaterThan(49_900_000n)
  expect(more.sizeInUsd).toBe(before.sizeInUsd)
  await land('/orders/txns/collateral/prepare', {
    operation: 'withdraw',
    positionKey: before.contractKey,
    amount: '50000000',
  })
  const [less] = await paper.positions()
  expect(BigInt(more.collateralAmount) - BigInt(less.collateralAmount)).toBeGreaterThanOrEqual(50_000_000n)
  const unknown = await paper.post('/orders/txns/collateral/prepare', {
    mode: 'express',
    from: trader.address,
    operation: 'deposit',
    positionKey: '0x12',
    amount: '1',
  })
  expect(unknown.body.code).toBe('POSITION_NOT_FOUND')
})

test('a swap pays the other token less fees', async () => {
  const before = await paper.balanceOf('WETH')
  const done = await paper.trade({
    kind: 'swap',
    receiveToken: 'WETH',
    collateralToPay: { amount: '1000000000', token: 'USDC' },
  })
  expect(done.status).toBe('executed')
  const got = Number((await paper.balanceOf('WETH')) - before) / 1e18
  expect(got * (await mark())).toBeGreaterThan(985)
  expect(got * (await mark())).toBeLessThan(1015)
})

test('classic mode answers a transaction and cannot be submitted', async () => {
  const { body } = await paper.prepare({ mode: 'classic' })
  expect(body).toMatchObject({ mode: 'classic', payloadType: 'transaction' })
  const { args } = decodeFunctionData({
    abi: parseAbi(['function multicall(bytes[] data) payable returns (bytes[])']),
    data: body.payload.data,
  })
  expect(args[0].map((call) => call.slice(0, 10))).toEqual(['0x7d39aaf1', '0xe6d66ac8', '0xf59c48eb'])
  expect(body.payload.value).toBe(body.estimates.executionFeeAmount)
  const submitted = await paper.post('/orders/txns/submit', {
    mode: 'classic',
    requestId: body.requestId,
    from: trader.address,
    signature: `0x${'00'.repeat(65)}`,
    eip712Data: { batchParams: {}, relayParams: {} },
  })
  expect([submitted.status, submitted.body.code]).toEqual([400, 'INVALID_PARAMS'])
  expect((await paper.status(body.requestId)).body.status).toBe('prepared')
  expect(usdc).toMatch(/^0x/)
})
