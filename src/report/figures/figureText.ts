/** Figures of a report as texts for people. Pure. */
import type { Decimal } from 'decimal.js'
import { formatDollars, formatUnits, USD_DECIMALS, type Usd } from '../../protocol/units.ts'

/** Stands where there is no figure. */
export const NONE = '-'

/** `+$12.30`, `-$4.00`, `$0.00`. */
export function signedDollars(amount: Usd | null): string {
  if (amount === null) return NONE
  return amount > 0n ? `+${formatDollars(amount)}` : formatDollars(amount)
}

/** A ratio in percent: 0.0123 is `1.23 %`. */
export function percentText(ratio: Decimal | null, places = 2): string {
  return ratio === null ? NONE : `${plain(ratio.times(100), places)} %`
}

/** The same with a plus in front of a gain. */
export function signedPercent(ratio: Decimal | null): string {
  const text = percentText(ratio)
  return ratio !== null && !text.startsWith('-') && text !== '0.00 %' ? `+${text}` : text
}

/** A number with decimals. */
export function numberText(value: Decimal | null, places = 2): string {
  return value === null ? NONE : plain(value, places)
}

function plain(value: Decimal, places: number): string {
  const text = value.toFixed(places)
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text
}

/** `3 d 4 h`, `5 h 12 min`, `40 min`, `12 s`. */
export function spanOf(seconds: number): string {
  const [days, hours, minutes] = [seconds / 86_400, (seconds % 86_400) / 3_600, (seconds % 3_600) / 60].map(
    Math.floor,
  ) as [number, number, number]
  if (days > 0) return hours > 0 ? `${days} d ${hours} h` : `${days} d`
  if (hours > 0) return minutes > 0 ? `${hours} h ${minutes} min` : `${hours} h`
  return minutes > 0 ? `${minutes} min` : `${Math.floor(seconds)} s`
}

/** `2026-01-31 12:00`, UTC. */
export function momentOf(second: number): string {
  return new Date(second * 1000).toISOString().slice(0, 16).replace('T', ' ')
}

/** An amount or a price as a plain decimal, `2511.36`. */
export function decimalOf(amount: Usd | null): string {
  return amount === null ? '' : formatUnits(amount, USD_DECIMALS)
}

/** A price for people: five significant digits at least, two decimals at least. */
export function priceOf(price: Usd | null): string {
  if (price === null) return NONE
  const [whole = '0', fraction = ''] = formatUnits(price, USD_DECIMALS).split('.')
  if (whole.replace('-', '') !== '0') {
    const places = Math.max(2, 5 - whole.replace('-', '').length)
    return `${whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',')}.${fraction.slice(0, places).padEnd(2, '0')}`
  }
  const zeros = /^0*/.exec(fraction)?.[0].length ?? 0
  return `${whole}.${fraction.slice(0, zeros + 5).padEnd(2, '0')}`
}
