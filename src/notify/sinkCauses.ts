/** Remembers which open causes one sink took, so that the end of a cause goes wherever its beginning went. Pure but for its state. */
import { compareLevels, higherLevel, type Notice, type NoticeLevel } from '../monitor/events/notice.ts'
import { type NoticeFilter, ruleFor } from './noticeFilter.ts'

/** A cause of which a sink took something, and that has not ended. */
export interface TakenCause {
  readonly cause: string
  /** Highest level of its notices. */
  level: NoticeLevel
  /** True when its newest notice was sent without a sound. */
  isSilent: boolean
  /** Number of its notices that wait or were sent. */
  held: number
}

/** A notice that a sink accepted. */
export interface Taken {
  /** Level; that of an end is at least the level of the cause that it ends. */
  readonly level: NoticeLevel
  readonly isSilent: boolean
  /** Cause of the notice, to report when the notice is lost; absent for an end. */
  readonly of?: TakenCause
}

/** The causes of a sink. */
export interface SinkCauses {
  /**
   * Decides what the sink does with a notice; undefined: nothing. An end is accepted where its beginning was, at any level,
   * unless its event is off.
   */
  take(notice: Notice): Taken | undefined
  /** Marks an accepted notice that will never be sent. A cause without any message, sent or waiting, is forgotten. */
  lost(of: TakenCause): void
}

/** Makes an empty record of causes. Beyond `most` it forgets the oldest of the lowest level. */
export function createSinkCauses(filter: NoticeFilter, most = 1_000): SinkCauses {
  const causes = new Map<string, TakenCause>()

  function takeEnd(notice: Notice): Taken | undefined {
    const begun = causes.get(notice.cause)
    causes.delete(notice.cause)
    const rule = begun === undefined ? ruleFor(filter, notice) : filter.events[notice.kind]
    if (rule === 'off') return undefined
    return {
      level: begun === undefined ? notice.level : higherLevel(begun.level, notice.level),
      isSilent: rule === undefined ? begun?.isSilent === true : rule === 'silent',
    }
  }

  function forgetOne(): void {
    const least = [...causes.values()].reduce((one, other) =>
      compareLevels(other.level, one.level) < 0 ? other : one,
    )
    causes.delete(least.cause)
  }

  return {
    take(notice) {
      if (notice.isEnd === true) return takeEnd(notice)
      const rule = ruleFor(filter, notice)
      if (rule === 'off') return undefined
      const { cause, level } = notice
      const isSilent = rule === 'silent'
      const of = causes.get(cause) ?? { cause, level, isSilent, held: 0 }
      of.level = higherLevel(of.level, level)
      of.isSilent = isSilent
      of.held += 1
      // Inserted again, so that the map stays sorted by age.
      causes.delete(cause)
      causes.set(cause, of)
      if (causes.size > most) forgetOne()
      return { level, isSilent, of }
    },
    lost(of) {
      of.held -= 1
      // The entry may by now be a newer beginning of the same cause.
      if (of.held === 0 && causes.get(of.cause) === of) causes.delete(of.cause)
    },
  }
}
