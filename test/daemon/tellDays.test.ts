/** The timer of the daily summary: it looks by itself, tells a day once from that day's books alone, and looks no more once it was ended. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { noFigures } from '../../src/books/figures.ts'
import type { Config } from '../../src/config/configTypes.ts'
import { tellDays } from '../../src/daemon/notices/tellDays.ts'
import type { Notice } from '../../src/monitor/events/notice.ts'
import { usd } from '../../src/protocol/units.ts'

const dayMs = Date.UTC(2026, 10, 22)
const hourMs = 3_600_000

beforeEach(() => void vi.useFakeTimers({ now: dayMs + 23 * hourMs }))
afterEach(() => void vi.useRealTimers())

/** Begins to look; gives what was told, and what ends it. */
function begin(summaryHourUtc: number | undefined) {
  const told: Notice[] = []
  const row = (ofDayMs: number, dollars: number) => ({
    dayMs: ofDayMs,
    strategy: 'trend',
    figures: { ...noFigures, pricePnlUsd: usd(dollars) },
  })
  const end = tellDays({ notify: { summaryHourUtc } } as unknown as Config, {
    tell: (notice) => void told.push(notice),
    books: () => ({
      days: (sinceMs: number) =>
        [row(dayMs, 7), row(dayMs + 24 * hourMs, 30)].filter((each) => each.dayMs >= sinceMs) as never,
    }),
    status: () => ({
      positions: [],
      symbols: {},
      openIntents: [],
      openOrders: 0,
      unresolved: 0,
      discrepancies: [],
      exposureUsd: 0n,
      tradingState: 'active',
    }),
    clock: { now: Date.now },
  })
  return { told, end }
}

test('the day before is told within half a minute of its hour, once, and the next one a day later', () => {
  const { told, end } = begin(2)
  vi.advanceTimersByTime(3 * hourMs - 1_000)
  expect(told).toEqual([])
  vi.advanceTimersByTime(30_000)
  expect(told.map(({ cause, text }) => [cause, text.includes('PnL +$7.00')])).toEqual([
    ['summary:2026-11-22', true],
  ])
  vi.advanceTimersByTime(23 * hourMs)
  expect(told).toHaveLength(1)
  vi.advanceTimersByTime(hourMs)
  expect(told.map(({ text }) => text.includes('PnL +$30.00'))).toEqual([false, true])
  end()
  vi.advanceTimersByTime(48 * hourMs)
  expect(told).toHaveLength(2)
})

test('where no hour is set nothing is told', () => {
  const { told, end } = begin(undefined)
  vi.advanceTimersByTime(72 * hourMs)
  expect(told).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
  end()
})
