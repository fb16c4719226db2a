/**
 * Every kind of order on prices of our making: what wakes it, on which side, and what it leaves
 * (test/paper/behaviours-prepare.test.ts, D, G.3, H; contract `Order`, `OrderType`).
 */
import { afterEach, expect, test } from 'vitest'
import type { PriceReplay } from '../../src/paper/catalog/replayFile.ts'
import { clientsOf } from './chainSupport.ts'
import { type Any, startVenue, trader, usd } from './support.ts'

type Paper = Awaited<ReturnType<typeof startVenue>>
let paper: Paper
afterEach(() => paper.close())

/** ETH at the given prices, one a minute, whole dollars. */
function minutes(...prices: readonly bigint[]): PriceReplay {
  const series = prices.map((price, i) => {
    const at = price * 10n ** 30n
    return { startSeconds: 1_700_000_000 + i * 60, open: at, high: at, low: at, close: at }
  })
  return { series: new Map([['ETH', series]]), speed: 1 }
}

const start = async (...prices: readonly bigint[]): Promise<void> => {
  paper = await startVenue({ settings: { keeperJitterMs: 0, replay: minutes(...prices) } })
}

/** Native coin of the trader at the newest block, wei. */
const native = () => clientsOf(paper).client.getBalance({ address: trader.address })

const orders = async (): Promise<Any[]> => (await paper.get(`/orders?address=${trader.address}`)).body

/** Sends an order; its request id. */
async function send(fields: Record<string, unknown>): Promise<string> {
  const prepared = await paper.prepare(fields)
  expect(prepared.body.payload).toBeDefined()
  await paper.submit(prepared.body)
  paper.clock.move(3000)
  return prepared.body.requestId
}

const stateOf = async (requestId: string): Promise<string> => (await paper.status(requestId)).body.status

/** To the middle of a minute of the candles, and what the order says then. */
async function at(minute: number, requestId: string): Promise<string> {
  const begun = paper.venue.venueState.epochSeconds * 1000
  paper.clock.move(begun + minute * 60_000 + 30_000 - paper.clock.now())
  return stateOf(requestId)
}

const rising = [2000n, 2050n, 2200n, 2200n] as const
const falling = [2000n, 1950n, 1800n, 1800n] as const

test.each([
  ['limit', 'long', 1900, falling],
  ['limit', 'short', 2100, rising],
  ['stop-market', 'long', 2100, rising],
  ['stop-market', 'short', 1900, falling],
] as const)(
  'a %s increase of a %s waits for %i and executes there',
  async (orderType, direction, trigger, path) => {
    await start(...path)
    const id = await send({ orderType, direction, triggerPrice: usd(trigger) })
    expect(await stateOf(id)).toBe('created')
    expect(await at(1, id)).toBe('created')
    expect(await orders()).toHaveLength(1)
    expect(await at(2, id)).toBe('executed')
    expect(await orders()).toEqual([])
    expect(await paper.positions()).toMatchObject([{ isLong: direction === 'long', sizeInUsd: usd(1000) }])
  },
)

test.each([
  ['take-profit', 'long', 2100, rising],
  ['take-profit', 'short', 1900, falling],
  ['stop-loss', 'long', 1900, falling],
  ['stop-loss', 'short', 2100, rising],
] as const)(
  'a %s of a %s waits for %i and closes no more than there is',
  async (orderType, direction, trigger, path) => {
    await start(...path)
    await paper.trade({ direction })
    const id = await send({
      kind: 'decrease',
      orderType,
      direction,
      collateralToPay: undefined,
      size: usd(5000),
      triggerPrice: usd(trigger),
    })
    expect(await at(1, id)).toBe('created')
    expect(await at(2, id)).toBe('executed')
    expect(await paper.positions()).toEqual([])
  },
)

test('a take-profit without its position is left alone by the keeper and stays', async () => {
  // A lenient server lets an exit stay when its position is closed.
  paper = await startVenue({
    settings: { keeperJitterMs: 0, replay: minutes(...rising), strictPrepare: false },
  })
  await paper.trade({})
  const id = await send({
    kind: 'decrease',
    orderType: 'take-profit',
    collateralToPay: undefined,
    triggerPrice: usd(2100),
    autoCancel: false,
  })
  await paper.trade({ kind: 'decrease', collateralToPay: undefined })
  expect(await paper.positions()).toEqual([])
  expect(await at(3, id)).toBe('created')
  expect(await orders()).toMatchObject([{ isFrozen: false }])
})

test('a limit swap waits until the pool gives what it asks for', async () => {
  await start(2000n, 2000n, 1700n, 1700n)
  const before = await paper.balanceOf('WETH')
  const prepared = (
    await paper.prepare({
      kind: 'swap',
      orderType: 'limit',
      direction: undefined,
      collateralToPay: { amount: '2000000000', token: 'USDC' },
      receiveToken: 'WETH',
      triggerPrice: '1',
      slippage: 0,
    })
  ).body
  await paper.submit(prepared)
  // The price it was quoted at is gone before it lands: somebody swapped first.
  await paper.trade({
    kind: 'swap',
    direction: undefined,
    collateralToPay: { amount: '60000000000', token: 'USDC' },
    receiveToken: 'WETH',
  })
  const between = await paper.balanceOf('WETH')
  expect(between).toBeGreaterThan(before)
  expect(await at(1, prepared.requestId)).toBe('created')
  expect(await at(3, prepared.requestId)).toBe('executed')
  expect(await paper.balanceOf('WETH')).toBeGreaterThan(between + 10n ** 18n)
})

