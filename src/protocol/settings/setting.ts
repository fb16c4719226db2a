/**
 * A setting, written once: a format that says what its value may be and what it is in the code, its default, and its sentence.
 * Flags, environment variables, files, docs/reference/configuration.md, the JSON Schema and the type of the configuration come from it.
 */
import { z } from 'zod'
import { NATIVE_DECIMALS, parseUnits, type TokenAmount, type Usd, usd } from '../units.ts'

/** A value in its normal form, as JSON can carry it. */
export type Value =
  | string
  | number
  | boolean
  | readonly string[]
  | readonly Readonly<Record<string, unknown>>[]

/** Unit of a number or an amount; a setting's name ends with it. */
export type Unit = 'ms' | 'seconds' | 'minutes' | 'hours' | 'bps' | 'USD' | 'MiB' | 'blocks'

/** Where a path that was written starts, and what stands for the profile in it. */
export type Locate = (path: string) => string

/** One kind of value. `T` is what the code reads. */
export interface Format<out T = unknown> {
  /** Form of a good value, to follow "expected". */
  readonly expected: string
  /** True when the value is a list: flags may repeat, variables separate by commas. */
  readonly list: boolean
  /** True when the value may carry a secret: it is never printed whole. */
  readonly isSecret: boolean
  /** True when the value is a list of objects: a field may hold a secret in the place of its file, so no value is printed. */
  readonly hasFields: boolean
  readonly unit?: Unit
  /** JSON to the normal form. */
  readonly written: z.ZodType<Value>
  /** The same for text of a flag or an environment variable. */
  readonly text: z.ZodType<Value, string>
  /** The normal form to what the code reads. */
  readonly shape: z.ZodType<T, Value>
  /** The normal form with its paths made absolute; absent: it has none. */
  readonly locate?: (value: Value, locate: Locate) => Value
  /** The normal form of a value from JSON, or undefined when it does not fit. */
  read(value: unknown): Value | undefined
  /** The same for text. */
  readText(text: string): Value | undefined
}

interface Parts<V extends Value, T> {
  readonly expected: string
  readonly written: z.ZodType<V>
  /** Converts the normal form to the value that the code reads; absent: the normal form itself. */
  readonly means?: (value: V) => T
  /** Absent: text is read as a text in JSON. */
  readonly text?: z.ZodType<V, string>
  readonly list?: true
  readonly isSecret?: true
  readonly hasFields?: true
  readonly unit?: Unit | undefined
  readonly locate?: (value: Value, locate: Locate) => Value
}

/** A format of its parts. */
export function format<V extends Value, T = V>(parts: Parts<V, T>): Format<T> {
  const { expected, written, list = false, isSecret = false, hasFields = false, unit, means, locate } = parts
  const text = parts.text ?? (written as unknown as z.ZodType<V, string>)
  return {
    expected,
    list,
    isSecret,
    hasFields,
    ...(unit === undefined ? {} : { unit }),
    written,
    text,
    shape: written.transform(means ?? ((value) => value as unknown as T)) as unknown as z.ZodType<T, Value>,
    ...(locate === undefined ? {} : { locate }),
    read: (value) => written.safeParse(value).data,
    readText: (value) => text.safeParse(value).data,
  }
}

/** The same format, with another meaning in the code. */
export function meaning<A, B>(of: Format<A>, means: (value: A) => B): Format<B> {
  return { ...of, shape: of.shape.transform(means) as unknown as z.ZodType<B, Value> }
}

/** One setting. */
export interface Setting<out T = unknown> {
  readonly doc: string
  readonly default: Value
  readonly reads: Format<T>
  /** True when `perpd limits apply` takes a change over; any other waits for a restart. */
  readonly isLimit?: true
}

/** A setting of its format, default and sentence. */
export function setting<T>(reads: Format<T>, initial: Value, doc: string): Setting<T> {
  return { doc, default: initial, reads }
}

/** A setting that `perpd limits apply` takes over. */
export function liveSetting<T>(reads: Format<T>, initial: Value, doc: string): Setting<T> {
  return { ...setting(reads, initial, doc), isLimit: true }
}

/** Settings by name. */
export type Section = Readonly<Record<string, Setting>>

/** Type of a setting's value in the code. */
export type TypeOf<S extends Setting> = z.infer<S['reads']['shape']>

/** Types of a section's values in the code. */
export type Typed<S extends Section> = { readonly [K in keyof S]: TypeOf<S[K]> }

/** Text of any kind that fits a pattern. */
export function matching(expected: string, pattern: RegExp): Format<string> {
  return format({ expected, written: z.string().regex(pattern) })
}

/** Any text, the empty one included. */
export const text: Format<string> = format({ expected: 'text', written: z.string() })

/** The same; the empty one is none. */
export const textOrNone: Format<string | undefined> = meaning(text, (value) => value || undefined)

/** One of some words. */
export function choice<const W extends string>(words: readonly W[]): Format<W> {
  return format({ expected: `one of ${words.join(', ')}`, written: z.enum(words) as z.ZodType<W> })
}

