/** The `protect` block of a strategy file: rules that keep a strategy from adding, each with a separate denial. Reductions always pass. */

import type { TrackRecord } from '../../books/trackRecord.ts'
import {
  type ClosingMoment,
  type NearClosing,
  nearClosing,
  type Weekday,
  wallClockIn,
} from '../../domain/limits/closingTimes.ts'
import type { Protections, TradingWindow } from '../../domain/limits/protection.ts'
import type { Denial } from '../../domain/order/intent.ts'
import { type Address, hexKey } from '../../protocol/address.ts'
import { formatDollars, maxOf, type Usd } from '../../protocol/units.ts'
import type { AdmissionContext, Protection } from '../exposure/admissionContext.ts'
import type { ClassifiedDecision } from './checks.ts'

/** The first of a strategy's own rules that keeps it from adding on a market now. */
export function checkProtection(
  { decision, adds }: ClassifiedDecision,
  { protection, maker, nowMs }: AdmissionContext,
): Denial | undefined {
  if (!adds || protection === undefined) return undefined
  const { rules, track, openUsd } = protection
  return (
    checkDrawdown(maker.strategy, rules, track, openUsd) ??
    checkStops(rules, track, nowMs) ??
    checkCooldown(decision.marketToken, rules, track, nowMs) ??
    checkWindows(rules, nowMs) ??
    checkClosings(rules, nowMs)
  )
}

/**
 * STRATEGY_DRAWDOWN: the strategy's realized result, less the open losses of its parts, is too far below its realized peak. A realized fall holds
 * until an operator resumes the strategy, an open loss as long as it lasts; an open gain compensates nothing.
 */
function checkDrawdown(
  strategy: string,
  { maxDrawdownUsd }: Protections,
  { peakUsd, resultUsd }: TrackRecord,
  openUsd: Usd,
): Denial | undefined {
  const realizedUsd = peakUsd - resultUsd
  const openLossUsd = maxOf(0n, -openUsd)
  const downUsd = realizedUsd + openLossUsd
  if (maxDrawdownUsd === undefined || downUsd < maxDrawdownUsd) return undefined
  return {
    code: 'STRATEGY_DRAWDOWN',
    reason:
      realizedUsd < maxDrawdownUsd
        ? `the result of this strategy, with an open loss of ${formatDollars(openLossUsd)}, is too far below its peak; it adds again when the loss recovers or the limit is raised`
        : `the realized result of this strategy is too far below its peak; an operator can resume it: perpd strategies resume ${strategy}`,
    wanted: `${formatDollars(downUsd)} below`,
    allowed: `less than ${formatDollars(maxDrawdownUsd)} (protect.maxDrawdownUsd)`,
  }
}

/** STOPS_IN_WINDOW: so many stop-losses and liquidations came so soon after each other, and the pause after them lasts. */
function checkStops({ stops }: Protections, { stopsMs }: TrackRecord, nowMs: number): Denial | undefined {
  if (stops === undefined) return undefined
  const { count, windowMs, pauseMs } = stops
  // The newest run of stops that fits the window: one stop more begins the pause anew.
  const at = stopsMs.findLastIndex(
    (stopMs, index) => index >= count - 1 && stopMs - (stopsMs[index - count + 1] ?? 0) <= windowMs,
  )
  const newestMs = stopsMs[at]
  if (newestMs === undefined || nowMs - newestMs >= pauseMs) return undefined
  return {
    code: 'STOPS_IN_WINDOW',
    reason: `${count} stops fired within ${spanOf(windowMs)}; this strategy adds nothing for ${spanOf(pauseMs)} after the last of them`,
    wanted: `${spanOf(Math.max(0, nowMs - newestMs))} after it`,
    allowed: `${spanOf(pauseMs)} after it (protect.stopsInWindow)`,
  }
}

/** COOLDOWN_AFTER_EXIT: the strategy left this market a moment ago. */
function checkCooldown(
  marketToken: Address,
  { cooldownMs }: Protections,
  { exitsMs }: TrackRecord,
  nowMs: number,
): Denial | undefined {
  const exitMs = exitsMs.get(hexKey(marketToken))
  // A stamp that the clock has not reached is handed in as of when it was first seen: after a step back the clocks agree, and no CLOCK_SKEW holds.
  if (cooldownMs === undefined || exitMs === undefined || nowMs - exitMs >= cooldownMs) return undefined
  return {
    code: 'COOLDOWN_AFTER_EXIT',
    reason: 'this strategy left the market recently and is in cooldown before it enters again',
    wanted: `${spanOf(Math.max(0, nowMs - exitMs))} after it`,
    allowed: `${spanOf(cooldownMs)} after it (protect.cooldownAfterExitSeconds)`,
  }
}

