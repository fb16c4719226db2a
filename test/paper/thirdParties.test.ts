/**
 * What the road to the chain and third parties can do to a signed batch: relays that never land, land late, or are wrong, and
 * third parties who use its digest up or send its calldata again (docs/reference/api-coverage.md A18 and A20; contract
 * `BaseGelatoRelayRouter`, `digests`).
 */
import { decodeFunctionData, type Hex, keccak256, stringToHex } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { actorsOf } from '../../src/paper/blocks/keeperCall.ts'
import { relayRouterAbi } from '../../src/paper/keeper/relayCall.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { recoverSigner } from '../../src/protocol/crypto/secp256k1.ts'
import { clientsOf, digestsAbi, emitter, eventOf, router, topicOf } from './chainSupport.ts'
import { type Any, ethMarket, startVenue, trader, usd } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
let client: ReturnType<typeof clientsOf>['client']
beforeEach(async () => {
  paper = await startVenue()
  client = clientsOf(paper).client
})
afterEach(() => paper.close())

const fault = (change: object) => paper.call('POST', `${paper.control}/faults`, change)
const { stranger } = actorsOf(chains.arbitrum)

/** Prepares and submits; request, task and digest. */
async function send(fields: Record<string, unknown> = {}) {
  const prepared = (await paper.prepare(fields)).body
  await paper.submit(prepared)
  const entry = paper.venue.record().at(-1)
  return {
    requestId: prepared.requestId as string,
    taskId: entry?.taskId as Hex,
    digest: entry?.digest as Hex,
    deadlineMs: Number(prepared.payload.relayParams.deadline) * 1000,
  }
}

const relayStatus = async (taskId: Hex): Promise<Any> => (await paper.post('/relay/status', { taskId })).body
const isUsed = (digest: Hex) =>
  client.readContract({ address: router, abi: digestsAbi, functionName: 'digests', args: [digest] })
/** Logs of orders of an account. */
const logsOf = async (account: Hex): Promise<Any[]> =>
  client.request({
    method: 'eth_getLogs',
    params: [
      {
        address: emitter,
        topics: [
          '0x468a25a7ba624ceea6e540ad6f49171b52495b648417ae91bca21676d8a24dc5',
          [keccak256(stringToHex('OrderCreated')), keccak256(stringToHex('OrderExecuted'))],
          null,
          topicOf(account),
        ],
        fromBlock: '0x17d78400',
        toBlock: 'latest',
      },
    ],
  } as never)

test('a relay that never lands is pending until the deadline has passed, and then has given up', async () => {
  await fault({ relay: 'never-lands' })
  const { requestId, taskId, digest, deadlineMs } = await send()
  paper.clock.move(deadlineMs - paper.clock.now())
  expect(await relayStatus(taskId)).toMatchObject({ status: 'pending' })
  expect((await paper.status(requestId)).body.status).toBe('relay_submitted')
  // The fault ends, the operation does not come back.
  await fault({ relay: 'none' })
  paper.clock.move(1000)
  expect(await relayStatus(taskId)).toMatchObject({
    status: 'failed',
    reason: 'The relay gave up: the deadline has passed and nothing was sent',
  })
  expect((await paper.status(requestId)).body).toMatchObject({
    status: 'relay_failed',
    error: { code: 'RELAY_FAILED' },
  })
  expect(await isUsed(digest)).toBe(false)
  expect(await paper.positions()).toEqual([])
  expect(paper.venue.record()[0]).toMatchObject({ fault: 'never-lands', operationStatus: 'failed' })
})

test('a relay may land an operation after it said that it failed, and the status stays what it was', async () => {
  await fault({ relay: 'lands-late', relayLateMs: 20_000 })
  const { requestId, taskId, digest } = await send()
  paper.clock.move(10_000)
  expect((await paper.status(requestId)).body.status).toBe('relay_failed')
  expect(await isUsed(digest)).toBe(false)
  paper.clock.move(15_000)
  expect(await isUsed(digest)).toBe(true)
  expect((await logsOf(trader.address)).map((log) => eventOf(log).name)).toEqual([
    'OrderCreated',
    'OrderExecuted',
  ])
  expect(await paper.positions()).toHaveLength(1)
  expect((await paper.status(requestId)).body).toMatchObject({ status: 'relay_failed' })
  expect(await relayStatus(taskId)).toMatchObject({ status: 'failed' })
  expect(paper.venue.record()[0]).toMatchObject({
    fault: 'lands-late',
    orders: [{ status: 'executed' }],
  })
})

