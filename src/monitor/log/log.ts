/** The log: events as JSON lines for machines, or as one short line each for people. Secrets never reach either. */
import { pino } from 'pino'
import { Secret } from '../../base/secret.ts'
import { visible } from '../../base/shownText.ts'
import type { Emit, Event } from '../../domain/event.ts'
import { shortHex } from '../../protocol/address.ts'
import { withDollars } from '../dollars.ts'
import type { Level, Line } from './line.ts'
import { createLogRateLimit } from './logRateLimit.ts'
import type { LogRing } from './logRing.ts'
import { createRedactor } from './redact.ts'
import { createRepeatFilter } from './repeatFilter.ts'

/** Where lines go: a stream such as `process.stdout`. */
export interface LogStream {
  write(text: string): unknown
  readonly isTTY?: boolean
  /** Columns of the terminal. */
  readonly columns?: number
}

/** What a log is made of. */
export interface LogOptions {
  /** Least important line that is written. */
  readonly level: Level
  /** `auto`: pretty when the stream is a terminal, else JSON. */
  readonly format: 'auto' | 'pretty' | 'json'
  readonly stream: LogStream
  /** Unix ms; default the system's clock. */
  readonly now?: () => number
  /** Colours in the pretty format; default: on a terminal, unless NO_COLOR says otherwise where the caller looks. */
  readonly color?: boolean
  /** Stands in every JSON line: the id of this run of the daemon. */
  readonly runId?: string
  /** Told of every line that is written, as it is shown to people. */
  readonly keep?: LogRing['keep']
  /** Secret values to hide wherever they would be written. */
  readonly secrets?: readonly Secret[]
}

/** A log. */
export interface Log {
  /** Writes the lines of an event. */
  readonly listen: Emit
  /** Writes one line that belongs to no event: configuration warnings, a failed start. */
  note(level: Level, text: string, fields?: Readonly<Record<string, unknown>>): void
}

const ranks: Readonly<Record<Level, number>> = { debug: 0, info: 1, warn: 2, error: 3 }

/** A log over a stream. Lines are written at once; nothing is buffered, so that a crash loses none. */
export function createLog(options: LogOptions): Log {
  const { level, stream, now = Date.now } = options
  const redact = createRedactor(options.secrets)
  const quiet = createRepeatFilter(now)
  const ceiling = createLogRateLimit(now)
  const isPretty = options.format === 'pretty' || (options.format === 'auto' && stream.isTTY === true)
  const write = isPretty
    ? prettyWriter(stream, now, options.color ?? stream.isTTY === true)
    : jsonWriter(options, now)
  const bindings: Record<string, unknown> = {}

  const put = (event: string, line: Line): void => {
    if (ranks[line.level] < ranks[level]) return
    const fields = { ...bindings, ...line.fields }
    const clean = isPretty ? {} : (redact.value(withDollars(shortened(fields))) as Record<string, unknown>)
    const text = cut(redact.text(line.text), MAX_LINE)
    write({ ...line, text, fields: clean }, event)
    const { strategy, intent_id: intentId } = line.fields
    options.keep?.({
      ...{ atMs: now(), level: line.level, word: line.word, text, event },
      ...(typeof strategy === 'string' && { strategy }),
      ...(typeof intentId === 'string' && { intentId }),
    })
  }
  return {
    listen: (event) => {
      if (event.type === 'daemon.started') {
        bindings.chain = event.chain
        bindings.account = shortHex(event.account)
      }
      if (isBelow(event, level)) return
      for (const line of quiet(event)) put(event.type, ceiling(event, line))
    },
    note: (noteLevel, text, fields = {}) =>
      put('note', { level: noteLevel, word: noteLevel === 'info' ? 'perpd' : noteLevel, text, fields }),
  }
}

/** Longest text of a line and of one of its fields, characters, and most elements of a list in it. */
const MAX_LINE = 4_000
const MAX_FIELD = 2_000
const MAX_ELEMENTS = 50

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`
}

/** Fields without what would make a line as long as a host likes. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string') return cut(value, MAX_FIELD)
  if (Array.isArray(value)) {
    const more = value.length > MAX_ELEMENTS ? [`… and ${value.length - MAX_ELEMENTS} more`] : []
    return [...value.slice(0, MAX_ELEMENTS).map(shortened), ...more]
  }
  if (typeof value !== 'object' || value === null || value instanceof Secret) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortened(inner)]))
}

/** Events that are never more than `debug` and change nothing in what is told: not phrased at all unless asked for. */
function isBelow(event: Event, level: Level): boolean {
  if (level === 'debug') return false
  switch (event.type) {
    case 'journal.committed':
    case 'order.observed':
    case 'order.timing':
    case 'feed.read':
    case 'capacity.read':
      return true
    default:
      return false
  }
}

type Writer = (line: Line, event: string) => void

function jsonWriter(options: LogOptions, now: () => number): Writer {
  const logger = pino(
    {
      level: options.level,
      base: options.runId === undefined ? {} : { run_id: options.runId },
      timestamp: () => `,"ts":"${new Date(now()).toISOString()}"`,
      messageKey: 'message',
      formatters: { level: (label) => ({ level: label }) },
    },
    // As JSON it says the same, and on a screen only what it is.
    { write: (text: string) => void options.stream.write(visible(text)) },
  )
  return (line, event) => logger[line.level]({ event, ...line.fields }, oneLine(line.text))
}

const colors: Readonly<Record<Level, string>> = {
  debug: '\u001b[2m',
  info: '\u001b[36m',
  warn: '\u001b[33m',
  error: '\u001b[31m',
}
const plainColor = '\u001b[0m'

/** Columns before the text of a line: time of day, word, gaps. */
const PRETTY_INDENT = 20
/** A narrower terminal wraps by itself. */
const MIN_COLUMNS = 60

function prettyWriter(stream: LogStream, now: () => number, color: boolean): Writer {
  let day = ''
  return (line) => {
    const at = new Date(now()).toISOString()
    const word = line.word.padEnd(8)
    const shown = color ? `${colors[line.level]}${word}${plainColor}` : word
    // The day and the zone are said once, and again when the day changes.
    if (at.slice(0, 10) !== day) {
      day = at.slice(0, 10)
      stream.write(`${day}, times are UTC\n`)
    }
    // A text of several lines stays readable and stays one entry.
    const text = visible(line.text)
      .split('\n')
      .flatMap((each) => foldedAt(each, (stream.columns ?? 0) - PRETTY_INDENT))
      .join(`\n${' '.repeat(PRETTY_INDENT)}`)
    stream.write(`${at.slice(11, 19)}  ${shown}  ${text}\n`)
  }
}

/** The text as lines of at most `most` columns, no word broken; as it is where that is too narrow, or not known. */
function foldedAt(text: string, most: number): string[] {
  if (most < MIN_COLUMNS - PRETTY_INDENT || text.length <= most) return [text]
  const margin = /^ */.exec(text)?.[0] ?? ''
  const lines: string[] = []
  let line = ''
  for (const word of text.trimStart().split(' ')) {
    if (line !== '' && line.length + 1 + word.length > most) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? `${margin}${word}` : `${line} ${word}`
  }
  return [...lines, line]
}

/** The lines of a text as one: what a colon opens goes on behind it, all else is apart. */
function oneLine(text: string): string {
  return text.replaceAll(':\n', ': ').replaceAll('\n', '; ')
}
