/** The GMX account over real sockets: deposits prepared, withdrawals signed and relayed. */
import { decodeFunctionData, hashTypedData, parseAbi } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { transferRouterAbi } from '../../src/paper/keeper/gmxAccount.ts'
import { bridgeOutTypes } from '../../src/paper/requests/withdrawals.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { clientsOf, digestsAbi } from './chainSupport.ts'
import { type Any, startVenue, stranger, trader, usdc } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
beforeEach(async () => {
  paper = await startVenue()
})
afterEach(() => paper.close())

const router = chains.arbitrum.contracts.multichainTransferRouter
const base = 8453
const bridgeOutParams = {
  token: usdc,
  amount: '500000',
  minAmountOut: '495000',
  provider: '0xe8CDF27AcD73a434D661C84887215F7598e7d0d3',
  data: `0x${(30184).toString(16).padStart(64, '0')}`,
}
const path = (step: string): string => `/gmx-account/withdraw/cross-chain/${step}`

const prepare = (fields: Any = {}) =>
  paper.post(path('prepare'), { srcChainId: base, account: trader.address, bridgeOutParams, ...fields })

async function submitBody(prepared: Any, fields: Any = {}, signer = trader): Promise<Any> {
  const { typedData, relayParams, gasPaymentParams } = prepared.payload
  return {
    srcChainId: base,
    account: trader.address,
    signature: await signer.signTypedData(typedData),
    bridgeOutParams,
    relayParamsPayload: relayParams,
    relayerFeeTokenAddress: gasPaymentParams.relayerFeeTokenAddress,
    relayerFeeAmount: gasPaymentParams.relayerFeeAmount,
    requestId: prepared.requestId,
    ...fields,
  }
}

test('a withdrawal hashes to the published digest', () => {
  expect(
    hashTypedData({
      domain: {
        name: 'GmxBaseGelatoRelayRouter',
        version: '1',
        chainId: base,
        verifyingContract: router,
      },
      types: bridgeOutTypes,
      primaryType: 'BridgeOut',
      message: {
        token: usdc,
        amount: 500_000n,
        minAmountOut: 500_000n,
        provider: '0xe8CDF27AcD73a434D661C84887215F7598e7d0d3',
        data: bridgeOutParams.data as `0x${string}`,
        relayParams: '0x61c579b64f4edc76985dd8b679096aa00da506416b3005db359d6b65ace130d4',
      },
    }),
  ).toBe('0x38ec4bac359ce4d1c5cb0cc2cc17f89c39bcf8a639bc948f914ad02bcd655ba2')
})

test('K.1 a deposit is a transaction on the source chain whose value covers its fee', async () => {
  const { status, body } = await paper.post('/gmx-account/deposit/cross-chain/prepare', {
    srcChainId: base,
    account: trader.address,
    amount: '1000000',
    tokenSymbol: 'USDC',
  })
  expect(status).toBe(200)
  expect(body.payloadType).toBe('transaction')
  expect(BigInt(body.composeGas)).toBeGreaterThan(0n)
  expect(BigInt(body.nativeFee)).toBeGreaterThan(0n)
  expect(BigInt(body.payload.value)).toBeGreaterThanOrEqual(BigInt(body.nativeFee))
  const abi = parseAbi([
    'struct SendParam { uint32 dstEid; bytes32 to; uint256 amountLD; uint256 minAmountLD; bytes extraOptions; bytes composeMsg; bytes oftCmd; }',
    'struct MessagingFee { uint256 nativeFee; uint256 lzTokenFee; }',
    'function sendToken(SendParam sendParam, MessagingFee fee, address refundAddress) payable',
  ])
  const { args } = decodeFunctionData({ abi, data: body.payload.data })
  expect(args[0]).toMatchObject({ dstEid: 30110, amountLD: 1_000_000n })
  expect(args[2]).toBe(trader.address)
  const native = await paper.post('/gmx-account/deposit/cross-chain/prepare', {
    srcChainId: base,
    account: trader.address,
    amount: '1000000',
    tokenSymbol: 'ETH',
    nativeFee: '5',
  })
  expect(native.body.payload.value).toBe('1000005')
})

test('K.1 a deposit says all that is wrong with it, and an unsettled chain is refused', async () => {
  const bad = await paper.post('/gmx-account/deposit/cross-chain/prepare', { amount: '0', account: 'x' })
  expect(bad.status).toBe(400)
  expect(Object.keys(bad.body.message)).toEqual(['account', 'srcChainId', 'amount', 'tokenSymbol'])
  const other = await paper.post('/gmx-account/deposit/cross-chain/prepare', {
    srcChainId: 10,
    account: trader.address,
    amount: '1',
    tokenAddress: usdc,
  })
  expect(other).toMatchObject({ status: 400, body: { code: 'INVALID_PARAMS' } })
})

