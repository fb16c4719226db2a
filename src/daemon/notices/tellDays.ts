/** Tells people of each day at the hour that is set: a timer that looks seldom, and reads what is in memory alone. */

import type { WallClock } from '../../base/clock.ts'
import type { BookReads } from '../../books/books.ts'
import type { Config } from '../../config/configTypes.ts'
import { createSummaryClock, type SummaryStatus, summaryNotice } from '../../notify/daySummary.ts'
import type { Notifier } from '../../notify/notifier.ts'

/** Between two looks at the clock, ms. */
const LOOK_MS = 20_000

/** Sources of a day's report. */
export interface DaySources {
  readonly tell: Notifier['tell']
  readonly books: () => Pick<BookReads, 'days'>
  readonly status: () => SummaryStatus
  readonly clock: WallClock
}

/** Begins to look; gives what ends it. Nothing is looked at where no hour is set. */
export function tellDays({ notify }: Config, sources: DaySources): () => void {
  const { summaryHourUtc, summaryTemplate } = notify
  if (summaryHourUtc === undefined) return () => undefined
  const { tell, books, status, clock } = sources
  const due = createSummaryClock(summaryHourUtc, clock.now())
  const timer = setInterval(() => {
    const dayMs = due(clock.now())
    if (dayMs === undefined) return
    const ofDay = books()
      .days(dayMs)
      .filter((each) => each.dayMs === dayMs)
    tell(summaryNotice({ dayMs, books: ofDay, status: status() }, summaryTemplate))
  }, LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}
