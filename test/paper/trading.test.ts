/** A life of a position through the wire: prepare, sign, submit, status, positions, trades, close. */
import { hashTypedData } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Any, ethMarket, startVenue, stranger, trader, usd, usdc, weth } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
beforeEach(async () => {
  paper = await startVenue()
})
afterEach(() => paper.close())

test('an increase goes from prepared to executed and shows as a position', async () => {
  const prepared = await paper.prepare({})
  expect(prepared.status).toBe(200)
  expect(prepared.body).toMatchObject({
    mode: 'express',
    payloadType: 'typed-data',
    expiresAt: Math.floor(paper.clock.now() / 1000) + 300,
    validationWarnings: [],
    estimates: { sizeDeltaUsd: usd(1000) },
  })
  const { requestId } = prepared.body
  expect((await paper.status(requestId)).body.status).toBe('prepared')
  const submitted = await paper.submit(prepared.body)
  expect(submitted.body).toMatchObject({ requestId, status: 'relay_accepted' })
  paper.clock.move(300)
  expect((await paper.status(requestId)).body.status).toBe('relay_submitted')
  paper.clock.move(300)
  const created = (await paper.status(requestId)).body
  expect(created.status).toBe('created')
  const orders = (await paper.get(`/orders?address=${trader.address.toLowerCase()}`)).body
  expect(orders.map((order: Any) => order.key)).toEqual(created.orderKeys)
  paper.clock.move(1500)
  const executed = (await paper.status(requestId)).body
  expect(executed).toMatchObject({ status: 'executed', orderKeys: created.orderKeys })
  expect(executed.executionTxnHash).toMatch(/^0x[0-9a-f]{64}$/)
  expect(new Date(executed.createdAt).toISOString()).toBe(executed.createdAt)
  const [position, ...rest] = await paper.positions()
  expect(rest).toEqual([])
  expect(position).toMatchObject({
    account: trader.address,
    marketAddress: ethMarket,
    collateralTokenAddress: usdc,
    isLong: true,
    sizeInUsd: usd(1000),
    indexName: 'ETH/USD',
    poolName: 'WETH-USDC',
    key: `${trader.address}:${ethMarket}:${usdc}:true`,
  })
  expect(position.positionValueInUsd).toMatch(/^-?\d+$/)
  const byKey = await paper.get(`/positions/${encodeURIComponent(position.key)}`)
  expect(byKey.body.contractKey).toBe(position.contractKey)
})

test('the typed data hashes to the digest that the venue recovers the signer from', async () => {
  const prepared = (await paper.prepare({})).body
  const { domain, types, primaryType, message } = prepared.payload.typedData
  const digest = hashTypedData({ domain, types, primaryType, message })
  const signature = await trader.sign({ hash: digest })
  expect(signature).toBe(await paper.sign(prepared))
  expect(Object.keys(types)[0]).toBe('Batch')
})

test('a close pays collateral and profit out and leaves a trade row', async () => {
  const before = await paper.balanceOf('USDC')
  await paper.trade({})
  paper.clock.move(60_000)
  const closed = await paper.trade({ kind: 'decrease', collateralToPay: undefined, size: usd(1000) })
  expect(closed.status).toBe('executed')
  expect(await paper.positions()).toEqual([])
  const after = await paper.balanceOf('USDC')
  const lost = Number(before - after) / 1e6
  expect(lost).toBeGreaterThan(-50)
  expect(lost).toBeLessThan(50)
  const { trades, hasMore } = (await paper.get(`/trades?address=${trader.address}`)).body
  expect(hasMore).toBe(false)
  expect(trades.map((row: Any) => [row.eventName, row.orderType])).toEqual([
    ['OrderExecuted', 4],
    ['OrderExecuted', 2],
  ])
  expect(trades[0]).toMatchObject({ sizeDeltaUsd: usd(1000), isLong: true })
  expect(trades[0].pnlUsd).toMatch(/^-?\d+$/)
})

test('the keeper executes after its delay at the oracle price of that second, not of the submit', async () => {
  for (const keeperDelayMs of [2000, 9000]) {
    const own = await startVenue({ settings: { keeperDelayMs, keeperJitterMs: 0 } })
    const priceNow = async (): Promise<bigint> => {
      const rows = (await own.call('GET', `${own.oracle}/prices/tickers`)).body
      return BigInt(rows.find((row: Any) => row.tokenAddress === weth).maxPrice)
    }
    const atSubmit = await priceNow()
    const prepared = (await own.prepare({ slippage: 500 })).body
    await own.submit(prepared)
    own.clock.move(keeperDelayMs - 1)
    expect((await own.status(prepared.requestId)).body.status).toBe('created')
    own.clock.move(1)
    expect((await own.status(prepared.requestId)).body.status).toBe('executed')
    const atExecution = await priceNow()
    expect(atExecution).not.toBe(atSubmit)
    const { trades } = (await own.get(`/trades?address=${trader.address}`)).body
    const executed = trades.find((row: Any) => row.eventName === 'OrderExecuted')
    expect(BigInt(executed.indexTokenPriceMax)).toBe(atExecution)
    await own.close()
  }
})

