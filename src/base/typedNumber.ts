/**
 * The one reader of numbers that a person types, at a command, a task or a form: plain digits with at most one point. A comma is a
 * decimal mark to one half of the world and groups digits for the other, so that no text with one, or with any other mark, is a number.
 */

/** The words for a decimal number that was expected. */
export function decimalForm(decimals: number, example: string): string {
  return `plain digits above zero with at most ${decimals} after the point, as ${example}: no commas, and nothing that groups digits`
}

/** A decimal number above zero with at most so many digits after the point, as it is typed; undefined for anything else. */
export function typedDecimal(text: string, decimals: number): string | undefined {
  const [, whole, fraction = ''] = /^(\d{1,15})(?:\.(\d+))?$/.exec(text) ?? []
  return whole !== undefined && fraction.length <= decimals && /[1-9]/.test(text) ? text : undefined
}

/** A whole number within bounds; undefined for anything else. */
export function typedWhole(text: string, least: number, most: number): number | undefined {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : undefined
  return value !== undefined && value >= least && value <= most ? value : undefined
}

/** Percents with at most two digits after the point, and the sign if it is typed, in basis points; undefined for anything else. */
export function typedPercentBps(text: string): number | undefined {
  const [, sign, whole, fraction = ''] = /^(-?)(\d{1,3})(?:\.(\d{1,2}))?%?$/.exec(text) ?? []
  if (whole === undefined) return undefined
  const magnitude = Number(`${whole}${fraction.padEnd(2, '0')}`)
  return sign === '-' && magnitude !== 0 ? -magnitude : magnitude
}

/** Tells whether a text is the place of an exit: a price, or with a percent sign a distance above 0 and below 100 percent. */
export function isTypedPlace(text: string): boolean {
  if (!text.endsWith('%')) return typedDecimal(text, 18) !== undefined
  const bps = typedPercentBps(text) ?? 0
  return bps > 0 && bps < 10_000
}
