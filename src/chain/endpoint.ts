/**
 * One look at one endpoint, for all attempts of all accounts together. Its cost does not grow with them: one request for the
 * heads, one for the accounts' events, one for all digests; more only when something happened.
 *
 * Everything in a view is of one chain: the heads are read first, and the digests last, pinned to the hashes of those heads
 * and refused when one of them was replaced meanwhile (EIP-1898, `requireCanonical`). A look that meets such a change fails
 * and is repeated. What was read for good from final blocks is dropped when such a block turns out to be replaced.
 */
import { defined } from '../base/defined.ts'
import { BaseError, reasonOf } from '../base/errors.ts'
import type { AttemptQuery } from '../domain/machine/chainReader.ts'
import type { EndpointView } from '../domain/machine/chainView.ts'
import { type Hex, hexKey } from '../protocol/address.ts'
import {
  blockBeforeSigning,
  type ConsumerSearch,
  type Found,
  findBySignature,
  findByUse,
  signatureDigits,
} from './consumer.ts'
import type { Endpoint, EndpointOptions, EndpointPoll } from './endpointTypes.ts'
import { type AccountEvents, type AskedAccount, createAccountsLogs } from './logs/accountsLogs.ts'
import { countBeside, countOf, eventsOf, indexOf } from './logs/eventIndex.ts'
import type { OrderEvent } from './logs/orderLogs.ts'
import { createRecentEvents } from './logs/recentEvents.ts'
import { createBoundedMap } from './node/boundedMap.ts'
import { type DigestAt, digestKey } from './node/digests.ts'
import type { ChainNode, Heads } from './node/node.ts'
import { createOrderLogReader, refOf } from './orderLogReader.ts'
import { readPositionChange } from './readPositionChange.ts'
import { unreadable } from './wire/jsonRpc.ts'

/** Most searches of one look for a consumer that no signature shows; each halves a range. */
const MAX_SEARCHES = 8
const SETTLED_KEPT = 20_000

/** A block that was final when it was last looked at. */
interface Anchor {
  readonly number: bigint
  readonly hash: Hex
}

/** Use of a digest at the two heads of a look. */
interface DigestUse {
  readonly atLatest: boolean
  readonly atFinal: boolean
}

const unused: DigestUse = { atLatest: false, atFinal: false }

/** A query of a look, its place there, and the first block that it needs. */
interface Asked {
  readonly query: AttemptQuery
  readonly at: number
  readonly from: bigint
}

/** Facts that a look found of one account, and the signatures of all. */
interface Seen {
  readonly heads: Heads
  readonly events: readonly OrderEvent[]
  readonly digests: ReadonlyMap<Asked, DigestUse>
  readonly signatures: ReadonlySet<string>
}

