import { expect, test } from 'vitest'
import {
  getOrderStatus,
  type OrderTicket,
  prepareOrder,
  submitOrder,
} from '../../src/api/orders/expressOrders.ts'
import type { PrepareIncrease, PrepareRequest } from '../../src/api/orders/prepareRequest.ts'
import { DecodeError, proves } from '../../src/api/transport/apiErrors.ts'
import { emptySubaccountApproval } from '../../src/protocol/signing/approvalTypes.ts'
import { digestOf, domainSeparator, hashRelayParams } from '../../src/protocol/signing/relayRouter.ts'
import { MAX_UINT256, ONE_USD } from '../../src/protocol/units.ts'
import { failureOf, fixtureText, START_MS, scriptedTransport, transportAnswering } from './support.ts'

const account = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'
const router = '0x5503b99308dB6923758F9A22d118207D633c4e87'

const increase: PrepareIncrease = {
  kind: 'increase',
  orderType: 'market',
  from: account,
  symbol: 'ETH/USD [WETH-USDC]',
  direction: 'long',
  sizeDeltaUsd: 10n * ONE_USD,
  slippageBps: 100,
  collateralToken: 'USDC',
  collateralToPay: { amount: 3_000_000n, token: 'USDC' },
}

async function bodyOf(request: PrepareRequest): Promise<unknown> {
  const { transport, seen } = scriptedTransport(() => ({ body: fixtureText('prepare') }))
  await prepareOrder(transport, request)
  return JSON.parse(seen[0]?.body ?? '')
}

test('an increase goes on the wire as documented, amounts as decimal texts', async () => {
  expect(await bodyOf(increase)).toEqual({
    kind: 'increase',
    symbol: 'ETH/USD [WETH-USDC]',
    direction: 'long',
    orderType: 'market',
    size: '10000000000000000000000000000000',
    slippage: 100,
    collateralToken: 'USDC',
    collateralToPay: { amount: '3000000', token: 'USDC' },
    mode: 'express',
    from: account,
  })
})

test('a close is a decrease of the whole size', async () => {
  expect(
    await bodyOf({
      kind: 'decrease',
      orderType: 'market',
      from: account,
      symbol: 'ETH/USD [WETH-USDC]',
      direction: 'short',
      sizeDeltaUsd: 1n,
      slippageBps: 30,
      collateralToken: 'USDC',
      keepLeverage: false,
      receiveToken: 'USDC',
    }),
  ).toEqual({
    kind: 'decrease',
    symbol: 'ETH/USD [WETH-USDC]',
    direction: 'short',
    orderType: 'market',
    size: '1',
    slippage: 30,
    collateralToken: 'USDC',
    keepLeverage: false,
    receiveToken: 'USDC',
    mode: 'express',
    from: account,
  })
})

test('every optional field has its wire name and unit', async () => {
  expect(
    await bodyOf({
      ...increase,
      orderType: 'limit',
      triggerPrice: 1_700n * ONE_USD,
      manualSwapPath: [router],
      acceptablePriceImpactBps: 40n,
      executionFeeBufferBps: 3000,
      twapConfig: { durationSeconds: 600, parts: 3 },
      gasPaymentToken: router,
      referralCode: `0x${'01'.repeat(32)}`,
      uiFeeReceiver: account,
      autoCancel: true,
      subaccountAddress: account,
      subaccountApproval: emptySubaccountApproval(account, 42_161),
      tpsl: [{ type: 'stop-loss', triggerPrice: 1_600n * ONE_USD, sizeDeltaUsd: 5n * ONE_USD }],
    }),
  ).toMatchObject({
    triggerPrice: `1700${'0'.repeat(30)}`,
    manualSwapPath: [router],
    acceptablePriceImpactBps: '40',
    executionFeeBufferBps: 3000,
    twapConfig: { duration: 600, parts: 3 },
    gasPaymentToken: router,
    referralCode: `0x${'01'.repeat(32)}`,
    uiFeeReceiver: account,
    autoCancel: true,
    subaccountAddress: account,
    subaccountApproval: { subaccount: account, signature: '0x', desChainId: '42161', nonce: '0' },
    tpsl: [{ type: 'stop-loss', triggerPrice: `1600${'0'.repeat(30)}`, size: `5${'0'.repeat(30)}` }],
  })
})

test('a swap sends its pay amount as its size too', async () => {
  expect(
    await bodyOf({
      kind: 'swap',
      orderType: 'market',
      from: account,
      symbol: 'ETH/USD [WETH-USDC]',
      slippageBps: 50,
      collateralToPay: { amount: 7n, token: 'USDC' },
      receiveToken: 'WETH',
    }),
  ).toMatchObject({ size: '7', collateralToPay: { amount: '7', token: 'USDC' }, receiveToken: 'WETH' })
})

