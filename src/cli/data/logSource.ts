/** The chain's events of a market through the user's endpoints, which must agree. */
import type { Fetch } from '../../api/transport/route.ts'
import { BaseError } from '../../base/errors.ts'
import { systemClock } from '../../base/systemClock.ts'
import { endpointNames } from '../../chain/connectEndpoints.ts'
import {
  type LoggedMarket,
  type MarketChange,
  marketChangesOf,
  marketTopics,
} from '../../chain/logs/marketLogs.ts'
import { type ChainNode, createChainNode } from '../../chain/node/node.ts'
import { createHttpTransport } from '../../chain/wire/httpTransport.ts'
import { createRpcClient, unreadable } from '../../chain/wire/jsonRpc.ts'
import type { LogSource, TimedBlock } from '../../history/getLogs.ts'
import type { LoggedChange } from '../../history/logsFile.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import type { Finality } from '../../protocol/chains/finality.ts'

/** Blocks that are asked for in one request. */
const BATCH_SIZE = 50

/** Endpoints that say different things of the past. */
class EndpointsDifferError extends BaseError {}

/** Access to the chain. */
export interface LogRoad {
  readonly chain: Chain
  readonly urls: readonly string[]
  readonly finality: Finality
  readonly timeoutMs: number
  readonly fetch: Fetch
}

/** Endpoints as nodes, each of which was asked which chain it serves. Throws BaseError RPC_WRONG_CHAIN, or as its answer does. */
export async function openNodes({
  chain,
  urls,
  finality,
  timeoutMs,
  fetch,
}: LogRoad): Promise<readonly ChainNode[]> {
  const names = endpointNames(urls)
  const limits = { timeoutMs, batchSize: BATCH_SIZE }
  const nodes = urls.map((url, at) => {
    const client = createRpcClient(names[at] ?? '', createHttpTransport(url, fetch), systemClock, limits)
    return createChainNode(client, chain.contracts, finality)
  })
  for (const node of nodes) {
    const found = await node.chainId(new AbortController().signal)
    if (found !== BigInt(chain.chainId))
      throw new BaseError(`The chain endpoint ${node.name} serves another chain.`, {
        code: 'RPC_WRONG_CHAIN',
        facts: { endpoint: node.name, wanted: chain.chainId, found },
        details: 'Nothing was read from it. Configure an endpoint of the chain: rpc.http.',
      })
  }
  return nodes
}

/** Makes the source of one market. What one endpoint shows and another does not is refused: throws BaseError HISTORY_ENDPOINTS_DIFFER. */
export function logSourceOf(
  nodes: readonly ChainNode[],
  { contracts }: Chain,
  market: LoggedMarket,
): LogSource {
  const topics = marketTopics(market)
  const signal = (): AbortSignal => new AbortController().signal

  async function read(node: ChainNode, from: number, to: number): Promise<readonly LoggedChange[]> {
    const { eventEmitter: address } = contracts
    const logs = await node.logs({ address, topics, from: BigInt(from), to: BigInt(to) }, signal())
    let changes: readonly MarketChange[]
    try {
      changes = marketChangesOf(logs, address, market)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      throw unreadable(node.name, error.message)
    }
    const hashes = [...new Set(changes.map(({ blockHash }) => blockHash))]
    const blocks = await node.blocks(hashes, signal())
    const seconds = new Map(hashes.map((hash, at) => [hash, blocks[at]?.timestampSeconds ?? 0]))
    return changes.map(({ blockHash, blockNumber, logIndex, field, before, value }) => ({
      second: seconds.get(blockHash) ?? 0,
      block: Number(blockNumber),
      log: logIndex,
      ...{ field, before, value },
    }))
  }

  /** Asks all endpoints and gives what they agree on. */
  async function agreed<T>(
    ask: (node: ChainNode) => Promise<T>,
    differ: (one: T, other: T, names: string) => BaseError | undefined,
  ): Promise<T> {
    const [first, ...others] = await Promise.all(
      nodes.map(async (node) => ({ name: node.name, value: await ask(node) })),
    )
    if (first === undefined) throw new RangeError('logSourceOf: no endpoint')
    for (const other of others) {
      const error = differ(first.value, other.value, `${first.name}, ${other.name}`)
      if (error !== undefined) throw error
    }
    return first.value
  }

  return {
    async newest() {
      const heads = await Promise.all(nodes.map(async (node) => (await node.heads([], signal())).final))
      const [oldest] = heads.toSorted((one, other) => Number(one.number - other.number))
      if (oldest === undefined) throw new RangeError('logSourceOf: no endpoint')
      return { number: Number(oldest.number), seconds: oldest.timestampSeconds }
    },
    block: async (number) =>
      await agreed(
        async (node): Promise<TimedBlock> => {
          const { timestampSeconds: seconds } = await node.blockByNumber(BigInt(number), signal())
          return { number, seconds }
        },
        (one, other, names) =>
          one.seconds === other.seconds ? undefined : differing(names, number, 'the time of a block'),
      ),
    changes: async (from, to) =>
      await agreed(
        async (node) => await read(node, from, to),
        (one, other, names) => {
          const only = one.find((each, at) => !isSame(each, other[at])) ?? other[one.length]
          return only === undefined ? undefined : differing(names, only.block, only.field)
        },
      ),
  }
}

function isSame(one: LoggedChange, other: LoggedChange | undefined): boolean {
  return (
    other !== undefined &&
    one.second === other.second &&
    one.block === other.block &&
    one.log === other.log &&
    one.field === other.field &&
    one.before === other.before &&
    one.value === other.value
  )
}

function differing(endpoints: string, block: number, of: string): BaseError {
  return new EndpointsDifferError('The chain endpoints show different events.', {
    code: 'HISTORY_ENDPOINTS_DIFFER',
    facts: { endpoints, block, of },
    details:
      'One of them shows something that the other does not. Nothing of that stretch was saved. Leave out the one that is wrong in rpc.http, or repeat the command later.',
  })
}
