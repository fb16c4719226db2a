/** The sizes that the journal holds, made once for all who ask between two records. */
import { lastMade } from '../../base/sameAgain.ts'
import type { Discrepancies } from '../../domain/accountRecords/accountRecord.ts'
import { type Fill, fillsOf } from '../../domain/accountRecords/fills.ts'
import { type HeldSides, journalSides } from '../../domain/accountRecords/held.ts'
import type { IntentState } from '../../domain/order/intent.ts'

/** Sizes by the journal; the same again while no record changed them: every turn of every strategy asks some times. */
export function lastSides(): (
  closed: readonly Fill[],
  open: readonly IntentState[],
  account: Discrepancies,
) => HeldSides {
  const lastOf = lastMade<HeldSides>()
  // The lists and discrepancies are made anew by each record that changes them.
  return (closed, open, account) =>
    lastOf([account.discrepancies, closed, open], () =>
      journalSides([...closed, ...open.flatMap(fillsOf)], account),
    )
}
