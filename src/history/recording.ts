/**
 * The form of a recording: lines of JSON, compressed as one stream. A row is written whole once, and then what changed of it. Amounts are
 * decimal texts. A file that a crash cut short is read as far as it was flushed.
 *
 *   ["row", 3, "ticker", "0x70d9..."]       row 3 is that of this kind and key
 *   ["at", 1764244800000]                    what follows was read at that moment, Unix ms
 *   [3, {"markPrice": "..."}]                fields of row 3 that are new; null takes one away
 *   ["event", {"type": "decision.made"}]     an event of the daemon
 *   ["turn", "eth-trend", {...}]             a turn of a strategy: what its kind was shown, and what it returned
 */
import { readFileSync } from 'node:fs'
import { constants, createZstdDecompress } from 'node:zlib'

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
  /** `json`: the turn as one line of JSON. */
  turn(atMs: number, strategy: string, json: string): readonly string[]
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
    turn: (atMs, strategy, json) => [...at(atMs), `["turn",${JSON.stringify(strategy)},${json}]`],
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

/** A step of a recording: a row as it was from a moment on, an event, or a turn as the JSON that was handed over. */
export type RecordedStep =
  | {
      readonly atMs: number
      readonly kind: string
      readonly key: string
      readonly fields: ReadonlyMap<string, unknown>
    }
  | { readonly atMs: number; readonly event: Readonly<Record<string, unknown>> }
  | { readonly atMs: number; readonly strategy: string; readonly turn: string }

/** Chooses what of a recording is read: by kind and key of a row, by `turn` and the strategy, or by `event`. */
export type WantedSteps = (kind: string, key: string) => boolean

/**
 * Reads the steps of a file in their order; a last line that was cut is left out, and so is all after it. Rows that are not wanted cost no more than
 * their bytes. Throws what the file system throws, SyntaxError for lines that are none, RangeError for a row without a name.
 */
export async function* readRecording(
  path: string,
  isWanted: WantedSteps = () => true,
): AsyncGenerator<RecordedStep> {
  const read = createReader(isWanted)
  for await (const line of linesOf(path)) {
    const step = read(line)
    if (step !== undefined) yield step
  }
}

/** Whole lines of a compressed file. */
async function* linesOf(path: string): AsyncGenerator<string> {
  // A stream that was cut ends where it was flushed last.
  const text = createZstdDecompress({ finishFlush: constants.ZSTD_e_flush }).setEncoding('utf8')
  text.end(readFileSync(path))
  let begun = ''
  for await (const part of text) {
    const lines = (begun + String(part)).split('\n')
    begun = lines.pop() ?? ''
    for (const line of lines) if (line !== '') yield line
  }
}

interface ReadRow {
  readonly kind: string
  readonly key: string
  readonly fields: Flat
  readonly isWanted: boolean
}

/** Makes a reader of lines, each of which is a step or prepares later ones. */
function createReader(isWanted: WantedSteps): (line: string) => RecordedStep | undefined {
  const rows: ReadRow[] = []
  let atMs = 0
  const changed = (line: string): RecordedStep | undefined => {
    const number = Number(line.slice(1, line.indexOf(',')))
    const row = rows[number]
    if (row === undefined) throw new RangeError(`a change of row ${number}, which was not named`)
    if (!row.isWanted) return undefined
    const [, fields] = JSON.parse(line) as [number, Record<string, unknown>]
    for (const [field, value] of Object.entries(fields)) {
      if (value === null) row.fields.delete(field)
      else row.fields.set(field, value)
    }
    return { atMs, kind: row.kind, key: row.key, fields: new Map(row.fields) }
  }
  return (line) => {
    if (!line.startsWith('["')) return changed(line)
    const [first, second, third, fourth] = JSON.parse(line) as [unknown, unknown, unknown, unknown]
    if (first === 'at') atMs = Number(second)
    else if (first === 'row') {
      const [kind, key] = [String(third), String(fourth)]
      rows[Number(second)] = { kind, key, fields: new Map(), isWanted: isWanted(kind, key) }
    } else if (first === 'event' && isWanted('event', ''))
      return { atMs, event: second as Record<string, unknown> }
    else if (first === 'turn' && isWanted('turn', String(second)))
      return { atMs, strategy: String(second), turn: JSON.stringify(third) }
    return undefined
  }
}
