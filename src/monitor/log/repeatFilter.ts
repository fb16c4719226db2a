/**
 * Keeps the log short without hiding anything new (what outsiders can multiply has a ceiling besides: logRateLimit.ts). A
 * cause that repeats is told the first time, the tenth time, and then once an hour with its count; the rest goes down to
 * `debug`. When a told cause is over, that is told too: at once, and if it comes back within the hour, after it was away ever longer
 * (calm.ts), so that what comes and goes is one trouble until it stays away.
 *
 * The row of an event says what counts as one cause of one topic, and what ends it (`repeats`, `ends`). Here are those that need a memory: reads
 * that make turns fail, one for all strategies; a wish and its denials; positions, which are logged when one changes; and the heartbeat, which
 * is logged when nothing else was for half a minute.
 */
import { sideKeyOf } from '../../domain/accountRecords/accountRecord.ts'
import type { Event } from '../../domain/event.ts'
import { decisionTopic } from '../events/decisionFamily.ts'
import { phrase, rowOfEvent } from '../events/eventRegister.ts'
import type { Level, Line } from '../events/eventRow.ts'
import { isSaidAgain } from '../incidents/again.ts'
import { createKnownCauses } from '../knownCauses.ts'
import { counted, span } from '../text.ts'
import { createCalm } from './calm.ts'

const HOUR_MS = 3_600_000
/** After so many times a line is written by the hour alone. */
const LAST_TENTH = 10
/** After this long without a line, the next heartbeat is one. */
const SILENT_MS = 30_000
/** Causes remembered at most; the oldest is forgotten, and told again when it repeats. */
const MAX_CAUSES = 1_000

