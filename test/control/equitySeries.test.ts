/** What the account was worth, as the console keeps it: bounded, from the start to now, and only figures that were shown. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createEquitySeries, type EquityPoint } from '../../src/control/console/equitySeries.ts'
import type { EngineStatus } from '../../src/engine/engineStatus.ts'
import { usd } from '../../src/protocol/units.ts'
import { ask, handClock, openConsole } from './browser.ts'
import { asReader, engine, status } from './door.ts'

test('whatever comes, it is bounded, in order, of what came, and has the first figure and the newest', () => {
  const gaps = fc.array(
    fc.tuple(fc.integer({ min: -20_000, max: 400_000 }), fc.bigInt({ min: -1n, max: 9n })),
    {
      minLength: 1,
      maxLength: 300,
    },
  )
  fc.assert(
    fc.property(gaps, fc.integer({ min: 2, max: 20 }), (steps, most) => {
      const series = createEquitySeries(most)
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
        expect(points[0]).toEqual(taken[0])
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

test('days are held with points of even distance', () => {
  const series = createEquitySeries()
  const dayMs = 86_400_000
  for (let atMs = 0; atMs <= 3 * dayMs; atMs += 5_000) series.take({ atMs, equityUsd: 1n })
  const points = series.points().slice(0, -1)
  expect(points.length).toBeGreaterThan(900)
  const gaps = new Set(points.slice(1).map(({ atMs }, at) => atMs - (points[at]?.atMs ?? 0)))
  expect(gaps.size).toBe(1)
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
