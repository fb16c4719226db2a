/** The `protect` block of strategy files: when a strategy adds nothing, whatever else would let it. */
import { expect, test } from 'vitest'
import { noTrackRecord, type TrackRecord } from '../../src/books/trackRecord.ts'
import { weekdays } from '../../src/domain/limits/closingTimes.ts'
import type { Protections } from '../../src/domain/limits/protection.ts'
import type { AnyRecord } from '../../src/domain/records.ts'
import { createLedger } from '../../src/journal/journalLedger.ts'
import { hexKey } from '../../src/protocol/address.ts'
import { usd } from '../../src/protocol/units.ts'
import { admit } from '../../src/risk/admit.ts'
import { takesBack } from '../../src/risk/checks/protectCheck.ts'
import { executed, type Fill, raised, resumed, side } from '../books/history.ts'
import { close, desk, increase, MARKET, NOW_MS, OTHER_MARKET, position, snapshot } from './world.ts'

const minuteMs = 60_000

function codeOf(rules: Protections, track: Partial<TrackRecord> = {}, nowMs = NOW_MS, openUsd = 0n): string {
  const context = desk({ protection: { rules, track: { ...noTrackRecord, ...track }, openUsd }, nowMs })
  const admission = admit(increase(), context)
  return admission.kind === 'denial' ? admission.denial.code : 'admitted'
}

test('after an exit nothing is added on that market until the cooldown is over', () => {
  const rules = { cooldownMs: 10 * minuteMs }
  const left = (market: string, agoMs: number) => ({
    exitsMs: new Map([[hexKey(market as never), NOW_MS - agoMs]]),
  })
  expect(codeOf(rules, left(MARKET, minuteMs))).toBe('COOLDOWN_AFTER_EXIT')
  expect(codeOf(rules, left(MARKET, 10 * minuteMs - 1))).toBe('COOLDOWN_AFTER_EXIT')
  expect(codeOf(rules, left(MARKET, 10 * minuteMs))).toBe('admitted')
  expect(codeOf(rules, left(OTHER_MARKET, minuteMs))).toBe('admitted')
})

test('an exit that a clock a few seconds off has not reached holds as one of now does', () => {
  const seconds = new Map([[hexKey(MARKET as never), NOW_MS + 3_000]])
  expect(codeOf({ cooldownMs: 10 * minuteMs }, { exitsMs: seconds })).toBe('COOLDOWN_AFTER_EXIT')
})

test('after so many stops in a window nothing is added for the pause, from the newest of them', () => {
  const rules = { stops: { count: 2, windowMs: 60 * minuteMs, pauseMs: 30 * minuteMs } }
  const ago = (...minutes: number[]) => ({ stopsMs: minutes.map((each) => NOW_MS - each * minuteMs) })
  expect(codeOf(rules, ago(5))).toBe('admitted')
  expect(codeOf(rules, ago(64, 5))).toBe('STOPS_IN_WINDOW')
  expect(codeOf(rules, ago(66, 5))).toBe('admitted')
  // The window need not reach until now: the pause begins with the stop that filled it.
  expect(codeOf(rules, ago(80, 29))).toBe('STOPS_IN_WINDOW')
  expect(codeOf(rules, ago(80, 30))).toBe('admitted')
  // A later one that is alone ends no pause.
  expect(codeOf({ stops: { ...rules.stops, windowMs: minuteMs } }, ago(20, 20, 1))).toBe('STOPS_IN_WINDOW')
})

test('a strategy whose realized result fell too far below its highest adds nothing', () => {
  const rules = { maxDrawdownUsd: usd(100) }
  expect(codeOf(rules, { peakUsd: usd(50), resultUsd: usd(-49) })).toBe('admitted')
  expect(codeOf(rules, { peakUsd: usd(50), resultUsd: usd(-50) })).toBe('STRATEGY_DRAWDOWN')
})

