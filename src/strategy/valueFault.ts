/**
 * Checks of the return values of a user's code, made of their schemas once: plain tests, so that a decision costs less than a microsecond. A check
 * names the wrong value with its path and text. Pure. A shown value is short: a message is read in a log, on one line.
 */
import { z } from 'zod'
import { isObject } from '../base/isObject.ts'
import type { ValueWords } from '../domain/order/decisionValues.ts'
import { WideDecimal } from '../protocol/units.ts'
import { didYouMean } from './didYouMean.ts'

/** Fault of a value, or of one inside it. */
export interface Fault {
  /** From the value that was looked at to the wrong one: names of fields and places in lists. */
  readonly path: readonly (string | number)[]
  /** One clause that follows the path: `is 7; expected true or false`. */
  readonly clause: string
}

/** Check of a value; undefined: it is as its schema wants it. */
export type Check = (value: unknown) => Fault | undefined

/** Finds the field that is meant by a name which other programs have for it. */
export type OtherName = (name: string, known: readonly string[]) => string | undefined

/** Facts of a schema that its check is made of. */
interface Parts {
  readonly def: {
    readonly type: string
    readonly innerType?: z.core.$ZodType
    readonly element?: z.core.$ZodType
    readonly valueType?: z.core.$ZodType
    readonly options?: readonly z.core.$ZodType[]
    readonly shape?: Readonly<Record<string, z.core.$ZodType>>
    readonly discriminator?: string
    readonly checks?: readonly z.core.$ZodCheck[]
    readonly entries?: Readonly<Record<string, string>>
    readonly values?: readonly unknown[]
  }
  readonly propValues?: Readonly<Record<string, ReadonlySet<unknown>>>
}

/** Range and form of a number or a text. */
interface Range {
  readonly type?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly multipleOf?: number
  readonly minLength?: number
  readonly pattern?: string
}

const rangeOf = (schema: z.core.$ZodType): Range => z.toJSONSchema(schema as z.ZodType) as Range
const partsOf = (schema: z.core.$ZodType): Parts => schema._zod as unknown as Parts

/** Words of a schema; those of a wrapper come before those of the value in it. */
export function wordsOf(schema: z.core.$ZodType): ValueWords {
  const { innerType } = partsOf(schema).def
  const own = z.globalRegistry.get(schema) as ValueWords | undefined
  return innerType === undefined ? (own ?? {}) : { ...wordsOf(innerType), ...own }
}

/** A schema without its being optional or read-only. */
export function bareOf(schema: z.core.$ZodType): z.core.$ZodType {
  const { innerType } = partsOf(schema).def
  return innerType === undefined ? schema : bareOf(innerType)
}

/** Describes the value that a schema expects. Throws TypeError where neither its words nor its type say it. */
export function expectedOf(schema: z.core.$ZodType): string {
  const bare = bareOf(schema)
  const { def } = partsOf(bare)
  const { expected, members = 'values' } = wordsOf(schema)
  if (expected !== undefined) return expected
  if (def.type === 'enum') return inWords(Object.values(def.entries ?? {}), 'or')
  if (def.type === 'literal') return inWords((def.values ?? []).map(String), 'or')
  if (def.type === 'boolean') return 'true or false'
  if (def.type === 'array') return `a list of ${members}`
  if (def.type === 'object') return `an object with ${inWords(Object.keys(def.shape ?? {}), 'and')}`
  if (def.type === 'number') return `a whole number from ${rangeOf(bare).minimum} to ${rangeOf(bare).maximum}`
  throw new TypeError(`a ${def.type} whose expected value has no words`)
}

