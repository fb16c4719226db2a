/** Incomplete data: orders that add risk wait, reductions continue. */
import type { Limits } from '../../domain/limits/limits.ts'
import type { Denial } from '../../domain/order/intent.ts'
import type { AccountLists, ListedPositions, MarketView } from '../../domain/snapshot.ts'
import { lacksMarket, type MissingRow } from '../../protocol/missing.ts'
import type { Usd } from '../../protocol/units.ts'
import type { ClassifiedDecision } from './checks.ts'

/**
 * DATA_INCOMPLETE: a row that is or may be of this market could not be read, in the account's lists or the market's own. It also covers a position on
 * any market with an unknown size, while the total exposure is limited. Denies increases only.
 */
export function checkGaps(
  classified: ClassifiedDecision,
  view: MarketView,
  { positions, orders }: AccountLists,
  limits: Limits,
): Denial | undefined {
  if (!classified.adds) return undefined
  const { marketToken, symbol } = view.market
  const ofMarket = (list: string, missing: readonly MissingRow[] | undefined): readonly string[] =>
    lacksMarket(missing, marketToken) ? [`${list} ${missing?.[0]?.problem ?? ''}`] : []
  const isTotalLimited = limits.maxTotalExposureUsd !== undefined || limits.maxExposureEquityBps !== undefined
  const unsized = isTotalLimited
    ? positions.missing?.find(({ sizeInUsd }) => sizeInUsd === undefined)
    : undefined
  const [gap] = [
    ...ofMarket('positions', positions.missing),
    ...ofMarket('orders', orders.missing),
    ...(view.gaps ?? []),
    ...(unsized === undefined ? [] : [`positions ${unsized.problem}`]),
  ]
  if (gap === undefined) return undefined
  return {
    code: 'DATA_INCOMPLETE',
    reason: `A row that may belong to ${symbol} cannot be read; increases wait there until it can: ${gap}.`,
  }
}

/**
 * The snapshot with a size for every position whose row names its market and not its size: the most that one may have. So
 * that the exposure of the others is counted with it. Without such a limit it stays unknown.
 */
export function withSizes<T extends ListedPositions>(
  snapshot: T,
  most: (marketToken: string) => Usd | undefined,
): T {
  const { missing } = snapshot.positions
  if (missing === undefined) return snapshot
  const sized = missing.map((row): MissingRow => {
    if (row.sizeInUsd !== undefined || row.marketToken === undefined) return row
    const sizeInUsd = most(row.marketToken)
    return sizeInUsd === undefined ? row : { ...row, sizeInUsd }
  })
  return { ...snapshot, positions: { ...snapshot.positions, missing: sized } }
}
