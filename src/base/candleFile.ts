/**
 * The one reader of files of candles, for the paper venue and for history: what exchanges and data frames write as CSV or JSON, checked
 * row by row. A row that cannot be read is named with its column and the form that is wanted.
 */
import { bounded, type JsonBounds, shownValue } from './boundedJson.ts'
import { BaseError, reasonOf } from './errors.ts'
import { parseStrict } from './strictJson.ts'
import { readTextFile } from './textFile.ts'

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

/** A file of candles that cannot be read. */
class CandleFileError extends BaseError {}

/** Most complaints that one message lists. */
const MAX_COMPLAINTS = 20
const PRICE_DECIMALS = 30

/** Candles nest a few lists and objects deep, and may be as many as there are. */
const rowBounds: JsonBounds = { depth: 8, values: Number.POSITIVE_INFINITY }

const columns = ['timestamp', 'open', 'high', 'low', 'close'] as const
type Column = (typeof columns)[number] | 'symbol'

/** Names of columns as they are met, in small letters and without marks; of two times in one file the first of this list counts. */
const columnNames: Readonly<Record<Column, readonly string[]>> = {
  timestamp: ['timestamp', 'unix', 'opentime', 'time', 'date', 'datetime', 'ts', 't', 'start', 'periodstart'],
  open: ['open', 'o', 'openprice'],
  high: ['high', 'h', 'highprice'],
  low: ['low', 'l', 'lowprice'],
  close: ['close', 'c', 'closeprice'],
  symbol: ['symbol', 'asset', 'ticker', 'coin', 'pair', 'tic'],
}

/** Where lists of candles are kept in what exchanges answer. */
const listNames = ['candles', 'data', 'list', 'result', 'klines', 'prices']

interface Row {
  readonly where: string
  readonly fields: Readonly<Partial<Record<Column, unknown>>>
}

/**
 * Reads a file. CSV has a head, or the columns of exchanges without one: time, open, high, low, close. JSON is a list of objects or of such
 * rows, also inside of an answer, or a line each. Times are Unix seconds to nanoseconds or UTC texts.
 *
 * @throws CandleFileError CANDLES_UNREADABLE, which names bad rows.
 */
