/** Files of a recording: one a UTC day and a start, never appended to by another process. */
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { constants, createZstdCompress, type ZstdCompress } from 'node:zlib'
import { isoTime } from '../base/clock.ts'
import { createRecordingLines, type RecordedRow, type RecordingLines } from './recording.ts'

/** A recording that is being written. */
export interface Recording {
  /** Path of the file that is written now; undefined before the first line. */
  path(): string | undefined
  rows(atMs: number, rows: readonly RecordedRow[]): void
  event(atMs: number, event: unknown): void
  /** `json`: the turn as one line of JSON. */
  turn(atMs: number, strategy: string, json: string): void
  /** Writes out what was taken. What came before survives a crash. */
  flush(): Promise<void>
  close(): Promise<void>
}

interface OpenFile {
  readonly day: string
  readonly path: string
  readonly lines: RecordingLines
  readonly stream: ZstdCompress
  readonly handle: number
}

const LEVEL = 9
const FOLDER = 'recorded'
const DAY_MS = 86_400_000

/** A file of a recording. */
export interface RecordedFile {
  readonly path: string
  /** Moment at which it was begun, Unix ms. */
  readonly startMs: number
}

/** Lists the recordings of a history's folder that may hold steps of a span, Unix ms, in the order of their beginning. */
export function recordedFiles(folder: string, fromMs: number, toMs: number): readonly RecordedFile[] {
  const within = join(folder, FOLDER)
  if (!existsSync(within)) return []
  const files = readdirSync(within).flatMap((name): readonly RecordedFile[] => {
    const [, day, hour, minute, second] =
      /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.jsonl\.zst$/.exec(name) ?? []
    if (day === undefined) return []
    return [{ path: join(within, name), startMs: Date.parse(`${day}T${hour}:${minute}:${second}Z`) }]
  })
  // A file ends with the UTC day that it begins in.
  const endMs = (startMs: number): number => (Math.floor(startMs / DAY_MS) + 1) * DAY_MS
  return files
    .filter(({ startMs }) => startMs < toMs && endMs(startMs) > fromMs)
    .toSorted((one, other) => one.startMs - other.startMs)
}

/** Begins a recording in a folder. Throws what the file system throws. */
export function createRecording(folder: string): Recording {
  let file: OpenFile | undefined
  const closing: Promise<void>[] = []

  function open(atMs: number): OpenFile {
    const day = isoTime(atMs).slice(0, 10)
    if (file?.day === day) return file
    if (file !== undefined) closing.push(end(file))
    const to = join(folder, FOLDER)
    mkdirSync(to, { recursive: true })
    const path = join(to, `${isoTime(atMs).slice(0, 19).replaceAll(':', '-')}Z.jsonl.zst`)
    const handle = openSync(path, 'wx')
    const stream = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } })
    stream.on('data', (bytes: Uint8Array) => void writeSync(handle, bytes))
    file = { day, path, lines: createRecordingLines(), stream, handle }
    return file
  }

  function write({ stream }: OpenFile, lines: readonly string[]): void {
    if (lines.length > 0) stream.write(`${lines.join('\n')}\n`)
  }

  return {
    path: () => file?.path,
    rows(atMs, rows) {
      const current = open(atMs)
      write(current, current.lines.rows(atMs, rows))
    },
    event(atMs, event) {
      const current = open(atMs)
      write(current, current.lines.event(atMs, event))
    },
    turn(atMs, strategy, json) {
      const current = open(atMs)
      write(current, current.lines.turn(atMs, strategy, json))
    },
    flush: async () => {
      if (file !== undefined) await flushed(file.stream)
    },
    async close() {
      if (file !== undefined) closing.push(end(file))
      file = undefined
      await Promise.all(closing)
    },
  }
}

async function flushed(stream: ZstdCompress): Promise<void> {
  await new Promise<void>((resolve) => stream.flush(constants.ZSTD_e_flush, () => resolve()))
}

async function end({ stream, handle }: OpenFile): Promise<void> {
  const over = new Promise<void>((resolve) => stream.once('end', resolve))
  stream.end()
  await over
  closeSync(handle)
}
