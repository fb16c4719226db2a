/** Returns of the equity by day and by month, UTC. Pure. */
import { Decimal } from 'decimal.js'
import type { Usd } from '../../protocol/units.ts'
import type { EquityMoment, Transfer } from './reportSubject.ts'

/** Ratios of a report: 40 digits, so that an amount of 30 decimals divides without loss that is seen. */
export const Ratio = Decimal.clone({ precision: 40 })

const DAY_SECONDS = 86_400

/** The return of one day. */
export interface DayReturn {
  /** 00:00 UTC of the day, Unix seconds. */
  readonly daySecond: number
  /** Worth at the end over worth at the beginning with transfers taken out, less one: 0.01 is one percent. */
  readonly ratio: Decimal
}

/** Divides two amounts; null where the divisor is not above 0. */
export function ratioOf(part: Usd, whole: Usd): Decimal | null {
  return whole > 0n ? new Ratio(String(part)).div(String(whole)) : null
}

/**
 * Daily returns: the last figure of each UTC day, that of midnight at its end included, less the transfers of the day, over the last figure
 * of the day before it, less one. The first day begins with the first figure. A day without a figure has a return of 0. The first and the
 * last day count as days although they may be shorter. A day that begins with nothing has none, and
 * no day of a curve that begins with nothing has one.
 */
export function dailyReturns(
  equity: readonly EquityMoment[],
  transfers: readonly Transfer[] = [],
): readonly DayReturn[] {
  const [first] = equity
  if (first === undefined || first.equityUsd <= 0n) return []
  if (equity.length < 2) return []
  const dayOf = (second: number): number => second - (second % DAY_SECONDS)
  // A figure of midnight ends the day before it.
  const ends = new Map(equity.map(({ second, equityUsd }) => [dayOf(second - 1), equityUsd]))
  const moved = new Map<number, Usd>()
  for (const { second, amountUsd } of transfers) {
    if (second > first.second) moved.set(dayOf(second - 1), (moved.get(dayOf(second - 1)) ?? 0n) + amountUsd)
  }
  const days: DayReturn[] = []
  let before = first.equityUsd
  const lastDay = dayOf((equity.at(-1)?.second ?? first.second) - 1)
  for (let day = dayOf(first.second); day <= Math.max(lastDay, dayOf(first.second)); day += DAY_SECONDS) {
    const end = ends.get(day) ?? before
    const ratio = ratioOf(end - (moved.get(day) ?? 0n) - before, before)
    if (ratio !== null) days.push({ daySecond: day, ratio })
    before = end
  }
  return days
}

/** The return of a month. */
export interface MonthReturn {
  /** `2026-01`. */
  readonly month: string
  readonly ratio: Decimal
}

/** Monthly returns: the daily returns of each UTC month, compounded. */
export function monthlyReturns(days: readonly DayReturn[]): readonly MonthReturn[] {
  const monthOf = ({ daySecond }: DayReturn): string => new Date(daySecond * 1000).toISOString().slice(0, 7)
  return [...Map.groupBy(days, monthOf)].map(([month, own]) => ({ month, ratio: compounded(own) }))
}

/** The return over all days: their growth factors multiplied, less one. */
export function compounded(days: readonly DayReturn[]): Decimal {
  return days.reduce((grown, { ratio }) => grown.times(ratio.plus(1)), new Ratio(1)).minus(1)
}
