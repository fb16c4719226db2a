/** Events of a market's amounts from the chain, in Parquet files of the history: one a market and a fixed stretch of blocks. */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { parquetMetadata, parquetScan } from 'hyparquet'
import { type ParquetWriteOptions, parquetWriteBuffer } from 'hyparquet-writer'
import { decompression, inMemory } from '../base/candles/candleParquet.ts'
import { withLock } from './folderLock.ts'
import {
  type Covered,
  HistoryError,
  type LogsEntry,
  type LogsMarket,
  readManifest,
  writeManifest,
} from './manifest.ts'

/** A change of one of a market's amounts, or a price at which funding was paid. Whole token units, or USD with 30 decimals. */
export interface LoggedChange {
  /** Time of its block, Unix seconds. */
  readonly second: number
  readonly block: number
  /** Place within the block. */
  readonly log: number
  /** Amount: `pool.long`, `interestUsd.long.short` (side, then collateral), `price.long` and so on. */
  readonly field: string
  readonly before: bigint
  readonly value: bigint
}

/** Blocks of one file: three days of Arbitrum. */
export const FILE_BLOCKS = 1_000_000

/** Stretches of blocks of a market that are there, ascending. */
export function logsOf(
  folder: string,
  { chain, marketToken }: Omit<LogsMarket, 'market'>,
): readonly LogsEntry[] {
  return readManifest(folder)
    .logs.filter(
      (entry) => entry.chain === chain && entry.marketToken.toLowerCase() === marketToken.toLowerCase(),
    )
    .toSorted((one, other) => one.fromBlock - other.fromBlock)
}

/**
 * Replaces the file of the stretch that `covered` lies in.
 *
 * @param changes all of them in the chain's order
 * @throws HistoryError HISTORY_LOGS_GAP where the amount after an event is not the one before the next, HISTORY_IN_USE
 */
export async function writeLogs(
  folder: string,
  market: LogsMarket,
  covered: Covered,
  changes: readonly LoggedChange[],
): Promise<LogsEntry> {
  const broken = brokenChange(changes)
  if (broken !== undefined) throw gap(market, broken)
  return await withLock(folder, async () => {
    const bytes = parquetOf(changes)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const file = `logs/${market.chain}/${market.marketToken}/${stretchOf(covered)}-${sha256.slice(0, 12)}.parquet`
    const path = join(folder, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(`${path}.new`, bytes, { flush: true })
    renameSync(`${path}.new`, path)
    const entry: LogsEntry = { ...market, file, sha256, rows: changes.length, ...covered }
    const manifest = readManifest(folder)
    const isOld = (each: LogsEntry): boolean =>
      each.chain === entry.chain &&
      each.marketToken === entry.marketToken &&
      stretchOf(each) === stretchOf(entry)
    const logs = [...manifest.logs.filter((each) => !isOld(each)), entry].toSorted(
      (one, other) =>
        Number(one.chain > other.chain) - Number(one.chain < other.chain) ||
        Number(one.marketToken > other.marketToken) - Number(one.marketToken < other.marketToken) ||
        one.fromBlock - other.fromBlock,
    )
    writeManifest(folder, { ...manifest, logs })
    for (const old of manifest.logs.filter(isOld))
      if (old.file !== file) rmSync(join(folder, old.file), { force: true })
    return entry
  })
}

/** Number of the stretch of blocks that a file is of. */
export function stretchOf({ fromBlock }: Covered): number {
  return Math.floor(fromBlock / FILE_BLOCKS)
}

/** The first change whose amount before is not the one after the last change of its field; undefined where all fit. */
export function brokenChange(changes: readonly LoggedChange[]): LoggedChange | undefined {
  const last = new Map<string, bigint>()
  for (const change of changes) {
    const { field, before, value } = change
    if (!field.startsWith('price.') && (last.get(field) ?? before) !== before) return change
    last.set(field, value)
  }
  return undefined
}

function gap({ market }: LogsMarket, { block, field }: LoggedChange): HistoryError {
  return new HistoryError('The events from the chain have a gap.', {
    code: 'HISTORY_LOGS_GAP',
    facts: { market, block, field },
    details:
      'An amount before an event is not the amount after the one before it, so that the endpoint left some out. What was saved before is kept. Set another endpoint in rpc.http, or a second one beside it, and repeat the command.',
  })
}

/**
 * The changes of a file, in the chain's order.
 *
 * @throws HistoryError HISTORY_FILE_CHANGED where its bytes are not those that perpd wrote
 */
export async function readLogs(
  folder: string,
  { file, sha256 }: LogsEntry,
): Promise<readonly LoggedChange[]> {
  const path = join(folder, file)
  const bytes = readFileSync(path)
  const found = createHash('sha256').update(bytes).digest('hex')
  if (found !== sha256)
    throw new HistoryError('A file of the history was changed after perpd wrote it.', {
      code: 'HISTORY_FILE_CHANGED',
      facts: { path, reason: `its SHA-256 is ${found} instead of ${sha256}` },
      details:
        'perpd did not read it. Restore the file, or remove it with its entry in manifest.json and download its data again.',
    })
  const buffer = inMemory(bytes)
  const metadata = parquetMetadata(await buffer.slice(0))
  const parsers = { timestampFromMilliseconds: (count: bigint): bigint => count }
  const scan = await parquetScan({ file: buffer, metadata, compressors: decompression, parsers })
  const changes: LoggedChange[] = []
  for (const { rowStart, rowEnd } of scan.ranges) {
    const read = async (column: string) => await scan.readColumn({ column, rowStart, rowEnd })
    const times = await read('time')
    const blocks = await read('block')
    const logs = await read('log')
    const fields = await read('field')
    const befores = await read('before')
    const values = await read('value')
    for (let at = 0; at < rowEnd - rowStart; at++)
      changes.push({
        second: Number(times[at]) / 1_000,
        block: Number(blocks[at]),
        log: Number(logs[at]),
        field: String(fields[at]),
        before: BigInt(String(befores[at])),
        value: BigInt(String(values[at])),
      })
  }
  return changes
}

/** Amounts have up to 78 digits, more than a decimal column holds: they are texts. */
function parquetOf(changes: readonly LoggedChange[]): Uint8Array {
  const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' } as const
  const schema: NonNullable<ParquetWriteOptions['schema']> = [
    { name: 'root', num_children: 6 },
    { name: 'time', type: 'INT64', converted_type: 'TIMESTAMP_MILLIS', repetition_type: 'REQUIRED' },
    { name: 'block', type: 'INT64', repetition_type: 'REQUIRED' },
    { name: 'log', type: 'INT32', repetition_type: 'REQUIRED' },
    { name: 'field', ...text },
    { name: 'before', ...text },
    { name: 'value', ...text },
  ]
  const buffer = parquetWriteBuffer({
    columnData: [
      { name: 'time', data: BigInt64Array.from(changes, ({ second }) => BigInt(second) * 1_000n) },
      { name: 'block', data: BigInt64Array.from(changes, ({ block }) => BigInt(block)) },
      { name: 'log', data: Int32Array.from(changes, ({ log }) => log) },
      { name: 'field', data: changes.map(({ field }) => field) },
      { name: 'before', data: changes.map(({ before }) => String(before)) },
      { name: 'value', data: changes.map(({ value }) => String(value)) },
    ],
    schema,
    codec: 'ZSTD',
    compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
    createdBy: 'perpd',
  })
  return new Uint8Array(buffer)
}
