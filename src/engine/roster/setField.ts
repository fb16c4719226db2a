/**
 * Changes one field in the text of a strategy file, and nothing else of it: comments, order, quotes and blank lines stay as they are. What
 * is written is a single value; lists and blocks are edited by hand. Pure.
 */
import { isMap, isScalar, isSeq, parseDocument } from 'yaml'
import { livesOf, type TakenOver, type WrittenFields } from '../../strategy/files/fileLife.ts'
import { fileSchema } from '../../strategy/files/fileSchema.ts'

/** A text with its changed field, or why the field cannot be changed so. */
export type SetField =
  | {
      readonly ok: true
      readonly text: string
      /** The value that stood there, as it was written; absent: the field was left out. */
      readonly was?: string
    }
  | { readonly ok: false; readonly code: SetFieldCode; readonly reason: string }

/** Codes of refusals. */
export type SetFieldCode =
  | 'FIELD_UNKNOWN'
  | 'FIELD_NEEDS_RESTART'
  | 'FIELD_NOT_ONE_VALUE'
  | 'VALUE_NOT_ONE_VALUE'

const lives = livesOf(fileSchema)

/** One value that stands in a strategy file. */
export interface FileField {
  /** Name of the field in a request: `params.fastCandles`, `markets.0`. */
  readonly field: string
  /** The value as JSON; a long one is cut, and its length is given. */
  readonly value: string
  /** Time when a change of it takes effect. `limits`: a tighter one at once, a looser one when an operator confirms it. */
  readonly takenOver: TakenOver
}

/** The values of a file, in its order. */
export function fileFields(written: WrittenFields): readonly FileField[] {
  return Object.entries(written).flatMap(([field, value]) => {
    const takenOver = lives.get(field.split('.')[0] ?? '')
    return takenOver === undefined ? [] : [{ field, value, takenOver }]
  })
}

/** Tells whether a running daemon applies a changed field: `params.fast`, `size.usd`. */
function isTakenOverLive(field: string): boolean {
  const when = lives.get(field.split('.')[0] ?? '')
  return when === 'live' || when === 'limits'
}

/**
 * Returns the text with `field` (dotted, `params.fastCandles`) as `value`, written as in YAML. Refuses a field of no file, and one that needs a
 * restart or holds a list or a block. Refuses also a value that is not one value on one line.
 */
export function setField(text: string, field: string, value: string): SetField {
  const [top = '', ...inner] = field.split('.')
  if (!lives.has(top)) {
    const known = [...lives.keys()].filter(isTakenOverLive).join(', ')
    return no(
      'FIELD_UNKNOWN',
      `${field} is not a field of a strategy file; fields that can be set begin with ${known}`,
    )
  }
  if (!isTakenOverLive(field))
    return no('FIELD_NEEDS_RESTART', `${field} needs a restart; change it in the file`)
  const problem = valueProblem(value)
  if (problem !== undefined) return no('VALUE_NOT_ONE_VALUE', problem)
  const document = parseDocument(text)
  const path = [top, ...inner.map((key) => (/^\d+$/.test(key) ? Number(key) : key))]
  const node = document.getIn(path, true)
  if (isScalar(node) && node.range != null) {
    const [from, to] = node.range
    return { ok: true, text: text.slice(0, from) + value + text.slice(to), was: text.slice(from, to) }
  }
  if (isMap(node) || isSeq(node))
    return no('FIELD_NOT_ONE_VALUE', `${field} holds more than one value; change it in the file`)
  return added(
    text,
    path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true),
    path,
    value,
  )
}

/** A line after the last one of the block that the field belongs to. */
function added(text: string, parent: unknown, path: readonly (string | number)[], value: string): SetField {
  const field = path.join('.')
  const key = path.at(-1)
  if (
    !isMap(parent) ||
    parent.flow === true ||
    typeof key !== 'string' ||
    !/^[A-Za-z][A-Za-z0-9]*$/.test(key)
  )
    return no('FIELD_NOT_ONE_VALUE', `${field} has no block in the file; add it by hand`)
  const last = parent.items.at(-1)
  const [from] = isScalar(last?.key) ? (last.key.range ?? []) : []
  const end = isNodeWithRange(last?.value) ? last.value.range[1] : undefined
  if (from === undefined || end === undefined)
    return no('FIELD_NOT_ONE_VALUE', `${field} has no block in the file; add it by hand`)
  const indent = from - (text.lastIndexOf('\n', from - 1) + 1)
  // After the whole line, with the comment that it may have.
  const newline = text.indexOf('\n', Math.max(from, end - 1))
  const at = newline < 0 ? text.length : newline
  return { ok: true, text: `${text.slice(0, at)}\n${' '.repeat(indent)}${key}: ${value}${text.slice(at)}` }
}

function isNodeWithRange(value: unknown): value is { readonly range: readonly [number, number, number] } {
  return typeof value === 'object' && value !== null && 'range' in value && Array.isArray(value.range)
}

/** Returns the reason why a text is not one value of YAML on one line. */
function valueProblem(value: string): string | undefined {
  const shown = JSON.stringify(value.slice(0, 60))
  const odd = `${shown} is not a value on one line, like 20, long or "09:00"; a text with signs of YAML needs quotes`
  // A mark of YAML before a value (an anchor, a tag, a block) would stay in the file.
  if (value.trim() !== value || value === '' || /[\n\r#]|^[&!|>]/.test(value)) return odd
  const document = parseDocument(`field: ${value}`)
  if (document.errors.length > 0) return odd
  return isScalar(document.getIn(['field'], true)) ? undefined : `${shown} is more than one value`
}

function no(code: SetFieldCode, reason: string): SetField {
  return { ok: false, code, reason }
}