test('an order outside its acceptable price is cancelled with a reason and the collateral comes back', async () => {
  const before = await paper.balanceOf('USDC')
  const [long, short] = [
    (await paper.prepare({ slippage: 0 })).body,
    (await paper.prepare({ slippage: 0, direction: 'short' })).body,
  ]
  await paper.submit(long)
  await paper.submit(short)
  paper.clock.move(2500)
  const statuses = [(await paper.status(long.requestId)).body, (await paper.status(short.requestId)).body]
  // The price moved one way, so one of the two got a worse price than it accepts.
  expect(statuses.map(({ status }) => status).sort()).toEqual(['cancelled', 'executed'])
  const cancelled = statuses.find(({ status }) => status === 'cancelled')
  expect(cancelled.cancellationReason).toMatch(/^OrderNotFulfillableAtAcceptablePrice\(\d+, \d+\)$/)
  expect(await paper.positions()).toHaveLength(1)
  const fees = [long, short].reduce((sum, { payload }) => sum + BigInt(payload.relayParams.fee.feeAmount), 0n)
  expect(before - (await paper.balanceOf('USDC'))).toBe(fees + 200_000_000n)
  const { trades } = (await paper.get(`/trades?address=${trader.address}&actions=OrderCancelled`)).body
  expect(trades).toMatchObject([{ reason: '' }])
  expect(trades[0].reasonBytes.slice(0, 10)).toBe('0xe09ad0e9')
})

test('a repeated submit answers the same record and never executes twice', async () => {
  const prepared = (await paper.prepare({})).body
  const body = await paper.submitBody(prepared)
  const [first, second] = await Promise.all([
    paper.post('/orders/txns/submit', body),
    paper.post('/orders/txns/submit', body),
  ])
  expect(second.body.taskId).toBe(first.body.taskId)
  paper.clock.move(600_000)
  const again = await paper.post('/orders/txns/submit', body)
  expect(again.body).toMatchObject({ taskId: first.body.taskId, status: 'executed' })
  expect((await paper.positions())[0].sizeInUsd).toBe(usd(1000))
  const record = (await paper.call('GET', `${paper.control}/record`)).body
  expect(record.map((entry: Any) => entry.result)).toEqual(['accepted', 'repeated', 'repeated'])
})

test('a submit is refused for a wrong signer, a changed echo, an unknown request, and after expiry', async () => {
  const prepared = (await paper.prepare({})).body
  expect((await paper.submit(prepared, stranger)).body).toEqual({
    code: 'INVALID_SIGNATURE',
    message: 'The prepared message is not signed by the account',
  })
  const body = await paper.submitBody(prepared)
  const changed = structuredClone(body)
  changed.eip712Data.relayParams.userNonce = '1'
  expect((await paper.post('/orders/txns/submit', changed)).body).toEqual({
    code: 'INVALID_PARAMS',
    message: 'eip712Data.relayParams differs from what was prepared',
  })
  const unknown = await paper.post('/orders/txns/submit', { ...body, requestId: 'ab' })
  expect([unknown.status, unknown.body]).toEqual([404, { message: 'Transaction not found' }])
  expect(unknown.headers.get('x-trace-id')).toMatch(/^paper-/)
  const bare = await paper.post('/orders/txns/submit', { requestId: prepared.requestId })
  expect(bare.status).toBe(400)
  expect(Object.keys(bare.body.message)).toEqual([
    'signature',
    'from',
    'eip712Data.batchParams',
    'eip712Data.relayParams',
  ])
  paper.clock.move(301_000)
  expect((await paper.post('/orders/txns/submit', body)).body.code).toBe('REQUEST_EXPIRED')
  expect((await paper.status(prepared.requestId)).body.status).toBe('prepared')
})

test('the other peer does not know the request but shows the same world', async () => {
  const prepared = (await paper.prepare({})).body
  const elsewhere = await paper.call('POST', `${paper.peer}/orders/txns/status`, {
    requestId: prepared.requestId,
  })
  expect([elsewhere.status, elsewhere.body]).toEqual([404, { message: 'Transaction not found' }])
  await paper.submit(prepared)
  paper.clock.move(2500)
  const there = await paper.call('GET', `${paper.peer}/positions?address=${trader.address}`)
  expect(there.body).toHaveLength(1)
})
