/** Endpoints that were wrong for a while: what was read of them meanwhile is not kept, and nothing is concluded from what they lack. */
import { expect, test } from 'vitest'
import { termsDigits } from '../../src/chain/consumer.ts'
import type { EndpointView } from '../../src/domain/machine/chainView.ts'
import { topicsOf } from '../../src/paper/blocks/encodeEventData.ts'
import type { Message, OrderSpec, TxAction } from '../simulation/chainModel.ts'
import type { Endpoint } from '../simulation/endpoints.ts'
import { Past, type PastReader, readerOf } from '../simulation/rpcPast.ts'

/** A chain on which one order was made and executed, in blocks that are final, and one endpoint of it. */
function executed(showsSignature = true): {
  readonly history: Past
  readonly message: Message
  readonly endpoint: Endpoint
} {
  const history = new Past(1)
  history.pass(5)
  const message = history.order()
  history.mine({ kind: 'batch', message, showsSignature })
  const [orderKey] = history.chain.canonical.orders.keys()
  if (orderKey === undefined) throw new Error('no order was made')
  history.pass(2)
  history.mine({ kind: 'keeper', orderKey, event: 'OrderExecuted', reason: '' })
  history.pass(12)
  return { history, message, endpoint: { name: 'one', illness: undefined } }
}

async function viewOf(
  reader: PastReader,
  history: Past,
  message: Message,
): Promise<EndpointView | undefined> {
  return (await reader.look([history.queryOf(message)]))[0]?.endpoints[0]
}

const eventsOf = (view: EndpointView | undefined) => view?.logs.map(({ event }) => event)

test.each([5n, 1_000n, 10_000_000n])(
  'heads %d blocks ahead that never were are forgotten when the true ones return',
  async (ahead) => {
    const { history, message, endpoint } = executed()
    const reader = readerOf(history, [endpoint], 1)
    endpoint.illness = { kind: 'liar', lie: 'unused', ahead }
    // With ten million blocks ahead of us the past is not read in one look.
    const lied = await viewOf(reader, history, message)
    if (ahead < 10_000_000n) expect(lied).toMatchObject({ isDigestUsedAtLatest: false, logs: [] })
    endpoint.illness = undefined
    history.pass(1)
    const view = await viewOf(reader, history, message)
    expect(view).toMatchObject({ isDigestUsedAtFinal: true, consumer: { carriesOurSignature: true } })
    expect(eventsOf(view)).toEqual(['OrderCreated', 'OrderExecuted'])
  },
)

/** Topic of the event's name. */
const executedTopic = topicsOf({ eventName: 'OrderExecuted', topics: [], items: {} })[1] ?? ''

test('an end that an endpoint lacked of final blocks is found a while later', async () => {
  const { history, message, endpoint } = executed()
  let isBehind = true
  const reader = readerOf(history, [endpoint], 1, (_url, body, text) => {
    if (!isBehind || !body.includes('eth_getLogs')) return text
    const { result, ...rest } = JSON.parse(text) as {
      result: readonly { readonly topics: readonly string[] }[]
    }
    return JSON.stringify({ ...rest, result: result.filter(({ topics }) => topics[1] !== executedTopic) })
  })
  expect(eventsOf(await viewOf(reader, history, message))).toEqual(['OrderCreated'])
  isBehind = false
  history.pass(5)
  // Its block is final, and was read.
  expect(eventsOf(await viewOf(reader, history, message))).toEqual(['OrderCreated'])
  history.pass(20)
  expect(eventsOf(await viewOf(reader, history, message))).toEqual(['OrderCreated', 'OrderExecuted'])
})

test('an end that an endpoint lacked is found a while later, although its time went back since', async () => {
  const { history, message, endpoint } = executed()
  let isBehind = true
  let ahead = 0
  const reader = readerOf(history, [endpoint], 1, (_url, body, text) => {
    const moved = text.replaceAll(
      /"timestamp":"0x([0-9a-f]+)"/g,
      (_all, hex: string) => `"timestamp":"0x${(Number.parseInt(hex, 16) + ahead).toString(16)}"`,
    )
    if (!isBehind || !body.includes('eth_getLogs')) return moved
    const { result, ...rest } = JSON.parse(text) as {
      result: readonly { readonly topics: readonly string[] }[]
    }
    return JSON.stringify({ ...rest, result: result.filter(({ topics }) => topics[1] !== executedTopic) })
  })
  ahead = 86_400
  expect(eventsOf(await viewOf(reader, history, message))).toEqual(['OrderCreated'])
  isBehind = false
  history.pass(5)
  // The readings that follow become due by a time that is a day ahead.
  await viewOf(reader, history, message)
  ahead = 0
  history.pass(5)
  await viewOf(reader, history, message)
  history.pass(30)
  expect(eventsOf(await viewOf(reader, history, message))).toEqual(['OrderCreated', 'OrderExecuted'])
})

