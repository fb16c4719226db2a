/** What clients rely on when they prepare orders, one test an item of the list: D and E. */
import { recoverTypedDataAddress } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chains } from '../../src/protocol/chains/index.ts'
import { hashRelayParams } from '../../src/protocol/signing/relayRouter.ts'
import { type Any, ethMarket, startVenue, trader, usd, usdc, weth } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
let hasPosition: Any
beforeAll(async () => {
  paper = await startVenue()
  await paper.trade({})
  hasPosition = (await paper.positions())[0]
})
afterAll(() => paper.close())

const MAX = (2n ** 256n - 1n).toString()
const close = (fields: Record<string, unknown> = {}): Promise<Any> =>
  paper.prepare({ kind: 'decrease', collateralToPay: undefined, ...fields })

test('D.1 every violation of the shape is a field map without code, several at once all listed', async () => {
  const several = await paper.prepare({ mode: 'x', from: '0x1', size: '0', slippage: -1, tpsl: [] })
  expect(several.status).toBe(400)
  expect(several.body.code).toBeUndefined()
  expect(Object.keys(several.body.message).sort()).toEqual(['from', 'mode', 'size', 'slippage', 'tpsl'])
  for (const [fields, field] of [
    [{ kind: 'decrease', orderType: 'limit', triggerPrice: '1' }, 'orderType'],
    [{ kind: 'increase', orderType: 'take-profit', triggerPrice: '1' }, 'orderType'],
    [{ symbol: undefined }, 'symbol'],
    [{ direction: 'up' }, 'direction'],
    [{ collateralToPay: undefined }, 'collateralToPay'],
    [{ collateralToPay: { amount: '0', token: 'USDC' } }, 'collateralToPay.amount'],
    [{ kind: 'swap' }, 'receiveToken'],
    [{ orderType: 'limit', triggerPrice: '0' }, 'triggerPrice'],
    [{ orderType: 'twap' }, 'twapConfig'],
    [{ orderType: 'twap', twapConfig: { duration: 60, parts: 1 } }, 'twapConfig.parts'],
    [{ orderType: 'twap', twapConfig: { duration: 60, parts: 31 } }, 'twapConfig.parts'],
    [{ orderType: 'twap', twapConfig: { duration: 0, parts: 2 } }, 'twapConfig.duration'],
    [{ slippage: 20_000 }, 'slippage'],
    [{ orderType: 'twap', twapConfig: { duration: 60, parts: 2 }, tpsl: [{}] }, 'tpsl'],
    [{ tpsl: [{ type: 'stop-loss' }] }, 'tpsl[0].triggerPrice'],
    [{ tpsl: [{ type: 'x', triggerPrice: '1' }] }, 'tpsl[0].type'],
  ] as const) {
    const { status, body } = await paper.prepare(fields as Record<string, unknown>)
    expect([status, Object.keys(body.message)], JSON.stringify(fields)).toEqual([400, [field]])
  }
})

test('D.2 what is unknown, the same or without a route is refused with its code', async () => {
  const swap = { kind: 'swap', orderType: 'market' }
  for (const [fields, code] of [
    [{ symbol: 'NONE/USD' }, 'MARKET_NOT_FOUND'],
    [{ collateralToPay: { amount: '1', token: 'NONE' } }, 'TOKEN_NOT_FOUND'],
    [{ collateralToken: 'NONE' }, 'TOKEN_NOT_FOUND'],
    [{ ...swap, receiveToken: 'NONE' }, 'TOKEN_NOT_FOUND'],
    [{ ...swap, receiveToken: 'USDC' }, 'INVALID_PARAMS'],
    [{ ...swap, receiveToken: 'WETH', manualSwapPath: [weth] }, 'NO_SWAP_PATH'],
    [{ kind: 'decrease', direction: 'short' }, 'POSITION_NOT_FOUND'],
    [{ kind: 'decrease', collateralToken: 'WETH' }, 'POSITION_NOT_FOUND'],
  ] as const) {
    const { status, body } = await paper.prepare(fields as Record<string, unknown>)
    expect([status, body.code], JSON.stringify(fields)).toEqual([400, code])
  }
})

