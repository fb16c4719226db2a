/**
 * Amounts as people read them, by arithmetic of integers alone: what is shown as money was never a float. They read as those of the
 * commands and the log do (`protocol/units.ts`, `protocol/priceText.ts`), which test/console/amounts.test.ts holds.
 */

/** Decimals of USD on the wire. */
const USD_DECIMALS = 30
const HALF_CENT = 5n * 10n ** 27n
const MILLIONTH = 10n ** 24n
/** The size that stands for all of a position. */
const ALL = 2n ** 256n - 1n
/** Digits that tell two prices of one market apart. */
const SIGNIFICANT = 6
/** Most places of a small percentage. */
const MOST_PLACES = 6
/** Basis points of a whole. */
const WHOLE_BPS = 10_000n

/** A whole rate. */
const WHOLE_RATE = 10n ** 30n

/** Text shown where nothing is known. */
export const NOTHING = '–'

/** An amount of the wire, or one that was computed from such. */
export type Amount = string | bigint

/** Its integer. Throws SyntaxError on what is no integer. */
export function amountOf(amount: Amount): bigint {
  return typeof amount === 'bigint' ? amount : BigInt(amount)
}

/**
 * Dollars in whole cents, rounded half away from zero; less than half a cent shows two digits of what it is, less than half a millionth is
 * `$0.00`, and the size that stands for all of a position is said in words.
 */
export function usdText(amount: Amount): string {
  const value = amountOf(amount)
  if (value === ALL) return 'all of the position'
  const magnitude = absOf(value)
  const cents = (magnitude + HALF_CENT) / (2n * HALF_CENT)
  const [shown, places] = cents === 0n ? smallOf(magnitude) : ([cents, 2] as const)
  if (shown === 0n) return '$0.00'
  return written(value < 0n, decimalText(shown, places), 2)
}

/** The same with its sign in front, `+$1.20`: a result is not told by its colour alone. */
export function signedUsdText(amount: Amount): string {
  const text = usdText(amount)
  return amountOf(amount) > 0n && text !== '$0.00' ? `+${text}` : text
}

/** Dollars without cents, for what is large: `$38,367,765`. */
export function wholeUsdText(amount: Amount): string {
  const text = usdText(amount)
  return absOf(amountOf(amount)) >= 10n ** 33n ? text.replace(/\.\d\d$/, '') : text
}

/** Places of prices of one size: six significant digits, two places at least. */
export function placesOf(price: Amount): number {
  const magnitude = absOf(amountOf(price))
  // 10^30 has 31 digits and one before the point.
  const before = magnitude.toString().length - USD_DECIMALS
  return magnitude === 0n ? 2 : Math.min(USD_DECIMALS, Math.max(2, SIGNIFICANT - before))
}

/** A price: six significant digits and two places at least, zeros too; or the places of its market. */
export function priceText(price: Amount, places = placesOf(price)): string {
  const value = amountOf(price)
  const unit = 10n ** BigInt(USD_DECIMALS - places)
  return written(value < 0n, decimalText((absOf(value) + unit / 2n) / unit, places), places)
}

/** Dollars with every digit that they have, in cents at least or in the places of a market: an echo of what was typed. */
export function exactUsdText(amount: Amount, leastPlaces = 2): string {
  const value = amountOf(amount)
  return written(value < 0n, decimalText(absOf(value), USD_DECIMALS), leastPlaces)
}

/** A fixed-point integer as plain decimal text, exact, without zeros at its end: `decimalText(1500000n, 6)` is `1.5`. */
export function decimalText(amount: Amount, decimals: number): string {
  const value = amountOf(amount)
  const digits = absOf(value)
    .toString()
    .padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${value < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

/** Returns the share of a part in its whole, bps, rounded toward zero, at most `most`; 0 when the whole is zero. */
export function shareBps(part: Amount, whole: Amount, most = 1_000_000): number {
  const of = amountOf(whole)
  if (of <= 0n) return 0
  const share = (amountOf(part) * WHOLE_BPS) / of
  const bound = BigInt(most)
  return Number(share > bound ? bound : share < -bound ? -bound : share)
}

/** Basis points as a percentage with two places: `32.75%`. */
export function percentText(bps: number): string {
  const sign = bps < 0 ? '-' : ''
  const magnitude = Math.abs(Math.trunc(bps))
  return `${sign}${Math.trunc(magnitude / 100)}.${String(magnitude % 100).padStart(2, '0')}%`
}

/**
 * A part of a whole in percent, signed: two places, and of what is less than a tenth of a percent two digits of what it is, `0.019%`; a share of
 * nothing is `0.00%`.
 */
export function shareText(part: Amount, whole: Amount): string {
  const [value, all] = [amountOf(part), amountOf(whole)]
  const [share, of] = [absOf(value) * 100n, absOf(all)]
  if (share === 0n || of === 0n) return '0.00%'
  let places = 2
  while (places < MOST_PLACES && share * 10n ** BigInt(places) < 10n * of) places += 1
  const rounded = (share * 10n ** BigInt(places) * 2n + of) / (2n * of)
  if (rounded === 0n) return '0.00%'
  const digits = rounded.toString().padStart(places + 1, '0')
  return `${value < 0n === all < 0n ? '' : '-'}${digits.slice(0, -places)}.${digits.slice(-places)}%`
}

/** A rate, a factor with 30 decimals, in percent with its sign: negative, it is paid. Two digits of what is small: `-0.0013%`. */
export function rateText(rate: Amount): string {
  const text = shareText(rate, WHOLE_RATE)
  return amountOf(rate) > 0n && text !== '0.00%' ? `+${text}` : text
}

/** Basis points of a leverage, 10000 = 1x: `3.00x`. */
export function timesText(bps: Amount): string {
  const hundredths = amountOf(bps) / 100n
  return `${hundredths / 100n}.${(hundredths % 100n).toString().padStart(2, '0')}x`
}

/** An amount as a number, for a chart and nothing else. */
export function chartNumber(amount: Amount): number {
  return Number(amountOf(amount) / 10n ** 24n) / 1e6
}

/** Without its sign. */
export function absOf(value: bigint): bigint {
  return value < 0n ? -value : value
}

/** An amount below a cent in millionths of a dollar, rounded to two digits of it, with its places. */
function smallOf(magnitude: bigint): readonly [value: bigint, places: number] {
  const millionths = (magnitude + MILLIONTH / 2n) / MILLIONTH
  const unit = 10n ** BigInt(Math.max(0, millionths.toString().length - 2))
  return [((millionths + unit / 2n) / unit) * unit, 6]
}

function written(isNegative: boolean, decimal: string, leastPlaces: number): string {
  const [whole = '0', fraction = ''] = decimal.split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',')
  return `${isNegative ? '-' : ''}$${grouped}.${fraction.padEnd(leastPlaces, '0')}`
}
