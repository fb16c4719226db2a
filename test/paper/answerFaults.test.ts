/** Answers that are old, odd or short on purpose, over real sockets. */
import { encodeFunctionData } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { relayRouterAbi } from '../../src/paper/keeper/relayCall.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { type Any, START_MS, startVenue, trader } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>

beforeEach(async () => {
  paper = await startVenue()
})
afterEach(async () => {
  await paper.close()
})

const set = async (faults: Any) => {
  const answer = await paper.call('POST', `${paper.control}/faults`, faults)
  expect([faults, answer.status]).toEqual([faults, 200])
}

/** Hands a prepared order to the generic relay. */
const relay = async () => {
  const prepared = (await paper.prepare({})).body
  const { typedData, relayParams } = prepared.payload
  const data = encodeFunctionData({
    abi: relayRouterAbi,
    functionName: 'batch',
    args: [
      {
        ...relayParams,
        fee: { ...relayParams.fee, feeAmount: BigInt(relayParams.fee.feeAmount) },
        userNonce: BigInt(relayParams.userNonce),
        deadline: BigInt(relayParams.deadline),
        desChainId: BigInt(relayParams.desChainId),
        signature: await paper.sign(prepared),
      },
      trader.address,
      {
        createOrderParamsList: typedData.message.createOrderParamsList.map(({ numbers, ...rest }: Any) => ({
          ...rest,
          numbers: Object.fromEntries(
            Object.entries(numbers).map(([name, value]) => [name, BigInt(String(value))]),
          ),
        })),
        updateOrderParamsList: [],
        cancelOrderKeys: [],
      },
    ],
  })
  return paper.post('/relay/submit', { to: chains.arbitrum.contracts.gelatoRelayRouter, data })
}

test('an oracle host that stands still answers 200 with what was, and its fallbacks do not', async () => {
  const tickers = async (host: number) =>
    (await paper.call('GET', `${paper.served.oracle[host]}/prices/tickers`)).body
  const before = await tickers(0)
  paper.clock.move(600_000)
  await set({ oldOracles: ['oracle/0'] })
  expect((await tickers(0))[0]).toEqual(before[0])
  expect((await tickers(1))[0].updatedAt).toBe(START_MS / 1000 + 600)
  expect((await tickers(0))[0].updatedAt).toBe(START_MS / 1000)
  await set({ oldOracleSeconds: 60 })
  expect((await tickers(0))[0].updatedAt).toBe(START_MS / 1000 + 540)
  await set({ oldOracles: [] })
  expect((await tickers(0))[0].updatedAt).toBe(START_MS / 1000 + 600)
})

test.each([
  ['word', 'many'],
  ['missing', undefined],
] as const)('one row of a list is malformed (%s), the others are not', async (malformedAs, value) => {
  await paper.trade({})
  await paper.trade({ orderType: 'limit', triggerPrice: `${1000n * 10n ** 30n}` })
  const whole = (await paper.call('GET', `${paper.oracle}/prices/tickers`)).body
  await set({ malformedAs, malformedRows: ['/prices/tickers BTC', '/positions', '/orders'] })
  const rows = (await paper.call('GET', `${paper.oracle}/prices/tickers`)).body
  const at = rows.findIndex((row: Any) => row.tokenSymbol === 'BTC')
  expect(at).toBeGreaterThan(0)
  expect(rows[at].minPrice).toBe(value)
  expect(rows.filter((row: Any) => /^\d+$/.test(row.minPrice))).toHaveLength(whole.length - 1)
  expect((await paper.positions())[0].sizeInUsd).toBe(value)
  expect((await paper.get(`/orders?address=${trader.address}`)).body[0].sizeDeltaUsd).toBe(value)
  await set({ malformedAs: 'null' })
  expect((await paper.positions())[0]).toBeNull()
  await set({ malformedRows: [] })
  expect((await paper.positions())[0].sizeInUsd).toMatch(/^\d+$/)
})

