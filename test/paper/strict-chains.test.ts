/** Chains of one port are worlds of their own: nothing that names a record of one means anything on another. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMultiChainVenue } from '../../src/paper/server/multiChainVenue.ts'
import { type ServedVenue, serveVenues } from '../../src/paper/server/serve.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { type Any, manualClock, trader, usd } from './support.ts'

const clock = manualClock()
let served: readonly ServedVenue[]
beforeAll(async () => {
  const fleet = createMultiChainVenue({
    clock,
    chains: [chains.arbitrum, chains.avalanche, chains.megaeth],
    seed: 7,
    settingsOf: () => ({ traders: 30 }),
  })
  served = await serveVenues(fleet, { hostname: '127.0.0.1', port: 0 })
  clock.move(1_800_000)
})
afterAll(async () => {
  await served[0]?.close()
})

const get = async (base: string | undefined, path: string): Promise<Any> =>
  (await fetch(`${base}${path}`)).json()
const post = async (base: string | undefined, path: string, body: unknown): Promise<[number, Any]> => {
  const response = await fetch(`${base}${path}`, { method: 'POST', body: JSON.stringify(body) })
  return [response.status, await response.json()]
}

test('a requestId of one chain is unknown on the others, though each has prepared as many', async () => {
  const requestIds: string[] = []
  for (const { api } of served) {
    const [market] = (await get(api[0], '/markets')).filter((row: Any) => row.symbol.startsWith('ETH/USD'))
    const stable = (await get(api[0], '/tokens')).find((row: Any) => row.isStable)
    const [status, body] = await post(api[0], '/orders/txns/prepare', {
      kind: 'increase',
      orderType: 'market',
      mode: 'express',
      from: trader.address,
      symbol: market.symbol,
      direction: 'short',
      size: usd(100),
      collateralToPay: { amount: (50n * 10n ** BigInt(stable.decimals)).toString(), token: stable.symbol },
    })
    expect(status).toBe(200)
    requestIds.push(body.requestId)
  }
  expect(new Set(requestIds).size).toBe(3)
  for (const [i, { api }] of served.entries()) {
    for (const [j, requestId] of requestIds.entries()) {
      const [status, body] = await post(api[0], '/orders/txns/status', { requestId })
      expect([i, j, status]).toEqual([i, j, i === j ? 200 : 404])
      if (i !== j) expect(body).toEqual({ message: 'Transaction not found' })
    }
  }
})

test('trades, their transactions and their orders are of one chain only, and not in step', async () => {
  const pages = await Promise.all(served.map(({ api }) => get(api[0], '/trades?limit=200')))
  for (const name of ['id', 'transactionHash', 'orderKey']) {
    const sets = pages.map(({ trades }) => new Set<string>(trades.map((row: Any) => row[name])))
    const all = sets.flatMap((one) => [...one])
    expect([name, new Set(all).size]).toEqual([name, all.length])
  }
  const times = pages.map(({ trades }) => trades.map((row: Any) => row.timestamp).join())
  expect(new Set(times).size).toBe(3)
})

test('failures of several chains have trace ids of their own', async () => {
  const ids = await Promise.all(
    served.map(async ({ api }) => (await fetch(`${api[0]}/orders`)).headers.get('x-trace-id')),
  )
  expect(new Set(ids).size).toBe(3)
})