test('what we sent with no signature in plain sight is no stranger’s while its events are missing', async () => {
  const { history, message, endpoint } = executed(false)
  let isBehind = true
  const reader = readerOf(history, [endpoint], 1, (_url, body, text) => {
    if (!isBehind || !body.includes('eth_getLogs')) return text
    return JSON.stringify({ jsonrpc: '2.0', id: (JSON.parse(body) as { id: number }).id, result: [] })
  })
  expect(await viewOf(reader, history, message)).toBeUndefined()
  expect(reader.events.at(-1)).toMatchObject({ outcome: 'RPC_UNREADABLE' })
  isBehind = false
  history.pass(7)
  const view = await viewOf(reader, history, message)
  expect(view?.consumer?.carriesOurSignature).toBe(false)
  expect(eventsOf(view)).toEqual(['OrderCreated', 'OrderExecuted'])
})

test('nor is it when they are missing later, and its transaction is remembered', async () => {
  const history = new Past(1)
  history.pass(5)
  const message = history.order()
  history.mine({ kind: 'batch', message, showsSignature: false })
  history.pass(1)
  const endpoint: Endpoint = { name: 'one', illness: undefined }
  const reader = readerOf(history, [endpoint], 1)
  expect(eventsOf(await viewOf(reader, history, message))).toEqual(['OrderCreated'])
  endpoint.illness = { kind: 'blind', how: 'all' }
  history.pass(12)
  expect(await viewOf(reader, history, message)).toBeUndefined()
  endpoint.illness = undefined
  history.pass(7)
  expect(eventsOf(await viewOf(reader, history, message))).toEqual(['OrderCreated'])
})

test('two looks at once see each event once', async () => {
  const { history, message, endpoint } = executed()
  const reader = readerOf(history, [endpoint], 1)
  await Promise.all([viewOf(reader, history, message), viewOf(reader, history, message)])
  expect(eventsOf(await viewOf(reader, history, message))).toEqual(['OrderCreated', 'OrderExecuted'])
})

test('uses that are not found do not keep others from being looked for', async () => {
  const history = new Past(2)
  history.pass(5)
  // A node without these transactions in its blocks: nobody can say who used the digests.
  const hidden = Array.from({ length: 8 }, () => history.order())
  for (const message of hidden) history.mine({ kind: 'batch', message, showsSignature: false })
  const found = history.order()
  history.pass(1)
  history.mine({ ...found, kind: 'foreign' })
  const seen = history.chain.canonical.tip
  history.pass(12)
  const reader = readerOf(history, [{ name: 'one', illness: undefined }], 2, (_url, body, text) => {
    const isFull = body.includes('eth_getBlockByNumber') && body.includes('true')
    if (body.includes('eth_getLogs')) return text.replace(/"result":\[.*\]/, '"result":[]')
    return isFull && !text.includes(seen.hash)
      ? text.replace(/"transactions":\[.*\]/, '"transactions":[]')
      : text
  })
  const queries = [...hidden, found].map((message) => history.queryOf(message))
  await reader.look(queries)
  const views = await reader.look(queries)
  expect(views[8]?.endpoints[0]?.consumer).toMatchObject({
    carriesOurSignature: false,
    block: { number: seen.number },
  })
  expect(views[0]?.endpoints[0]?.consumer).toBeUndefined()
})

test('of two messages in one block that show no signature, each is found by what it does', async () => {
  const history = new Past(3)
  history.pass(5)
  const messages = [history.order(), history.order()]
  history.mine(...messages.map((message) => ({ kind: 'batch', message, showsSignature: false }) as const))
  history.pass(12)
  const reader = readerOf(history, [{ name: 'one', illness: undefined }], 3)
  const queries = messages.map((message) => {
    const { role, orderType, marketToken, direction, sizeDeltaUsd } = message.creates[0] as OrderSpec
    const orders = [{ role, orderType, marketToken, direction, askedSizeUsd: sizeDeltaUsd }]
    return { ...history.queryOf(message), expected: { orders, changes: [] } }
  })
  const views = await reader.look(queries)
  const uses = messages.map(({ digest }) => history.chain.canonical.uses.get(digest))
  expect(views.map(({ endpoints }) => endpoints[0]?.consumer?.transactionHash)).toEqual(
    uses.map((use) => use?.transactionHash),
  )
})

test('a log that the chain took back is no answer', async () => {
  const { history, message, endpoint } = executed()
  const reader = readerOf(history, [endpoint], 1, (_url, body, text) =>
    body.includes('eth_getLogs') ? text.replace('"removed":false', '"removed":true') : text,
  )
  expect(await viewOf(reader, history, message)).toBeUndefined()
  expect(reader.events.at(-1)).toMatchObject({ outcome: 'RPC_UNREADABLE' })
})

test('digests are read at the very heads, not at what the next node of a balancer takes for the newest block', async () => {
  const { history, message, endpoint } = executed()
  const reader = readerOf(history, [endpoint], 1, (_url, body, text) => {
    // Heads and events came from one node; the digests are asked of another, which has not seen the use.
    if (body.includes('eth_getLogs')) endpoint.illness = { kind: 'lag', blocks: 16 }
    return text
  })
  expect(history.chain.canonical.uses.size).toBe(1)
  expect(await viewOf(reader, history, message)).toBeUndefined()
  expect(reader.events.at(-1)).toMatchObject({ outcome: 'RPC_REFUSED' })
})

