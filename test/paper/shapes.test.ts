/** The shapes of prepared orders over real sockets: what the venue's own client library would send, and each of its choices. */
import { afterEach, expect, test } from 'vitest'
import type { PriceReplay } from '../../src/paper/catalog/replayFile.ts'
import type { VenueSettings } from '../../src/paper/state/settings.ts'
import { MAX_UINT256 } from '../../src/protocol/units.ts'
import { type Any, startVenue, stranger, trader, usd, usdc, weth } from './support.ts'

type Paper = Awaited<ReturnType<typeof startVenue>>
let paper: Paper
afterEach(() => paper.close())

/** ETH at the given prices, one a minute, whole dollars; it costs the last one from then on. */
function minutes(...prices: readonly bigint[]): PriceReplay {
  const series = prices.map((price, i) => {
    const at = price * 10n ** 30n
    return { startSeconds: 1_700_000_000 + i * 60, open: at, high: at, low: at, close: at }
  })
  return { series: new Map([['ETH', series]]), speed: 1 }
}

const start = async (settings: Partial<VenueSettings> = {}): Promise<void> => {
  paper = await startVenue({ settings: { keeperJitterMs: 0, ...settings } })
}

const ordersOf = (prepared: Any): Any[] => prepared.body.payload.typedData.message.createOrderParamsList
const reduce = (fields: Record<string, unknown>) =>
  paper.prepare({ kind: 'decrease', collateralToPay: undefined, ...fields })
const held = async (): Promise<Any> => (await paper.positions())[0]
const big = (text: Any): bigint => BigInt(text)

/** Submits what was prepared and waits until the keeper has been there; the status. */
async function run(prepared: Any): Promise<Any> {
  expect(prepared.status, JSON.stringify(prepared.body)).toBe(200)
  await paper.submit(prepared.body)
  paper.clock.move(3000)
  return (await paper.status(prepared.body.requestId)).body
}

test.each([true, false])('a full close carries all the collateral, keepLeverage %s', async (keepLeverage) => {
  await start()
  await paper.trade({})
  const { sizeInUsd, collateralAmount } = await held()
  const prepared = await reduce({ size: sizeInUsd, keepLeverage })
  expect(ordersOf(prepared)[0].numbers).toMatchObject({
    sizeDeltaUsd: sizeInUsd,
    initialCollateralDeltaAmount: collateralAmount,
  })
  expect((await run(prepared)).status).toBe('executed')
  expect(await paper.positions()).toEqual([])
})

test.each([
  ['profit', 2040n],
  ['loss', 1960n],
])('a part in %s that keeps the leverage keeps it, near its share', async (name, price) => {
  await start({ replay: minutes(2000n, price) })
  await paper.trade({})
  paper.clock.move(120_000)
  const before = await held()
  const prepared = await reduce({ size: usd(400), keepLeverage: true })
  const taken = big(ordersOf(prepared)[0].numbers.initialCollateralDeltaAmount)
  const share = (big(before.collateralAmount) * 4n) / 10n
  const off = taken - share
  expect((off < 0n ? -off : off) * 50n).toBeLessThan(
    big(before.collateralAmount) * (name === 'loss' ? 10n : 1n),
  )
  if (name === 'loss') expect(off).toBeLessThan(0n)
  expect((await run(prepared)).status).toBe('executed')
  const after = await held()
  expect(after.sizeInUsd).toBe(usd(600))
  expect(Math.abs(Number(after.leverageWithoutPnl) - Number(before.leverageWithoutPnl))).toBeLessThan(60)
})

test('a part that leaves the leverage alone carries no collateral', async () => {
  await start()
  await paper.trade({})
  const prepared = await reduce({ size: usd(400), keepLeverage: false })
  expect(ordersOf(prepared)[0].numbers).toMatchObject({
    sizeDeltaUsd: usd(400),
    initialCollateralDeltaAmount: '0',
  })
})

test('a part that would leave less than a dollar is the whole position with all its collateral', async () => {
  await start()
  await paper.trade({})
  const { sizeInUsd, collateralAmount } = await held()
  const prepared = await reduce({ size: usd(999.5) })
  expect(prepared.body.estimates.sizeDeltaUsd).toBe(sizeInUsd)
  expect(ordersOf(prepared)[0].numbers).toMatchObject({
    sizeDeltaUsd: sizeInUsd,
    initialCollateralDeltaAmount: collateralAmount,
  })
})

