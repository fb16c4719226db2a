/**
 * The form of a recording: lines of JSON, compressed as one stream. A row is written whole once, and then what changed of it. Amounts are
 * decimal texts. A file that a crash cut short is read as far as it was flushed.
 *
 *   ["row", 3, "ticker", "0x70d9..."]       row 3 is that of this kind and key
 *   ["at", 1764244800000]                    what follows was read at that moment, Unix ms
 *   [3, {"markPrice": "..."}]                fields of row 3 that are new; null takes one away
 *   ["event", {"type": "decision.made"}]     an event of the daemon
 */
import { constants, zstdDecompressSync } from 'node:zlib'

/** A row with a name: of a kind (`ticker`) and a key (a market token). Fields may nest. */
export interface RecordedRow {
  readonly kind: string
  readonly key: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** Makes lines of rows and events. */
export interface RecordingLines {
  /** Lines for rows that were read at a moment; none for those that are as they were. */
  rows(atMs: number, rows: readonly RecordedRow[]): readonly string[]
  event(atMs: number, event: unknown): readonly string[]
}

type Flat = Map<string, unknown>

/** Begins a recording: the first line of each row is all of it. */
export function createRecordingLines(): RecordingLines {
  const known = new Map<string, { readonly number: number; fields: Flat }>()
  let lastAtMs: number | undefined
  const at = (atMs: number): readonly string[] => {
    if (atMs === lastAtMs) return []
    lastAtMs = atMs
    return [JSON.stringify(['at', atMs])]
  }
  return {
    rows(atMs, rows) {
      const lines: string[] = []
      for (const { kind, key, fields } of rows) {
        const name = `${kind} ${key}`
        const fresh = flat(fields)
        const row = known.get(name) ?? { number: known.size, fields: new Map() }
        if (!known.has(name)) {
          known.set(name, row)
          lines.push(JSON.stringify(['row', row.number, kind, key]))
        }
        const changed: Record<string, unknown> = {}
        for (const [field, value] of fresh) if (row.fields.get(field) !== value) changed[field] = value
        for (const field of row.fields.keys()) if (!fresh.has(field)) changed[field] = null
        row.fields = fresh
        if (Object.keys(changed).length > 0) lines.push(JSON.stringify([row.number, changed]))
      }
      return lines.length === 0 ? [] : [...at(atMs), ...lines]
    },
    event: (atMs, event) => [...at(atMs), JSON.stringify(['event', event], plain)],
  }
}

/** Fields by their path, `capacity.long.availableUsd`, each as JSON has it. A list is one value. */
function flat(fields: Readonly<Record<string, unknown>>, prefix = '', into: Flat = new Map()): Flat {
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue
    if (typeof value === 'bigint') into.set(prefix + name, String(value))
    else if (Array.isArray(value)) into.set(prefix + name, JSON.stringify(value, plain))
    else if (typeof value === 'object') flat(value as Record<string, unknown>, `${prefix}${name}.`, into)
    else into.set(prefix + name, value)
  }
  return into
}

function plain(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

/** A step of a recording: a row as it was from a moment on, or an event. */
export type RecordedStep =
  | {
      readonly atMs: number
      readonly kind: string
      readonly key: string
      readonly fields: ReadonlyMap<string, unknown>
    }
  | { readonly atMs: number; readonly event: Readonly<Record<string, unknown>> }

/** Steps of a recording's bytes in their order; a last line that was cut is left out. Throws for bytes that are no recording. */
export function* readRecording(bytes: Uint8Array): Generator<RecordedStep> {
  // A stream that was cut ends where it was flushed last.
  const text = zstdDecompressSync(bytes, { finishFlush: constants.ZSTD_e_flush }).toString('utf8')
  const rows: { readonly kind: string; readonly key: string; readonly fields: Flat }[] = []
  let atMs = 0
  for (const line of text.slice(0, text.lastIndexOf('\n') + 1).split('\n')) {
    if (line === '') continue
    const [first, second, kind, key] = JSON.parse(line) as [unknown, unknown, unknown, unknown]
    if (first === 'at') atMs = Number(second)
    else if (first === 'row')
      rows[Number(second)] = { kind: String(kind), key: String(key), fields: new Map() }
    else if (first === 'event') yield { atMs, event: second as Record<string, unknown> }
    else {
      const row = rows[Number(first)]
      if (row === undefined) throw new RangeError(`a change of row ${String(first)}, which was not named`)
      for (const [field, value] of Object.entries(second as Record<string, unknown>)) {
        if (value === null) row.fields.delete(field)
        else row.fields.set(field, value)
      }
      yield { atMs, kind: row.kind, key: row.key, fields: new Map(row.fields) }
    }
  }
}
