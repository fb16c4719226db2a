/** The JSON-RPC endpoint as a protocol: errors, batches, subscriptions, reorganisations, restarts. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readScenario } from '../../src/paper/server/scenario.ts'
import {
  clientsOf,
  digestsAbi,
  emitter,
  emitterAbi,
  eventOf,
  isMarketEvent,
  isOfEmitter,
  router,
  rpcCall,
  topicOf,
  until,
} from './chainSupport.ts'
import { type Any, startVenue, trader } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
beforeEach(async () => {
  paper = await startVenue()
})
afterEach(() => paper.close())

const call = (method: string, params: unknown = [], id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})
const reorg = (body: object) => paper.call('POST', `${paper.control}/reorg`, body)

/** Submits one order and lands it; returns its digest and transaction. */
async function landed(): Promise<{ digest: Hex; hash: Hex }> {
  const prepared = (await paper.prepare({})).body
  await paper.submit(prepared)
  paper.clock.move(1000)
  const { createdTxnHash } = (await paper.status(prepared.requestId)).body
  return { digest: paper.venue.record().at(-1)?.digest as Hex, hash: createdTxnHash }
}

test('errors carry the codes of JSON-RPC 2.0', async () => {
  const codeOf = async (body: unknown) => (await rpcCall(paper, body)).error.code
  expect(await codeOf('{"jsonrpc":')).toBe(-32700)
  expect(await codeOf({ id: 1, method: 'eth_chainId' })).toBe(-32600)
  expect(await codeOf([])).toBe(-32600)
  expect(await codeOf('7')).toBe(-32600)
  expect(await codeOf(call('eth_fillTransaction', [{}]))).toBe(-32601)
  expect(await codeOf(call('eth_sendRawTransaction', ['0x']))).toBe(-32000)
  expect(await codeOf(call('__proto__'))).toBe(-32601)
  expect(await codeOf(call('eth_getBlockByNumber', ['0x01', false]))).toBe(-32602)
  expect(await codeOf(call('eth_getBlockByNumber', ['newest', false]))).toBe(-32602)
  expect(await codeOf(call('eth_getBalance', ['0x12', 'latest']))).toBe(-32602)
  expect(await codeOf(call('eth_call', [{ data: '0x' }, 'latest']))).toBe(-32602)
  expect(await codeOf(call('eth_chainId', { a: 1 }))).toBe(-32602)
  expect(await codeOf(call('eth_subscribe', ['newHeads']))).toBe(-32601)
  expect(await rpcCall(paper, call('nothing', [], 'mine'))).toEqual({
    jsonrpc: '2.0',
    id: 'mine',
    error: { code: -32601, message: 'the method nothing does not exist/is not available' },
  })
})

test('a batch is answered in order, without its notifications', async () => {
  const notification = { jsonrpc: '2.0', method: 'eth_chainId' }
  const answers = await rpcCall(paper, [call('eth_chainId', [], 1), notification, call('nothing', [], 2), 5])
  expect(answers.map((one: Any) => one.result ?? [one.id, one.error.code])).toEqual([
    '0xa4b1',
    [2, -32601],
    [null, -32600],
  ])
  expect(await rpcCall(paper, notification)).toBeUndefined()
  const tooMany = Array.from({ length: 1001 }, () => call('eth_chainId'))
  expect((await rpcCall(paper, tooMany)).error).toEqual({ code: -32600, message: 'batch too large' })
})

test('a state read of a replaced block is refused when the block must be canonical (EIP-1898)', async () => {
  const { digest, hash } = await landed()
  const { client } = clientsOf(paper)
  const receipt = await client.getTransactionReceipt({ hash })
  expect((await reorg({ blocks: 8, returnAfterBlocks: 4 })).status).toBe(200)
  const read = (extra: object) =>
    rpcCall(
      paper,
      call('eth_call', [
        { to: router, data: `0x01ac4293${digest.slice(2)}` },
        { blockHash: receipt.blockHash, ...extra },
      ]),
    )
  expect((await read({ requireCanonical: true })).error).toEqual({
    code: -32000,
    message: 'hash is not currently canonical',
  })
  // The replaced block still tells what had happened in it.
  expect(BigInt((await read({})).result)).toBe(1n)
  const unknown = call('eth_call', [{ to: router, data: '0x' }, { blockHash: `0x${'12'.repeat(32)}` }])
  expect((await rpcCall(paper, unknown)).error.code).toBe(-32001)
  const above = call('eth_getBalance', [trader.address, '0x7fffffff'])
  expect((await rpcCall(paper, above)).error).toEqual({ code: -32000, message: 'header not found' })
})