test('what its open parts have lost counts for its drawdown as long as it lasts, and what they have gained for nothing', () => {
  const rules = { maxDrawdownUsd: usd(100) }
  const track = { peakUsd: usd(50), resultUsd: usd(10) }
  const told = (openUsd: bigint) => {
    const protection = { rules, track: { ...noTrackRecord, ...track }, openUsd }
    const admission = admit(increase(), desk({ protection }))
    return admission.kind === 'denial' ? admission.denial : undefined
  }
  expect(told(usd(-59))).toBeUndefined()
  expect(told(usd(-60))).toMatchObject({ code: 'STRATEGY_DRAWDOWN', wanted: '$100.00 below' })
  expect(told(usd(-60))?.reason).toContain('an open loss of $60.00')
  expect(codeOf(rules, { peakUsd: usd(50), resultUsd: usd(-50) }, NOW_MS, usd(500))).toBe('STRATEGY_DRAWDOWN')
})

const berlin = {
  timeZone: 'Europe/Berlin',
  open: [{ days: ['mon', 'tue'], fromMinute: 540, toMinute: 1_020 }],
} as const

test.each([
  // Winter: Berlin is an hour ahead of UTC.
  ['2027-01-18T07:59:59Z', 'OUTSIDE_TRADING_WINDOW'],
  ['2027-01-18T08:00:00Z', 'admitted'],
  ['2027-01-18T15:59:59Z', 'admitted'],
  ['2027-01-18T16:00:00Z', 'OUTSIDE_TRADING_WINDOW'],
  // A Wednesday.
  ['2027-01-20T09:00:00Z', 'OUTSIDE_TRADING_WINDOW'],
  // Summer: two hours ahead.
  ['2027-07-19T07:00:00Z', 'admitted'],
  ['2027-07-19T15:00:00Z', 'OUTSIDE_TRADING_WINDOW'],
])('trading windows follow the wall clock of their zone: at %s %s', (at, expected) => {
  expect(codeOf({ windows: berlin }, {}, Date.parse(at))).toBe(expected)
})

test.each([
  ['2027-01-22T21:59:00Z', 'OUTSIDE_TRADING_WINDOW'],
  ['2027-01-22T22:00:00Z', 'admitted'],
  ['2027-01-23T01:59:00Z', 'admitted'],
  ['2027-01-23T02:00:00Z', 'OUTSIDE_TRADING_WINDOW'],
  // The night before: it begins on Fridays alone.
  ['2027-01-22T01:00:00Z', 'OUTSIDE_TRADING_WINDOW'],
])('a window over midnight belongs to the day on which it begins: at %s %s', (at, expected) => {
  const open = [{ days: ['fri'], fromMinute: 1_320, toMinute: 120 }] as const
  expect(codeOf({ windows: { timeZone: 'UTC', open } }, {}, Date.parse(at))).toBe(expected)
})

test('around a closing of its file nothing is added, and the denial says which and when', () => {
  const span = { from: { weekday: 'fri', minute: 1_020 }, to: { weekday: 'sun', minute: 1_080 } } as const
  const closings = { timeZone: 'America/New_York', spans: [span], beforeMs: 30 * minuteMs, afterMs: 0 }
  const rules = { closings }
  const told = (at: string) => {
    const protection = { rules, track: noTrackRecord, openUsd: 0n }
    const admission = admit(increase(), desk({ protection, nowMs: Date.parse(at) }))
    return admission.kind === 'denial' ? admission.denial : undefined
  }
  expect(codeOf(rules, {}, Date.parse('2027-01-22T21:29:00Z'))).toBe('admitted')
  expect(told('2027-01-22T21:45:00Z')).toEqual({
    code: 'AROUND_CLOSING',
    reason: 'its markets close in 900 s; its file allows no increases then (time zone America/New_York)',
    wanted: 'fri 16:45',
    allowed: 'not from 30 min before fri 17:00 to 0 min after sun 18:00 (protect.closings)',
  })
  expect(told('2027-01-23T12:00:00Z')?.reason).toContain('its markets are closed')
  expect(codeOf(rules, {}, Date.parse('2027-01-24T23:00:00Z'))).toBe('admitted')
  const late = { closings: { ...closings, afterMs: 10 * minuteMs } }
  expect(codeOf(late, {}, Date.parse('2027-01-24T23:05:00Z'))).toBe('AROUND_CLOSING')
})

