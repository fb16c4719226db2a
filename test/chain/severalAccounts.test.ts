/** Accounts that share their endpoints: what they ask goes out together, and what befalls one is no other's. */
import { afterEach, expect, test } from 'vitest'
import { createNodeFetch } from '../../src/api/transport/nodeFetch.ts'
import { BaseError } from '../../src/base/errors.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import { connectChain } from '../../src/chain/connectEndpoints.ts'
import type { EndpointsReader } from '../../src/chain/endpointsReader.ts'
import { joinLooks } from '../../src/chain/joinLooks.ts'
import { createGatherLogs, type LogsQuestion } from '../../src/chain/logs/gatherLogs.ts'
import { addressTopic } from '../../src/chain/logs/orderLogs.ts'
import type { LogRow } from '../../src/chain/node/blockRows.ts'
import type { ChainNode } from '../../src/chain/node/node.ts'
import type { AttemptQuery } from '../../src/domain/machine/chainReader.ts'
import type { ChainView } from '../../src/domain/machine/chainView.ts'
import { queryOf } from '../../src/execution/track/chainObservation.ts'
import type { Address, Hex } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { type ChainBench, chainBench, increaseIn } from '../support/chain.ts'
import { manualClock, settle } from '../support/venue.ts'

const accountOf = (n: number): Address => `0x${n.toString(16).padStart(40, 'a')}`
const emitter = arbitrum.contracts.eventEmitter
const { signal } = new AbortController()

let world: ChainBench | undefined
const closers: (() => void)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) close()
  await world?.close()
  world = undefined
})

/** A venue at which one account traded: its query, and those of accounts without orders. */
async function traded(others: number): Promise<readonly [AttemptQuery, ...AttemptQuery[]]> {
  world = await chainBench()
  const intent = await increaseIn(world)
  await world.orderManager.accept(intent)
  await world.clock.advance(12_000)
  const query = queryOf(world.story(intent.intentId), undefined)
  if (query === undefined) throw new Error('nothing was armed')
  const idle = Array.from(
    { length: others },
    (_unused, n): AttemptQuery => ({
      ...{ ...query, account: accountOf(n), orderKeys: [], transactionHashes: [] },
      digest: `0x${n.toString(16).padStart(64, '7')}`,
      signature: `0x${n.toString(16).padStart(130, '7')}`,
    }),
  )
  return [query, ...idle]
}

/** A reader over the venue's node; `change` may put other answers in place of its own. */
function readerOf(
  change: (method: string, body: string, answer: string) => string = (_method, _body, answer) => answer,
): { readonly reader: EndpointsReader; readonly asked: string[] } {
  const { fetch, close } = createNodeFetch()
  const asked: string[] = []
  const reader = connectChain({
    ...{ http: world?.served.rpc.slice(0, 1) ?? [], ws: [], chainId: arbitrum.chainId, finality: 'safe' },
    eventEmitter: emitter,
    wrappedNative: arbitrum.contracts.wrappedNative,
    markets: arbitrum.facts.markets,
    multicall: arbitrum.contracts.multicall,
    ...{ timeoutMs: 5_000, maxLogSpan: 10_000, clock: systemClock, emit: () => undefined },
    fetch: async (url, init) => {
      const method = /"method":"(\w+)"/.exec(init.body)?.[1] ?? ''
      asked.push(method)
      const answer = await fetch(url, init)
      const text = change(method, init.body, await answer.text())
      return { status: answer.status, text: () => Promise.resolve(text) }
    },
  })
  closers.push(() => {
    reader.close()
    close()
  })
  return { reader, asked }
}

const eventsOf = (view: ChainView | undefined) => view?.endpoints[0]?.logs.map(({ event }) => event)
const refused = (id: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32005, message: 'range is too wide' } })

test('a look costs as many requests for fifty accounts as for one, and each sees its own events', async () => {
  const [query, ...others] = await traded(50)
  const { reader, asked } = readerOf()
  await reader.poll([query])
  await reader.poll([query, ...others])
  const before = asked.length
  const views = await reader.poll([query, ...others])
  expect(asked.slice(before)).toEqual(['eth_getBlockByNumber', 'eth_getLogs', 'eth_call'])
  expect(views.map(eventsOf)).toEqual([['OrderCreated', 'OrderExecuted'], ...others.map(() => [])])
})

