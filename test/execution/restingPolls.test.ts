/**
 * How orders that rest are followed without a chain endpoint: one read of the account's list stands for all of them, and an order that
 * leaves it is asked for by itself, at once, and closed by what its own look proves.
 */
import { afterEach, expect, test } from 'vitest'
import { hasEnded, lastAttempt } from '../../src/domain/order/intent.ts'
import { createOrderManager } from '../../src/execution/orderManager.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { usd } from '../../src/protocol/units.ts'
import { usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, kindsBench, type PricePath, signer } from '../support/kinds.ts'
import { executionSettings } from '../support/trader.ts'

const { statusPollMaxMs, restingPollMs } = executionSettings

interface Resting extends KindsBench {
  /** Requests so far that end in this path, query left out. */
  readonly asked: (path: string) => number
  /** What the hosts answer to `/orders` instead; undefined: their own answer. */
  listed: ((text: string) => string) | undefined
}

let open: KindsBench | undefined

afterEach(async () => {
  await open?.close()
  open = undefined
})

async function bench(path: PricePath): Promise<Resting> {
  const counts = new Map<string, number>()
  const made: { world?: Resting } = {}
  const world = await kindsBench({
    path,
    onAnswer(url) {
      const { pathname } = new URL(url)
      counts.set(pathname, (counts.get(pathname) ?? 0) + 1)
    },
    lie: (url, text) => (new URL(url).pathname.endsWith('/orders') ? made.world?.listed?.(text) : undefined),
  })
  open = world
  const asked = (end: string) =>
    [...counts].reduce((sum, [pathname, count]) => (pathname.endsWith(end) ? sum + count : sum), 0)
  made.world = { ...world, asked, listed: undefined }
  return made.world
}

/** Rests limit orders at these prices, and lets them grow old. */
async function rest(at: Resting, prices: readonly number[]): Promise<readonly string[]> {
  const ids: string[] = []
  for (const price of prices) {
    const { intentId } = await at.accept({
      marketToken: await at.marketToken(ethSymbol),
      direction: 'long',
      collateralToken: usdc,
      reason: 'the test wishes it',
      kind: 'increase',
      orderType: 'limit',
      triggerPrice: usd(price),
      sizeDeltaUsd: usd(20),
      leverageBps: 20_000,
    })
    await at.clock.advance(3_000)
    ids.push(intentId)
  }
  await at.clock.advance(60_000)
  expect(at.orderManager.open().map(({ label }) => label)).toEqual(prices.map(() => 'resting'))
  return ids
}

const keyOf = (at: Resting, intentId: string) =>
  lastAttempt(at.story(intentId))?.children[0]?.orderKey ?? '0x'

/** The list without one order, as a host answers that hides it. */
const without = (orderKey: string) => (text: string) =>
  JSON.stringify((JSON.parse(text) as { key: string }[]).filter(({ key }) => key !== orderKey))

test('requests do not grow with the orders that rest, but for one question in a long while each', {
  timeout: 60_000,
}, async () => {
  const periods = 3
  const during: Record<string, number>[] = []
  for (const count of [1, 6]) {
    const at = await bench([[0, 2000]])
    await rest(
      at,
      Array.from({ length: count }, (_, index) => 1_500 + index),
    )
    const paths = ['/orders', '/trades', '/positions', '/orders/txns/status']
    const before = paths.map((path) => at.asked(path))
    await at.clock.advance(periods * restingPollMs)
    during.push(Object.fromEntries(paths.map((path, index) => [path, at.asked(path) - (before[index] ?? 0)])))
    await at.close()
    open = undefined
  }
  const [few = {}, many = {}] = during
  // One read of the list in each pause, and one more where a look came between.
  const pauses = (periods * restingPollMs) / statusPollMaxMs
  for (const each of [few, many]) {
    expect(each['/orders']).toBeGreaterThan(pauses / 2)
    expect(each['/orders']).toBeLessThanOrEqual(pauses + 6 * periods)
    expect(each['/trades']).toBe(0)
    expect(each['/positions']).toBe(0)
  }
  expect(few['/orders/txns/status']).toBeLessThanOrEqual(periods + 1)
  expect(many['/orders/txns/status']).toBeGreaterThanOrEqual(6 * (periods - 1))
  expect(many['/orders/txns/status']).toBeLessThanOrEqual(6 * (periods + 1))
})

