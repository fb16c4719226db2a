/** Changes that messages of ours made to the orders of open intents, made once for all who ask between two records. */
import { lastMade } from '../../base/sameAgain.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import type { OrderChange, ToldIn } from '../../domain/order/signedOrder.ts'
import { hexKey } from '../../protocol/address.ts'

/**
 * Gives the changes of the orders of these intents, by lower-case key; the same map again while neither the list nor a record changed them: with hundreds
 * of orders each decision of each strategy would look all of them up.
 */
export function lastChanges(
  journal: ToldIn,
): (open: readonly IntentState[]) => ReadonlyMap<string, OrderChange> {
  const lastOf = lastMade<ReadonlyMap<string, OrderChange>>()
  // A change counts from the record that closes it, which makes the journal's list of open intents anew.
  return (open) => lastOf([open, journal.openIntents()], () => changesOf(journal, open))
}

function changesOf(journal: ToldIn, open: readonly IntentState[]): ReadonlyMap<string, OrderChange> {
  const keys = open.flatMap(({ attempts }) => attempts.flatMap(({ children }) => children))
  return new Map(
    keys.flatMap(({ orderKey }) => {
      const change = journal.changeOf(orderKey)
      return change === undefined ? [] : [[hexKey(orderKey), change] as const]
    }),
  )
}
