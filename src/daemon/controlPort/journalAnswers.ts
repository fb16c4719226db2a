/** Answers of the control port that are read from the journal: orders in words, and results by the markets that this perpd knows. */
import { systemClock } from '../../base/systemClock.ts'
import type { Config } from '../../config/configTypes.ts'
import type { ResultSource } from '../../control/resultRoutes.ts'
import type { Journal } from '../../journal/journal.ts'
import type { ExplainedOrder } from '../../monitor/explain/explainParts.ts'
import { explainFrom } from './explainOrder.ts'

/** Sources of these answers. */
export interface JournalAnswers {
  readonly explain: (intentId: string) => Promise<ExplainedOrder | undefined>
  readonly results: ResultSource
}

/** Makes the sources of a daemon. */
export function journalAnswers(config: Config, journal: Journal): JournalAnswers {
  return {
    explain: (intentId) => explainFrom(config, journal, intentId),
    results: {
      history: () => journal.tradingHistory(),
      facts: config.venue.chain.facts,
      nowMs: systemClock.now,
    },
  }
}