test('an operation that lands after its deadline reverts, late relay or not', async () => {
  await fault({ relay: 'lands-late', relayLateMs: 400_000 })
  const { digest } = await send()
  paper.clock.move(500_000)
  expect(await isUsed(digest)).toBe(false)
  expect(await paper.positions()).toEqual([])
})

test('a stranger may send the calldata of a reverted operation again, and it lands once', async () => {
  await fault({ relayReverts: 'InsufficientReserve', replayMs: 8000 })
  const { requestId, taskId, digest } = await send()
  paper.clock.move(2000)
  const { txHash } = await relayStatus(taskId)
  expect(await client.getTransactionReceipt({ hash: txHash })).toMatchObject({ status: 'reverted', logs: [] })
  const reverted = await client.getTransaction({ hash: txHash })
  await fault({ relayReverts: '' })
  paper.clock.move(10_000)
  const [created, executed] = await logsOf(trader.address)
  const replay = await client.getTransaction({ hash: created.transactionHash })
  expect(replay.from).toBe(stranger.toLowerCase())
  expect(replay.input).toBe(reverted.input)
  expect(executed).toBeDefined()
  expect(await isUsed(digest)).toBe(true)
  expect((await paper.status(requestId)).body.status).toBe('relay_reverted')
  expect((await paper.positions())[0].sizeInUsd).toBe(usd(1000))
  expect(paper.venue.record()[0]?.fault).toBe('reverts, replayed')
})

test('a stranger may use a digest up: ours reverts, and no log of the landing is of our account', async () => {
  await fault({ foreignDigest: 'before-landing' })
  const { requestId, taskId, digest } = await send()
  paper.clock.move(3000)
  expect((await paper.status(requestId)).body).toMatchObject({
    status: 'relay_reverted',
    error: { code: 'InvalidUserDigest' },
  })
  expect((await relayStatus(taskId)).revertData.slice(0, 10)).toBe('0x1041c08a')
  expect(await isUsed(digest)).toBe(true)
  expect(await logsOf(trader.address)).toEqual([])
  const [created] = await logsOf(stranger)
  const { input, from } = await client.getTransaction({ hash: created.transactionHash })
  expect(from).toBe(stranger.toLowerCase())
  const { args } = decodeFunctionData({ abi: relayRouterAbi, data: input })
  expect(args[1]).toBe(stranger)
  expect(recoverSigner(digest, args[0].signature)).toBe(stranger)
  expect(await paper.positions()).toEqual([])
})

test('a batch that cancels orders of the account cannot be used up by a third party', async () => {
  await paper.trade({ orderType: 'limit', triggerPrice: usd(1000) })
  await fault({ foreignDigest: 'before-landing' })
  const cancel = await paper.post('/orders/txns/cancel/prepare', {
    mode: 'express',
    from: trader.address,
    all: true,
  })
  await paper.submit(cancel.body)
  paper.clock.move(2500)
  expect((await paper.status(cancel.body.requestId)).body.status).toBe('executed')
})

test('relayPercent draws which operations are hit from the seed', async () => {
  const hits = async (): Promise<(string | undefined)[]> => {
    const world = await startVenue()
    await world.call('POST', `${world.control}/faults`, { relay: 'fails', relayPercent: 50 })
    for (let i = 0; i < 12; i += 1) {
      const prepared = (await world.prepare({ orderType: 'limit', triggerPrice: usd(1000), size: usd(100) }))
        .body
      await world.submit(prepared)
    }
    world.clock.move(2000)
    await world.get('/tokens')
    const faults = world.venue.record().map((entry) => entry.fault)
    await world.close()
    return faults
  }
  const first = await hits()
  expect(new Set(first)).toEqual(new Set([undefined, 'fails']))
  expect(await hits()).toEqual(first)
})

test('a disabled market takes no order: prepare refuses, and what was prepared before reverts', async () => {
  const prepared = (await paper.prepare({})).body
  const rest = (await paper.prepare({ orderType: 'stop-market', triggerPrice: usd(9000) })).body
  await paper.submit(rest)
  paper.clock.move(1000)
  await fault({ disabledMarkets: [ethMarket] })
  for (const fields of [
    {},
    { orderType: 'limit', triggerPrice: usd(1000) },
    { orderType: 'twap', twapConfig: { duration: 600, parts: 2 } },
  ]) {
    expect(await paper.prepare(fields)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_PARAMS', message: expect.stringContaining('DisabledMarket') },
    })
  }
  await paper.submit(prepared)
  paper.clock.move(2500)
  expect((await paper.status(prepared.requestId)).body).toMatchObject({
    status: 'relay_reverted',
    error: { code: 'DisabledMarket' },
  })
  await fault({ disabledMarkets: [] })
  expect((await paper.prepare({})).status).toBe(200)
})
