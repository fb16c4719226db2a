/**
 * Streams events to browsers as they happen. The daemon never waits for a reader. While somebody listens it looks for changes a few times a second.
 * It writes each event out once for all readers and disconnects a reader that does not take it.
 */
import { visible } from '../../base/shownText.ts'
import type { Level } from '../../monitor/events/eventRow.ts'
import type { KeptLine, LogRing } from '../../monitor/log/logRing.ts'
import type { Role } from '../guard/access.ts'

/** Bodies that the stream sends whole whenever they change. */
export type Snapshot = 'status' | 'orders' | 'tasks'

/** Where it is told from. */
export interface StreamSources {
  readonly log: LogRing
  /** Each as the text of its route's body. `key`: what of it counts as a change. */
  readonly read: Readonly<Record<Snapshot, () => Promise<{ readonly text: string; readonly key: string }>>>
}

/** Somebody who listens. */
export interface Reader {
  readonly role: Role
  readonly level: Level
  /** Hands a text to the socket; never waits. */
  write(text: string): void
  /** Bytes that the socket has not taken yet. */
  waiting(): number
  /** True while the reader may still listen. */
  isAllowed(): boolean
  /** Ends the connection. */
  cut(): void
}

/** The stream. */
export interface LiveStream {
  /** True while one more of this role may listen. */
  hasRoom(role: Role): boolean
  /** Tells what is new since the event `lastId`, or begins anew, and goes on until `leave`. */
  join(reader: Reader, lastId: string | undefined): Promise<void>
  leave(reader: Reader): void
  /** Looks, and tells what is new: to be called every `beatMs`. Never rejects. */
  beat(): Promise<void>
  /** Cuts all readers. */
  close(): void
}

/** Between two looks, ms. */
export const beatMs = 250
/** Beats between two looks at what is told of as a whole, and between two signs of life. */
const beatsOfSnapshots = 4
const beatsOfHeart = 60
/** Most readers of each role at once: those that may only read take nothing from operators. */
export const mostReaders = 16
/** Most that may wait in the socket of a reader from one look to the next, bytes. */
const mostWaiting = 1_048_576
/** Most that is told again of the log at once, characters: more is a new beginning. */
const mostAgain = 262_144
/** Most lines that the log keeps, and that are told again. */
const mostLines = 2_000
const kinds: readonly Snapshot[] = ['status', 'orders', 'tasks']
const ranks: Readonly<Record<Level, number>> = { debug: 0, info: 1, warn: 2, error: 3 }

/** Position in the stream after one event: the run of the daemon, the newest log line, and the newest snapshot. */
interface Place {
  readonly runId: string
  readonly line: number
  readonly change: number
}

