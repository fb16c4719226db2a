/** Deposits and withdrawals, round by round: each host's lists are compared with its last ones, and the report of every queried host is retained. */

import type { HeldSides } from '../../domain/accountRecords/held.ts'
import type { WalletBase } from '../../domain/accountRecords/tradingState.ts'
import type { HasClock, HasJournal } from '../../execution/context/executionParts.ts'
import type { HasTrading } from '../accountParts.ts'
import type { AccountReading } from '../equity/equity.ts'
import type { Happening } from '../equity/readingsAddUp.ts'
import {
  createTransferVotes,
  createTransferWatch,
  isSameBase,
  type Transfer,
  type TransferLook,
  type TransferWatch,
  walletBaseOf,
} from '../equity/transfers.ts'

/** Answer of a host in a round. */
export interface HeardHost {
  readonly reading: AccountReading
  /** True if its wallet moved, and the cause is not judged yet. */
  readonly isStepPending: boolean
  /** Its lists, where they belong together. */
  readonly base?: WalletBase
}

/** The rounds. */
export interface TransferRounds {
  /** Compares a host's lists with its last ones, and counts its vote. `happenings`: all that orders did that are open or ended lately. */
  look(
    host: string,
    reading: AccountReading,
    happenings: readonly Happening[],
    isMoving: boolean,
  ): TransferLook
  /**
   * Ends a round: returns a transfer that every `asked` host reported, once it is in the journal. A queried host that did not answer keeps the others
   * waiting, because it may contradict them. `first`: the host by whose lists later changes are reported. Throws what the journal throws.
   */
  settle(asked: readonly string[], first: HeardHost): Promise<Transfer | undefined>
}

/** Makes them. `lagMs`: how long lists of one venue may be behind each other; `held`: sizes by the journal, signed. */
export function createTransferRounds(
  { clock, journal, trading: { accountJournal } }: HasClock & HasJournal & HasTrading,
  lagMs: number,
  held: () => HeldSides,
): TransferRounds {
  const watches = new Map<string, TransferWatch>()
  const votes = createTransferVotes()
  const kept = (): WalletBase | undefined => accountJournal.state().trading.base
  const intents = (): number => journal.summary().intents
  return {
    look(host, reading, happenings, isMoving) {
      const watch = watches.get(host) ?? createTransferWatch(lagMs, kept())
      watches.set(host, watch)
      const monotonicMs = clock.monotonicMs()
      const look = watch.take({
        ...{ reading, happenings, monotonicMs, isMoving },
        intents: intents(),
        held: held(),
      })
      if (look.amountUsd !== undefined) votes.tell(host, look.amountUsd, monotonicMs)
      return look
    },
    async settle(asked, { reading, base }) {
      const amountUsd = votes.agreed(asked, clock.monotonicMs())
      if (amountUsd === undefined) {
        if (base !== undefined && !isSameBase(kept(), base))
          await accountJournal.write({ kind: 'equity.based', base })
        return undefined
      }
      votes.clear()
      for (const [host, watch] of watches) if (!asked.includes(host)) watch.forget()
      const transfer = { amountUsd, afterUsd: reading.lowUsd }
      const next = base ?? walletBaseOf(reading, intents())
      await accountJournal.write({ kind: 'equity.transferred', ...transfer, base: next })
      return transfer
    },
  }
}
