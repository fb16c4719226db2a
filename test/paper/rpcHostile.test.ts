/** Malformed JSON-RPC: documented codes, never a fault of the venue; and several chains on one port. */
import fc from 'fast-check'
import { createPublicClient, http, webSocket } from 'viem'
import { expect, test } from 'vitest'
import { answerRpc } from '../../src/paper/rpc/jsonRpcServer.ts'
import { rpcMethods } from '../../src/paper/rpc/rpcMethods.ts'
import { createMultiChainVenue } from '../../src/paper/server/multiChainVenue.ts'
import { serveVenues } from '../../src/paper/server/serve.ts'
import { createVenue } from '../../src/paper/server/venue.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { manualClock, usdc } from './support.ts'

const codes = new Set([-32700, -32600, -32601, -32602, -32000, -32001, -32005, 3])

test('no request of any shape makes the endpoint fail', () => {
  const clock = manualClock()
  const { venueState } = createVenue({ clock, chain: chains.arbitrum, seed: 7 })
  clock.move(60_000)
  const hex = fc.oneof(
    fc.constantFrom('0x', '0x0', 'latest', 'pending', 'safe', 'earliest', usdc, `0x${'ab'.repeat(32)}`),
    fc.stringMatching(/^0x[0-9a-f]{0,70}$/),
  )
  const loose = fc.oneof(hex, fc.jsonValue({ maxDepth: 2 }))
  const filter = fc.record(
    {
      address: loose,
      topics: fc.oneof(loose, fc.array(fc.oneof(loose, fc.array(loose, { maxLength: 3 })), { maxLength: 5 })),
      fromBlock: loose,
      toBlock: loose,
      blockHash: loose,
      blockNumber: loose,
      requireCanonical: loose,
      to: loose,
      data: loose,
    },
    { requiredKeys: [] },
  )
  const call = fc.record({
    jsonrpc: fc.constantFrom('2.0', '2.0', '2.0', '1.0'),
    id: fc.oneof(fc.constant(1), fc.jsonValue({ maxDepth: 1 })),
    method: fc.oneof(
      fc.constantFrom(...Object.keys(rpcMethods), 'eth_subscribe', 'constructor'),
      fc.string(),
    ),
    params: fc.oneof(fc.array(fc.oneof(loose, filter), { maxLength: 4 }), loose),
  })
  const text = fc.oneof(
    call.map((one) => JSON.stringify(one)),
    fc.array(call, { maxLength: 3 }).map((many) => JSON.stringify(many)),
    fc.string(),
  )
  fc.assert(
    fc.property(text, (request) => {
      const answered = answerRpc(venueState, request)
      if (answered === undefined) return
      const parsed = JSON.parse(answered)
      for (const one of Array.isArray(parsed) ? parsed : [parsed]) {
        expect(one.jsonrpc).toBe('2.0')
        if (one.error !== undefined) expect(codes).toContain(one.error.code)
        else expect(one).toHaveProperty('result')
      }
    }),
    { seed: 2026, numRuns: 4000 },
  )
})

test('each chain of a port has blocks and an endpoint of its own', async () => {
  const clock = manualClock()
  const venues = createMultiChainVenue({ clock, chains: [chains.arbitrum, chains.avalanche], seed: 7 })
  const served = await serveVenues(venues, { hostname: '127.0.0.1', port: 0 })
  try {
    clock.move(10_000)
    const seen = await Promise.all(
      served.flatMap(({ rpc: [rpc], ws: [ws] }) =>
        [http(rpc), webSocket(ws, { reconnect: false })].map(async (transport) => {
          const client = createPublicClient({ transport })
          const [id, block] = [await client.getChainId(), await client.getBlock()]
          const parent = await client.getBlock({ blockHash: block.parentHash })
          return [id, block.number - parent.number, Number(block.timestamp - parent.timestamp) <= 1]
        }),
      ),
    )
    expect(seen.map(([id]) => id)).toEqual([42161, 42161, 43114, 43114])
    expect(seen.every(([, step, near]) => step === 1n && near === true)).toBe(true)
    const heads = venues.map(({ venueState }) => venueState.blockChain.blockTimeMs)
    expect(heads).toEqual([250, 1000])
  } finally {
    await served[0]?.close()
  }
})