test('orders that fill together leave the list together, and are known a moment later by one read of the trades', {
  timeout: 60_000,
}, async () => {
  const at = await bench([
    [0, 2000],
    [150, 2000],
    [151, 1900],
  ])
  const prices = Array.from({ length: 6 }, () => 1_950)
  const ids = await rest(at, prices)
  const before = at.asked('/trades')
  const stillOpen = () => at.orderManager.open().length
  let executedAtSeconds = 0
  for (let second = 0; second < 120 && stillOpen() > 0; second += 1) await at.clock.advance(1_000)
  expect(stillOpen()).toBe(0)
  for (const intentId of ids) {
    const { closing } = at.story(intentId)
    expect(closing?.outcome).toBe('EXECUTED')
    executedAtSeconds = Math.max(executedAtSeconds, closing?.settlement?.timestampSeconds ?? 0)
    // From the fill to the record: no longer than the pause between two lists, and the look.
    const lateMs = (at.story(intentId).closedAtMs ?? 0) - (closing?.settlement?.timestampSeconds ?? 0) * 1_000
    expect(lateMs).toBeLessThanOrEqual(statusPollMaxMs + 1_500)
  }
  expect(executedAtSeconds).toBeGreaterThan(0)
  expect(at.asked('/trades') - before).toBeLessThanOrEqual(3)
})

test('an order that another client cancels is asked for when it leaves the list, and closed by its trade', async () => {
  const at = await bench([[0, 2000]])
  const [intentId = '', other = ''] = await rest(at, [1_500, 1_501])
  const marketToken = await at.marketToken(ethSymbol)
  const admitted = await at.judge({
    kind: 'cancel',
    marketToken,
    direction: 'long',
    orderKeys: [keyOf(at, intentId)],
    reason: 'somebody else wishes it',
  })
  if (admitted.kind === 'denial') throw new Error(admitted.denial.reason)
  const stranger = createOrderManager({
    ...at.context,
    journal: createMemoryJournal(),
    emit: () => undefined,
  })
  await stranger.accept(admitted.intent)
  const before = at.asked('/orders/txns/status')
  await at.clock.advance(4_000 + statusPollMaxMs)
  expect(at.story(intentId).closing).toMatchObject({
    outcome: 'CANCELLED',
    evidence: { level: 'api', orderKeys: [keyOf(at, intentId)] },
  })
  expect(at.asked('/orders/txns/status')).toBeGreaterThan(before)
  expect(at.story(other).closing).toBeUndefined()
  await stranger.stop()
})

test('a list that hides an order closes nothing: it is asked for by itself until it is shown again', async () => {
  const at = await bench([[0, 2000]])
  const [intentId = '', other = ''] = await rest(at, [1_500, 1_501])
  at.listed = without(keyOf(at, intentId))
  const before = at.asked('/orders/txns/status')
  await at.clock.advance(10 * statusPollMaxMs)
  const hidden = at.asked('/orders/txns/status') - before
  // Quickly at first, then as often as an order whose fate is open; the other one is not asked for.
  expect(hidden).toBeGreaterThanOrEqual(10)
  expect(hidden).toBeLessThanOrEqual(30)
  for (const each of [intentId, other]) expect(at.story(each).closing).toBeUndefined()
  at.listed = undefined
  await at.clock.advance(2 * statusPollMaxMs)
  const shown = at.asked('/orders/txns/status')
  await at.clock.advance(5 * statusPollMaxMs)
  expect(at.asked('/orders/txns/status') - shown).toBeLessThanOrEqual(2)
})

test('a list that still shows an order after its fill keeps it open until it lets go', async () => {
  const at = await bench([
    [0, 2000],
    [150, 2000],
    [151, 1900],
  ])
  const [intentId = ''] = await rest(at, [1_950])
  let old: string | undefined
  at.listed = (text) => {
    old ??= text
    return old
  }
  await at.clock.advance(120_000)
  expect((await at.api.getPositions({ account: signer.address })).value).toHaveLength(1)
  expect(at.story(intentId).closing).toBeUndefined()
  at.listed = undefined
  await at.clock.advance(2 * statusPollMaxMs)
  expect(at.story(intentId).closing?.outcome).toBe('EXECUTED')
})

test('where the list cannot be read each order is asked for as before', async () => {
  const at = await bench([[0, 2000]])
  await rest(at, [1_500, 1_501, 1_502])
  at.listed = () => 'this is no list'
  await at.clock.advance(4 * statusPollMaxMs)
  const before = at.asked('/orders/txns/status')
  await at.clock.advance(10 * statusPollMaxMs)
  expect(at.asked('/orders/txns/status') - before).toBeGreaterThanOrEqual(24)
})

test('after a start each order is asked for once, and then the list stands for all', async () => {
  const at = await bench([[0, 2000]])
  const ids = await rest(at, [1_500, 1_501, 1_502])
  await at.orderManager.stop()
  const again = createOrderManager(at.context)
  again.restore(
    ids.map((intentId) => at.story(intentId)),
    [],
  )
  const before = at.asked('/orders/txns/status')
  const recovered = again.recover()
  await at.clock.advance(4 * statusPollMaxMs)
  await recovered
  expect(at.asked('/orders/txns/status') - before).toBe(3)
  expect(again.open().every(({ state }) => lastAttempt(state)?.children.some(hasEnded) === false)).toBe(true)
  await again.stop()
})
