/** Trades of a run, by the one definition that the summary and the report share. */
import { type IntentState, lastAttempt } from '../domain/order/intent.ts'
import type { Usd } from '../protocol/units.ts'
import type { Trade } from '../report/figures/reportSubject.ts'
import { type TripFill, tradesOf } from '../report/figures/trips.ts'
import type { RunFill } from './runFiles.ts'

const absolute = (amount: bigint): bigint => (amount < 0n ? -amount : amount)

/** Returns a run's fill as a part of a trade; `state`: its order's story, absent where no order of perpd asked for it. */
export function tripFillOf(fill: RunFill, state: IntentState | undefined, reason = ''): TripFill {
  const { positionFeeUsd, borrowingFeeUsd, fundingFeeUsd, liquidationFeeUsd, swapFeeUsd, sendingFeeUsd } =
    fill
  return {
    second: fill.second,
    market: fill.market,
    side: fill.side,
    action: fill.action,
    sizeUsd: absolute(fill.sizeDeltaUsd),
    price: fill.price,
    impactUsd: fill.impactUsd,
    feesUsd:
      positionFeeUsd +
      borrowingFeeUsd +
      fundingFeeUsd -
      receivedOf(fill, state) +
      liquidationFeeUsd +
      swapFeeUsd +
      sendingFeeUsd,
    pnlUsd: fill.pnlUsd,
    strategy: fill.strategy,
    intentId: fill.intentId,
    reason,
  }
}

/** Funding that the position received and that this fill put aside for the account, USD: the journal alone has it. */
export function receivedOf({ second }: RunFill, state: IntentState | undefined): Usd {
  const children = state === undefined ? [] : (lastAttempt(state)?.children ?? [])
  return children
    .filter(({ phase, settlement }) => phase === 'EXECUTED' && settlement?.timestampSeconds === second)
    .reduce((sum, { settlement }) => sum + (settlement?.fundingReceivedUsd ?? 0n), 0n)
}

/** Returns the trades that closed: a strategy's part of a position from nothing to nothing. */
export function closedTradesOf(fills: readonly RunFill[], states: readonly IntentState[]): readonly Trade[] {
  const byId = new Map(states.map((state) => [state.intent.intentId, state]))
  return tradesOf(fills.map((fill) => tripFillOf(fill, byId.get(fill.intentId)))).filter(
    ({ closedSecond }) => closedSecond !== null,
  )
}
