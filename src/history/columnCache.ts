/**
 * Columns of a Parquet file as they are in memory, beside it: reading them is reading bytes, where Parquet costs a second a year of minutes.
 * A file per column, named by the hash of the Parquet file, so that none is ever of another. Missing ones are made again.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CandleColumns, priceColumns } from './columns.ts'
import type { CandleFileEntry } from './manifest.ts'

const FOLDER = 'columns'
const BYTES_EACH = 8

/** The columns of a file where all of them are there, undefined otherwise. */
export function cachedColumns(folder: string, entry: CandleFileEntry): CandleColumns | undefined {
  const { rows: length, decimals } = entry
  const read = (name: string): ArrayBuffer | undefined => {
    try {
      const bytes = readFileSync(pathOf(folder, entry.sha256, name))
      if (bytes.length !== length * BYTES_EACH) return undefined
      const isOwn = bytes.byteOffset === 0 && bytes.buffer.byteLength === bytes.length
      return (isOwn ? bytes.buffer : new Uint8Array(bytes).buffer) as ArrayBuffer
    } catch {
      return undefined
    }
  }
  const time = read('time')
  const [open, high, low, close] = priceColumns.map(read)
  if (!(time && open && high && low && close)) return undefined
  const prices = (bytes: ArrayBuffer): BigInt64Array => new BigInt64Array(bytes)
  return {
    length,
    startSeconds: new Float64Array(time),
    open: prices(open),
    high: prices(high),
    low: prices(low),
    close: prices(close),
    decimals,
  }
}

/** Writes the columns of a file. A folder that takes nothing, full or read-only, costs the speed alone. */
export function cacheColumns(folder: string, { sha256 }: CandleFileEntry, columns: CandleColumns): void {
  const write = (name: string, { buffer, byteOffset, byteLength }: NodeJS.TypedArray): void => {
    const path = pathOf(folder, sha256, name)
    const beside = `${path}.${process.pid}.new`
    writeFileSync(beside, new Uint8Array(buffer, byteOffset, byteLength))
    renameSync(beside, path)
  }
  try {
    mkdirSync(join(folder, FOLDER), { recursive: true })
    write('time', columns.startSeconds)
    for (const name of priceColumns) write(name, columns[name])
  } catch {
    // The next reader finds it missing and reads the Parquet file.
  }
}

/** Removes columns of files that are no longer part of the history. */
export function dropOtherColumns(folder: string, entries: readonly CandleFileEntry[]): void {
  const kept = new Set(entries.map(({ sha256 }) => sha256))
  let names: readonly string[] = []
  try {
    names = readdirSync(join(folder, FOLDER))
  } catch {
    return
  }
  for (const name of names)
    if (!kept.has(name.slice(0, 64))) rmSync(join(folder, FOLDER, name), { force: true })
}

function pathOf(folder: string, sha256: string, name: string): string {
  return join(folder, FOLDER, `${sha256}.${name}`)
}
