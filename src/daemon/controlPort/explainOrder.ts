/** Gathers the facts of an order's story from the journal: for `perpd explain` and for the daemon's own page. */
import { defined } from '../../base/defined.ts'
import { systemClock } from '../../base/systemClock.ts'
import type { Config } from '../../config/configTypes.ts'
import type { AccountState } from '../../domain/accountRecords/accountRecord.ts'
import { listedOrders } from '../../domain/accountRecords/changedOrders.ts'
import { fillsOf } from '../../domain/accountRecords/fills.ts'
import { heldOfOrder, journalSides } from '../../domain/accountRecords/held.ts'
import { editsOf } from '../../domain/accountRecords/orderEdits.ts'
import type { Ending } from '../../domain/accountRecords/spend.ts'
import { cancelAskedBy } from '../../domain/order/cancelAsked.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { type FillCosts, isOpened } from '../../domain/order/orderLegs.ts'
import { signedOrderAmong } from '../../domain/order/signedOrder.ts'
import type { StoredRecord } from '../../domain/records.ts'
import type { Journal } from '../../journal/journal.ts'
import {
  type ExplainContext,
  type ExplainedOrder,
  explainedOrder,
} from '../../monitor/explain/explainParts.ts'
import { type Hex, hexKey } from '../../protocol/address.ts'
import { unwindOf } from '../../tasks/unwindTask.ts'
import { evidenceSourceOf } from '../evidence/evidenceSource.ts'

const dayMs = 86_400_000

/** Where the story is read: beside a running daemon, or in it. */
export interface ExplainReads {
  /** Orders that may have changed or cancelled it, or filled beside it. */
  readonly intents: () => Promise<readonly IntentState[]>
  readonly records: (intentId: string) => Promise<readonly StoredRecord[]>
  readonly account: () => AccountState | Promise<AccountState>
  /** Results of fills, by the books of the instances. */
  readonly bookHistory: () =>
    | { fillOf(orderKey: Hex): FillCosts | undefined }
    | Promise<{ fillOf(orderKey: Hex): FillCosts | undefined }>
  readonly endingsSince: (sinceMs: number) => readonly Ending[] | Promise<readonly Ending[]>
}

/** The records of one order, and what its story is told with besides them. */
export async function explainFacts(
  config: Config,
  reads: ExplainReads,
  state: IntentState,
): Promise<{
  readonly records: readonly StoredRecord[]
  readonly context: ExplainContext &
    Required<Pick<ExplainContext, 'signedOf' | 'listedOf' | 'costsOf' | 'edits'>>
  readonly tasks: AccountState['tasks']
}> {
  const { intentId, strategy, acceptedAtMs } = state.intent
  const stories = await reads.intents()
  const account = await reads.account()
  const books = await reads.bookHistory()
  const changes = stories.filter(({ intent: { kind } }) => kind === 'edit' || kind === 'batch')
  const listed = listedOrders(account)
  const askedBy = cancelAskedBy(state, stories)
  const unwind = unwindOf(account.tasks, intentId)
  const endings = (await reads.endingsSince(acceptedAtMs - dayMs)).filter(
    (each) => each.strategy === strategy && each.closedAtMs <= acceptedAtMs,
  )
  const { evidence, execution, limits, venue } = config
  return {
    records: await reads.records(intentId),
    tasks: account.tasks,
    context: {
      rules: {
        source: evidenceSourceOf(config),
        trustVenue: evidence.trustVenue,
        deadlineMarginMs: execution.deadlineMarginSeconds * 1_000,
        nowMs: systemClock.now(),
      },
      endings,
      edits: editsOf(state, changes, account),
      attemptsPerCause: limits.attemptsPerCause,
      feeToken: venue.chain.feeToken,
      signedOf: (orderKey: Hex) => signedOrderAmong(changes, state, orderKey),
      listedOf: (orderKey: Hex) => listed.get(hexKey(orderKey)),
      costsOf: (orderKey: Hex) => books.fillOf(orderKey),
      ...defined({ askedBy, unwind }),
      ...defined({
        heldUsd: isOpened(state)
          ? heldOfOrder(journalSides(stories.flatMap(fillsOf), account), state.intent)
          : undefined,
      }),
    },
  }
}

/**
 * The story of an order in words, by the daemon that keeps the journal; undefined where there is no such order. What stands beside it is
 * looked for among the orders in memory (the newest thousand, those of the last day, and all open ones): the page waits for no long read.
 */
export async function explainFrom(
  config: Config,
  journal: Journal,
  intentId: string,
): Promise<ExplainedOrder | undefined> {
  const state = await journal.intent(intentId)
  if (state === undefined) return undefined
  const reads: ExplainReads = {
    intents: async () => journal.recentIntents(),
    records: (id) => journal.records(id),
    account: () => journal.account(),
    bookHistory: () => journal.books(),
    endingsSince: (sinceMs) => journal.endingsSince(sinceMs),
  }
  const { records, context } = await explainFacts(config, reads, state)
  return explainedOrder(state, records, context)
}
