/**
 * The one reader of numbers that a person types, at a command, a task or a form: digits with at most one point. A comma is a decimal mark to one half
 * of the world and groups digits for the other. It is read only where it can group alone: before each exact group of three, behind a first digit that
 * is not 0. No other mark is in a number.
 */

/** The words for a decimal number that was expected. */
export function decimalForm(decimals: number, example: string): string {
  return `digits above zero with at most ${decimals} after the point, as ${example}; a comma only before each group of three, as 61,493.10`
}

/** Digits without their commas, where those only group; else undefined. */
function ungrouped(text: string): string | undefined {
  if (!text.includes(',')) return text
  return /^[1-9]\d{0,2}(?:,\d{3}){1,4}(?:\.\d+)?$/.test(text) ? text.replaceAll(',', '') : undefined
}

/** A decimal number above zero in plain digits, with at most so many after the point, as a program writes it; undefined for anything else. */
export function plainDecimal(text: string, decimals: number): string | undefined {
  const [, whole, fraction = ''] = /^(\d{1,15})(?:\.(\d+))?$/.exec(text) ?? []
  return whole !== undefined && fraction.length <= decimals && /[1-9]/.test(text) ? text : undefined
}

/** The same as a person types it: the plain digits of a text whose commas group, too. */
export function typedDecimal(text: string, decimals: number): string | undefined {
  return plainDecimal(ungrouped(text) ?? '', decimals)
}

/** A whole number within bounds; undefined for anything else. */
export function typedWhole(text: string, least: number, most: number): number | undefined {
  const digits = ungrouped(text) ?? ''
  const value = /^\d{1,15}$/.test(digits) ? Number(digits) : undefined
  return value !== undefined && value >= least && value <= most ? value : undefined
}

/** Percents with at most two digits after the point, and the sign if it is typed, in basis points; undefined for anything else. */
export function typedPercentBps(text: string): number | undefined {
  const [, sign, whole, fraction = ''] = /^(-?)(\d{1,3})(?:\.(\d{1,2}))?%?$/.exec(text) ?? []
  if (whole === undefined) return undefined
  const magnitude = Number(`${whole}${fraction.padEnd(2, '0')}`)
  return sign === '-' && magnitude !== 0 ? -magnitude : magnitude
}

/** The place of an exit as a person types it: a price in plain digits, or with a percent sign a distance above 0 and below 100 percent; else undefined. */
export function typedPlace(text: string): string | undefined {
  if (!text.endsWith('%')) return typedDecimal(text, 18)
  const bps = typedPercentBps(text) ?? 0
  return bps > 0 && bps < 10_000 ? text : undefined
}
