/** The log: events as JSON lines for machines, or as one short line each for people. Secrets never reach either. */
import { pino } from 'pino'
import type { Secret } from '../../base/secret.ts'
import { visible } from '../../base/shownText.ts'
import type { Emit, Event } from '../../domain/event.ts'
import type { ComponentLevel } from '../../domain/logLevels.ts'
import { shortHex } from '../../protocol/address.ts'
import { withDollars } from '../dollars.ts'
import { type LineName, rowOfEvent } from '../events/eventRegister.ts'
import type { Level, Line } from '../events/eventRow.ts'
import type { NoteLevel, NoteName } from '../events/processNotes.ts'
import { withAccount } from '../namedAdvice.ts'
import { createLevelTable, type LevelTable } from './levelTable.ts'
import { cutText, lineWithin, MAX_LINE_BYTES } from './lineBudget.ts'
import { createLogRateLimit } from './logRateLimit.ts'
import type { LogRing } from './logRing.ts'
import { createRedactor } from './redact.ts'
import { changesLines, createRepeatFilter } from './repeatFilter.ts'

/** Where lines go: a stream such as `process.stdout`. */
export interface LogStream {
  write(text: string): unknown
  readonly isTTY?: boolean
  /** Columns of the terminal. */
  readonly columns?: number
}

/** Options of a log. */
export interface LogOptions {
  /** Least important line that is written, and that of single components. */
  readonly level: Level
  readonly levels?: readonly ComponentLevel[]
  readonly format: 'pretty' | 'json'
  readonly stream: LogStream
  /** Gets every line as JSON besides, whatever the format. */
  readonly file?: LogStream
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
  /** Levels that decide which lines are written; may be changed at any time. */
  readonly levels: LevelTable
  /** Writes the lines of an event. */
  readonly listen: Emit
  /** Writes one line of the process that nothing else hears of: configuration warnings, a failed start. */
  note<Name extends NoteName>(
    name: Name,
    level: NoteLevel<Name>,
    text: string,
    fields?: Readonly<Record<string, unknown>>,
  ): void
  /** Returns the log of one of several accounts: the same streams and levels, and its name in every line. `keep` hears its lines. */
  ofAccount(name: string, keep: LogRing['keep']): Log
}

/** A log over a stream. Lines are written at once; nothing is buffered, so that a crash loses none. */
export function createLog(options: LogOptions): Log {
  const { stream, now = Date.now } = options
  const levels = createLevelTable({ level: options.level, levels: options.levels ?? [] })
  const redact = createRedactor(options.secrets)
  const isPretty = options.format === 'pretty'
  const pretty = isPretty ? prettyWriter(stream, now, options.color ?? stream.isTTY === true) : undefined
  // One line for both where both are JSON: the same to the last byte.
  const jsonStreams = [...(isPretty ? [] : [stream]), ...(options.file === undefined ? [] : [options.file])]
  const json = jsonStreams.length === 0 ? undefined : jsonWriter(options, jsonStreams, now)

  /** The log of an account, or without a name the one of the process. */
  const logOf = (keep: LogRing['keep'] | undefined, account?: string): Log => {
    const quiet = createRepeatFilter(now, (event) => levels.isWritten(event, 'debug'))
    const ceiling = createLogRateLimit(now)
    const bindings: Record<string, unknown> = account === undefined ? {} : { account }
    const put = (event: LineName, line: Line): void => {
      if (!levels.isWritten(event, line.level)) return
      const fields = { ...bindings, ...line.fields }
      // Nothing is cut before secrets are out: half of one has no shape that is known.
      const text = cutText(redact.text(withAccount(line.text, account)))
      pretty?.({ ...line, text: account === undefined ? text : `${account}: ${text}` }, event)
      if (json !== undefined) {
        const clean = redact.value(withDollars(fields)) as Record<string, unknown>
        json({ ...line, text, fields: clean }, event)
      }
      const { strategy, intent_id: intentId } = line.fields
      keep?.({
        ...{ atMs: now(), level: line.level, word: line.word, text, event },
        ...(typeof strategy === 'string' && { strategy }),
        ...(typeof intentId === 'string' && { intentId }),
      })
    }
    return {
      levels,
      listen: (event) => {
        if (event.type === 'daemon.started') {
          bindings.chain = event.chain
          bindings[account === undefined ? 'account' : 'address'] = shortHex(event.account)
        }
        if (isBelow(event, levels)) return
        for (const line of quiet(event)) put(event.type, ceiling(event, line))
      },
      note: (name, noteLevel: Level, text, fields = {}) =>
        put(name, { level: noteLevel, word: noteLevel === 'info' ? 'perpd' : noteLevel, text, fields }),
      ofAccount: (name, keepOwn) => logOf(keepOwn, name),
    }
  }
  return logOf(options.keep)
}

/** Events that are never more than `debug` and change nothing in other lines: not phrased at all unless asked for. */
function isBelow(event: Event, levels: LevelTable): boolean {
  const { levels: own, repeats } = rowOfEvent(event)
  const isQuiet = own.length === 1 && own[0] === 'debug' && repeats === undefined && !changesLines(event)
  return isQuiet && !levels.isWritten(event.type, 'debug')
}

type Writer = (line: Line, event: LineName) => void

function jsonWriter(options: LogOptions, streams: readonly LogStream[], now: () => number): Writer {
  let made = ''
  const logger = pino(
    {
      // Lines below their level are dropped before they come here.
      level: 'debug',
      base: options.runId === undefined ? {} : { run_id: options.runId },
      timestamp: () => `,"ts":"${new Date(now()).toISOString()}"`,
      messageKey: 'message',
      formatters: { level: (label) => ({ level: label }) },
    },
    {
      write: (text: string) => {
        made = text
      },
    },
  )
  return (line, event) => {
    const text = oneLine(line.text)
    const written = lineWithin(line.fields, (fields) => {
      logger[line.level]({ event, ...fields }, text)
      // As JSON it says the same, and on a screen only what it is.
      return visible(made)
    })
    for (const stream of streams) stream.write(written)
  }
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
/** Most bytes of a text whose ends of lines make its entry too long. */
const MAX_FOLDED_BYTES = 300
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
    const entry = (shownText: string): string => {
      const folded = visible(shownText)
        .split('\n')
        .flatMap((each) => foldedAt(each, (stream.columns ?? 0) - PRETTY_INDENT))
        .join(`\n${' '.repeat(PRETTY_INDENT)}`)
      return `${at.slice(11, 19)}  ${shown}  ${folded}\n`
    }
    const whole = entry(line.text)
    // Each end of a line costs the columns before it.
    const isLong = Buffer.byteLength(whole) > MAX_LINE_BYTES
    stream.write(isLong ? entry(cutText(line.text, MAX_FOLDED_BYTES)) : whole)
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
