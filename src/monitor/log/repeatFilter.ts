/**
 * Keeps the log short without hiding anything new (what outsiders can multiply has a ceiling besides: logRateLimit.ts). A
 * cause that repeats is told the first time, the tenth time, and then once an hour with its count; the rest goes down to
 * `debug`. When a told cause is over, that is told too: at once, and if it comes back within the hour, after it was away ever longer
 * (calm.ts), so that what comes and goes is one trouble until it stays away.
 *
 * What counts as one cause:
 *   a host          host and kind of failure; over when it has answered well for half a minute. Its rests: host and kind of failure
 *   rows            of a list that cannot be read: the list and what is wrong with them
 *   foreign rows    of another account: host and list
 *   discrepancies        that are not written down yet: why
 *   a price         that stands in for the oracle's: the market and where it comes from
 *   an endpoint     of the chain, and its fault; over with its next good answer
 *   the clock       that differs from the chain's time
 *   an endpoint     that is set aside for the time: to which side, and whether another tells it; over when it is not
 *   a strategy      its failure's text, what was no decision of its, or why it was not asked; over with its next good turn
 *   reads           that make turns fail, of whichever strategies: one for all of them; over when each has had a good turn
 *   a line          that a kind of the user's own printed
 *   a denial        strategy, decision and code; over when such a decision is admitted. The decision itself is told with
 * it only once.
 *                   A pause after a refusal is told once, and the next longer one again
 *   a beat          of the dead man's switch that its address did not take: why; over with the next that it takes
 *   positions       told when one appears, disappears or changes size
 *   the heartbeat   told when nothing else was for half a minute
 */
import { sideKeyOf } from '../../domain/accountRecords/accountRecord.ts'
import type { Event } from '../../domain/event.ts'
import { decisionTopic } from '../events/decisionFamily.ts'
import { phrase, rowOfEvent } from '../events/eventRegister.ts'
import type { Level, Line } from '../events/eventRow.ts'
import { isGood } from '../hostFigures.ts'
import { isSaidAgain } from '../incidents/again.ts'
import { createKnownCauses } from '../knownCauses.ts'
import { counted, span } from '../text.ts'
import { createCalm } from './calm.ts'

const HOUR_MS = 3_600_000
/** After so many times a line is written by the hour alone. */
const LAST_TENTH = 10
/** After this long without a line, the next heartbeat is one. */
const SILENT_MS = 30_000
/** A host that fails now and then would otherwise be reported as recovered after every failure. */
const CALM_MS = 30_000
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

  /** A notice is told one by one; a beat of the dead man's switch comes each minute. */
  const noticeTold = (event: Extract<Event, { type: 'notice.ended' }>): readonly Line[] => {
    const line = phrase(event)
    if (event.kind !== 'well' && event.kind !== 'fail') return [line]
    if (event.result !== 'sent') return [repeated('beat', event.reason ?? event.result, line)]
    const count = over('beat')
    return withRecovery(line, count, 'notify', `the heartbeat works again after ${counted(count, 'failure')}`)
  }

  /** A read of a chain's endpoint. */
  const readTold = (
    { endpoint, error }: Extract<Event, { type: 'chain.read' }>,
    line: Line,
  ): readonly Line[] => {
    if (error !== undefined) return [repeated(`chain ${endpoint}`, error, line)]
    const count = over(`chain ${endpoint}`)
    return withRecovery(line, count, 'chain', `${endpoint} responds again after ${counted(count, 'fault')}`)
  }

  /** Returns the lines about the time that a chain's endpoint reports. */
  const timeTold = (
    { endpoint, aheadSeconds, healthy, isSetAside }: Extract<Event, { type: 'chain.time' }>,
    line: Line,
  ): readonly Line[] => {
    if (isSetAside) return [repeated(`time ${endpoint}`, `${aheadSeconds > 0} ${healthy === 0}`, line)]
    const count = over(`time ${endpoint}`)
    const text = `${endpoint} gives the right time again; it was ignored for ${counted(count, 'order')}`
    return withRecovery(line, count, 'chain', text)
  }

  /** The line of an event by its row: thinned out where the row says what repeats. */
  const byRow = (event: Event, line: Line): readonly Line[] => {
    const topic = rowOfEvent(event).repeats?.(event)
    return [topic === undefined ? line : repeated(...topic, line)]
  }

  const linesOf = (event: Event): readonly Line[] => {
    const line = phrase(event)
    switch (event.type) {
      case 'host.attempt': {
        if (!isGood(event)) return [repeated(`host ${event.host}`, event.outcome, line)]
        const count = over(`host ${event.host}`, CALM_MS)
        return withRecovery(
          line,
          count,
          'host',
          `${event.host} responds again after ${counted(count, 'failed request')}`,
        )
      }
      case 'chain.read':
        return readTold(event, line)
      case 'chain.time':
        return timeTold(event, line)
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
    const lines = event.type === 'notice.ended' ? noticeTold(event) : linesOf(event)
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
