/** The time that deadlines are judged by, from endpoints, our clock and the hosts' clocks. */
import { expect, test } from 'vitest'
import type { Event } from '../../src/domain/event.ts'
import type { ChainReader } from '../../src/domain/machine/chainReader.ts'
import { beginArmingTime } from '../../src/execution/clock/armingTime.ts'
import { clockProblemOf } from '../../src/execution/clock/chainClock.ts'
import { intentOf } from '../support/intents.ts'
import { manualClock } from '../support/venue.ts'

const startMs = 1_800_000_000_000
const nowSeconds = startMs / 1000
const hash = `0x${'0b'.repeat(32)}` as const

interface Witnesses {
  /** Number and seconds ahead of the true time by endpoint. */
  readonly endpoints?: readonly (readonly [bigint, number])[]
  /** Milliseconds ahead of our clock by host; undefined of one that was not heard. */
  readonly hosts?: readonly (number | undefined)[]
}

function bench({ endpoints, hosts = [0, 0] }: Witnesses) {
  const clock = manualClock(startMs)
  const events: Event[] = []
  const names = hosts.map((_skew, index) => `h${index}`)
  const chainReader: ChainReader | undefined = endpoints && {
    configured: endpoints.length,
    poll: async () => [],
    latestBlocks: async () =>
      endpoints.map(([number, ahead], index) => ({
        endpoint: `e${index}`,
        block: { number, hash, timestampSeconds: nowSeconds + ahead },
        readMs: clock.monotonicMs(),
      })),
  }
  const api = {
    hosts: { api: names.slice(0, 2), oracle: names.slice(2) },
    clockSkewMs: (host: string) => hosts[names.indexOf(host)],
  }
  const context = {
    api,
    clock,
    emit: (event: Event) => void events.push(event),
    ...(chainReader && { chainReader }),
  }
  return {
    clock,
    events,
    begin: () => beginArmingTime(context as unknown as Parameters<typeof beginArmingTime>[0]),
  }
}

test('the time is that of the healthy endpoints and moves on with the monotonic clock; the search begins at the lowest of all', async () => {
  const { begin, clock } = bench({
    endpoints: [
      [1_000n, -2],
      [400n, -150],
      [900n, -5],
    ],
  })
  const timeAt = begin()
  await clock.advance(4_000)
  expect(await timeAt('h0')).toMatchObject({
    nowSeconds: nowSeconds - 1,
    unsureSeconds: 0,
    block: { number: 400n },
  })
})

test('each endpoint is told with how far away it is, and how many tell the time', async () => {
  const { begin, events } = bench({
    endpoints: [
      [1_000n, 0],
      [400n, -7_200],
    ],
  })
  await begin()('h0')
  expect(events).toEqual([
    { type: 'chain.time', endpoint: 'e0', aheadSeconds: 0, isSetAside: false, healthy: 1 },
    { type: 'chain.time', endpoint: 'e1', aheadSeconds: -7_200, isSetAside: true, healthy: 1 },
  ])
})

test('one host whose clock is off does not set an endpoint aside, nor does it make one healthy', async () => {
  const { begin, events } = bench({
    endpoints: [
      [1n, 0],
      [1n, -600],
    ],
    hosts: [-600_000, 0, 100],
  })
  expect(await begin()('h0')).toMatchObject({ nowSeconds, unsureSeconds: 0 })
  expect(events.map((event) => event.type === 'chain.time' && event.isSetAside)).toEqual([false, true])
})

test('no endpoint is healthy: the time may be any of what is said, and no skew of our clock is claimed', async () => {
  const { begin } = bench({ endpoints: [[7n, -150]] })
  const time = await begin()('h0')
  expect(time).toMatchObject({ nowSeconds: nowSeconds - 150, unsureSeconds: 150, answered: 1 })
  // Its number could hide what happened before it.
  expect(time.block).toBeUndefined()
  expect(time.skewSeconds).toBeUndefined()
})

test('no endpoint answers: our clock and the hosts say the time, and no search can begin', async () => {
  const { begin } = bench({ endpoints: [], hosts: [-40_000, -40_000] })
  expect(await begin()('h0')).toEqual({
    nowSeconds: nowSeconds - 40,
    unsureSeconds: 40,
    likelySeconds: nowSeconds - 40,
    answered: 0,
  })
})

test('without endpoints the time is that of the host that is asked', async () => {
  const { begin } = bench({ hosts: [-40_000, 0] })
  expect(await begin()('h0')).toEqual({
    nowSeconds: nowSeconds - 40,
    unsureSeconds: 0,
    likelySeconds: nowSeconds - 40,
    answered: 0,
  })
})

test('what adds risk waits where the time is not known or our clock is off; what takes it away does not', () => {
  const events: Event[] = []
  const context = {
    emit: (event: Event) => void events.push(event),
    rules: { source: 'chain', trustVenue: false, deadlineMarginMs: 0 },
  } as const
  const block = { number: 1n, hash, timestampSeconds: nowSeconds }
  const known = { nowSeconds, unsureSeconds: 0, likelySeconds: nowSeconds, answered: 1, block }
  const untold = { nowSeconds, unsureSeconds: 0, likelySeconds: nowSeconds, answered: 0 }
  const adds = intentOf()
  const reduces = intentOf({ kind: 'close', reservationUsd: 0n })
  expect(clockProblemOf(context, adds, { ...known, skewSeconds: 3 })).toBeUndefined()
  expect(clockProblemOf(context, adds, { ...known, skewSeconds: -20 })).toBeUndefined()
  expect(clockProblemOf(context, adds, { ...known, skewSeconds: 40 })).toMatchObject({
    kind: 'skew',
    skewSeconds: 40,
  })
  expect(clockProblemOf(context, adds, { ...known, unsureSeconds: 150 })).toMatchObject({ kind: 'skew' })
  expect(clockProblemOf(context, adds, untold)).toMatchObject({
    kind: 'no-chain-time',
  })
  expect(events).toEqual([
    { type: 'chain.skew', skewSeconds: -20, isTooLarge: false },
    { type: 'chain.skew', skewSeconds: 40, isTooLarge: true },
  ])
  for (const time of [{ ...known, skewSeconds: 40 }, known, untold])
    expect(clockProblemOf(context, reduces, time)).toBeUndefined()
})

test('without endpoints a host that was not heard since this clock was set is judged by the clocks of the others', async () => {
  const timeOf = async (hosts: readonly (number | undefined)[]) =>
    (await bench({ hosts }).begin()('h0')).nowSeconds
  expect(await timeOf([undefined, 4_254_000])).toBe(nowSeconds + 4_254)
  expect(await timeOf([1_000, 4_254_000])).toBe(nowSeconds + 1)
  expect(await timeOf([undefined, undefined])).toBe(nowSeconds)
})