test('K.2 a withdrawal is prepared, signed, relayed and ends executed within two minutes, once', async () => {
  const { status, body: prepared } = await prepare()
  expect(status).toBe(200)
  expect(prepared).toMatchObject({
    payloadType: 'typed-data',
    payload: {
      typedData: {
        domain: { chainId: base, verifyingContract: router },
        primaryType: 'BridgeOut',
      },
      relayRouterAddress: router,
    },
  })
  expect(BigInt(prepared.payload.gasPaymentParams.relayerFeeAmount)).toBeGreaterThan(0n)
  expect((await paper.post(path('status'), { requestId: prepared.requestId })).body.status).toBe('prepared')

  const body = await submitBody(prepared)
  const submitted = await paper.post(path('submit'), body)
  expect(submitted.body).toMatchObject({ requestId: prepared.requestId, status: 'relay_accepted' })
  expect(submitted.body.taskId).toMatch(/^0x[0-9a-f]{64}$/)
  const seen: string[] = []
  for (let second = 0; second < 40; second += 1) {
    const { status: now } = (await paper.post(path('status'), { requestId: prepared.requestId })).body
    if (seen.at(-1) !== now) seen.push(now)
    paper.clock.move(1000)
  }
  expect(seen).toEqual(['relay_accepted', 'created', 'executed'])
  const { gmxAccounts } = paper.venue.venueState
  const left = [...gmxAccounts.values()]
  const again = await paper.post(path('submit'), body)
  expect(again.body).toMatchObject({ status: 'executed', taskId: submitted.body.taskId })
  paper.clock.move(5000)
  await paper.get('/markets')
  expect([...gmxAccounts.values()]).toEqual(left)
  // Without the request id the record is found by what was signed.
  expect((await paper.post(path('submit'), { ...body, requestId: undefined })).body.requestId).toBe(
    prepared.requestId,
  )
})

test('K.2 a landed withdrawal is a transaction of the transfer router that used its digest up', async () => {
  const { client } = clientsOf(paper)
  const { body: prepared } = await prepare()
  const body = await submitBody(prepared)
  await paper.post(path('submit'), body)
  paper.clock.move(2500)
  const { txHash } = (await paper.post(path('status'), { requestId: prepared.requestId })).body
  expect(await client.getTransactionReceipt({ hash: txHash })).toMatchObject({ status: 'success' })
  const { input, to } = await client.getTransaction({ hash: txHash })
  expect(to).toBe(router.toLowerCase())
  expect(input.slice(0, 10)).toBe('0x26a3bebd')
  const { args } = decodeFunctionData({ abi: transferRouterAbi, data: input })
  expect(args[0].signature).toBe(body.signature)
  expect(args[3].amount).toBe(500_000n)
  const digest = hashTypedData(prepared.payload.typedData)
  const read = { address: router, abi: digestsAbi, functionName: 'digests', args: [digest] } as const
  expect(await client.readContract(read)).toBe(true)
})

test('K.2 only the host that prepared knows a withdrawal', async () => {
  const { body: prepared } = await prepare()
  for (const [step, body] of [
    ['submit', await submitBody(prepared)],
    ['status', { requestId: prepared.requestId }],
  ] as const) {
    expect(await paper.call('POST', paper.peer + path(step), body)).toMatchObject({
      status: 404,
      body: { message: 'Transaction not found' },
    })
  }
  expect((await paper.post(path('status'), {})).status).toBe(400)
})

test('K.2 another signer, another amount and a late submit are refused, and nothing leaves', async () => {
  const { body: prepared } = await prepare()
  const refusal = async (body: Any): Promise<string> => (await paper.post(path('submit'), body)).body.code
  expect(await refusal(await submitBody(prepared, {}, stranger as never))).toBe('INVALID_SIGNATURE')
  expect(
    await refusal(await submitBody(prepared, { bridgeOutParams: { ...bridgeOutParams, amount: '500001' } })),
  ).toBe('INVALID_PARAMS')
  paper.clock.move(400_000)
  expect(await refusal(await submitBody(prepared))).toBe('REQUEST_EXPIRED')
  expect(paper.venue.venueState.gmxAccounts.size).toBe(0)
})

test('K.2 more than the account holds reverts with the error of the protocol', async () => {
  const large = { ...bridgeOutParams, amount: '2000000000', minAmountOut: '1' }
  const { body: prepared } = await prepare({ bridgeOutParams: large })
  await paper.post(path('submit'), await submitBody(prepared, { bridgeOutParams: large }))
  paper.clock.move(5000)
  expect((await paper.post(path('status'), { requestId: prepared.requestId })).body).toMatchObject({
    status: 'relay_reverted',
    error: { code: 'InsufficientMultichainBalance' },
  })
})

test('K.2 a malformed withdrawal is a field map, a wrong endpoint is refused', async () => {
  const bad = await prepare({ bridgeOutParams: { token: 'x' }, srcChainId: undefined })
  expect(bad.status).toBe(400)
  expect(Object.keys(bad.body.message)).toEqual([
    'srcChainId',
    'bridgeOutParams.amount',
    'bridgeOutParams.minAmountOut',
    'bridgeOutParams.data',
    'bridgeOutParams.token',
    'bridgeOutParams.provider',
  ])
  const other = await prepare({
    bridgeOutParams: { ...bridgeOutParams, data: `0x${'1'.padStart(64, '0')}` },
  })
  expect(other).toMatchObject({ status: 400, body: { code: 'INVALID_PARAMS' } })
})
