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
  toDecimal,
  USD_DECIMALS,
  type Usd,
} from '../protocol/units.ts'

/** A decimal text of a YAML value, or undefined when it is not a plain decimal. */
function decimalText(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && /^-?\d+(\.\d+)?$/.test(text) ? text : undefined
}

/** Description of a field besides its JSON Schema. */
export interface FieldFacts {
  /** Expected value, with unit and range: `whole basis points from 0 to 100 (100 = 1 %)`. */
  readonly expected: string
  /** Converts the code's value to its form in a file; absent: the same. */
  readonly written?: (value: unknown) => unknown
}

/** Descriptions of fields, by the schema that `field` made. */
export const fieldFacts = z.registry<FieldFacts>()

/** A JSON Schema of a YAML value. */
type JsonShape = Readonly<Record<string, unknown>>

/** An amount as YAML has it: a number in the range, or a quoted decimal with at most so many decimals. */
function decimalShape(decimals: number, range: JsonShape, isZeroIn = true): JsonShape {
  const notZero = isZeroIn ? '' : '(?!0+(\\.0+)?$)'
  return {
    anyOf: [
      { type: 'number', ...range },
      { type: 'string', pattern: `^${notZero}\\d+(\\.\\d{1,${decimals}})?$` },
    ],
  }
}

function field<T>(
  facts: FieldFacts,
  shape: JsonShape,
  read: (value: unknown) => T | undefined,
): z.ZodType<T> {
  const made = z
    .unknown()
    .transform((value, context): T => {
      const result = read(value)
      if (result !== undefined) return result
      context.addIssue({ code: 'custom', message: facts.expected, input: value })
      return z.NEVER
    })
    .meta({ description: facts.expected, ...shape })
  fieldFacts.add(made, facts)
  return made as unknown as z.ZodType<T>
}

/** Dollars above zero (from `minUsd` when given), up to 1e15, at most 30 decimals; USD with 30 decimals in code. */
export function usdField(options: { readonly minUsd?: number } = {}): z.ZodType<Usd> {
  const { minUsd } = options
  const least = minUsd === undefined ? 'above 0' : `of ${minUsd} or more`
  const range = { ...(minUsd === undefined ? { exclusiveMinimum: 0 } : { minimum: minUsd }), maximum: 1e15 }
  const facts = {
    expected: `an amount of US dollars ${least}, like 250 or "250.50"`,
    written: (amount: unknown) => toDecimal(amount as Usd, USD_DECIMALS).toNumber(),
  }
  return field(facts, decimalShape(USD_DECIMALS, range, minUsd === 0), (value) => {
    const text = decimalText(value)
    if (text === undefined || (text.split('.')[1] ?? '').length > USD_DECIMALS) return undefined
    const amount = parseUnits(text, USD_DECIMALS)
    const enough = minUsd === undefined ? amount > 0n : amount >= parseUnits(String(minUsd), USD_DECIMALS)
    return enough && amount <= 10n ** BigInt(USD_DECIMALS + 15) ? amount : undefined
  })
}

/** A part or several of the chain's native token, as fees are paid in; base units in code. */
export function nativeField(): z.ZodType<TokenAmount> {
  const facts = { expected: 'an amount of the native token up to 1000000, like "0.05"' }
  return field(facts, decimalShape(NATIVE_DECIMALS, { minimum: 0, maximum: 1_000_000 }), (value) => {
    const text = decimalText(value)
    if (text === undefined || (text.split('.')[1] ?? '').length > NATIVE_DECIMALS) return undefined
    const amount = parseUnits(text, NATIVE_DECIMALS)
    return amount >= 0n && amount <= 10n ** BigInt(NATIVE_DECIMALS + 6) ? amount : undefined
  })
}

/** Leverage in times, 0.1 to 200, four decimals at most; basis points in code, 10000 = 1x. */
export function leverageField(): z.ZodType<number> {
  const facts = {
    expected: 'a leverage in times from 0.1 to 200, like 5 or 2.5',
    written: (leverageBps: unknown) => Number(leverageBps) / BPS_ONE,
  }
  return field(facts, decimalShape(4, { minimum: 0.1, maximum: 200 }, false), (value) => {
    const text = decimalText(value)
    if (text === undefined || (text.split('.')[1] ?? '').length > 4) return undefined
    const leverageBps = Number(parseUnits(text, 4))
    return leverageBps >= BPS_ONE / 10 && leverageBps <= 200 * BPS_ONE ? leverageBps : undefined
  })
}

/** So many times something, 0.1 to 100, two decimals at most; whole hundredths in code. */
export function timesField(): z.ZodType<number> {
  const facts = {
    expected: 'times from 0.1 to 100, like 2 or 1.5',
    written: (percent: unknown) => Number(percent) / 100,
  }
  return field(facts, decimalShape(2, { minimum: 0.1, maximum: 100 }, false), (value) => {
    const text = decimalText(value)
    if (text === undefined || (text.split('.')[1] ?? '').length > 2) return undefined
    const percent = Number(parseUnits(text, 2))
    return percent >= 10 && percent <= 10_000 ? percent : undefined
  })
}

/** A whole number of basis points from `min` (0) to `max` (10000); 100 bps = 1 %. */
export function bpsField(options: { readonly min?: number; readonly max?: number } = {}): z.ZodType<number> {
  const { min = 0, max = BPS_ONE } = options
  const facts = { expected: `whole basis points from ${min} to ${max} (100 = 1 %)` }
  return field(facts, { type: 'integer', minimum: min, maximum: max }, (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max ? value : undefined,
  )
}

/** Weights by the full symbol of a market: whole basis points from -10000 to 10000, below 0 for a short. */
export function weightsField(): z.ZodType<Readonly<Record<string, number>>> {
  const facts = { expected: `basis points by market, each whole, from -${BPS_ONE} to ${BPS_ONE}` }
  const weight = { type: 'integer', minimum: -BPS_ONE, maximum: BPS_ONE }
  return field(facts, { type: 'object', additionalProperties: weight }, (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    const isWeight = (each: unknown) =>
      typeof each === 'number' && Number.isInteger(each) && Math.abs(each) <= BPS_ONE
    return Object.values(value).every(isWeight) ? (value as Readonly<Record<string, number>>) : undefined
  })
}

/** A whole number from `min` to `max`. */
export function countField(options: { readonly min: number; readonly max: number }): z.ZodType<number> {
  const { min, max } = options
  const facts = { expected: `a whole number from ${min} to ${max}` }
  return field(facts, { type: 'integer', minimum: min, maximum: max }, (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max ? value : undefined,
  )
}

/** Seconds from `min` to `max`, down to a millisecond; whole milliseconds in code. */
export function secondsField(options: { readonly min: number; readonly max: number }): z.ZodType<number> {
  const { min, max } = options
  const facts = {
    expected: `seconds from ${min} to ${max}`,
    written: (ms: unknown) => Number(ms) / 1000,
  }
  return field(facts, decimalShape(3, { minimum: min, maximum: max }, min <= 0), (value) => {
    const text = decimalText(value)
    if (text === undefined || (text.split('.')[1] ?? '').length > 3) return undefined
    const ms = Number(parseUnits(text, 3))
    return ms >= min * 1000 && ms <= max * 1000 ? ms : undefined
  })
}
