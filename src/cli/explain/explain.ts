/** `perpd explain <intentId>`: the whole story of one order on one screen, from the journal. */
import { systemClock } from '../../base/systemClock.ts'
import type { Config } from '../../config/configTypes.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { evidenceSourceOf } from '../../daemon/chain/evidenceSource.ts'
import { withJournal } from '../../daemon/journalFile.ts'
import { listedOrders } from '../../domain/account/changedOrders.ts'
import { fillsOf } from '../../domain/account/fills.ts'
import { heldOfOrder, journalSides } from '../../domain/account/held.ts'
import type { Ending } from '../../domain/account/spend.ts'
import { cancelAskedBy } from '../../domain/order/cancelAsked.ts'
import { type IntentState, labelOf } from '../../domain/order/intent.ts'
import { isOpened } from '../../domain/order/orderLegs.ts'
import { signedOrderAmong } from '../../domain/order/signedOrder.ts'
import { unwindOf } from '../../domain/tasks/unwindState.ts'
import { marksOf } from '../../domain/views/orderMarks.ts'
import { orderStory, toPlain } from '../../domain/views/orderView.ts'
import type { JournalReader } from '../../journal/journal.ts'
import { type Hex, hexKey } from '../../protocol/address.ts'
import type { Call } from '../call/command.ts'
import { changesIn } from '../commands/ordersCommand.ts'
import { fateLines } from './explainFate.ts'
import { type ExplainContext, explainText } from './explainText.ts'

const MOST_SHOWN = 5
const dayMs = 86_400_000

/** Prints the story of one order, as text or with `--json`. The id may be cut short while it stays unique. */
export async function explain({ loaded, flags, positionals, out }: Call): Promise<number> {
  const wanted = positionals[0] ?? ''
  const { config } = loaded
  const { state, askedBy, records, changes, changed, endings, tasks, heldUsd, costsOf } = await withJournal(
    config,
    async (journal) => {
      const found = await find(journal, wanted, config.journal.path)
      const { intentId, strategy, acceptedAtMs } = found.intent
      const stories = await journal.intents()
      const account = await journal.account()
      const books = await journal.bookHistory()
      return {
        state: found,
        askedBy: cancelAskedBy(found, stories),
        records: await journal.records(intentId),
        changes: changesIn(stories),
        costsOf: (orderKey: Hex) => books.fillOf(orderKey),
        changed: listedOrders(account),
        tasks: account.tasks,
        heldUsd: isOpened(found)
          ? heldOfOrder(journalSides(stories.flatMap(fillsOf), account), found.intent)
          : undefined,
        endings: (await journal.endingsSince(acceptedAtMs - dayMs)).filter(
          (each) => each.strategy === strategy && each.closedAtMs <= acceptedAtMs,
        ),
      }
    },
  )
  const unwind = unwindOf(tasks, state.intent.intentId)
  const signedOf = (orderKey: Hex) => signedOrderAmong(changes, state, orderKey)
  const listedOf = (orderKey: Hex) => changed.get(hexKey(orderKey))
  const context = {
    ...contextOf(config, endings),
    signedOf,
    listedOf,
    costsOf,
    ...(askedBy === undefined ? {} : { askedBy }),
    ...(unwind === undefined ? {} : { unwind }),
    ...(heldUsd === undefined ? {} : { heldUsd }),
  }
  if (flags.has('json')) {
    const marks = marksOf(state, tasks, context.rules)
    const story = orderStory(
      {
        state,
        label: labelOf(state),
        signedOf,
        listedOf,
        costsOf,
        ...(heldUsd === undefined ? {} : { heldUsd }),
        ...marks,
      },
      records,
    )
    out(
      JSON.stringify(
        toPlain({
          ...story,
          alternatives: fateLines(state, context.rules),
          endings,
          ...(unwind === undefined ? {} : { unwind }),
          ...(heldUsd === undefined ? {} : { heldUsd }),
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

function contextOf(config: Config, endings: readonly Ending[]): ExplainContext {
  const { evidence, execution, limits, venue } = config
  return {
    rules: {
      source: evidenceSourceOf(config),
      trustVenue: evidence.trustVenue,
      deadlineMarginMs: execution.deadlineMarginSeconds * 1_000,
      nowMs: systemClock.now(),
    },
    endings,
    attemptsPerCause: limits.attemptsPerCause,
    feeToken: venue.chain.feeToken,
  }
}

async function find(journal: JournalReader, wanted: string, path: string): Promise<IntentState> {
  const exact = await journal.intent(wanted)
  if (exact !== undefined) return exact
  const prefix = bare(wanted)
  const matches =
    prefix === ''
      ? []
      : (await journal.intents()).filter(({ intent }) => bare(intent.intentId).startsWith(prefix))
  const [first, ...others] = matches
  if (first === undefined) {
    throw new CommandError(
      `There is no order ${wanted} in ${path}.\n  perpd orders lists those there are.`,
      exitCodes.notFound,
    )
  }
  if (others.length > 0) {
    const shown = matches.slice(0, MOST_SHOWN).map(({ intent }) => intent.intentId)
    const more = matches.length > MOST_SHOWN ? ` and ${matches.length - MOST_SHOWN} more` : ''
    throw new CommandError(
      `${wanted} is the beginning of ${matches.length} orders: ${shown.join(', ')}${more}.\n  Give more of its characters.`,
      exitCodes.notFound,
    )
  }
  return first
}

function bare(intentId: string): string {
  return intentId.toLowerCase().replace(/^0x/, '')
}
