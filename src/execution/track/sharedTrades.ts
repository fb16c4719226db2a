/** Trades of the account that show how resting orders ended: looks of one moment share one read. */

import { createCoalescer } from '../../api/transport/coalesce.ts'
import { COALESCE_MS } from '../../api/transport/route.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { type Hex, sameHex } from '../../protocol/address.ts'
import type { Trade } from '../../protocol/position.ts'
import type { HasApi, HasClock } from '../context/executionParts.ts'
import { type TradesRead, tradesSinceSeconds, walkPages } from './tradePages.ts'

/** Reads trades until they hold the ends of these orders, or there are no more. Rejects as reading does. */
export type SharedTrades = (state: IntentState, ended: readonly Hex[]) => Promise<TradesRead>

/**
 * Makes the read; `resting` are all intents that rest now: one query covers all of them. `readTrades` reads those of one intent's market, where the
 * account has more trades than a look reads.
 */
export function createSharedTrades(
  { api, clock }: HasApi & HasClock,
  resting: () => readonly IntentState[],
  readTrades: (state: IntentState) => Promise<TradesRead>,
): SharedTrades {
  const pages = createCoalescer(clock)
  return async (state, ended) => {
    const { account } = state.intent
    const sinceSeconds = Math.min(...[state, ...resting()].map(tradesSinceSeconds))
    const found: Trade[] = []
    const read = await walkPages(
      (paged) =>
        pages.get(`${sinceSeconds} ${paged.cursor ?? ''}`, COALESCE_MS, false, () =>
          api.getTrades({ ...paged, account, sinceSeconds }),
        ),
      (trades) => {
        found.push(...trades)
        return showEnds(found, ended)
      },
    )
    return read.complete || showEnds(read.trades, ended) ? read : await readTrades(state)
  }
}

/** Tells whether trades contain the end of each of these orders. */
function showEnds(trades: readonly Trade[], orderKeys: readonly Hex[]): boolean {
  return orderKeys.every((orderKey) =>
    trades.some(
      (trade) =>
        sameHex(trade.orderKey, orderKey) &&
        (trade.eventName === 'OrderExecuted' || trade.eventName === 'OrderCancelled'),
    ),
  )
}
