import { expect, test } from 'vitest'
import { createEquityTracker } from '../../src/account/equity/equity.ts'
import { createAccountJournal } from '../../src/account/halts/accountJournal.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { usd } from '../../src/protocol/units.ts'
import { isOfToday } from '../../src/risk/breakers/circuitBreakers.ts'
import { manualClock } from '../support/venue.ts'

const noonMs = Date.UTC(2026, 10, 20, 12)
const second = 1_000

test('a payment that no list shows yet makes neither the day’s first figure low nor a loss', async () => {
  const clock = manualClock(noonMs)
  const tracker = createEquityTracker(createAccountJournal({ journal: createMemoryJournal(), clock }))
  // The wallet has paid $200 already, the position is in no list: low without, high with what is in flight.
  await tracker.take({ lowUsd: usd(800), highUsd: usd(1_000) }, noonMs)
  await tracker.take({ lowUsd: usd(1_000), highUsd: usd(1_000) }, noonMs + 5 * second)
  expect(tracker.mark()).toMatchObject({ equityUsd: usd(1_000), dayStartUsd: usd(800) })
  for (let at = 10; at <= 120; at += 5) {
    await tracker.take({ lowUsd: usd(1_000), highUsd: usd(1_000) }, noonMs + at * second)
  }
  expect(tracker.mark()).toMatchObject({ dayStartUsd: usd(1_000), peakUsd: usd(1_000) })
})

