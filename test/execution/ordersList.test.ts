/** What the account's list of orders says of an order, over any course of lists; and when it is read. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Api } from '../../src/api/client.ts'
import { createOrdersList, type OrdersList } from '../../src/execution/track/ordersList.ts'
import type { Hex } from '../../src/protocol/address.ts'
import type { Order } from '../../src/protocol/position.ts'
import type { Reading } from '../../src/protocol/reading.ts'
import { account, startMs, usdc } from '../support/intents.ts'
import { executionSettings } from '../support/trader.ts'
import { type ManualClock, manualClock } from '../support/venue.ts'

const keys = ['0a', '0b', '0c'].map((byte): Hex => `0x${byte.repeat(32)}`)
const { statusPollMaxMs } = executionSettings

function row(orderKey: Hex, sizeDeltaUsd: bigint): Order {
  return {
    orderKey,
    account,
    receiver: account,
    marketToken: usdc,
    initialCollateralToken: usdc,
    orderType: 3,
    direction: 'long',
    sizeDeltaUsd,
    initialCollateralDeltaAmount: 0n,
    triggerContractPrice: 1n,
    acceptableContractPrice: 1n,
    isFrozen: false,
    updatedAtSeconds: 1,
    validFromSeconds: 0,
  }
}

interface World {
  readonly clock: ManualClock
  readonly list: OrdersList
  readonly reads: number[]
  readonly changes: { count: number }
  readonly stop: () => void
}

function world(watched: readonly Hex[] = keys): World {
  const clock = manualClock(startMs, async () => {
    for (let turn = 0; turn < 4; turn += 1) await Promise.resolve()
  })
  const stopping = new AbortController()
  const reads: number[] = []
  const changes = { count: 0 }
  const getOrders = async () => {
    reads.push(clock.monotonicMs() - startMs)
    return { value: keys.map((key) => row(key, 1n)), readAtMs: clock.now(), host: 'h' }
  }
  const context = { clock, api: { getOrders } as unknown as Api, settings: executionSettings }
  const list = createOrdersList(context, {
    account,
    watched: () => new Set(watched),
    onChange: () => {
      changes.count += 1
    },
    signal: stopping.signal,
  })
  return { clock, list, reads, changes, stop: () => stopping.abort() }
}

test('an order is listed where the newest list has it, and gone where an earlier one had it and no row is missing', async () => {
  const lists = fc.array(
    fc.record({
      shown: fc.tuple(fc.nat(2), fc.nat(2), fc.nat(2)),
      isPartial: fc.boolean(),
      afterMs: fc.integer({ min: -2_000, max: 5_000 }),
    }),
    { maxLength: 12 },
  )
  await fc.assert(
    fc.asyncProperty(lists, async (course) => {
      const { clock, list, stop } = world()
      let newestMs = Number.NEGATIVE_INFINITY
      let newest: readonly number[] | undefined
      let mayLack = false
      const seen = new Set<number>()
      const gone = new Set<number>()
      for (const { shown, isPartial, afterMs } of course) {
        await clock.advance(1_000)
        const atMs = clock.now() + Math.min(0, afterMs)
        const reading: Reading<readonly Order[]> = {
          // 0: it is not in the list; 1 and 2: two sizes.
          value: keys.flatMap((key, index) => {
            const size = shown[index] ?? 0
            return size === 0 ? [] : [row(key, BigInt(size))]
          }),
          atMs,
          ...(isPartial ? { missing: [{ problem: 'unreadable' }] } : {}),
        }
        list.saw(reading)
        if (atMs > newestMs) {
          for (const index of keys.keys()) {
            const isShown = (shown[index] ?? 0) > 0
            const wasKnown = (newest?.[index] ?? 0) > 0 || gone.has(index)
            if (!isShown && !isPartial && wasKnown) gone.add(index)
            else gone.delete(index)
            if (isShown) seen.add(index)
          }
          newestMs = atMs
          newest = shown
          mayLack = isPartial
        }
        for (const [index, key] of keys.entries()) {
          const told = list.shown(key)
          const isShown = (newest?.[index] ?? 0) > 0
          expect(told === 'listed' || told === 'changed').toBe(isShown)
          if (told === 'gone') expect(seen.has(index) && !mayLack).toBe(true)
          expect(told === 'gone').toBe(!isShown && gone.has(index))
        }
      }
      stop()
    }),
    { numRuns: 200 },
  )
})

test('lists of others spare the reads; without them it reads itself, and what moved brings the next read forward', async () => {
  const { clock, list, reads, stop } = world()
  void list.run()
  await clock.advance(60_000)
  expect(reads[0]).toBe(0)
  const late = reads.filter((atMs) => atMs > 40_000)
  expect(late.length).toBeLessThanOrEqual(5)
  const before = reads.length
  for (let second = 0; second < 60; second += 1) {
    await clock.advance(1_000)
    list.saw({ value: [], atMs: clock.now() })
  }
  expect(reads.length - before).toBeLessThanOrEqual(1)
  const hurriedMs = clock.monotonicMs() - startMs
  list.hurry()
  await clock.advance(2_000)
  const soon = reads.filter((atMs) => atMs >= hurriedMs)
  expect(soon.length).toBeGreaterThanOrEqual(2)
  stop()
})

test('nothing is read while nothing rests, and an old list shows nothing', async () => {
  const nothing = world([])
  void nothing.list.run()
  await nothing.clock.advance(60_000)
  expect(nothing.reads).toEqual([])
  nothing.stop()
  const { clock, list, stop } = world()
  const [key = '0x'] = keys
  list.saw({ value: [row(key, 1n)], atMs: clock.now() })
  expect(list.shown(key)).toBe('listed')
  await clock.advance(3 * statusPollMaxMs + 1)
  expect(list.shown(key)).toBe('not-shown')
  stop()
})