test('a part in a loss that would leave too little collateral is the whole position', async () => {
  await start({ replay: minutes(2000n) })
  // Tokens are rounded down, so a fresh position is a hair in the loss.
  await paper.trade({ size: usd(600), collateralToPay: { amount: '7000000', token: 'USDC' } })
  const { sizeInUsd, collateralAmount } = await held()
  const prepared = await reduce({ size: usd(540), keepLeverage: true })
  expect(ordersOf(prepared)[0].numbers).toMatchObject({
    sizeDeltaUsd: sizeInUsd,
    initialCollateralDeltaAmount: collateralAmount,
  })
  expect((await run(prepared)).status).toBe('executed')
  expect(await paper.positions()).toEqual([])
})

test('a twap of the whole carries equal parts of size and collateral at any price, and closes the position', async () => {
  await start({ replay: minutes(2000n, 2000n) })
  await paper.trade({})
  const { sizeInUsd, collateralAmount } = await held()
  const twapConfig = { duration: 120, parts: 3 }
  const prepared = await reduce({ size: sizeInUsd, orderType: 'twap', twapConfig })
  for (const { numbers } of ordersOf(prepared)) {
    expect(numbers).toMatchObject({
      sizeDeltaUsd: (big(sizeInUsd) / 3n).toString(),
      initialCollateralDeltaAmount: (big(collateralAmount) / 3n).toString(),
      acceptablePrice: '0',
      triggerPrice: '0',
    })
  }
  await run(prepared)
  paper.clock.move(200_000)
  expect(await paper.positions()).toEqual([])
  expect((await paper.get(`/orders?address=${trader.address}`)).body).toEqual([])
})

const exits = [
  { type: 'take-profit', triggerPrice: usd(90_000), size: usd(1000) },
  { type: 'stop-loss', triggerPrice: usd(10), size: usd(400) },
  { type: 'stop-loss', triggerPrice: usd(20) },
]

test.each([
  ['sdk', [usd(1000), usd(400), usd(1000)], [1n, 0n, 1n]],
  ['zero', [usd(1000), usd(400), usd(1000)], [0n, 0n, 0n]],
  ['max', [`${MAX_UINT256}`, usd(400), `${MAX_UINT256}`], [1n, 0n, 1n]],
] as const)(
  'exits of the shape %s carry their sizes, and all the collateral or none',
  async (exitShape, sizes, carries) => {
    await start({ exitShape })
    const prepared = await paper.prepare({ tpsl: exits })
    const [own, ...made] = ordersOf(prepared)
    const paid = big(own.numbers.initialCollateralDeltaAmount)
    expect(made.map(({ orderType, autoCancel }) => [orderType, autoCancel])).toEqual([
      [5, true],
      [6, true],
      [6, true],
    ])
    expect(made.map(({ numbers }) => numbers.sizeDeltaUsd)).toEqual(sizes)
    expect(made.map(({ numbers }) => big(numbers.initialCollateralDeltaAmount))).toEqual(
      carries.map((all) => all * paid),
    )
  },
)

test('exits of the shape sdk-keep carry a share for a part, and what is held and paid for the whole', async () => {
  await start({ exitShape: 'sdk-keep' })
  await paper.trade({})
  const { collateralAmount } = await held()
  const prepared = await paper.prepare({
    tpsl: [
      { type: 'take-profit', triggerPrice: usd(90_000), size: usd(2000) },
      { type: 'take-profit', triggerPrice: usd(80_000), size: usd(1000) },
    ],
  })
  const [whole, part] = ordersOf(prepared)
    .slice(1)
    .map(({ numbers }) => numbers)
  expect(whole.initialCollateralDeltaAmount).toBe((big(collateralAmount) + 200_000_000n).toString())
  expect(big(part.initialCollateralDeltaAmount)).toBeGreaterThan(150_000_000n)
  expect(big(part.initialCollateralDeltaAmount)).toBeLessThan(big(whole.initialCollateralDeltaAmount))
})

