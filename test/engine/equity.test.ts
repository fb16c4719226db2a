import { expect, test } from 'vitest'
import { usd } from '../../src/domain/units.ts'
import { createAccountBook } from '../../src/engine/accountBook.ts'
import { createEquityTracker } from '../../src/engine/equity.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { manualClock } from '../support/venue.ts'

const noonMs = Date.UTC(2026, 10, 20, 12)
const second = 1_000

test('a payment that no list shows yet makes neither the day’s first figure low nor a loss', async () => {
  const clock = manualClock(noonMs)
  const tracker = createEquityTracker(createAccountBook({ journal: createMemoryJournal(), clock }))
  // The wallet has paid $200 already, the position is in no list: low without, high with what is in flight.
  await tracker.take({ lowUsd: usd(800), highUsd: usd(1_000) }, noonMs)
  await tracker.take({ lowUsd: usd(1_000), highUsd: usd(1_000) }, noonMs + 5 * second)
  expect(tracker.mark()).toMatchObject({ equityUsd: usd(1_000), dayStartUsd: usd(800) })
  for (let at = 10; at <= 60; at += 5) {
    await tracker.take({ lowUsd: usd(1_000), highUsd: usd(1_000) }, noonMs + at * second)
  }
  expect(tracker.mark()).toMatchObject({ dayStartUsd: usd(1_000), peakUsd: usd(1_000) })
})

test('what is won later in the day is a gain of the day', async () => {
  const clock = manualClock(noonMs)
  const tracker = createEquityTracker(createAccountBook({ journal: createMemoryJournal(), clock }))
  for (let at = 0; at <= 200; at += 5) {
    const worth = at < 100 ? usd(1_000) : usd(1_100)
    await tracker.take({ lowUsd: worth, highUsd: worth }, noonMs + at * second)
  }
  expect(tracker.mark()).toMatchObject({
    equityUsd: usd(1_100),
    dayStartUsd: usd(1_000),
    peakUsd: usd(1_100),
  })
})
