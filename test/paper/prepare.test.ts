/** What prepare refuses, warns of and quotes. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Any, startVenue, stranger, trader, usd, usdc, weth } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
beforeAll(async () => {
  paper = await startVenue()
})
afterAll(() => paper.close())

test('every violation of the shape is listed at once, without a code', async () => {
  const answer = await paper.post('/orders/txns/prepare', {
    mode: 'fast',
    kind: 'increase',
    orderType: 'take-profit',
    from: '0x12',
    slippage: 20_000,
    size: '0',
  })
  expect(answer.status).toBe(400)
  expect(answer.body).toEqual({
    message: {
      mode: { message: "'mode' must be one of express, classic", value: 'fast' },
      orderType: { message: "'take-profit' does not fit kind 'increase'", value: 'take-profit' },
      from: { message: "'from' is not an address", value: '0x12' },
      symbol: { message: "'symbol' is required" },
      direction: { message: "'direction' is required" },
      size: { message: "'size' must be a positive integer", value: '0' },
      collateralToPay: { message: "'collateralToPay' is required" },
      triggerPrice: { message: "'triggerPrice' is required" },
      slippage: { message: "'slippage' must be an integer from 0 to 10000", value: 20_000 },
    },
  })
})

test('each documented refusal of the shape is a field', async () => {
  const twap = { orderType: 'twap', twapConfig: { duration: 600, parts: 4 } }
  const cases: [Record<string, unknown>, string][] = [
    [{ slippage: -1 }, 'slippage'],
    [{ slippage: 1.5 }, 'slippage'],
    [{ orderType: 'limit', triggerPrice: '0' }, 'triggerPrice'],
    [{ ...twap, twapConfig: { duration: 0, parts: 4 } }, 'twapConfig.duration'],
    [{ ...twap, twapConfig: { duration: 600, parts: 1 } }, 'twapConfig.parts'],
    [{ ...twap, twapConfig: { duration: 600, parts: 31 } }, 'twapConfig.parts'],
    [{ ...twap, twapConfig: undefined }, 'twapConfig'],
    [{ ...twap, tpsl: [{ type: 'stop-loss', triggerPrice: usd(1) }] }, 'tpsl'],
    [{ tpsl: [] }, 'tpsl'],
    [{ tpsl: [{ type: 'limit', triggerPrice: usd(1) }] }, 'tpsl[0].type'],
    [{ tpsl: [{ type: 'stop-loss' }] }, 'tpsl[0].triggerPrice'],
    [{ kind: 'swap' }, 'receiveToken'],
    [{ collateralToPay: { amount: '0', token: 'USDC' } }, 'collateralToPay.amount'],
    [{ direction: 'up' }, 'direction'],
  ]
  for (const [fields, name] of cases) {
    const answer = await paper.prepare(fields)
    expect(answer.status, JSON.stringify(fields)).toBe(400)
    expect(Object.keys(answer.body.message), JSON.stringify(fields)).toEqual([name])
  }
})

test('what the market cannot do is refused with its code', async () => {
  const cases: [Record<string, unknown>, string][] = [
    [{ symbol: 'NOPE/USD' }, 'MARKET_NOT_FOUND'],
    [{ collateralToPay: { amount: '1', token: 'NOPE' } }, 'TOKEN_NOT_FOUND'],
    [{ collateralToken: 'NOPE' }, 'TOKEN_NOT_FOUND'],
    [{ collateralToken: 'ARB' }, 'INVALID_PARAMS'],
    [{ collateralToPay: { amount: '1', token: 'ETH' } }, 'INVALID_PARAMS'],
    [{ kind: 'decrease' }, 'POSITION_NOT_FOUND'],
    [{ kind: 'swap', receiveToken: 'USDC' }, 'INVALID_PARAMS'],
    [
      { kind: 'swap', receiveToken: 'WETH', orderType: 'twap', twapConfig: { duration: 60, parts: 2 } },
      'NO_SWAP_PATH',
    ],
    [{ collateralToPay: { amount: '1', token: 'USDC' } }, 'INSUFFICIENT_COLLATERAL'],
    [{ gasPaymentToken: 'ARB' }, 'INVALID_PARAMS'],
    [{ manualSwapPath: ['0x12'], collateralToken: 'WETH' }, 'NO_SWAP_PATH'],
  ]
  for (const [fields, code] of cases) {
    const answer = await paper.prepare(fields)
    expect([answer.status, answer.body.code], JSON.stringify(fields)).toEqual([400, code])
  }
})

test('a market increase above capacity is refused with the capacity, a resting one is warned of', async () => {
  const size = usd(500_000_000)
  const refused = await paper.prepare({ size })
  expect(refused.body.code).toBe('INSUFFICIENT_LIQUIDITY')
  expect(refused.body.details).toMatchObject({ requestedSizeUsd: size, jitDataStatus: 'available' })
  const resting = await paper.prepare({
    size,
    orderType: 'limit',
    triggerPrice: usd(1000),
    collateralToPay: { amount: '100000000000000', token: 'USDC' },
  })
  expect(resting.status).toBe(200)
  expect(resting.body.validationWarnings).toMatchObject([
    { code: 'INSUFFICIENT_LIQUIDITY', details: { requestedSizeUsd: size } },
  ])
})

test('sizes at the end of the integers are refused, not stumbled over', async () => {
  const huge = { collateralToPay: { amount: '9'.repeat(76), token: 'USDC' } }
  expect((await paper.prepare({ ...huge, size: '9'.repeat(77) })).body.code).toBe('INSUFFICIENT_LIQUIDITY')
  const resting = { ...huge, size: '9'.repeat(77), orderType: 'limit', triggerPrice: usd(1000) }
  expect((await paper.prepare(resting)).body.code).toBe('INVALID_PARAMS')
  expect((await paper.prepare({ size: '9'.repeat(78) })).body.message.size.message).toBe(
    "'size' must be a positive integer",
  )
  expect((await paper.prepare({ slippage: 10_000, direction: 'short' })).status).toBe(200)
})

test('paying in another token than the collateral swaps and is warned of', async () => {
  const { body } = await paper.prepare({ collateralToken: 'WETH' })
  expect(body.validationWarnings).toMatchObject([
    { code: 'TRADING_CAPACITY_UNAVAILABLE', details: { reason: 'COLLATERAL_SWAP' } },
  ])
  const [order] = body.payload.typedData.message.createOrderParamsList
  expect(order.addresses.initialCollateralToken).toBe(usdc)
  expect(order.addresses.swapPath).toHaveLength(1)
})

test('slippage moves only the acceptable price inside the payload', async () => {
  const [narrow, wide] = [
    (await paper.prepare({ slippage: 30 })).body,
    (await paper.prepare({ slippage: 300 })).body,
  ]
  const acceptable = (body: Any) =>
    BigInt(body.payload.typedData.message.createOrderParamsList[0].numbers.acceptablePrice)
  expect(acceptable(wide) > acceptable(narrow)).toBe(true)
  expect(wide.estimates).toEqual(narrow.estimates)
  const estimate = BigInt(narrow.estimates.acceptablePrice) / 10n ** 18n
  expect(acceptable(narrow)).toBe((estimate * 10_030n) / 10_000n)
})

test('the acceptable price of each type follows its rule', async () => {
  const acceptable = async (fields: Record<string, unknown>) =>
    BigInt((await paper.prepare(fields)).body.estimates.acceptablePrice)
  const triggerPrice = usd(1500)
  const any = 2n ** 256n - 1n
  expect((await acceptable({ orderType: 'limit', triggerPrice })) > BigInt(triggerPrice)).toBe(true)
  const short = { direction: 'short', orderType: 'limit', triggerPrice }
  expect((await acceptable(short)) < BigInt(triggerPrice)).toBe(true)
  expect(await acceptable({ orderType: 'stop-market', triggerPrice })).toBe(any)
  expect(await acceptable({ direction: 'short', orderType: 'stop-market', triggerPrice })).toBe(0n)
})

test('two prepares of the same order differ in nonce and request and change nothing', async () => {
  const before = await paper.balanceOf('USDC')
  const [one, two] = [(await paper.prepare({})).body, (await paper.prepare({})).body]
  expect(one.requestId).not.toBe(two.requestId)
  expect(one.payload.relayParams.userNonce).not.toBe(two.payload.relayParams.userNonce)
  expect(one.payload.typedData.message.relayParams).not.toBe(two.payload.typedData.message.relayParams)
  expect(await paper.balanceOf('USDC')).toBe(before)
  expect(await paper.positions()).toEqual([])
})

test('the fee buffer raises the execution fee and nothing else', async () => {
  const low = (await paper.prepare({ executionFeeBufferBps: 0 })).body.estimates
  const high = (await paper.prepare({ executionFeeBufferBps: 10_000 })).body.estimates
  const { executionFeeAmount: lowFee, ...lowRest } = low
  const { executionFeeAmount: highFee, ...highRest } = high
  // 10 % for the relay are in both: 2.1 times against 1.1 times the gas price, which is whole wei.
  expect(Number(highFee) / Number(lowFee)).toBeCloseTo(2.1 / 1.1, 6)
  expect(highRest).toEqual(lowRest)
})

test('tpsl and twap become several orders in one batch', async () => {
  const tpsl = (
    await paper.prepare({
      tpsl: [
        { type: 'take-profit', triggerPrice: usd(5000) },
        { type: 'stop-loss', triggerPrice: usd(500), size: usd(400) },
      ],
    })
  ).body.payload.typedData.message.createOrderParamsList
  expect(tpsl.map((order: Any) => [order.orderType, order.autoCancel, order.numbers.sizeDeltaUsd])).toEqual([
    [2, false, usd(1000)],
    [5, true, usd(1000)],
    [6, true, usd(400)],
  ])
  const twap = (await paper.prepare({ orderType: 'twap', twapConfig: { duration: 600, parts: 3 } })).body
  const parts = twap.payload.typedData.message.createOrderParamsList
  const start = paper.clock.now() / 1000
  expect(parts.map((order: Any) => Number(order.numbers.validFromTime) - start)).toEqual([0, 300, 600])
  expect(twap.estimates.sizeDeltaUsd).toBe(usd(1000))
})

test('bodies that are no JSON objects and unknown fields are handled', async () => {
  expect((await paper.post('/orders/txns/prepare', '[1]')).status).toBe(400)
  expect((await paper.post('/orders/txns/prepare', '{')).status).toBe(400)
  expect((await paper.prepare({ somethingNew: 1 })).status).toBe(200)
})

test('lower-case addresses come back checksummed and the receiver is the account', async () => {
  const { body } = await paper.prepare({ from: stranger.address.toLowerCase() })
  const [order] = body.payload.typedData.message.createOrderParamsList
  expect(order.addresses).toMatchObject({ receiver: stranger.address, initialCollateralToken: usdc })
  expect(body.payload.relayParams.oracleParams.tokens).toEqual([usdc, weth])
  expect(trader.address).not.toBe(stranger.address)
})