test('what was prepared is decoded to what the contract hashes', async () => {
  const { transport } = scriptedTransport(() => ({ body: fixtureText('prepare') }))
  const { value } = await prepareOrder(transport, increase)
  expect(value).toMatchObject({
    host: 'http://one/v1',
    requestId: '6f1c-0a7e',
    idempotencyKey: 'b2d4-11',
    mode: 'express',
    relayRouterAddress: router,
    expiresAtSeconds: 1_800_000_300,
    typedData: {
      domain: { name: 'GmxBaseGelatoRelayRouter', version: '1', chainId: 42161, verifyingContract: router },
      primaryType: 'Batch',
    },
    estimates: { executionFeeAmount: 100_000_000_000_000n, positionPriceImpactDeltaUsd: -1n },
    validationWarnings: [
      {
        code: 'TRADING_CAPACITY_UNAVAILABLE',
        message: 'Capacity could not be checked.',
        details: { reason: 'JIT_DATA_UNAVAILABLE' },
      },
      { code: 'WARNING', message: '{"note":"no code"}' },
      { code: 'WARNING', message: 'thin book' },
    ],
  })
  expect(value.typedData.batch.createOrderParamsList[0]?.numbers).toEqual({
    sizeDeltaUsd: 10n * ONE_USD,
    initialCollateralDeltaAmount: 3_000_000n,
    triggerPrice: 0n,
    acceptablePrice: 1_818_000_000_000_000n,
    executionFee: 100_000_000_000_000n,
    callbackGasLimit: 0n,
    minOutputAmount: 0n,
    validFromTime: 0n,
  })
  expect(hashRelayParams(value.relayParams)).toBe(value.typedData.batch.relayParams)
  expect(digestOf(domainSeparator(42161, router), value.typedData.batch)).toBe(
    '0x0b3e949ed2b86ef6c9e650faa8d536d7853caf9aea0a5dcc83355cc990afca8d',
  )
})

test('amounts may come as JSON numbers, none passes a float, and the echo goes back digit for digit', async () => {
  const text = fixtureText('prepare')
    .replaceAll(/"(0|[1-9]\d{3,})"/g, '$1')
    .replace('"acceptablePrice": 1818000000000000,', `"acceptablePrice": ${MAX_UINT256},`)
  expect(text).toContain('"sizeDeltaUsd": 10000000000000000000000000000000')
  const { transport, seen } = scriptedTransport((_, index) => ({
    body: index === 0 ? text : fixtureText('submit'),
  }))
  const { value } = await prepareOrder(transport, increase)
  const numbers = value.typedData.batch.createOrderParamsList[0]?.numbers
  expect(numbers?.sizeDeltaUsd).toBe(10n * ONE_USD)
  expect(numbers?.acceptablePrice).toBe(MAX_UINT256)

  await submitOrder(transport, value, { from: account, signature: '0x1b', echo: value.echo })
  const echoed = /"eip712Data":(.*)\}$/.exec(seen[1]?.body ?? '')?.[1]
  const squeezed = text
    .replaceAll(/\s*\n\s*/g, '')
    .replaceAll('": ', '":')
    .replaceAll(', "', ',"')
  const raw = (name: string, next: string) =>
    squeezed.slice(
      squeezed.indexOf(`"${name}":{`),
      squeezed.indexOf(`,"${next}"`, squeezed.indexOf(`"${name}":{`)),
    )
  expect(echoed).toBe(`{${raw('batchParams', 'relayParams')},${raw('relayParams', 'relayRouterAddress')}}`)
})

test('fractions, signs, exponents and lost fields in what is to be signed are errors with their path', async () => {
  const hostile: readonly (readonly [string, string, string])[] = [
    ['"sizeDeltaUsd": "10000000000000000000000000000000"', '"sizeDeltaUsd": 1e31', 'numbers.sizeDeltaUsd'],
    ['"sizeDeltaUsd": "10000000000000000000000000000000"', '"sizeDeltaUsd": "-1"', 'numbers.sizeDeltaUsd'],
    ['"executionFee": "100000000000000"', '"executionFee": "0100000000000000"', 'numbers.executionFee'],
    [
      '"acceptablePrice": "1818000000000000"',
      '"acceptablePrice": "1818000000000000.5"',
      'numbers.acceptablePrice',
    ],
    ['"isLong": true', '"isLong": "true"', 'isLong'],
    ['"isLong": true,', '', 'isLong'],
  ]
  for (const [from, to, path] of hostile) {
    const body = fixtureText('prepare').replace(from, to)
    const transport = transportAnswering(body)
    const error = await failureOf(prepareOrder(transport, increase, { attempts: 1 }))
    expect(error).toBeInstanceOf(DecodeError)
    expect((error as DecodeError).path).toBe(`payload.typedData.message.createOrderParamsList[0].${path}`)
  }
})

