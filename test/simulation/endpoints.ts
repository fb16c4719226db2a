/**
 * What one or two RPC endpoints show of the chain: the truth, or a lagging, forked, blind, failing or lying picture of it.
 * A single endpoint never lies about finality: its word is trusted, and that is said to the operator. One of two may say
 * anything.
 */
import type { AttemptQuery, EndpointBlock } from '../../src/domain/machine/chainReader.ts'
import type { ChainView, EndpointView, OrderLog } from '../../src/domain/machine/chainView.ts'
import type { BlockRef, Settlement } from '../../src/domain/order/intent.ts'
import type { Hex } from '../../src/protocol/address.ts'
import type { Branch, ModelChain, ModelLog, Use } from './chainModel.ts'

/** How an endpoint is ill. */
export type Illness =
  | { readonly kind: 'error' }
  /** Its newest block is this many behind. */
  | { readonly kind: 'lag'; readonly blocks: number }
  /** It stands on a branch that was left behind. */
  | { readonly kind: 'fork'; readonly branch: Branch }
  /**
   * It knows that digests are used, but finds neither the transaction nor events. On a wire it may instead lack the events
   * of newer blocks alone, or the state of older ones.
   */
  | { readonly kind: 'blind'; readonly how: 'all' | 'events' | 'state' }
  /** A balancer before nodes that are so many blocks behind; each request comes to any of them. */
  | { readonly kind: 'pool'; readonly lags: readonly number[] }
  /** Its blocks are those that are, with times that are so many seconds later, or earlier. */
  | { readonly kind: 'moved'; readonly seconds: number }
  /**
   * It says what is not so: `unused` with blocks far past every deadline, `foreign` use, or an `end` that never was. Its
   * newest block is `ahead` of the true one.
   */
  | { readonly kind: 'liar'; readonly lie: 'unused' | 'foreign' | 'end'; readonly ahead: bigint }

/** One endpoint. */
export interface Endpoint {
  readonly name: string
  illness: Illness | undefined
}

/** One look at all endpoints, each against its own newest and final block. */
export function viewOf(
  chain: ModelChain,
  endpoints: readonly Endpoint[],
  query: AttemptQuery,
  nowMs: number,
): ChainView {
  return {
    configured: endpoints.length,
    endpoints: endpoints.flatMap((endpoint) => {
      const view = endpointView(chain, endpoint, query, nowMs)
      return view === undefined ? [] : [view]
    }),
  }
}

/** The newest block by each endpoint that answers at `nowMs`, a process's monotonic time. */
export function latestOf(
  chain: ModelChain,
  endpoints: readonly Endpoint[],
  nowMs: number,
): readonly EndpointBlock[] {
  return endpoints.flatMap((endpoint) =>
    endpoint.illness?.kind === 'error'
      ? []
      : [{ endpoint: endpoint.name, block: moved(endpoint, standing(chain, endpoint).tip), readMs: nowMs }],
  )
}

function standing(chain: ModelChain, { illness }: Endpoint): { branch: Branch; tip: BlockRef } {
  const branch = illness?.kind === 'fork' ? illness.branch : chain.canonical
  const lag =
    illness?.kind === 'lag' ? illness.blocks : illness?.kind === 'pool' ? Math.max(...illness.lags) : 0
  const { blocks } = branch
  const tip = blocks[Math.max(0, blocks.length - 1 - lag)] as BlockRef
  return { branch, tip }
}

function endpointView(
  chain: ModelChain,
  endpoint: Endpoint,
  query: AttemptQuery,
  nowMs: number,
): EndpointView | undefined {
  const { illness, name } = endpoint
  if (illness?.kind === 'error') return undefined
  const { branch, tip } = standing(chain, endpoint)
  const finalNumber = finalOf(chain, branch, tip, nowMs)
  const final = moved(endpoint, branch.blockAt(finalNumber))
  const latest = moved(endpoint, tip)
  if (illness?.kind === 'liar') return lyingView(name, illness.lie, query, latest, final)
  const found = branch.uses.get(query.digest)
  const use = found !== undefined && found.block.number <= tip.number ? found : undefined
  return {
    endpoint: name,
    latest,
    final,
    isDigestUsedAtLatest: use !== undefined,
    isDigestUsedAtFinal: use !== undefined && use.block.number <= finalNumber,
    ...(use === undefined || illness?.kind === 'blind' ? {} : { consumer: consumerOf(use) }),
    logs: illness?.kind === 'blind' ? [] : logsOf(branch, query, use, tip),
  }
}

