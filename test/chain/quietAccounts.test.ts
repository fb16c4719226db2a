/** Accounts that nothing happens to, by real endpoints over sockets: what the endpoints are asked for them, and what their hosts no longer are. */
import { afterEach, expect, test } from 'vitest'
import { heldLists } from '../../src/account/heldLists.ts'
import { createApi } from '../../src/api/client.ts'
import { createNodeFetch } from '../../src/api/transport/nodeFetch.ts'
import type { RecentEvents } from '../../src/chain/logs/recentEvents.ts'
import { createQuietAccounts } from '../../src/chain/quietAccounts.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import type { Address } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { type ChainBench, chainBench, increaseIn, signer } from '../support/chain.ts'
import { manualClock } from '../support/venue.ts'

const accountOf = (n: number): Address => `0x${n.toString(16).padStart(40, 'a')}`
const own = signer.address

let world: ChainBench | undefined
const closers: (() => void)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) close()
  await world?.close()
  world = undefined
})

/** Two endpoints that were looked at for these accounts for two minutes. */
async function watched(
  ...accounts: readonly Address[]
): Promise<{ readonly world: ChainBench; readonly quietAgoMs: ReturnType<typeof createQuietAccounts> }> {
  const bench = await chainBench({ endpoints: 2 })
  world = bench
  const quietAgoMs = createQuietAccounts(bench.reader.recentEvents, bench.clock)
  for (let n = 0; n < 13; n += 1) {
    for (const account of accounts) expect(quietAgoMs(account)).toBe(undefined)
    await bench.clock.advance(10_000)
  }
  return { world: bench, quietAgoMs }
}

test('endpoints say of several accounts that nothing happened, by two requests each, and nobody waits for them', async () => {
  const { world, quietAgoMs } = await watched(own, accountOf(1))
  const before = world.requests()
  quietAgoMs(own)
  quietAgoMs(accountOf(1))
  await world.clock.advance(0)
  expect(world.requests() - before).toBe(4)
  for (const account of [own, accountOf(1)]) expect(quietAgoMs(account)).toBeLessThanOrEqual(1_000)
  await world.clock.advance(2_000)
  // The next look is not due.
  expect(quietAgoMs(own)).toBeGreaterThanOrEqual(2_000)
  await world.clock.advance(0)
  expect(world.requests() - before).toBe(4)
})

test('an account with an event is not quiet for two minutes, and the others are', async () => {
  const { world, quietAgoMs } = await watched(own, accountOf(1))
  await world.orderManager.accept(await increaseIn(world))
  await world.clock.advance(12_000)
  const look = async () => {
    for (let n = 0; n < 2; n += 1) {
      for (const account of [own, accountOf(1)]) quietAgoMs(account)
      await world.clock.advance(3_000)
    }
    return [quietAgoMs(own) !== undefined, quietAgoMs(accountOf(1)) !== undefined]
  }
  expect(await look()).toEqual([false, true])
  for (let n = 0; n < 17; n += 1) expect(await look()).toEqual([false, true])
  for (let n = 0; n < 4; n += 1) await look()
  expect(await look()).toEqual([true, true])
})

test('where one endpoint does not answer no account counts as quiet', async () => {
  const { world, quietAgoMs } = await watched(own, accountOf(1))
  const look = async () => {
    quietAgoMs(own)
    quietAgoMs(accountOf(1))
    await world.clock.advance(11_000)
    return quietAgoMs(own) !== undefined
  }
  expect(await look()).toBe(true)
  world.set({ down: ['rpc/1'] })
  expect(await look()).toBe(false)
  expect(await look()).toBe(false)
  world.set({ down: [] })
  await look()
  expect(await look()).toBe(true)
})

test('one account alone costs its endpoints nothing', async () => {
  const { world, quietAgoMs } = await watched(own)
  expect(world.requests()).toBe(0)
  expect(quietAgoMs(own)).toBe(undefined)
})

test('a look is as old as its oldest newest block, and a mistake in it ends the looks', async () => {
  const clock = manualClock(1_800_000_000_000)
  const answers: (RecentEvents | Error)[] = [
    { throughSeconds: 1_800_000_000 - 40, active: new Set() },
    new TypeError('a mistake'),
    { throughSeconds: 1_800_000_000, active: new Set() },
  ]
  const quietAgoMs = createQuietAccounts(async () => {
    const answer = answers.shift()
    if (answer instanceof Error) throw answer
    return answer
  }, clock)
  const ask = async () => {
    quietAgoMs(own)
    quietAgoMs(accountOf(1))
    await clock.advance(0)
    return quietAgoMs(own)
  }
  expect(await ask()).toBe(40_000)
  await clock.advance(3_000)
  expect(await ask()).toBe(undefined)
  await clock.advance(60_000)
  expect(await ask()).toBe(undefined)
  expect(answers).toHaveLength(1)
})

test('twenty accounts that read their lists each second ask the hosts once a minute, and one with an event each second', async () => {
  const names = [own, ...Array.from({ length: 19 }, (_unused, n) => accountOf(n))]
  const { world, quietAgoMs } = await watched(...names)
  const { fetch, close } = createNodeFetch()
  closers.push(close)
  const asked: string[] = []
  const api = createApi({
    chain: arbitrum,
    hosts: { ...arbitrum.hosts, api: world.served.api, oracle: world.served.oracle },
    fetch: (url, init) => {
      asked.push(new URL(url).searchParams.get('address') ?? '')
      return fetch(url, init)
    },
    clock: world.clock,
    random: () => 0.5,
    limits: { requestsPerSecondPerHost: Number.POSITIVE_INFINITY },
  })
  // The order manager's own journal is another one: the account learns of its orders by the chain alone.
  const desk = names.map((account) => {
    const journal = createMemoryJournal()
    return {
      account,
      api: heldLists({
        api,
        account,
        journal,
        quietAgoMs,
        clock: world.clock,
        leastAgeLimitMs: () => 15_000,
      }),
    }
  })
  const minute = async () => {
    asked.length = 0
    const before = world.requests()
    for (let n = 0; n < 60; n += 1) {
      await Promise.all(
        desk.flatMap(({ account, api }) => [api.getPositions({ account }), api.getOrders({ account })]),
      )
      await world.clock.advance(1_000)
    }
    const byAccount = names.map((name) => asked.filter((each) => each === name).length)
    return { first: byAccount[0], most: Math.max(...byAccount.slice(1)), chain: world.requests() - before }
  }
  await minute()
  const quiet = await minute()
  expect(quiet.most).toBeLessThanOrEqual(6)
  expect(quiet.first).toBeLessThanOrEqual(6)
  // Two requests at each of two endpoints, in each look.
  expect(quiet.chain).toBeLessThanOrEqual(4 * 24)
  await world.orderManager.accept(await increaseIn(world))
  await world.clock.advance(6_000)
  const busy = await minute()
  expect(busy.first).toBeGreaterThanOrEqual(110)
  expect(busy.most).toBeLessThanOrEqual(6)
}, 60_000)
