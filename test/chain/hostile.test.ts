/** Endpoints that answer nonsense, over real sockets: nothing of it is believed, and nothing of it stops the reader. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { createNodeFetch } from '../../src/api/transport/nodeFetch.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import { connectChain, endpointNames } from '../../src/chain/connectEndpoints.ts'
import type { EndpointsReader } from '../../src/chain/endpointsReader.ts'
import type { Event } from '../../src/domain/event.ts'
import type { AttemptQuery } from '../../src/domain/machine/chainReader.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { ethMarket } from '../support/intents.ts'

type Reply = (method: string, params: readonly unknown[], id: number) => unknown

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

const word = (digit: string): `0x${string}` => `0x${digit.repeat(64)}`
const block = (number: number) => ({
  number: `0x${number.toString(16)}`,
  hash: word('a'),
  parentHash: word('b'),
  timestamp: '0x6a000000',
})

/** A node that is in order: block 100, nothing used, no logs. */
const orderly: Reply = (method, params) => {
  switch (method) {
    case 'eth_chainId':
      return '0xa4b1'
    case 'eth_getBlockByNumber':
      return block(100)
    case 'eth_getLogs':
      return []
    case 'eth_call': {
      const data = String((params[0] as { data: string }).data)
      // One Result of aggregate3: success, and false.
      const result = [32, 1, 32, 1, 64, 32, 0].map((value) => value.toString(16).padStart(64, '0')).join('')
      return data.startsWith('0x82ad56cb') ? `0x${result}` : `0x${'0'.repeat(64)}`
    }
    default:
      return null
  }
}

