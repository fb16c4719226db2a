/** The time of a venue, which is never set back. */
import { expect, test } from 'vitest'
import { createOnwardClock } from '../../src/base/onwardClock.ts'
import { manualClock } from '../support/venue.ts'

const startMs = Date.UTC(2026, 10, 20, 12)
const dayMs = 86_400_000

test('time runs on where the clock is set back, and is the clock again where that comes forth', async () => {
  const wall = manualClock(startMs)
  const clock = createOnwardClock(wall)
  await wall.advance(10_000)
  expect(clock.now()).toBe(startMs + 10_000)
  wall.setBack(dayMs)
  await wall.advance(5_000)
  expect(clock.now()).toBe(startMs + 15_000)
  wall.setBack(-dayMs)
  await wall.advance(5_000)
  expect(clock.now()).toBe(startMs + 20_000)
  expect(clock.now()).toBe(wall.now())
})

test('a correction of less than two seconds is taken over, and no reading is lower than the one before', async () => {
  const wall = manualClock(startMs)
  const clock = createOnwardClock(wall)
  wall.setBack(1_500)
  expect(clock.now()).toBe(startMs)
  await wall.advance(10_000)
  expect(clock.now()).toBe(wall.now())
  wall.setBack(-dayMs)
  expect(clock.now()).toBe(wall.now())
})

test('time goes on from where it had come, where a start finds the clock before that', async () => {
  const wall = manualClock(startMs)
  const clock = createOnwardClock(wall, startMs + dayMs)
  expect(clock.now()).toBe(startMs + dayMs)
  await wall.advance(7_000)
  expect(clock.now()).toBe(startMs + dayMs + 7_000)
})
