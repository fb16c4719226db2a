/**
 * Formats every event: its level, one word, one plain sentence, and its fields. The only place that phrases a line. Pure. `repeatFilter.ts` thins out
 * sentences that repeat too often, not this file.
 */

import type { Event, EventType } from '../../domain/event.ts'
import type { Line, Phrases } from './line.ts'
import { accountPhrases } from './phraseAccount.ts'
import { daemonPhrases } from './phraseDaemon.ts'
import { marketPhrases } from './phraseMarket.ts'
import { noticePhrases } from './phraseNotice.ts'
import { orderPhrases } from './phraseOrder.ts'
import { signalPhrases } from './phraseSignal.ts'
import { venuePhrases } from './phraseVenue.ts'

/** One entry an event: an event without one does not compile. */
const phrases: Phrases<EventType> = {
  ...daemonPhrases,
  ...orderPhrases,
  ...venuePhrases,
  ...accountPhrases,
  ...marketPhrases,
  ...signalPhrases,
  ...noticePhrases,
}

/** The line of an event. */
export function phrase<Type extends EventType>(event: Extract<Event, { type: Type }>): Line {
  return phrases[event.type](event)
}
