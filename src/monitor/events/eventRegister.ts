/** The register of events: every line of the log, every series and every notice of an event comes from its row in a family. */
import { defined } from '../../base/defined.ts'
import type { Event, EventType } from '../../domain/event.ts'
import type { SeriesMaker } from '../seriesMaker.ts'
import { accountFamily } from './accountFamily.ts'
import { approvalFamily } from './approvalFamily.ts'
import { chainFamily } from './chainFamily.ts'
import { daemonFamily } from './daemonFamily.ts'
import { decisionFamily } from './decisionFamily.ts'
import {
  type EventFamily,
  type EventOf,
  type EventRow,
  fieldName,
  type HeardNotice,
  type Line,
  lineMaker,
  type RegisteredEvent,
  type Seen,
} from './eventRow.ts'
import { hostFamily } from './hostFamily.ts'
import { marketFamily } from './marketFamily.ts'
import { noticeFamily } from './noticeFamily.ts'
import { orderFamily } from './orderFamily.ts'
import { type NoteName, noteRegister } from './processNotes.ts'
import { signalFamily } from './signalFamily.ts'
import { strategyFamily } from './strategyFamily.ts'
import { taskFamily } from './taskFamily.ts'
import { tradingFamily } from './tradingFamily.ts'

const families = [
  daemonFamily,
  strategyFamily,
  signalFamily,
  noticeFamily,
  decisionFamily,
  orderFamily,
  taskFamily,
  hostFamily,
  chainFamily,
  accountFamily,
  marketFamily,
  approvalFamily,
  tradingFamily,
] as const

/** Every event by its name. One that can be emitted and is in no family does not compile. */
const eventRows: { readonly [Type in EventType]: EventRow<EventOf<Type>, never> } = {
  ...daemonFamily.rows,
  ...strategyFamily.rows,
  ...signalFamily.rows,
  ...noticeFamily.rows,
  ...decisionFamily.rows,
  ...orderFamily.rows,
  ...taskFamily.rows,
  ...hostFamily.rows,
  ...chainFamily.rows,
  ...accountFamily.rows,
  ...marketFamily.rows,
  ...approvalFamily.rows,
  ...tradingFamily.rows,
}

/** A row, whichever event it is of. */
type AnyRow = EventRow<Event, object>

const anyRows = eventRows as unknown as Readonly<Record<EventType, AnyRow>>

/** The row of an event. */
export function rowOfEvent({ type }: Event): AnyRow {
  return anyRows[type]
}

const lineOf = new Map(Object.entries(anyRows).map(([type, row]) => [type, lineMaker(row)]))

/** Formats the line of an event: its level, one word, one sentence and its fields. The log thins out lines that repeat, not this. */
export function phrase(event: Event): Line {
  const line = lineOf.get(event.type)
  if (line === undefined) throw new TypeError(`no family has a row of ${event.type}`)
  return line(event)
}

/** The notices of an event with the rules of their incidents; none when nobody is notified of it. */
export function noticesOf(event: Event, seen: Seen): readonly HeardNotice[] {
  const facts = anyRows[event.type].notice?.(event, seen)
  // Most events are no notice: they have no line made for one.
  if (facts === undefined || ('length' in facts && facts.length === 0)) return []
  const line = phrase(event)
  return [facts]
    .flat()
    .flatMap(({ rank, parts, calmMs, quietMs, blocks, isSame, ...own }): readonly HeardNotice[] => {
      const { level = line.level, text = line.text } = own
      // A debug line repeats a line that was already notified in other words.
      if (level === 'debug' && isSame !== true) return []
      const notice = { ...own, level: level === 'debug' ? 'info' : level, text }
      return [{ notice, ...defined({ rank, parts, calmMs, quietMs, blocks, isSame }) }]
    })
}

/** Makes the series of every family; the result moves them with each event. */
export function eventSeries(maker: SeriesMaker, now: () => number): (event: Event) => void {
  const moves = new Map<string, (event: Event) => void>()
  const starts: ((started: EventOf<'daemon.started'>) => void)[] = []
  for (const family of families as readonly unknown[] as readonly EventFamily<Event>[]) {
    const series = family.series?.(maker, now) ?? {}
    const { starts: begin } = family
    if (begin !== undefined) starts.push((started) => begin(series, started))
    for (const [type, row] of Object.entries(family.rows as unknown as Readonly<Record<string, AnyRow>>)) {
      const { moves: move } = row
      if (move !== undefined) moves.set(type, (event) => move(series, event))
    }
  }
  return (event) => {
    if (event.type === 'daemon.started') for (const start of starts) start(event)
    moves.get(event.type)?.(event)
  }
}

/** Name of a line: a dotted event, stable over versions. */
export type LineName = EventType | NoteName

/** A line as the register has it. */
interface RegisteredLine extends RegisteredEvent {
  /** Names of its fields besides those of every line. */
  readonly fields: readonly string[]
}

const registered = ([type, { levels, meaning, fields }]: [string, AnyRow]): [string, RegisteredLine] => [
  type,
  { levels, meaning, fields: fields.map(fieldName) },
]

/** Facts about every line by its name. */
export const eventRegister: Readonly<Record<LineName, RegisteredLine>> = {
  ...(Object.fromEntries(Object.entries(anyRows).map(registered)) as Record<EventType, RegisteredLine>),
  ...noteRegister,
}

/** Fields that any line may have. */
export const commonFieldNames: Readonly<Record<string, string>> = {
  level: '`debug`, `info`, `warn` or `error`',
  ts: 'when it was written, RFC 3339 in UTC',
  run_id: 'this run of the daemon',
  event: 'name of the event, as below',
  chain: 'the chain, once the daemon has started',
  account: 'the account, shortened, once the daemon has started',
  message: 'a sentence for people; its words may change',
  cut_bytes:
    'bytes of its fields that were cut to keep the line within 8 KiB; orders are whole in the journal',
  repeated: 'how often the same cause happened, in a repeated line',
  recovered: 'how often an ended cause happened',
  kept_back: 'lines of this event that were suppressed before it, because there were too many',
}