test('D.3 a twap swap has no swap path, a market swap of the same pair does', async () => {
  const swap = { kind: 'swap', receiveToken: 'WETH' }
  const twap = await paper.prepare({
    ...swap,
    orderType: 'twap',
    twapConfig: { duration: 600, parts: 2 },
  })
  expect(twap).toMatchObject({ status: 400, body: { code: 'NO_SWAP_PATH' } })
  expect(twap.body.message).toMatch(/swap path/i)
  expect((await paper.prepare({ ...swap, orderType: 'market' })).status).toBe(200)
})

test('D.4 what a request leaves out has the documented value', async () => {
  const longDefault = (await paper.prepare({ collateralToken: undefined })).body
  const { addresses } = longDefault.payload.typedData.message.createOrderParamsList[0]
  // Long token for a long: the USDC that is paid is swapped into it.
  expect(addresses.swapPath).not.toEqual([])
  const shortDefault = (await paper.prepare({ direction: 'short', collateralToken: undefined })).body
  expect(shortDefault.payload.typedData.message.createOrderParamsList[0].addresses.swapPath).toEqual([])
  expect(shortDefault.estimates.swapPriceImpactDeltaUsd).toBe('0')
  const onlyOne = (await close({ collateralToken: undefined })).body
  expect(onlyOne.payload.typedData.message.createOrderParamsList[0].addresses.initialCollateralToken).toBe(
    usdc,
  )
  const acceptable = async (slippage?: number): Promise<string> =>
    (await paper.prepare({ slippage })).body.payload.typedData.message.createOrderParamsList[0].numbers
      .acceptablePrice
  expect(await acceptable()).toBe(await acceptable(100))
})

test('D.4 two positions of a market and side must be told apart', async () => {
  const two = await startVenue()
  try {
    await two.trade({})
    await two.trade({ collateralToken: 'WETH' })
    const answer = await two.prepare({
      kind: 'decrease',
      collateralToPay: undefined,
      collateralToken: undefined,
    })
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_PARAMS' } })
  } finally {
    await two.close()
  }
})