/** Makes the check of a schema. `name`: the field that has the value. */
export function checkOf(schema: z.core.$ZodType, otherName: OtherName, name = 'the value'): Check {
  const { def } = partsOf(schema)
  const inner = (of: z.core.$ZodType | undefined): Check => checkOf(of as z.core.$ZodType, otherName, name)
  switch (def.type) {
    case 'optional': {
      const check = inner(def.innerType)
      return (value) => (value === undefined ? undefined : check(value))
    }
    case 'readonly':
      return inner(def.innerType)
    case 'array': {
      const expected = expectedOf(schema)
      const element =
        partsOf(def.element as z.core.$ZodType).def.type === 'unknown' ? undefined : inner(def.element)
      return (value) => {
        if (!Array.isArray(value)) return wrong(shown(value), expected)
        if (element === undefined) return undefined
        for (let at = 0; at < value.length; at += 1) {
          const fault = element(value[at])
          if (fault !== undefined) return inside(at, fault)
        }
        return undefined
      }
    }
    case 'record': {
      const expected = expectedOf(schema)
      const member = inner(def.valueType)
      return (value) => {
        if (!isObject(value)) return wrong(shown(value), expected)
        for (const key of Object.keys(value)) {
          const fault = member(value[key])
          if (fault !== undefined) return inside(key, fault)
        }
        return undefined
      }
    }
    case 'object':
      return checkOfObject(schema, otherName, wordsOf(schema).name ?? name)
    case 'union':
      return def.discriminator === undefined ? checkOfLeaf(schema) : checkOfKinds(schema, otherName)
    default:
      return checkOfLeaf(schema)
  }
}

/** Accepts an object with the fields of a schema and no other, that its further rules accept. */
function checkOfObject(schema: z.core.$ZodType, otherName: OtherName, name: string): Check {
  const { shape = {}, checks = [] } = partsOf(schema).def
  const known = Object.keys(shape)
  const names = new Set(known)
  const fields = Object.entries(shape).map(([field, of]) => [field, checkOf(of, otherName, field)] as const)
  const expected = expectedOf(schema)
  return (value) => {
    if (!isObject(value)) return wrong(shown(value), expected)
    for (const field of Object.keys(value)) {
      if (names.has(field)) continue
      const near = otherName(field, known) ?? didYouMean(field, known)
      const hint = near === undefined ? `its fields are ${known.join(', ')}` : `did you mean ${near}?`
      return { path: [field], clause: `is not a field of ${name}; ${hint}` }
    }
    for (const [field, check] of fields) {
      const fault = check(value[field])
      if (fault !== undefined) return inside(field, fault)
    }
    for (const { _zod } of checks) {
      const payload: z.core.ParsePayload = { value, issues: [] }
      _zod.check(payload as z.core.ParsePayload<never>)
      const [issue] = payload.issues
      if (issue === undefined) continue
      const path = (issue.path ?? []).map((step) => (typeof step === 'number' ? step : String(step)))
      const given = path.reduce<unknown>((of, step) => (isObject(of) ? of[step] : undefined), value)
      return { ...wrong(shown(given), issue.message ?? ''), path }
    }
    return undefined
  }
}

/** Accepts what the schema of its kind accepts. */
function checkOfKinds(schema: z.core.$ZodType, otherName: OtherName): Check {
  const { discriminator = '', options = [] } = partsOf(schema).def
  const { name = 'kind' } = wordsOf(schema)
  const byKind = new Map(
    options.flatMap((option) =>
      [...(partsOf(option).propValues?.[discriminator] ?? [])].map(
        (kind) => [kind, checkOfObject(option, otherName, `${name} ${kind}`)] as const,
      ),
    ),
  )
  const expected = inWords([...byKind.keys()].map(String), 'or')
  return (value) => {
    const kind = isObject(value) ? value[discriminator] : undefined
    const check = byKind.get(kind)
    return check === undefined ? inside(discriminator, wrong(shown(kind), expected)) : check(value)
  }
}

function checkOfLeaf(schema: z.core.$ZodType): Check {
  const isGood = testOf(schema)
  const expected = expectedOf(schema)
  const { write } = wordsOf(schema)
  return (value) => {
    if (isGood(value)) return undefined
    if (write === undefined) return wrong(shown(value), expected)
    const decimal = decimalOf(value)
    if (decimal === undefined) return wrong(shown(value), `${expected}: ${write.replace('#', '12.5')}`)
    return wrong(
      `the ${typeof value === 'number' ? 'number' : 'text'} ${shown(value)}`,
      `a bigint, ${write.replace('#', decimal)}`,
    )
  }
}