test('what is won later in the day is a gain of the day', async () => {
  const clock = manualClock(noonMs)
  const tracker = createEquityTracker(createAccountJournal({ journal: createMemoryJournal(), clock }))
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

/** Takes readings of every five seconds; gives the figure after each. */
async function figures(readings: readonly number[], onJump: () => void = () => undefined) {
  const clock = manualClock(noonMs)
  const accountJournal = createAccountJournal({ journal: createMemoryJournal(), clock })
  const tracker = createEquityTracker(accountJournal, onJump)
  const seen: number[] = []
  for (const [index, worth] of readings.entries()) {
    await tracker.take({ lowUsd: usd(worth), highUsd: usd(worth) }, noonMs + index * 5 * second)
    seen.push(Number((tracker.mark()?.equityUsd ?? 0n) / usd(1)))
  }
  return { seen, mark: tracker.mark() }
}

const calm = Array.from({ length: 20 }, () => 1_000)

test('one lie in four hides no loss, and half of the readings do not either', async () => {
  for (const every of [4, 3, 2]) {
    const lost = Array.from({ length: 30 }, (_, index) => (index % every === 0 ? 1_000 : 500))
    expect((await figures([...calm, ...lost])).seen.at(-1)).toBe(500)
  }
})

test('one glitch, or half a minute of lists that miss a part, is no loss', async () => {
  for (const length of [1, 2, 6]) {
    const { seen } = await figures([...calm, ...Array.from({ length }, () => 10), ...calm])
    expect(Math.min(...seen)).toBe(1_000)
  }
  // Of a process that has just begun, too.
  expect((await figures([1_000, 10, 1_000, 1_000])).seen).toEqual([1_000, 1_000, 1_000, 1_000])
})

test('a deposit makes no peak that the figure has not reached', async () => {
  const clock = manualClock(noonMs)
  const tracker = createEquityTracker(createAccountJournal({ journal: createMemoryJournal(), clock }))
  for (let at = 0; at <= 400; at += 5) {
    const worth = at < 200 ? usd(1_000) : usd(3_000)
    await tracker.take({ lowUsd: worth, highUsd: worth }, noonMs + at * second)
    const { peakUsd = 0n, equityUsd = 0n } = tracker.mark() ?? {}
    expect(peakUsd).toBeLessThanOrEqual(equityUsd)
  }
})

test('a reading that jumps is told once while it lasts', async () => {
  let jumps = 0
  await figures([...calm, 10, 10, 1_000, 1_000, 3_000, 1_000], () => {
    jumps += 1
  })
  expect(jumps).toBe(2)
})

test('a host of two that shows more than there is hides no loss of the other’s, from the first reading or later', async () => {
  for (const liesFrom of [0, 20]) {
    const clock = manualClock(noonMs)
    const tracker = createEquityTracker(createAccountJournal({ journal: createMemoryJournal(), clock }))
    for (let index = 0; index < 60; index += 1) {
      const worth = index < 30 ? 1_000 : 700
      const shown = index >= liesFrom ? 1_500 : worth
      const nowMs = noonMs + index * 5 * second
      await tracker.take({ lowUsd: usd(shown), highUsd: usd(shown) }, nowMs, 'liar')
      await tracker.take({ lowUsd: usd(worth), highUsd: usd(worth) }, nowMs, 'honest')
    }
    expect(tracker.mark()).toMatchObject({ dayStartUsd: usd(1_000), equityUsd: usd(700) })
    expect(tracker.worthUsd()).toBe(usd(700))
  }
})

test('a host that is read no more says nothing any more, and hosts a cent apart write no more than one', async () => {
  const clock = manualClock(noonMs)
  const journal = createMemoryJournal()
  const tracker = createEquityTracker(createAccountJournal({ journal, clock }))
  for (let index = 0; index < 60; index += 1) {
    const nowMs = noonMs + index * 5 * second
    const [one, other] = index % 2 === 0 ? [100_000, 100_001] : [100_001, 100_000]
    await tracker.take({ lowUsd: usd(one), highUsd: usd(one) }, nowMs, 'one')
    if (index < 30) await tracker.take({ lowUsd: usd(other), highUsd: usd(other) }, nowMs, 'other')
    if (index >= 30 && index < 34) await tracker.take({ lowUsd: usd(1), highUsd: usd(1) }, nowMs, 'other')
  }
  expect(tracker.worthUsd()).toBeGreaterThanOrEqual(usd(100_000))
  expect(journal.summary().records).toBeLessThan(6)
})

/** Readings a minute apart, each worth so much at so many minutes after noon; gives what is lost of the day after the last. */
async function lossAfter(readings: readonly (readonly [minute: number, worth: number])[]) {
  const clock = manualClock(noonMs)
  const tracker = createEquityTracker(createAccountJournal({ journal: createMemoryJournal(), clock }))
  let atMs = 0
  for (const [minute, worth] of readings) {
    atMs = noonMs + minute * 60 * second
    await tracker.take({ lowUsd: usd(worth), highUsd: usd(worth) }, atMs)
  }
  const mark = tracker.mark()
  if (mark === undefined || !isOfToday(mark, atMs)) return undefined
  return Number((mark.dayStartUsd - mark.equityUsd) / usd(1))
}
const minutes = (from: number, to: number, worth: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => [from + index, worth] as const)
const day = 1_440

test('a loss of a day that a clock a day ahead began counts after the step back, and ends with that day', async () => {
  const before = [...minutes(day - 700, day - 690, 1_000), ...minutes(day - 690, day - 650, 900)]
  expect(await lossAfter(before)).toBe(100)
  // Set back by a day at 01:10 of the day ahead.
  expect(await lossAfter([...before, ...minutes(-650, 700, 900)])).toBe(100)
  expect(await lossAfter([...before, ...minutes(-650, 725, 900)])).toBe(0)
})

test('a day that a clock hours or a day behind passes again forgets no loss', async () => {
  const before = [...minutes(0, 10, 1_000), ...minutes(11, 60, 900)]
  // Behind by a day for half an hour, and right again.
  expect(await lossAfter([...before, ...minutes(60 - day, 90 - day, 900), ...minutes(90, 120, 900)])).toBe(
    100,
  )
  // Behind by two hours over midnight.
  const early = [...minutes(-715, -700, 1_000), ...minutes(-699, -660, 900)]
  expect(await lossAfter([...early, ...minutes(-780, -700, 900), ...minutes(-580, -560, 900)])).toBe(100)
})
