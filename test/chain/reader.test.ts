/** The reader against the paper venue's node, over real sockets: what it finds, what it costs, and what it takes back. */
import { afterEach, expect, test } from 'vitest'
import { createNodeFetch } from '../../src/api/transport/nodeFetch.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import { connectChain } from '../../src/chain/connectEndpoints.ts'
import type { EndpointsReader } from '../../src/chain/endpointsReader.ts'
import type { Event } from '../../src/domain/event.ts'
import type { AttemptQuery } from '../../src/domain/machine/chainReader.ts'
import { queryOf } from '../../src/execution/track/chainObservation.ts'
import type { Hex } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import type { Finality } from '../../src/protocol/chains/finality.ts'
import { usd } from '../../src/protocol/units.ts'
import { type ChainBench, chainBench, signer } from '../support/chain.ts'
import { ethMarket, intentOf } from '../support/intents.ts'

let world: ChainBench
const closers: (() => void)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) close()
  await world.close()
})

/** A venue in which one market order was sent; the time stands `afterMs` later. */
async function traded(
  afterMs = 12_000,
  options: Parameters<typeof chainBench>[0] = {},
): Promise<AttemptQuery> {
  world = await chainBench(options)
  const ticker = (await world.api.getMarketTickers({ addresses: [ethMarket] })).value[0]
  const base = intentOf()
  const intent = intentOf({
    account: signer.address,
    acceptedAtMs: world.clock.now(),
    expiresAtMs: world.clock.now() + 30_000,
    terms: { ...base.terms, referencePrice: ticker?.maxPrice ?? usd(0) },
  })
  await world.orderManager.accept(intent)
  await world.clock.advance(afterMs)
  const query = queryOf(world.story(intent.intentId), undefined)
  if (query === undefined) throw new Error('nothing was armed')
  // As after a restart: no host named a transaction, and no order is known.
  return { ...query, transactionHashes: [], orderKeys: [] }
}

/** A reader of its own, on the machine's clock. */
function fresh(parts: {
  readonly http?: readonly string[]
  readonly ws?: readonly string[]
  readonly finality?: Finality
  readonly maxLogSpan?: number
  readonly refuse?: (body: string) => boolean
  /** Answer of a node to a call that names a block by this tag. */
  readonly toTag?: { readonly tag: string; readonly answer: object }
}): { readonly reader: EndpointsReader; readonly events: Event[]; readonly asked: string[] } {
  const fetch = createNodeFetch()
  const events: Event[] = []
  const asked: string[] = []
  const reader = connectChain({
    http: parts.http ?? (parts.ws === undefined ? world.served.rpc.slice(0, 1) : []),
    ws: parts.ws ?? [],
    chainId: arbitrum.chainId,
    eventEmitter: arbitrum.contracts.eventEmitter,
    wrappedNative: arbitrum.contracts.wrappedNative,
    markets: arbitrum.facts.markets,
    multicall: arbitrum.contracts.multicall,
    finality: parts.finality ?? 'safe',
    timeoutMs: 5_000,
    maxLogSpan: parts.maxLogSpan ?? 10_000,
    clock: systemClock,
    emit: (event) => void events.push(event),
    fetch: async (url, init) => {
      asked.push(init.body)
      if (parts.toTag !== undefined && init.body.includes(`"${parts.toTag.tag}"`)) {
        const { tag, answer } = parts.toTag
        const calls = JSON.parse(init.body) as readonly { readonly id: number; readonly params: unknown[] }[]
        const response = await fetch.fetch(url, init)
        const answers = JSON.parse(await response.text()) as readonly { readonly id: number }[]
        const unknown = new Set(calls.filter(({ params }) => params.includes(tag)).map(({ id }) => id))
        const text = answers.map((each) =>
          unknown.has(each.id) ? { jsonrpc: '2.0', id: each.id, ...answer } : each,
        )
        return { status: 200, text: async () => JSON.stringify(text) }
      }
      if (parts.refuse?.(init.body) !== true) return fetch.fetch(url, init)
      const { id } = JSON.parse(init.body) as { id: number }
      const text = JSON.stringify({
        jsonrpc: '2.0',
        id,
        error: { code: -32005, message: 'range is too wide' },
      })
      return { status: 200, text: async () => text }
    },
  })
  closers.push(() => {
    reader.close()
    fetch.close()
  })
  return { reader, events, asked }
}