test('a long past of one account comes to its end while another one is looked at in between', async () => {
  const [query, other] = await traded(1)
  if (other === undefined) throw new TypeError('two accounts')
  const { reader } = readerOf((method, body, answer) => {
    const range = /"fromBlock":"(0x[0-9a-f]+)","toBlock":"(0x[0-9a-f]+)"/.exec(body)
    const span = range === null ? 0n : BigInt(range[2] ?? '') - BigInt(range[1] ?? '')
    return method === 'eth_getLogs' && span > 500n ? refused(JSON.parse(body).id) : answer
  })
  const long = { ...query, fromBlock: (query.fromBlock ?? 0n) - 60_000n }
  let view: ChainView | undefined
  for (let looks = 0; looks < 10 && (view?.endpoints.length ?? 0) === 0; looks += 1) {
    ;[view] = await reader.poll([long])
    await reader.poll([other])
  }
  expect(eventsOf(view)).toEqual(['OrderCreated', 'OrderExecuted'])
})

test('an account whose past is still being read, or whose events contradict themselves, leaves the others their views', async () => {
  const [query, other] = await traded(1)
  if (other === undefined) throw new TypeError('two accounts')
  const wide = readerOf((method, body, answer) => {
    const range = /"fromBlock":"(0x[0-9a-f]+)","toBlock":"(0x[0-9a-f]+)"/.exec(body)
    const span = range === null ? 0n : BigInt(range[2] ?? '') - BigInt(range[1] ?? '')
    return method === 'eth_getLogs' && span > 500n ? refused(JSON.parse(body).id) : answer
  })
  const long = { ...other, fromBlock: (other.fromBlock ?? 0n) - 60_000n }
  expect((await wide.reader.poll([query, long])).map(eventsOf)).toEqual([
    ['OrderCreated', 'OrderExecuted'],
    undefined,
  ])
  const forged = readerOf((method, body, answer) => {
    if (method !== 'eth_getLogs' || !body.includes(addressTopic(other.account))) return answer
    const told = JSON.parse(answer) as { result: { topics: Hex[] }[] }
    const [row] = told.result
    if (row === undefined) return answer
    const [kind = '0x', name = '0x', key = '0x'] = row.topics
    const copy = { ...row, logIndex: '0xff', topics: [kind, name, key, addressTopic(other.account)] }
    return JSON.stringify({ ...told, result: [...told.result, copy] })
  })
  expect((await forged.reader.poll([query, other])).map(eventsOf)).toEqual([
    ['OrderCreated', 'OrderExecuted'],
    undefined,
  ])
})

/** A node that has one log of each account in each of a hundred blocks, and refuses what `refuses` says. */
function nodeOf(refuses: (accounts: number) => boolean): {
  readonly node: ChainNode
  readonly asked: string[]
} {
  const asked: string[] = []
  const logs: ChainNode['logs'] = ({ topics, from, to }) => {
    const of = [topics[3]].flat() as Hex[]
    asked.push(`${of.length} of ${from} to ${to}`)
    if (refuses(of.length)) return Promise.reject(new BaseError('too many', { code: 'RPC_REFUSED' }))
    const rows = of.flatMap((topic) =>
      Array.from({ length: Number(to - from) + 1 }, (_unused, n) => ({
        topics: ['0x', '0x', '0x', topic],
        blockNumber: from + BigInt(n),
      })),
    )
    return Promise.resolve(rows as unknown as readonly LogRow[])
  }
  return { node: { name: 'made-up', logs } as unknown as ChainNode, asked }
}

const shown = (question: LogsQuestion, rows: readonly LogRow[]): boolean =>
  rows.length === Number(question.to - question.from) + 1 &&
  rows.every(
    ({ topics, blockNumber }) =>
      topics[3] === addressTopic(question.account) &&
      blockNumber >= question.from &&
      blockNumber <= question.to,
  )

test('questions up to one block go out as one, from the first block of any, and each gets its own part', async () => {
  const { node, asked } = nodeOf(() => false)
  const gather = createGatherLogs(node, emitter)
  const found = await gather(
    [3, 1, 2].map((n) => async (ask) => {
      const first = { account: accountOf(n), from: BigInt(n), to: 50n }
      const second = { account: accountOf(n), from: 51n, to: n === 1 ? 60n : 70n }
      return [shown(first, await ask(first)), n === 2 || shown(second, await ask(second))]
    }),
    signal,
  )
  expect(found.map((each) => each.status === 'fulfilled' && each.value)).toEqual([
    [true, true],
    [true, true],
    [true, true],
  ])
  expect(asked).toEqual(['3 of 1 to 50', '1 of 51 to 70', '1 of 51 to 60'])
})

