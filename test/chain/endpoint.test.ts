/** One endpoint's look over a node that is made up: what hundreds of orders cost, and whose transaction counts. */
import { encodeAbiParameters, type Hex, pad } from 'viem'
import { expect, test } from 'vitest'
import { createEndpoint } from '../../src/chain/endpoint.ts'
import type { Endpoint } from '../../src/chain/endpointTypes.ts'
import { orderTopics } from '../../src/chain/logs/orderLogs.ts'
import type { LogRow } from '../../src/chain/node/blockRows.ts'
import type { ChainNode } from '../../src/chain/node/node.ts'
import type { AttemptQuery } from '../../src/domain/machine/chainReader.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { emitterAbi } from '../paper/chainSupport.ts'
import { account, ethMarket } from '../support/intents.ts'

const inputs = (emitterAbi.find((one) => one.name === 'EventLog2')?.inputs ?? []).filter(
  (input) => !('indexed' in input && input.indexed),
)
const none = { items: [], arrayItems: [] }
const word = (value: number, kind: string): Hex => `0x${kind}${value.toString(16).padStart(63, '0')}`
const [eventKind, eventNames] = orderTopics(account) as [Hex, Hex[]]

/** The OrderCreated of attempt `n`, in a block and a transaction of its own. */
function created(n: number): LogRow {
  const key = word(n, '1')
  const uints = { orderType: 2n, sizeDeltaUsd: 10n ** 30n }
  const data = {
    addressItems: {
      items: Object.entries({ account, market: ethMarket }).map(([name, value]) => ({ key: name, value })),
      arrayItems: [],
    },
    uintItems: {
      items: Object.entries(uints).map(([name, value]) => ({ key: name, value })),
      arrayItems: [],
    },
    intItems: none,
    boolItems: { items: [{ key: 'isLong', value: true }], arrayItems: [] },
    bytes32Items: { items: [{ key: 'key', value: key }], arrayItems: [] },
    bytesItems: none,
    stringItems: none,
  }
  return {
    address: arbitrum.contracts.eventEmitter.toLowerCase() as Hex,
    topics: [eventKind, eventNames[0] ?? '0x', key, pad(account).toLowerCase() as Hex],
    data: encodeAbiParameters(inputs as never, [account, 'OrderCreated', data] as never),
    blockNumber: BigInt(1000 + n),
    blockHash: word(1000 + n, '2'),
    transactionHash: word(n, '3'),
    logIndex: 0,
  }
}

const signatureOf = (n: number): Hex => `0x${n.toString(16).padStart(130, '5')}`

function queryOf(n: number): AttemptQuery {
  return {
    account,
    router: arbitrum.contracts.gelatoRelayRouter,
    digest: word(n, '4'),
    signature: signatureOf(n),
    fromBlock: 900n,
    deadlineSeconds: 1_800_000_000,
    orderKeys: [],
    transactionHashes: [],
    marketToken: ethMarket,
    indexTokenDecimals: 18,
  }
}

interface Bench {
  readonly endpoint: Endpoint
  readonly asked: string[]
}