function testOf(schema: z.core.$ZodType): (value: unknown) => boolean {
  const { def } = partsOf(schema)
  switch (def.type) {
    case 'bigint':
    case 'boolean':
      return (value) => typeof value === def.type
    case 'enum':
    case 'literal': {
      const allowed = new Set<unknown>(def.values ?? Object.values(def.entries ?? {}))
      return (value) => allowed.has(value)
    }
    case 'string': {
      const { minLength = 0, pattern = '' } = rangeOf(schema)
      const form = new RegExp(pattern)
      return (value) => typeof value === 'string' && value.length >= minLength && form.test(value)
    }
    case 'number': {
      const { type, minimum, maximum, exclusiveMinimum, multipleOf = 0 } = rangeOf(schema)
      const [least, most] = [minimum ?? Number.NEGATIVE_INFINITY, maximum ?? Number.POSITIVE_INFINITY]
      const above = exclusiveMinimum ?? Number.NEGATIVE_INFINITY
      const isNumber = type === 'integer' ? Number.isSafeInteger : Number.isFinite
      return (value) =>
        isNumber(value) &&
        (value as number) >= least &&
        (value as number) <= most &&
        (value as number) > above &&
        (multipleOf === 0 || (value as number) % multipleOf === 0)
    }
    case 'union': {
      const tests = (def.options ?? []).map(testOf)
      return (value) => tests.some((isGood) => isGood(value))
    }
    default:
      throw new TypeError(`no check of a ${def.type}`)
  }
}

/** More than this is no amount as people write it, but one with its 30 decimals that was turned into a number. */
const MOST_WRITTEN = 1e15

/** Returns the amount that somebody meant by a number or a text; undefined where that cannot be decided. */
function decimalOf(value: unknown): string | undefined {
  if (typeof value === 'string') return /^\d{1,15}(\.\d{1,18})?$/.test(value) ? value : undefined
  if (typeof value !== 'number' || !(value > 0 && value < MOST_WRITTEN)) return undefined
  return new WideDecimal(value).toFixed()
}

function wrong(given: string, expected: string): Fault {
  return { path: [], clause: `is ${given}; expected ${expected}` }
}

function inside(name: string | number, { path, clause }: Fault): Fault {
  return { path: [name, ...path], clause }
}

/** `tpsl[0].triggerPrice`; with `[]` for every place in a list where `isOfAll`. */
export function pathText(path: readonly (string | number)[], isOfAll = false): string {
  return path
    .map((step, at) => {
      if (typeof step === 'number') return isOfAll ? '[]' : `[${step}]`
      if (!/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(step) && at > 0) return `[${shown(step)}]`
      return at === 0 ? cut(step) : `.${cut(step)}`
    })
    .join('')
}

/** A value in a few words: scalars as they are written, anything else by its shape. */
export function shown(value: unknown): string {
  switch (typeof value) {
    case 'bigint':
      return cut(`${value}n`)
    case 'string':
      return cut(JSON.stringify(value))
    case 'function':
      return 'a function'
    case 'object':
      return value === null ? 'null' : shapeOf(value)
    default:
      return String(value)
  }
}

/** Names of an object's fields that are shown. */
const MOST_NAMES = 6

function shapeOf(value: object): string {
  if (Array.isArray(value)) {
    return value.length === 0 ? 'an empty list' : `a list of ${value.length}`
  }
  const names = Object.keys(value).map(cut)
  if (names.length === 0) return 'an object without fields'
  const [few, others] = [names.slice(0, MOST_NAMES), names.length - MOST_NAMES]
  return `an object with ${others > 0 ? `${few.join(', ')} and ${others} more` : inWords(few, 'and')}`
}

/** `a, b and c`. */
function inWords(words: readonly string[], last: 'and' | 'or'): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`
}

/** Longest text of a value, characters: an order key in quotes fits. */
const LONGEST = 68

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
}
