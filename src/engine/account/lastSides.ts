/** The sizes that the journal holds, made once for all who ask between two records. */
import type { AccountState } from '../../domain/account/accountRecord.ts'
import { type Fill, fillsOf } from '../../domain/account/fills.ts'
import { type HeldSides, journalSides } from '../../domain/account/held.ts'
import type { IntentState } from '../../domain/order/intent.ts'

/** Sizes by the journal; the same again while no record changed them: every turn of every strategy asks some times. */
export function lastSides(): (
  closed: readonly Fill[],
  open: readonly IntentState[],
  account: Pick<AccountState, 'findings'>,
) => HeldSides {
  let last: { readonly given: readonly unknown[]; readonly sides: HeldSides } | undefined
  return (closed, open, account) => {
    // Fills, states and findings are made anew by each record that changes them.
    const given = [account.findings, closed.length, ...closed, ...open]
    const isSame =
      last !== undefined &&
      last.given.length === given.length &&
      last.given.every((each, index) => each === given[index])
    if (last === undefined || !isSame)
      last = { given, sides: journalSides([...closed, ...open.flatMap(fillsOf)], account) }
    return last.sides
  }
}
