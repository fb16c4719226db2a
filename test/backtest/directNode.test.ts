/** The chain of a venue as a backtest reads it, beside the same questions over the wire: nothing that proves an order may differ. */
import { expect, test } from 'vitest'
import { directNode, FINALITY } from '../../src/backtest/lab/directNode.ts'
import type { DigestAt } from '../../src/chain/node/digests.ts'
import { type ChainNode, createChainNode } from '../../src/chain/node/node.ts'
import { createRpcClient } from '../../src/chain/wire/jsonRpc.ts'
import { headAt } from '../../src/paper/blocks/blockChain.ts'
import { answerRpc } from '../../src/paper/rpc/jsonRpcServer.ts'
import type { VenueState } from '../../src/paper/state/venueState.ts'
import { advanceVenue } from '../../src/paper/transactions/advance.ts'
import type { Hex } from '../../src/protocol/address.ts'
import { market, runFor, strategyOf, testFolder, writeMinutes } from './runKit.ts'

const { signal } = new AbortController()

/** The same questions over JSON-RPC texts. */
function wireNode(venueState: VenueState): ChainNode {
  const transport = {
    send: async (text: string) => answerRpc(venueState, text) ?? '',
    close: () => undefined,
  }
  const client = createRpcClient('venue', transport, venueState.clock, { timeoutMs: 1_000, batchSize: 50 })
  return createChainNode(client, venueState.chain.contracts, FINALITY)
}

/** Everything that a node tells of the venue's transactions and of the blocks around them. */
async function toldBy(node: ChainNode, { blockChain, chain, clock }: VenueState) {
  const head = headAt(blockChain, clock.now())
  const { transactions } = blockChain
  const included = transactions.filter(({ inclusions: [place] }) => (place?.number ?? head) <= head)
  const numbers = [head - 3, head, head + 1, ...included.map(({ inclusions: [place] }) => place?.number ?? 0)]
  const heads = await node.heads(numbers.map(BigInt), signal)
  const digests = transactions.flatMap(({ digest, to }): DigestAt[] =>
    digest === undefined ? [] : [{ router: to, digest }],
  )
  const unknown: DigestAt = { router: chain.contracts.gelatoRelayRouter, digest: `0x${'12'.repeat(32)}` }
  const blocks = [heads.latest.hash, heads.final.hash]
  const places = included.flatMap(({ hash }, at) => {
    const blockHash = heads.hashes[at + 3]
    return blockHash === undefined ? [] : [{ transactionHash: hash, blockHash }]
  })
  const filter = (from: number, to: number) => ({
    address: chain.contracts.eventEmitter,
    topics: [],
    from: BigInt(from),
    to: BigInt(to),
  })
  const first = numbers[3] ?? head
  return {
    heads,
    digests: await node.digestsAt([...digests, unknown], blocks, signal),
    logs: await node.logs(filter(first, head), signal),
    none: await node.logs(filter(head - 1, head), signal),
    beyond: await node.logs(filter(head, head + 5), signal),
    receipts: await node.receipts(places, signal),
    transactions: await node.transactions(
      transactions.map(({ hash }) => hash),
      signal,
    ),
    blocks: await node.blocks(
      places.map(({ blockHash }) => blockHash),
      signal,
    ),
    full: await node.fullBlock(BigInt(first), signal),
    chainId: await node.chainId(signal),
    gasPrice: await node.gasPrice(signal),
    native: await node.nativeBalance(`0x${'5e'.repeat(20)}`, signal),
  }
}

test('a venue that is read directly tells of blocks, digests, logs and receipts what its endpoint writes', async () => {
  const folder = testFolder()
  let turns = 0
  const once = await strategyOf(folder, 'once', (view) => {
    const row = view.market(market)
    turns += 1
    if (turns !== 3 || row === undefined) return []
    const { marketToken, shortToken } = row.market
    const of = { marketToken, direction: 'long', collateralToken: shortToken, reason: 'opens once' }
    return [{ kind: 'increase', ...of, sizeDeltaUsd: 1000n * 10n ** 30n, leverageBps: 20_000 }]
  })
  const told: Promise<readonly [unknown, unknown]>[] = []
  let advanced = 0
  await runFor(
    folder,
    writeMinutes(folder, 10, (minute) => 2000 + (minute % 5)),
    10,
    [once],
    {
      begin({ venueState, scheduler }) {
        const node = directNode('venue', venueState, () => {
          advanced += 1
          advanceVenue(venueState)
        })
        for (let second = 0; second < 590; second += 29)
          scheduler.after(second * 1000 + 300, () => {
            advanceVenue(venueState)
            told.push(Promise.all([toldBy(node, venueState), toldBy(wireNode(venueState), venueState)]))
          })
      },
    },
  )
  const pairs = await Promise.all(told)
  for (const [at, [direct, wire]] of pairs.entries()) expect(direct, `look ${at}`).toEqual(wire)
  const last = pairs.at(-1)?.[0] as Awaited<ReturnType<typeof toldBy>>
  expect(last.logs.length).toBeGreaterThan(5)
  expect(last.digests.map((row) => row.filter(Boolean).length)).toEqual([1, 1])
  expect(advanced).toBeGreaterThan(pairs.length)
})

test('a block that is not on the chain is refused as its endpoint refuses it', async () => {
  const folder = testFolder()
  const quiet = await strategyOf(folder, 'quiet', () => [])
  const refusals: Promise<unknown>[] = []
  await runFor(
    folder,
    writeMinutes(folder, 3, () => 2000),
    3,
    [quiet],
    {
      begin({ venueState, scheduler }) {
        scheduler.after(60_000, () => {
          const digest: DigestAt = {
            router: venueState.chain.contracts.gelatoRelayRouter,
            digest: `0x${'12'.repeat(32)}`,
          }
          const hash: Hex = `0x${'34'.repeat(32)}`
          for (const node of [directNode('venue', venueState, () => undefined), wireNode(venueState)])
            refusals.push(node.digestsAt([digest], [hash], signal).catch((error: unknown) => error))
        })
      },
    },
  )
  const [direct, wire] = await Promise.all(refusals)
  expect(wire).toMatchObject({ code: 'RPC_REFUSED' })
  expect(direct).toMatchObject({ code: 'RPC_REFUSED' })
})