/** A chain of blocks 1000 up in which `count` attempts landed, attempt n in block 1000 + n. */
function bench(count: number, parts: { readonly failed?: ReadonlySet<number> } = {}): Bench {
  const rows = Array.from({ length: count }, (_unused, n) => created(n))
  const asked: string[] = []
  const numberOf = (hash: Hex) => Number.parseInt(hash.slice(3), 16)
  const block = (number: number) => ({
    number: BigInt(number),
    hash: word(number, '2'),
    parentHash: word(number - 1, '2'),
    timestampSeconds: 1_700_000_000 + number,
  })
  const isUsed = (digest: Hex, hash: Hex) => numberOf(hash) >= 1000 + numberOf(digest)
  const told = <T>(name: string, value: T): Promise<T> => {
    asked.push(name)
    return Promise.resolve(value)
  }
  const node: ChainNode = {
    name: 'made-up',
    requests: () => asked.length,
    chainId: () => told('chainId', BigInt(arbitrum.chainId)),
    latest: () => told('latest', block(9000)),
    gasPrice: () => told('gasPrice', { networkGasPrice: 20_000_000n, priorityFee: 0n }),
    nativeBalance: () => told('nativeBalance', 0n),
    heads: (numbers) =>
      told('heads', {
        latest: block(9000),
        final: block(8000),
        hashes: numbers.map((one) => block(Number(one)).hash),
      }),
    digestsAt: (digests, blocks) =>
      told(
        'digestsAt',
        blocks.map((hash) => digests.map(({ digest }) => isUsed(digest, hash))),
      ),
    usesAt: (wanted) =>
      told(
        'usesAt',
        wanted.map(({ digest, before, at }) => ({
          before: isUsed(digest.digest, before),
          at: isUsed(digest.digest, at),
        })),
      ),
    digestAtNumber: ({ digest }, number) =>
      told('digestAtNumber', isUsed(digest, block(Number(number)).hash)),
    logs: ({ from, to }) =>
      told(
        'logs',
        rows.filter(({ blockNumber }) => blockNumber >= from && blockNumber <= to),
      ),
    blockByNumber: (number) => told('blockByNumber', block(Number(number))),
    blocks: (hashes) =>
      told(
        'blocks',
        hashes.map((hash) => block(numberOf(hash))),
      ),
    fullBlock: (number) => told('fullBlock', { ...block(Number(number)), transactions: [] }),
    transactions: (hashes) =>
      told(
        'transactions',
        hashes.map((hash) => {
          const n = numberOf(hash)
          return {
            hash,
            to: arbitrum.contracts.gelatoRelayRouter.toLowerCase() as Hex,
            input: `0x0427ef5f${signatureOf(n).slice(2)}` as Hex,
            blockHash: word(1000 + n, '2'),
          }
        }),
      ),
    receipts: (wanted) =>
      told(
        'receipts',
        wanted.map(({ transactionHash, blockHash }) => {
          const n = numberOf(transactionHash)
          const hasSucceeded = parts.failed?.has(n) !== true
          return {
            transactionHash,
            blockHash,
            hasSucceeded,
            logs: rows.filter((row) => row.transactionHash === transactionHash),
          }
        }),
      ),
    forget() {},
    close() {},
  }
  const { chainId, contracts } = arbitrum
  return {
    asked,
    endpoint: createEndpoint(node, {
      chainId,
      eventEmitter: contracts.eventEmitter,
      wrappedNative: contracts.wrappedNative,
      markets: arbitrum.facts.markets,
      maxLogSpan: 10_000,
    }),
  }
}

const { signal } = new AbortController()

test('300 attempts that landed while perpd was down are found in one look of a dozen questions', async () => {
  const { endpoint, asked } = bench(300)
  const queries = Array.from({ length: 300 }, (_unused, n) => queryOf(n))
  const { views, trouble } = await endpoint.poll(queries, signal)
  expect(trouble).toBeUndefined()
  for (const [n, { consumer, logs }] of views.entries()) {
    expect(consumer).toMatchObject({ transactionHash: word(n, '3'), carriesOurSignature: true })
    expect(logs.map(({ orderKey }) => orderKey)).toEqual([word(n, '1')])
  }
  expect(asked.length).toBeLessThanOrEqual(12)
  const before = asked.length
  await endpoint.poll(queries, signal)
  expect(asked.slice(before)).toEqual(['heads', 'logs', 'digestsAt', 'receipts', 'blocks'])
})

test('a transaction that carries the signature and failed is not the one that used the digest', async () => {
  const { endpoint } = bench(1, { failed: new Set([0]) })
  const { views, trouble } = await endpoint.poll([queryOf(0)], signal)
  expect(views[0]?.consumer).toBeUndefined()
  expect(trouble).toMatch(/was not found/)
})

test('an event of the attempt of another digest is not taken for this one', async () => {
  const { endpoint } = bench(2)
  const stolen = { ...queryOf(0), digest: word(1, '4') }
  const { views } = await endpoint.poll([stolen], signal)
  // Its signature is in a transaction at whose block the digest was still unused.
  expect(views[0]?.consumer).toBeUndefined()
})
