/** Stories of the orders that a report lists, as `perpd explain` tells them: why, on which terms, what happened, and what came of it. */
import type { Config } from '../../config/configTypes.ts'
import { explainFacts } from '../../daemon/controlPort/explainOrder.ts'
import { withJournal } from '../../daemon/journalFile.ts'
import { explainedOrder } from '../../monitor/explain/explainParts.ts'
import type { OrderStory } from '../../report/figures/reportSubject.ts'

/** Most orders whose stories a page carries, the newest: of older ones it has the command. */
const MOST_STORIES = 400
/** Parts that say what came of an order; its proof, ids and budget are left to the command. */
const results = new Set(['orders', 'result', 'PnL'])

/** Reads the stories of orders from the configured journal, by the order's id; one that the journal does not have is missing. Throws what reading a journal throws. */
export async function orderStories(
  config: Config,
  intentIds: readonly string[],
): Promise<ReadonlyMap<string, OrderStory>> {
  return await withJournal(config, async (journal) => {
    const { intents, books } = await journal.history()
    const wanted = new Set(intentIds.slice(-MOST_STORIES))
    const account = await journal.account()
    const reads = {
      intents: async () => intents,
      records: (intentId: string) => journal.records(intentId),
      account: () => account,
      bookHistory: () => books,
      // They are of the budget alone.
      endingsSince: () => [],
    }
    const stories = new Map<string, OrderStory>()
    for (const state of intents) {
      if (!wanted.has(state.intent.intentId)) continue
      const { records, context } = await explainFacts(config, reads, state)
      const { head, before, steps, after } = explainedOrder(state, records, context)
      stories.set(state.intent.intentId, {
        title: head[0] ?? '',
        parts: [
          ...before,
          ...steps.map(({ when, texts }) => ({ title: when, texts })),
          ...after.filter(({ title }) => results.has(title)),
        ],
      })
    }
    return stories
  })
}
