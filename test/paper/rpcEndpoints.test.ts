/** Two JSON-RPC endpoints of one chain through viem, over HTTP and WebSocket: they agree, lag, follow a fork, or are cut. */
import { createPublicClient, type Hex, http, type PublicClient, webSocket } from 'viem'
import { arbitrum } from 'viem/chains'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { digestsAbi, emitter, router, topicOf, until } from './chainSupport.ts'
import { type Any, startVenue, trader } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
let nodes: PublicClient[]
beforeEach(async () => {
  paper = await startVenue()
  paper.clock.move(10_000)
  nodes = paper.served.rpc.map(
    (url) => createPublicClient({ chain: arbitrum, cacheTime: 0, transport: http(url) }) as PublicClient,
  )
})
afterEach(() => paper.close())

const fault = (change: object) => paper.call('POST', `${paper.control}/faults`, change)
const both = <T>(ask: (node: PublicClient) => Promise<T>): Promise<T[]> => Promise.all(nodes.map(ask))

async function land(): Promise<{ readonly hash: Hex; readonly digest: Hex }> {
  const prepared = (await paper.prepare({})).body
  await paper.submit(prepared)
  paper.clock.move(3000)
  const { createdTxnHash } = (await paper.status(prepared.requestId)).body
  return { hash: createdTxnHash, digest: paper.venue.record().at(-1)?.digest as Hex }
}

const isUsed =
  (digest: Hex) =>
  (node: PublicClient): Promise<boolean> =>
    node.readContract({ address: router, abi: digestsAbi, functionName: 'digests', args: [digest] })
const ourLogs = (node: PublicClient): Promise<Any[]> =>
  node.request({
    method: 'eth_getLogs',
    params: [
      {
        address: emitter,
        topics: [null, null, null, topicOf(trader.address)],
        fromBlock: '0x17d78400',
        toBlock: 'latest',
      },
    ],
  } as never)

test('both endpoints tell the same blocks, receipts, logs and digests', async () => {
  expect(nodes).toHaveLength(2)
  const { hash, digest } = await land()
  const [one, other] = await both(async (node) => ({
    blocks: await Promise.all(
      (['latest', 'safe', 'finalized'] as const).map((blockTag) => node.getBlock({ blockTag })),
    ),
    receipt: await node.getTransactionReceipt({ hash }),
    logs: await ourLogs(node),
    isUsed: await isUsed(digest)(node),
  }))
  expect(other).toEqual(one)
  expect(one?.isUsed).toBe(true)
})

test('an endpoint that lags knows nothing of the blocks it has not seen, and catches up', async () => {
  await fault({ rpcLagBlocks: 16 })
  const { hash, digest } = await land()
  const [head, behind] = await both((node) => node.getBlockNumber())
  expect((head ?? 0n) - (behind ?? 0n)).toBe(16n)
  expect(await both(isUsed(digest))).toEqual([true, false])
  expect((await both(ourLogs)).map((logs) => logs.length)).toEqual([2, 0])
  await expect(nodes[1]?.getTransactionReceipt({ hash })).rejects.toThrow('could not be found')
  paper.clock.move(4000)
  expect(await both(isUsed(digest))).toEqual([true, true])
  expect((await both(ourLogs)).map((logs) => logs.length)).toEqual([2, 2])
  await fault({ rpcLagBlocks: 0 })
  const [now, again] = await both((node) => node.getBlock())
  expect(again).toEqual(now)
})

test('a state read pinned to a block that the other endpoint has not seen is refused, not guessed', async () => {
  const { digest } = await land()
  const head = await nodes[0]?.getBlock()
  await fault({ rpcLagBlocks: 4 })
  const call = (node: PublicClient): Promise<unknown> =>
    node.request({
      method: 'eth_call',
      params: [
        { to: router, data: `0x01ac4293${digest.slice(2)}` },
        { blockHash: head?.hash, requireCanonical: true },
      ],
    } as never)
  expect(BigInt((await call(nodes[0] as PublicClient)) as Hex)).toBe(1n)
  await expect(call(nodes[1] as PublicClient)).rejects.toThrow('header for hash not found')
})

test('an endpoint on a fork has other blocks, without what landed since, until it comes back', async () => {
  const before = await land()
  paper.clock.move(5000)
  await fault({ rpcFork: 'forked', rpcForkBlocks: 4 })
  const [fork] = await both((node) => node.getBlockNumber())
  const hashesAt = (number: bigint) =>
    both(async (node) => (await node.getBlock({ blockNumber: number })).hash)
  const shared = await hashesAt((fork ?? 0n) - 4n)
  expect(shared[1]).toBe(shared[0])
  const branched = await hashesAt((fork ?? 0n) - 3n)
  expect(branched[1]).not.toBe(branched[0])
  const after = await land()
  expect(await both(isUsed(before.digest))).toEqual([true, true])
  expect(await both(isUsed(after.digest))).toEqual([true, false])
  await expect(nodes[1]?.getTransactionReceipt({ hash: after.hash })).rejects.toThrow('could not be found')
  // Each block is the child of the one before, on the branch too.
  const head = await nodes[1]?.getBlock()
  const parent = await nodes[1]?.getBlock({ blockNumber: (head?.number ?? 1n) - 1n })
  expect(head?.parentHash).toBe(parent?.hash)
  await fault({ rpcFork: 'none' })
  expect(await both(isUsed(after.digest))).toEqual([true, true])
})

test('the second endpoint has its own socket: heads and logs as it sees them', async () => {
  const [, url = ''] = paper.served.ws
  const live = createPublicClient({ chain: arbitrum, transport: webSocket(url, { reconnect: false }) })
  await fault({ rpcLagBlocks: 8 })
  const heads: bigint[] = []
  const stop = live.watchBlocks({ onBlock: (block) => heads.push(block.number) })
  expect(await live.getChainId()).toBe(42161)
  await until('a head', () => {
    paper.clock.move(250)
    return heads.length > 3
  })
  const head = await nodes[0]?.getBlockNumber()
  expect((head ?? 0n) - (heads.at(-1) ?? 0n)).toBeGreaterThanOrEqual(8n)
  stop()
  ;(await live.transport.getRpcClient()).close()
})

test('one endpoint may be cut while the other answers', async () => {
  await fault({ down: ['rpc/0'] })
  const answers = await Promise.allSettled(
    paper.served.rpc.map((url) => paper.call('POST', url, { jsonrpc: '2.0', id: 1, method: 'eth_chainId' })),
  )
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  expect((await paper.call('POST', `${paper.control}/faults`, { rpcLagBlocks: -1 })).body.message).toBe(
    'rpcLagBlocks must be a whole number of blocks',
  )
})