export function readCandleFile(path: string): CandleSeries {
  let rows: readonly Row[]
  try {
    const text = readTextFile(path)
    rows = /^\s*[[{]/.test(text) ? jsonRows(text) : csvRows(text)
  } catch (cause) {
    throw unreadable(path, [reasonOf(cause)], cause)
  }
  const complaints: string[] = []
  const series = new Map<string, FileCandle[]>()
  for (const { where, fields } of inOrder(rows)) {
    const candle = candleOf(fields)
    if (typeof candle === 'string') {
      complaints.push(`${where}, ${candle}`)
      continue
    }
    const symbol = String(fields.symbol ?? '').trim()
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
  if (complaints.length === 0 && series.size === 0) complaints.push('it holds no candle')
  if (complaints.length > 0) throw unreadable(path, complaints)
  return series
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
        'Nothing was started. Correct the rows: timestamp,open,high,low,close with ascending times; other columns are passed over.',
      ...(cause === undefined ? {} : { cause }),
    },
  )
}

/** Some services write the newest first. */
function inOrder(rows: readonly Row[]): readonly Row[] {
  const times = rows.slice(0, 2).map(({ fields }) => secondsOf(fields.timestamp))
  const [first, second] = times
  return first !== undefined && second !== undefined && second < first ? rows.toReversed() : rows
}

function csvRows(text: string): readonly Row[] {
  const lines = text.split(/\r\n|\n|\r/)
  const delimiter = delimiterOf(lines)
  const cells = lines.map((line) => cellsOf(line, delimiter))
  // Lines of a single cell before the table are a title or a comment.
  const start = cells.findIndex((each, at) => each.length > 1 && lines[at]?.startsWith('#') !== true)
  if (start < 0)
    throw new Error('it holds no candle: no line has columns with a comma, a semicolon or a tab between them')
  const head = cells[start] ?? []
  const isHead = head.some((name) => /^[a-z]/i.test(name))
  const of = isHead ? columnsOf(head, `row ${start + 1}`) : positions
  return cells.flatMap((row, at): readonly Row[] => {
    if (at < start || (isHead && at === start) || lines[at]?.trim() === '') return []
    return [{ where: `row ${at + 1}`, fields: fieldsOf(row, of) }]
  })
}

function delimiterOf(lines: readonly string[]): string {
  const sample = lines.find((line) => /[,;\t]/.test(line)) ?? ''
  const counts = [',', ';', '\t'].map((mark) => [mark, sample.split(mark).length] as const)
  return counts.toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? ','
}

/** The cells of a line; quotes around one are no part of it, and a delimiter inside of them is none. */
function cellsOf(line: string, delimiter: string): readonly string[] {
  if (!line.includes('"')) return line.split(delimiter).map((cell) => cell.trim())
  const cells: string[] = []
  let cell = ''
  let isQuoted = false
  for (const character of line) {
    if (character === '"') isQuoted = !isQuoted
    else if (character === delimiter && !isQuoted) {
      cells.push(cell.trim())
      cell = ''
    } else cell += character
  }
  return [...cells, cell.trim()]
}

type Places = Readonly<Partial<Record<Column, number>>>

/** Without a head: as exchanges order their columns. */
const positions: Places = { timestamp: 0, open: 1, high: 2, low: 3, close: 4 }

function columnsOf(head: readonly unknown[], where: string): Places {
  const names = head.map((name) =>
    String(name)
      .toLowerCase()
      .replace(/[^a-z]/g, ''),
  )
  const twice = Object.values(columnNames)
    .flat()
    .find((name) => names.indexOf(name) !== names.lastIndexOf(name))
  if (twice !== undefined)
    throw new Error(`${where}: the head has the column ${twice} twice; keep one of them`)
  const found = Object.entries(columnNames).flatMap(([column, known]): [string, number][] => {
    const name = known.find((each) => names.includes(each))
    // The index of a data frame has no name, and is the time where no other column is.
    const at = name !== undefined ? names.indexOf(name) : column === 'timestamp' ? names.indexOf('') : -1
    return at < 0 ? [] : [[column, at]]
  })
  const places = Object.fromEntries(found) as Places
  const missing = columns.filter((column) => places[column] === undefined)
  if (missing.length === 0) return places
  throw new Error(
    `${where}: the head has no column ${missing.join(', ')}; it is ${head.map(String).join(',').slice(0, 120)}, and timestamp,open,high,low,close are wanted`,
  )
}

function fieldsOf(row: readonly unknown[], places: Places): Row['fields'] {
  return Object.fromEntries(Object.entries(places).map(([column, at]) => [column, row[at]]))
}

function jsonRows(text: string): readonly Row[] {
  const { list, head } = listOf(jsonOf(text))
  const places = head === undefined ? positions : columnsOf(head, 'columns')
  return list.map((row, at) => ({
    where: `candle ${at + 1}`,
    fields: Array.isArray(row) ? fieldsOf(row, places) : isObject(row) ? objectFields(row) : {},
  }))
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

function listOf(value: unknown): Found {
  if (Array.isArray(value)) return { list: value }
  for (let inner: unknown = value; isObject(inner); ) {
    const { columns: head, data } = inner
    if (Array.isArray(head) && Array.isArray(data)) return { list: data, head }
    const name = listNames.find((each) => typeof (inner as Record<string, unknown>)[each] === 'object')
    const next: unknown = name === undefined ? undefined : inner[name]
    if (Array.isArray(next)) return { list: next }
    inner = next
  }
  throw new Error('the JSON is no list of candles, and holds none under candles, data, list or result')
}

function objectFields(row: Readonly<Record<string, unknown>>): Row['fields'] {
  const names = Object.keys(row)
  const plain = names.map((name) => name.toLowerCase().replace(/[^a-z]/g, ''))
  return Object.fromEntries(
    Object.entries(columnNames).flatMap(([column, known]) => {
      const name = known.find((each) => plain.includes(each))
      return name === undefined ? [] : [[column, row[names[plain.indexOf(name)] ?? '']]]
    }),
  )
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function candleOf(fields: Row['fields']): FileCandle | string {
  const startSeconds = secondsOf(fields.timestamp)
  if (startSeconds === undefined)
    return `column timestamp: ${shown(fields.timestamp)} is no time; expected Unix seconds, milli-, micro- or nanoseconds, or UTC as 2025-01-01 00:00:00`
  const prices: Record<string, bigint> = {}
  for (const name of ['open', 'high', 'low', 'close'] as const) {
    const price = priceOf(fields[name])
    if (price === undefined)
      return `column ${name}: ${shown(fields[name])} is no price; expected digits above zero with a point, as 2000.5 or 7.1e-7`
    prices[name] = price
  }
  const { open = 0n, high = 0n, low = 0n, close = 0n } = prices
  if (high < open || high < close || high < low) return 'column high: it is below another price'
  if (low > open || low > close) return 'column low: it is above another price'
  return { startSeconds, open, high, low, close }
}

function shown(value: unknown): string {
  return value === undefined || value === null || value === '' ? '(missing)' : shownValue(value)
}

/** Seconds, milli-, micro- and nanoseconds are distinguished by their size; a text without a zone is UTC. */
function secondsOf(value: unknown): number | undefined {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value).trim() : ''
  const [, digits] = /^(\d{9,19})(?:\.\d+)?$/.exec(text) ?? []
  if (digits !== undefined) {
    const thousands = Math.max(0, Math.ceil((digits.length - 11) / 3))
    return Number(BigInt(digits) / 1_000n ** BigInt(thousands))
  }
  const [, day, time = '00:00:00', zone = ''] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?\s*(Z|UTC|[+-]\d\d:?\d\d)?$/i.exec(text) ?? []
  if (day === undefined) return undefined
  const atMs = Date.parse(`${day}T${time}${/^[+-]/.test(zone) ? zone : 'Z'}`)
  return Number.isNaN(atMs) ? undefined : Math.floor(atMs / 1_000)
}

/** A decimal, with an exponent or without, as USD with 30 decimals; undefined where digits would be lost. */
function priceOf(value: unknown): bigint | undefined {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value).trim() : ''
  const [, whole, fraction = '', exponent = '0'] =
    /^(\d{1,30})(?:\.(\d{0,60}))?(?:e([+-]?\d{1,2}))?$/i.exec(text) ?? []
  if (whole === undefined) return undefined
  const places = PRICE_DECIMALS + Number(exponent) - fraction.length
  const digits = BigInt(whole + fraction)
  const unit = 10n ** BigInt(Math.abs(places))
  if (places < 0 && digits % unit !== 0n) return undefined
  const price = places < 0 ? digits / unit : digits * unit
  return price > 0n ? price : undefined
}
