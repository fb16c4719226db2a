/** What clients rely on from submit to execution, one test an item of the list: F to I. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Any, startVenue, stranger, trader, usd } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
beforeEach(async () => {
  paper = await startVenue()
})
afterEach(() => paper.close())

const limit = { orderType: 'limit', triggerPrice: usd(1000) }
const orders = async (): Promise<Any[]> => (await paper.get(`/orders?address=${trader.address}`)).body

async function change(step: string, fields: Record<string, unknown>) {
  return paper.post(`/orders/txns/${step}/prepare`, { mode: 'express', from: trader.address, ...fields })
}

/** Submits what was prepared and waits for the keeper. */
async function settle(prepared: Any): Promise<Any> {
  expect((await paper.submit(prepared)).status).toBe(200)
  paper.clock.move(2500)
  return (await paper.status(prepared.requestId)).body
}

test('F.1 shape comes before the record, the record before expiry, expiry before echo, echo before signature', async () => {
  const prepared = (await paper.prepare({})).body
  const good = await paper.submitBody(prepared)
  const wrongEcho = { batchParams: { createOrderParams: [] }, relayParams: good.eip712Data.relayParams }
  const tell = async (body: Any): Promise<Any> => {
    const answer = await paper.post('/orders/txns/submit', body)
    return [answer.status, answer.body.code ?? answer.body.message]
  }
  const shapeless = await paper.post('/orders/txns/submit', { requestId: 'unknown' })
  expect(shapeless.status).toBe(400)
  expect(Object.keys(shapeless.body.message)).toEqual([
    'signature',
    'from',
    'eip712Data.batchParams',
    'eip712Data.relayParams',
  ])
  const worst = { ...good, eip712Data: wrongEcho, signature: `0x${'00'.repeat(65)}` }
  expect(await tell({ ...worst, requestId: 'unknown' })).toEqual([404, 'Transaction not found'])
  expect(await tell(worst)).toEqual([400, 'INVALID_PARAMS'])
  expect(await tell({ ...worst, eip712Data: good.eip712Data })).toEqual([400, 'INVALID_SIGNATURE'])
  paper.clock.move(301_000)
  expect(await tell(worst)).toEqual([400, 'REQUEST_EXPIRED'])
})

test('F.1 a submitted request is never answered with an expiry', async () => {
  const prepared = (await paper.prepare({})).body
  const body = await paper.submitBody(prepared)
  await paper.post('/orders/txns/submit', body)
  paper.clock.move(400_000)
  const again = await paper.post('/orders/txns/submit', body)
  expect(again).toMatchObject({ status: 200, body: { requestId: prepared.requestId, status: 'executed' } })
})

test('F.2 the signer is the account, and the stored batch executes, not the echo', async () => {
  const prepared = (await paper.prepare({})).body
  const foreign = await paper.submit(prepared, stranger)
  expect(foreign).toMatchObject({ status: 400, body: { code: 'INVALID_SIGNATURE' } })
  const body = await paper.submitBody(prepared)
  const echo = structuredClone(body.eip712Data)
  echo.batchParams.createOrderParams[0].orderPayload.numbers.sizeDeltaUsd = usd(9000)
  const changed = await paper.post('/orders/txns/submit', { ...body, eip712Data: echo })
  expect(changed).toMatchObject({ status: 400, body: { code: 'INVALID_PARAMS' } })
  paper.clock.move(2500)
  expect(await paper.positions()).toEqual([])
})

test('F.3 a submit is answered relay_accepted, and again with its record without a second execution', async () => {
  const prepared = (await paper.prepare({})).body
  const first = await paper.submit(prepared)
  expect(first.body).toMatchObject({
    requestId: prepared.requestId,
    status: 'relay_accepted',
    taskId: expect.stringMatching(/^0x[0-9a-f]{64}$/),
  })
  const { requestId: _requestId, ...byIdempotency } = await paper.submitBody(prepared)
  const second = await paper.post('/orders/txns/submit', {
    ...byIdempotency,
    idempotencyKey: prepared.idempotencyKey,
  })
  expect(second.body).toMatchObject({ requestId: prepared.requestId, taskId: first.body.taskId })
  paper.clock.move(2500)
  expect((await paper.submit(prepared)).body.status).toBe('executed')
  paper.clock.move(2500)
  expect((await paper.positions())[0].sizeInUsd).toBe(usd(1000))
})