/** Makes an endpoint of a node's questions. */
export function createEndpoint(node: ChainNode, options: EndpointOptions): Endpoint {
  const accounts = createAccountsLogs(node, options.eventEmitter, options.maxLogSpan)
  /** Consumers of digests, by digest. Their blocks are verified in each look, until one look shows them final. */
  const consumers = createBoundedMap<Found & { readonly isFinal: boolean }>(SETTLED_KEPT)
  const firstBlocks = createBoundedMap<bigint>(SETTLED_KEPT)
  const orders = createOrderLogReader(node, options)
  const recentEvents = createRecentEvents(node, options.eventEmitter, options.maxLogSpan)
  let isChecked = false
  let anchor: Anchor | undefined
  let turn: Promise<unknown> = Promise.resolve()
  let searchesBegun = 0

  async function check(signal: AbortSignal): Promise<void> {
    if (isChecked) return
    const found = await node.chainId(signal)
    if (found !== BigInt(options.chainId)) {
      throw new BaseError(`The chain endpoint ${node.name} serves another chain.`, {
        code: 'RPC_WRONG_CHAIN',
        facts: { endpoint: node.name, wanted: options.chainId, found },
        details: 'perpd does not use it. Configure an endpoint of the traded chain: rpc.http, rpc.ws.',
      })
    }
    isChecked = true
  }

  /** Forgets what was read for good. */
  function forgetAll(): void {
    accounts.forgetAll()
    consumers.clear()
    firstBlocks.clear()
    orders.forget()
    node.forget()
  }

  /** The heads, after it was made sure that what was kept as final still is, and that consumers' blocks still stand. */
  async function readHeads(queries: readonly AttemptQuery[], signal: AbortSignal): Promise<Heads> {
    const before = anchor
    const unsure = queries.flatMap((query): readonly [string, Found][] => {
      const known = consumers.get(digestKey(query))
      return known === undefined || known.isFinal ? [] : [[digestKey(query), known]]
    })
    const numbers = [
      ...(before === undefined ? [] : [before.number]),
      ...unsure.map(([, { consumer }]) => consumer.block.number),
    ]
    const { hashes, ...heads } = await node.heads(numbers, signal)
    const [anchored, ...standing] = before === undefined ? [undefined, ...hashes] : hashes
    for (const [index, [key, known]] of unsure.entries()) {
      const { block } = known.consumer
      if (standing[index] === block.hash) {
        consumers.set(key, { ...known, isFinal: block.number <= heads.final.number })
      } else {
        consumers.delete(key)
        node.forget()
      }
    }
    // One whose newest block is before the anchor is far behind, or what it called final never was: either way what it
    // showed is read anew.
    if (before !== undefined && anchored !== before.hash) {
      forgetAll()
      anchor = undefined
    }
    if (anchor === undefined || heads.final.number >= anchor.number) {
      anchor = { number: heads.final.number, hash: heads.final.hash }
    }
    return heads
  }

  async function firstBlockOf(query: AttemptQuery, heads: Heads, signal: AbortSignal): Promise<bigint> {
    if (query.fromBlock !== undefined) return query.fromBlock
    const key = digestKey(query)
    const known = firstBlocks.get(key)
    if (known !== undefined) return known
    const found = await blockBeforeSigning(node, query.deadlineSeconds, heads, signal)
    firstBlocks.set(key, found)
    return found
  }

  /** Events by account, since the first block that any of its queries needs. */
  async function readEvents(
    queries: readonly AttemptQuery[],
    froms: readonly bigint[],
    heads: Heads,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, AccountEvents>> {
    const oldest = new Map<string, AskedAccount>()
    for (const [index, { account }] of queries.entries()) {
      const from = froms[index] ?? 0n
      const before = oldest.get(hexKey(account))
      if (before === undefined || from < before.from) oldest.set(hexKey(account), { account, from })
    }
    const events = await accounts.read([...oldest.values()], heads, signal)
    return new Map([...oldest.keys()].map((key, at) => [key, events[at]]))
  }

  /** Reads whether each digest is used at the latest and at the final block. */
  async function readDigests(
    queries: readonly AttemptQuery[],
    { latest, final }: Heads,
    signal: AbortSignal,
  ): Promise<readonly DigestUse[]> {
    // Used for good: a consumer in a block that is final cannot go away.
    const isSettled = (query: AttemptQuery): boolean => consumers.get(digestKey(query))?.isFinal === true
    const asked = new Map<string, DigestAt>()
    for (const query of queries) if (!isSettled(query)) asked.set(digestKey(query), query)
    // One is always asked: its pinned reading shows that the heads still stand after the events were read.
    const [any] = queries
    if (asked.size === 0 && any !== undefined) asked.set(digestKey(any), any)
    const blocks = latest.hash === final.hash ? [latest.hash] : [latest.hash, final.hash]
    const [atLatest = [], atFinal = atLatest] = await node.digestsAt([...asked.values()], blocks, signal)
    const place = new Map([...asked.keys()].map((key, index) => [key, index]))
    return queries.map((query) => {
      const index = place.get(digestKey(query))
      if (index === undefined) return { atLatest: true, atFinal: true }
      return { atLatest: atLatest[index] === true, atFinal: atFinal[index] === true }
    })
  }

  /** Finds the consumers that are not known yet; what keeps one from being found is returned as trouble. */
  async function findConsumers(
    searches: readonly ConsumerSearch[],
    heads: Heads,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (searches.length === 0) return undefined
    const keep = (key: string, found: Found): void =>
      consumers.set(key, { ...found, isFinal: found.consumer.block.number <= heads.final.number })
    const signed = await findBySignature(node, searches, signal)
    for (const [key, found] of signed) keep(key, found)
    const left = searches.filter(({ query }) => !signed.has(digestKey(query)))
    let trouble: string | undefined
    // Those that are not found must not keep the others from being looked for.
    searchesBegun += MAX_SEARCHES
    const first = left.length <= MAX_SEARCHES ? 0 : searchesBegun % left.length
    for (const search of [...left.slice(first), ...left.slice(0, first)].slice(0, MAX_SEARCHES)) {
      try {
        const found = await findByUse(node, search, signal)
        if (found === undefined) trouble ??= `the transaction that used ${search.query.digest} was not found`
        else keep(digestKey(search.query), found)
      } catch (error) {
        // The rest of the look stands without it: an endpoint may keep no state of old blocks.
        if (!(error instanceof BaseError) || error.code !== 'RPC_REFUSED') throw error
        trouble ??= error.shortMessage
      }
    }
    return trouble
  }

  async function look(queries: readonly AttemptQuery[], signal: AbortSignal): Promise<EndpointPoll> {
    await check(signal)
    const heads = await readHeads(queries, signal)
    const froms: bigint[] = []
    for (const query of queries) froms.push(await firstBlockOf(query, heads, signal))
    const eventsByAccount = await readEvents(queries, froms, heads, signal)
    const asked = queries.map((query, at): Asked => ({ query, at, from: froms[at] ?? 0n }))
    const groups = Map.groupBy(asked, ({ query }) => hexKey(query.account))
    const told = asked.filter(({ query }) => Array.isArray(eventsByAccount.get(hexKey(query.account))))
    const digests = new Map<Asked, DigestUse>()
    if (told.length > 0) {
      const uses = await readDigests(
        told.map(({ query }) => query),
        heads,
        signal,
      )
      for (const [at, one] of told.entries()) digests.set(one, uses[at] ?? unused)
    }
    const signatures = new Set(queries.map(({ signature }) => signatureDigits(signature)))
    const views: (EndpointView | undefined)[] = queries.map(() => undefined)
    let trouble: string | undefined
    let fault: BaseError | undefined
    for (const [key, group] of groups) {
      const events = eventsByAccount.get(key)
      try {
        if (events === undefined) trouble ??= `${node.name} is still reading the past`
        else if (events instanceof BaseError) throw events
        else {
          const found = await viewsOf(group, { heads, events, digests, signatures }, signal)
          trouble ??= found.trouble
          for (const [at, view] of found.views.entries()) views[group[at]?.at ?? 0] = view
        }
      } catch (error) {
        // One account's fault keeps no other account's orders open.
        if (!(error instanceof BaseError)) throw error
        fault ??= error
      }
    }
    if (views.some((view) => view !== undefined)) {
      const isWhole = fault === undefined
      return { heads, views, ...defined({ trouble: isWhole ? trouble : reasonOf(fault) }) }
    }
    if (fault !== undefined) throw fault
    return { heads, views: [], ...defined({ trouble }) }
  }

  /** Views of the queries of one account. */
  async function viewsOf(
    asked: readonly Asked[],
    { heads, events, digests, signatures }: Seen,
    signal: AbortSignal,
  ): Promise<{ readonly views: readonly EndpointView[]; readonly trouble: string | undefined }> {
    const index = indexOf(events)
    const usedAtLatest = (one: Asked): boolean => digests.get(one)?.atLatest === true
    for (const { query, from } of asked) {
      const known = consumers.get(digestKey(query))
      const beside = known === undefined ? 0 : countBeside(known.consumer, from, index)
      // A list of events that was not whole made another message of the block the likeliest: it is chosen anew.
      if (known?.chosenBy !== undefined && known.chosenBy < beside) consumers.delete(digestKey(query))
    }
    const searches = asked.flatMap((one): readonly ConsumerSearch[] => {
      const { query, from } = one
      if (!usedAtLatest(one) || consumers.get(digestKey(query)) !== undefined) return []
      const since = index.all.filter(({ blockNumber }) => blockNumber >= from)
      const { eventEmitter: emitter, wrappedNative } = options
      return [{ query, heads, from, events: since, signatures, emitter, wrappedNative }]
    })
    const trouble = await findConsumers(searches, heads, signal)
    const parts = asked.map((one) => {
      const { query } = one
      const known = usedAtLatest(one) ? consumers.get(digestKey(query)) : undefined
      if (known !== undefined && countOf(known.consumer, index) < known.events) {
        accounts.forget(query.account)
        throw unreadable(node.name, 'a receipt holds events that are not among its logs')
      }
      return {
        consumer: known?.consumer,
        boughtAt: known?.nativePrice,
        events: eventsOf(query, known?.consumer, index),
      }
    })
    const wanted = parts.flatMap((part) => part.events)
    await orders.readEnds(wanted, signal)
    const hashes = [...new Set(wanted.map(({ blockHash }) => blockHash))]
    const blocks = await node.blocks(hashes, signal)
    const byHash = new Map(hashes.map((hash, at) => [hash, blocks[at]]))
    const views = asked.map((one, at): EndpointView => {
      const { consumer, events: own, boughtAt } = parts[at] ?? { events: [] }
      return {
        endpoint: node.name,
        latest: refOf(heads.latest),
        final: refOf(heads.final),
        isDigestUsedAtLatest: usedAtLatest(one),
        isDigestUsedAtFinal: digests.get(one)?.atFinal === true,
        ...defined({ consumer }),
        logs: own.map((event) => orders.logOf(event, one.query, byHash.get(event.blockHash), boughtAt)),
      }
    })
    return { views, trouble }
  }

  return {
    name: node.name,
    requests: () => node.requests(),
    check,
    async positionChange(query, signal) {
      await check(signal)
      return await readPositionChange(node, options, query, signal)
    },
    async latest(signal) {
      await check(signal)
      return refOf(await node.latest(signal))
    },
    async recentEvents(asked, signal) {
      await check(signal)
      return await recentEvents(asked, signal)
    },
    async gasPrice(signal) {
      await check(signal)
      return await node.gasPrice(signal)
    },
    async nativeBalance(account, signal) {
      await check(signal)
      return await node.nativeBalance(account, signal)
    },
    // One after the other: each reads and changes what is kept between them.
    poll(queries, signal) {
      const looked = turn.then(() => look(queries, signal))
      turn = looked.catch(() => undefined)
      return looked
    },
    close: () => node.close(),
  }
}
