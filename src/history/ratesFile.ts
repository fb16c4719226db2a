/** Rates of funding and borrowing of a market, as the venue's indexer shows them, in a Parquet file of the history. */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { parquetMetadata, parquetScan } from 'hyparquet'
import { type ParquetWriteOptions, parquetWriteBuffer } from 'hyparquet-writer'
import type { RatesSnapshot } from '../api/markets/history.ts'
import { decompression, inMemory, withoutDecimals } from '../base/candles/candleParquet.ts'
import { USD_DECIMALS } from '../protocol/units.ts'
import { withLock } from './folderLock.ts'
import { type RatesEntry, readManifest, writeManifest } from './manifest.ts'

const factors = [
  'netRateLong',
  'netRateShort',
  'fundingRateLong',
  'fundingRateShort',
  'borrowingRateLong',
  'borrowingRateShort',
] as const

const BYTES = 16
const PRECISION = 38

/** A market whose rates are kept. */
export type RatesMarket = Pick<RatesEntry, 'chain' | 'market' | 'marketToken' | 'unit' | 'origin'>

/** Adds snapshots to the file of a market; of two of one time the new one counts. Throws HistoryError. */
export async function writeRates(
  folder: string,
  market: RatesMarket,
  fresh: readonly RatesSnapshot[],
): Promise<RatesEntry | undefined> {
  return await withLock(folder, async () => {
    const manifest = readManifest(folder)
    const old = manifest.rates.find((entry) => isOf(entry, market))
    const before = old === undefined ? [] : await readRates(folder, old)
    const byTime = new Map([...before, ...fresh].map((each) => [each.timestampSeconds, each]))
    const rows = [...byTime.values()].sort((one, other) => one.timestampSeconds - other.timestampSeconds)
    const [first, last] = [rows[0], rows.at(-1)]
    if (first === undefined || last === undefined) return undefined
    const bytes = parquetOf(rows)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const file = `rates/${market.chain}/${market.marketToken}-${sha256.slice(0, 12)}.parquet`
    const path = join(folder, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(`${path}.new`, bytes, { flush: true })
    renameSync(`${path}.new`, path)
    const entry = {
      ...market,
      file,
      sha256,
      firstSeconds: first.timestampSeconds,
      lastSeconds: last.timestampSeconds,
      rows: rows.length,
    }
    const others = manifest.rates.filter((each) => each !== old)
    writeManifest(folder, { ...manifest, rates: [...others, entry] })
    if (old !== undefined && old.file !== file) rmSync(join(folder, old.file), { force: true })
    return entry
  })
}

/** The rates of a file, ascending by time. Throws what the file system and the reader throw. */
export async function readRates(folder: string, { file }: RatesEntry): Promise<readonly RatesSnapshot[]> {
  const buffer = inMemory(readFileSync(join(folder, file)))
  const { metadata } = withoutDecimals(parquetMetadata(await buffer.slice(0)))
  const parsers = { timestampFromMilliseconds: (count: bigint): bigint => count }
  const scan = await parquetScan({ file: buffer, metadata, compressors: decompression, parsers })
  const rows: RatesSnapshot[] = []
  for (const { rowStart, rowEnd } of scan.ranges) {
    const read = async (column: string) => await scan.readColumn({ column, rowStart, rowEnd })
    const times = await read('time')
    const columns = await Promise.all(factors.map(read))
    for (let at = 0; at < rowEnd - rowStart; at++) {
      const values = factors.map((name, column) => [name, signed(columns[column]?.[at])] as const)
      const timestampSeconds = Number(times[at]) / 1_000
      rows.push({
        timestampSeconds,
        ...(Object.fromEntries(values) as Record<(typeof factors)[number], bigint>),
      })
    }
  }
  return rows
}

function isOf(entry: RatesEntry, { chain, marketToken }: RatesMarket): boolean {
  return entry.chain === chain && entry.marketToken === marketToken
}

function signed(bytes: unknown): bigint {
  if (!(bytes instanceof Uint8Array)) return 0n
  return BigInt.asIntN(bytes.length * 8, BigInt(`0x${Buffer.from(bytes).toString('hex')}`))
}

function parquetOf(rows: readonly RatesSnapshot[]): Uint8Array {
  const schema: NonNullable<ParquetWriteOptions['schema']> = [
    { name: 'root', num_children: 1 + factors.length },
    { name: 'time', type: 'INT64', converted_type: 'TIMESTAMP_MILLIS', repetition_type: 'REQUIRED' },
    ...factors.map(
      (name) =>
        ({
          name,
          type: 'FIXED_LEN_BYTE_ARRAY',
          type_length: BYTES,
          converted_type: 'DECIMAL',
          repetition_type: 'REQUIRED',
          scale: USD_DECIMALS,
          precision: PRECISION,
        }) as const,
    ),
  ]
  const time = BigInt64Array.from(rows, ({ timestampSeconds }) => BigInt(timestampSeconds) * 1_000n)
  const buffer = parquetWriteBuffer({
    columnData: [
      { name: 'time', data: time },
      ...factors.map((name) => ({ name, data: rows.map((row) => row[name]) })),
    ],
    schema,
    codec: 'ZSTD',
    compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
    createdBy: 'perpd',
  })
  return new Uint8Array(buffer)
}
