/**
 * Candles as Parquet: a timestamp in UTC and four decimals, so that DuckDB, pandas and whatever else reads the format gets exact prices
 * without knowing perpd. The same candles are the same bytes.
 */
import { zstdCompressSync } from 'node:zlib'
import { parquetMetadata, parquetScan } from 'hyparquet'
import { type ParquetWriteOptions, parquetWriteBuffer } from 'hyparquet-writer'
import { decompression, inMemory, withoutDecimals } from '../base/candles/candleParquet.ts'
import { type CandleColumns, emptyColumns, priceColumns } from './columns.ts'

const PRECISION = 18
const compression = { ZSTD: (bytes: Uint8Array): Uint8Array => zstdCompressSync(bytes) }

/** The bytes of a file with these candles. */
export function parquetOfCandles(
  columns: CandleColumns,
  facts: Readonly<Record<string, string>>,
): Uint8Array {
  const { startSeconds, decimals } = columns
  const milliseconds = BigInt64Array.from(startSeconds, (seconds) => BigInt(seconds) * 1_000n)
  const schema: NonNullable<ParquetWriteOptions['schema']> = [
    { name: 'root', num_children: 1 + priceColumns.length },
    { name: 'time', type: 'INT64', converted_type: 'TIMESTAMP_MILLIS', repetition_type: 'REQUIRED' },
    ...priceColumns.map(
      (name) =>
        ({
          name,
          type: 'INT64',
          converted_type: 'DECIMAL',
          repetition_type: 'REQUIRED',
          scale: decimals,
          precision: PRECISION,
        }) as const,
    ),
  ]
  const encoding = 'DELTA_BINARY_PACKED'
  const buffer = parquetWriteBuffer({
    columnData: [
      { name: 'time', data: milliseconds, encoding },
      ...priceColumns.map((name) => ({ name, data: columns[name], encoding }) as const),
    ],
    schema,
    codec: 'ZSTD',
    compressors: compression,
    rowGroupSize: 100_000,
    kvMetadata: Object.entries(facts).map(([key, value]) => ({ key, value })),
    createdBy: 'perpd',
  })
  return new Uint8Array(buffer)
}

/** The candles of bytes that `parquetOfCandles` made. Throws what the reader throws for any others. */
export async function candlesOfParquet(bytes: Uint8Array): Promise<CandleColumns> {
  const file = inMemory(bytes)
  const { metadata, scales } = withoutDecimals(parquetMetadata(await file.slice(0)))
  const parsers = { timestampFromMilliseconds: (count: bigint): bigint => count }
  const scan = await parquetScan({ file, metadata, compressors: decompression, parsers })
  const columns = emptyColumns(Number(metadata.num_rows), scales.get('open') ?? 0)
  for (const { rowStart, rowEnd } of scan.ranges) {
    const read = async (column: string): Promise<BigInt64Array> => {
      const data = await scan.readColumn({ column, rowStart, rowEnd })
      return data instanceof BigInt64Array ? data : BigInt64Array.from(data as Iterable<bigint>)
    }
    const times = await read('time')
    for (let index = 0; index < times.length; index++)
      columns.startSeconds[rowStart + index] = Number(times[index]) / 1_000
    for (const name of priceColumns) columns[name].set(await read(name), rowStart)
  }
  return columns
}