test('viem waits for the receipt of a relayed order', async () => {
  const { client } = clientsOf(paper)
  const prepared = (await paper.prepare({})).body
  await paper.submit(prepared)
  paper.clock.move(600)
  const { createdTxnHash } = (await paper.status(prepared.requestId)).body
  // Mined into the block that is still open: on its way, but in no block.
  const pending = await client.request({
    method: 'eth_getTransactionByHash',
    params: [createdTxnHash],
  } as never)
  expect(pending).toMatchObject({ blockHash: null, blockNumber: null })
  const waiting = client.waitForTransactionReceipt({ hash: createdTxnHash, confirmations: 3 })
  paper.clock.move(2000)
  expect(await waiting).toMatchObject({ status: 'success', transactionHash: createdTxnHash })
})

test('a subscription to logs over WebSocket tells each log of its filter once', async () => {
  const { live } = clientsOf(paper)
  const seen: Any[] = []
  const stop = live.watchContractEvent({
    address: emitter,
    abi: emitterAbi,
    eventName: 'EventLog2',
    args: { topic2: topicOf(trader.address) },
    onLogs: (logs) => seen.push(...logs),
  })
  await live.getChainId()
  await paper.trade({})
  await until('two logs', () => seen.length >= 2)
  stop()
  expect(seen.map((log) => eventOf(log).name)).toEqual(['OrderCreated', 'OrderExecuted'])
  expect(seen.every((log) => log.removed === false)).toBe(true)
  await live.transport.getRpcClient().then((rpc: Any) => rpc.close())
})

test('viem watches logs over HTTP, where there are no subscriptions', async () => {
  const { client } = clientsOf(paper)
  const seen: Any[] = []
  paper.clock.move(1000)
  const stop = client.watchContractEvent({
    address: emitter,
    abi: emitterAbi,
    eventName: 'EventLog2',
    onLogs: (logs: Any[]) => seen.push(...logs),
    fromBlock: await client.getBlockNumber(),
  } as never)
  await paper.trade({})
  await until('two logs', () => seen.length >= 2)
  stop()
  expect(seen.map((log) => eventOf(log).name)).toEqual(['OrderCreated', 'OrderExecuted'])
})

test('new heads are told in order, each the child of the one before', async () => {
  const { live } = clientsOf(paper)
  const heads: Any[] = []
  const { unsubscribe } = await (live.transport as Any).subscribe({
    params: ['newHeads'],
    onData: ({ result }: Any) => heads.push(result),
  })
  paper.clock.move(2500)
  await until('ten heads', () => heads.length >= 10)
  await unsubscribe()
  expect(heads).toHaveLength(10)
  for (const [i, head] of heads.entries()) {
    if (i > 0) expect(head.parentHash).toBe(heads[i - 1].hash)
  }
  await live.transport.getRpcClient().then((rpc: Any) => rpc.close())
})

test('a reorganisation replaces blocks, takes transactions out, and brings them back later', async () => {
  const { client, live } = clientsOf(paper)
  const told: [string, boolean, bigint][] = []
  await live.watchContractEvent({
    address: emitter,
    abi: emitterAbi,
    eventName: 'EventLog2',
    onLogs: (logs) =>
      told.push(
        ...logs.map((log): [string, boolean, bigint] => [eventOf(log).name, log.removed, log.blockNumber]),
      ),
  })
  await live.getChainId()
  const { digest, hash } = await landed()
  await until('the log', () => told.length === 1)
  const before = await client.getTransactionReceipt({ hash })
  const head = await client.getBlock()
  const report = (await reorg({ blocks: 6, returnAfterBlocks: 3 })).body
  expect(report).toEqual({
    first: Number(head.number) - 5,
    last: Number(head.number),
    transactions: [hash],
    returnsIn: Number(head.number) + 3,
  })
  const replaced = await client.getBlock({ blockNumber: head.number })
  expect(replaced.hash).not.toBe(head.hash)
  await expect(client.getBlock({ blockHash: head.hash })).rejects.toThrow('could not be found')
  const rooted = await client.getBlock({ blockNumber: BigInt(report.first) })
  const root = await client.getBlock({ blockNumber: BigInt(report.first - 1) })
  expect(rooted.parentHash).toBe(root.hash)
  const isUsed = () =>
    client.readContract({ address: router, abi: digestsAbi, functionName: 'digests', args: [digest] })
  expect(await isUsed()).toBe(false)
  await expect(client.getTransactionReceipt({ hash })).rejects.toThrow('could not be found')
  paper.clock.move(1000)
  expect(await isUsed()).toBe(true)
  const after = await client.getTransactionReceipt({ hash })
  expect(after.blockNumber).toBe(BigInt(report.returnsIn))
  expect(after.blockHash).not.toBe(before.blockHash)
  await until('removed and told again', () => told.length >= 3)
  expect(told.slice(0, 3)).toEqual([
    ['OrderCreated', false, before.blockNumber],
    ['OrderCreated', true, before.blockNumber],
    ['OrderCreated', false, after.blockNumber],
  ])
  await live.transport.getRpcClient().then((rpc: Any) => rpc.close())
})