test('D.5 prepare is a quote: for nobody in particular, and nothing changes', async () => {
  const nobody = '0x00000000000000000000000000000000000000A1'
  const before = await paper.balanceOf('USDC')
  const answers = await Promise.all(
    Array.from({ length: 5 }, () =>
      paper.prepare({
        from: nobody,
        size: usd(100_000),
        collateralToPay: { amount: '50000000000', token: 'USDC' },
      }),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect(new Set(answers.map(({ body }) => body.requestId)).size).toBe(5)
  expect(await paper.balanceOf('USDC')).toBe(before)
  expect(paper.venue.venueState.accounts.has(nobody.toLowerCase())).toBe(false)
})

test('D.6 a decrease larger than the position is accepted and echoed', async () => {
  const size = usd(5_000)
  const { status, body } = await close({ size })
  expect(status).toBe(200)
  expect(body.estimates.sizeDeltaUsd).toBe(size)
  expect(body.payload.typedData.message.createOrderParamsList[0].numbers.sizeDeltaUsd).toBe(size)
})

test('D.7 too much for the capacity and too little collateral block, a resting order is warned', async () => {
  const huge = { size: usd(10 ** 9), collateralToPay: { amount: '900000000000000', token: 'USDC' } }
  const market = await paper.prepare(huge)
  expect(market).toMatchObject({ status: 400, body: { code: 'INSUFFICIENT_LIQUIDITY' } })
  expect(market.body.details).toMatchObject({ requestedSizeUsd: huge.size })
  expect(market.body.details.availableLiquidity).toMatch(/^\d+$/)
  const resting = await paper.prepare({ ...huge, orderType: 'limit', triggerPrice: usd(1000) })
  expect(resting.status).toBe(200)
  expect(resting.body.validationWarnings.map(({ code }: Any) => code)).toContain('INSUFFICIENT_LIQUIDITY')
  const poor = await paper.prepare({
    direction: 'short',
    collateralToPay: { amount: '600000', token: 'USDC' },
  })
  expect(poor).toMatchObject({ status: 400, body: { code: 'INSUFFICIENT_COLLATERAL' } })
  const swapped = await paper.prepare({ collateralToken: 'WETH' })
  expect(swapped.body.validationWarnings).toContainEqual(
    expect.objectContaining({
      code: 'TRADING_CAPACITY_UNAVAILABLE',
      details: expect.objectContaining({ reason: 'COLLATERAL_SWAP' }),
    }),
  )
})

test('D.8 the answer has its ids, payload and expiry, and the request is stored as prepared', async () => {
  const { body } = await paper.prepare({})
  expect(body).toMatchObject({ mode: 'express', payloadType: 'typed-data', validationWarnings: [] })
  expect(body.requestId).not.toMatch(/^\d+$/)
  expect(typeof body.expiresAt).toBe('number')
  expect((await paper.status(body.requestId)).body.status).toBe('prepared')
  expect((await paper.prepare({ mode: 'classic' })).body).toMatchObject({
    mode: 'classic',
    payloadType: 'transaction',
  })
})

test('D.9 estimates keep to their rules', async () => {
  const estimates = async (fields: Record<string, unknown> = {}): Promise<Any> =>
    (await paper.prepare(fields)).body.estimates
  const plain = await estimates()
  expect(plain.sizeDeltaUsd).toBe(usd(1000))
  expect(BigInt(plain.executionFeeAmount)).toBeGreaterThan(0n)
  expect(BigInt(plain.positionFeeUsd)).toBeGreaterThan(0n)
  expect(plain.tradingCapacity).toBeDefined()
  const { executionFeeAmount: raisedFee, ...raised } = await estimates({ executionFeeBufferBps: 9000 })
  const { executionFeeAmount: plainFee, ...rest } = plain
  expect(BigInt(raisedFee)).toBeGreaterThan(BigInt(plainFee))
  expect(raised).toEqual(rest)
  expect(await estimates({ slippage: 900 })).toEqual(plain)
  expect((await estimates({ collateralToPay: { amount: '900000000', token: 'USDC' } })).positionFeeUsd).toBe(
    plain.positionFeeUsd,
  )
  const limit = { orderType: 'limit', triggerPrice: usd(1500) }
  const price = async (fields: Record<string, unknown>): Promise<bigint> =>
    BigInt((await estimates(fields)).acceptablePrice)
  expect(await price(limit)).toBeGreaterThan(BigInt(usd(1500)))
  expect(await price({ ...limit, direction: 'short' })).toBeLessThan(BigInt(usd(1500)))
  const stop = { orderType: 'stop-market', triggerPrice: usd(3000) }
  expect(await price(stop)).toBe(BigInt(MAX))
  expect(await price({ ...stop, direction: 'short' })).toBe(0n)
  const twap = { orderType: 'twap', twapConfig: { duration: 600, parts: 4 } }
  expect((await estimates(twap)).sizeDeltaUsd).toBe(usd(1000))
  const swap = { kind: 'swap', receiveToken: 'WETH', symbol: undefined, size: undefined }
  expect((await estimates(swap)).sizeDeltaUsd).toBe('0')
})

test('E.1 to E.4 the payload is a true batch: domain, types, message, hashes', async () => {
  const { body } = await paper.prepare({ from: trader.address.toLowerCase() })
  const { typedData, batchParams, relayParams, relayRouterAddress } = body.payload
  expect(Object.keys(batchParams)).toEqual(['createOrderParams', 'updateOrderParams', 'cancelOrderParams'])
  const router = chains.arbitrum.contracts.gelatoRelayRouter
  expect(relayRouterAddress).toBe(router)
  expect(typedData.domain).toEqual({
    name: 'GmxBaseGelatoRelayRouter',
    version: '1',
    chainId: 42161,
    verifyingContract: router,
  })
  expect(Object.keys(typedData.types)).toEqual([
    'Batch',
    'CreateOrderParams',
    'CreateOrderAddresses',
    'CreateOrderNumbers',
    'UpdateOrderParams',
  ])
  const { message } = typedData
  expect(message.account).toBe(`0x${'00'.repeat(20)}`)
  expect(message.subaccountApproval).toBe(`0x${'00'.repeat(32)}`)
  expect(message.relayParams).toBe(
    hashRelayParams({
      ...relayParams,
      fee: { ...relayParams.fee, feeAmount: BigInt(relayParams.fee.feeAmount) },
      userNonce: BigInt(relayParams.userNonce),
      deadline: BigInt(relayParams.deadline),
      desChainId: BigInt(relayParams.desChainId),
    }),
  )
  const [order] = message.createOrderParamsList
  expect(order.addresses).toMatchObject({
    receiver: trader.address,
    cancellationReceiver: `0x${'00'.repeat(20)}`,
    market: ethMarket,
  })
  // Contract prices: USD times 10^(30 - 18) for ETH.
  expect(order.numbers.acceptablePrice).toMatch(/^\d{15,17}$/)
  const signature = await trader.signTypedData(typedData)
  expect(await recoverTypedDataAddress({ ...typedData, signature })).toBe(trader.address)
  const again = (await paper.prepare({})).body.payload.relayParams
  expect(again.userNonce).not.toBe(relayParams.userNonce)
})

test('E.5 attached orders and twap parts are further orders of the batch; slippage moves both prices', async () => {
  const tpsl = (
    await paper.prepare({
      tpsl: [
        { type: 'take-profit', triggerPrice: usd(3000) },
        { type: 'stop-loss', triggerPrice: usd(1000), size: usd(400) },
      ],
    })
  ).body.payload
  expect(tpsl.typedData.message.createOrderParamsList.map((order: Any) => order.orderType)).toEqual([2, 5, 6])
  expect(
    tpsl.typedData.message.createOrderParamsList.map((order: Any) => order.numbers.sizeDeltaUsd),
  ).toEqual([usd(1000), usd(1000), usd(400)])
  const twap = (await paper.prepare({ orderType: 'twap', twapConfig: { duration: 900, parts: 4 } })).body
    .payload.typedData.message.createOrderParamsList as Any[]
  const times = twap.map((order) => Number(order.numbers.validFromTime))
  expect(times.map((time) => time - (times[0] ?? 0))).toEqual([0, 300, 600, 900])
  const [narrow, wide] = await Promise.all([
    paper.prepare({ slippage: 30 }),
    paper.prepare({ slippage: 300 }),
  ])
  for (const read of [
    (payload: Any) => payload.typedData.message.createOrderParamsList[0].numbers.acceptablePrice,
    (payload: Any) => payload.batchParams.createOrderParams[0].orderPayload.numbers.acceptablePrice,
  ]) {
    expect(BigInt(read(wide.body.payload))).toBeGreaterThan(BigInt(read(narrow.body.payload)))
  }
})

test('E.6 a classic payload is a multicall of the exchange router that pays the execution fee', async () => {
  const { payload, estimates } = (await paper.prepare({ mode: 'classic' })).body
  expect(payload.to).toBe(chains.arbitrum.contracts.exchangeRouter)
  expect(payload.data).toMatch(/^0xac9650d8/)
  expect(BigInt(payload.value)).toBeGreaterThanOrEqual(BigInt(estimates.executionFeeAmount))
  expect(hasPosition.isLong).toBe(true)
})
