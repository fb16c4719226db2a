/**
 * Tables of candles, whatever their format: which column is which, and rows as cells in one order. The names of columns are those that
 * exchanges and data frames give them. Pure.
 */

/** The columns of a candle, in the order in which exchanges write them without a head. */
export const candleColumns = ['timestamp', 'open', 'high', 'low', 'close'] as const

/** A column that is read; the symbol is optional. */
export type CandleColumn = (typeof candleColumns)[number] | 'symbol'

/** Columns by the name that a file has for them, where a person says so: `timestamp` to `Zeit`. */
export type ColumnMap = Readonly<Partial<Record<CandleColumn, string>>>

/** Cells of a row: time, open, high, low, close, symbol. */
export type CandleCells = readonly [unknown, unknown, unknown, unknown, unknown, unknown]

/** A table as a file has it. */
export interface CandleTable {
  /** The word for a row in messages: `row` of a text, `candle` of a list. */
  readonly word: 'row' | 'candle'
  /** Number of each row, from 1, as an editor or a reader counts. */
  readonly numbers: readonly number[]
  readonly rows: readonly CandleCells[]
}

/** Names of columns in files, in small letters and without marks; of two times in one file the first of this list counts. */
const columnNames: Readonly<Record<CandleColumn, readonly string[]>> = {
  timestamp: ['timestamp', 'unix', 'opentime', 'time', 'date', 'datetime', 'ts', 't', 'start', 'periodstart'],
  open: ['open', 'o', 'openprice'],
  high: ['high', 'h', 'highprice'],
  low: ['low', 'l', 'lowprice'],
  close: ['close', 'c', 'closeprice'],
  symbol: ['symbol', 'asset', 'ticker', 'coin', 'pair', 'tic'],
}
const allColumns = [...candleColumns, 'symbol'] as const

/** A reader of a row: finds each cell where its column is. */
export type RowReader = (row: readonly unknown[]) => CandleCells

/** Without a head: as exchanges order their columns. */
export const byPosition: RowReader = ([time, open, high, low, close]) => [
  time,
  open,
  high,
  low,
  close,
  undefined,
]

/**
 * Finds the columns of a head.
 *
 * @param where the head's place, for the message
 * @throws Error that names what the head lacks, or has twice
 */
export function readerOf(head: readonly unknown[], where: string, map: ColumnMap = {}): RowReader {
  const names = head.map(plainName)
  const twice = Object.values(columnNames)
    .flat()
    .find((name) => names.indexOf(name) !== names.lastIndexOf(name))
  if (twice !== undefined) throw new Error(`${where}: the head has the column ${twice} twice; keep only one`)
  const places = allColumns.map((column) => {
    const own = map[column]
    if (own !== undefined) {
      const at = head.findIndex((name) => String(name).trim() === own)
      if (at < 0)
        throw new Error(
          `${where}: the head has no column ${own}, which --map names; it is ${shownHead(head)}`,
        )
      return at
    }
    const name = columnNames[column].find((each) => names.includes(each))
    // The index of a data frame has no name, and is the time where no other column is.
    return name !== undefined ? names.indexOf(name) : column === 'timestamp' ? names.indexOf('') : -1
  })
  const missing = candleColumns.filter((_, at) => (places[at] ?? -1) < 0)
  if (missing.length > 0) {
    throw new Error(
      `${where}: the head has no column ${missing.join(', ')}; it is ${shownHead(head)}, expected timestamp,open,high,low,close`,
    )
  }
  const [time = 0, open = 0, high = 0, low = 0, close = 0, symbol = -1] = places
  return (row) => [row[time], row[open], row[high], row[low], row[close], row[symbol]]
}

/** The cells of an object by the names of its fields; undefined for a field that it lacks. */
export function cellsOfObject(row: Readonly<Record<string, unknown>>, map: ColumnMap = {}): CandleCells {
  const names = Object.keys(row)
  const plain = names.map(plainName)
  const [time, open, high, low, close, symbol] = allColumns.map((column) => {
    const own = map[column]
    if (own !== undefined) return row[own]
    const name = columnNames[column].find((each) => plain.includes(each))
    return name === undefined ? undefined : row[names[plain.indexOf(name)] ?? '']
  })
  return [time, open, high, low, close, symbol]
}

function plainName(name: unknown): string {
  return String(name)
    .toLowerCase()
    .replace(/[^a-z]/g, '')
}

function shownHead(head: readonly unknown[]): string {
  return head.map(String).join(',').slice(0, 120)
}
