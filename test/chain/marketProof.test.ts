/** What a market is by the chain: read from every endpoint, and nothing is proven unless all say the same. */
import { afterEach, expect, test } from 'vitest'
import { readMarket } from '../../src/chain/marketProof.ts'
import { createHttpTransport } from '../../src/chain/wire/httpTransport.ts'
import { createRpcClient, type RpcClient, type RpcTransport } from '../../src/chain/wire/jsonRpc.ts'
import { hexKey } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { ethMarket, usdc, weth } from '../support/intents.ts'
import { type KindsBench, type KindsOptions, kindsBench } from '../support/kinds.ts'
import { manualClock } from '../support/venue.ts'

let bench: KindsBench | undefined
afterEach(async () => {
  await bench?.close()
  bench = undefined
})

const { signal } = new AbortController()
const clientOver = (name: string, transport: RpcTransport): RpcClient =>
  createRpcClient(name, transport, manualClock(0), { timeoutMs: 5_000, batchSize: 1 })

async function clients(options: KindsOptions = {}): Promise<readonly RpcClient[]> {
  bench = await kindsBench(options)
  return bench.served.rpc.map((url, index) => clientOver(`rpc-${index}`, createHttpTransport(url, fetch)))
}

/** An endpoint that changes what another one answers. */
function lying(honest: RpcClient, change: (data: string, result: unknown) => unknown): RpcClient {
  return {
    ...honest,
    name: 'lying',
    async request(calls, until) {
      const answers = await honest.request(calls, until)
      return answers.map((answer, index) => {
        const { data } = (calls[index]?.params[0] ?? { data: '' }) as { readonly data: string }
        return 'result' in answer ? { result: change(data, answer.result) } : answer
      })
    },
  }
}

const read = (from: readonly RpcClient[], market: `0x${string}` = ethMarket) =>
  readMarket(from, arbitrum, market, signal)

test('a market is read with its tokens, their decimals and their names, from all endpoints', async () => {
  const from = await clients()
  expect(from.length).toBeGreaterThan(1)
  const proof = await read(from)
  if ('unproven' in proof) throw new Error(proof.unproven)
  expect(hexKey(proof.market.longToken)).toBe(hexKey(weth))
  expect(hexKey(proof.market.shortToken)).toBe(hexKey(usdc))
  expect(proof.tokens.get(hexKey(usdc))).toEqual({ decimals: 6, symbol: 'USDC' })
  expect(proof.tokens.get(hexKey(weth))).toEqual({ decimals: 18, symbol: 'WETH' })
})

test('every shipped market and every token of it with a contract is what the paper chain says', async () => {
  const [from] = await clients({ settings: { onlyMarkets: [] } })
  if (from === undefined) throw new Error('no endpoint')
  let isRead = 0
  for (const market of [...arbitrum.facts.markets.values()].slice(0, 20)) {
    const proof = await read([from], market.marketToken)
    if ('unproven' in proof) throw new Error(proof.unproven)
    for (const name of ['indexToken', 'longToken', 'shortToken'] as const)
      expect(hexKey(proof.market[name])).toBe(hexKey(market[name]))
    for (const [address, { decimals }] of proof.tokens) {
      isRead += 1
      expect(decimals).toBe(arbitrum.facts.tokens.get(address)?.decimals)
    }
  }
  expect(isRead).toBeGreaterThan(30)
})

test('what is no market is not proven', async () => {
  expect(await read(await clients(), usdc)).toEqual({ unproven: 'the chain has no such market' })
  expect(await read([])).toEqual({ unproven: 'no endpoint is configured' })
})

test.each([
  [
    'other decimals',
    (data: string, result: unknown) => (data === '0x313ce567' ? `0x${'8'.padStart(64, '0')}` : result),
  ],
  [
    'another token',
    (data: string, result: unknown) =>
      data.startsWith('0x714af34b')
        ? String(result).replaceAll(usdc.slice(2).toLowerCase(), weth.slice(2))
        : result,
  ],
])('an endpoint that says %s proves nothing beside an honest one, first or second', async (_what, change) => {
  const [honest] = await clients()
  if (honest === undefined) throw new Error('no endpoint')
  const liar = lying(honest, change)
  for (const from of [
    [honest, liar],
    [liar, honest],
  ])
    expect(await read(from)).toMatchObject({ unproven: expect.stringContaining('disagree on it') })
})

test.each([
  ['nothing', '0x'],
  ['half a word', `0x${'0'.repeat(32)}`],
  ['no text', 7],
  ['dirty addresses', `0x${'f'.repeat(256)}`],
  ['far too much', `0x${'0'.repeat(64 * 65)}`],
])('an endpoint that answers %s proves nothing', async (_what, result) => {
  const [honest] = await clients()
  if (honest === undefined) throw new Error('no endpoint')
  const liar = lying(honest, (data, given) => (data.startsWith('0x714af34b') ? result : given))
  expect(await read([liar])).toMatchObject({ unproven: expect.stringContaining('finds no market') })
})

test('a token whose name or decimals are out of range tells nothing, and an endpoint that is silent proves nothing', async () => {
  const [honest] = await clients()
  if (honest === undefined) throw new Error('no endpoint')
  const odd = lying(honest, (data, given) => (data === '0x313ce567' ? `0x${'ff'.padStart(64, '0')}` : given))
  expect(await read([odd])).toMatchObject({ tokens: new Map() })
  const silent = clientOver('silent', {
    send: () => Promise.reject(new Error('nobody there')),
    close: () => undefined,
  })
  expect(await read([honest, silent])).toMatchObject({ unproven: expect.stringContaining('nobody there') })
})
