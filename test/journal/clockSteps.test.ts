/** Windows over stamps of a clock that was ahead or behind: what counts, and for how long. */
import { expect, test } from 'vitest'
import { createLedger } from '../../src/journal/journalLedger.ts'
import { createMemoryJournal, createMemoryStore } from '../../src/journal/memory.ts'
import { recoverLedger } from '../../src/journal/recoverLedger.ts'
import { manualClock } from '../support/venue.ts'
import { storyOf } from './story.ts'

const startMs = Date.UTC(2026, 10, 20, 12)
const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000]

/** A journal whose owner looks at its clock before it accepts anything, as admission does. */
function bench(journal = createMemoryJournal()) {
  const clock = manualClock(startMs)
  let n = 0
  const accept = async () => {
    n += 1
    journal.lookAt(clock)
    await journal.append(storyOf(n, { acceptedAtMs: clock.now() }).accepted())
  }
  const within = (spanMs: number) => {
    journal.lookAt(clock)
    return journal.acceptedSince(clock.now() - spanMs).length
  }
  return { clock, journal, accept, within }
}

test('a window takes in each acceptance and loses what leaves it to the millisecond, however often it is asked for', async () => {
  const { clock, accept, within } = bench()
  const both = () => [within(hourMs), within(dayMs), within(hourMs), within(dayMs)]
  expect(both()).toEqual([0, 0, 0, 0])
  await accept()
  expect(both()).toEqual([1, 1, 1, 1])
  await clock.advance(minuteMs)
  await accept()
  expect(both()).toEqual([2, 2, 2, 2])
  await clock.advance(59 * minuteMs)
  expect(both()).toEqual([2, 2, 2, 2])
  await clock.advance(1)
  expect(both()).toEqual([1, 2, 1, 2])
  await clock.advance(minuteMs)
  await accept()
  expect(both()).toEqual([1, 3, 1, 3])
  clock.setBack(30 * minuteMs)
  expect(both()).toEqual([1, 3, 1, 3])
  await clock.advance(dayMs)
  expect(both()).toEqual([0, 1, 0, 1])
})

test('ends of a day are all that ended until now and none that is older, however often they are asked for', async () => {
  const { clock, journal } = bench()
  const end = async (n: number) => {
    const { accepted, closed } = storyOf(n, { acceptedAtMs: clock.now() })
    await journal.append(accepted())
    await journal.append({ ...closed(), atMs: clock.now() })
  }
  const ends = () => journal.endingsSince(clock.now() - dayMs).length
  expect(ends()).toBe(0)
  await end(1)
  expect(ends()).toBe(1)
  await clock.advance(minuteMs)
  await end(2)
  expect([ends(), journal.closedFills().length, journal.openIntents().length]).toEqual([2, 0, 0])
  await clock.advance(dayMs - minuteMs)
  expect(ends()).toBe(2)
  await clock.advance(1)
  expect(ends()).toBe(1)
  await clock.advance(minuteMs)
  expect(ends()).toBe(0)
})

test('what was accepted by a clock a day ahead counts for the rest of its hour after the step back, and no longer', async () => {
  const { clock, accept, within } = bench()
  await accept()
  await clock.advance(50 * minuteMs)
  await accept()
  clock.setBack(dayMs)
  expect(within(hourMs)).toBe(2)
  await clock.advance(11 * minuteMs)
  expect(within(hourMs)).toBe(1)
  await clock.advance(50 * minuteMs)
  expect(within(hourMs)).toBe(0)
  expect(within(dayMs)).toBe(2)
  // The clock reaches the times that it wrote while it was ahead.
  await clock.advance(dayMs)
  expect([within(hourMs), within(dayMs)]).toEqual([0, 0])
})

test('a clock that goes back wrongly and comes forth again neither forgets an order nor keeps one', async () => {
  const { clock, accept, within } = bench()
  await accept()
  await clock.advance(10 * minuteMs)
  clock.setBack(dayMs)
  await accept()
  await clock.advance(10 * minuteMs)
  expect(within(hourMs)).toBe(2)
  clock.setBack(-dayMs)
  expect(within(hourMs)).toBe(2)
  await clock.advance(41 * minuteMs)
  expect(within(hourMs)).toBe(1)
  await clock.advance(10 * minuteMs)
  expect(within(hourMs)).toBe(0)
})

