/** Long answers are made in pieces: between two of them the process serves others. */
import { type Json, JsonBytes, stringify } from './http.ts'

/** Lets what waits in the process go first. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/**
 * JSON of a list whose rows are made one by one, with a breath after each; `before` and `after` stand around it. A list may have tens of
 * megabytes: each row becomes bytes by itself, and the whole is never a text.
 */
export async function listBytes<T>(
  items: readonly T[],
  rowOf: (item: T) => Json,
  before = '',
  after = '',
): Promise<JsonBytes> {
  const parts = [Buffer.from(`${before}[`)]
  for (const [at, item] of items.entries()) {
    parts.push(Buffer.from(`${at === 0 ? '' : ','}${stringify(rowOf(item))}`))
    await yieldToEventLoop()
  }
  parts.push(Buffer.from(`]${after}`))
  return new JsonBytes(await joined(parts))
}

/** Bytes that are put together before others go first: a millisecond, with memory that is touched for the first time. */
const BYTES_A_SLICE = 1_048_576

async function joined(parts: readonly Buffer[]): Promise<Buffer<ArrayBuffer>> {
  const whole = Buffer.allocUnsafeSlow(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  let sliceEnd = BYTES_A_SLICE
  for (const part of parts) {
    at += part.copy(whole, at)
    if (at < sliceEnd) continue
    sliceEnd = at + BYTES_A_SLICE
    await yieldToEventLoop()
  }
  return whole
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
