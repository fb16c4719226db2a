/**
 * Decides how often the same cause is notified: the first time, then each tenth time up to the hundredth. Beyond that, or while it is rarer than
 * that, it is notified once an hour. No end is held back. A cause begins anew after a quiet hour, at another stage, or at a higher level.
 */
import { compareLevels, higherLevel, type Notice, type NoticeLevel } from '../events/notice.ts'

/** State of a cause. Times are monotonic ms. */
export interface CauseState {
  /** Number of its events since it began. */
  readonly count: number
  readonly stage: string
  /** Its highest level since it began. */
  readonly level: NoticeLevel
  readonly seenAtMs: number
  readonly toldAtMs: number
}

const HOUR_MS = 3_600_000
/** After so many events a cause is notified once an hour only. */
const LAST_TENTH = 100

/**
 * The one rule for repetitions, for notices and lines of the log: each tenth time up to `lastTenth`, and once an hour.
 *
 * @param count repetitions since the beginning; @param saidMs time of the last report, by any clock
 */
export function isSaidAgain(count: number, saidMs: number, nowMs: number, lastTenth: number): boolean {
  return (count <= lastTenth && count % 10 === 0) || nowMs - saidMs >= HOUR_MS
}

/** Counts another event of a cause, and decides whether it is notified. Pure. */
function happenedAgain(
  known: CauseState | undefined,
  { stage = '', level }: Pick<Notice, 'stage' | 'level'>,
  nowMs: number,
): { readonly state: CauseState; readonly isTold: boolean } {
  const isAnew =
    known?.stage !== stage || compareLevels(known.level, level) < 0 || nowMs - known.seenAtMs >= HOUR_MS
  if (isAnew) {
    return { state: { count: 1, stage, level, seenAtMs: nowMs, toldAtMs: nowMs }, isTold: true }
  }
  const count = known.count + 1
  const isTold = isSaidAgain(count, known.toldAtMs, nowMs, LAST_TENTH)
  const toldAtMs = isTold ? nowMs : known.toldAtMs
  return {
    state: { count, stage, level: higherLevel(known.level, level), seenAtMs: nowMs, toldAtMs },
    isTold,
  }
}

/** Applies the rule to many causes; beyond `most` it forgets the one that was seen longest ago. */
export interface CauseFilter {
  /** Returns the number of the cause's events when it is to be notified now, else undefined. An end is never held back, and forgets its cause. */
  take(notice: Pick<Notice, 'cause' | 'level' | 'stage' | 'isEnd'>, nowMs: number): number | undefined
}

/** Makes a filter without causes. */
export function createCauseFilter(most = 1_000): CauseFilter {
  const causes = new Map<string, CauseState>()
  return {
    take(notice, nowMs) {
      const { cause, isEnd } = notice
      const known = causes.get(cause)
      // Inserted again, so that the map stays sorted by age.
      causes.delete(cause)
      if (isEnd === true) return 1
      const { state, isTold } = happenedAgain(known, notice, nowMs)
      causes.set(cause, state)
      const [oldest] = causes.keys()
      if (causes.size > most && oldest !== undefined) causes.delete(oldest)
      return isTold ? state.count : undefined
    },
  }
}