test('a clock that went forth wrongly and comes back makes nothing older that was written before', async () => {
  for (const backMs of [2 * hourMs, 2 * hourMs + minuteMs]) {
    const { clock, accept, within } = bench()
    await accept()
    await clock.advance(10 * minuteMs)
    clock.setBack(-2 * hourMs)
    await accept()
    await clock.advance(10 * minuteMs)
    clock.setBack(backMs)
    expect(within(hourMs)).toBe(2)
    await accept()
    expect(within(hourMs)).toBe(3)
    await clock.advance(41 * minuteMs)
    expect(within(hourMs)).toBe(2)
    await clock.advance(20 * minuteMs)
    expect(within(hourMs)).toBe(0)
  }
})

test('a step that a record shows before anybody looked is measured once', async () => {
  const { clock, journal, accept, within } = bench()
  await accept()
  await clock.advance(20 * minuteMs)
  clock.setBack(dayMs)
  await journal.append(storyOf(9, { acceptedAtMs: clock.now() }).accepted())
  expect(within(hourMs)).toBe(2)
  await clock.advance(41 * minuteMs)
  expect(within(hourMs)).toBe(1)
})

test('a machine that slept is no step: what is old by then is old', async () => {
  const { clock, accept, within } = bench()
  await accept()
  clock.setBack(-2 * hourMs)
  expect([within(hourMs), within(dayMs)]).toEqual([0, 1])
})

test('ends count by the same rule, with the times that they have by the clock of now', async () => {
  const { clock, journal } = bench()
  const end = async (n: number) => {
    const atMs = clock.now()
    journal.lookAt(clock)
    const { accepted, closed } = storyOf(n, { acceptedAtMs: atMs })
    await journal.append(accepted())
    await journal.append({ ...closed(), atMs })
  }
  await end(1)
  await clock.advance(minuteMs)
  clock.setBack(dayMs)
  const ends = () => {
    journal.lookAt(clock)
    return journal.endingsSince(clock.now() - dayMs).map(({ closedAtMs }) => clock.now() - closedAtMs)
  }
  expect(ends()).toEqual([minuteMs])
  expect(journal.setBackSince('intent-1')).toBe(dayMs)
  await clock.advance(dayMs)
  expect(ends()).toEqual([])
  await end(2)
  expect(ends()).toEqual([0])
  expect(journal.setBackSince('intent-2')).toBe(0)
})

test('over a restart a clock that was set back and came forth again between two records makes nothing older', async () => {
  const store = createMemoryStore()
  const { clock, accept } = bench(createMemoryJournal(store))
  await accept()
  await clock.advance(minuteMs)
  clock.setBack(2 * minuteMs)
  await accept()
  clock.setBack(-2 * minuteMs)
  await clock.advance(1_000)
  await accept()
  const { ledger } = await recoverLedger(store, clock.now())
  const within = (spanMs: number) => {
    ledger.lookAt(clock)
    return ledger.acceptedSince(clock.now() - spanMs).length
  }
  expect(within(hourMs)).toBe(3)
  await clock.advance(58 * minuteMs)
  expect(within(hourMs)).toBe(3)
  await clock.advance(minuteMs)
  expect(within(hourMs)).toBe(1)
  await clock.advance(minuteMs + 1)
  expect(within(hourMs)).toBe(0)
})

test('over a restart, by records or by a snapshot, a step counts as of the first sign of it', async () => {
  const store = createMemoryStore()
  const { clock, accept } = bench(createMemoryJournal(store))
  await accept()
  await clock.advance(10 * minuteMs)
  await accept()
  clock.setBack(dayMs)
  const kept = createLedger()
  for await (const page of store.read(0)) for (const { record } of page) kept.fold(record)
  const { ledger: replayed } = await recoverLedger(store, clock.now())
  await store.keep(kept.snapshot())
  const { ledger: recalled } = await recoverLedger(store, clock.now())
  const within = (spanMs: number) =>
    [replayed, recalled].map((ledger) => {
      ledger.lookAt(clock)
      return ledger.acceptedSince(clock.now() - spanMs).length
    })
  expect(within(hourMs)).toEqual([2, 2])
  await clock.advance(51 * minuteMs)
  expect(within(hourMs)).toEqual([1, 1])
  await clock.advance(10 * minuteMs)
  expect(within(hourMs)).toEqual([0, 0])
  await clock.advance(dayMs)
  expect(within(dayMs)).toEqual([0, 0])
})
