/** The generic relay: own calldata, digests used once, deadlines. */
import { encodeFunctionData, keccak256 } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { relayRouterAbi } from '../../src/paper/keeper/relayCall.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { type Any, startVenue, stranger, trader, usd } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
beforeEach(async () => {
  paper = await startVenue()
})
afterEach(() => paper.close())

const router = chains.arbitrum.contracts.gelatoRelayRouter

/** Turns decimal texts of the wire into bigints where the ABI wants them. */
function calldata(prepared: Any, signature: `0x${string}`): `0x${string}` {
  const { relayParams, typedData } = prepared.payload
  const orders = typedData.message.createOrderParamsList.map((order: Any) => ({
    ...order,
    numbers: Object.fromEntries(
      Object.entries(order.numbers).map(([name, value]) => [name, BigInt(String(value))]),
    ),
  }))
  return encodeFunctionData({
    abi: relayRouterAbi,
    functionName: 'batch',
    args: [
      {
        ...relayParams,
        fee: { ...relayParams.fee, feeAmount: BigInt(relayParams.fee.feeAmount) },
        userNonce: BigInt(relayParams.userNonce),
        deadline: BigInt(relayParams.deadline),
        desChainId: BigInt(relayParams.desChainId),
        signature,
      },
      trader.address,
      { createOrderParamsList: orders, updateOrderParamsList: [], cancelOrderKeys: [] },
    ],
  })
}

test('calldata of the published example has the published length and hash', () => {
  const zero = `0x${'00'.repeat(20)}` as const
  const usdc = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'
  const weth = '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1'
  const provider = chains.arbitrum.contracts.chainlinkPriceFeedProvider
  const market = '0x70d95587d40A2caf56bd97485aB3Eec10Bee6336'
  const data = encodeFunctionData({
    abi: relayRouterAbi,
    functionName: 'batch',
    args: [
      {
        oracleParams: { tokens: [usdc, weth], providers: [provider, provider], data: ['0x', '0x'] },
        externalCalls: {
          sendTokens: [],
          sendAmounts: [],
          externalCallTargets: [],
          externalCallDataList: [],
          refundTokens: [],
          refundReceivers: [],
        },
        tokenPermits: [],
        fee: { feeToken: usdc, feeAmount: 250_000n, feeSwapPath: [market] },
        userNonce: 1_800_000_000n,
        deadline: 1_800_003_600n,
        signature:
          '0x039bd55c95e6a7d570b326f59b75701456acec11fcca9987ec9dee1f3a17d2f228440cdaf72118a3b7300f1776c97502c3e2e04478bd0501d7c469cb0b2e59ab1b',
        desChainId: 42161n,
      },
      '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A',
      {
        createOrderParamsList: [
          {
            addresses: {
              receiver: '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A',
              cancellationReceiver: zero,
              callbackContract: zero,
              uiFeeReceiver: zero,
              market,
              initialCollateralToken: usdc,
              swapPath: [],
            },
            numbers: {
              sizeDeltaUsd: 10n ** 31n,
              initialCollateralDeltaAmount: 3_000_000n,
              triggerPrice: 0n,
              acceptablePrice: 1_818_000_000_000_000n,
              executionFee: 100_000_000_000_000n,
              callbackGasLimit: 0n,
              minOutputAmount: 0n,
              validFromTime: 0n,
            },
            orderType: 2,
            decreasePositionSwapType: 0,
            isLong: true,
            shouldUnwrapNativeToken: false,
            autoCancel: false,
            referralCode: `0x${'00'.repeat(32)}`,
            dataList: ['0x676d786f3a313a303a303030303a30313a303a31000000000000000000000000'],
          },
        ],
        updateOrderParamsList: [],
        cancelOrderKeys: [],
      },
    ],
  })
  expect(data.slice(0, 10)).toBe('0x0427ef5f')
  expect((data.length - 2) / 2).toBe(2564)
  expect(keccak256(data)).toBe('0x29f20ea04e42bef0a527ebc2b212f0f634e908886c757c18dab200f13191f634')
})

test('relayed calldata creates the order and its task ends executed', async () => {
  const prepared = (await paper.prepare({})).body
  const data = calldata(prepared, await paper.sign(prepared))
  const { body } = await paper.post('/relay/submit', { to: router.toLowerCase(), data })
  expect(body).toMatchObject({ status: 'pending' })
  paper.clock.move(2500)
  const done = await paper.call('POST', `${paper.peer}/relay/status`, { taskId: body.taskId })
  expect(done.body).toMatchObject({ taskId: body.taskId, status: 'executed' })
  expect((await paper.positions())[0].sizeInUsd).toBe(usd(1000))
  expect((await paper.status(prepared.requestId)).body.status).toBe('prepared')
})

test('a digest lands once, in whichever lane it comes first', async () => {
  const prepared = (await paper.prepare({})).body
  const data = calldata(prepared, await paper.sign(prepared))
  await paper.submit(prepared)
  paper.clock.move(2500)
  const { body } = await paper.post('/relay/submit', { to: router, data })
  paper.clock.move(2500)
  const status = (await paper.post('/relay/status', { taskId: body.taskId })).body
  expect(status.status).toBe('reverted')
  expect(status.reason).toMatch(/^InvalidUserDigest\(0x[0-9a-f]{64}\)$/)
  expect(status.revertData.slice(0, 10)).toBe('0x1041c08a')
  expect((await paper.positions())[0].sizeInUsd).toBe(usd(1000))
})

test('calldata lands at its deadline and not a second later', async () => {
  const late = async (moveMs: number): Promise<string> => {
    const prepared = (await paper.prepare({})).body
    const data = calldata(prepared, await paper.sign(prepared))
    paper.clock.move(moveMs)
    const { body } = await paper.post('/relay/submit', { to: router, data })
    paper.clock.move(5000)
    return (await paper.post('/relay/status', { taskId: body.taskId })).body.status
  }
  expect(await late(300_000)).toBe('executed')
  expect(await late(301_000)).toBe('reverted')
})

test('another target, other calldata, another signer and unknown tasks are refused', async () => {
  const prepared = (await paper.prepare({})).body
  const forged = calldata(prepared, await paper.sign(prepared, stranger))
  const cases: [unknown, unknown][] = [
    [{ to: trader.address, data: '0x00' }, { message: 'to is not an allowlisted relay router' }],
    [
      { to: router, data: '0x12345678' },
      {
        message: {
          data: { message: "'data' is not calldata of a supported function of the relay router" },
        },
      },
    ],
    [{ to: router }, { message: { data: { message: "'data' is required" } } }],
    [
      { to: router, data: '0x0' },
      { message: { data: { message: "'data' must be bytes as 0x and hex digits" } } },
    ],
    [
      { to: router, data: forged },
      { code: 'INVALID_SIGNATURE', message: 'The calldata is not signed by the account' },
    ],
  ]
  for (const [body, answer] of cases) {
    const refused = await paper.post('/relay/submit', body)
    expect([refused.status, refused.body]).toEqual([400, answer])
  }
  expect((await paper.post('/relay/status', { taskId: '12' })).body).toEqual({
    message: { taskId: { message: "'taskId' must be a 32-byte hex string", value: '12' } },
  })
  expect((await paper.post('/relay/status', {})).body).toEqual({
    message: { taskId: { message: "'taskId' is required" } },
  })
  const unknown = await paper.post('/relay/status', { taskId: `0x${'0'.repeat(64)}` })
  expect([unknown.status, unknown.body]).toEqual([404, { message: 'no relay operation' }])
})