test('answers of a batch are read by their ids, in whatever order they come', async () => {
  const { history, message, endpoint } = executed()
  const reader = readerOf(history, [endpoint], 1, (_url, body, text) =>
    body.startsWith('[') ? JSON.stringify((JSON.parse(text) as unknown[]).toReversed()) : text,
  )
  const view = await viewOf(reader, history, message)
  expect(view).toMatchObject({ isDigestUsedAtFinal: true, consumer: { carriesOurSignature: true } })
  expect(eventsOf(view)).toEqual(['OrderCreated', 'OrderExecuted'])
})

/** Two messages, of which the block of the newest shows no signature. */
function hiddenBeside(use: (asked: Message) => TxAction, isTold = false, times = 1) {
  const history = new Past(5)
  history.pass(5)
  const [asked, other] = [history.order(), history.order()]
  const uses = Array.from({ length: times }, () => use(asked))
  history.mine(...uses, { kind: 'batch', message: other, showsSignature: false })
  const [used, also] = [asked, other].map(
    ({ digest }) => history.chain.canonical.uses.get(digest)?.transactionHash,
  )
  history.pass(12)
  // Of the other nobody here knows: its lines were lost, or an operator closed it by his word.
  const orders = asked.creates.map(({ sizeDeltaUsd, ...spec }) => ({
    ...spec,
    role: 'main' as const,
    askedSizeUsd: sizeDeltaUsd,
  }))
  const query = { ...history.queryOf(asked), expected: { orders, changes: [] } }
  const terms = termsDigits(asked.userNonce, asked.deadlineSeconds)
  const reader = readerOf(history, [{ name: 'one', illness: undefined }], 5, (_url, _body, text) =>
    isTold ? text.replaceAll(new RegExp(`("hash":"${also}".*?"input":"0x\\w*)`, 'g'), `$1${terms}`) : text,
  )
  return { query, transactionHash: used, reader }
}

test('a stranger’s use is told from an order of ours in the same block by what the digest holds', async () => {
  const { query, reader, transactionHash } = hiddenBeside((asked) => ({ ...asked, kind: 'foreign' }))
  const [view] = (await reader.look([query]))[0]?.endpoints ?? []
  expect(view?.consumer).toMatchObject({ transactionHash, carriesOurSignature: false })
  expect(view?.logs.filter((log) => log.transactionHash === transactionHash)).toEqual([])
})

test('a stranger’s use is told from an order of ours in the same block where he tried more than once', async () => {
  const { query, reader, transactionHash } = hiddenBeside(
    (asked) => ({ ...asked, kind: 'foreign' }),
    false,
    2,
  )
  const [view] = (await reader.look([query]))[0]?.endpoints ?? []
  expect(view?.consumer).toMatchObject({ transactionHash, carriesOurSignature: false })
  expect(view?.logs.filter((log) => log.transactionHash === transactionHash)).toEqual([])
})

test('nonce and deadline in another’s input take no order from what fits the message', async () => {
  const { query, reader, transactionHash } = hiddenBeside(
    (message) => ({ kind: 'batch', message, showsSignature: false }),
    true,
  )
  const [view] = (await reader.look([query]))[0]?.endpoints ?? []
  expect(view?.consumer).toMatchObject({ transactionHash, carriesOurSignature: false })
  expect(eventsOf(view)).toContain('OrderCreated')
})

test('a bundle that holds our signature did not use a digest that was used before', async () => {
  const history = new Past(4)
  history.pass(5)
  const [ours, other] = [history.order(), history.order()]
  history.mine({ ...ours, kind: 'foreign' })
  const { hash } = history.chain.canonical.tip
  history.pass(1)
  history.mine({ kind: 'bundle', messages: [ours, other], showsSignature: true })
  history.pass(12)
  const reader = readerOf(history, [{ name: 'one', illness: undefined }], 4)
  const views = await reader.look([history.queryOf(ours), history.queryOf(other)])
  expect(views.map(({ endpoints }) => endpoints[0]?.consumer?.carriesOurSignature)).toEqual([false, true])
  expect(views[0]?.endpoints[0]?.consumer?.block.hash).toBe(hash)
})

test('each endpoint tells its own newest block, whatever another says', async () => {
  const { history, endpoint } = executed()
  const other: Endpoint = { name: 'two', illness: undefined }
  const reader = readerOf(history, [endpoint, other], 1)
  const [truth] = await reader.latest()
  const number = truth?.number ?? 0n
  endpoint.illness = { kind: 'liar', lie: 'unused', ahead: 1_000_000n }
  other.illness = { kind: 'lag', blocks: 4 }
  expect(await reader.latest()).toMatchObject([{ number: number + 1_000_000n }, { number: number - 4n }])
})