test('no protection keeps a reduction back', () => {
  const rules: Protections = {
    cooldownMs: minuteMs,
    stops: { count: 1, windowMs: minuteMs, pauseMs: minuteMs },
    maxDrawdownUsd: 1n,
    windows: { timeZone: 'UTC', open: [] },
    closings: {
      timeZone: 'UTC',
      spans: [{ from: { weekday: 'mon', minute: 0 }, to: { weekday: 'sun', minute: 1_439 } }],
      beforeMs: minuteMs * 60,
      afterMs: minuteMs * 60,
    },
  }
  const track = {
    ...noTrackRecord,
    peakUsd: usd(9),
    stopsMs: [NOW_MS],
    exitsMs: new Map([[hexKey(MARKET), NOW_MS]]),
  }
  const held = snapshot({ positions: [position()] })
  expect(admit(close(), desk({ snapshot: held, protection: { rules, track, openUsd: usd(-9) } })).kind).toBe(
    'intent',
  )
})

const eth = 10n ** 18n
const startMs = 1_800_000_000_000

/** One ETH in at 2,000 and out again with a loss of 30, by an order of this type. */
function lossAt(n: number, atMs: number, orderType: 'market' | 'stop-loss', isProvisional = false) {
  const whole = { sizeDeltaUsd: usd(2_000), sizeDeltaInTokens: eth }
  const out: Fill = {
    n: n + 1,
    kind: 'decrease',
    atMs,
    isProvisional,
    terms: { orderType },
    settlement: { ...whole, pnlUsd: usd(-30), basePnlUsd: usd(-30) },
  }
  return [
    ...executed({ n, atMs: atMs - 1, settlement: { ...whole, executionPrice: usd(2_000) } }),
    ...executed(out),
  ]
}

function trackAfter(...records: readonly AnyRecord[]): TrackRecord {
  const ledger = createLedger()
  for (const record of records) ledger.fold(record)
  return ledger.books().trackOf('trend')
}

test('exits, stops and the fall from the highest are folded from the journal, what may be taken back too', () => {
  const market = hexKey(side.marketToken)
  expect(trackAfter(...lossAt(1, startMs, 'market'))).toMatchObject({
    resultUsd: usd(-30),
    peakUsd: 0n,
    exitsMs: new Map([[market, startMs]]),
    stopsMs: [],
  })
  const stopped = trackAfter(...lossAt(1, startMs, 'stop-loss'), ...lossAt(3, startMs + 9, 'stop-loss', true))
  expect(stopped).toMatchObject({ resultUsd: usd(-60), stopsMs: [startMs, startMs + 9] })
})

test('the market was left when the last of its reductions came, in whatever order they are told', () => {
  const half = { sizeDeltaUsd: usd(1_000), sizeDeltaInTokens: eth / 2n, pnlUsd: 0n, basePnlUsd: 0n }
  const opened = executed({
    n: 1,
    atMs: startMs,
    settlement: { sizeDeltaUsd: usd(2_000), sizeDeltaInTokens: eth, executionPrice: usd(2_000) },
  })
  const first = executed({ n: 2, kind: 'decrease', atMs: startMs + 10_000, settlement: half })
  const last = executed({ n: 3, kind: 'decrease', atMs: startMs + 40_000, settlement: half })
  const exitsMs = new Map([[hexKey(side.marketToken), startMs + 40_000]])
  expect(trackAfter(...opened, ...first, ...last)).toMatchObject({ exitsMs })
  expect(trackAfter(...opened, ...last, ...first)).toMatchObject({ exitsMs })
})