test('exits come in another order than asked where the venue has it so', async () => {
  await start({ exitsReordered: true })
  const prepared = await paper.prepare({ tpsl: exits })
  expect(ordersOf(prepared).map(({ orderType }) => orderType)).toEqual([2, 6, 6, 5])
})

test('an exit of the largest size is shown so, closes what there is and takes the other exits with it', async () => {
  await start({ exitShape: 'max', replay: minutes(2000n, 2000n, 1700n) })
  const prepared = await paper.prepare({
    tpsl: [
      { type: 'stop-loss', triggerPrice: usd(1800) },
      { type: 'take-profit', triggerPrice: usd(3000) },
    ],
  })
  await run(prepared)
  const waiting = async (): Promise<Any[]> => (await paper.get(`/orders?address=${trader.address}`)).body
  expect((await waiting()).map(({ sizeDeltaUsd }) => sizeDeltaUsd)).toEqual([
    `${MAX_UINT256}`,
    `${MAX_UINT256}`,
  ])
  paper.clock.move(180_000)
  expect(await paper.positions()).toEqual([])
  expect(await waiting()).toEqual([])
})

test('a stop of the whole position by itself has the largest size in the shape max', async () => {
  await start({ exitShape: 'max' })
  await paper.trade({})
  const { sizeInUsd, collateralAmount } = await held()
  const stop = { orderType: 'stop-loss', triggerPrice: usd(10), size: sizeInUsd }
  expect(ordersOf(await reduce(stop))[0].numbers).toMatchObject({
    sizeDeltaUsd: `${MAX_UINT256}`,
    initialCollateralDeltaAmount: collateralAmount,
  })
  // A market order of that size would revert, so it never has it.
  expect(ordersOf(await reduce({ size: sizeInUsd }))[0].numbers.sizeDeltaUsd).toBe(sizeInUsd)
})

test('market prices hold impact and slippage; limits their budget; slippage is on top of them only by a setting', async () => {
  const triggerPrice = usd(1500)
  const limit = { orderType: 'limit', triggerPrice, slippage: 100 }
  const price = async (fields: Record<string, unknown>): Promise<bigint> =>
    big(ordersOf(await paper.prepare(fields))[0].numbers.acceptablePrice)
  await start()
  const tickers = (await paper.call('GET', `${paper.oracle}/prices/tickers`)).body
  const ticker = tickers.find(({ tokenSymbol }: Any) => tokenSymbol === 'ETH')
  const { estimates } = (await paper.prepare({ slippage: 100 })).body
  const impact = big(estimates.positionPriceImpactDeltaUsd)
  const markMax = big(ticker.maxPrice) * 10n ** 18n
  // The library counts the size through whole index tokens, so the last digits differ.
  const expected = (markMax * (big(usd(1000)) - impact)) / big(usd(1000))
  expect(Number(big(estimates.acceptablePrice) - expected) / Number(expected)).toBeCloseTo(0, 12)
  expect(impact).not.toBe(0n)
  expect(await price({ slippage: 100 })).toBe((big(estimates.acceptablePrice) * 101n) / 100n / 10n ** 18n)
  expect(await price({ ...limit, acceptablePriceImpactBps: '80' })).toBe(
    (big(triggerPrice) * 10_080n) / 10_000n / 10n ** 18n,
  )
  const own = await price(limit)
  expect(own).toBeGreaterThanOrEqual((big(triggerPrice) * 10_030n) / 10_000n / 10n ** 18n)
  expect(await price({ ...limit, slippage: 500 })).toBe(own)
  await paper.close()
  await start({ slippageOnLimits: true })
  expect(await price({ ...limit, acceptablePriceImpactBps: '80' })).toBe(
    (((big(triggerPrice) * 10_080n) / 10_000n) * 10_100n) / 10_000n / 10n ** 18n,
  )
})

const withdraw = async (fields: Record<string, unknown> = {}) =>
  paper.post('/orders/txns/collateral/prepare', {
    mode: 'express',
    from: trader.address,
    operation: 'withdraw',
    amount: '50000000',
    positionKey: (await held()).key,
    ...fields,
  })

