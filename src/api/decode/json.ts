/**
 * JSON without losing digits. JSON.parse turns numbers into floats; a uint256 that comes unquoted would change without a
 * sound. Where a body may hold such numbers they are kept as their source text, and go back on the wire unchanged.
 */

import { answerBounds, bounded } from '../../base/boundedJson.ts'

/** A JSON number kept as its source text (`JSON.rawJSON`); `JSON.stringify` writes it back verbatim. */
export interface RawNumber {
  readonly rawJSON: string
}

// ES2026 names that the compiler's library does not know yet.
const sourceAware = JSON as unknown as {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): RawNumber
  isRawJSON(value: unknown): value is RawNumber
}

/** Tells whether a value is a number kept as text. */
export function isRawNumber(value: unknown): value is RawNumber {
  return sourceAware.isRawJSON(value)
}

// An unquoted number that a float may not hold, or would write differently: 16 or more digits, a fraction, an exponent,
// a negative zero. Inside a string it only costs the slower path.
const unsafeNumber = /(?:^|[:[,])\s*(?:-0|-?\d{16,}|-?\d+[.eE])/

/**
 * Parses JSON so that `JSON.stringify` of any part writes the same values, digit for digit. Numbers that a float cannot
 * hold exactly, or would write in another way, come as `RawNumber`.
 *
 * @throws SyntaxError when the text is not JSON; JsonBoundsError, which is one, when it nests or holds too much.
 */
export function parseExact(text: string): unknown {
  bounded(text, answerBounds)
  if (!unsafeNumber.test(text)) return JSON.parse(text)
  return sourceAware.parse(text, (_key, value, context) => {
    if (typeof value !== 'number' || context.source === undefined) return value
    return JSON.stringify(value) === context.source ? value : sourceAware.rawJSON(context.source)
  })
}
