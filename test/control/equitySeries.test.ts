/** What the account was worth, as the console keeps it: bounded, from the start to now, and only figures that were shown. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  createEquitySeries,
  type EquityPoint,
  thinnedPoints,
} from '../../src/control/console/equitySeries.ts'
import type { EngineStatus } from '../../src/operator/port/engineStatus.ts'
import { usd } from '../../src/protocol/units.ts'
import { ask, handClock, openConsole } from './browser.ts'
import { asReader, engine, status } from './door.ts'

test('whatever comes, it is bounded, in order, of what came, and ends with the newest figure', () => {
  const gaps = fc.array(
    fc.tuple(fc.integer({ min: -20_000, max: 40_000_000 }), fc.bigInt({ min: -1n, max: 9n })),
    {
      minLength: 1,
      maxLength: 200,
    },
  )
  fc.assert(
    fc.property(gaps, fc.integer({ min: 2, max: 20 }), (steps, most) => {
      const series = createEquitySeries([], most)
      const taken: EquityPoint[] = []
      let atMs = 0
      for (const [gapMs, equityUsd] of steps) {
        const point = { atMs: atMs + gapMs, equityUsd }
        series.take(point)
        if (taken.length === 0 || gapMs > 0) {
          taken.push(point)
          atMs = point.atMs
        }
        const points = series.points()
        expect(points.length).toBeLessThanOrEqual(most)
        expect(points.at(-1)).toEqual(taken.at(-1))
        expect(points.every((each) => taken.includes(each))).toBe(true)
        expect(points.map((each) => each.atMs)).toEqual(
          points.map((each) => each.atMs).toSorted((one, other) => one - other),
        )
      }
    }),
    { seed: 7, numRuns: 200 },
  )
})

test('thinned as it grows, over a restart at any point, it is what thinning all of it at once gives', () => {
  const gaps = fc.array(fc.tuple(fc.integer({ min: 1, max: 8_000_000 }), fc.bigInt({ min: -5n, max: 5n })), {
    minLength: 1,
    maxLength: 200,
  })
  fc.assert(
    fc.property(gaps, fc.nat(200), (steps, restartAt) => {
      let atMs = 1_800_000_000_000
      const all = steps.map(([gapMs, equityUsd]) => {
        atMs += gapMs
        return { atMs, equityUsd }
      })
      let series = createEquitySeries()
      for (const [at, point] of all.entries()) {
        if (at === restartAt) series = createEquitySeries(series.points())
        series.take(point)
      }
      expect(series.points()).toEqual(thinnedPoints(all))
    }),
    { seed: 7, numRuns: 200 },
  )
})

test('months are held in some thousand points, with the deepest fall and the highest peak of them', () => {
  const dayMs = 86_400_000
  const all: EquityPoint[] = []
  for (let atMs = 0; atMs <= 200 * dayMs; atMs += 60_000) all.push({ atMs, equityUsd: 1_000n })
  const peak = { atMs: 11 * dayMs + 30_000, equityUsd: 2_000n }
  const fall = { atMs: 40 * dayMs + 30_000, equityUsd: 3n }
  const points = thinnedPoints([...all, peak, fall].toSorted((one, other) => one.atMs - other.atMs))
  expect(points).toContainEqual(peak)
  expect(points).toContainEqual(fall)
  expect(points[0]?.atMs).toBe(0)
  expect(points.length).toBeLessThan(2_000)
  // Of the last day there is a figure for every two minutes.
  expect(points.filter(({ atMs }) => atMs >= 199 * dayMs).length).toBeGreaterThan(700)
})

test('the port tells figures that were shown, with when their lists were read', async () => {
  const clock = handClock()
  let now: EngineStatus = status
  let look = (): Promise<void> => Promise.resolve()
  const server = await openConsole(
    {
      clock,
      beat(given) {
        look = given
        return () => undefined
      },
    },
    { engine: { ...engine, status: () => now } },
  )
  try {
    const told = async (): Promise<unknown> =>
      JSON.parse((await ask(server, 'GET', '/api/equity', asReader)).text)
    expect(await told()).toEqual([])
    const mark = { peakUsd: usd(2), dayStartMs: 0, dayStartUsd: usd(2), isEquitySettling: false }
    for (const [equityAtMs, worth] of [
      [1_000, 2],
      [1_000, 2],
      [12_000, 3],
    ] as const) {
      clock.pass(5_000)
      now = { ...status, equity: { ...mark, equityUsd: usd(worth), equityAtMs } }
      await look()
    }
    clock.pass(5_000)
    now = { ...status, equity: { ...mark, equityUsd: usd(9) } }
    await look()
    expect(await told()).toEqual([
      { atMs: 1_000, equityUsd: String(usd(2)) },
      { atMs: 12_000, equityUsd: String(usd(3)) },
    ])
  } finally {
    await server.close()
  }
})