test('a withdrawal insists on its worth less slippage in dollars, and gets it', async () => {
  await start()
  await paper.trade({})
  const prepared = await withdraw({ slippage: 50 })
  const { minOutputAmount, sizeDeltaUsd } = ordersOf(prepared)[0].numbers
  const { params } = prepared.body.payload.batchParams.createOrderParams[0]
  expect(sizeDeltaUsd).toBe('0')
  expect(minOutputAmount).toBe(((big(params.minOutputUsd) * 9_950n) / 10_000n).toString())
  expect(big(params.minOutputUsd)).toBeGreaterThan(big(usd(49.9)))
  expect(big(params.minOutputUsd)).toBeLessThan(big(usd(50.1)))
  expect((await run(prepared)).status).toBe('executed')
})

test('a withdrawal of a token that falls meanwhile by more than its slippage pays too few dollars and is cancelled', async () => {
  await start({ replay: minutes(2000n, 1900n), orderDeadlineSeconds: 900 })
  const bought = { collateralToken: 'WETH', collateralToPay: { amount: '200000000', token: 'USDC' } }
  await paper.trade({ ...bought, size: usd(300) })
  const prepared = await withdraw({ amount: '25000000000000000', slippage: 100 })
  paper.clock.move(120_000)
  expect(await run(prepared)).toMatchObject({
    status: 'cancelled',
    cancellationReason: expect.stringContaining('InsufficientOutputAmount'),
  })
})

test('a withdrawal insists on nothing where the venue has it so', async () => {
  await start({ collateralOutMinOutput: 'zero' })
  await paper.trade({})
  expect(ordersOf(await withdraw())[0].numbers.minOutputAmount).toBe('0')
})

test('a change of collateral knows a position by the keys that the venue goes by', async () => {
  await start({ positionKeyForm: 'contract' })
  await paper.trade({})
  const { contractKey } = await held()
  expect((await withdraw()).body.code).toBe('POSITION_NOT_FOUND')
  expect((await withdraw({ positionKey: contractKey })).status).toBe(200)
  await paper.close()
  await start({ positionKeyForm: 'row' })
  await paper.trade({})
  expect((await withdraw({ positionKey: contractKey })).body.code).toBe('POSITION_NOT_FOUND')
  expect((await withdraw()).status).toBe(200)
})

test('a strict venue refuses what its own client does not send, a lenient one takes it', async () => {
  await start()
  expect((await paper.prepare({ autoCancel: true })).body).toEqual({
    message: { autoCancel: { message: "'autoCancel' is not a field of this request" } },
  })
  const change = { mode: 'express', from: trader.address, gasPaymentToken: usdc }
  const steps = [
    ['edit', { orderIds: [`0x${'1'.repeat(64)}`], newSize: '1' }],
    ['cancel', { all: true }],
  ] as const
  for (const [step, body] of steps) {
    const { status, body: answer } = await paper.post(`/orders/txns/${step}/prepare`, { ...change, ...body })
    expect([status, Object.keys(answer.message)]).toEqual([400, ['gasPaymentToken']])
  }
  // A change of collateral does take the token that pays the relay.
  await paper.trade({})
  expect((await withdraw({ gasPaymentToken: weth })).status).toBe(200)
  await paper.close()
  await start({ strictPrepare: false })
  const created = await paper.trade({ orderType: 'limit', triggerPrice: usd(100) })
  expect(created.status).toBe('created')
  expect((await paper.prepare({ autoCancel: true })).status).toBe(200)
  const cancel = await paper.post('/orders/txns/cancel/prepare', { ...change, all: true })
  expect(cancel.body.payload.relayParams.fee.feeToken).toBe(usdc)
})

test('an account with a referral code gets it in orders that name none', async () => {
  await start({ referralCode: 'friend' })
  const [own] = ordersOf(await paper.prepare({}))
  expect(Buffer.from(own.referralCode.slice(2), 'hex').toString().replace(/\0+$/, '')).toBe('friend')
  const other = `0x${'ab'.repeat(32)}`
  expect(ordersOf(await paper.prepare({ referralCode: other }))[0].referralCode).toBe(other)
})

