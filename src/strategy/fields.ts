/**
 * Fields of strategy files: a number or a quoted decimal in YAML, an exact value with a unit in code. A YAML number passes
 * through its decimal text, so money never lives as a float; the loader refuses numbers of more than 15 digits, which a
 * float could not carry.
 */
import { z } from 'zod'
import {
  BPS_ONE,
  NATIVE_DECIMALS,
  parseUnits,
  type TokenAmount,
  USD_DECIMALS,
  type Usd,
} from '../protocol/units.ts'

/** A decimal text of a YAML value, or undefined when it is not a plain decimal. */
function decimalText(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && /^-?\d+(\.\d+)?$/.test(text) ? text : undefined
}

function field<T>(expected: string, read: (value: unknown) => T | undefined): z.ZodType<T> {
  return z.unknown().transform((value, context): T => {
    const result = read(value)
    if (result !== undefined) return result
    context.addIssue({ code: 'custom', message: expected, input: value })
    return z.NEVER
  }) as unknown as z.ZodType<T>
}

/** Dollars above zero (from `minUsd` when given), up to 1e15, at most 30 decimals; USD with 30 decimals in code. */
export function usdField(options: { readonly minUsd?: number } = {}): z.ZodType<Usd> {
  const { minUsd } = options
  const least = minUsd === undefined ? 'above 0' : `of ${minUsd} or more`
  return field(`an amount of US dollars ${least}, like 250 or "250.50"`, (value) => {
    const text = decimalText(value)
    if (text === undefined || (text.split('.')[1] ?? '').length > USD_DECIMALS) return undefined
    const amount = parseUnits(text, USD_DECIMALS)
    const enough = minUsd === undefined ? amount > 0n : amount >= parseUnits(String(minUsd), USD_DECIMALS)
    return enough && amount <= 10n ** BigInt(USD_DECIMALS + 15) ? amount : undefined
  })
}

/** A part or several of the chain's native token, as fees are paid in; base units in code. */
export function nativeField(): z.ZodType<TokenAmount> {
  return field('an amount of the native token up to 1000000, like "0.05"', (value) => {
    const text = decimalText(value)
    if (text === undefined || (text.split('.')[1] ?? '').length > NATIVE_DECIMALS) return undefined
    const amount = parseUnits(text, NATIVE_DECIMALS)
    return amount >= 0n && amount <= 10n ** BigInt(NATIVE_DECIMALS + 6) ? amount : undefined
  })
}

/** Leverage in times, 0.1 to 200, four decimals at most; basis points in code, 10000 = 1x. */
export function leverageField(): z.ZodType<number> {
  return field('a leverage in times from 0.1 to 200, like 5 or 2.5', (value) => {
    const text = decimalText(value)
    if (text === undefined || (text.split('.')[1] ?? '').length > 4) return undefined
    const leverageBps = Number(parseUnits(text, 4))
    return leverageBps >= BPS_ONE / 10 && leverageBps <= 200 * BPS_ONE ? leverageBps : undefined
  })
}

/** A whole number of basis points from `min` (0) to `max` (10000); 100 bps = 1 %. */
export function bpsField(options: { readonly min?: number; readonly max?: number } = {}): z.ZodType<number> {
  const { min = 0, max = BPS_ONE } = options
  return field(`whole basis points from ${min} to ${max} (100 = 1 %)`, (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max ? value : undefined,
  )
}

/** A whole number from `min` to `max`. */
export function countField(options: { readonly min: number; readonly max: number }): z.ZodType<number> {
  const { min, max } = options
  return field(`a whole number from ${min} to ${max}`, (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max ? value : undefined,
  )
}

/** Seconds from `min` to `max`, down to a millisecond; whole milliseconds in code. */
export function secondsField(options: { readonly min: number; readonly max: number }): z.ZodType<number> {
  const { min, max } = options
  return field(`seconds from ${min} to ${max}`, (value) => {
    const text = decimalText(value)
    if (text === undefined || (text.split('.')[1] ?? '').length > 3) return undefined
    const ms = Number(parseUnits(text, 3))
    return ms >= min * 1000 && ms <= max * 1000 ? ms : undefined
  })
}
