/** What people were told before a restart and that goes on, by the journal. Pure. */
import { pauses } from '../../domain/account/accountRecord.ts'
import type { Event } from '../../domain/event.ts'
import { labelOf } from '../../domain/order/intent.ts'
import type { Journal } from '../../journal/journal.ts'

/**
 * The beginnings of holds, unknown orders, discrepancies, contradicted markets and pauses by an operator that last, as events told them.
 *
 * @param hosts that are asked from now on: what others said counts no more.
 */
export function toldBefore(
  journal: Pick<Journal, 'account' | 'openIntents'>,
  hosts: readonly string[],
): readonly Event[] {
  const { findings, trading, strategies, markets } = journal.account()
  const contradictions = [...(markets?.open.values() ?? [])].filter(({ host }) => hosts.includes(host))
  return [
    ...(contradictions.length === 0
      ? []
      : [{ type: 'market.contradicted', contradictions, symbols: [] } satisfies Event]),
    ...trading.holds.map(
      ({ scope, state, cause, lifts, reason }): Event => ({
        type: 'trading.state',
        ...{ scope, state, cause, lifts, reason },
        ...(lifts === 'itself' ? { isPassing: true } : {}),
      }),
    ),
    ...[...findings.values()]
      .filter(({ end }) => end === undefined)
      .map(
        (each): Event => ({ type: 'account.discrepancy', finding: each.finding, isPausing: pauses(each) }),
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
  ]
}
