/** A line, before it is written: what every phrase gives. */
import type { Event, EventType } from '../../domain/event.ts'
import type { LogLevel } from '../../domain/logLevels.ts'
import type { Usd } from '../../protocol/units.ts'

/** Importance of a line. */
export type Level = LogLevel

/** One line, before it is written. */
export interface Line {
  readonly level: Level
  /** Subject of the line, one word for the eye. */
  readonly word: string
  /** A plain sentence without full stop at its end. */
  readonly text: string
  /** Fields for machines; names are stable and in snake case. Bigints become decimal text. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** A line; fields are none when not given. */
export function line(
  level: Level,
  word: string,
  text: string,
  fields: Readonly<Record<string, unknown>> = {},
): Line {
  return { level, word, text, fields }
}

/** A USD amount as a field: decimal text of the integer with 30 decimals. */
export function usdField(value: Usd): string {
  return value.toString()
}

/** Wording of events of these types: one entry a type, and a missing one is a type error. */
export type Phrases<T extends EventType> = {
  readonly [Type in T]: (event: Extract<Event, { type: Type }>) => Line
}
