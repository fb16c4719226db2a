/** The list of the files of a history, kept beside them: what each holds, where it came from, and the hash of its bytes. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { BaseError, reasonOf } from '../base/errors.ts'
import { isThere } from '../base/isThere.ts'
import { replaceFile } from '../base/replaceFile.ts'
import type { CandlePeriod } from '../protocol/market.ts'
import type { TimeRange } from './gaps.ts'

/** A history that cannot be used: a file of it is gone, was changed, or is read by nobody. */
export class HistoryError extends BaseError {}

/** Name of a series of candles. */
export interface SeriesName {
  /** The index asset, as the oracle has it, in capital letters: `ETH`. Markets of one asset have the same candles. */
  readonly asset: string
  readonly period: CandlePeriod
  /** Where they came from: `oracle`, `application`, or what an import was called by. Small letters, digits and dashes. */
  readonly source: string
}

/** A file of candles of one UTC month. */
export interface CandleFileEntry extends SeriesName {
  /** Path within the folder. */
  readonly file: string
  /** SHA-256 of its bytes, hex. */
  readonly sha256: string
  /** Starts of the first and the last candle, Unix seconds. */
  readonly firstSeconds: number
  readonly lastSeconds: number
  readonly rows: number
  /** Decimal places of its prices. */
  readonly decimals: number
  /** Sources of the file, oldest first: a route, or the name and hash of an imported file. */
  readonly origins: readonly string[]
}

/** Ranges that a source was asked for, and has nothing more to say of. */
export interface AskedRange extends SeriesName, TimeRange {}

/** A file of a market's rates of funding and borrowing. */
export interface RatesEntry
  extends Pick<CandleFileEntry, 'file' | 'sha256' | 'firstSeconds' | 'lastSeconds' | 'rows'> {
  readonly chain: string
  readonly market: string
  readonly marketToken: string
  readonly unit: string
  readonly origin: string
}

/** A market whose events are kept. */
export interface LogsMarket {
  readonly chain: string
  /** Full symbol. */
  readonly market: string
  readonly marketToken: string
}

/** A stretch of blocks of which every event is there. */
export interface Covered {
  readonly fromBlock: number
  readonly toBlock: number
  /** Times of the first and the last block, Unix seconds. */
  readonly fromSeconds: number
  readonly toSeconds: number
}

/** A file of a market's events of a stretch of blocks. */
export interface LogsEntry extends LogsMarket, Covered {
  readonly file: string
  /** SHA-256 of its bytes, hex. */
  readonly sha256: string
  readonly rows: number
}

/** All that is known of a folder of history. */
export interface Manifest {
  readonly version: 1
  readonly candles: readonly CandleFileEntry[]
  readonly asked: readonly AskedRange[]
  readonly rates: readonly RatesEntry[]
  /** Ascending by block of each market. */
  readonly logs: readonly LogsEntry[]
}

const series = {
  asset: z.string().regex(/^[A-Z0-9._-]{1,40}$/),
  period: z.enum(['1m', '5m', '15m', '1h', '4h', '1d']),
  source: z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/),
}
const seconds = z.number().int().nonnegative()
const hash = z.string().regex(/^[0-9a-f]{64}$/)

// A manifest may come from elsewhere: no name in it leads out of the folder.
const file = z.string().regex(/^(?!.*\.\.)[A-Za-z0-9._/-]+\.parquet$/)
const ofFile = {
  file,
  sha256: hash,
  firstSeconds: seconds,
  lastSeconds: seconds,
  rows: z.number().int().positive(),
}

const shape = z.strictObject({
  version: z.literal(1),
  candles: z.array(
    z.strictObject({
      ...series,
      ...ofFile,
      decimals: z.number().int().min(0).max(18),
      origins: z.array(z.string()),
    }),
  ),
  asked: z.array(z.strictObject({ ...series, fromSeconds: seconds, toSeconds: seconds })),
  rates: z
    .array(
      z.strictObject({
        ...ofFile,
        chain: z.string(),
        market: z.string(),
        marketToken: z.string(),
        unit: z.string(),
        origin: z.string(),
      }),
    )
    .default([]),
  logs: z
    .array(
      z.strictObject({
        ...{ file, sha256: hash, rows: z.number().int().nonnegative() },
        ...{ chain: z.string(), market: z.string(), marketToken: z.string() },
        ...{ fromBlock: seconds, toBlock: seconds, fromSeconds: seconds, toSeconds: seconds },
      }),
    )
    .default([]),
})

const NAME = 'manifest.json'
const empty: Manifest = { version: 1, candles: [], asked: [], rates: [], logs: [] }

/**
 * Reads the manifest of a folder; an empty one where none is.
 *
 * @throws HistoryError HISTORY_UNREADABLE
 */
export function readManifest(folder: string): Manifest {
  const path = join(folder, NAME)
  if (!isThere(path)) return empty
  try {
    return shape.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (cause) {
    const reason = cause instanceof z.ZodError ? z.prettifyError(cause).replace(/\s+/g, ' ') : reasonOf(cause)
    throw new HistoryError('The list of the files of the history cannot be read.', {
      code: 'HISTORY_UNREADABLE',
      facts: { path, reason },
      details: `Nothing was read or written. Restore the ${NAME} that perpd wrote, or remove the folder and download its data again.`,
      cause,
    })
  }
}

/** Replaces the manifest of a folder, whole or not at all; makes the folder where it is not. */
export function writeManifest(folder: string, manifest: Manifest): void {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, NAME)
  if (!isThere(path)) writeFileSync(path, JSON.stringify(empty))
  replaceFile(path, `${JSON.stringify(manifest, undefined, 1)}\n`)
}

/** Says if two names are of one series. */
export function isSameSeries(one: SeriesName, other: SeriesName): boolean {
  return one.asset === other.asset && one.period === other.period && one.source === other.source
}