/** A stream without readers. */
export function createLiveStream({ log, read }: StreamSources): LiveStream {
  const readers = new Set<Reader>()
  const newest = new Map<Snapshot, { readonly key: string; readonly text: string; readonly change: number }>()
  /** The newest change of a snapshot, and the newest line that was told to all. */
  let changes = 0
  let told = log.read({ after: 0, limit: 1, level: 'debug' }).newest
  const { runId } = log.read({ after: 0, limit: 1, level: 'debug' })
  let beats = 0
  /** Readers that are about to join, so that no more than allowed do. */
  const joining: Reader[] = []
  let looking: Promise<void> | undefined

  const here = (): Place => ({ runId, line: told, change: changes })

  function drop(reader: Reader): void {
    readers.delete(reader)
    reader.cut()
  }

  /** Reads the snapshots, and tells those that changed. One that cannot be read keeps what was told of it. */
  async function readSnapshots(): Promise<void> {
    for (const kind of kinds) {
      try {
        const { key, text } = await read[kind]()
        const before = newest.get(kind)
        // The same but for what the time alone changes: whoever comes next gets it as it is now.
        if (before?.key === key) newest.set(kind, { ...before, text })
        if (before?.key === key) continue
        changes += 1
        newest.set(kind, { key, text, change: changes })
        const event = eventText(kind, here(), text)
        for (const reader of readers) reader.write(event)
      } catch {
        // Readers keep the last snapshot; the route of the same body reports the error to its caller.
      }
    }
  }

  /** One look at a time, however slow the journal answers. */
  function look(): Promise<void> {
    looking ??= readSnapshots().finally(() => {
      looking = undefined
    })
    return looking
  }

  /** Tells all readers the lines that are new. */
  function tellLines(): void {
    const { lines, newest: last } = log.read({ after: told, limit: mostLines, level: 'debug' })
    const isWhole = last === told || lines[0]?.seq === told + 1
    if (!isWhole) {
      told = last
      for (const reader of readers) reset(reader, 'gap')
      return
    }
    for (const line of lines) {
      told = line.seq
      const event = lineText(line, here())
      for (const reader of readers) if (ranks[line.level] >= ranks[reader.level]) reader.write(event)
    }
  }

  /** Begins anew: what the reader has may lack something, and everything that is told of as a whole follows. */
  function reset(reader: Reader, reason: 'first' | 'gap' | 'restart'): void {
    const place = here()
    reader.write(eventText('reset', { ...place, change: 0 }, JSON.stringify({ reason, runId })))
    catchUp(reader, 0)
  }

  /** Snapshots that changed after this one, in the order of their change. */
  function catchUp(reader: Reader, change: number): void {
    const later = [...newest].filter(([, each]) => each.change > change)
    for (const [kind, each] of later.toSorted(([, one], [, other]) => one.change - other.change))
      reader.write(eventText(kind, { ...here(), change: each.change }, each.text))
  }

  /** Events after a place in the stream, written out; or the reason why they cannot be sent. */
  function after(place: Place | undefined, level: Level): readonly string[] | 'first' | 'gap' | 'restart' {
    if (place === undefined) return 'first'
    if (place.runId !== runId) return 'restart'
    if (place.line > told || place.change > changes) return 'gap'
    const { lines } = log.read({ after: place.line, limit: mostLines, level: 'debug' })
    if (place.line !== told && lines[0]?.seq !== place.line + 1) return 'gap'
    const texts = lines
      .filter((line) => ranks[line.level] >= ranks[level])
      .map((line) => lineText(line, { ...place, line: line.seq }))
    return texts.reduce((sum, { length }) => sum + length, 0) > mostAgain ? 'gap' : texts
  }

  function begin(reader: Reader, lastId: string | undefined): void {
    const place = lastId === undefined ? undefined : placeOf(lastId)
    const texts = after(place, reader.level)
    if (typeof texts === 'string') {
      reset(reader, texts)
      return
    }
    for (const text of texts) reader.write(text)
    catchUp(reader, place?.change ?? 0)
  }

  return {
    hasRoom: (role) => [...readers, ...joining].filter((each) => each.role === role).length < mostReaders,
    async join(reader, lastId) {
      joining.push(reader)
      try {
        await look()
      } finally {
        joining.splice(joining.indexOf(reader), 1)
      }
      // From here on nothing is waited for: what is told now and what is told from the next beat on are one row.
      tellLines()
      readers.add(reader)
      begin(reader, lastId)
    },
    leave: (reader) => {
      readers.delete(reader)
    },
    async beat() {
      for (const reader of readers) if (!reader.isAllowed() || reader.waiting() > mostWaiting) drop(reader)
      if (readers.size === 0) return
      beats += 1
      tellLines()
      if (beats % beatsOfHeart === 0) for (const reader of readers) reader.write(': alive\n\n')
      if (beats % beatsOfSnapshots === 0) await look()
    },
    close() {
      for (const reader of readers) drop(reader)
    },
  }
}

function eventText(name: Snapshot | 'log' | 'reset', { runId, line, change }: Place, data: string): string {
  return `id: ${runId}:${line}:${change}\nevent: ${name}\ndata: ${visible(data)}\n\n`
}

function lineText(line: KeptLine, place: Place): string {
  return eventText('log', place, JSON.stringify(line))
}

/** The place of a `Last-Event-ID`; undefined: no event of ours has such an id. */
function placeOf(id: string): Place | undefined {
  const [, runId, line, change] = /^([\w-]{1,64}):(\d{1,15}):(\d{1,15})$/.exec(id) ?? []
  if (runId === undefined) return undefined
  return { runId, line: Number(line), change: Number(change) }
}