test('F.3 a requestId with the idempotencyKey of another request, or of none, is refused before and after its submit', async () => {
  const prepared = (await paper.prepare({})).body
  const other = (await paper.prepare({})).body
  const body = await paper.submitBody(prepared)
  const submitWith = (idempotencyKey: string) =>
    paper.post('/orders/txns/submit', { ...body, idempotencyKey })
  const refusal = { status: 400, body: { code: 'INVALID_PARAMS' } }
  for (const key of [other.idempotencyKey, 'made-up']) expect(await submitWith(key)).toMatchObject(refusal)
  expect((await paper.status(prepared.requestId)).body.status).toBe('prepared')
  const accepted = (await submitWith(prepared.idempotencyKey)).body
  expect(accepted.status).toBe('relay_accepted')
  expect(await submitWith(other.idempotencyKey)).toMatchObject(refusal)
  expect((await submitWith(prepared.idempotencyKey)).body.taskId).toBe(accepted.taskId)
})

test('G.1 status is asked by requestId or idempotencyKey', async () => {
  const { requestId, idempotencyKey } = (await paper.prepare({})).body
  expect((await paper.status(requestId)).body).toMatchObject({ requestId, status: 'prepared' })
  const byKey = await paper.post('/orders/txns/status', { idempotencyKey })
  expect(byKey.body.requestId).toBe(requestId)
  expect((await paper.post('/orders/txns/status', {})).status).toBe(400)
  expect(await paper.status('unknown')).toMatchObject({
    status: 404,
    body: { message: 'Transaction not found' },
  })
})

test('G.2 and G.4 the status never goes back and a market order is executed within six seconds', async () => {
  const prepared = (await paper.prepare({})).body
  await paper.submit(prepared)
  const seen: string[] = []
  let last: Any
  for (let at = 0; at < 6000; at += 100) {
    last = (await paper.status(prepared.requestId)).body
    expect(last.requestId).toBe(prepared.requestId)
    if (seen.at(-1) !== last.status) seen.push(last.status)
    paper.clock.move(100)
  }
  expect(seen).toEqual(['relay_accepted', 'relay_pending', 'relay_submitted', 'created', 'executed'])
  expect(last.createdTxnHash).toMatch(/^0x/)
  expect(last.executionTxnHash).toMatch(/^0x/)
  expect(last.orderKeys).toHaveLength(1)
  expect(new Date(last.createdAt).toISOString()).toBe(last.createdAt)
  expect(Date.parse(last.updatedAt) - Date.parse(last.createdAt)).toBeLessThan(2500)
})

test('G.3 a resting order stays created and is listed until it is triggered', async () => {
  expect((await paper.trade(limit)).status).toBe('created')
  paper.clock.move(60_000)
  const [order] = await orders()
  expect(order.orderType).toBe(3)
})

test('G.3 a twap reports its first part, the others are in the orders', async () => {
  const status = await paper.trade({ orderType: 'twap', twapConfig: { duration: 3600, parts: 3 } })
  expect(status.orderKeys).toHaveLength(3)
  expect(['created', 'executed']).toContain(status.status)
  paper.clock.move(5000)
  expect(await orders()).toHaveLength(2)
})

test('G.3 an increase with attached orders reports the parent, and they rest', async () => {
  const status = await paper.trade({ tpsl: [{ type: 'take-profit', triggerPrice: usd(9000) }] })
  expect(status.status).toBe('executed')
  expect(status.orderKeys).toHaveLength(2)
  expect((await orders()).map(({ orderType }) => orderType)).toEqual([5])
})

test('G.5 outside its acceptable price a market order is cancelled with a reason', async () => {
  const prepared = (await paper.prepare({ slippage: 0 })).body
  await paper.submit(prepared)
  // The keeper is late; by then some order of the two sides is out of its price.
  const short = (
    await paper.prepare({
      slippage: 0,
      direction: 'short',
      collateralToPay: { amount: '300000000', token: 'USDC' },
    })
  ).body
  await paper.submit(short)
  paper.clock.move(2500)
  const both = await Promise.all([prepared, short].map(({ requestId }) => paper.status(requestId)))
  const cancelled = both.map(({ body }) => body).filter(({ status }) => status === 'cancelled')
  expect(cancelled.length).toBeGreaterThan(0)
  for (const { cancellationReason } of cancelled) {
    expect(cancellationReason).toMatch(/^OrderNotFulfillableAtAcceptablePrice/)
  }
})

