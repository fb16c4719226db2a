/** Exits and stops that a clock a day ahead wrote: they hold increases for their wait from the step back on, and for no day more. */
import { expect, test } from 'vitest'
import { createAheadStamps } from '../../src/account/aheadStamps.ts'
import { protectionOf } from '../../src/account/fileProtection.ts'
import { noTrackRecord } from '../../src/books/trackRecord.ts'
import { hexKey } from '../../src/protocol/address.ts'
import { ethMarket } from '../support/intents.ts'
import { manualClock } from '../support/venue.ts'

const startMs = Date.UTC(2026, 10, 20, 12)
const [minuteMs, dayMs] = [60_000, 86_400_000]

test('an exit and a stop of a time to come are as old as the step back that showed them, and others as old as they are', async () => {
  const clock = manualClock(startMs)
  const stamps = createAheadStamps(clock)
  const track = {
    ...noTrackRecord,
    exitsMs: new Map([[hexKey(ethMarket), startMs + dayMs]]),
    stopsMs: [startMs - minuteMs, startMs + dayMs],
  }
  const books = { trackOf: () => track, partsOf: () => [] }
  const agesMs = () => {
    const { track: shown } = protectionOf(books, 'one', {}, { positions: { value: [] } } as never, stamps)
    return [...shown.exitsMs.values(), ...shown.stopsMs].map((atMs) => clock.now() - atMs)
  }
  expect(agesMs()).toEqual([0, minuteMs, 0])
  await clock.advance(10 * minuteMs)
  expect(agesMs()).toEqual([10 * minuteMs, 11 * minuteMs, 10 * minuteMs])
})

test('a clock that goes back wrongly makes an exit new, and one that is right again as old as it is', async () => {
  const clock = manualClock(startMs)
  const stamps = createAheadStamps(clock)
  const ageMs = () => clock.now() - stamps.settledMs(startMs)
  await clock.advance(5 * minuteMs)
  expect(ageMs()).toBe(5 * minuteMs)
  clock.setBack(dayMs)
  expect(ageMs()).toBe(0)
  await clock.advance(minuteMs)
  expect(ageMs()).toBe(minuteMs)
  clock.setBack(-dayMs)
  expect(ageMs()).toBe(6 * minuteMs)
})
