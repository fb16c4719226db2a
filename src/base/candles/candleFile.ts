/**
 * The one reader of files of candles, for the paper venue and for history: what exchanges and data frames write as CSV, JSON or Parquet,
 * checked row by row. A row that cannot be read is named with its column and the form that is wanted.
 */
import { shownValue } from '../boundedJson.ts'
import { defined } from '../defined.ts'
import { BaseError, reasonOf } from '../errors.ts'
import { readFileBytes, textOfBytes } from '../textFile.ts'
import { priceForm, priceOf, secondsOf, timeForm } from './candleCells.ts'
import type { CandleCells, CandleTable, ColumnMap } from './candleTable.ts'

/** One candle; prices in USD with 30 decimals. */
export interface FileCandle {
  /** Unix seconds of its start. */
  readonly startSeconds: number
  readonly open: bigint
  readonly high: bigint
  readonly low: bigint
  readonly close: bigint
}

/** Candles by the symbol that their rows have, each ascending; those of rows without one are under the empty text. */
export type CandleSeries = ReadonlyMap<string, readonly FileCandle[]>

/** The contents of a file. */
export interface CandleFileContents {
  readonly series: CandleSeries
  /** Rows that stood before an older one; 0 for a file that ascends or descends. */
  readonly outOfOrder: number
  /** Rows that say once more what an earlier one says. */
  readonly repeated: number
}

/** Ways to read a file. */
export interface CandleFileOptions {
  /** Columns by the names that the file has for them. */
  readonly map?: ColumnMap
  /** Rows may come in any order, and twice where both say the same. Otherwise they ascend, or all descend. */
  readonly isAnyOrder?: boolean
}

/** A file of candles that cannot be read. */
class CandleFileError extends BaseError {}

/** Most complaints that one message lists. */
const MAX_COMPLAINTS = 20

/**
 * Reads a file. CSV has a head, or the columns of exchanges without one: time, open, high, low, close. JSON is a list of objects or of such
 * rows, also inside of an answer, a line each, or a list for each column. Parquet has those columns. Times are Unix seconds to nanoseconds or UTC texts.
 *
 * @throws CandleFileError CANDLES_UNREADABLE, which names bad rows.
 */
export async function readCandleFile(
  path: string,
  options: CandleFileOptions = {},
): Promise<CandleFileContents> {
  let table: CandleTable
  try {
    table = await tableOf(readFileBytes(path), options.map)
  } catch (cause) {
    throw unreadable(path, [reasonOf(cause)], cause)
  }
  const complaints: string[] = []
  const contents = options.isAnyOrder === true ? inAnyOrder(table, complaints) : inOrder(table, complaints)
  if (complaints.length === 0 && contents.series.size === 0) complaints.push('it has no candle')
  if (complaints.length > 0) throw unreadable(path, complaints)
  return contents
}

/** Both readers are loaded with the first file of their format. */
async function tableOf(bytes: Uint8Array, map: ColumnMap | undefined): Promise<CandleTable> {
  const isParquet = Buffer.from(bytes.subarray(0, 4)).toString('latin1') === 'PAR1'
  if (isParquet) return await (await import('./candleParquet.ts')).tableOfParquet(bytes, map)
  return (await import('./candleText.ts')).tableOfText(textOfBytes(bytes), map)
}

function unreadable(path: string, complaints: readonly string[], cause?: unknown): CandleFileError {
  const shown = complaints.slice(0, MAX_COMPLAINTS)
  const more = complaints.length - shown.length
  return new CandleFileError(
    `The candle file cannot be read:\n  ${shown.join('\n  ')}${more > 0 ? `\n  and ${more} more` : ''}`,
    {
      code: 'CANDLES_UNREADABLE',
      facts: { path },
      details:
        'perpd read nothing from it. Correct the rows: timestamp,open,high,low,close, one for each time; other columns are ignored.',
      ...defined({ cause }),
    },
  )
}

/** A candle of a row, with the row's place for messages. */
interface PlacedCandle {
  readonly candle: FileCandle
  readonly number: number
}

