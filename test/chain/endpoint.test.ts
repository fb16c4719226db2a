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
import { usd } from '../../src/protocol/units.ts'
import { emitterAbi } from '../paper/chainSupport.ts'
import { account, ethMarket } from '../support/intents.ts'

const inputs = (emitterAbi.find((one) => one.name === 'EventLog2')?.inputs ?? []).filter(
  (input) => !('indexed' in input && input.indexed),
)
const none = { items: [], arrayItems: [] }
const word = (value: number, kind: string): Hex => `0x${kind}${value.toString(16).padStart(63, '0')}`
const [eventKind, eventNames] = orderTopics(account) as [Hex, Hex[]]

/** The OrderCreated of attempt `n`, of n + 1 dollars, in a transaction of its own. */
function created(n: number, block: number): LogRow {
  const key = word(n, '1')
  const uints = { orderType: 2n, sizeDeltaUsd: usd(n + 1) }
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
    blockNumber: BigInt(block),
    blockHash: word(block, '2'),
    transactionHash: word(n, '3'),
    logIndex: n,
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

interface Ills {
  readonly failed?: ReadonlySet<number>
  /** All land in block 1000, which is not final, and no signature is in plain sight. */
  readonly isOneBlock?: boolean
  /** Answers in a row to questions about blocks of uses that lack the first one. */
  unreadUses?: number
  /** Answers in a row that lack the event of attempt 0. */
  hiddenLogs?: number
}

/** A chain of blocks 1000 up in which `count` attempts landed, attempt n in block 1000 + n. */
function bench(count: number, parts: Ills = {}): Bench {
  const blockOf = (n: number) => (parts.isOneBlock ? 1000 : 1000 + n)
  const rows = Array.from({ length: count }, (_unused, n) => created(n, blockOf(n)))
  const asked: string[] = []
  const numberOf = (hash: Hex) => Number.parseInt(hash.slice(3), 16)
  const block = (number: number) => ({
    number: BigInt(number),
    hash: word(number, '2'),
    parentHash: word(number - 1, '2'),
    timestampSeconds: 1_700_000_000 + number,
  })
  const isUsed = (digest: Hex, hash: Hex) => numberOf(hash) >= blockOf(numberOf(digest))
  const told = <T>(name: string, value: T): Promise<T> => {
    asked.push(name)
    return Promise.resolve(value)
  }
  const transactionOf = (hash: Hex) => ({
    hash,
    to: arbitrum.contracts.gelatoRelayRouter.toLowerCase() as Hex,
    input: `0x0427ef5f${parts.isOneBlock ? '' : signatureOf(numberOf(hash)).slice(2)}` as Hex,
    blockHash: word(blockOf(numberOf(hash)), '2'),
  })
  /** Counts one ill answer off; false when there is none left. */
  const isLeft = (ill: 'unreadUses' | 'hiddenLogs'): boolean => {
    const left = parts[ill] ?? 0
    parts[ill] = left - 1
    return left > 0
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
        final: block(parts.isOneBlock ? 999 : 8000),
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
        wanted.map(({ digest, before, at }, index) =>
          index === 0 && isLeft('unreadUses')
            ? undefined
            : { before: isUsed(digest.digest, before), at: isUsed(digest.digest, at) },
        ),
      ),
    digestAtNumber: ({ digest }, number) =>
      told('digestAtNumber', isUsed(digest, block(Number(number)).hash)),
    logs: ({ from, to }) =>
      told(
        'logs',
        rows
          .filter(({ blockNumber }) => blockNumber >= from && blockNumber <= to)
          .slice(to >= 1000n && isLeft('hiddenLogs') ? 1 : 0),
      ),
    blockByNumber: (number) => told('blockByNumber', block(Number(number))),
    blocks: (hashes) =>
      told(
        'blocks',
        hashes.map((hash) => block(numberOf(hash))),
      ),
    fullBlock: (number) =>
      told('fullBlock', {
        ...block(Number(number)),
        transactions: rows
          .filter(({ blockNumber }) => parts.isOneBlock && blockNumber === number)
          .map(({ transactionHash }) => transactionOf(transactionHash)),
      }),
    transactions: (hashes) => told('transactions', hashes.map(transactionOf)),
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
  for (const [n, view] of views.entries()) {
    expect(view?.consumer).toMatchObject({ transactionHash: word(n, '3'), carriesOurSignature: true })
    expect(view?.logs.map(({ orderKey }) => orderKey)).toEqual([word(n, '1')])
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

/** The query of attempt `n` that knows its order. */
const knownOf = (n: number): AttemptQuery => ({
  ...queryOf(n),
  expected: {
    orders: [
      { role: 'main', orderType: 2, marketToken: ethMarket, direction: 'long', sizeDeltaUsd: usd(n + 1) },
    ],
    changes: [],
  },
})

test('of two messages of a block without a signature in plain sight, one that could not be read is not taken for the other', async () => {
  const { endpoint } = bench(2, { isOneBlock: true, unreadUses: 1 })
  const { views, trouble } = await endpoint.poll([knownOf(0)], signal)
  expect(trouble).toMatch(/was not found/)
  expect(views[0]?.consumer).toBeUndefined()
  const again = await endpoint.poll([knownOf(0)], signal)
  expect(again.views[0]?.consumer?.transactionHash).toBe(word(0, '3'))
})

test('a message that was chosen by events that were not whole is chosen anew when they are', async () => {
  const { endpoint } = bench(2, { isOneBlock: true, hiddenLogs: 1 })
  const { views } = await endpoint.poll([knownOf(0)], signal)
  expect(views[0]?.consumer?.transactionHash).toBe(word(1, '3'))
  const again = await endpoint.poll([knownOf(0)], signal)
  expect(again.views[0]?.consumer?.transactionHash).toBe(word(0, '3'))
})