const eventsOf = (view: Awaited<ReturnType<EndpointsReader['poll']>>[number] | undefined) =>
  view?.endpoints[0]?.logs.map(({ event }) => event)

test('without a hint the landing is found by the account’s events, with the fill behind it', async () => {
  const query = await traded()
  const { reader, asked } = fresh({})
  const [view] = await reader.poll([query])
  expect(view?.endpoints[0]).toMatchObject({
    isDigestUsedAtFinal: true,
    consumer: { carriesOurSignature: true },
  })
  expect(eventsOf(view)).toEqual(['OrderCreated', 'OrderExecuted'])
  expect(view?.endpoints[0]?.logs[1]?.settlement).toMatchObject({ sizeDeltaUsd: usd(500) })
  const before = asked.length
  expect((await reader.poll([query]))[0]?.endpoints[0]?.logs).toHaveLength(2)
  // Nothing is read again that cannot change: heads, events above the final block, and one pinned reading.
  expect(asked.length - before).toBe(3)
})

test('an attempt that was armed while no endpoint answered is searched from before its signing', async () => {
  const { fromBlock: _none, ...query } = await traded()
  const { reader } = fresh({})
  expect(eventsOf((await reader.poll([query]))[0])).toEqual(['OrderCreated', 'OrderExecuted'])
})

test('a long past is read in narrower questions where wide ones are refused, over several looks, and is no view before', async () => {
  const query = await traded()
  const span = (body: string) => {
    const range = /"fromBlock":"(0x[0-9a-f]+)","toBlock":"(0x[0-9a-f]+)"/.exec(body)
    return range === null ? 0 : Number(BigInt(range[2] ?? '') - BigInt(range[1] ?? ''))
  }
  const { reader, asked, events } = fresh({ refuse: (body) => span(body) > 500 })
  const long = { ...query, fromBlock: (query.fromBlock ?? 0n) - 60_000n }
  let looks = 1
  let [view] = await reader.poll([long])
  for (; view?.endpoints.length === 0; looks += 1) [view] = await reader.poll([long])
  expect(eventsOf(view)).toEqual(['OrderCreated', 'OrderExecuted'])
  expect(looks).toBeGreaterThan(2)
  const outcomes = events.flatMap((event) => (event.type === 'chain.read' ? [event.outcome] : []))
  expect(outcomes).toEqual([...Array.from({ length: looks - 1 }, () => 'catching-up'), 'ok'])
  // 10,000 blocks are refused, and so is every half until one is taken; nothing wider is tried again.
  expect(asked.filter((body) => span(body) > 500)).toHaveLength(5)
})

test('over WebSocket alone everything is read too, and heads are pushed', async () => {
  const query = await traded()
  const { reader } = fresh({ ws: world.served.ws.slice(0, 1) })
  const pushed = new Promise((resolve) => reader.onHead?.(resolve))
  let views = await reader.poll([query])
  for (let i = 0; i < 100 && views[0]?.endpoints.length === 0; i += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    views = await reader.poll([query])
  }
  expect(eventsOf(views[0])).toEqual(['OrderCreated', 'OrderExecuted'])
  await world.clock.advance(1_000)
  expect(await pushed).toMatchObject({ number: expect.any(BigInt) })
})

