/** What one sink took of causes that go on, so that the end of a cause goes wherever its beginning went. Pure but for its state. */
import {
  compareLevels,
  higherLevel,
  type Notice,
  type NoticeFilter,
  type NoticeLevel,
  ruleFor,
} from './notice.ts'

/** A cause of which a sink took something, and that has not ended. */
export interface TakenCause {
  readonly cause: string
  /** The most that a notice of it had. */
  level: NoticeLevel
  /** How the newest of it was told. */
  isSilent: boolean
  /** How many of its notices wait or were sent. */
  held: number
}

/** A notice that a sink takes. */
export interface Taken {
  /** Of an end: at least that of what it ends. */
  readonly level: NoticeLevel
  readonly isSilent: boolean
  /** What it is of, to be said when it is lost; absent of an end. */
  readonly of?: TakenCause
}

/** The causes of a sink. */
export interface SinkCauses {
  /**
   * What the sink does with a notice; undefined: nothing. An end is taken where its beginning was, whatever its level, unless its
   * event is off.
   */
  take(notice: Notice): Taken | undefined
  /** A notice that was taken will never be sent. A cause of which nothing was or will be sent is forgotten. */
  lost(of: TakenCause): void
}

/** No cause yet. Of more than `most`, the one of the least level that was taken longest ago is forgotten. */
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
      // Put in anew, so that the oldest stands first.
      causes.delete(cause)
      causes.set(cause, of)
      if (causes.size > most) forgetOne()
      return { level, isSilent, of }
    },
    lost(of) {
      of.held -= 1
      // What stands there by now may be another beginning of the same cause.
      if (of.held === 0 && causes.get(of.cause) === of) causes.delete(of.cause)
    },
  }
}
