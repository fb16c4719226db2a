/** Steps back of this machine's clock, and what is none. */
import { expect, test } from 'vitest'
import { journalClock } from '../../src/cli/doctor/daemonChecks.ts'
import { watchClock } from '../../src/daemon/notices/watchClock.ts'
import type { Event } from '../../src/domain/event.ts'
import { manualClock } from '../support/venue.ts'

const startMs = Date.UTC(2026, 10, 20, 12)
const dayMs = 86_400_000

function watched({ newestAtMs = 0, hostsAheadMs = 0 } = {}) {
  const clock = manualClock(startMs)
  const events: Event[] = []
  const ending = new AbortController()
  const end = watchClock({
    clock,
    newestAtMs,
    hostsAheadMs: () => hostsAheadMs,
    emit: (event) => events.push(event),
    signal: ending.signal,
  })
  const ended = async () => {
    ending.abort()
    await end
  }
  return { clock, events, ended }
}

test('a clock that is set back by a day is reported once, with what the hosts say', async () => {
  const { clock, events, ended } = watched({ hostsAheadMs: -400 })
  await clock.advance(60_000)
  expect(events).toEqual([])
  clock.setBack(dayMs)
  await clock.advance(60_000)
  expect(events).toEqual([
    { type: 'daemon.clockSetBack', backMs: dayMs, against: 'itself', hostsAheadMs: -400 },
  ])
  await ended()
})

test('a start before the newest record of the journal is reported', async () => {
  const { clock, events, ended } = watched({ newestAtMs: startMs + dayMs })
  await clock.advance(60_000)
  expect(events).toMatchObject([{ type: 'daemon.clockSetBack', backMs: dayMs, against: 'journal' }])
  await ended()
})

test('corrections of seconds, and a machine that slept, report nothing', async () => {
  const { clock, events, ended } = watched({ newestAtMs: startMs + 3_000 })
  for (let round = 0; round < 20; round += 1) {
    clock.setBack(4_000)
    await clock.advance(5_000)
  }
  clock.setBack(-dayMs)
  await clock.advance(60_000)
  expect(events).toEqual([])
  await ended()
})

test('doctor warns of a journal that is ahead of the clock, and of none that is seconds ahead', () => {
  expect(journalClock(startMs + dayMs, startMs)).toMatchObject([{ check: 'clock', level: 'warn' }])
  expect(journalClock(startMs + 3_000, startMs)).toEqual([])
  expect(journalClock(undefined, startMs)).toEqual([])
})