test('a connection that is cut is made again, and read from again', async () => {
  const query = await traded()
  const { reader } = fresh({ ws: world.served.ws.slice(0, 1) })
  const answered = async (): Promise<number> => {
    for (let i = 0; i < 200; i += 1) {
      const [view] = await reader.poll([query])
      if (view?.endpoints.length === 1) return i
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    throw new Error('never answered')
  }
  await answered()
  world.set({ down: ['rpc/0'] })
  let isCut = false
  for (let i = 0; i < 100 && !isCut; i += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    isCut = (await reader.poll([query]))[0]?.endpoints.length === 0
  }
  expect(isCut).toBe(true)
  world.set({ down: [] })
  await answered()
})

test('a digest that was used before it was armed is somebody else’s', async () => {
  const query = await traded()
  const { reader } = fresh({})
  const [own] = (await reader.poll([query]))[0]?.endpoints ?? []
  const later = {
    ...query,
    fromBlock: (own?.consumer?.block.number ?? 0n) + 10n,
    signature: `0x${'77'.repeat(65)}` as Hex,
  }
  const [view] = await fresh({}).reader.poll([later])
  // The events before arming are not of this attempt, and the transaction does not carry its signature.
  expect(view?.endpoints[0]).toMatchObject({ isDigestUsedAtFinal: true, logs: [] })
})

test('a final block that is replaced after all takes everything back that stood on it', async () => {
  const query = await traded(12_000)
  const { reader } = fresh({})
  expect(eventsOf((await reader.poll([query]))[0])).toEqual(['OrderCreated', 'OrderExecuted'])
  await world.reorganise(60, { transactions: 'drop' })
  const [gone] = (await reader.poll([query]))[0]?.endpoints ?? []
  expect(gone).toMatchObject({ isDigestUsedAtLatest: false, isDigestUsedAtFinal: false, logs: [] })
  expect(gone?.consumer).toBeUndefined()
})

test('at each finality the final block is what it says', async () => {
  await traded(3_000)
  const lags: bigint[] = []
  for (const finality of ['latest', 'safe', 'finalized', { depth: 7 }] as const) {
    const { reader } = fresh({ finality })
    const query = queryOf(world.story(intentOf().intentId), undefined)
    const [view] = await reader.poll(query === undefined ? [] : [query])
    const [endpoint] = view?.endpoints ?? []
    lags.push((endpoint?.latest.number ?? 0n) - (endpoint?.final.number ?? 0n))
  }
  expect(lags).toEqual([0n, 4n, 100n, 7n])
})

test('an endpoint whose node does not know the tag of final blocks proves nothing, and says which setting does without', async () => {
  const query = await traded()
  const error = { code: -32602, message: 'invalid argument 0: hex string without 0x prefix' }
  for (const answer of [{ error }, { result: null }]) {
    const toTag = { tag: 'finalized', answer }
    const { reader, events } = fresh({ finality: 'finalized', toTag })
    expect((await reader.poll([query]))[0]?.endpoints).toEqual([])
    const [read] = events.filter((event) => event.type === 'chain.read')
    expect(read).toMatchObject({
      outcome: 'RPC_UNREADABLE',
      error: expect.stringMatching(/it knows no block as finalized.*rpc\.finality/),
    })
    // By a number of blocks the same node proves the same order.
    expect(eventsOf((await fresh({ finality: { depth: 4 }, toTag }).reader.poll([query]))[0])).toEqual([
      'OrderCreated',
      'OrderExecuted',
    ])
  }
})

test('500 attempts cost as many requests as one', async () => {
  const query = await traded()
  const many = Array.from(
    { length: 500 },
    (_unused, index): AttemptQuery => ({
      ...query,
      digest: `0x${index.toString(16).padStart(64, '0')}`,
      signature: `0x${index.toString(16).padStart(130, '0')}`,
      orderKeys: Array.from(
        { length: 10 },
        (_none, child): Hex => `0x${(index * 10 + child).toString(16).padStart(64, '1')}`,
      ),
    }),
  )
  const { reader, asked } = fresh({})
  await reader.poll(many)
  const before = asked.length
  const views = await reader.poll([...many, query])
  expect(views).toHaveLength(501)
  expect(views.every(({ endpoints }) => endpoints.length === 1)).toBe(true)
  expect(eventsOf(views.at(-1))).toEqual(['OrderCreated', 'OrderExecuted'])
  // Heads, events, digests; and for the one that is used: transaction, receipt, block, its parent, digest, fill.
  expect(asked.length - before).toBeLessThanOrEqual(12)
  const again = asked.length
  await reader.poll([...many, query])
  expect(asked.length - again).toBe(3)
})

test('every endpoint tells the gas price and a native balance, and one that refuses it rests for nothing', async () => {
  world = await chainBench({ endpoints: 2 })
  const both = fresh({ http: world.served.rpc.slice(0, 2) })
  const prices = await both.reader.gasPrices?.()
  expect(prices?.map(({ networkGasPrice }) => networkGasPrice >= 10_000_000n)).toEqual([true, true])
  expect(await both.reader.nativeBalances?.(signer.address)).toHaveLength(2)
  const refusing = fresh({ refuse: (body) => /eth_gasPrice|eth_getBalance/.test(body) })
  expect(await refusing.reader.gasPrices?.()).toEqual([])
  expect(await refusing.reader.nativeBalances?.(signer.address)).toEqual([])
  expect(refusing.events).toEqual([])
  expect(await refusing.reader.latestBlocks()).toHaveLength(1)
})
