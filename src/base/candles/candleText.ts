/** Tables of candles in text: CSV with a head or without one, and JSON in the forms that exchanges and data frames write. */
import Papa from 'papaparse'
import { bounded, type JsonBounds } from '../boundedJson.ts'
import { isObject } from '../isObject.ts'
import { parseStrict } from '../strictJson.ts'
import { secondsOf } from './candleCells.ts'
import {
  byPosition,
  type CandleCells,
  type CandleTable,
  type ColumnMap,
  candleColumns,
  cellsOfObject,
  type RowReader,
  readerOf,
} from './candleTable.ts'

/** Candles nest a few lists and objects deep, and may be as many as there are. */
const rowBounds: JsonBounds = { depth: 8, values: Number.POSITIVE_INFINITY }

/** Where lists of candles are kept in what exchanges answer. */
const listNames = ['candles', 'data', 'list', 'result', 'klines', 'prices']

/** Reads a text. Throws Error or SyntaxError for one that holds no table. */
export function tableOfText(text: string, map?: ColumnMap): CandleTable {
  return /^\s*[[{]/.test(text) ? jsonTable(text, map) : csvTable(text, map)
}

function csvTable(text: string, map?: ColumnMap): CandleTable {
  const parsed = Papa.parse(text, { delimiter: delimiterOf(text) })
  const broken = parsed.errors.find(({ code }) => code === 'MissingQuotes' || code === 'InvalidQuotes')
  if (broken !== undefined) {
    throw new Error(
      `row ${(broken.row ?? 0) + 1}: a quote around a cell has no end, or text follows it; write each cell as 2000.5 or "2000.5"`,
    )
  }
  const cells = parsed.data.map((row) => row.map((cell) => cell.trim()))
  // Lines of a single cell before the table are a title or a comment.
  const start = cells.findIndex((row) => isOfTable(row) && row[0]?.startsWith('#') !== true)
  if (start < 0)
    throw new Error('it has no candle: no line has columns separated by a comma, a semicolon or a tab')
  const head = cells[start] ?? []
  const hasList = [head, cells[start + 1] ?? []].map((row) => listIn(row) !== undefined)
  const isList = hasList.includes(true)
  // A row that begins with a time is a candle, whatever else is wrong with it.
  const isNamed = head.some((name) => /^[a-z]/i.test(name)) && secondsOf(head[0]) === undefined
  const isHead = isList ? hasList[0] === false : isNamed
  const read = isList ? listReader(head) : isHead ? readerOf(head, `row ${start + 1}`, map) : byPosition
  const numbers: number[] = []
  const rows: CandleCells[] = []
  for (const [at, row] of cells.entries()) {
    if (at < start || (isHead && at === start) || (row.length === 1 && row[0] === '')) continue
    numbers.push(at + 1)
    rows.push(read(row))
  }
  return { word: 'row', numbers, rows }
}

function delimiterOf(text: string): string {
  const sample = /^.*[,;\t].*$/m.exec(text)?.[0] ?? ''
  const counts = [',', ';', '\t'].map((mark) => [mark, sample.split(mark).length] as const)
  return counts.toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? ','
}

function isOfTable(row: readonly string[]): boolean {
  return row.length > 1 || listIn(row) !== undefined
}

/** The candle that a cell holds as a list, as a data frame of an exchange's lists is written: `"[1735689600000, ""2000"", ...]"`. */
function listIn(row: readonly string[]): readonly unknown[] | undefined {
  const cell = row.find((each) => each.startsWith('[') && each.endsWith(']'))
  if (cell === undefined) return undefined
  try {
    const list: unknown = JSON.parse(bounded(cell.replaceAll("'", '"'), rowBounds))
    return Array.isArray(list) && list.length >= candleColumns.length ? list : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function listReader(head: readonly string[]): RowReader {
  const symbol = head.findIndex((name) => /^(?:symbol|asset|ticker|coin|pair)$/i.test(name))
  return (row) => {
    const [time, open, high, low, close] = byPosition(listIn(row as readonly string[]) ?? [])
    return [time, open, high, low, close, symbol < 0 ? undefined : row[symbol]]
  }
}

function jsonTable(text: string, map?: ColumnMap): CandleTable {
  const { list, head } = listOf(jsonOf(text), map)
  const read = head === undefined ? byPosition : readerOf(head, 'columns', map)
  return {
    word: 'candle',
    numbers: list.map((_, at) => at + 1),
    rows: list.map((row) =>
      Array.isArray(row) ? read(row) : isObject(row) ? cellsOfObject(row, map) : byPosition([]),
    ),
  }
}

/** A JSON text, or an object a line. */
function jsonOf(text: string): unknown {
  const plain = bounded(text, rowBounds)
  try {
    return JSON.parse(plain)
  } catch (error) {
    const lines = plain.split('\n').filter((line) => line.trim() !== '')
    const isLines = lines.length > 1 && lines.every((line) => /^\s*[[{].*[\]}]\s*$/.test(line))
    // Read again for the place, in our words: the first reading is many times as quick.
    if (!isLines) throw error instanceof SyntaxError ? wrongJson(plain, error) : error
    return lines.map((line, at): unknown => {
      try {
        return JSON.parse(line)
      } catch (inner) {
        throw inner instanceof SyntaxError
          ? new Error(`row ${at + 1}: ${wrongJson(line, inner).message}`)
          : inner
      }
    })
  }
}

function wrongJson(text: string, error: SyntaxError): SyntaxError {
  try {
    parseStrict(text, rowBounds)
    return error
  } catch (own) {
    return own instanceof SyntaxError ? own : error
  }
}

interface Found {
  readonly list: readonly unknown[]
  readonly head?: readonly unknown[]
}

function listOf(value: unknown, map?: ColumnMap): Found {
  if (Array.isArray(value)) return { list: value }
  for (let inner: unknown = value; isObject(inner); ) {
    const { columns: head, data } = inner
    if (Array.isArray(head) && Array.isArray(data)) return { list: data, head }
    const zipped = zippedColumns(inner, map)
    if (zipped !== undefined) return { list: zipped }
    const name = listNames.find((each) => typeof (inner as Record<string, unknown>)[each] === 'object')
    const next: unknown = name === undefined ? undefined : inner[name]
    if (Array.isArray(next)) return { list: next }
    inner = next
  }
  throw new Error('the JSON is not a list of candles, and has none under candles, data, list or result')
}

/** Rows of columns: `{"t": [...], "o": [...]}` as charts are served, `{"open": {"0": 1, "1": 2}}` as a data frame is written. */
function zippedColumns(
  table: Readonly<Record<string, unknown>>,
  map?: ColumnMap,
): readonly unknown[] | undefined {
  const columns = cellsOfObject(table, map).slice(0, candleColumns.length)
  const lists = columns.map((column) =>
    Array.isArray(column) ? column : isObject(column) ? Object.values(column) : undefined,
  )
  const [times] = lists
  if (times === undefined || lists.some((column) => column === undefined)) return undefined
  if (lists.some((column) => column?.length !== times.length))
    throw new Error('the columns of the JSON have different lengths')
  return times.map((_, at) => lists.map((column) => column?.[at]))
}
