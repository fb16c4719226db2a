/**
 * The events of order executions, decoded by viem: swaps, freezing, cuts, cancellations with the position, liquidations and
 * deleveraging (contract `EventEmitter`, `EventLogData`; contract `PositionUtils`, `isPositionLiquidatable`).
 */
import { decodeErrorResult, type Hex, type TransactionReceipt } from 'viem'
import { afterEach, expect, test } from 'vitest'
import { customErrors } from '../../src/paper/blocks/customErrors.ts'
import type { PriceReplay } from '../../src/paper/catalog/replayFile.ts'
import { clientsOf, encodedAgain, eventOf, isMarketEvent, topicOf } from './chainSupport.ts'
import { type Any, ethMarket, ethSymbol, startVenue, trader, usd, usdc, weth } from './support.ts'

type Paper = Awaited<ReturnType<typeof startVenue>>
let paper: Paper
afterEach(() => paper.close())

const lowerTopic = (address: string): Hex => topicOf(address as Hex)

async function receiptOf(hash: Hex): Promise<TransactionReceipt> {
  const { client } = clientsOf(paper)
  paper.clock.move(1000)
  return client.getTransactionReceipt({ hash })
}

/** Events of a transaction, each held against viem's own encoder: prices first, which come before all else. */
async function allEventsOf(hash: Hex): Promise<{ readonly prices: Any[]; readonly events: Any[] }> {
  const { logs } = await receiptOf(hash)
  for (const log of logs) expect(encodedAgain(log)).toBe(log.data)
  const all = logs.map(eventOf)
  const isPrice = ({ name }: Any) => name === 'OraclePriceUpdate'
  const isOfOrders = (event: Any): boolean => !isPrice(event) && !isMarketEvent(event as { name: string })
  return { prices: all.filter(isPrice), events: all.filter(isOfOrders) }
}

/** The same without prices and without what moved in the markets. */
const eventsOf = async (hash: Hex): Promise<Any[]> => (await allEventsOf(hash)).events

const namesOf = (events: readonly Any[]): string[] => events.map(({ name }) => name)

/** The ETH market's account trades, newest first. */
const trades = async (query = ''): Promise<Any[]> =>
  (await paper.get(`/trades?address=${trader.address}${query}`)).body.trades

/** ETH stands at 2000 for two minutes and then at another price. */
function ethGoesTo(price: bigint): PriceReplay {
  const candle = (startSeconds: number, value: bigint) => {
    const at = value * 10n ** 30n
    return { startSeconds, open: at, high: at, low: at, close: at }
  }
  return {
    series: new Map([
      ['ETH', [candle(1_700_000_000, 2000n), candle(1_700_000_060, 2000n), candle(1_700_000_120, price)]],
    ]),
    speed: 1,
  }
}

/** What ends a keeper's transaction that has done an order. */
const feeEvents = ['KeeperExecutionFee', 'ExecutionFeeRefund']

test('a swap says what each pool did, and the receiver gets what the last one gave', async () => {
  paper = await startVenue()
  const prepared = await paper.prepare({
    kind: 'swap',
    direction: undefined,
    collateralToPay: { amount: '5000000000', token: 'USDC' },
    receiveToken: 'WETH',
  })
  await paper.submit(prepared.body)
  // What the relay's fee did not need is back by the time the order is there.
  paper.clock.move(600)
  const before = await paper.balanceOf('WETH')
  paper.clock.move(2000)
  const done = (await paper.status(prepared.body.requestId)).body
  const events = await eventsOf(done.executionTxnHash)
  expect(namesOf(events)).toEqual(['SwapInfo', 'OrderExecuted', ...feeEvents])
  const [{ items, topics }] = events
  expect(topics).toHaveLength(3)
  expect(topics[2]).toBe(lowerTopic(items.market))
  expect(items).toMatchObject({
    receiver: trader.address,
    tokenIn: usdc,
    tokenOut: weth,
    amountIn: 5_000_000_000n,
    orderKey: done.orderKeys[0],
    tokenInPriceImpactAmount: expect.any(BigInt),
  })
  expect(items.amountInAfterFees).toBeLessThan(items.amountIn)
  expect((await paper.balanceOf('WETH')) - before).toBe(items.amountOut)
  const [row] = await trades('&actions=OrderExecuted')
  expect(row.swapImpactUsd).toBe(items.priceImpactUsd.toString())
  expect(items.priceImpactUsd).not.toBe(0n)
})

