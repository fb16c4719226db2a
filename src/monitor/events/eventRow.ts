/** The row of an event: its levels, its fields, its sentence, the series that it moves and the notice that it is to people. Pure. */
import type { Event, EventType } from '../../domain/event.ts'
import type { LogLevel } from '../../domain/logLevels.ts'
import type { SeriesMaker } from '../seriesMaker.ts'
import type { Notice, NoticeKind, NoticeLevel } from './notice.ts'

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

/** Facts about a line before it is written, for the register and its page. */
export interface RegisteredEvent<L extends Level = Level> {
  /** Levels that its line has before what repeats is thinned out, the usual one first. */
  readonly levels: readonly [L, ...L[]]
  /** A sentence for `docs/reference/events.md`: when it happens. */
  readonly meaning: string
}

/** An event of this type. */
export type EventOf<T extends EventType> = Extract<Event, { type: T }>

/** `cooldownMs` as `cooldown_ms`. */
type Snake<S extends string> = S extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : ''
type KeyOf<E> = E extends unknown ? Exclude<keyof E, 'type'> & string : never

/** A field of a line: one of the event itself in snake case, or a name with its value. A value that is undefined makes no field. */
export type Field<E> = Snake<KeyOf<E>> | readonly [name: string, read: (event: E) => unknown]

/** Facts of a notice that the line does not give; the line gives its sentence and level. */
export interface NoticeFacts {
  readonly kind: NoticeKind
  /** The same for all that has the same cause. */
  readonly cause: string
  /** Stage of its cause: another stage is notified as a new cause, though the cause continues. */
  readonly stage?: string
  /** It is the end of its cause. */
  readonly isEnd?: true
  /** Action that a person must take; absent: none. */
  readonly action?: string
  /** Level and sentence in place of those of the line. */
  readonly level?: NoticeLevel
  readonly text?: string
  /** Gravity of an incident that comes and goes: while its end waits, its return is news only when it is graver. Absent: 0. */
  readonly rank?: number
  /** Members of an incident that is over when it has none. */
  readonly parts?: ReadonlySet<string>
  /** An end is notified once the incident has stayed away for so long, ms; absent: at once. */
  readonly calmMs?: number
  /** An end counts only when the incident was not seen for so long, ms; absent: always. */
  readonly quietMs?: number
  /** No new order is made while the incident lasts, whatever else is well: readiness is judged by it. */
  readonly blocks?: true
  /** The incident continues: it is seen again, an end that waits is void, and nobody is notified. */
  readonly isSame?: true
}

/** A notice with the rules of its incident. */
export interface HeardNotice
  extends Pick<NoticeFacts, 'rank' | 'parts' | 'calmMs' | 'quietMs' | 'blocks' | 'isSame'> {
  readonly notice: Notice
}

/** An open incident, as rows see it. */
export interface OpenIncident {
  readonly kind: NoticeKind
  readonly cause: string
  readonly stage?: string
  readonly rank: number
  readonly parts?: ReadonlySet<string>
  /** Time when it was last seen, monotonic ms. */
  readonly seenMs: number
}

/** Facts that the notice of an event may depend on besides the event. */
export interface Seen {
  readonly apiHosts: readonly string[]
  readonly oracleHosts: readonly string[]
  /** The open incident of a cause that this run saw, one whose end waits included. */
  open(cause: string): OpenIncident | undefined
  /** Tells whether the end of an incident waits. */
  isWaiting(cause: string): boolean
  all(): readonly OpenIncident[]
}

/** The end of a topic of repeated lines. */
export interface TopicEnd {
  readonly topic: string
  /** Time that its last cause must be past, ms; absent: none. */
  readonly leastMs?: number
  /** The sentence; `count`: how often the topic happened. */
  readonly text: (count: number) => string
}

/** The row of one event; `S`: the series of its family. */
export interface EventRow<E, S = object> extends RegisteredEvent {
  /** Level of one event; absent: the first of `levels`. */
  readonly level?: (event: E) => Level
  /** Subject of the line, one word. */
  readonly word: string
  /** The sentence. */
  readonly text: (event: E) => string
  /** Fields of its line besides those of every line. */
  readonly fields: readonly Field<E>[]
  /** Hosts, endpoints or senders can multiply it: its lines have a ceiling. */
  readonly isFromOutside?: true
  /** Lines of one topic with the same cause are thinned out while they repeat; absent or undefined: each is logged. */
  readonly repeats?: (event: E) => readonly [topic: string, cause: string] | undefined
  /** The event ends a topic that was logged, which makes a line of its own; absent: none. An event that repeats ends nothing. */
  readonly ends?: (event: E) => TopicEnd | undefined
  /** Moves the series that count it; absent: none does. */
  readonly moves?: (series: S, event: E) => void
  /** The notice to people, and the incident that the event opens, continues or ends; absent or undefined: none. */
  readonly notice?: (event: E, seen: Seen) => NoticeFacts | readonly NoticeFacts[] | undefined
  /** Rewords an end that waited, by the newest event about the same subject; absent: it is notified as it was. */
  readonly late?: { readonly subject: (event: E) => string; readonly reword: (end: E, newest: E) => E }
}

/** Rows of the events of one subject. */
export type EventRows<E extends Event, S = object> = {
  readonly [Type in E['type']]: EventRow<Extract<E, { type: Type }>, S>
}

/** Makes the series of a family; `now`: any clock in ms. */
export type MakeSeries<S> = (maker: SeriesMaker, now: () => number) => S

/** Events of one subject, with the series that they move. */
export interface EventFamily<E extends Event, S = object> {
  readonly series?: MakeSeries<S>
  /** Begins the series of what a start knows; absent: nothing begins. */
  readonly starts?: (series: S, started: EventOf<'daemon.started'>) => void
  readonly rows: EventRows<E, S>
}

/** The function that formats the line of an event. */
export function lineMaker<E>({
  levels: [usual],
  level = () => usual,
  word,
  text,
  fields,
}: EventRow<E>): (event: E) => Line {
  const each = fields.map((field): readonly [string, (event: E) => unknown] => {
    if (typeof field !== 'string') return field as readonly [string, (event: E) => unknown]
    const key = field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    return [field, (event) => (event as Record<string, unknown>)[key]]
  })
  return (event) => {
    const values: Record<string, unknown> = {}
    for (const [name, read] of each) {
      const value = read(event)
      if (value !== undefined) values[name] = value
    }
    return { level: level(event), word, text: text(event), fields: values }
  }
}

/** Name of a field. */
export function fieldName(field: string | readonly [name: string, ...rest: unknown[]]): string {
  return typeof field === 'string' ? field : field[0]
}
