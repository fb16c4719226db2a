/** Candles of a file, for prices that really were: CSV or JSON, checked row by row. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { parseBounded, shownValue } from '../../base/boundedJson.ts'
import { BaseError, reasonOf } from '../../base/errors.ts'
import { isObject } from '../http/http.ts'

/** One candle; prices in USD with 30 decimals. */
export interface ReplayCandle {
  /** Unix seconds of its start. */
  readonly startSeconds: number
  readonly open: bigint
  readonly high: bigint
  readonly low: bigint
  readonly close: bigint
}

/** Candles by asset (`BTC`), ascending, and how fast they are played. */
export interface PriceReplay {
  readonly series: ReadonlyMap<string, readonly ReplayCandle[]>
  /**
   * Seconds of the file for a second of the clock. Prices alone are that fast: blocks, deadlines, funding and cache windows
   * stay on the clock, which clients share.
   */
  readonly speed: number
}

/** Most complaints that one message lists. */
const MAX_COMPLAINTS = 20
const columns = ['timestamp', 'open', 'high', 'low', 'close'] as const

/** Candles nest a list and an object deep, and may be as many as there are. */
const rowBounds = { depth: 8, values: Number.POSITIVE_INFINITY }

interface Row {
  readonly where: string
  readonly fields: Readonly<Record<string, unknown>>
}

/**
 * Reads a file. CSV has a head of `timestamp` (or `time`), `open`, `high`, `low`, `close` and perhaps `symbol`; JSON is a list of objects
 * with the same names. Without a symbol the file is of the asset its name begins with, as `btc-usd-1m.csv`.
 *
 * @throws BaseError PAPER_REPLAY_UNREADABLE naming every bad row
 */
export function loadReplay(path: string, speed: number): PriceReplay {
  let rows: Row[]
  try {
    const text = readFileSync(path, 'utf8')
    rows = /^\s*[[{]/.test(text) ? jsonRows(text) : csvRows(text)
  } catch (cause) {
    throw unreadable(path, [reasonOf(cause)], cause)
  }
  const complaints: string[] = []
  const fileSymbol = (/^[A-Za-z0-9]+/.exec(basename(path))?.[0] ?? '').toUpperCase()
  const series = new Map<string, ReplayCandle[]>()
  for (const { where, fields } of rows) {
    const candle = candleOf(fields)
    const symbol = String(fields.symbol ?? fileSymbol)
      .toUpperCase()
      .replace(/[/-].*$/, '')
    const known = series.get(symbol) ?? []
    const before = known.at(-1)
    if (typeof candle === 'string') complaints.push(`${where}: ${candle}`)
    else if (symbol === '') complaints.push(`${where}: no symbol, and the file's name gives none`)
    else if (before !== undefined && candle.startSeconds <= before.startSeconds) {
      complaints.push(
        `${where}: timestamp ${candle.startSeconds} is not after ${before.startSeconds} of ${symbol}`,
      )
    } else {
      known.push(candle)
      series.set(symbol, known)
    }
  }
  if (complaints.length === 0 && series.size === 0) complaints.push('it holds no candle')
  if (complaints.length > 0) throw unreadable(path, complaints)
  return { series, speed }
}

function unreadable(path: string, complaints: readonly string[], cause?: unknown): BaseError {
  const shown = complaints.slice(0, MAX_COMPLAINTS)
  const more = complaints.length - shown.length
  return new BaseError(
    `The candle file cannot be replayed:\n  ${shown.join('\n  ')}${more > 0 ? `\n  and ${more} more` : ''}`,
    {
      code: 'PAPER_REPLAY_UNREADABLE',
      facts: { path },
      details: 'Nothing was started. Correct the rows: timestamp,open,high,low,close with ascending times.',
      ...(cause === undefined ? {} : { cause }),
    },
  )
}

function csvRows(text: string): Row[] {
  const lines = text.split(/\r?\n/)
  const head = (lines[0] ?? '').split(',').map((name) => {
    const plain = name.trim().toLowerCase()
    return plain === 'time' ? 'timestamp' : plain
  })
  const missing = columns.filter((name) => !head.includes(name))
  if (missing.length > 0) throw new Error(`row 1: the head has no column ${missing.join(', ')}`)
  const rows: Row[] = []
  for (const [i, line] of lines.entries()) {
    if (i === 0 || line.trim() === '') continue
    const cells = line.split(',')
    const where = `row ${i + 1}`
    rows.push({ where, fields: Object.fromEntries(head.map((name, at) => [name, cells[at]?.trim()])) })
  }
  return rows
}

function jsonRows(text: string): Row[] {
  const value = parseBounded(text, rowBounds)
  if (!Array.isArray(value)) throw new Error('the JSON is not a list of candles')
  return value.map((row: unknown, i) => ({
    where: `candle ${i + 1}`,
    fields: isObject(row) ? { timestamp: row.time, ...row } : {},
  }))
}

function candleOf(fields: Readonly<Record<string, unknown>>): ReplayCandle | string {
  const time = String(fields.timestamp ?? '')
  if (!/^\d{1,13}$/.test(time)) return `timestamp ${shown(fields.timestamp)} is not a whole Unix time`
  const given = Number(time)
  const prices: Record<string, bigint> = {}
  for (const name of ['open', 'high', 'low', 'close'] as const) {
    const price = priceOf(fields[name])
    if (price === undefined) return `${name} ${shown(fields[name])} is not a positive decimal price`
    prices[name] = price
  }
  const { open = 0n, high = 0n, low = 0n, close = 0n } = prices
  if (high < open || high < close || high < low) return 'high is below another price'
  if (low > open || low > close) return 'low is above another price'
  // Milliseconds are told from seconds by their size.
  return { startSeconds: given > 99_999_999_999 ? Math.floor(given / 1000) : given, open, high, low, close }
}

function shown(value: unknown): string {
  return value === undefined || value === null || value === '' ? '(missing)' : shownValue(value)
}

function priceOf(value: unknown): bigint | undefined {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  const match = /^(\d{1,15})(?:\.(\d{1,18}))?$/.exec(text)
  if (match === null) return undefined
  const price = BigInt(match[1] ?? '0') * 10n ** 30n + BigInt((match[2] ?? '').padEnd(30, '0'))
  return price > 0n ? price : undefined
}