/** Serves JSON-RPC; `text` may replace the whole body of an answer. */
async function node(reply: Reply, text: (body: string) => string | Buffer = (body) => body): Promise<string> {
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const asked = JSON.parse(Buffer.concat(chunks).toString()) as unknown
      const rows = (Array.isArray(asked) ? asked : [asked]) as { id: number; method: string; params: [] }[]
      const answers = rows.map(({ id, method, params }) => ({
        jsonrpc: '2.0',
        id,
        result: reply(method, params, id),
      }))
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(text(JSON.stringify(Array.isArray(asked) ? answers : answers[0])))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/secretkey`
}

function readerOf(
  http: readonly string[],
  ws: readonly string[] = [],
): { reader: EndpointsReader; events: Event[] } {
  const fetch = createNodeFetch({ maxBodyBytes: 1024 * 1024 })
  const events: Event[] = []
  const reader = connectChain({
    http,
    ws,
    chainId: arbitrum.chainId,
    eventEmitter: arbitrum.contracts.eventEmitter,
    wrappedNative: arbitrum.contracts.wrappedNative,
    markets: arbitrum.facts.markets,
    multicall: arbitrum.contracts.multicall,
    finality: 'safe',
    timeoutMs: 400,
    maxLogSpan: 10_000,
    clock: systemClock,
    emit: (event) => void events.push(event),
    fetch: fetch.fetch,
  })
  closers.push(() => {
    reader.close()
    fetch.close()
  })
  return { reader, events }
}

const query: AttemptQuery = {
  account: '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A',
  router: arbitrum.contracts.gelatoRelayRouter,
  digest: word('d'),
  signature: `0x${'51'.repeat(65)}`,
  fromBlock: 90n,
  deadlineSeconds: 1_800_000_000,
  orderKeys: [],
  transactionHashes: [],
  marketToken: ethMarket,
  indexTokenDecimals: 18,
}

const outcomes = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'chain.read' ? [event.outcome] : []))

test('a node in order is read: the heads, and an unused digest', async () => {
  const { reader, events } = readerOf([await node(orderly)])
  const [view] = await reader.poll([query])
  expect(view).toMatchObject({
    configured: 1,
    endpoints: [
      { latest: { number: 100n }, isDigestUsedAtLatest: false, isDigestUsedAtFinal: false, logs: [] },
    ],
  })
  expect(outcomes(events)).toEqual(['ok'])
})

const huge = `0x${'f'.repeat(64)}`
const cases: readonly (readonly [string, Reply])[] = [
  [
    'a block number of 256 bits',
    (method, ...rest) =>
      method === 'eth_getBlockByNumber' ? { ...block(1), number: huge } : orderly(method, ...rest),
  ],
  [
    'a block time that is a decimal',
    (method, ...rest) =>
      method === 'eth_getBlockByNumber'
        ? { ...block(1), timestamp: 1_800_000_000 }
        : orderly(method, ...rest),
  ],
  [
    'a block hash that is short',
    (method, ...rest) =>
      method === 'eth_getBlockByNumber' ? { ...block(1), hash: '0xabc' } : orderly(method, ...rest),
  ],
  [
    'no safe block',
    (method, params, id) =>
      method === 'eth_getBlockByNumber' && params[0] === 'safe' ? null : orderly(method, params, id),
  ],
  [
    'a safe block after the latest',
    (method, params, id) =>
      method === 'eth_getBlockByNumber' && params[0] === 'safe' ? block(101) : orderly(method, params, id),
  ],
  [
    'a chain id that is a text',
    (method, ...rest) => (method === 'eth_chainId' ? 'arbitrum' : orderly(method, ...rest)),
  ],
  [
    'logs that are an object',
    (method, ...rest) => (method === 'eth_getLogs' ? {} : orderly(method, ...rest)),
  ],
  [
    'a log that was not asked for',
    (method, ...rest) =>
      method === 'eth_getLogs'
        ? [
            {
              address: query.router,
              topics: [word('1'), word('2')],
              data: '0x',
              blockNumber: '0x60',
              blockHash: word('a'),
              transactionHash: word('c'),
              logIndex: '0x0',
            },
          ]
        : orderly(method, ...rest),
  ],
  [
    'a log outside the range',
    (method, ...rest) =>
      method === 'eth_getLogs'
        ? [
            {
              address: query.router,
              topics: [],
              data: '0x',
              blockNumber: '0x1',
              blockHash: word('a'),
              transactionHash: word('c'),
              logIndex: '0x0',
            },
          ]
        : orderly(method, ...rest),
  ],
  [
    'a digest that is two',
    (method, ...rest) =>
      method === 'eth_call' ? String(orderly(method, ...rest)).replace(/0$/, '2') : orderly(method, ...rest),
  ],
  ['a call of no bytes', (method, ...rest) => (method === 'eth_call' ? '0x' : orderly(method, ...rest))],
  [
    'a used digest whose transaction nobody knows, and blocks of numbers that were not asked',
    (method, ...rest) =>
      method === 'eth_call' ? String(orderly(method, ...rest)).replace(/0$/, '1') : orderly(method, ...rest),
  ],
]

test.each(cases)('%s is not believed', async (_name, reply) => {
  const { reader, events } = readerOf([await node(reply)])
  const [view] = await reader.poll([query])
  // Nothing, or a view that can prove neither landing nor death.
  for (const endpoint of view?.endpoints ?? []) {
    expect(endpoint).toMatchObject({ isDigestUsedAtLatest: true, logs: [] })
    expect(endpoint.consumer).toBeUndefined()
  }
  const [told] = events.filter((event) => event.type === 'chain.read')
  expect(told?.error).toBeTruthy()
  expect(
    JSON.stringify(told, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
  ).not.toContain('secretkey')
})

test.each([
  ['a truncated body', (body: string) => body.slice(0, -20)],
  ['a page of HTML', () => '<html><body>502 http://inner.example/secretkey</body></html>'],
  ['an empty body', () => ''],
  ['answers with ids of others', (body: string) => body.replace(/"id":\d+/g, '"id":999999')],
  [
    'one answer too few',
    (body: string) => JSON.stringify([(JSON.parse(body) as unknown[])[0] ?? JSON.parse(body)].slice(1)),
  ],
  ['a body of ten megabytes', (body: string) => body + ' '.repeat(10 * 1024 * 1024)],
  ['nesting without end', () => `${'['.repeat(200_000)}`],
  [
    'an error without an id',
    () =>
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"limit \\u001b[31m https://x.example/secretkey"}}',
  ],
] as const)('%s is no answer', async (_name, change) => {
  const { reader, events } = readerOf([await node(orderly, change)])
  expect((await reader.poll([query]))[0]?.endpoints).toEqual([])
  expect(outcomes(events)[0]).toMatch(/^RPC_/)
  expect(JSON.stringify(events)).not.toMatch(/secretkey|\\u001b/)
})

test('an endpoint of another chain is refused at the start, and one that turns out to be later is never read', async () => {
  const other = await node((method, ...rest) =>
    method === 'eth_chainId' ? '0xa86a' : orderly(method, ...rest),
  )
  const { reader } = readerOf([await node(orderly), other])
  await expect(reader.check()).rejects.toMatchObject({ code: 'RPC_WRONG_CHAIN', facts: { found: 43114n } })
  const second = readerOf([other])
  expect((await second.reader.poll([query]))[0]?.endpoints).toEqual([])
  expect(outcomes(second.events)).toEqual(['RPC_WRONG_CHAIN'])
})

test('an endpoint that never answers is given up in time, does not hold up the other, and rests', async () => {
  const silent = createServer(() => undefined)
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    silent.closeAllConnections()
    silent.close()
  })
  const { reader, events } = readerOf([
    await node(orderly),
    `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
  ])
  await reader.check()
  const startedMs = performance.now()
  const [view] = await reader.poll([query])
  // It rests since the check: this look asks the other one alone.
  expect(performance.now() - startedMs).toBeLessThan(300)
  expect(view).toMatchObject({ configured: 2, endpoints: [{ latest: { number: 100n } }] })
  expect(outcomes(events)).toEqual(['RPC_UNANSWERED', 'ok'])
})

test('names of endpoints say host and port, and never the rest of an address', () => {
  const urls = ['https://user:pass@rpc.example/v2/key', 'http://127.0.0.1:1/rpc', 'http://127.0.0.1:1/rpc/1']
  expect(endpointNames(urls)).toEqual(['rpc.example', '127.0.0.1:1#1', '127.0.0.1:1#2'])
  expect(endpointNames(['https://0123456789abcdef.rpc.example/'])).toEqual(['[hidden].rpc.example'])
})

test('a socket that pushes nonsense wakes nobody, and pushed heads do', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await new Promise((resolve) => server.once('listening', resolve))
  closers.push(() => {
    for (const client of server.clients) client.terminate()
    server.close()
  })
  const push = (result: unknown) =>
    JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params: { subscription: '0x1', result } })
  server.on('connection', (socket) => {
    for (const text of [
      'nonsense',
      '[]',
      'null',
      push(null),
      push({ number: huge }),
      push({ ...block(7), hash: 5 }),
    ])
      socket.send(text)
    socket.send(push(block(101)))
  })
  const { reader } = readerOf(
    [await node(orderly)],
    [`ws://127.0.0.1:${(server.address() as AddressInfo).port}`],
  )
  const head = await new Promise((resolve) => reader.onHead?.(resolve))
  expect(head).toMatchObject({ number: 101n })
})
