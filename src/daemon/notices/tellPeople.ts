/** Notifies people of what no event of an account says: positions without stops, and summaries of days. */
import { systemClock } from '../../base/systemClock.ts'
import type { BookReads } from '../../books/books.ts'
import type { Config } from '../../config/configTypes.ts'
import type { EngineApi } from '../../operator/port/engineStatus.ts'
import { type OpenNotifier, watchStops } from './notifySinks.ts'
import { tellDays } from './tellDays.ts'

/** Parts that notify people of an account. */
export interface PeopleParts {
  readonly notifier: OpenNotifier
  readonly engine: EngineApi
  readonly journal: { books(): BookReads }
}

/** Begins; gives what ends all of it. */
export function tellPeople(config: Config, { notifier, engine, journal }: PeopleParts): () => void {
  const { tell } = notifier
  const books = () => journal.books()
  const endings = [
    watchStops(notifier, engine.status),
    tellDays(config, { tell, books, status: engine.status, clock: systemClock }),
  ]
  return () => {
    for (const end of endings) end()
  }
}
