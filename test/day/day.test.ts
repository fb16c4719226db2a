/**
 * Two simulated hours of the whole daemon at the paper venue with lists that lag, an endpoint 20 s behind and hosts that restart:
 * nothing is refused or raised that was only lag. `npm run rehearse` lives whole days.
 */
import { expect, test } from 'vitest'
import { liveDay } from './day.ts'
import { endsOf, exitsHit, increasesFilled, judge, longestDelayMs } from './judge.ts'

const HOUR_MS = 3_600_000

test('hours of lists that lag, an endpoint behind and hosts that restart refuse no increase and raise nothing', {
  timeout: 900_000,
}, async () => {
  const report = await liveDay({ seed: 2, hours: 2 })
  expect(judge(report)).toEqual([])
  // The day was what it says: lists were late, hosts were down, and all kinds of orders were executed.
  expect(report.lateAnswers).toBeGreaterThan(50)
  expect(report.refusedConnections).toBeGreaterThan(50)
  expect(increasesFilled(report)).toBeGreaterThan(10)
  for (const kind of ['close', 'edit', 'cancel'])
    expect(endsOf(report, kind).EXECUTED, kind).toBeGreaterThan(0)
  expect(exitsHit(report)).toBeGreaterThan(0)
  expect(longestDelayMs(report)).toBeLessThan(60_000)
})

test('a host that hides what is held for some minutes of such hours is found out, and both books agree after it', {
  timeout: 900_000,
}, async () => {
  const [fromMs, untilMs] = [0.3 * HOUR_MS, 0.45 * HOUR_MS]
  const hides = (host: string, path: string) =>
    host === 'api/1' && path.startsWith('/positions') ? [] : undefined
  const report = await liveDay({
    seed: 2,
    hours: 0.75,
    lie: (atMs) => (atMs >= fromMs && atMs < untilMs ? hides : undefined),
  })
  const found = report.alarms.filter((alarm) => alarm.includes('discrepancy: unexplained-position'))
  expect(found.length).toBeGreaterThan(0)
  for (const alarm of found) {
    const atMs = Number.parseInt(alarm, 10) * 1000
    expect(atMs, alarm).toBeGreaterThanOrEqual(fromMs)
    expect(atMs, alarm).toBeLessThan(untilMs + 60_000)
  }
  // It was judged by the other host and the journal, and settled itself when the lie ended.
  expect(report.status.discrepancies).toEqual([])
  expect(report.books.shown).toEqual(report.books.venue)
  expect(report.books.journal).toEqual(report.books.venue)
})
