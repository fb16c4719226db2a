/** When a market with sessions is closed by a strategy file, around changes to and from summer time above all. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type ClosedSpan,
  type Closings,
  nearClosing,
  type Weekday,
  wallClockIn,
  weekdays,
  weeklyLength,
} from '../../src/domain/limits/closingTimes.ts'

const MINUTE_MS = 60_000
const weekly = (from: Weekday, fromMinute: number, to: Weekday, toMinute: number): ClosedSpan => ({
  from: { weekday: from, minute: fromMinute },
  to: { weekday: to, minute: toMinute },
})
const newYork = (parts: Partial<Closings> = {}): Closings => ({
  timeZone: 'America/New_York',
  spans: [weekly('fri', 17 * 60, 'sun', 18 * 60)],
  beforeMs: 30 * MINUTE_MS,
  afterMs: 15 * MINUTE_MS,
  ...parts,
})
const isNear = (at: string, closings: Closings) => nearClosing(closings, Date.parse(at)) !== undefined

test.each([
  // Winter: New York is five hours behind.
  ['2027-01-22T21:29:59Z', false],
  ['2027-01-22T21:30:00Z', true],
  ['2027-01-23T12:00:00Z', true],
  ['2027-01-24T23:14:59Z', true],
  ['2027-01-24T23:15:00Z', false],
  // Summer: four.
  ['2027-07-23T20:29:59Z', false],
  ['2027-07-23T20:30:00Z', true],
  ['2027-07-25T22:14:59Z', true],
  ['2027-07-25T22:15:00Z', false],
  // The weekend of the change to summer time: it closes in winter and opens in summer.
  ['2027-03-12T21:29:59Z', false],
  ['2027-03-12T21:30:00Z', true],
  ['2027-03-14T22:14:59Z', true],
  ['2027-03-14T22:15:00Z', false],
  // And back.
  ['2027-11-05T20:30:00Z', true],
  ['2027-11-07T23:14:59Z', true],
  ['2027-11-07T23:15:00Z', false],
])('a weekend in New York holds at %s: %s', (at, expected) => {
  expect(isNear(at, newYork())).toBe(expected)
})

test('a time that the clocks skip or show twice makes no span shorter', () => {
  const at = (span: ClosedSpan) => newYork({ spans: [span], beforeMs: 0, afterMs: 0 })
  // 2027-03-14: 02:00 to 03:00 is skipped. 02:30 is between 06:30 and 07:30 UTC.
  const skipped = at(weekly('sun', 150, 'sun', 240))
  expect(nearClosing(skipped, Date.parse('2027-03-14T07:00:00Z'))).toMatchObject({
    closesMs: Date.parse('2027-03-14T06:30:00Z'),
    opensMs: Date.parse('2027-03-14T08:00:00Z'),
  })
  // 2027-11-07: 01:00 to 02:00 comes twice.
  const twice = at(weekly('sun', 90, 'sun', 100))
  expect(nearClosing(twice, Date.parse('2027-11-07T06:00:00Z'))).toMatchObject({
    closesMs: Date.parse('2027-11-07T05:30:00Z'),
    opensMs: Date.parse('2027-11-07T06:40:00Z'),
  })
})

test('the minutes before a closing pass in real time, also over a change of the clocks', () => {
  // It closes at 03:30 on the night on which 02:00 becomes 03:00: 90 minutes before it is 01:00.
  const closings = newYork({ spans: [weekly('sun', 210, 'sun', 300)], beforeMs: 90 * MINUTE_MS })
  expect(isNear('2027-03-14T05:59:59Z', closings)).toBe(false)
  expect(isNear('2027-03-14T06:00:00Z', closings)).toBe(true)
})

test('dates close once, in the zone of the file', () => {
  const span = {
    from: { date: '2026-12-24', minute: 13 * 60 },
    to: { date: '2026-12-26', minute: 18 * 60 },
  } as const
  const closings = newYork({ spans: [span] })
  expect(isNear('2026-12-24T17:29:59Z', closings)).toBe(false)
  expect(isNear('2026-12-24T17:30:00Z', closings)).toBe(true)
  expect(isNear('2026-12-26T23:14:59Z', closings)).toBe(true)
  expect(isNear('2026-12-26T23:15:00Z', closings)).toBe(false)
  expect(isNear('2027-12-25T12:00:00Z', closings)).toBe(false)
})

const zones = ['America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe', 'UTC'] as const
const inWeek = ({ weekday, minute }: { readonly weekday: Weekday; readonly minute: number }) =>
  weekdays.indexOf(weekday) * 1_440 + minute

test('in every zone and year a span holds whenever the wall clock is in it, and else only beside a change of the clocks', () => {
  let held = 0
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.nat({ max: 10_079 }),
      fc.integer({ min: 1, max: 10_079 }),
      fc.integer({ min: Date.parse('2026-01-01T00:00:00Z'), max: Date.parse('2029-12-31T00:00:00Z') }),
      (timeZone, fromMinute, length, atMs) => {
        const at = (minute: number) => ({
          weekday: weekdays[Math.floor(minute / 1_440) % 7] ?? 'mon',
          minute: minute % 1_440,
        })
        const span = { from: at(fromMinute), to: at((fromMinute + length) % 10_080) }
        expect(weeklyLength(span)).toBe(length)
        const local = inWeek(wallClockIn(timeZone, atMs))
        const isIn = (local - fromMinute + 10_080) % 10_080 < length
        const near = nearClosing({ timeZone, spans: [span], beforeMs: 0, afterMs: 0 }, atMs)
        if (isIn) {
          held += 1
          expect(near).toBeDefined()
        } else if (near !== undefined) {
          // Within two hours of one the clocks show other differences.
          const away = 2 * 3_600_000
          const [before, after] = [atMs - away, atMs + away].map((each) =>
            inWeek(wallClockIn(timeZone, each)),
          )
          expect(((after ?? 0) - (before ?? 0) + 10_080) % 10_080).not.toBe(240)
        }
      },
    ),
    { seed: 73, numRuns: 3_000 },
  )
  expect(held).toBeGreaterThan(500)
})