test('a reduction whose size nothing shows yet may have left the market, and a stop among them is one', () => {
  const opened = executed({
    n: 1,
    settlement: { sizeDeltaUsd: usd(2_000), sizeDeltaInTokens: eth, executionPrice: usd(2_000) },
  })
  const out = (orderType: 'market' | 'stop-loss', settlement = {}): Fill => ({
    ...{ n: 2, kind: 'decrease', atMs: startMs + 10_000, isProvisional: true, terms: { orderType } },
    settlement,
  })
  const exitsMs = new Map([[hexKey(side.marketToken), startMs + 10_000]])
  expect(trackAfter(...opened, ...executed(out('market')))).toMatchObject({ exitsMs, stopsMs: [] })
  expect(trackAfter(...opened, ...executed(out('stop-loss')))).toMatchObject({
    exitsMs,
    stopsMs: [startMs + 10_000],
  })
  const half = { sizeDeltaUsd: usd(1_000), sizeDeltaInTokens: eth / 2n, pnlUsd: 0n, basePnlUsd: 0n }
  expect(trackAfter(...opened, ...executed(out('market', half)))).toMatchObject({ exitsMs: new Map() })
})

test('a liquidation counts as a stop of those whose books it takes from', () => {
  const opened = executed({
    n: 1,
    settlement: { sizeDeltaUsd: usd(2_000), sizeDeltaInTokens: eth, executionPrice: usd(2_000) },
  })
  const gone = raised('trade:1', 'liquidation', usd(-2_000), { pnlUsd: usd(-400), atMs: startMs + 5_000 })
  expect(trackAfter(...opened, gone)).toMatchObject({ stopsMs: [startMs + 5_000] })
})

test('once an operator lets a strategy go on, exits, stops and losses before it count no more', () => {
  const track = trackAfter(...lossAt(1, startMs, 'stop-loss'), resumed('trend', startMs + 60_000))
  expect(track).toMatchObject({ resultUsd: usd(-30), peakUsd: usd(-30), stopsMs: [], exitsMs: new Map() })
  // And so does one that the chain may still take back when he does.
  const pending = trackAfter(...lossAt(1, startMs, 'stop-loss', true), resumed('trend', startMs + 60_000))
  expect(pending).toMatchObject({ resultUsd: usd(-30), peakUsd: usd(-30), stopsMs: [], exitsMs: new Map() })
  const again = trackAfter(
    ...lossAt(1, startMs, 'stop-loss'),
    resumed('trend', startMs + 60_000),
    ...lossAt(3, startMs + 120_000, 'stop-loss'),
  )
  expect(again).toMatchObject({ peakUsd: usd(-30), resultUsd: usd(-60), stopsMs: [startMs + 120_000] })
})

test('a pause after stops, the drawdown, closed windows and a closing take entries back that rest, and a cooldown does not', () => {
  const told = (rules: Protections, track: Partial<TrackRecord> = {}, openUsd = 0n) =>
    takesBack({ rules, track: { ...noTrackRecord, ...track }, openUsd }, NOW_MS)?.rule
  const hour = ((NOW_MS / 3_600_000) % 24) | 0
  const windows = (from: number, to: number): Protections => ({
    windows: {
      timeZone: 'UTC',
      open: [{ days: [...weekdays], fromMinute: from * 60, toMinute: to * 60 }],
    },
  })
  expect(told(windows(hour, hour + 1))).toBeUndefined()
  expect(told(windows((hour + 2) % 24, (hour + 3) % 24))).toBe('tradingWindows')
  const stops = { stops: { count: 1, windowMs: minuteMs, pauseMs: 30 * minuteMs } }
  expect(told(stops, { stopsMs: [NOW_MS - 29 * minuteMs] })).toBe('stopsInWindow')
  expect(told(stops, { stopsMs: [NOW_MS - 30 * minuteMs] })).toBeUndefined()
  expect(told({ maxDrawdownUsd: usd(100) }, { resultUsd: usd(-60) }, usd(-40))).toBe('maxDrawdownUsd')
  expect(told({ maxDrawdownUsd: usd(100) }, { resultUsd: usd(-60) }, usd(-39))).toBeUndefined()
  expect(
    told({ cooldownMs: 10 * minuteMs }, { exitsMs: new Map([[hexKey(MARKET as never), NOW_MS]]) }),
  ).toBeUndefined()
})
