/** The summary of a day: when it is due, and that its figures are those of the books. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { noFigures } from '../../src/books/figures.ts'
import { createSummaryClock, type SummaryParts, summaryNotice } from '../../src/notify/daySummary.ts'
import { messageOf } from '../../src/notify/message.ts'
import { summaryPlaceholders } from '../../src/notify/summaryPlaceholders.ts'
import { usd } from '../../src/protocol/units.ts'

const dayMs = Date.UTC(2026, 10, 22)
const hourMs = 3_600_000
const market = '0xABCDEF0000000000000000000000000000000001' as const
const quiet: SummaryParts['status'] = {
  positions: [],
  symbols: { [market.toLowerCase()]: 'ETH/USD' },
  openOrders: 0,
  unresolved: 0,
  discrepancies: [],
  exposureUsd: 0n,
  tradingState: 'active',
}

test('a day is told once its hour has come, once, and by no start after that hour', () => {
  const due = createSummaryClock(7, dayMs + 30 * hourMs)
  expect(due(dayMs + 30.9 * hourMs)).toBeUndefined()
  expect(due(dayMs + 31 * hourMs)).toBe(dayMs)
  expect(due(dayMs + 31.1 * hourMs)).toBeUndefined()
  // The clock is set back, and goes over the hour again.
  expect(due(dayMs + 30 * hourMs)).toBeUndefined()
  expect(due(dayMs + 31 * hourMs)).toBeUndefined()
  const restarted = createSummaryClock(7, dayMs + 31.2 * hourMs)
  expect(restarted(dayMs + 54.9 * hourMs)).toBeUndefined()
  expect(restarted(dayMs + 55 * hourMs)).toBe(dayMs + 24 * hourMs)
})

test('whenever it is looked at, and however often perpd starts anew, no day is told twice and each told day is over', () => {
  const step = fc.record({ afterMs: fc.integer({ min: 0, max: 40 * hourMs }), isRestart: fc.boolean() })
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 23 }), fc.array(step, { maxLength: 40 }), (hour, steps) => {
      let nowMs = dayMs
      let due = createSummaryClock(hour, nowMs)
      const told: number[] = []
      for (const { afterMs, isRestart } of steps) {
        nowMs += afterMs
        if (isRestart) due = createSummaryClock(hour, nowMs)
        const day = due(nowMs)
        if (day === undefined) continue
        expect(day + 24 * hourMs + hour * hourMs).toBeLessThanOrEqual(nowMs)
        expect(day % (24 * hourMs)).toBe(0)
        told.push(day)
      }
      expect(new Set(told).size).toBe(told.length)
    }),
  )
})

test('its figures are the sums of the books, and what is unresolved asks for somebody', () => {
  const figures = {
    ...noFigures,
    pricePnlUsd: usd(20),
    positionFeesUsd: usd(3),
    relayFeesUsd: usd('0.5'),
    fills: 2,
  }
  const notice = summaryNotice({
    dayMs,
    books: [
      { strategy: 'trend', figures: { ...figures, trades: 1, wins: 1 } },
      { strategy: 'trend', figures: { ...noFigures, pricePnlUsd: usd(-5), trades: 1 } },
      { strategy: 'grid', figures: { ...noFigures, fundingUsd: usd(1), fills: 1 } },
    ],
    status: {
      ...quiet,
      positions: [
        {
          ...{ marketToken: market, direction: 'long', sizeInUsd: usd(1_500) },
          ...{ pnlAfterFeesUsd: usd('-12.25'), pnlAfterAllFeesUsd: usd('-14') },
        },
      ],
      openOrders: 2,
      unresolved: 1,
      discrepancies: [1, 2],
      exposureUsd: usd(1_700),
      equity: { equityUsd: usd(9_000) },
      transfers: [
        { atMs: dayMs - 1, amountUsd: usd(7) },
        { atMs: dayMs, amountUsd: usd(100) },
        { atMs: dayMs + 5, amountUsd: usd(20) },
        { atMs: dayMs + 6, amountUsd: usd(-30) },
      ],
    },
  })
  expect(notice.text).toBe(
    [
      '2026-11-22 (UTC): 3 fills, 1 of 2 trades won',
      'PnL +$10.50 after all costs, fees $4.50 of them',
      'By strategy: trend +$11.50, grid -$1.00',
      'Held: long ETH/USD $1,500.00; PnL if closed -$14.00',
      'Open orders 2, notional $1,700.00, equity $9,000.00, $120.00 deposited, $30.00 withdrawn, trading active',
      'Unresolved: 1 order with an unknown fate, 2 discrepancies',
    ].join('\n'),
  )
  expect(notice.action).toContain('perpd discrepancies')
})

test('where the venue does not say what closing costs, the PnL of what is held is told to be before that', () => {
  const [one, other] = [{ pnlAfterFeesUsd: usd(3), pnlAfterAllFeesUsd: usd(1) }, { pnlAfterFeesUsd: usd(5) }]
  const text = (positions: readonly object[]): string =>
    summaryNotice(
      { dayMs, books: [], status: { ...quiet, positions: positions as SummaryParts['status']['positions'] } },
      '{unrealized}',
    ).text
  const row = { marketToken: market, direction: 'long', sizeInUsd: usd(10) }
  expect(text([{ ...row, ...one }])).toBe('+$1.00')
  expect(
    text([
      { ...row, ...one },
      { ...row, ...other },
    ]),
  ).toBe('+$6.00 before costs of closing')
})

test('a day without anything is told too, by a template as well, and asks for nobody', () => {
  const notice = summaryNotice({ dayMs, books: [], status: quiet }, '{day}: {pnl}, {positions}, {unresolved}')
  expect(notice.text).toBe('2026-11-22: +$0.00, nothing, nothing')
  const { text } = messageOf(notice, 1, { profile: 'paper', consoleUrl: 'https://perpd.example/console/' })
  expect(text).toBe(
    '2026-11-22: +$0.00, nothing, nothing\nNo action is needed.\nhttps://perpd.example/console/',
  )
})

test('the guide names every placeholder of a summary, and no other', () => {
  const guide = readFileSync(new URL('../../docs/reference/notifications.md', import.meta.url), 'utf8')
  const [, named = ''] = /\nIt may hold ([^#]*?)\n\n/.exec(guide) ?? []
  expect([...named.matchAll(/`\{(\w+)\}`/g)].map(([, name]) => name)).toEqual([...summaryPlaceholders])
})