/** OUTSIDE_TRADING_WINDOW: none of the strategy's windows is open by the clock of its time zone. */
function checkWindows({ windows }: Protections, nowMs: number): Denial | undefined {
  if (windows === undefined) return undefined
  const { timeZone, open } = windows
  const local = wallClockIn(timeZone, nowMs)
  if (open.some((window) => isOpen(window, local))) return undefined
  return {
    code: 'OUTSIDE_TRADING_WINDOW',
    reason: `this strategy adds only within its trading windows, in the time zone ${timeZone}`,
    wanted: `${local.weekday} ${clockText(local.minute)}`,
    allowed: `${open.map(windowText).join('; ')} (protect.tradingWindows)`,
  }
}

/** AROUND_CLOSING: by its file the strategy's markets close soon, are closed, or opened a moment ago. */
function checkClosings({ closings }: Protections, nowMs: number): Denial | undefined {
  const near = closings === undefined ? undefined : nearClosing(closings, nowMs)
  if (closings === undefined || near === undefined) return undefined
  const { timeZone, beforeMs, afterMs } = closings
  const { span } = near
  const local = wallClockIn(timeZone, nowMs)
  const minutes = (ms: number) => `${Math.round(ms / 60_000)} min`
  return {
    code: 'AROUND_CLOSING',
    reason: `${whereText(near, nowMs)}; its file allows no increases then (time zone ${timeZone})`,
    wanted: `${local.weekday} ${clockText(local.minute)}`,
    allowed: `not from ${minutes(beforeMs)} before ${momentText(span.from)} to ${minutes(afterMs)} after ${momentText(span.to)} (protect.closings)`,
  }
}

/**
 * Returns the rule that takes back an instance's resting entries, by its name in the `protect` block, and the reason, as a clause; undefined: all of
 * them stay. A cooldown after an exit leaves them: they rest at levels of their own, and the instance may soon add again.
 */
export function takesBack(
  { rules, track, openUsd }: Protection,
  nowMs: number,
): { readonly rule: string; readonly because: string } | undefined {
  if (checkDrawdown('', rules, track, openUsd) !== undefined)
    return { rule: 'maxDrawdownUsd', because: 'its result is too far below its peak' }
  if (checkStops(rules, track, nowMs) !== undefined)
    return { rule: 'stopsInWindow', because: 'it pauses after its stops' }
  if (checkWindows(rules, nowMs) !== undefined)
    return { rule: 'tradingWindows', because: 'none of its trading windows is open' }
  const near = rules.closings === undefined ? undefined : nearClosing(rules.closings, nowMs)
  return near === undefined ? undefined : { rule: 'closings', because: whereText(near, nowMs) }
}

function whereText({ closesMs, opensMs }: NearClosing, nowMs: number): string {
  if (nowMs < closesMs) return `its markets close in ${spanOf(closesMs - nowMs)}`
  return nowMs < opensMs ? 'its markets are closed' : `its markets opened ${spanOf(nowMs - opensMs)} ago`
}

function momentText({ weekday, date, minute }: ClosingMoment): string {
  return `${weekday ?? date} ${clockText(minute)}`
}

interface WallClock {
  readonly weekday: Weekday
  /** Minutes since midnight. */
  readonly minute: number
}

function isOpen({ days, fromMinute, toMinute }: TradingWindow, { weekday, minute }: WallClock): boolean {
  const isDay = days.includes(weekday)
  if (fromMinute < toMinute) return isDay && minute >= fromMinute && minute < toMinute
  return (isDay && minute >= fromMinute) || (days.includes(dayBefore[weekday]) && minute < toMinute)
}

const dayBefore: Readonly<Record<WallClock['weekday'], WallClock['weekday']>> = {
  mon: 'sun',
  tue: 'mon',
  wed: 'tue',
  thu: 'wed',
  fri: 'thu',
  sat: 'fri',
  sun: 'sat',
}

function windowText({ days, fromMinute, toMinute }: TradingWindow): string {
  return `${days.join(', ')} ${clockText(fromMinute)} to ${clockText(toMinute)}`
}

function clockText(minute: number): string {
  const two = (part: number): string => String(part).padStart(2, '0')
  return `${two(Math.floor(minute / 60))}:${two(minute % 60)}`
}

function spanOf(ms: number): string {
  return `${Math.round(ms / 1000)} s`
}