const decreaseParams = [
  'acceptablePrice',
  'allowedSlippage',
  'autoCancel',
  'chainId',
  'collateralDeltaAmount',
  'collateralTokenAddress',
  'decreasePositionSwapType',
  'executionFeeAmount',
  'executionGasLimit',
  'indexTokenAddress',
  'isLong',
  'marketAddress',
  'minOutputUsd',
  'orderType',
  'receiveTokenAddress',
  'receiver',
  'sizeDeltaInTokens',
  'sizeDeltaUsd',
  'swapPath',
  'validFromTime',
]
const increaseParams = [
  ...decreaseParams.filter((name) => !/^(decreasePosition|minOutput|receiveToken)/.test(name)),
  'payTokenAddress',
  'payTokenAmount',
].sort()

test('the copy of a batch has the fields of the library, and the message differs in the express flag alone', async () => {
  await start()
  await paper.trade({})
  const bodies = [
    [await paper.prepare({}), increaseParams],
    [
      await paper.prepare({ orderType: 'limit', triggerPrice: usd(900) }),
      [...increaseParams, 'triggerPrice'].sort(),
    ],
    [await reduce({ size: usd(300) }), decreaseParams],
    [
      await reduce({ size: usd(300), orderType: 'stop-loss', triggerPrice: usd(9) }),
      [...decreaseParams, 'triggerPrice'].sort(),
    ],
    [await withdraw(), decreaseParams],
    [
      await reduce({ size: usd(900), orderType: 'twap', twapConfig: { duration: 60, parts: 2 } }),
      [...decreaseParams, 'triggerPrice'].sort(),
    ],
  ] as const
  for (const [prepared, names] of bodies) {
    const { batchParams, typedData } = prepared.body.payload
    for (const [i, order] of typedData.message.createOrderParamsList.entries()) {
      const { params, orderPayload, tokenTransfersParams } = batchParams.createOrderParams[i]
      expect(Object.keys(params).sort()).toEqual(names)
      expect(tokenTransfersParams).toMatchObject({
        isNativePayment: false,
        isNativeReceive: false,
        initialCollateralDeltaAmount: order.numbers.initialCollateralDeltaAmount,
        value: order.numbers.executionFee,
      })
      const { dataList, ...rest } = order
      expect({ ...orderPayload, dataList }).toEqual({ ...rest, dataList })
      const words = [dataList[0], orderPayload.dataList[0]].map((word: string) =>
        Buffer.from(word.slice(2), 'hex').toString().replace(/\0+$/, ''),
      )
      expect(words[0]).toMatch(/^gmxo:1:\d+:[0-9a-f]{4}:01:0:1$/)
      expect(words[1]).toBe(words[0]?.replace(/1$/, '0'))
    }
  }
})

const swapParams = [
  ...increaseParams.filter(
    (name) => !/^(acceptable|collateral|indexToken|isLong|market|sizeDelta)/.test(name),
  ),
  'minOutputAmount',
  'receiveTokenAddress',
].sort()

test('the copy names a referral code and a receiver of the UI fee where they are given, and the ratio that a limit swap waits for', async () => {
  await start()
  const given = { referralCode: `0x${'ab'.repeat(32)}`, uiFeeReceiver: `0x${'cd'.repeat(20)}` }
  const swap = {
    kind: 'swap',
    direction: undefined,
    symbol: undefined,
    size: undefined,
    receiveToken: 'WETH',
  }
  const ratio = `${2n * 10n ** 30n}`
  const limit = { ...swap, orderType: 'limit', triggerPrice: ratio }
  for (const [body, names] of [
    [{}, increaseParams],
    [swap, swapParams],
    [limit, [...swapParams, 'triggerRatio'].sort()],
  ] as const) {
    const paramsOf = async (more: object) => {
      const { status, body: answer } = await paper.prepare({ ...body, ...more })
      expect([status, answer.message]).toEqual([200, undefined])
      return answer.payload.batchParams.createOrderParams[0].params
    }
    const [plain, named] = [await paramsOf({}), await paramsOf(given)]
    expect(Object.keys(plain).sort()).toEqual(names)
    expect(Object.keys(named).sort()).toEqual([...names, ...Object.keys(given)].sort())
    expect([named.referralCode, named.uiFeeReceiver.toLowerCase()]).toEqual(Object.values(given))
    expect(plain.triggerRatio).toBe(body === limit ? ratio : undefined)
  }
})

