/**
 * Fields of the parameters of tasks. A field stands once, in the file of its kind: a strategy's decision, the body of the operator's command, flags,
 * the form of the console, the persisted parameters and the reference pages derive from it. Pure.
 */
import { z } from 'zod'
import { dollars, shareBps, typed } from '../base/bodyFields.ts'
import { usdAmount, usdPrice, whole as wholeValue } from '../domain/order/decisionValues.ts'
import { BPS_ONE, usd } from '../protocol/units.ts'

/** `needed`: a start without it is refused; `initial`: it has a value when nothing is said; `optional`: it may be absent. */
type Given = 'needed' | 'initial' | 'optional'

/** Words of a field, and its names. */
interface Told<Kept extends string | false> {
  /** Meaning, a clause without a capital: the help of its flag, and the reference page. */
  readonly means: string
  /** Name in the operator's body, of which the flag is made; absent: the field's own. */
  readonly typed?: string
  /** Part of the request in words. `shown`: its text. Undefined: nothing. Absent: the row's first words have it, or nobody needs it. */
  readonly said?: (shown: string) => string | undefined
  /** The field of the console's form: its label, and its value at the beginning. Absent: the form has none. */
  readonly form?: readonly [label: string, value?: string]
  /** Name in the persisted parameters; false: they have it in another form. Absent: the field's own. */
  readonly keptAs?: Kept
}

/** A field. */
export interface TaskField<
  Schema extends z.ZodType = z.ZodType,
  Is extends Given = Given,
  Kept extends string | false = string | false,
> extends Told<Kept> {
  /** Its value in a decision. */
  readonly schema: Schema
  /** Its value in the operator's body. */
  readonly text: z.ZodType
  /** Makes the value of a text. */
  readonly read: (text: never) => z.output<Schema>
  /** Shows a text of the operator's body in words. */
  readonly show: (text: never) => string
  readonly given: Is
  readonly initial?: z.output<Schema>
  /** True if the initial value is part of the operator's request. */
  readonly isInitialSaid?: true
  /** Its value is persisted so many times: minutes and seconds as milliseconds. */
  readonly times?: number
  /** Name of the flag's value; absent: the flag has none, and gives `flagGives`. */
  readonly flagValue?: string
  readonly flagGives?: { readonly flag: string; readonly value: string }
}

/** The fields of a kind, by their names in a decision. */
export type TaskFields = Readonly<Record<string, TaskField>>

type Flat<T> = { readonly [Name in keyof T]: T[Name] }
type ValueOf<Field extends TaskField> = z.output<Field['schema']>
type OptionalIn<Fields extends TaskFields, Is extends Given> = {
  [Name in keyof Fields]: Fields[Name]['given'] extends Is ? Name : never
}[keyof Fields]
type Some<Fields extends TaskFields, Optional> = {
  readonly [Name in Exclude<keyof Fields, Optional>]: ValueOf<Fields[Name]>
} & { readonly [Name in Extract<keyof Fields, Optional>]?: ValueOf<Fields[Name]> }
type KeptName<Field, Name> =
  Field extends TaskField<z.ZodType, Given, infer Kept> ? ([Kept] extends [never] ? Name : Kept) : never
type Named<Fields extends TaskFields> = {
  [Name in keyof Fields as Exclude<KeptName<Fields[Name], Name>, false> & string]: Fields[Name]
}

/** The fields as a decision has them. */
export type GivenFields<Fields extends TaskFields> = Flat<
  Some<Fields, OptionalIn<Fields, 'initial' | 'optional'>>
>
/** The fields with initial values in place of what is absent. */
export type FilledFields<Fields extends TaskFields> = Flat<Some<Fields, OptionalIn<Fields, 'optional'>>>
/** The fields as parameters persist them. */
export type KeptFields<Fields extends TaskFields> = Flat<
  Some<Named<Fields>, OptionalIn<Named<Fields>, 'optional'>>
>

/** A field that may be absent. */
export function optional<Schema extends z.ZodType, Kept extends string | false>(
  field: TaskField<Schema, Given, Kept>,
): TaskField<Schema, 'optional', Kept> {
  return { ...field, given: 'optional' }
}

/** A field with a value when nothing is said. */
export function initially<Schema extends z.ZodType, Kept extends string | false>(
  initial: z.output<Schema>,
  field: TaskField<Schema, Given, Kept>,
): TaskField<Schema, 'initial', Kept> {
  return { ...field, given: 'initial', initial }
}

/** An amount, USD. */
export function amount<const Kept extends string | false = never>(
  told: Told<Kept>,
): TaskField<typeof usdAmount, 'needed', Kept> {
  return {
    ...told,
    schema: usdAmount,
    text: dollars,
    read: usd,
    show: String,
    given: 'needed',
    flagValue: 'USD',
  }
}

