/** Finds the open notifications of before a restart in the journal. Pure. */

import type { ToldApproval } from '../../account/subaccountWatch.ts'
import { defined } from '../../base/defined.ts'
import { type AccountState, pauses } from '../../domain/accountRecords/accountRecord.ts'
import type { Event } from '../../domain/event.ts'
import { type IntentState, labelOf } from '../../domain/order/intent.ts'
import type { Address } from '../../protocol/address.ts'

/** Facts about a start that the journal does not hold. */
export interface NowKnown {
  /** Hosts that are asked from now on: what others said counts no more. */
  readonly hosts: readonly string[]
  /** Notifications about the approval of this key. */
  readonly approval: { readonly subaccount: Address } & Partial<ToldApproval>
}

/**
 * The beginnings of holds, unknown orders, discrepancies, contradicted markets and pauses by an operator that last, and of what was told of
 * the approval, as events told them.
 */
export function priorIncidents(
  journal: { account(): AccountState; openIntents(): readonly IntentState[] },
  { hosts, approval }: NowKnown,
): readonly Event[] {
  const { discrepancies, trading, strategies, markets } = journal.account()
  const contradictions = [...(markets?.open.values() ?? [])].filter(({ host }) => hosts.includes(host))
  return [
    ...(contradictions.length === 0
      ? []
      : [{ type: 'market.contradicted', contradictions, symbols: [] } satisfies Event]),
    ...trading.halts.map(
      ({ scope, state, cause, releasedBy, reason }): Event => ({
        type: 'trading.state',
        ...{ scope, state, cause, releasedBy, reason },
        ...defined({ isPassing: releasedBy === 'itself' ? (true as const) : undefined }),
      }),
    ),
    ...[...discrepancies.values()]
      .filter(({ end }) => end === undefined)
      .map(
        (each): Event => ({
          type: 'account.discrepancy',
          discrepancy: each.discrepancy,
          isPausing: pauses(each),
        }),
      ),
    ...journal
      .openIntents()
      .filter((state) => labelOf(state) === 'unknown')
      .map(
        (state): Event => ({
          type: 'order.moved',
          ...{ intent: state.intent, from: undefined, to: 'unknown', reason: '', state },
        }),
      ),
    ...[...(strategies ?? [])].flatMap(([strategy, { paused }]): readonly Event[] =>
      paused === undefined
        ? []
        : [{ type: 'strategy.switched', strategy, to: 'paused', reason: paused.reason, by: paused.by }],
    ),
    ...approvalBefore(approval),
  ]
}

function approvalBefore({ subaccount, low, isUnread }: NowKnown['approval']): readonly Event[] {
  const unread: readonly Event[] = isUnread === true ? [{ type: 'subaccount.unread', reason: '' }] : []
  if (low === undefined) return unread
  const report = {
    ...{ address: subaccount, isActive: !low.isGone, isApprovalWaiting: false, neededActions: 0 },
    ...{ remainingActions: Number(low.left), expiresAtSeconds: low.expiresAtSeconds },
  }
  return [...unread, { type: 'subaccount.low', report, secondsLeft: 0 }]
}