test('an execution says the oracle’s prices of its tokens before all else, each token once', async () => {
  paper = await startVenue()
  const { executionTxnHash } = await paper.trade({ collateralToken: 'WETH' })
  const { logs } = await receiptOf(executionTxnHash)
  const names = logs.map((log) => eventOf(log).name)
  const { prices, events } = await allEventsOf(executionTxnHash)
  expect(names.slice(0, prices.length)).toEqual(prices.map(() => 'OraclePriceUpdate'))
  expect(prices.map(({ items }) => items.token).toSorted()).toEqual([weth, usdc].toSorted())
  for (const { items, topics } of prices) {
    expect(topics[2]).toBe(lowerTopic(items.token))
    expect(items.maxPrice).toBeGreaterThanOrEqual(items.minPrice)
    expect(items.timestamp).toBeGreaterThan(0n)
  }
  const increase = events.find(({ name }) => name === 'PositionIncrease')
  const wethPrice = prices.find(({ items }) => items.token === weth)
  expect(wethPrice?.items).toMatchObject({
    minPrice: increase?.items['indexTokenPrice.min'],
    maxPrice: increase?.items['indexTokenPrice.max'],
  })
})

test('an increase that is paid in another token swaps first, in the same transaction', async () => {
  paper = await startVenue()
  const done = await paper.trade({ collateralToken: 'WETH' })
  const events = await eventsOf(done.executionTxnHash)
  expect(namesOf(events)).toEqual([
    'SwapInfo',
    'PositionFeesCollected',
    'PositionIncrease',
    'OrderExecuted',
    ...feeEvents,
  ])
  expect(events[0].items.tokenOut).toBe(weth)
  const estimate = (await paper.prepare({ collateralToken: 'WETH' })).body.estimates
  expect(estimate.swapPriceImpactDeltaUsd).toMatch(/^-?[1-9]\d*$/)
  expect((await paper.prepare({})).body.estimates.swapPriceImpactDeltaUsd).toBe('0')
})

test('a resting order that fails freezes with its custom error; an edit wakes it', async () => {
  paper = await startVenue()
  const ticker = (await paper.get(`/markets/tickers?symbols=${encodeURIComponent(ethSymbol)}`)).body[0]
  const above = (BigInt(ticker.markPrice) * 11n) / 10n
  await paper.call('POST', `${paper.control}/faults`, { keeperFails: 'InsufficientReserve' })
  const prepared = (await paper.prepare({ orderType: 'limit', triggerPrice: above.toString() })).body
  await paper.submit(prepared)
  paper.clock.move(3000)
  const state = (await paper.status(prepared.requestId)).body
  expect(state.status).toBe('created')
  const orders = async (): Promise<Any[]> => (await paper.get(`/orders?address=${trader.address}`)).body
  expect(await orders()).toMatchObject([{ key: state.orderKeys[0], isFrozen: true }])
  const [row] = await trades('&actions=OrderFrozen')
  const [frozen] = await eventsOf(row.transactionHash)
  expect(frozen).toMatchObject({ name: 'OrderFrozen', items: { key: state.orderKeys[0], reason: '' } })
  expect(frozen.topics.slice(2)).toEqual([state.orderKeys[0], topicOf(trader.address)])
  expect(decodeErrorResult({ abi: customErrors, data: frozen.items.reasonBytes }).errorName).toBe(
    'InsufficientReserve',
  )
  await paper.call('POST', `${paper.control}/faults`, { keeperFails: '' })
  paper.clock.move(10_000)
  expect(await orders()).toHaveLength(1)
  const edit = await paper.post('/orders/txns/edit/prepare', {
    mode: 'express',
    from: trader.address,
    orderIds: state.orderKeys,
    newSize: usd(500),
    executionFeeTopUp: prepared.estimates.executionFeeAmount,
  })
  await paper.submit(edit.body)
  paper.clock.move(3000)
  expect(await orders()).toEqual([])
  expect((await paper.positions())[0].sizeInUsd).toBe(usd(500))
})