test('the copies of an edit and a cancel have the fields of the library', async () => {
  await start()
  const limit = await run(await paper.prepare({ orderType: 'limit', triggerPrice: usd(900) }))
  const [orderKey] = limit.orderKeys
  const change = { mode: 'express', from: trader.address, orderIds: [orderKey] }
  const edit = await paper.post('/orders/txns/edit/prepare', { ...change, newTriggerPrice: usd(950) })
  const [{ params, updatePayload }] = edit.body.payload.batchParams.updateOrderParams
  const [update] = edit.body.payload.typedData.message.updateOrderParamsList
  const { key, executionFeeIncrease, ...rest } = update
  expect(updatePayload).toEqual({ orderKey: key, executionFeeTopUp: executionFeeIncrease, ...rest })
  expect(params).toMatchObject({
    chainId: 42161,
    orderKey,
    orderType: 3,
    triggerPrice: usd(950),
    indexTokenAddress: weth,
  })
  expect(edit.body.estimates.executionFeeAmount).toBe('0')
  const cancel = await paper.post('/orders/txns/cancel/prepare', change)
  expect(cancel.body.payload.batchParams).toEqual({
    createOrderParams: [],
    updateOrderParams: [],
    cancelOrderParams: [{ orderKey }],
  })
})

test('an update writes any price divided by the decimals of the index token where the venue does', async () => {
  await start({ dividesAnyPrice: true })
  const stop = await run(await paper.prepare({ orderType: 'stop-market', triggerPrice: usd(90_000) }))
  const edit = await paper.post('/orders/txns/edit/prepare', {
    mode: 'express',
    from: trader.address,
    orderIds: stop.orderKeys,
    newTriggerPrice: usd(95_000),
  })
  const [update] = edit.body.payload.typedData.message.updateOrderParamsList
  expect(update.acceptablePrice).toBe((MAX_UINT256 / 10n ** 18n).toString())
  const [{ params }] = edit.body.payload.batchParams.updateOrderParams
  expect(params.acceptablePrice).toBe(`${MAX_UINT256}`)
  expect((await run(edit)).status).toBe('executed')
})

test('the inputs of an update are what its payload was divided from: any price too, above the largest number where that is what is signed', async () => {
  await start()
  const edited = async (order: Any): Promise<Any> => {
    const made = await run(await paper.prepare(order))
    const { body } = await paper.post('/orders/txns/edit/prepare', {
      mode: 'express',
      from: trader.address,
      orderIds: made.orderKeys,
      newSize: usd(400),
    })
    return body.payload.batchParams.updateOrderParams[0]
  }
  for (const order of [
    { orderType: 'stop-market', triggerPrice: usd(90_000) },
    { orderType: 'limit', triggerPrice: usd(900) },
  ]) {
    const { params, updatePayload } = await edited(order)
    const isAny = order.orderType === 'stop-market'
    expect(updatePayload.acceptablePrice === `${MAX_UINT256}`).toBe(isAny)
    for (const name of ['acceptablePrice', 'triggerPrice'])
      expect(params[name]).toBe(`${BigInt(updatePayload[name]) * 10n ** 18n}`)
    expect(Object.keys(params).sort()).toEqual([
      'acceptablePrice',
      'autoCancel',
      'chainId',
      'executionFeeTopUp',
      'indexTokenAddress',
      'minOutputAmount',
      'orderKey',
      'orderType',
      'sizeDeltaUsd',
      'triggerPrice',
      'validFromTime',
    ])
  }
})

test('a copy may contradict the message on purpose, and the message stays right', async () => {
  await start()
  await paper.call('POST', `${paper.control}/faults`, { prepare: 'batch-copy' })
  const batch = (await paper.prepare({})).body.payload
  expect(batch.batchParams.createOrderParams[0].orderPayload.addresses.receiver).not.toBe(trader.address)
  expect(batch.typedData.message.createOrderParamsList[0].addresses.receiver).toBe(trader.address)
  await paper.call('POST', `${paper.control}/faults`, { prepare: 'relay-copy' })
  const relay = (await paper.prepare({ from: stranger.address })).body
  await paper.call('POST', `${paper.control}/faults`, { prepare: 'none' })
  const honest = (await paper.prepare({ from: stranger.address })).body
  const feeOf = (body: Any) => big(body.payload.relayParams.fee.feeAmount)
  expect(feeOf(relay)).toBe(feeOf(honest) + 1n)
})