test('where a question for several is refused each is asked alone, for a while', async () => {
  let isStrict = true
  const { node, asked } = nodeOf((accounts) => isStrict && accounts > 1)
  const gather = createGatherLogs(node, emitter)
  const round = () =>
    gather(
      [1, 2].map((n) => async (ask) => {
        const question = { account: accountOf(n), from: 1n, to: 9n }
        return shown(question, await ask(question))
      }),
      signal,
    )
  expect(await round()).toMatchObject([{ value: true }, { value: true }])
  expect(asked).toEqual(['2 of 1 to 9', '1 of 1 to 9', '1 of 1 to 9'])
  isStrict = false
  for (let n = 0; n < 99; n += 1) await round()
  expect(asked.slice(3).every((each) => each.startsWith('1 '))).toBe(true)
  asked.length = 0
  await round()
  expect(asked).toEqual(['2 of 1 to 9'])
})

test('an endpoint that does not answer a question for several is not asked again for each', async () => {
  const { node, asked } = nodeOf(() => false)
  const silent = {
    ...node,
    logs: (...parts: Parameters<ChainNode['logs']>) =>
      node.logs(...parts).then(() => {
        throw new BaseError('no answer', { code: 'RPC_UNANSWERED' })
      }),
  }
  const found = await createGatherLogs(silent, emitter)(
    [1, 2].map((n) => (ask) => ask({ account: accountOf(n), from: 1n, to: 9n })),
    signal,
  )
  expect(found).toMatchObject([
    { reason: { code: 'RPC_UNANSWERED' } },
    { reason: { code: 'RPC_UNANSWERED' } },
  ])
  expect(asked).toHaveLength(1)
})

test('a joint answer with a log of nobody is believed for no one, and each is asked alone', async () => {
  const { node, asked } = nodeOf(() => false)
  const lying = {
    ...node,
    logs: async (...parts: Parameters<ChainNode['logs']>) => {
      const rows = await node.logs(...parts)
      const [row] = rows
      const isJoint = [parts[0].topics[3]].flat().length > 1
      return isJoint && row !== undefined
        ? [...rows, { ...row, topics: ['0x', '0x', '0x', addressTopic(accountOf(9))] as Hex[] }]
        : rows
    },
  }
  const found = await createGatherLogs(lying, emitter)(
    [1, 2].map((n) => async (ask) => {
      const question = { account: accountOf(n), from: 1n, to: 9n }
      return shown(question, await ask(question))
    }),
    signal,
  )
  expect(found).toMatchObject([{ value: true }, { value: true }])
  expect(asked).toEqual(['2 of 1 to 9', '1 of 1 to 9', '1 of 1 to 9'])
})

/** A poll that answers when it is let, and the accounts of each look. */
function pollOf() {
  const looks: string[][] = []
  const answers: PromiseWithResolvers<readonly ChainView[]>[] = []
  const poll = (queries: readonly AttemptQuery[]): Promise<readonly ChainView[]> => {
    const answer = Promise.withResolvers<readonly ChainView[]>()
    looks.push(queries.map(({ account }) => account))
    answers.push(answer)
    return answer.promise
  }
  const query = (n: number): AttemptQuery => ({ account: accountOf(n) }) as AttemptQuery
  const view = (n: number): ChainView => ({ configured: n, endpoints: [] })
  return { poll, looks, answers, query, view }
}

test('looks of several accounts are joined, two a second at most; each gets the views of its queries', async () => {
  const clock = manualClock(0)
  const { poll, looks, answers, query, view } = pollOf()
  const joined = joinLooks(poll, clock)
  const first = joined([query(1)])
  const second = joined([query(2), query(2)])
  const third = joined([query(3)])
  expect(looks).toEqual([[accountOf(1)]])
  answers[0]?.resolve([view(1)])
  expect(await first).toEqual([view(1)])
  await clock.advance(499)
  expect(looks).toHaveLength(1)
  await clock.advance(1)
  expect(looks[1]).toEqual([2, 2, 3].map(accountOf))
  answers[1]?.resolve([view(21), view(22), view(3)])
  expect(await second).toEqual([view(21), view(22)])
  expect(await third).toEqual([view(3)])
  expect(await joined([])).toEqual([])
})

test('one account alone waits for nothing but its own look, and a mistake of ours reaches whoever asked', async () => {
  const clock = manualClock(0)
  const { poll, looks, answers, query } = pollOf()
  const joined = joinLooks(poll, clock)
  for (let n = 0; n < 3; n += 1) {
    const look = joined([query(1)])
    expect(looks).toHaveLength(n + 1)
    answers[n]?.resolve([])
    await look
  }
  const failing = [joined([query(1)]), joined([query(1)])].map((each) => each.catch(String))
  answers[3]?.reject(new TypeError('a mistake'))
  await settle()
  expect(await failing[0]).toBe('TypeError: a mistake')
  expect(looks).toHaveLength(5)
  answers[4]?.resolve([])
  expect(await failing[1]).toEqual([])
})