test('a prepare answer without the relay parameters, the echo or a request id is not prepared', async () => {
  for (const [field, path] of [
    ['relayParams', 'payload.relayParams'],
    ['batchParams', 'payload.batchParams'],
    ['typedData', 'payload.typedData'],
  ] as const) {
    const body = JSON.parse(fixtureText('prepare')) as { payload: Record<string, unknown> }
    delete body.payload[field]
    const error = await failureOf(prepareOrder(transportAnswering(body), increase, { attempts: 1 }))
    expect(error).toMatchObject({ path })
  }
  const { requestId: _gone, ...rest } = JSON.parse(fixtureText('prepare')) as Record<string, unknown>
  expect(await failureOf(prepareOrder(transportAnswering(rest), increase, { attempts: 1 }))).toMatchObject({
    path: 'requestId',
  })
  const classic = { ...rest, requestId: 'r', mode: 'classic', payloadType: 'transaction' }
  expect(await failureOf(prepareOrder(transportAnswering(classic), increase, { attempts: 1 }))).toMatchObject(
    {
      path: 'mode',
    },
  )
})

test('expiry in milliseconds is read as seconds', async () => {
  const body = fixtureText('prepare').replace('"expiresAt": 1800000300', '"expiresAt": 1800000300999')
  const { value } = await prepareOrder(transportAnswering(body), increase)
  expect(value.expiresAtSeconds).toBe(1_800_000_300)
})

test('a refused prepare tells the code, the numbers behind it and the trace id', async () => {
  const details = { availableLiquidity: '5', requestedSizeUsd: '10' }
  const { transport, seen } = scriptedTransport(() => ({
    status: 400,
    body: { code: 'INSUFFICIENT_LIQUIDITY', message: 'Not enough liquidity', details },
    headers: { 'X-Trace-Id': 'tr-1' },
  }))
  const error = await failureOf(prepareOrder(transport, increase))
  expect(seen).toHaveLength(1)
  expect(error).toMatchObject({
    serverCode: 'INSUFFICIENT_LIQUIDITY',
    serverDetails: details,
    traceId: 'tr-1',
  })
  expect(String(error)).toMatchInlineSnapshot(`
    "RefusedError: one refused POST /orders/txns/prepare: INSUFFICIENT_LIQUIDITY: Not enough liquidity.
      status: 400
      host: http://one/v1
      serverDetails: {"availableLiquidity":"5","requestedSizeUsd":"10"}
      traceId: tr-1
      Nothing was signed, and perpd does not request the same order again."
  `)
})

const ticket: OrderTicket = { host: 'http://two/v1', requestId: '6f1c-0a7e' }

test('a status tells all it knows and the clock of its host', async () => {
  const { transport, seen } = scriptedTransport(() => ({
    body: fixtureText('status'),
    headers: { Date: new Date(START_MS + 5_000).toUTCString() },
  }))
  const read = await getOrderStatus(transport, ticket)
  expect(seen[0]).toMatchObject({
    url: 'http://two/v1/orders/txns/status',
    method: 'POST',
    body: '{"requestId":"6f1c-0a7e"}',
  })
  expect(read.serverDateMs).toBe(START_MS + 5_000)
  expect(read.value).toEqual({
    requestId: '6f1c-0a7e',
    status: 'executed',
    statusText: 'executed',
    createdTxnHash: `0x${'c1'.repeat(32)}`,
    executionTxnHash: `0x${'c2'.repeat(32)}`,
    orderKeys: [`0x${'0c'.repeat(32)}`],
    taskId: `0x${'7a'.repeat(32)}`,
    gelatoStatusCode: 230,
    createdAtMs: Date.UTC(2027, 0, 15, 8),
    updatedAtMs: 1_800_000_007_000,
  })
})

test('a status of a newer venue is unrecognised, and a bare one is enough', async () => {
  const newer = await getOrderStatus(
    transportAnswering({ requestId: '6f1c-0a7e', status: 'settling' }),
    ticket,
  )
  expect(newer.value).toEqual({
    requestId: '6f1c-0a7e',
    status: 'unrecognised',
    statusText: 'settling',
    orderKeys: [],
  })
})

test('a 200 to a submit can say that the relay refused', async () => {
  const transport = transportAnswering({
    requestId: '6f1c-0a7e',
    status: 'relay_failed',
    error: { code: 'RELAY_REJECTED', message: 'no' },
  })
  const { value } = await submitOrder(transport, ticket, {
    from: account,
    signature: '0x1b',
    echo: { batchParams: {}, relayParams: {} },
  })
  expect(value).toMatchObject({ status: 'relay_failed', error: { code: 'RELAY_REJECTED', message: 'no' } })
})

test('an answer about another request is no answer', async () => {
  const transport = transportAnswering({ requestId: 'another', status: 'executed' })
  const error = await failureOf(getOrderStatus(transport, ticket, { attempts: 1 }))
  expect(error).toBeInstanceOf(DecodeError)
  expect(error).toMatchObject({ path: 'requestId', problem: 'is not 6f1c-0a7e' })
  expect(proves(error)).toBe('nothing')
})
