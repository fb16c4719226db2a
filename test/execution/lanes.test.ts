/** Both lanes over real sockets, client and venue, on the clock of this machine: the whole road from J1 to J7. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, createApi } from '../../src/api/client.ts'
import { createNodeFetch, type NodeFetch } from '../../src/api/transport/nodeFetch.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import { type Intent, isOpen, lastAttempt } from '../../src/domain/order/intent.ts'
import type { LaneName } from '../../src/domain/order/laneTable.ts'
import { createOrderManager, type OrderManager } from '../../src/execution/orderManager.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { createLocalSigner } from '../../src/keys/local.ts'
import { type ServedVenue, serveVenue } from '../../src/paper/server/serve.ts'
import { createVenue, type Venue } from '../../src/paper/server/venue.ts'
import type { Address } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { usd } from '../../src/protocol/units.ts'
import { restingOrder } from '../support/createdOrder.ts'
import { ethMarket, intentOf } from '../support/intents.ts'
import { executionSettings, testExecution } from '../support/trader.ts'
import { until } from '../support/until.ts'

let venue: Venue
let served: ServedVenue
let node: NodeFetch
let api: Api
/** Answers of 404 to questions after a task. */
let missed = 0

beforeAll(async () => {
  const settings = { relayDelayMs: 20, keeperDelayMs: 50, keeperJitterMs: 0 }
  venue = createVenue({ clock: systemClock, chain: arbitrum, seed: 7, settings })
  served = await serveVenue(venue, { hostname: '127.0.0.1', port: 0, tickMs: 20 })
  node = createNodeFetch()
  api = createApi({
    chain: arbitrum,
    hosts: { api: served.api, oracle: served.oracle },
    fetch: async (url, init) => {
      const answer = await node.fetch(url, init)
      if (url.endsWith('/relay/status') && answer.status === 404) missed += 1
      return answer
    },
    clock: systemClock,
    random: () => 0.5,
    limits: { requestsPerSecondPerHost: Number.POSITIVE_INFINITY },
  })
})

afterAll(async () => {
  node.close()
  await served.close()
})

interface Trader {
  readonly account: Address
  readonly orderManager: OrderManager
  readonly journal: Journal
}

function trader(key: string): Trader {
  const signer = createLocalSigner(`0x${key.repeat(32)}`)
  const journal = createMemoryJournal()
  const orderManager = createOrderManager(
    testExecution({
      api,
      clock: systemClock,
      journal,
      signer,
      settings: {
        ...executionSettings,
        statusPollMs: 50,
        statusPollMaxMs: 100,
        prepareRetryMs: 100,
      },
    }),
  )
  return { account: signer.address, orderManager, journal }
}

async function priceOf(side: 'min' | 'max'): Promise<bigint> {
  const [ticker] = (await api.getMarketTickers({ addresses: [ethMarket] }, { isFresh: true })).value
  return (side === 'min' ? ticker?.minPrice : ticker?.maxPrice) ?? 0n
}

let made = 0
async function walk(who: Trader, lane: LaneName, parts: Partial<Intent>) {
  made += 1
  const nowMs = systemClock.now()
  const intent = intentOf({
    intentId: `lanes-${made}`,
    decisionKey: `lanes#${made}`,
    account: who.account,
    lane,
    acceptedAtMs: nowMs,
    expiresAtMs: nowMs + 30_000,
    ...parts,
  })
  await who.orderManager.accept(intent)
  return until(`${intent.intentId} closed`, () => {
    const state = who.journal.recentIntent(intent.intentId)
    return state === undefined || isOpen(state) ? undefined : state
  })
}

test('a relay that does not know a task yet: the order is handed in once and ends executed', async () => {
  const who = trader('a3')
  const { terms } = intentOf()
  venue.faults.relayStatusLagMs = 500
  missed = 0
  const state = await walk(who, 'relay', {
    terms: { ...terms, sizeDeltaUsd: usd(500), referencePrice: await priceOf('max') },
  })
  venue.faults.relayStatusLagMs = 0
  expect(missed).toBeGreaterThan(1)
  expect(state.closing).toMatchObject({ outcome: 'EXECUTED' })
  expect(state.attempts).toHaveLength(1)
  expect(venue.record().filter(({ account }) => account === who.account)).toMatchObject([
    { lane: 'relay', result: 'accepted' },
  ])
  await who.orderManager.stop()
})

test.each([
  ['order-chain', 'a1'],
  ['relay', 'a2'],
] as const)('an increase, a decrease and a close walk the %s lane', async (lane, key) => {
  const who = trader(key)
  const { terms } = intentOf()
  const sizes: bigint[] = []
  const steps = [
    ['increase', 500, 250_000_000n, 'max'],
    ['decrease', 200, 0n, 'min'],
    ['close', 300, 0n, 'min'],
  ] as const
  for (const [kind, size, collateralDelta, side] of steps) {
    const referencePrice = await priceOf(side)
    const state = await walk(who, lane, {
      kind,
      terms: { ...terms, sizeDeltaUsd: usd(size), collateralDelta, referencePrice },
    })
    expect(state.closing, `${lane} ${kind}`).toMatchObject({
      outcome: 'EXECUTED',
      settlement: { sizeDeltaUsd: usd(size) },
    })
    expect(lastAttempt(state)?.armed?.requestId === undefined).toBe(lane === 'relay')
    const [held] = (await api.getPositions({ account: who.account }, { isFresh: true })).value
    sizes.push(held?.sizeInUsd ?? 0n)
  }
  expect(sizes).toEqual([usd(500), usd(300), 0n])
  const lanes = venue.record().filter(({ account }) => account === who.account)
  expect(lanes.map((entry) => entry.lane)).toEqual([lane, lane, lane])
  await who.orderManager.stop()
})

test('a message of the caller walks the relay lane, and one cancels the order that it left resting', async () => {
  const who = trader('a3')
  const { terms } = intentOf()
  const referencePrice = await priceOf('max')
  const batch = {
    createOrderParamsList: [restingOrder(referencePrice / 2n, who.account)],
    updateOrderParamsList: [],
    cancelOrderKeys: [],
  } as const
  const resting = walk(who, 'relay', { kind: 'batch', terms: { ...terms, referencePrice, batch } })
  const order = await until('the order rests', async () => {
    const orders = await api.getOrders({ account: who.account }, { isFresh: true })
    return orders.value[0]
  })
  expect(order.sizeDeltaUsd).toBe(usd(100))
  const cancel = { createOrderParamsList: [], updateOrderParamsList: [], cancelOrderKeys: [order.orderKey] }
  const cancelled = await walk(who, 'relay', {
    kind: 'batch',
    terms: { ...terms, referencePrice, batch: cancel },
  })
  expect(cancelled.closing?.outcome).toBe('EXECUTED')
  expect((await resting).closing?.outcome).toBe('CANCELLED')
  await who.orderManager.stop()
})
