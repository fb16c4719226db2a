/** The chain's time by several witnesses: one that lags or lies decides nothing, and honest lag is believed. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chainTimeOf } from '../../src/domain/chainTime.ts'

const now = 1_800_000_000
const at = (...aheadSeconds: readonly number[]) =>
  aheadSeconds.map((ahead, index) => ({ endpoint: `e${index}`, seconds: now + ahead }))
const asideOf = (time: ReturnType<typeof chainTimeOf>) =>
  time.endpoints.flatMap(({ endpoint, isHealthy, aheadSeconds }) =>
    isHealthy ? [] : [[endpoint, aheadSeconds]],
  )

test.each([
  ['all agree', [0, 0], 0],
  ['one is 20 s behind', [0, -20], -20],
  ['all are 20 s behind', [-20, -20], -20],
  ['one is 29 s ahead', [29, -1], -1],
])('%s: the time is the earliest of the endpoints, and none is set aside', (_name, aheads, earliest) => {
  const time = chainTimeOf(now, now, at(...aheads))
  expect(time).toMatchObject({
    isKnown: true,
    earliestSeconds: now + earliest,
    latestSeconds: now + earliest,
  })
  expect(asideOf(time)).toEqual([])
})

test.each([-31, -150, -7_200, 31, 150, 7_200, -now, 1e9])(
  'an endpoint that is %s s away is set aside, and the other one tells the time',
  (away) => {
    const time = chainTimeOf(now, now, at(away, -2))
    expect(time).toMatchObject({
      isKnown: true,
      earliestSeconds: now - 2,
      latestSeconds: now - 2,
      skewSeconds: 2,
    })
    expect(asideOf(time)).toEqual([['e0', away]])
  },
)

test.each([
  ['our clock is two hours ahead', 7_200],
  ['our clock is two hours behind', -7_200],
])(
  '%s: an endpoint that agrees with the hosts tells the time, and our clock is what is off',
  (_name, own) => {
    const time = chainTimeOf(now + own, now, at(-1, 0))
    expect(time).toMatchObject({ isKnown: true, earliestSeconds: now - 1 })
    expect(Math.abs((time.skewSeconds ?? 0) - own)).toBeLessThanOrEqual(1)
    expect(asideOf(time)).toEqual([])
  },
)

test('hosts that are all two hours off make no endpoint a liar: our clock and the endpoints agree', () => {
  const time = chainTimeOf(now, now - 7_200, at(0, -3))
  expect(time).toMatchObject({ isKnown: true, earliestSeconds: now - 3, skewSeconds: 0 })
})

test('our clock and the hosts apart, and an endpoint on the side of each: the time is not known', () => {
  const time = chainTimeOf(now, now - 7_200, at(0, -7_200))
  expect(time).toMatchObject({ isKnown: false, earliestSeconds: now - 7_200, latestSeconds: now - 5_400 })
})

test.each([
  ['150 s behind', [-150], -150, 0],
  ['two hours behind', [-7_200], -1_800, 0],
  ['150 s ahead', [150], 0, 150],
  ['years ahead', [1e8], 0, 1_800],
  ['behind and ahead', [-150, 150], -150, 150],
])(
  'no endpoint is left (%s): the window spans all, half an hour to each side of the hosts at most',
  (_name, aheads, from, to) => {
    expect(chainTimeOf(now, now, at(...aheads))).toEqual({
      isKnown: false,
      earliestSeconds: now + from,
      latestSeconds: now + to,
      likelySeconds: now,
      endpoints: expect.any(Array),
    })
  },
)

test('with one honest endpoint and clocks that are right, no others of any kind move the time beyond what is healthy', () => {
  const some = fc.integer({ min: -100_000, max: 100_000 })
  fc.assert(
    fc.property(
      fc.array(some, { maxLength: 4 }),
      fc.integer({ min: -25, max: 0 }),
      fc.integer({ min: -5, max: 5 }),
      fc.integer({ min: -5, max: 5 }),
      (others, lag, own, hosts) => {
        const time = chainTimeOf(now + own, now + hosts, at(lag, ...others))
        expect(time.isKnown).toBe(true)
        expect(time.latestSeconds).toBe(time.earliestSeconds)
        // Never later than the honest one says, and never so early that the deadline of an honest host is too late.
        expect(time.earliestSeconds).toBeLessThanOrEqual(now + lag)
        expect(time.earliestSeconds).toBeGreaterThanOrEqual(now - 35)
      },
    ),
    { seed: 12, numRuns: 2_000 },
  )
})

test('whatever endpoints say, where the time is not known the window holds the time of the hosts and is an hour at most', () => {
  const any = fc.integer({ min: -1e9, max: 1e9 })
  fc.assert(
    fc.property(fc.array(any, { maxLength: 4 }), any, (aheads, own) => {
      const time = chainTimeOf(now + own, now, at(...aheads))
      if (time.isKnown) return
      expect(time.earliestSeconds).toBeLessThanOrEqual(now)
      expect(time.latestSeconds).toBeGreaterThanOrEqual(now)
      expect(time.latestSeconds - time.earliestSeconds).toBeLessThanOrEqual(3_600)
    }),
    { seed: 13, numRuns: 2_000 },
  )
})
