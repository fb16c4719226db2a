/** Edits of an answer's JSON: what a newer, older or broken deployment may send instead of the documented body. */

import { isObject } from '../../base/isObject.ts'

/** One edit: at every place that the path names, a value is put, taken away or added to. */
export interface AnswerEdit {
  /** Fields and places from the body down, as `/3/minPrice`; `*` stands for each field or element there. */
  readonly path: string
  /** The value that is put there. */
  readonly set?: unknown
  /** Takes the field or element away. */
  readonly remove?: true
  /** Added to the number that is there. */
  readonly add?: number
}

const names = new Set(['path', 'set', 'remove', 'add'])

/** Reads a list of edits; a text says what is wrong with it. */
export function readAnswerEdits(value: unknown): readonly AnswerEdit[] | string {
  if (!Array.isArray(value) || value.length === 0 || value.length > 20) {
    return 'edits must be a list of 1 to 20 edits'
  }
  for (const edit of value as unknown[]) {
    if (!isObject(edit) || Object.keys(edit).some((name) => !names.has(name))) {
      return 'an edit has a path and one of set, remove and add'
    }
    if (typeof edit.path !== 'string' || !/^(\/[^/]+)+$/.test(edit.path)) {
      return 'path of an edit must name a place in the body, as /3/minPrice or /*/updatedAt'
    }
    const does = ['set', 'remove', 'add'].filter((name) => edit[name] !== undefined)
    if (does.length !== 1) return 'an edit has one of set, remove and add'
    if (edit.add !== undefined && !Number.isFinite(edit.add)) return 'add of an edit must be a number'
  }
  return value as AnswerEdit[]
}

/** The text of a JSON body after the edits; a text that is no JSON stays as it is. */
export function editedAnswer(text: string, edits: readonly AnswerEdit[]): string {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return text
  }
  for (const edit of edits) editAt(body, edit.path.slice(1).split('/'), edit)
  return JSON.stringify(body)
}

function editAt(parent: unknown, [key = '', ...rest]: readonly string[], edit: AnswerEdit): void {
  if (typeof parent !== 'object' || parent === null) return
  const fields = parent as Record<string, unknown>
  // From the end, so that taking elements away moves none that is still to come.
  const keys = key === '*' ? Object.keys(fields).reverse() : [key]
  for (const name of keys) {
    if (rest.length > 0) editAt(fields[name], rest, edit)
    else if (edit.remove !== true)
      fields[name] = edit.add === undefined ? edit.set : Number(fields[name]) + edit.add
    else if (Array.isArray(parent)) parent.splice(Number(name), 1)
    else delete fields[name]
  }
}
