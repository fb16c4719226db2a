/** Long answers are made in pieces: between two of them the process serves others. */
import { type Json, JsonText, stringify } from './http.ts'

/** Lets what waits in the process go first. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** JSON of a list whose rows are made one by one, with a breath after each. */
export async function listText<T>(items: readonly T[], rowOf: (item: T) => Json): Promise<JsonText> {
  const rows: string[] = []
  for (const item of items) {
    rows.push(stringify(rowOf(item)))
    await yieldToEventLoop()
  }
  return new JsonText(`[${rows.join(',')}]`)
}

/** Rows that are made before others go first: some milliseconds of candles that nobody asked for before. */
const ROWS_A_SLICE = 20

/** A list whose rows are made in slices, with a breath after each. */
export async function listed<T>(items: Iterable<T>, rowOf: (item: T) => Json): Promise<readonly Json[]> {
  const rows: Json[] = []
  for (const item of items) {
    rows.push(rowOf(item))
    if (rows.length % ROWS_A_SLICE === 0) await yieldToEventLoop()
  }
  return rows
}