/** Turns an event into the lines to write, none of which is lost: what was told before has level `debug`. */
export function createRepeatFilter(now: () => number): (event: Event) => readonly Line[] {
  const causes = createKnownCauses(MAX_CAUSES)
  const calm = createCalm(now)
  const unread = createUnread(now)
  let toldAtMs = Number.NEGATIVE_INFINITY
  let positionsTold = ''

  const repeated = (topic: string, what: string, line: Line): Line => {
    const atMs = now()
    const cause = causes.get(topic, what)
    if (cause === undefined) {
      causes.add(topic, what, { count: 1, firstAtMs: atMs, lastAtMs: atMs, toldAtMs: atMs })
      return line
    }
    cause.count++
    cause.lastAtMs = atMs
    if (!isSaidAgain(cause.count, cause.toldAtMs, atMs, LAST_TENTH)) return { ...line, level: 'debug' }
    cause.toldAtMs = atMs
    const times = `${cause.count} times in ${span(atMs - cause.firstAtMs)}`
    return { ...line, text: `${line.text} (${times})`, fields: { ...line.fields, repeated: cause.count } }
  }

  /**
   * Forgets causes whose end is told, if they are over; how often they happened in all. `leastMs`: how long they must have
   * been away.
   */
  const over = (topic: string, leastMs = 0): number => {
    if (!causes.isKnown(topic)) return 0
    const ended = causes.of(topic)
    const lastAtMs = Math.max(...ended.map((cause) => cause.lastAtMs))
    if (now() - lastAtMs < calm.neededMs(topic, leastMs)) return 0
    calm.ended(topic)
    causes.forget(topic)
    return ended.reduce((sum, { count }) => sum + count, 0)
  }

  const withRecovery = (line: Line, count: number, word: string, text: string): readonly Line[] =>
    count === 0 ? [line] : [line, { level: 'info', word, text, fields: { ...line.fields, recovered: count } }]

  /** A strategy had a good turn: whether that ends what made turns fail. */
  const readsOver = (strategy: string, line: Line): readonly Line[] => {
    if (!unread.isReadBy(strategy)) return []
    const count = over('reads')
    if (count === 0) return []
    const who = unread.ended()
    const text = `${who} again after ${counted(count, 'failure')}`
    return withRecovery(line, count, 'tick', text).slice(1)
  }

  /** The line of an event by its row: thinned out where the row says what repeats, with the end of a topic where it says so. */
  const byRow = (event: Event, line: Line): readonly Line[] => {
    const { repeats, ends, word } = rowOfEvent(event)
    const topic = repeats?.(event)
    if (topic !== undefined) return [repeated(...topic, line)]
    const end = ends?.(event)
    if (end === undefined) return [line]
    const count = over(end.topic, end.leastMs)
    return withRecovery(line, count, word, end.text(count))
  }

  const linesOf = (event: Event): readonly Line[] => {
    const line = phrase(event)
    switch (event.type) {
      case 'tick.failed':
        if (event.cause !== undefined) unread.failed(event.strategy)
        return byRow(event, line)
      case 'tick.done': {
        // Its decisions were wrong: nothing of what was told is over.
        if ((event.invalid ?? 0) > 0) return [line]
        causes.forget(`skipped ${event.strategy}`)
        if (event.isSlow === true) return [line]
        causes.forget(`slow ${event.strategy}`)
        causes.forget(`paused ${event.strategy}`)
        const count = over(`failed ${event.strategy}`) + over(`invalid ${event.strategy}`)
        const text = `${event.strategy} works again after ${counted(count, 'failure')}`
        return [...withRecovery(line, count, 'tick', text), ...readsOver(event.strategy, line)]
      }
      case 'decision.made':
        return [
          causes.isKnown(decisionTopic(event.strategy, event.symbol, event.decision)) ? lower(line) : line,
        ]
      case 'decision.denied': {
        const wish = decisionTopic(event.strategy, event.symbol, event.decision)
        const { code, reason } = event.denial
        if (code !== 'REFUSED_BEFORE') return [repeated(wish, code, line)]
        // Each pause is told once: its end is in the reason.
        const pause = `${code} ${reason}`
        const isTold = causes.get(wish, pause) !== undefined
        return [isTold ? lower(line) : repeated(wish, pause, line)]
      }
      case 'decision.admitted': {
        const { intent } = event
        causes.forget(decisionTopic(intent.strategy, intent.terms.symbol, intent.decision))
        return [line]
      }
      case 'account.positions': {
        const fingerprint = event.positions
          .map((position) => `${position.positionKey} ${position.sizeInUsd}`)
          .concat((event.unlisted ?? []).map(({ sizeUsd, ...side }) => `${sideKeyOf(side)} ${sizeUsd}`))
          .sort()
          .join()
        const isNew = fingerprint !== positionsTold
        positionsTold = fingerprint
        return [isNew ? line : lower(line)]
      }
      case 'daemon.heartbeat': {
        return now() - toldAtMs < SILENT_MS ? [line] : [{ ...line, level: 'info' }]
      }
      default:
        return byRow(event, line)
    }
  }
  return (event) => {
    const lines = linesOf(event)
    if (lines.some(({ level }) => level !== 'debug')) toldAtMs = now()
    return lines
  }
}

/** Which strategies cannot have what they read: those that failed and had no good turn since, and all since it began. */
function createUnread(now: () => number) {
  const failedAtMs = new Map<string, number>()
  const all = new Set<string>()
  return {
    failed(strategy: string): void {
      // Put in anew, so that the one that failed longest ago stands first.
      failedAtMs.delete(strategy)
      failedAtMs.set(strategy, now())
      all.add(strategy)
    },
    /** After a good turn of a strategy: whether nobody is left. One that had no turn for an hour, or runs no more, is not waited for. */
    isReadBy(strategy: string): boolean {
      failedAtMs.delete(strategy)
      for (const [name, atMs] of failedAtMs) {
        if (now() - atMs < HOUR_MS) return false
        failedAtMs.delete(name)
      }
      return all.size > 0
    },
    /** Begins anew; says who works. */
    ended(): string {
      const [first = ''] = all
      const who = all.size === 1 ? `${first} works` : `${all.size} strategies work`
      all.clear()
      return who
    },
  }
}

/** Tells whether an event that is itself a line of level `debug` may raise its level or end what other lines told. */
export function changesLines({ type }: Event): boolean {
  return type === 'tick.done' || type === 'daemon.heartbeat'
}

function lower(line: Line): Line {
  const level: Level = 'debug'
  return { ...line, level }
}
