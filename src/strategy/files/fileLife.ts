/** Effect of a changed strategy file field in a running daemon: each field states it in the schema. */
import { z } from 'zod'
import { defined } from '../../base/defined.ts'
import type { FieldChange } from '../../domain/accountRecords/strategyEntry.ts'

/** Time at which a changed field takes effect. `limits`: a tighter one at once, a looser one when an operator confirms it, or at a restart. */
export type TakenOver = 'live' | 'limits' | 'restart'

const words = z.registry<{ readonly takenOver: TakenOver }>()

/** The field says when its change is taken over. */
export function takenOver<T extends z.ZodType>(when: TakenOver, field: T): T {
  words.add(field, { takenOver: when })
  return field
}

/** Returns the time at which each field of a schema takes effect, by name; undefined for one that does not state it. */
export function livesOf(schema: z.ZodObject): ReadonlyMap<string, TakenOver | undefined> {
  return new Map(
    Object.entries(schema.shape).map(([name, field]) => [name, words.get(field as z.ZodType)?.takenOver]),
  )
}

/** Content of a file, flat: text by dotted field, lists by number. It contains only written fields, without defaults. */
export type WrittenFields = Readonly<Record<string, string>>

/** Longest text of one value; a longer one is cut, and its length is given. */
const MOST_TEXT = 120

/** The fields of a parsed YAML value. */
export function writtenFields(value: unknown, path: readonly (string | number)[] = []): WrittenFields {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) {
    return { [path.join('.')]: textOf(value) }
  }
  const inner = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return Object.assign({}, ...inner.map(([key, each]) => writtenFields(each, [...path, key])))
}

/** Returns the differences from one writing to another, in the order of the new one; removed fields come last. */
export function changedFields(from: WrittenFields, to: WrittenFields): readonly FieldChange[] {
  const names = [...new Set([...Object.keys(to), ...Object.keys(from)])]
  return names.flatMap((field): FieldChange[] => {
    const [was, is] = [from[field], to[field]]
    if (was === is) return []
    return [{ field, ...defined({ from: was, to: is }) }]
  })
}

function textOf(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}… (${text.length} characters)` : text
}