test('what follows from a transaction on its way back comes after it', async () => {
  const { client } = clientsOf(paper)
  const { hash } = await landed()
  const { returnsIn } = (await reorg({ blocks: 6, returnAfterBlocks: 20 })).body
  // The keeper executes the order meanwhile: the chain shows it no earlier than the order itself.
  paper.clock.move(3000)
  expect(await client.getLogs({ fromBlock: 400_000_000n })).toEqual([])
  paper.clock.move(10_000)
  const logs = await client.getLogs({ fromBlock: 400_000_000n })
  const events = logs.filter(isOfEmitter).map(eventOf)
  expect(events.filter((event) => !isMarketEvent(event)).map(({ name }) => name)).toEqual([
    'OraclePriceUpdate',
    'OraclePriceUpdate',
    'OrderCreated',
    'OraclePriceUpdate',
    'OraclePriceUpdate',
    'PositionFeesCollected',
    'PositionIncrease',
    'OrderExecuted',
    'KeeperExecutionFee',
    'ExecutionFeeRefund',
  ])
  expect(logs.map((log) => [log.blockNumber, log.logIndex])).toEqual(
    logs.map((_, index) => [BigInt(returnsIn), index]),
  )
  expect(logs[0]?.transactionHash).toBe(hash)
})

test('a reorganisation may drop transactions for good: no receipt, no logs, the digest unused', async () => {
  const { client } = clientsOf(paper)
  const { digest, hash } = await landed()
  expect((await reorg({ blocks: 6, transactions: 'drop' })).body.transactions).toEqual([hash])
  paper.clock.move(60_000)
  await expect(client.getTransaction({ hash })).rejects.toThrow('could not be found')
  const isUsed = { address: router, abi: digestsAbi, functionName: 'digests', args: [digest] } as const
  expect(await client.readContract(isUsed)).toBe(false)
})

test('a scenario reorganises the chain at its time, once, and the fault log tells', async () => {
  const steps = readScenario([{ atMs: 5000, reorg: { blocks: 2 } }])
  if (typeof steps === 'string') throw new Error(steps)
  const storm = await startVenue({ scenario: steps })
  const { client: node } = clientsOf(storm)
  storm.clock.move(4000)
  const before = await node.getBlock()
  storm.clock.move(750)
  const number = before.number + 3n
  const hashOf = async () => (await node.getBlock({ blockNumber: number })).hash
  const first = await hashOf()
  storm.clock.move(250)
  const second = await hashOf()
  expect(second).not.toBe(first)
  storm.clock.move(20_000)
  expect(await hashOf()).toBe(second)
  expect((await node.getBlock({ blockNumber: before.number })).hash).toBe(before.hash)
  const log = (await storm.call('GET', `${storm.control}/fault-log`)).body
  expect(JSON.stringify(log)).toContain('reorg')
  expect(readScenario([{ reorg: { blocks: 0 } }])).toBe('step 1: blocks must be an integer from 1 to 10000')
  await storm.close()
})

test('a reorganisation outside its range is refused with what is wrong', async () => {
  const answers = [{ blocks: 0 }, { blocks: 1, transactions: 'burn' }, { blocks: 1, depth: 2 }, []]
  const bodies = await Promise.all(answers.map(reorg))
  expect(bodies.map(({ status, body }) => [status, body.message])).toEqual([
    [400, 'blocks must be an integer from 1 to 10000'],
    [400, 'transactions must be return or drop'],
    [400, 'unknown setting depth'],
    [400, 'the body must be a JSON object'],
  ])
})

test('a restarted venue has the same blocks, logs and digests', async () => {
  const stateFile = join(mkdtempSync(join(tmpdir(), 'perpd-rpc-')), 'venue.json')
  const first = await startVenue({ stateFile })
  await first.trade({})
  await first.call('POST', `${first.control}/reorg`, { blocks: 3 })
  first.clock.move(5000)
  const range = { fromBlock: 400_000_000n } as const
  const { client } = clientsOf(first)
  const logs = await client.getLogs(range)
  const block = await client.getBlock()
  await first.close()
  const second = await startVenue({ stateFile })
  try {
    second.clock.move(first.clock.monotonicMs())
    const again = clientsOf(second).client
    expect(await again.getBlock({ blockNumber: block.number })).toEqual(block)
    expect(await again.getLogs(range)).toEqual(logs)
    expect(logs.length).toBeGreaterThan(3)
  } finally {
    await second.close()
  }
})

test('a cut endpoint answers nothing over HTTP or WebSocket', async () => {
  await paper.call('POST', `${paper.control}/faults`, { down: ['rpc/0'] })
  await expect(rpcCall(paper, call('eth_chainId'))).rejects.toThrow('fetch failed')
  const socket = new WebSocket(paper.served.ws[0] ?? '')
  const failed = await new Promise<boolean>((resolve) => {
    socket.addEventListener('error', () => resolve(true))
    socket.addEventListener('open', () => resolve(false))
  })
  expect(failed).toBe(true)
})
