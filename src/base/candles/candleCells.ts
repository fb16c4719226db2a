/** Times and prices as files of candles write them. Pure. */

/** Decimals of a price in USD. */
const PRICE_DECIMALS = 30

/** The forms of a time and of a price that are read, for messages. */
export const timeForm = 'Unix seconds, milli-, micro- or nanoseconds, or UTC as 2025-01-01 00:00:00' as const
export const priceForm = 'digits above zero with a point, as 2000.5 or 7.1e-7' as const

const digitsOf = /^(\d{9,19})(?:\.\d+)?$/
const dateOf = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?\s*(Z|UTC|[+-]\d\d:?\d\d)?$/i

/**
 * Unix seconds of a cell, rounded down; undefined for what is no time. Seconds, milli-, micro- and nanoseconds are distinguished by their
 * size; a text without a zone is UTC.
 */
export function secondsOf(value: unknown): number | undefined {
  const text = textOf(value)
  const [, digits] = digitsOf.exec(text) ?? []
  if (digits !== undefined) {
    const thousands = Math.max(0, Math.ceil((digits.length - 11) / 3))
    // The seconds are the first digits of it; nanoseconds have more digits than a number holds.
    return Number(thousands === 0 ? digits : digits.slice(0, -3 * thousands))
  }
  const [, day, time = '00:00:00', zone = ''] = dateOf.exec(text) ?? []
  if (day === undefined) return undefined
  const atMs = Date.parse(`${day}T${time}${/^[+-]/.test(zone) ? zone : 'Z'}`)
  return Number.isNaN(atMs) ? undefined : Math.floor(atMs / 1_000)
}

const decimalOf = /^(\d{1,30})(?:\.(\d{0,60}))?(?:e([+-]?\d{1,2}))?$/i

/** A decimal, with an exponent or without, as USD with 30 decimals; undefined for what is no price above zero, and where digits would be lost. */
export function priceOf(value: unknown): bigint | undefined {
  const [, whole, fraction = '', exponent = '0'] = decimalOf.exec(textOf(value)) ?? []
  if (whole === undefined) return undefined
  const places = PRICE_DECIMALS + Number(exponent) - fraction.length
  const digits = BigInt(whole + fraction)
  const unit = powerOfTen(Math.abs(places))
  if (places < 0 && digits % unit !== 0n) return undefined
  const price = places < 0 ? digits / unit : digits * unit
  return price > 0n ? price : undefined
}

const powers: bigint[] = []

/** A file has millions of prices and few numbers of digits. */
function powerOfTen(exponent: number): bigint {
  const power = powers[exponent] ?? 10n ** BigInt(exponent)
  powers[exponent] = power
  return power
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value.trim()
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : ''
}
