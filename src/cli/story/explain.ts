/** `perpd explain <intentId>`: the whole story of one order on one screen, from the journal. */
import { defined } from '../../base/defined.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { explainFacts } from '../../daemon/controlPort/explainOrder.ts'
import { withJournal } from '../../daemon/journalFile.ts'
import { type IntentState, labelOf } from '../../domain/order/intent.ts'
import { marksOf } from '../../domain/summaries/orderMarks.ts'
import { orderStory, toPlain } from '../../domain/summaries/orderView.ts'
import { fateLines } from '../../monitor/explain/explainFate.ts'
import { unwindOf } from '../../tasks/unwindTask.ts'
import type { Call } from '../call/command.ts'
import { explainText } from './explainText.ts'

const MOST_SHOWN = 5

/** Prints the story of one order, as text or with `--json`. The id may be cut short while it stays unique. */
export async function explain({ loaded, flags, positionals, out }: Call): Promise<number> {
  const wanted = positionals[0] ?? ''
  const { config } = loaded
  const { state, records, context, tasks } = await withJournal(config, async (journal) => {
    // One pass over the records for the id, its changes and its costs.
    const { intents, books } = await journal.history()
    const found = find(intents, wanted, config.journal.path)
    const reads = {
      intents: async () => intents,
      bookHistory: () => books,
      account: () => journal.account(),
      records: (intentId: string) => journal.records(intentId),
      endingsSince: (sinceMs: number) => journal.endingsSince(sinceMs),
    }
    return { state: found, ...(await explainFacts(config, reads, found)) }
  })
  if (flags.has('json')) {
    const { edits, endings, unwind, heldUsd, signedOf, listedOf, costsOf } = context
    const marks = marksOf(state, unwindOf(tasks, state.intent.intentId), context.rules)
    const story = orderStory(
      {
        state,
        label: labelOf(state),
        signedOf,
        listedOf,
        costsOf,
        ...defined({ heldUsd }),
        ...marks,
      },
      records,
    )
    out(
      JSON.stringify(
        toPlain({
          ...story,
          alternatives: fateLines(state, context.rules),
          edits,
          endings,
          ...defined({ unwind, heldUsd }),
        }),
        undefined,
        2,
      ),
    )
  } else {
    out(explainText(state, records, context))
  }
  return exitCodes.ok
}

function find(intents: readonly IntentState[], wanted: string, path: string): IntentState {
  const exact = intents.find(({ intent }) => intent.intentId === wanted)
  if (exact !== undefined) return exact
  const prefix = bare(wanted)
  const matches =
    prefix === '' ? [] : intents.filter(({ intent }) => bare(intent.intentId).startsWith(prefix))
  const [first, ...others] = matches
  if (first === undefined) {
    throw new CommandError(`No order ${wanted} in ${path}.\n  perpd orders lists them.`, exitCodes.notFound)
  }
  if (others.length > 0) {
    const shown = matches.slice(0, MOST_SHOWN).map(({ intent }) => intent.intentId)
    const more = matches.length > MOST_SHOWN ? ` and ${matches.length - MOST_SHOWN} more` : ''
    throw new CommandError(
      `${wanted} matches ${matches.length} orders: ${shown.join(', ')}${more}.\n  Give more of its characters.`,
      exitCodes.notFound,
    )
  }
  return first
}

function bare(intentId: string): string {
  return intentId.toLowerCase().replace(/^0x/, '')
}
