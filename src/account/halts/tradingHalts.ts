/**
 * The trading state while the daemon runs: halts are set and lifted here, each durable before it is reported. Admission checks the state of a
 * strategy, and it is checked once more right before anything is signed.
 */

import { defined } from '../../base/defined.ts'
import { releaseText } from '../../domain/accountRecords/haltRelease.ts'
import { OPERATOR } from '../../domain/accountRecords/operatorName.ts'
import {
  haltKey,
  haltsOn,
  type ReleasedBy,
  strictest,
  type TradingHalt,
} from '../../domain/accountRecords/tradingState.ts'
import type { Emit } from '../../domain/event.ts'
import { type Denial, type Intent, intentAddsRisk } from '../../domain/order/intent.ts'
import { unwindOf } from '../../tasks/unwindTask.ts'
import type { AccountJournal } from './accountJournal.ts'

export { OPERATOR }

/** The trading state and its keeper. */
export interface Trading {
  readonly accountJournal: AccountJournal
  /** All holds, oldest first. */
  halts(): readonly TradingHalt[]
  /** Returns the strictest halt on a strategy, or on the whole daemon without a name; undefined when trading is active. */
  haltOn(strategy?: string): TradingHalt | undefined
  /** Puts a halt on, or changes the one of its scope and cause. The same halt again changes nothing. */
  halt(halt: Omit<TradingHalt, 'sinceMs'>): Promise<void>
  /** Lifts a halt. */
  release(halt: TradingHalt, by: string, reason: string): Promise<void>
  /** Returns the reason why an accepted intent may not be signed any more, or undefined. No halt applies to an operator's exits. */
  veto(intent: Intent): Denial | undefined
}

/** The trading state over the account's records. */
export function createTrading({
  accountJournal,
  emit,
}: {
  readonly accountJournal: AccountJournal
  readonly emit: Emit
}): Trading {
  const halts = () => {
    const quiet = accountJournal.lossHalt()
    return [...(quiet === undefined ? [] : [quiet]), ...accountJournal.state().trading.halts]
  }
  // One change at a time: each is judged by the state that the previous one left.
  let turn: Promise<unknown> = Promise.resolve()
  const serialized = (work: () => Promise<void>): Promise<void> => {
    const next = turn.then(work)
    turn = next.catch(() => undefined)
    return next
  }
  const haltOn = (strategy?: string) => strictest(haltsOn(halts(), strategy))
  return {
    accountJournal,
    halts,
    haltOn,
    halt: (halt) =>
      serialized(async () => {
        const before = halts().find((each) => haltKey(each) === haltKey(halt))
        if (before?.state === halt.state) return
        await accountJournal.write({ kind: 'trading.state', ...halt })
        const { scope, cause } = halt
        const most = strictest(halts().filter((each) => each.scope === scope)) ?? halt
        const isStricter = most.state !== halt.state
        const { state, releasedBy } = isStricter ? most : halt
        const still = isStricter ? `; still ${state}: ${most.reason}` : ''
        const reason = `${told(halt)}${still}`
        emit({ type: 'trading.state', scope, state, cause, ...passing(halt), releasedBy, reason })
      }),
    release: (halt, by, reason) =>
      serialized(async () => {
        const { scope, cause, releasedBy } = halt
        if (!halts().some((each) => haltKey(each) === haltKey(halt))) return
        const afterSeq = accountJournal.newestSeq()
        await accountJournal.write({
          kind: 'trading.state',
          scope,
          cause,
          state: 'active',
          reason,
          by,
          releasedBy,
          afterSeq,
        })
        const left = strictest(halts().filter((each) => each.scope === scope))
        const still = left === undefined ? '' : `; still ${left.state}: ${left.reason}`
        emit({
          type: 'trading.state',
          scope,
          state: left?.state ?? 'active',
          cause,
          isReleased: true,
          ...passing(halt),
          ...defined({ releasedBy: left?.releasedBy }),
          reason: `${by} released the halt by ${cause === 'operator' ? 'an operator' : cause}: ${reason}${still}`,
        })
      }),
    veto(intent) {
      const unwanted = unwindOf(accountJournal.state().tasks, intent.intentId)
      if (unwanted !== undefined) {
        return {
          code: 'NOT_WANTED',
          reason: `${unwanted.by} unwound it before it was signed: ${unwanted.reason}`,
        }
      }
      if (intent.strategy === OPERATOR && !intentAddsRisk(intent)) return undefined
      const halt = haltOn(intent.strategy)
      if (halt === undefined || (halt.state === 'reducing' && !intentAddsRisk(intent))) return undefined
      const code = halt.state === 'halted' ? 'TRADING_HALTED' : 'TRADING_REDUCING'
      return { code, reason: `trading became ${halt.state} before it was signed: ${halt.reason}` }
    },
  }
}

function passing({ releasedBy }: { readonly releasedBy: ReleasedBy }): { readonly isPassing?: true } {
  return releasedBy === 'itself' ? { isPassing: true } : {}
}

function told(halt: Omit<TradingHalt, 'sinceMs'>): string {
  const { cause, by, reason } = halt
  return `${cause}, by ${by}: ${reason}; ${releaseText(halt)}`
}