test('the parts of a twap close a position one by one, each once', async () => {
  await start(2000n)
  await paper.trade({ size: usd(3000), collateralToPay: { amount: '900000000', token: 'USDC' } })
  const id = await send({
    kind: 'decrease',
    orderType: 'twap',
    collateralToPay: undefined,
    size: usd(3000),
    twapConfig: { duration: 120, parts: 3 },
  })
  const sizes: string[] = []
  for (let i = 0; i < 14; i += 1) {
    const [position] = await paper.positions()
    const size = position?.sizeInUsd ?? '0'
    if (sizes.at(-1) !== size) sizes.push(size)
    paper.clock.move(10_000)
  }
  expect(sizes).toEqual([usd(2000), usd(1000), '0'])
  expect(await stateOf(id)).toBe('executed')
  expect(await orders()).toEqual([])
})

test('one batch edits many orders, another cancels some of them, a third the rest', async () => {
  await start(2000n)
  const before = await paper.balanceOf('USDC')
  const held = { native: await native(), wrapped: await paper.balanceOf('WETH') }
  const ids: string[] = []
  for (const trigger of [1000, 1100, 1200, 1300])
    ids.push(await send({ orderType: 'limit', triggerPrice: usd(trigger) }))
  const keys = (await orders()).map(({ key }) => key)
  const base = { mode: 'express', from: trader.address }
  const run = async (step: string, body: object): Promise<string> => {
    const prepared = (await paper.post(`/orders/txns/${step}/prepare`, { ...base, ...body })).body
    await paper.submit(prepared)
    paper.clock.move(3000)
    return stateOf(prepared.requestId)
  }
  expect(await run('edit', { orderIds: keys.slice(0, 3), newSize: usd(700), newAutoCancel: false })).toBe(
    'executed',
  )
  expect((await orders()).map(({ sizeDeltaUsd }) => sizeDeltaUsd)).toEqual([700, 700, 700, 1000].map(usd))
  expect(await run('cancel', { orderIds: keys.slice(1, 3) })).toBe('executed')
  expect((await orders()).map(({ key }) => key)).toEqual([keys[0], keys[3]])
  expect(await Promise.all(ids.map(stateOf))).toEqual(['created', 'cancelled', 'cancelled', 'created'])
  expect(await run('cancel', { orderId: keys[3] })).toBe('executed')
  expect(await run('cancel', { all: true })).toBe('executed')
  expect(await orders()).toEqual([])
  // Everything but the fees is back, and what they did not need has returned as native and wrapped native tokens.
  expect(before - (await paper.balanceOf('USDC'))).toBeLessThan(9_000_000n)
  expect(await native()).toBeGreaterThan(held.native)
  expect(await paper.balanceOf('WETH')).toBeGreaterThan(held.wrapped)
  expect((await paper.post('/orders/txns/cancel/prepare', { ...base, all: true })).status).toBe(400)
})

test('a whole position is deposited to, withdrawn from, and keeps its size', async () => {
  await start(2000n)
  await paper.trade({})
  const change = async (operation: string, amount: string): Promise<Any> => {
    const [position] = await paper.positions()
    const prepared = (
      await paper.post('/orders/txns/collateral/prepare', {
        mode: 'express',
        from: trader.address,
        operation,
        amount,
        positionKey: position.key,
      })
    ).body
    await paper.submit(prepared)
    paper.clock.move(3000)
    return {
      ...(await paper.status(prepared.requestId)).body,
      before: position,
      after: (await paper.positions())[0],
    }
  }
  const added = await change('deposit', '50000000')
  expect(added.status).toBe('executed')
  expect(BigInt(added.after.collateralAmount) - BigInt(added.before.collateralAmount)).toBeGreaterThan(
    49_000_000n,
  )
  const taken = await change('withdraw', '30000000')
  expect(taken.status).toBe('executed')
  expect(taken.after.sizeInUsd).toBe(added.before.sizeInUsd)
  const tooMuch = await change('withdraw', '999000000')
  expect(tooMuch).toMatchObject({
    status: 'cancelled',
    cancellationReason: expect.stringContaining('UnableToWithdrawCollateral'),
  })
})

test('every change can be prepared in classic mode, as a call of the exchange router', async () => {
  await start(2000n)
  await paper.trade({})
  await send({ orderType: 'limit', triggerPrice: usd(1000) })
  const [position] = await paper.positions()
  const orderIds = (await orders()).map(({ key }) => key)
  const base = { mode: 'classic', from: trader.address }
  for (const [step, body] of [
    ['edit', { orderIds, newSize: usd(10), executionFeeTopUp: '5' }],
    ['cancel', { orderIds }],
    ['collateral', { operation: 'deposit', amount: '1000000', positionKey: position.key }],
  ] as const) {
    const { status, body: answer } = await paper.post(`/orders/txns/${step}/prepare`, { ...base, ...body })
    expect(status).toBe(200)
    expect(answer).toMatchObject({ mode: 'classic', payloadType: 'transaction' })
    expect(answer.payload.data.slice(0, 10)).toBe('0xac9650d8')
    expect(answer.payload.value).toMatch(/^\d+$/)
    expect((await paper.status(answer.requestId)).body.status).toBe('prepared')
  }
  const code = await clientsOf(paper).client.getCode({
    address: '0x7dE39FF2e232A2203196788d37e234cF8F1b83f1',
  })
  expect(code).toMatch(/^0x/)
})