/** USD per whole index token. */
export function price<const Kept extends string | false = never>(
  told: Told<Kept>,
): TaskField<typeof usdPrice, 'needed', Kept> {
  return { ...amount(told), schema: usdPrice, flagValue: 'PRICE' }
}

/** The size that a task trades in all. */
export const sizeInAll = amount({
  typed: 'size',
  means: 'all of it together',
  form: ['Total size, USD'],
  keptAs: false,
})

type WholeField<Kept extends string | false> = TaskField<ReturnType<typeof wholeValue>, 'needed', Kept>

/** A whole number in a range. */
export function whole<const Kept extends string | false = never>(
  [least, most]: readonly [number, number],
  told: Told<Kept> & { readonly times?: number },
): WholeField<Kept> {
  const schema = wholeValue(least, most)
  return { ...told, schema, text: schema, read: same, show: String, given: 'needed', flagValue: 'N' }
}

/** Minutes, a week at most. */
export function minutes<const Kept extends string | false = never>(told: Told<Kept>): WholeField<Kept> {
  return whole([1, WEEK_MINUTES], { ...told, times: MINUTE_MS })
}

/** Least time between two orders, or two moves: a day at most. */
export function everySeconds(told: Omit<Told<'everyMs'>, 'keptAs' | 'said'>): WholeField<'everyMs'> {
  const said = (shown: string) => `every ${shown} s`
  const field = whole([10, 86_400], { ...told, said, keptAs: 'everyMs', times: 1_000 })
  return { ...field, flagValue: 'SECONDS' }
}

/** A share or a distance, bps: less than the whole. `typedMost`: the most that an operator may give. */
export function percent<const Kept extends string | false = never>(
  told: Told<Kept> & { readonly most?: number; readonly typedMost?: number },
): WholeField<Kept> {
  const { most = BPS_ONE - 1, typedMost = most, ...parts } = told
  const text = z.int().min(1).max(typedMost).meta(typed('percent'))
  const field = whole([1, most], parts)
  return { ...field, text, show: percentText, flagValue: 'PERCENT' }
}

/** The most of the capacity of its moment that an order may take, bps. `order`: one order in words. */
export function capacityShare(order: string): TaskField<ReturnType<typeof wholeValue>, 'initial', never> {
  const field = percent({
    most: BPS_ONE,
    means: 'most of the available capacity for an order',
    said: (shown) => `at most ${shown} of the capacity ${order}`,
  })
  return { ...initially(SHARE_BPS, field), text: shareBps, isInitialSaid: true }
}

/** A multiple, bps: 10000 = once. */
export function timesBps<const Kept extends string | false = never>(
  [least, most]: readonly [number, number],
  told: Told<Kept>,
): WholeField<Kept> {
  const field = whole([least, most], told)
  const show = (bps: number) => `${bps / BPS_ONE}`
  return { ...field, text: wholeValue(least, most).meta(typed('timesBps')), show }
}

/** Shows basis points in words. */
export function percentText(basisPoints: number): string {
  return `${basisPoints / 100} percent`
}

function same(value: number): number {
  return value
}

/** A minute, ms. */
export const MINUTE_MS = 60_000
/** A day, minutes. */
export const DAY_MINUTES = 1_440
/** A week, minutes. */
export const WEEK_MINUTES = 10_080
/** Share of the capacity that an order takes at most when a start names none, bps. */
const SHARE_BPS = 2_500

/** Returns the values of a decision with initial values in place of what is absent. */
export function filled(fields: TaskFields, given: object): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, { initial }] of Object.entries(fields)) {
    const value = (given as Record<string, unknown>)[name] ?? initial
    if (value !== undefined) values[name] = value
  }
  return values
}

/** Returns filled values as parameters persist them. */
export function kept(fields: TaskFields, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const params: Record<string, unknown> = {}
  for (const [name, { keptAs = name, times = 1 }] of Object.entries(fields)) {
    const value = values[name]
    if (keptAs !== false && value !== undefined) params[keptAs] = times === 1 ? value : Number(value) * times
  }
  return params
}

/** Returns the values of an operator's texts. */
export function valuesOf(
  fields: TaskFields,
  texts: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, { typed: by = name, read }] of Object.entries(fields)) {
    if (texts[by] !== undefined) values[name] = read(texts[by] as never)
  }
  return values
}

/** Describes the operator's texts, a part for each field that has words. */
export function saidOf(fields: TaskFields, texts: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(fields).flatMap(([name, { typed: by = name, said, show }]) => {
    const text = texts[by]
    const part = text === undefined ? undefined : said?.(show(text as never))
    return part === undefined ? [] : [part]
  })
}