/** true or false. */
export const flag: Format<boolean> = format({
  expected: 'true or false',
  written: z.boolean(),
  text: z.enum(['true', 'false']).transform((word) => word === 'true'),
})

/** A whole number within bounds, both included. */
export function integer(least: number, most: number, unit?: Unit): Format<number> {
  const written = z.int().min(least).max(most)
  return format({
    expected: `a whole number from ${least} to ${most}`,
    written,
    text: z
      .string()
      .regex(/^-?\d{1,16}$/)
      .transform(Number)
      .pipe(written),
    unit,
  })
}

/** Milliseconds, a day at most. */
export const ms = (least: number, most = 86_400_000): Format<number> => integer(least, most, 'ms')

/** Seconds. */
export const seconds = (least: number, most: number): Format<number> => integer(least, most, 'seconds')

/** Basis points, none or more. */
export const bps = (most: number): Format<number> => integer(0, most, 'bps')

const plainDecimal = /^\d{1,30}(\.\d{1,30})?$/

/** Bounds of a decimal number. */
export interface DecimalBounds {
  readonly decimals: number
  readonly least: string
  readonly most: string
  readonly unit?: Unit
}

/**
 * A non-negative decimal number kept as its text, exact, with at most `decimals` decimals. JSON numbers are taken when
 * their text is plain and short enough (15 digits) to be exactly what was written.
 */
export function decimal(expected: string, { decimals, least, most, unit }: DecimalBounds): Format<string> {
  const [leastUnits, mostUnits] = [parseUnits(least, decimals), parseUnits(most, decimals)]
  const fits = (value: string | number): boolean => {
    const plain = String(value)
    if (!plainDecimal.test(plain)) return false
    if (typeof value === 'number' && plain.replace('.', '').length > 15) return false
    if ((plain.split('.')[1] ?? '').length > decimals) return false
    const units = parseUnits(plain, decimals)
    return units >= leastUnits && units <= mostUnits
  }
  const written = z
    .union([z.string().regex(plainDecimal), z.number().min(0)])
    .refine(fits)
    .transform(String)
  return format({ expected, written, unit })
}

const upToTrillion = { decimals: 18, most: '1000000000000', unit: 'USD' } as const

/** An amount of US dollars, zero excluded. */
export const dollars: Format<Usd> = meaning(
  decimal('an amount of US dollars above 0, as 500 or "500.50"', {
    ...upToTrillion,
    least: '0.000000000000000001',
  }),
  usd,
)

/** The same, and 0 for none. */
export const dollarsOrNone: Format<Usd> = meaning(
  decimal('an amount of US dollars, as 500 or "500.50"; 0 for none', { ...upToTrillion, least: '0' }),
  usd,
)

/** An amount of the chain's native token, in whole tokens; `example` is one as it is written. */
export function native(example: string): Format<TokenAmount> {
  const bounds = { decimals: NATIVE_DECIMALS, least: '0', most: '1000000' }
  return meaning(decimal(`an amount of the native token, as "${example}"`, bounds), (value) =>
    parseUnits(value, NATIVE_DECIMALS),
  )
}

/** A list; in text form the items are separated by commas. `item` judges one. */
export function list<T = string>(
  expected: string,
  accepts: (item: string) => boolean,
  options: { readonly means?: (item: string) => T; readonly isSecret?: true } = {},
): Format<readonly T[]> {
  const { means, isSecret } = options
  const written = z.array(z.string().trim().refine(accepts)) as z.ZodType<readonly string[]>
  return format({
    expected,
    list: true,
    ...(isSecret === undefined ? {} : { isSecret }),
    written,
    text: z
      .string()
      .transform((value) => (value.trim() === '' ? [] : value.split(',')))
      .pipe(written as z.ZodType<readonly string[], string[]>),
    means: (items) =>
      means === undefined ? (items as readonly unknown[] as readonly T[]) : items.map(means),
  })
}

/** A list of some words. */
export function choices<const W extends string>(words: readonly W[]): Format<readonly W[]> {
  return list(`a list of ${words.join(', ')}`, (item) => words.some((word) => word === item), {
    means: (item) => item as W,
  })
}

/** Returns the values that the code reads for values in their normal form. */
export function typedSection<S extends Section>(
  section: S,
  values: Readonly<Record<string, unknown>>,
  locate: Locate = (path) => path,
): Typed<S> {
  return Object.fromEntries(
    Object.entries(section).map(([key, { reads }]) => {
      const value = values[key] as Value
      return [key, reads.shape.parse(reads.locate === undefined ? value : reads.locate(value, locate))]
    }),
  ) as Typed<S>
}

/** Returns a section's defaults as the code reads them. */
export function defaultsOf<S extends Section>(section: S): Typed<S> {
  return typedSection(
    section,
    Object.fromEntries(Object.entries(section).map(([key, entry]) => [key, entry.default])),
  )
}
