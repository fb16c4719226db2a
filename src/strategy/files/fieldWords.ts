/** Meaning, values and default of a strategy file's field: for editors and for `perpd strategies describe`. */
import { z } from 'zod'
import { defined } from '../../base/defined.ts'
import { fieldFacts } from '../fields.ts'

/** A field in words. */
export interface FieldWords {
  /** Meaning of the field; absent where it has no description. */
  readonly meaning?: string
  /** Unit and range; absent where its inner fields have their own. */
  readonly expected?: string
  /** Default when the field is left out, in the form of a file; absent: none. */
  readonly initial?: unknown
  /** True if a file must have it. */
  readonly isRequired: boolean
}

/** A field's words, through `optional` and `default`. */
export function wordsOf(field: z.ZodType): FieldWords {
  let inner = field
  let initial: unknown
  let isRequired = true
  const said: (string | undefined)[] = [z.globalRegistry.get(inner)?.description]
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault) {
    isRequired = false
    if (inner instanceof z.ZodDefault) initial ??= inner.def.defaultValue
    inner = inner.unwrap() as z.ZodType
    said.push(z.globalRegistry.get(inner)?.description)
  }
  const facts = fieldFacts.get(inner)
  const expected = facts?.expected ?? expectedOf(inner)
  const meaning = said.find((text) => text !== undefined && text !== expected)
  return {
    ...defined({ meaning, expected }),
    ...defined({ initial: initial === undefined ? undefined : (facts?.written?.(initial) ?? initial) }),
    isRequired,
  }
}

/** The fields of a kind's parameters by name, in their order; undefined where its schema is no object of fields. */
export function fieldsOf(
  schema: z.ZodType,
): readonly (readonly [name: string, field: z.ZodType])[] | undefined {
  return schema instanceof z.ZodObject
    ? Object.entries(schema.shape).map(([name, field]) => [name, field as z.ZodType] as const)
    : undefined
}

/** Describes in a clause the JSON Schema of a field that zod itself reads. */
function expectedOf(field: z.ZodType): string | undefined {
  const { type, enum: values, minimum, exclusiveMinimum, maximum } = shapeOf(field)
  if (values !== undefined) return `one of ${values.join(', ')}`
  if (type === 'boolean') return 'true or false'
  if (type !== 'number' && type !== 'integer') return undefined
  const from = minimum ?? exclusiveMinimum
  const word = type === 'integer' ? 'a whole number' : 'a number'
  const least = from === undefined ? '' : minimum === undefined ? ` above ${from}` : ` from ${from}`
  return `${word}${least}${maximum === undefined ? '' : ` up to ${maximum}`}`
}

function shapeOf(field: z.ZodType): {
  readonly type?: unknown
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
} {
  return z.toJSONSchema(field, { io: 'input', unrepresentable: 'any' }) as ReturnType<typeof shapeOf>
}
