/** All that talks to people outside while a daemon runs, beside what its events say: stops, summaries of days, and chats. */
import { systemClock } from '../../base/systemClock.ts'
import type { BookReads } from '../../books/books.ts'
import type { Config } from '../../config/configTypes.ts'
import type { Emit } from '../../domain/event.ts'
import type { EngineApi } from '../../operator/port/engineStatus.ts'
import { type OpenNotifier, watchStops } from './notifySinks.ts'
import { takeChats } from './takeChats.ts'
import { tellDays } from './tellDays.ts'

/** Parts that notify people and accept their commands. */
export interface PeopleParts {
  readonly notifier: OpenNotifier
  readonly engine: EngineApi
  readonly journal: { books(): BookReads }
  readonly emit: Emit
  /** Told a mistake of ours. */
  readonly fail: (error: unknown) => void
}

/** Begins; gives what ends all of it. */
export function tellPeople(
  config: Config,
  { notifier, engine, journal, emit, fail }: PeopleParts,
): () => void {
  const { tell, sinks, redact } = notifier
  const books = () => journal.books()
  const endings = [
    watchStops(notifier, engine.status),
    tellDays(config, { tell, books, status: engine.status, clock: systemClock }),
    takeChats(config, sinks, { engine, books, emit, fail, redact }),
  ]
  return () => {
    for (const end of endings) end()
  }
}
