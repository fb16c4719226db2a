/**
 * Counts what comes again, and decides when it is news: the first time, then each tenth time up to a limit, and once an hour beyond it or while it is
 * rarer. Notices to people and lines of the log are counted by it alone. The cause of a notice begins anew after a quiet hour, at another stage, or at
 * a higher level; no end is held back.
 */
import { compareLevels, higherLevel, type Notice, type NoticeLevel } from '../events/notice.ts'

/** Count of a cause since it began. Times: any clock, ms. */
export interface CauseCount {
  readonly count: number
  readonly firstMs: number
  readonly lastMs: number
  /** Time when it was last news. */
  readonly saidMs: number
}

/** The cause of a notice. */
interface NoticeCause extends CauseCount {
  readonly stage: string
  /** Its highest level since it began. */
  readonly level: NoticeLevel
}

const HOUR_MS = 3_600_000
/** After so many times the cause of a notice is news by the hour alone. */
const LAST_TENTH = 100

/**
 * Counts a cause once more, and tells whether it is news. Pure.
 *
 * @param known its count so far; undefined: it begins; @param lastTenth after so many times it is news by the hour alone
 */
export function countAgain<Cause extends CauseCount>(
  known: Cause | undefined,
  nowMs: number,
  lastTenth: number,
): { readonly cause: CauseCount; readonly isNews: boolean } {
  if (known === undefined)
    return { cause: { count: 1, firstMs: nowMs, lastMs: nowMs, saidMs: nowMs }, isNews: true }
  const { firstMs, saidMs } = known
  const count = known.count + 1
  const isNews = (count <= lastTenth && count % 10 === 0) || nowMs - saidMs >= HOUR_MS
  return { cause: { count, firstMs, lastMs: nowMs, saidMs: isNews ? nowMs : saidMs }, isNews }
}

/** The cause of a notice that happened once more. Pure. */
function noticedAgain(
  known: NoticeCause | undefined,
  { stage = '', level }: Pick<Notice, 'stage' | 'level'>,
  nowMs: number,
): { readonly cause: NoticeCause; readonly isNews: boolean } {
  const isAnew =
    known?.stage !== stage || compareLevels(known.level, level) < 0 || nowMs - known.lastMs >= HOUR_MS
  const before = isAnew ? undefined : known
  const { cause, isNews } = countAgain(before, nowMs, LAST_TENTH)
  return { cause: { ...cause, stage, level: higherLevel(before?.level ?? level, level) }, isNews }
}

/** Applies the rule to many causes; beyond `most` it forgets the one that was seen longest ago. */
export interface CauseFilter {
  /** Returns the number of the cause's events when it is to be notified now, else undefined. An end is never held back, and forgets its cause. */
  take(notice: Pick<Notice, 'cause' | 'level' | 'stage' | 'isEnd'>, nowMs: number): number | undefined
}

/** Makes a filter without causes. */
export function createCauseFilter(most = 1_000): CauseFilter {
  const causes = new Map<string, NoticeCause>()
  return {
    take(notice, nowMs) {
      const { cause, isEnd } = notice
      const known = causes.get(cause)
      // Inserted again, so that the map stays sorted by age.
      causes.delete(cause)
      if (isEnd === true) return 1
      const { cause: counted, isNews } = noticedAgain(known, notice, nowMs)
      causes.set(cause, counted)
      const [oldest] = causes.keys()
      if (causes.size > most && oldest !== undefined) causes.delete(oldest)
      return isNews ? counted.count : undefined
    },
  }
}
