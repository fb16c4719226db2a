/** The `protect` block of a strategy file: its fields, and their values in the code. */
import { z } from 'zod'
import { defined, ifDefined } from '../../base/defined.ts'
import { MOST_STOPS } from '../../books/trackRecord.ts'
import {
  type ClosedSpan,
  type ClosingMoment,
  MOST_AROUND_MS,
  type Weekday,
  weekdays,
  weeklyLength,
} from '../../domain/limits/closingTimes.ts'
import type { Protections } from '../../domain/limits/protection.ts'
import { bpsField, countField, secondsField, usdField } from '../fields.ts'

/** Longest cooldown, window and pause: a month. */
const MOST_SECONDS = 2_678_400
const dayMinutes = 1_440
const DAY_MS = 86_400_000

/** Minutes since midnight of `09:30`; `24:00` is the end of the day. */
function minuteOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number)
  return hours * 60 + minutes
}

const clockField = (most: number) =>
  z
    .string()
    .regex(/^([01]\d|2[0-4]):[0-5]\d$/, `a time of the day in quotes, from "00:00" to ${clock(most)}`)
    .transform(minuteOf)
    .refine((minute) => minute <= most, `a time of the day in quotes, from "00:00" to ${clock(most)}`)

function clock(most: number): string {
  return most === dayMinutes ? '"24:00"' : '"23:59"'
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name })
    return true
  } catch {
    return false
  }
}

const windowSchema = z
  .strictObject({
    days: z.array(z.enum(weekdays)).min(1).max(weekdays.length),
    from: clockField(dayMinutes - 1),
    to: clockField(dayMinutes),
  })
  .refine(({ from, to }) => from !== to, 'a window with different start and end times')

const momentText = 'a time of the week, like "fri 17:00", or of a date, like "2026-12-24 13:00", in quotes'
const momentForm = new RegExp(`^(${weekdays.join('|')}|\\d{4}-\\d{2}-\\d{2}) ([01]\\d|2[0-3]):[0-5]\\d$`)

const momentField = z
  .string()
  .regex(momentForm, momentText)
  .refine((text) => /^[a-z]/.test(text) || isDate(text.split(' ')[0] ?? ''), momentText)
  .transform((text): ClosingMoment => {
    const [day = '', time = ''] = text.split(' ')
    const minute = minuteOf(time)
    return /^[a-z]/.test(day) ? { weekday: day as Weekday, minute } : { date: day, minute }
  })

function isDate(text: string): boolean {
  const atMs = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(text)
}

/** Tells whether a span is valid: both ends are weekdays or both are dates, and the end is after the beginning. */
function isSpan({ from, to }: ClosedSpan): boolean {
  // The field of an invalid end has reported it already.
  if (typeof from !== 'object' || typeof to !== 'object') return true
  if (from.date === undefined || to.date === undefined)
    return from.date === to.date && weeklyLength({ from, to }) > 0
  return to.date > from.date || (to.date === from.date && to.minute > from.minute)
}

const closedSchema = z
  .strictObject({
    from: momentField.describe('when the market closes'),
    to: momentField.describe('when it opens again'),
  })
  .refine(isSpan, {
    path: ['to'],
    message: 'a time after `from`, of the week as that or of a date as that',
  })

const zoneField = z
  .string()
  .describe('name of a time zone, like Europe/Berlin')
  .refine(isTimeZone, 'the name of a time zone, like Europe/Berlin or UTC')

const MINUTE_MS = 60_000
const mostMinutes = MOST_AROUND_MS / MINUTE_MS

const closingsSchema = z.strictObject({
  timeZone: zoneField,
  closed: z
    .array(closedSchema)
    .min(1)
    .max(100)
    .describe('when its markets are closed, by the week or by date'),
  minutesBefore: countField({ min: 0, max: mostMinutes })
    .default(30)
    .describe('how long before a closing increases stop, minutes (30)'),
  minutesAfter: countField({ min: 0, max: mostMinutes })
    .default(0)
    .describe('how long after the opening increases resume, minutes (0)'),
})

/** The `protect` block. */
export const protectSchema = z.strictObject({
  cooldownAfterExitSeconds: secondsField({ min: 1, max: MOST_SECONDS })
    .optional()
    .describe('cooldown on a market after its book there became empty'),
  stopsInWindow: z
    .strictObject({
      stops: countField({ min: 1, max: MOST_STOPS }).describe(
        'number of stop-losses and liquidations within the window that starts the pause',
      ),
      windowSeconds: secondsField({ min: 1, max: MOST_SECONDS }).describe(
        'length of the window in which stops count',
      ),
      pauseSeconds: secondsField({ min: 1, max: MOST_SECONDS }).describe(
        'length of the pause after the last of them',
      ),
    })
    .optional()
    .describe('pause after too many stops; perpd cancels its resting entries'),
  tradingWindows: z
    .strictObject({
      timeZone: zoneField,
      open: z.array(windowSchema).min(1).max(50).describe('windows in which increases are allowed'),
    })
    .optional()
    .describe(
      'only times in which increases are allowed, in a time zone; perpd cancels its resting entries outside them',
    ),
  closings: closingsSchema
    .optional()
    .describe(
      'closings of its markets, in a time zone; around them increases stop and perpd cancels its resting entries',
    ),
  maxDrawdownUsd: usdField()
    .optional()
    .describe(
      'increases stop while the result of its books (realized, less the open loss) is this far below its realized peak; perpd cancels its resting entries',
    ),
  minEdgeBps: bpsField({ min: 1, max: 9_000 })
    .optional()
    .describe('least expected profit of an entry after all costs, basis points of its size'),
  edgeHoldSeconds: secondsField({ min: 60, max: MOST_SECONDS })
    .optional()
    .describe('expected holding time, for the funding and borrowing costs, seconds (86400)'),
})

/** The block in the daemon's words. */
export function protectionsOf(block: z.output<typeof protectSchema>): Protections {
  const { cooldownAfterExitSeconds, stopsInWindow, tradingWindows, closings, maxDrawdownUsd } = block
  const { minEdgeBps, edgeHoldSeconds = DAY_MS } = block
  return defined({
    cooldownMs: cooldownAfterExitSeconds,
    stops: ifDefined(stopsInWindow, ({ stops, windowSeconds, pauseSeconds }) => ({
      count: stops,
      windowMs: windowSeconds,
      pauseMs: pauseSeconds,
    })),
    windows: ifDefined(tradingWindows, ({ timeZone, open }) => ({
      timeZone,
      open: open.map(({ days, from, to }) => ({ days, fromMinute: from, toMinute: to })),
    })),
    closings: ifDefined(closings, ({ timeZone, closed, minutesBefore, minutesAfter }) => ({
      timeZone,
      spans: closed,
      beforeMs: minutesBefore * MINUTE_MS,
      afterMs: minutesAfter * MINUTE_MS,
    })),
    maxDrawdownUsd,
    edge: ifDefined(minEdgeBps, (minBps) => ({ minBps, holdMs: edgeHoldSeconds })),
  })
}