/** Reads rows that ascend; some services write the newest first. */
function inOrder({ word, numbers, rows }: CandleTable, complaints: string[]): CandleFileContents {
  const [first, second] = rows.slice(0, 2).map(([time]) => secondsOf(time))
  const descends = first !== undefined && second !== undefined && second < first
  const series = new Map<string, FileCandle[]>()
  for (let count = 0; count < rows.length; count++) {
    const at = descends ? rows.length - 1 - count : count
    const cells = rows[at]
    if (cells === undefined) continue
    const where = `${word} ${numbers[at]}`
    const candle = candleOf(cells)
    if (typeof candle === 'string') {
      complaints.push(`${where}, ${candle}`)
      continue
    }
    const symbol = symbolOf(cells)
    const known = series.get(symbol) ?? []
    const before = known.at(-1)
    if (before !== undefined && candle.startSeconds <= before.startSeconds) {
      complaints.push(
        `${where}, column timestamp: ${candle.startSeconds} is not after ${before.startSeconds}${symbol === '' ? '' : ` of ${symbol}`}; times ascend, or all descend`,
      )
      continue
    }
    known.push(candle)
    series.set(symbol, known)
  }
  return { series, outOfOrder: 0, repeated: 0 }
}

/** Reads rows in any order and sorts them. Two rows of one time have to say the same. */
function inAnyOrder({ word, numbers, rows }: CandleTable, complaints: string[]): CandleFileContents {
  const placed = new Map<string, PlacedCandle[]>()
  for (const [at, cells] of rows.entries()) {
    const candle = candleOf(cells)
    const number = numbers[at] ?? 0
    if (typeof candle === 'string') {
      complaints.push(`${word} ${number}, ${candle}`)
      continue
    }
    const symbol = symbolOf(cells)
    const known = placed.get(symbol)
    if (known === undefined) placed.set(symbol, [{ candle, number }])
    else known.push({ candle, number })
  }
  let [outOfOrder, repeated] = [0, 0]
  const series = new Map<string, FileCandle[]>()
  for (const [symbol, all] of placed) {
    outOfOrder += misplaced(all)
    const sorted = all.toSorted((one, other) => one.candle.startSeconds - other.candle.startSeconds)
    const own: FileCandle[] = []
    let last: PlacedCandle | undefined
    for (const each of sorted) {
      if (last?.candle.startSeconds !== each.candle.startSeconds) own.push(each.candle)
      else if (isSamePrices(last.candle, each.candle)) repeated += 1
      else {
        complaints.push(
          `${word} ${each.number}, column timestamp: ${each.candle.startSeconds} is that of ${word} ${last.number} too${symbol === '' ? '' : `, of ${symbol}`}, with other prices; keep only the right one`,
        )
      }
      last = each
    }
    series.set(symbol, own)
  }
  return { series, outOfOrder, repeated }
}

/** Counts the rows that stand after a later one; when the rows descend as a whole, those before a later one. */
function misplaced(all: readonly PlacedCandle[]): number {
  let [falls, rises] = [0, 0]
  for (let at = 1; at < all.length; at++) {
    const step = (all[at]?.candle.startSeconds ?? 0) - (all[at - 1]?.candle.startSeconds ?? 0)
    if (step < 0) falls += 1
    if (step > 0) rises += 1
  }
  return Math.min(falls, rises)
}

function isSamePrices(one: FileCandle, other: FileCandle): boolean {
  return (
    one.open === other.open && one.high === other.high && one.low === other.low && one.close === other.close
  )
}

function symbolOf(cells: CandleCells): string {
  const [, , , , , symbol] = cells
  return symbol === undefined || symbol === null ? '' : String(symbol).trim()
}

function candleOf([time, ...prices]: CandleCells): FileCandle | string {
  const startSeconds = secondsOf(time)
  if (startSeconds === undefined) return `column timestamp: ${shown(time)} is no time; expected ${timeForm}`
  const [open, high, low, close] = prices.map(priceOf)
  if (open === undefined) return noPrice('open', prices[0])
  if (high === undefined) return noPrice('high', prices[1])
  if (low === undefined) return noPrice('low', prices[2])
  if (close === undefined) return noPrice('close', prices[3])
  if (high < open || high < close || high < low) return 'column high: it is below another price'
  if (low > open || low > close) return 'column low: it is above another price'
  return { startSeconds, open, high, low, close }
}

function noPrice(column: string, value: unknown): string {
  return `column ${column}: ${shown(value)} is no price; expected ${priceForm}`
}

function shown(value: unknown): string {
  return value === undefined || value === null || value === '' ? '(missing)' : shownValue(value)
}