test('H.1 an edit shows at the same key; nothing to edit and unknown keys are refused', async () => {
  await paper.trade(limit)
  const [order] = await orders()
  const orderIds = [order.key]
  expect((await change('edit', { orderIds: [], newSize: usd(1) })).status).toBe(400)
  expect((await change('edit', { orderIds })).status).toBe(400)
  expect((await change('edit', { orderIds: [`0x${'12'.repeat(32)}`], newSize: usd(1) })).status).toBe(400)
  const foreign = await change('edit', { orderIds, newSize: usd(1), from: stranger.address })
  expect(foreign.status).toBe(400)
  const prepared = await change('edit', {
    orderIds,
    newSize: usd(700),
    newTriggerPrice: usd(1100),
    newAcceptablePrice: usd(1200),
    newAutoCancel: true,
  })
  expect(prepared.body).toMatchObject({ mode: 'express', payloadType: 'typed-data' })
  expect((await settle(prepared.body)).status).toBe('executed')
  expect((await orders())[0]).toMatchObject({
    key: order.key,
    sizeDeltaUsd: usd(700),
    triggerPrice: '1100000000000000',
    acceptablePrice: '1200000000000000',
    autoCancel: true,
  })
})

test('H.2 one, many or all orders are cancelled and their collateral comes back', async () => {
  const before = await paper.balanceOf('USDC')
  for (let i = 0; i < 4; i += 1) await paper.trade(limit)
  const keys = (await orders()).map(({ key }) => key)
  expect((await change('cancel', {})).status).toBe(400)
  expect((await change('cancel', { orderId: `0x${'12'.repeat(32)}` })).status).toBe(400)
  await settle((await change('cancel', { orderId: keys[0] })).body)
  await settle((await change('cancel', { orderIds: [keys[1]] })).body)
  expect((await orders()).map(({ key }) => key)).toEqual(keys.slice(2))
  await settle((await change('cancel', { all: true })).body)
  expect(await orders()).toEqual([])
  expect((await change('cancel', { all: true })).status).toBe(400)
  // All collateral is back; only relay fees are gone.
  expect(before - (await paper.balanceOf('USDC'))).toBeLessThan(20_000_000n)
})

test('H.3 collateral is put in and taken out by position key', async () => {
  await paper.trade({})
  const [{ key, collateralAmount }] = (await paper.positions()) as [Any]
  expect((await change('collateral', { operation: 'deposit', positionKey: 'x', amount: '1' })).status).toBe(
    400,
  )
  expect((await change('collateral', { operation: 'x', positionKey: key, amount: '0' })).status).toBe(400)
  await settle(
    (await change('collateral', { operation: 'deposit', positionKey: key, amount: '50000000' })).body,
  )
  const added = BigInt((await paper.positions())[0].collateralAmount)
  expect(added - BigInt(collateralAmount)).toBeGreaterThan(49_000_000n)
  await settle(
    (await change('collateral', { operation: 'withdraw', positionKey: key, amount: '60000000' })).body,
  )
  expect(BigInt((await paper.positions())[0].collateralAmount)).toBeLessThan(added - 59_000_000n)
})

test('I.1 keepLeverage takes collateral out pro rata, without it collateral stays, a full close pays out', async () => {
  await paper.trade({})
  const collateral = async (): Promise<bigint> => BigInt((await paper.positions())[0].collateralAmount)
  const close = { kind: 'decrease', collateralToPay: undefined }
  const whole = await collateral()
  await paper.trade({ ...close, size: usd(250) })
  const kept = await collateral()
  expect(whole - kept).toBeLessThan(whole / 20n)
  await paper.trade({ ...close, size: usd(375), keepLeverage: true })
  expect(await collateral()).toBeLessThan((kept * 6n) / 10n)
  const before = await paper.balanceOf('USDC')
  await paper.trade({ ...close, size: (await paper.positions())[0].sizeInUsd })
  expect(await paper.positions()).toEqual([])
  expect(await paper.balanceOf('USDC')).toBeGreaterThan(before)
})

test('I.2 execution and relay fees come from the wallet, not from the collateral', async () => {
  const before = await paper.balanceOf('USDC')
  await paper.trade({ direction: 'short' })
  const paid = before - (await paper.balanceOf('USDC'))
  expect(paid).toBeGreaterThan(200_000_000n)
  const [position] = await paper.positions()
  // 200 USDC less the position fee of 0.04 to 0.06 % of 1000 USD.
  expect(BigInt(position.collateralAmount)).toBeGreaterThan(199_000_000n)
})

test('I.3 an account is swept clean through the API alone', async () => {
  await paper.trade({})
  await paper.trade({ direction: 'short' })
  await paper.trade(limit)
  await settle((await change('cancel', { all: true })).body)
  for (const position of await paper.positions()) {
    await paper.trade({
      kind: 'decrease',
      collateralToPay: undefined,
      symbol: position.marketAddress,
      direction: position.isLong ? 'long' : 'short',
      size: position.sizeInUsd,
      collateralToken: position.collateralTokenAddress,
    })
  }
  expect([await paper.positions(), await orders()]).toEqual([[], []])
})
