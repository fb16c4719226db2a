/** Results as the control port serves them: folded from the journal, with the markets that this perpd knows. */
import { systemClock } from '../../base/systemClock.ts'
import type { Config } from '../../config/configTypes.ts'
import type { ResultSource } from '../../control/resultRoutes.ts'
import type { Journal } from '../../journal/journal.ts'

/** Makes the source of a daemon's results. */
export function resultsOf(config: Config, journal: Journal): ResultSource {
  return {
    history: () => journal.tradingHistory(),
    facts: config.venue.chain.facts,
    nowMs: systemClock.now,
  }
}
