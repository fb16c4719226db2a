/**
 * Topics of events that repeat, as one fold: which cause of a topic is news, and when a topic is over. A cause is news the first time, the tenth time,
 * and then once an hour (`again.ts`). A topic is over at once, and if it comes back within the hour, after it was away ever longer (`calm.ts`), so that
 * what comes and goes is one trouble until it stays away.
 *
 * The row of an event says what counts as one cause of one topic, and what ends it (`repeats`, `ends`). Here are those that need a memory: reads
 * that make turns fail, one for all strategies; and a wish and its denials. The log writes by this judgement, and has none of its own.
 */
import type { Event } from '../../domain/event.ts'
import { decisionTopic } from '../events/decisionFamily.ts'
import { rowOfEvent } from '../events/eventRegister.ts'
import { counted } from '../text.ts'
import { countAgain } from './again.ts'
import { createCalm } from './calm.ts'
import { createKnownCauses } from './knownCauses.ts'

const HOUR_MS = 3_600_000
/** After so many times a cause is news by the hour alone. */
const LAST_TENTH = 10
/** Causes remembered at most; the oldest is forgotten, and is news again when it repeats. */
const MAX_CAUSES = 1_000

/** An event by the topics. */
export interface TopicJudgement {
  /** False: it says nothing new. */
  readonly isNews: boolean
  /** A cause that is news again: its number, and the time since it began, ms. */
  readonly again?: { readonly count: number; readonly spanMs: number }
  /** Topics that the event ends: how often they happened, with the subject of the line and its sentence. */
  readonly ended: readonly { readonly count: number; readonly word: string; readonly text: string }[]
}

/** An event that is of no topic. */
const news: TopicJudgement = { isNews: true, ended: [] }
const old: TopicJudgement = { isNews: false, ended: [] }

/** A fold that knows no cause yet: takes each event in its order. `now`: Unix ms. */
export function createTopics(now: () => number): (event: Event) => TopicJudgement {
  const causes = createKnownCauses(MAX_CAUSES)
  const calm = createCalm(now)
  const unread = createUnread(now)

  const repeated = (topic: string, what: string): TopicJudgement => {
    const known = causes.get(topic, what)
    const { cause, isNews } = countAgain(known, now(), LAST_TENTH)
    causes.put(topic, what, cause)
    if (known === undefined || !isNews) return isNews ? news : old
    return { ...news, again: { count: cause.count, spanMs: cause.lastMs - cause.firstMs } }
  }

  /** Forgets the causes of a topic if it is over; how often they happened in all. `leastMs`: how long they must have been away. */
  const over = (topic: string, leastMs = 0): number => {
    if (!causes.isKnown(topic)) return 0
    const ended = causes.of(topic)
    const lastMs = Math.max(...ended.map((cause) => cause.lastMs))
    if (now() - lastMs < calm.neededMs(topic, leastMs)) return 0
    calm.ended(topic)
    causes.forget(topic)
    return ended.reduce((sum, { count }) => sum + count, 0)
  }

  const endOf = (count: number, word: string, text: string): TopicJudgement['ended'] =>
    count === 0 ? [] : [{ count, word, text }]

  /** A strategy had a good turn: whether that ends what made turns fail. */
  const readsOver = (strategy: string): TopicJudgement['ended'] => {
    if (!unread.isReadBy(strategy)) return []
    const count = over('reads')
    return count === 0
      ? []
      : endOf(count, 'tick', `${unread.ended()} again after ${counted(count, 'failure')}`)
  }

  /** An event by its row: thinned out where the row says what repeats, with the end of a topic where it says so. */
  const byRow = (event: Event): TopicJudgement => {
    const { repeats, ends, word } = rowOfEvent(event)
    const topic = repeats?.(event)
    if (topic !== undefined) return repeated(...topic)
    const end = ends?.(event)
    if (end === undefined) return news
    const count = over(end.topic, end.leastMs)
    return { ...news, ended: endOf(count, word, end.text(count)) }
  }

  return (event) => {
    switch (event.type) {
      case 'tick.failed':
        if (event.cause !== undefined) unread.failed(event.strategy)
        return byRow(event)
      case 'tick.done': {
        const { strategy, invalid = 0, isSlow = false } = event
        // Its decisions were wrong: no topic is over.
        if (invalid > 0) return news
        causes.forget(`skipped ${strategy}`)
        if (isSlow) return news
        causes.forget(`slow ${strategy}`)
        causes.forget(`paused ${strategy}`)
        const count = over(`failed ${strategy}`) + over(`invalid ${strategy}`)
        const text = `${strategy} works again after ${counted(count, 'failure')}`
        return { ...news, ended: [...endOf(count, 'tick', text), ...readsOver(strategy)] }
      }
      case 'decision.made':
        return causes.isKnown(decisionTopic(event.strategy, event.symbol, event.decision)) ? old : news
      case 'decision.denied': {
        const wish = decisionTopic(event.strategy, event.symbol, event.decision)
        const { code, reason } = event.denial
        if (code !== 'REFUSED_BEFORE') return repeated(wish, code)
        // Each pause is news once: its end is in the reason.
        const pause = `${code} ${reason}`
        return causes.get(wish, pause) === undefined ? repeated(wish, pause) : old
      }
      case 'decision.admitted': {
        const { intent } = event
        causes.forget(decisionTopic(intent.strategy, intent.terms.symbol, intent.decision))
        return news
      }
      default:
        return byRow(event)
    }
  }
}

/** Strategies that cannot have what they read: those that failed and had no good turn since, and all since it began. */
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