test('orders that go with their position are cancelled in its transaction, with the word of the protocol', async () => {
  paper = await startVenue()
  await paper.trade({
    tpsl: [
      { type: 'take-profit', triggerPrice: usd(90_000) },
      { type: 'stop-loss', triggerPrice: usd(10) },
    ],
  })
  const done = await paper.trade({ kind: 'decrease', collateralToPay: undefined, size: usd(1000) })
  const events = await eventsOf(done.executionTxnHash)
  expect(namesOf(events).filter((name) => name === 'OrderCancelled')).toHaveLength(2)
  for (const { name, items } of events) {
    if (name === 'OrderCancelled') expect(items).toMatchObject({ reason: 'AUTO_CANCEL', reasonBytes: '0x' })
  }
})

test('no more orders go with a position than the chain allows', async () => {
  paper = await startVenue()
  await paper.trade({})
  const stop = { kind: 'decrease', orderType: 'stop-loss', triggerPrice: usd(10), size: usd(10) }
  for (let i = 0; i < 10; i += 1) expect((await paper.trade(stop)).status).toBe('created')
  const early = (await paper.prepare(stop)).body
  expect((await paper.trade(stop)).status).toBe('created')
  // It was prepared while there was room, and lands when there is none.
  await paper.submit(early)
  paper.clock.move(2500)
  expect((await paper.status(early.requestId)).body).toMatchObject({
    status: 'relay_reverted',
    error: { code: 'MaxAutoCancelOrdersExceeded' },
  })
  const late = (await paper.prepare(stop)).body
  expect(late.payload.typedData.message.createOrderParamsList[0].autoCancel).toBe(false)
  expect((await paper.trade(stop)).status).toBe('created')
})

test('a withdrawal that is cut says so', async () => {
  paper = await startVenue()
  await paper.trade({ size: usd(400) })
  const [position] = await paper.positions()
  const held = BigInt(position.collateralAmount)
  const prepared = await paper.prepare({
    kind: 'decrease',
    collateralToPay: undefined,
    size: usd(200),
    keepLeverage: true,
  })
  // The position loses most of its collateral between prepare and execution, so the share asked for is too much.
  const record = [...paper.venue.venueState.positions.values()][0]
  if (record === undefined) throw new Error('no position')
  record.state = { ...record.state, collateralAmount: held / 20n }
  await paper.submit(prepared.body)
  paper.clock.move(3000)
  const { executionTxnHash } = (await paper.status(prepared.body.requestId)).body
  const events = await eventsOf(executionTxnHash)
  const cuts = events.filter(({ name }) => name === 'OrderCollateralDeltaAmountAutoUpdated')
  const asked = BigInt(
    prepared.body.payload.typedData.message.createOrderParamsList[0].numbers.initialCollateralDeltaAmount,
  )
  expect(cuts[0].items).toMatchObject({ collateralDeltaAmount: asked, nextCollateralDeltaAmount: held / 20n })
  expect(cuts[0].topics[2]).toBe(cuts[0].items.key)
})

