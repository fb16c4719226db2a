/** The account's records: the one place that writes them while the daemon runs, and their fold. */

import type { WallClock } from '../../base/clock.ts'
import {
  ACCOUNT_ID,
  type AccountRecord,
  type AccountState,
  applyAccountRecord,
  lossHaltOf,
} from '../../domain/accountRecords/accountRecord.ts'
import { RECORD_VERSION } from '../../domain/accountRecords/recordVersion.ts'
import type { TradingHalt } from '../../domain/accountRecords/tradingState.ts'
import type { HasJournal } from '../../execution/context/executionParts.ts'

/** A record of the account without its stamp. */
export type AccountFact = AccountRecord extends infer R
  ? R extends AccountRecord
    ? Omit<R, 'v' | 'atMs' | 'intentId'>
    : never
  : never

/** The account's records, open for writing. */
export interface AccountJournal {
  /** Returns the fold of the durable records. */
  state(): AccountState
  /** Returns the halt of an accepted loss of records, while it lasts. */
  lossHalt(): TradingHalt | undefined
  /** Number of the journal's newest record, of whatever it is. */
  newestSeq(): number
  /**
   * Writes records together with others: `append` makes all of them durable in one commit. They are folded when it resolves with true; false: nothing
   * was written.
   */
  writeBeside(
    facts: readonly AccountFact[],
    append: (records: readonly AccountRecord[]) => Promise<boolean>,
  ): Promise<boolean>
  /** Writes one record; appends it before it awaits anything, and resolves when it is durable and folded. Throws what the journal throws. */
  write(fact: AccountFact): Promise<void>
}

/** Opens the account's records over a journal. */
export function createAccountJournal({
  journal,
  clock,
}: {
  readonly journal: HasJournal['journal']
  readonly clock: WallClock
}): AccountJournal {
  let state = journal.account()

  const stamped = (fact: AccountFact) =>
    ({ ...fact, v: RECORD_VERSION, atMs: clock.now(), intentId: ACCOUNT_ID }) as AccountRecord

  return {
    state: () => state,
    lossHalt: () => lossHaltOf(state, clock.now()),
    newestSeq: () => journal.summary().records,
    async write(fact) {
      const record = stamped(fact)
      await journal.appendAccount(record)
      state = applyAccountRecord(state, record)
    },
    async writeBeside(facts, append) {
      const records = facts.map(stamped)
      const isWritten = await append(records)
      if (isWritten) state = records.reduce(applyAccountRecord, state)
      return isWritten
    },
  }
}