/** What an endpoint calls final: what is so, as far as its own branch holds it. */
export function finalOf(chain: ModelChain, branch: Branch, tip: BlockRef, nowMs: number): bigint {
  const reached = chain.finalAt(nowMs).number
  let number = reached < tip.number ? reached : tip.number
  while (number > 100n && !chain.canonical.holds(branch.blockAt(number))) number -= 1n
  return number
}

function consumerOf(use: Use) {
  return {
    transactionHash: use.transactionHash,
    block: refOf(use.block),
    carriesOurSignature: !use.isForeign && use.showsSignature,
  }
}

function logsOf(branch: Branch, query: AttemptQuery, use: Use | undefined, tip: BlockRef): OrderLog[] {
  const keys = new Set([...query.orderKeys, ...createdIn(branch, use)])
  const from = query.fromBlock ?? 0n
  return branch.logs
    .filter(
      ({ block, transactionHash, orderKey }) =>
        block.number <= tip.number &&
        block.number >= from &&
        (transactionHash === use?.transactionHash || keys.has(orderKey)),
    )
    .map(orderLogOf)
}

/** Orders of the transaction that used the digest: all of a bundle. */
function createdIn(branch: Branch, use: Use | undefined): readonly Hex[] {
  return branch.logs
    .filter(
      ({ event, transactionHash }) => event === 'OrderCreated' && transactionHash === use?.transactionHash,
    )
    .map(({ orderKey }) => orderKey)
}

function orderLogOf(log: ModelLog): OrderLog {
  const { spec } = log
  return {
    event: log.event,
    orderKey: log.orderKey,
    transactionHash: log.transactionHash,
    block: refOf(log.block),
    logIndex: log.logIndex,
    ...(log.event === 'OrderCreated' && spec !== undefined
      ? {
          created: {
            orderKey: log.orderKey,
            orderType: spec.orderType,
            marketToken: spec.marketToken,
            direction: spec.direction,
            sizeDeltaUsd: spec.sizeDeltaUsd,
            collateralAmount: spec.collateralAmount ?? 0n,
          },
        }
      : {}),
    ...(log.reason === undefined ? {} : { reason: log.reason }),
    ...(log.event === 'OrderExecuted' ? { settlement: settlementOf(log) } : {}),
  }
}

function settlementOf({ transactionHash, block, movedUsd = 0n, price }: ModelLog): Settlement {
  return {
    transactionHash,
    timestampSeconds: block.timestampSeconds,
    sizeDeltaUsd: movedUsd,
    ...(price === undefined ? {} : { executionPrice: price }),
  }
}

/** A head with the time that the endpoint tells. */
function moved({ illness }: Endpoint, block: BlockRef): BlockRef {
  const ref = refOf(block)
  if (illness?.kind !== 'moved') return ref
  return { ...ref, timestampSeconds: ref.timestampSeconds + illness.seconds }
}

function refOf({ number, hash, timestampSeconds }: BlockRef): BlockRef {
  return { number, hash, timestampSeconds }
}

/** What never was, told with confidence. */
function lyingView(
  endpoint: string,
  lie: 'unused' | 'foreign' | 'end',
  query: AttemptQuery,
  latest: BlockRef,
  final: BlockRef,
): EndpointView {
  const hash: Hex = `0x${'ee'.repeat(32)}`
  const future: BlockRef = {
    number: final.number + 1000n,
    hash,
    timestampSeconds: query.deadlineSeconds + 1000,
  }
  const base = { endpoint, latest: future, final: future, logs: [] }
  switch (lie) {
    case 'unused':
      return { ...base, isDigestUsedAtLatest: false, isDigestUsedAtFinal: false }
    case 'foreign':
      return {
        ...base,
        isDigestUsedAtLatest: true,
        isDigestUsedAtFinal: true,
        consumer: { transactionHash: hash, block: future, carriesOurSignature: false },
      }
    case 'end':
      return {
        ...base,
        isDigestUsedAtLatest: true,
        isDigestUsedAtFinal: true,
        logs: query.orderKeys.map((orderKey, logIndex) => ({
          event: logIndex % 2 === 0 ? 'OrderExecuted' : 'OrderCancelled',
          orderKey,
          transactionHash: hash,
          block: { ...latest, hash },
          logIndex,
        })),
      }
  }
}
