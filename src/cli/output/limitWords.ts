/** Limits in the units that a trader reads. Pure. */
import { limitRow, limitSetName } from '../../domain/limits/limits.ts'
import { span } from '../../monitor/text.ts'

/** Text after each count. */
const counts: Readonly<Record<string, string>> = {
  maxOrdersPerHour: ' an hour',
  attemptsPerCause: ' a day',
  payloadMismatchesPerDay: ' a day',
  rejectsInRow: ' in a row',
  openDiscrepancies: ' open',
  reserveActions: ' actions',
}

/**
 * A value of `perpd limits` with its unit, and as it is written in the settings where that is another: `5% (500 bps)`, `10x`,
 * `60 an hour`, `0.2 ETH a day`, `15 s (15000 ms)`. What is no figure, and a limit that this
 * version does not know, stay as they are.
 *
 * @param value as the daemon tells it: basis points, milliseconds, seconds and counts as digits, dollars and native tokens as amounts
 */
export function limitWords(scope: string, limit: string, value: string, nativeSymbol: string): string {
  const unit = limitRow(limit)?.unit
  const perDay = /PerDay|DailyLoss/.test(limit) ? ' a day' : ''
  if (unit === 'usd') return value === 'none' ? value : `${value}${perDay}`
  if (unit === 'native') return value === 'none' ? value : `${value} ${nativeSymbol}${perDay}`
  if (!/^\d+$/.test(value)) return value
  const figure = Number(value)
  if (unit === 'times') return `${figure / 10_000}x`
  if (limit.endsWith('Bps')) return `${share(limit, figure)}${perDay} (${value} bps)`
  if (limit.endsWith('Ms')) {
    const written = limitSetName(scope, limit)
    return written === limit ? `${span(figure)} (${value} ms)` : secondsText(figure / 1_000)
  }
  if (limit.endsWith('Seconds')) {
    return limitSetName(scope, limit).endsWith('Minutes') ? `${figure / 60} min` : secondsText(figure)
  }
  return `${value}${counts[limit] ?? ''}`
}

/** Seconds, and from a minute on how long that is. */
function secondsText(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${span(seconds * 1_000)} (${seconds} s)`
}

/** A share of the equity may be many times of it. */
function share(limit: string, bps: number): string {
  if (limit.includes('Equity')) return bps > 10_000 ? `${bps / 10_000}x equity` : `${bps / 100}% of equity`
  return `${bps / 100}%${limit.toLowerCase().includes('capacity') ? ' of capacity' : ''}`
}