test('amounts of the chosen routes are objects of bigints, and an echo of them is taken', async () => {
  await set({ bigintObjects: ['/orders/*', '/positions'] })
  const { body } = await paper.prepare({})
  expect(body.estimates.sizeDeltaUsd).toEqual({ type: 'bigint', value: `${1000n * 10n ** 30n}` })
  expect(body.payload.relayParams.deadline.type).toBe('bigint')
  await set({ bigintObjects: ['/positions'] })
  const plain = (value: Any): Any =>
    Array.isArray(value)
      ? value.map(plain)
      : typeof value !== 'object' || value === null
        ? value
        : value.type === 'bigint'
          ? value.value
          : Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]))
  const submitted = await paper.post('/orders/txns/submit', {
    ...(await paper.submitBody(plain(body))),
    eip712Data: { batchParams: body.payload.batchParams, relayParams: body.payload.relayParams },
  })
  expect([submitted.status, submitted.body.status]).toEqual([200, 'relay_accepted'])
  paper.clock.move(2500)
  expect((await paper.positions())[0].sizeInUsd).toEqual({ type: 'bigint', value: `${1000n * 10n ** 30n}` })
  const rows = (await paper.get('/markets/values')).body
  expect(rows[0].longPoolAmount).toMatch(/^\d+$/)
})

test('/relay/submit answers the task id alone, and the operation lands', async () => {
  await set({ relaySubmitAnswer: 'task-id-only' })
  const { body } = await relay()
  expect(Object.keys(body)).toEqual(['taskId'])
  paper.clock.move(2500)
  const status = (await paper.post('/relay/status', { taskId: body.taskId })).body
  expect([status.status, (await paper.positions()).length]).toEqual(['executed', 1])
})

test('/relay/status in each of its odd forms', async () => {
  const { taskId } = (await relay()).body
  paper.clock.move(2500)
  const whole = (await paper.post('/relay/status', { taskId })).body
  const status = async (relayStatusAnswer: string) => {
    await set({ relayStatusAnswer })
    return (await paper.post('/relay/status', { taskId })).body
  }
  const { taskId: _taskId, ...rest } = whole
  expect(await status('no-task-id')).toEqual(rest)
  expect(await status('other-task-id')).toEqual({ ...rest, taskId: `0x${'0d'.repeat(32)}` })
  expect(await status('empty-revert-data')).toEqual({ ...whole, revertData: '' })
  expect((await status('odd-revert-data')).revertData.length % 2).toBe(1)
  expect(await status('empty-tx-hash')).toEqual({ ...whole, txHash: '' })
  expect(await status('whole')).toEqual(whole)
})

test('/relay/status answers 404 for a while after an accepted submission, then what became of it', async () => {
  await set({ relayStatusLagMs: 5000 })
  const { taskId } = (await relay()).body
  const early = await paper.post('/relay/status', { taskId })
  expect([early.status, early.body]).toEqual([404, { message: 'no relay operation' }])
  expect(early.headers.get('x-trace-id')).toBeTruthy()
  paper.clock.move(4999)
  expect((await paper.post('/relay/status', { taskId })).status).toBe(404)
  paper.clock.move(1)
  expect((await paper.post('/relay/status', { taskId })).body.status).toBe('executed')
})

test('every prepare answers the same 400 until the switch changes', async () => {
  await set({ prepareRefuses: 'INSUFFICIENT_LIQUIDITY' })
  for (let i = 0; i < 3; i += 1) {
    const { status, body } = await paper.prepare({})
    expect([status, body.code]).toEqual([400, 'INSUFFICIENT_LIQUIDITY'])
    expect(body.details.requestedSizeUsd).toBe(`${1000n * 10n ** 30n}`)
    expect(BigInt(body.details.availableLiquidity)).toBeGreaterThan(0n)
  }
  const cancel = await paper.post('/orders/txns/cancel/prepare', { from: trader.address, all: true })
  expect([cancel.status, cancel.body.code]).toEqual([400, 'INSUFFICIENT_LIQUIDITY'])
  await set({ prepareRefuses: '' })
  expect((await paper.prepare({})).status).toBe(200)
})

test('stats answer 308 to another path of the same origin, which serves them', async () => {
  const whole = (await paper.get('/stats/sources')).body
  await set({ stats: 'moved' })
  const moved = await fetch(`${paper.api}/stats/sources?a=b`, { redirect: 'manual' })
  const location = moved.headers.get('location') ?? ''
  expect([moved.status, location]).toEqual([308, `${paper.api}/moved/stats/sources?a=b`])
  expect(new URL(location).origin).toBe(new URL(paper.api).origin)
  expect((await paper.call('GET', location)).body).toEqual(whole)
  await set({ stats: 'none' })
  expect((await paper.call('GET', location)).status).toBe(404)
})
