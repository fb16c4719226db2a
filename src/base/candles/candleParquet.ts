/** Tables of candles in Parquet, as DuckDB, pandas and perpd itself write it. */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import {
  type AsyncBuffer,
  type Compressors,
  type FileMetaData,
  parquetMetadata,
  parquetScan,
  type SchemaElement,
} from 'hyparquet'
import { type CandleCells, type CandleTable, type ColumnMap, readerOf } from './candleTable.ts'

/** Decompression by Node; hyparquet brings Snappy. */
export const decompression: Compressors = {
  ZSTD: (bytes) => zstdDecompressSync(bytes),
  GZIP: (bytes) => gunzipSync(bytes),
  BROTLI: (bytes) => brotliDecompressSync(bytes),
}

const MAGIC = 'PAR1'

/** Says if bytes begin as a Parquet file does. */
export function isParquet(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, MAGIC.length)).toString('latin1') === MAGIC
}

/** A file in memory as the reader asks for it. */
export function inMemory(bytes: Uint8Array): AsyncBuffer {
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
  return { byteLength: buffer.byteLength, slice: (start, end) => buffer.slice(start, end) }
}

/**
 * The file's facts with decimals as the integers that they are stored as: the reader would make floats of them.
 *
 * @returns `scales`: decimal places by the name of such a column
 */
export function withoutDecimals(metadata: FileMetaData): {
  readonly metadata: FileMetaData
  readonly scales: ReadonlyMap<string, number>
} {
  const scales = new Map<string, number>()
  const schema = metadata.schema.map((element): SchemaElement => {
    const { converted_type, logical_type, ...plain } = element
    if (converted_type !== 'DECIMAL' && logical_type?.type !== 'DECIMAL') return element
    scales.set(element.name, element.scale ?? (logical_type?.type === 'DECIMAL' ? logical_type.scale : 0))
    return plain
  })
  return { metadata: { ...metadata, schema }, scales }
}

/** Times stay the whole numbers that they are: a `Date` has no microseconds, and a cell is read by its size. */
const parsers = {
  timestampFromMilliseconds: (count: bigint): bigint => count,
  timestampFromMicroseconds: (count: bigint): bigint => count,
  timestampFromNanoseconds: (count: bigint): bigint => count,
  dateFromDays: (days: number): number => days * 86_400,
}

/** Reads a file. Throws Error for one that holds no table of candles, and whatever the reader throws for a damaged one. */
export async function tableOfParquet(bytes: Uint8Array, map?: ColumnMap): Promise<CandleTable> {
  const file = inMemory(bytes)
  const { metadata, scales } = withoutDecimals(parquetMetadata(await file.slice(0)))
  const [root, ...elements] = metadata.schema
  const names = elements.slice(0, root?.num_children ?? 0).map(({ name }) => name)
  const places = readerOf(names, 'columns', map)(names)
  const scan = await parquetScan({ file, metadata, compressors: decompression, parsers })
  const rows: CandleCells[] = []
  for (const { rowStart, rowEnd } of scan.ranges) {
    const columns = await Promise.all(
      places.map(async (name) => {
        if (typeof name !== 'string') return undefined
        const values = await scan.readColumn({ column: name, rowStart, rowEnd })
        const scale = scales.get(name)
        return scale === undefined ? values : Array.from(values, (value) => decimalText(value, scale))
      }),
    )
    const [time, open, high, low, close, symbol] = columns
    for (let at = 0; at < rowEnd - rowStart; at++)
      rows.push([time?.[at], open?.[at], high?.[at], low?.[at], close?.[at], symbol?.[at]])
  }
  return { word: 'candle', numbers: rows.map((_, at) => at + 1), rows }
}

/** A decimal's stored integer as text with its point; undefined for what is none. */
function decimalText(value: unknown, scale: number): string | undefined {
  const unscaled =
    typeof value === 'bigint' || typeof value === 'number'
      ? BigInt(value)
      : value instanceof Uint8Array && value.length > 0
        ? BigInt.asIntN(value.length * 8, BigInt(`0x${Buffer.from(value).toString('hex')}`))
        : undefined
  if (unscaled === undefined) return undefined
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0')
  const point = digits.length - scale
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, point)}${scale === 0 ? '' : `.${digits.slice(point)}`}`
}
