/** Flags that are numbers: each is read by the one reader of typed numbers, and a refusal names the flag, its value and the form. */
import { decimalForm, typedDecimal, typedPercentBps, typedPlace, typedWhole } from '../../base/typedNumber.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { Call } from './command.ts'

type Flags = Call['flags']

/** A value that does not fit. */
export function wrongValue(message: string): CommandError {
  return new CommandError(message, exitCodes.error)
}

/** A value as it was typed, where nothing of it can be overlooked; else in quotes, with each sign that is not plain by its code. */
function typed(text: string): string {
  if (/^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/.test(text)) return text
  const codes = [...text.matchAll(/[^\x20-\x7e]/gu)].map(
    ([sign]) => `U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
  )
  const named = codes.length === 0 ? '' : ` (with ${[...new Set(codes)].slice(0, 3).join(', ')})`
  return `${JSON.stringify(text)}${named}`
}

/** A flag of US dollars or of a price, as plain digits; a dollar sign before it says the same. Throws CommandError. */
export function dollarsFlag(flags: Flags, name: string): string | undefined {
  return decimalFlag(flags, name, { decimals: 18, example: '250 or 0.5', unit: /^\$/ })
}

/** A flag of an exit's place: a price, or percents of the entry price with their sign as `3%`; `none` removes one. Throws CommandError. */
export function placeFlag(flags: Flags, name: string): string | undefined {
  const text = flags.get(name)
  const place = typeof text !== 'string' ? undefined : text === 'none' ? text : typedPlace(text)
  return place ?? dollarsFlag(flags, name)
}

/** A flag of whole tokens, in plain digits. Throws CommandError. */
export function tokensFlag(flags: Flags, name: string): string | undefined {
  return decimalFlag(flags, name, { decimals: 18, example: '3 or 0.25', unit: /^$/ })
}

/** A flag of so many times, as a leverage: plain digits, and an x behind them says the same. Throws CommandError. */
export function timesFlag(flags: Flags, name: string): string | undefined {
  return decimalFlag(flags, name, { decimals: 4, example: '2 or 2.5', unit: /x$/ })
}

function decimalFlag(
  flags: Flags,
  name: string,
  { decimals, example, unit }: { readonly decimals: number; readonly example: string; readonly unit: RegExp },
): string | undefined {
  const text = flags.get(name)
  if (text === undefined) return undefined
  const plain = typedDecimal(String(text).replace(unit, ''), decimals)
  if (plain !== undefined) return plain
  throw wrongValue(`--${name} is ${typed(String(text))}; expected ${decimalForm(decimals, example)}.`)
}

/** Bounds of a whole number, and its unit as ` of seconds`. */
export interface WholeBounds {
  readonly least: number
  readonly most: number
  readonly unit?: string
}

/** A flag that is a whole number. Throws CommandError. */
export function wholeFlag(flags: Flags, name: string, bounds: WholeBounds): number | undefined {
  const text = flags.get(name)
  if (text === undefined) return undefined
  const { least, most, unit = '' } = bounds
  const value = typedWhole(String(text), least, most)
  if (value !== undefined) return value
  throw wrongValue(
    `--${name} is ${typed(String(text))}; expected a whole number${unit} from ${least} to ${most}.`,
  )
}

/** A flag of percents, in basis points: `2.5` and `2.5%` are 250; up to so many. Throws CommandError. */
export function percentFlag(flags: Flags, name: string, most = 100): number | undefined {
  const text = flags.get(name)
  if (text === undefined) return undefined
  const basisPoints = typedPercentBps(String(text))
  if (basisPoints !== undefined && basisPoints >= 1 && basisPoints <= most * 100) return basisPoints
  throw wrongValue(
    `--${name} is ${typed(String(text))}; expected percents above 0 and up to ${most} with at most two digits after the point, as 25 or 2.5%.`,
  )
}
