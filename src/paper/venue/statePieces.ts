/**
 * The text of a state in pieces: joined they are what `encodeState` writes. A long list is written row by row, so that whoever makes the
 * text can let others go first between two rows.
 */
import { encodeState } from './stateLog.ts'

/** A list with more rows is written row by row. */
const LONG = 16

function isLong(value: unknown): boolean {
  return Array.isArray(value) && value.length > LONG
}

/** Judges whether a value is a record that holds a long list. */
function holdsLong(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).some((inner) => isLong(inner) || holdsLongRows(inner))
  )
}

/** Judges whether a value is a short list, one of whose rows holds a long one. */
function holdsLongRows(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length <= LONG && value.some(holdsLong)
}

/** Pieces of the text of a value, none of them empty. */
export function* statePieces(value: unknown): Generator<string, void, undefined> {
  if (Array.isArray(value) && (isLong(value) || holdsLongRows(value))) {
    let before = '['
    for (const row of value as readonly unknown[]) {
      yield before
      before = ','
      // A row that says nothing is null in a list, as JSON has it.
      yield* statePieces(row === undefined ? null : row)
    }
    yield ']'
    return
  }
  if (!holdsLong(value)) {
    yield encodeState(value)
    return
  }
  let before = '{'
  for (const [name, inner] of Object.entries(value)) {
    if (inner === undefined) continue
    yield `${before}${JSON.stringify(name)}:`
    before = ','
    yield* statePieces(inner)
  }
  yield '}'
}

/** Most characters that are made before others go first, unless one row has more: some milliseconds. */
export const SLICE_CHARACTERS = 131_072

/** The pieces of a text put together to slices, each as long as it may be or one piece longer. */
export function* slicesOf(pieces: Iterable<string>): Generator<string, void, undefined> {
  let slice: string[] = []
  let length = 0
  for (const piece of pieces) {
    slice.push(piece)
    length += piece.length
    if (length < SLICE_CHARACTERS) continue
    yield slice.join('')
    slice = []
    length = 0
  }
  if (length > 0) yield slice.join('')
}