test('a liquidation is created and executed in one transaction of the keeper', async () => {
  paper = await startVenue({ settings: { keeperJitterMs: 0, replay: ethGoesTo(1889n) } })
  await paper.trade({ size: usd(5000), collateralToPay: { amount: '300000000', token: 'USDC' } })
  paper.clock.move(120_000)
  expect(await paper.positions()).toEqual([])
  const row = (await trades()).find((one) => one.orderType === 7)
  const events = await eventsOf(row.transactionHash)
  expect(namesOf(events)).toEqual([
    'OrderCreated',
    'PositionFeesCollected',
    'PositionDecrease',
    'OrderExecuted',
  ])
  const [created, fees, decrease, executed] = events
  expect(created.items).toMatchObject({ orderType: 7n, account: trader.address, market: ethMarket })
  expect(fees.items.liquidationFeeAmount).toBeGreaterThan(0n)
  expect(decrease.items).toMatchObject({ orderKey: created.items.key, sizeInUsd: 0n, orderType: 7n })
  expect(executed.items).toMatchObject({ key: created.items.key, secondaryOrderType: 0n })
  expect((await receiptOf(row.transactionHash)).status).toBe('success')
})

test('a liquidation that cannot pay its costs is an insolvent close, with the fees that were not paid', async () => {
  paper = await startVenue({ settings: { keeperJitterMs: 0, replay: ethGoesTo(1500n) } })
  await paper.trade({ size: usd(5000), collateralToPay: { amount: '300000000', token: 'USDC' } })
  const before = await paper.balanceOf('USDC')
  paper.clock.move(120_000)
  const row = (await trades()).find((one) => one.orderType === 7)
  const events = await eventsOf(row.transactionHash)
  expect(namesOf(events)).toEqual([
    'OrderCreated',
    'InsolventClose',
    'PositionFeesInfo',
    'PositionFeesCollected',
    'PositionDecrease',
    'OrderExecuted',
  ])
  const [, insolvent, info, collected] = events
  expect(insolvent.topics).toHaveLength(2)
  expect(insolvent.items).toMatchObject({ step: 'pnl', remainingCostUsd: expect.any(BigInt) })
  expect(insolvent.items.basePnlUsd).toBeLessThan(0n)
  expect(info.items.positionFeeAmount).toBeGreaterThan(0n)
  expect(collected.items.positionFeeAmount).toBe(0n)
  expect(await paper.balanceOf('USDC')).toBe(before)
})

test('traders whose profit outgrows the pool are deleveraged, the most profitable first', async () => {
  paper = await startVenue({
    settings: { keeperJitterMs: 0, poolShareBps: 100, jitPoolShareBps: 0, replay: ethGoesTo(4000n) },
  })
  await paper.call('POST', `${paper.control}/accounts`, {
    address: trader.address,
    balances: { USDC: '900000000', WETH: '100000' },
  })
  const capacity = (
    await paper.get(`/markets/trading-capacity?symbol=${encodeURIComponent(ethSymbol)}&direction=long`)
  ).body
  const size = (BigInt(capacity.availableLiquidity) * 9n) / 10n
  const collateral = (size / 4n / 10n ** 24n).toString()
  const done = await paper.trade({
    size: size.toString(),
    collateralToPay: { amount: collateral, token: 'USDC' },
  })
  expect(done.status).toBe('executed')
  paper.clock.move(150_000)
  const row = (await trades('&actions=OrderExecuted')).find((one) => one.orderType === 4)
  const events = await eventsOf(row.transactionHash)
  expect(namesOf(events)).toContain('OrderCreated')
  expect(events.at(-1)).toMatchObject({ name: 'OrderExecuted', items: { secondaryOrderType: 1n } })
  const [position] = await paper.positions()
  expect(BigInt(position?.sizeInUsd ?? 0) < size).toBe(true)
  // The same position is not touched again while the profit stays where it was brought to.
  const count = (await trades()).length
  paper.clock.move(60_000)
  expect((await trades()).length - count).toBeLessThanOrEqual(1)
})
